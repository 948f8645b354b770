#include "report/film_page.hpp"

#include <cmath>
#include <utility>

#include "bristle/spatial/quaternion.hpp"

namespace bristle::report {

void describe_shapes(const recording::Header& header,
                     const recording::SurfaceOptions& surfaces, PageData& page,
                     Json& head) {
  Json meshes = Json::array(), shapes = Json::array();
  const std::vector<std::size_t> alike = recording::alike(header.shapes);
  std::vector<Json> mesh_of(header.shapes.size());
  for (std::size_t s = 0; s < header.shapes.size(); ++s) {
    const recording::ShapeInfo& shape = header.shapes[s];
    if (alike[s] == s) {
      const recording::SurfaceMesh mesh = recording::make_surface_mesh(shape, surfaces);
      if (!mesh.triangles.empty()) {
        std::vector<float> vertices, normals;
        std::vector<std::uint32_t> triangles;
        const auto put = [](std::vector<float>& to, const Vec3<double>& v) {
          for (const double x : {v.x, v.y, v.z}) to.push_back(static_cast<float>(x));
        };
        for (const Vec3<double>& v : mesh.vertices) put(vertices, v);
        for (const Vec3<double>& n : mesh.normals) put(normals, n);
        for (const auto& t : mesh.triangles)
          triangles.insert(triangles.end(), t.begin(), t.end());
        mesh_of[s] = meshes.size();
        meshes.push_back({{"vertices", page.add(vertices)},
                          {"normals", page.add(normals)},
                          {"triangles", page.add(triangles)}});
      }
    }
    const Vec3<double>& p = shape.in_body.p;
    const Quaternion<double> q = from_matrix(shape.in_body.R);
    shapes.push_back({{"name", shape.name},
                      {"body", shape.body},
                      {"kind", name_of(shape.kind)},
                      {"position", {p.x, p.y, p.z}},
                      {"quaternion", {q.w, q.x, q.y, q.z}},
                      {"mesh", mesh_of[alike[s]]}});
  }
  head["meshes"] = std::move(meshes);
  head["shapes"] = std::move(shapes);
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
  describe_shapes(film.header, recording::fitted(film.header, far, {.around = 32}), page,
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
