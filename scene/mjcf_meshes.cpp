#include <algorithm>
#include <cmath>
#include <filesystem>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

void Reading::read_mesh(const Element& e) {
  std::string name(e.value("name"));
  const Attribute* file = e.find("file");
  if (name.empty() && file != nullptr) {
    name = std::filesystem::path(file->value).stem().string();
  }
  const View v = view(e, main_class, name);
  if (name.empty()) {
    error(e.place(), {"mesh: it must have a name or a file"});
    return;
  }
  if (!mesh_of_.try_emplace(name, assets_.size()).second) {
    error(e.place(), {v.who, ": another mesh must not have this name"});
    return;
  }
  if ((file == nullptr || file->value.empty()) && e.find("vertex") == nullptr) {
    error(e.place(), {v.who, ": it must have a file or vertex"});
  }
  const std::filesystem::path folder =
      std::filesystem::path(settings(v).folder) / settings(v).mesh_folder;
  assets_.push_back({name, v, folder.string()});
}

void Reading::read_triangles(MeshAsset& asset) {
  asset.is_read = true;
  const View& v = asset.view;
  const FileLine at = v.element->place();
  const Attribute* file = v.element->find("file");
  if (file != nullptr && !file->value.empty()) {
    const std::string path = (std::filesystem::path(asset.folder) / file->value).string();
    if (const Triangles* found = meshes_.read(path, file->place(), v.who)) {
      asset.triangles = *found;
    }
  } else {
    read_vertices(v, asset.triangles);
  }
  const Vec3<double> away = vector(v, "refpos", {0, 0, 0});
  Mat3<double> turned = Mat3<double>::identity();
  if (const auto q = numbers(v, "refquat", 4, 4)) {
    const Quaternion<double> given{(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
    if (norm2(given) > 1e-18 && std::isfinite(norm2(given))) {
      turned = to_matrix(given);
    } else {
      error(at, {v.who, ": refquat must have a length"});
    }
  }
  for (Vec3<double>& p : asset.triangles.vertices) {
    p = transpose_times(turned, p - away);
  }
  const Vec3<double> scale = vector(v, "scale", {1, 1, 1});
  if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
    error(at, {v.who, ": scale must not be 0"});
  } else {
    asset.triangles = scaled(asset.triangles, scale);
  }
  const std::string kind =
      choice(get(v, "inertia"), v.who, {"legacy", "exact", "convex", "shell"});
  if (kind == "exact") {
    asset.solid = enclosed(asset.triangles);
  } else if (kind == "shell") {
    asset.solid = shell(asset.triangles);
  } else if (kind == "convex") {
    Triangles hull = asset.triangles;
    if (add_hull_faces(hull)) asset.solid = enclosed(hull);
  } else {
    asset.solid = enclosed_without_signs(asset.triangles);
  }
}

void Reading::read_vertices(const View& v, Triangles& to) {
  constexpr std::size_t most = 3'000'000;
  const Attribute* given = v.element->find("vertex");
  if (given == nullptr) return;  // said already
  const auto points = xml::numbers(*given, v.who, 12, most, Range::any, problems_);
  if (!points) return;
  if (points->size() % 3 != 0) {
    error(given->place(), {v.who, ": vertex must be three numbers for each point"});
    return;
  }
  const std::size_t count = points->size() / 3;
  Triangles read;
  for (std::size_t i = 0; i < count; ++i) {
    read.vertices.push_back(
        {(*points)[3 * i], (*points)[3 * i + 1], (*points)[3 * i + 2]});
  }
  if (const Attribute* face = v.element->find("face")) {
    const auto corners =
        xml::numbers(*face, v.who, 3, most, Range::not_negative, problems_);
    if (!corners) return;
    const bool fine = corners->size() % 3 == 0 &&
                      std::all_of(corners->begin(), corners->end(), [&](double x) {
                        return x < static_cast<double>(count) && x == std::floor(x);
                      });
    if (!fine) {
      error(face->place(),
            {v.who, ": face must be three numbers of points for each triangle"});
      return;
    }
    const auto corner = [&](std::size_t i) {
      return static_cast<std::uint32_t>((*corners)[i]);
    };
    for (std::size_t i = 0; i + 2 < corners->size(); i += 3) {
      read.faces.push_back({corner(i), corner(i + 1), corner(i + 2)});
    }
  } else if (!add_hull_faces(read)) {
    error(given->place(), {v.who, ": vertex must be points around a volume"});
    return;
  }
  to = std::move(read);
}

bool Reading::add_hull_faces(Triangles& points) {
  try {
    const Result<ConvexHull> hull = make_hull(points.vertices);
    if (!hull) return false;
    points.vertices = hull->vertices;
    points.faces.clear();
    for (std::uint32_t f = 0; f < hull->face_count(); ++f) {
      const auto corners = hull->face(f);
      for (std::size_t k = 2; k < corners.size(); ++k) {
        points.faces.push_back({corners[0], corners[k - 1], corners[k]});
      }
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

MeshAsset* Reading::mesh_named(const Attribute& name, const View& v) {
  const auto found = mesh_of_.find(name.value);
  if (found == mesh_of_.end()) {
    error(name.place(), {v.who, ": mesh = \"", shown(name.value),
                         "\" must be a mesh of the model's assets"});
    return nullptr;
  }
  if (found->second >= assets_.size()) return nullptr;
  MeshAsset& asset = assets_[found->second];
  if (!asset.is_read) read_triangles(asset);
  return asset.triangles.vertices.empty() ? nullptr : &asset;  // said already
}

/// The box with the inertia of the mesh, in its principal axes, the longest one z; or the
/// box around the mesh in these axes. Round shapes take their sizes from it.
std::optional<Vec3<double>> Reading::fit(const Attribute& name, const View& v,
                                         const std::string& type, Form& form) {
  const MeshAsset* asset = mesh_named(name, v);
  if (asset == nullptr) return {};
  if (!(asset->solid.mass > 0)) {
    error(name.place(), {v.who, ": mesh = \"", shown(name.value),
                         "\" must enclose a volume for a ", type, " to fit it"});
    return {};
  }
  const PrincipalAxes principal = principal_axes(asset->solid.inertia);
  const Vec3<double>& m = principal.moments;
  Transform<double> at{principal.axes, asset->solid.com};
  const double k = 1.5 / asset->solid.mass;
  const auto half = [&](double of_two, double of_one) {
    return std::sqrt(std::max(0.0, k * (of_two - of_one)));
  };
  Vec3<double> box{half(m.y + m.z, m.x), half(m.x + m.z, m.y), half(m.x + m.y, m.z)};
  const bool around = fit_around_;
  if (around) {
    Vec3<double> low{infinity, infinity, infinity}, high = -low;
    for (const Vec3<double>& vertex : asset->triangles.vertices) {
      const Vec3<double> x = inverse(at) * vertex;
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    box = 0.5 * (high - low);
    at.p = at * (0.5 * (low + high));
  }
  form.pose = form.pose * at;
  const double scale = number(v, "fitscale", 1, Range::positive);
  const double wide = around ? std::max(box.x, box.y) : 0.5 * (box.x + box.y);
  if (type == "sphere") {
    const double radius = around ? std::max(wide, box.z) : (box.x + box.y + box.z) / 3;
    return scale * Vec3<double>{radius, 0, 0};
  }
  if (type == "cylinder") return scale * Vec3<double>{wide, box.z, 0};
  if (type == "capsule") {
    const double length = box.z - (around ? wide : 0.5 * wide);
    return scale * Vec3<double>{wide, std::max(0.0, length), 0};
  }
  return scale * box;
}

std::optional<Reading::Form> Reading::read_mesh_form(const View& v, Form form,
                                                     bool touches, bool weighs) {
  const Attribute* name = get(v, "mesh");
  if (name == nullptr) {
    error(v.element->place(), {v.who, ": a mesh must have the attribute mesh"});
    return {};
  }
  const MeshAsset* found = mesh_named(*name, v);
  if (found == nullptr) return {};
  const MeshAsset& asset = *found;
  form.solid = asset.solid;
  if (weighs && !(form.solid.mass > 0)) {
    error(name->place(),
          {v.who, ": mesh = \"", shown(name->value), "\" must enclose a volume"});
  }
  if (touches) {
    form.shape = meshes_.shape(words({path_, "#", asset.name}), asset.triangles,
                               {1, 1, 1}, asset.view.element->place(), asset.view.who);
  }
  return form;
}

}  // namespace bristle::scene::mjcf
