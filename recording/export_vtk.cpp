#include <filesystem>

#include "files/file_out.hpp"
#include "recording/export.hpp"
#include "recording/surfaces.hpp"
#include "recording/text.hpp"

namespace bristle::recording {

using files::FileOut;

namespace {

/// As VTK writes binary arrays in XML: the number of bytes, then the bytes, in base64.
std::string base64(std::span<const std::byte> bytes) {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned>(bytes[i + k]) : 0u;
    };
    const unsigned word = (byte(0) << 16) | (byte(1) << 8) | byte(2);
    text += letters[(word >> 18) & 63];
    text += letters[(word >> 12) & 63];
    text += i + 1 < bytes.size() ? letters[(word >> 6) & 63] : '=';
    text += i + 2 < bytes.size() ? letters[word & 63] : '=';
  }
  return text;
}

template <class T>
void write_array(FileOut& file, const char* name, const char* type, int components,
                 const std::vector<T>& values) {
  file.write(text_of("<DataArray type=\"", type, "\" Name=\"", name,
                     "\" NumberOfComponents=\"", components, "\" format=\"binary\">"));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  Bytes all(sizeof(std::uint64_t) + bytes.size());
  const std::uint64_t length = bytes.size();
  std::memcpy(all.data(), &length, sizeof length);
  if (!bytes.empty()) std::memcpy(all.data() + sizeof length, bytes.data(), bytes.size());
  file.write(base64(all));
  file.write("</DataArray>\n");
}

void push(std::vector<double>& to, const Vec3<double>& v) {
  to.insert(to.end(), {v.x, v.y, v.z});
}

void begin_piece(FileOut& file, double time, std::size_t points, std::size_t vertices,
                 std::size_t polygons) {
  file.write(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
      "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
      "format=\"ascii\">");
  file.write_number(time);
  file.write(text_of("</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"", points,
                     "\" NumberOfVerts=\"", vertices,
                     "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"",
                     polygons, "\">\n"));
}

void end_piece(FileOut& file) { file.write("</Piece>\n</PolyData>\n</VTKFile>\n"); }

std::string numbered(const char* name, std::size_t frame) {
  std::string digits = std::to_string(frame);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return text_of("frames/", name, "_", digits, ".vtp");
}

/// The surfaces of all shapes: what does not change from frame to frame.
struct Scene {
  std::vector<SurfaceMesh> meshes;
  std::vector<std::int64_t> connectivity, offsets;
  std::vector<std::int32_t> shape_of_cell, body_of_cell;
  std::size_t points = 0;
};

Scene make_scene(const Header& header, const SurfaceOptions& options) {
  Scene scene;
  for (std::size_t s = 0; s < header.shapes.size(); ++s) {
    const ShapeInfo& shape = header.shapes[s];
    SurfaceMesh mesh = make_surface_mesh(shape, options);
    for (const auto& triangle : mesh.triangles) {
      for (const std::uint32_t vertex : triangle) {
        scene.connectivity.push_back(static_cast<std::int64_t>(scene.points + vertex));
      }
      scene.offsets.push_back(static_cast<std::int64_t>(scene.connectivity.size()));
      scene.shape_of_cell.push_back(static_cast<std::int32_t>(s));
      scene.body_of_cell.push_back(shape.body);
    }
    scene.points += mesh.vertices.size();
    scene.meshes.push_back(std::move(mesh));
  }
  return scene;
}

std::optional<Error> write_shapes(const std::string& path, const Header& header,
                                  const Scene& scene, const Sample& sample) {
  std::vector<double> points, velocities;
  points.reserve(3 * scene.points);
  for (std::size_t s = 0; s < header.shapes.size(); ++s) {
    const ShapeInfo& shape = header.shapes[s];
    Transform<double> pose = shape.in_body;
    Vec3<double> origin{0, 0, 0}, velocity{0, 0, 0}, turning{0, 0, 0};
    if (shape.body >= 0) {
      const BodySample& body = sample.bodies[static_cast<std::size_t>(shape.body)];
      pose = Transform<double>{to_matrix(body.quaternion), body.position} * pose;
      origin = body.position;
      velocity = body.velocity;
      turning = body.angular_velocity;
    }
    for (const Vec3<double>& v : scene.meshes[s].vertices) {
      const Vec3<double> x = pose * v;
      push(points, x);
      push(velocities, velocity + cross(turning, x - origin));
    }
  }
  FileOut file(path);
  begin_piece(file, sample.time, scene.points, 0, scene.offsets.size());
  file.write("<PointData Vectors=\"velocity\">\n");
  write_array(file, "velocity", "Float64", 3, velocities);
  file.write("</PointData>\n<CellData Scalars=\"body\">\n");
  write_array(file, "body", "Int32", 1, scene.body_of_cell);
  write_array(file, "shape", "Int32", 1, scene.shape_of_cell);
  file.write("</CellData>\n<Points>\n");
  write_array(file, "Points", "Float64", 3, points);
  file.write("</Points>\n<Polys>\n");
  write_array(file, "connectivity", "Int64", 1, scene.connectivity);
  write_array(file, "offsets", "Int64", 1, scene.offsets);
  file.write("</Polys>\n");
  end_piece(file);
  return file.close();
}

std::optional<Error> write_contacts(const std::string& path, const Sample& sample) {
  std::vector<double> points, force, normal, slip, depth, normal_force;
  std::vector<std::int32_t> a, b, state;
  std::vector<std::int64_t> connectivity, offsets;
  for (const ContactSample& c : sample.contacts) {
    push(points, c.point);
    push(force, c.normal_force * c.normal + c.friction);
    push(normal, c.normal);
    push(slip, c.slip_world);
    depth.push_back(c.depth);
    normal_force.push_back(c.normal_force);
    a.push_back(static_cast<std::int32_t>(c.a));
    b.push_back(static_cast<std::int32_t>(c.b));
    state.push_back(static_cast<std::int32_t>(c.state));
    connectivity.push_back(static_cast<std::int64_t>(connectivity.size()));
    offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
  }
  FileOut file(path);
  begin_piece(file, sample.time, sample.contacts.size(), sample.contacts.size(), 0);
  file.write("<PointData Vectors=\"force\" Scalars=\"normal_force\">\n");
  write_array(file, "force", "Float64", 3, force);
  write_array(file, "normal", "Float64", 3, normal);
  write_array(file, "slip", "Float64", 3, slip);
  write_array(file, "depth", "Float64", 1, depth);
  write_array(file, "normal_force", "Float64", 1, normal_force);
  write_array(file, "shape_a", "Int32", 1, a);
  write_array(file, "shape_b", "Int32", 1, b);
  write_array(file, "state", "Int32", 1, state);
  file.write("</PointData>\n<Points>\n");
  write_array(file, "Points", "Float64", 3, points);
  file.write("</Points>\n<Verts>\n");
  write_array(file, "connectivity", "Int64", 1, connectivity);
  write_array(file, "offsets", "Int64", 1, offsets);
  file.write("</Verts>\n");
  end_piece(file);
  return file.close();
}

}  // namespace

Result<ExportReport> export_vtk(Reader& reader, const std::string& folder,
                                const VtkOptions& options) {
  const std::filesystem::path root(folder);
  std::error_code trouble;
  std::filesystem::create_directories(root / "frames", trouble);
  if (trouble) return Error{folder + ": cannot be made: " + trouble.message()};
  if (reader.size() == 0) return Error{reader.path() + ": holds no sample"};
  const Scene scene = make_scene(reader.header(), fitted(reader, options.surfaces));
  FileOut collection((root / "recording.pvd").string());
  collection.write(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
      "byte_order=\"LittleEndian\">\n<Collection>\n");
  ExportReport report;
  Sample sample;
  for (const std::size_t i : choose_frames(reader.times(), options.frames)) {
    if (!reader.read(i, sample)) return Error{reader.error()};
    const std::string shapes = numbered("shapes", report.frames);
    const std::string contacts = numbered("contacts", report.frames);
    std::optional<Error> error =
        write_shapes((root / shapes).string(), reader.header(), scene, sample);
    if (!error) error = write_contacts((root / contacts).string(), sample);
    if (error) return *error;
    int part = 0;
    for (const std::string& file : {shapes, contacts}) {
      collection.write(text_of("<DataSet timestep=\"", sample.time,
                               "\" group=\"\" part=\"", part++, "\" file=\"", file,
                               "\"/>\n"));
    }
    ++report.frames;
  }
  collection.write("</Collection>\n</VTKFile>\n");
  if (const std::optional<Error> error = collection.close()) return *error;
  report.files = {collection.path()};
  report.file_count = 1 + 2 * report.frames;
  return report;
}

}  // namespace bristle::recording
