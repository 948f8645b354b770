#include "report/film_page.hpp"

#include <cmath>
#include <utility>

#include "bristle/spatial/quaternion.hpp"

namespace bristle::report {

namespace {

/// The surfaces of shapes, each once.
class Surfaces {
 public:
  Surfaces(const recording::SurfaceOptions& options, PageData& page)
      : options_(options), page_(page) {}

  /// Its number among the meshes; nothing where there is none to see.
  Json add(const recording::ShapeInfo& shape) {
    const recording::SurfaceMesh mesh = recording::make_surface_mesh(shape, options_);
    if (mesh.triangles.empty()) return nullptr;
    std::vector<float> vertices, normals;
    std::vector<std::uint32_t> triangles;
    const auto put = [](std::vector<float>& to, const Vec3<double>& v) {
      for (const double x : {v.x, v.y, v.z}) to.push_back(static_cast<float>(x));
    };
    for (const Vec3<double>& v : mesh.vertices) put(vertices, v);
    for (const Vec3<double>& n : mesh.normals) put(normals, n);
    for (const auto& t : mesh.triangles)
      triangles.insert(triangles.end(), t.begin(), t.end());
    meshes.push_back({{"vertices", page_.add(vertices)},
                      {"normals", page_.add(normals)},
                      {"triangles", page_.add(triangles)}});
    return meshes.size() - 1;
  }

  Json meshes = Json::array();

 private:
  const recording::SurfaceOptions& options_;
  PageData& page_;
};

Json list_of(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

Json shape_json(const recording::ShapeInfo& shape, const Json& mesh) {
  const Quaternion<double> q = from_matrix(shape.in_body.R);
  Json json{{"name", shape.name},
            {"body", shape.body},
            {"kind", name_of(shape.kind)},
            {"position", list_of(shape.in_body.p)},
            {"quaternion", {q.w, q.x, q.y, q.z}},
            {"mesh", mesh}};
  if (!shape.look.drawn) json["drawn"] = false;
  if (shape.look.rgba) json["rgba"] = *shape.look.rgba;
  return json;
}

/// Which body hangs from which, centres of mass, and where joints and loops hold them.
void describe_tree(const recording::Header& header, Json& head) {
  if (header.tree.empty()) return;
  Json parents = Json::array(), masses = Json::array(), centres = Json::array(),
       anchors = Json::array();
  for (const recording::BodyInfo& body : header.tree) {
    parents.push_back(body.parent);
    masses.push_back(body.mass);
    centres.push_back(list_of(body.com));
  }
  for (const recording::AnchorInfo& anchor : header.anchors) {
    anchors.push_back({{"body", anchor.body}, {"point", list_of(anchor.point)}});
  }
  head["parents"] = std::move(parents);
  head["masses"] = std::move(masses);
  head["centres"] = std::move(centres);
  head["anchors"] = std::move(anchors);
}

}  // namespace

void describe_scene(const recording::Header& header,
                    const recording::SurfaceOptions& options, PageData& page,
                    Json& head) {
  Surfaces surfaces(options, page);
  Json shapes = Json::array();
  const auto describe = [&](const std::vector<recording::ShapeInfo>& list, bool seen) {
    const std::vector<std::size_t> alike = recording::alike(list);
    std::vector<Json> mesh_of(list.size());
    for (std::size_t s = 0; s < list.size(); ++s) {
      if (alike[s] == s) mesh_of[s] = surfaces.add(list[s]);
      shapes.push_back(shape_json(list[s], mesh_of[alike[s]]));
      if (seen) shapes.back()["visual"] = true;
    }
  };
  describe(header.shapes, false);
  describe(header.visuals, true);
  head["meshes"] = std::move(surfaces.meshes);
  head["shapes"] = std::move(shapes);
  describe_tree(header, head);
}

Json column_json(const recording::Column& column) {
  return {{"group", column.group}, {"owner", column.owner}, {"name", column.name},
          {"unit", column.unit},   {"first", column.first}, {"width", column.width},
          {"parts", column.parts}};
}

Json film_json(const Film& film, PageData& page) {
  const std::size_t bodies = film.header.bodies.size(), n = film.times.size();
  constexpr std::size_t width = 7;  // position, quaternion
  std::vector<float> values(width * bodies * n);
  double far = 0;
  for (std::size_t b = 0; b < bodies; ++b) {
    Quaternion<double> last{1, 0, 0, 0};
    for (std::size_t i = 0; i < n; ++i) {
      const Transform<double>& pose = film.poses[i * bodies + b];
      Quaternion<double> q = from_matrix(pose.R);
      const bool jumps = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0;
      if (jumps) q = {-q.w, -q.x, -q.y, -q.z};
      last = q;
      std::size_t column = width * b;
      for (const double x : {pose.p.x, pose.p.y, pose.p.z, q.w, q.x, q.y, q.z}) {
        values[column++ * n + i] = static_cast<float>(x);
      }
      if (std::isfinite(norm(pose.p))) far = std::max(far, norm(pose.p));
    }
  }
  Json head{{"title", film.title}, {"bodies", film.header.bodies}};
  describe_scene(film.header, recording::fitted(film.header, far, {.around = 32}), page,
                 head);
  head["time"] = page.add(film.times);
  head["columns"] = Json::array();
  for (std::size_t b = 0; b < bodies; ++b) {
    const std::string& body = film.header.bodies[b];
    head["columns"].push_back(
        column_json({"bodies", body, "position", "m", width * b, 3, {"x", "y", "z"}}));
    head["columns"].push_back(column_json(
        {"bodies", body, "quaternion", "1", width * b + 3, 4, {"w", "x", "y", "z"}}));
  }
  head["values"] = page.add(values);
  return head;
}

}  // namespace bristle::report
