#include "scene/mesh_file.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <system_error>

#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

namespace fs = std::filesystem;
using xml::shown;
using xml::words;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The package's file below a folder that holds the package, or is it.
fs::path in_package(const fs::path& folder, const std::string& name,
                    const std::string& rest) {
  if (is_there(folder / name / rest)) return folder / name / rest;
  if (folder.filename() == name && is_there(folder / rest)) return folder / rest;
  return {};
}

}  // namespace

std::string resolve(const std::string& address, const std::string& folder,
                    const RobotOptions& options) {
  const std::string package = "package://";
  const std::string file = "file://";
  if (address.starts_with(package)) {
    const std::size_t slash = address.find('/', package.size());
    if (slash == std::string::npos) return {};
    const std::string name = address.substr(package.size(), slash - package.size());
    const std::string rest = address.substr(slash + 1);
    if (name.empty() || rest.empty()) return {};
    std::error_code error;
    fs::path above =
        fs::absolute(folder.empty() ? "." : folder, error).lexically_normal();
    if (!above.has_filename()) above = above.parent_path();
    for (; !error; above = above.parent_path()) {
      if (const fs::path found = in_package(above, name, rest); !found.empty()) {
        return found.string();
      }
      if (above == above.parent_path()) break;
    }
    for (const std::string& searched : options.packages) {
      fs::path path = fs::path(searched).lexically_normal();
      if (!path.has_filename()) path = path.parent_path();
      if (const fs::path found = in_package(path, name, rest); !found.empty()) {
        return found.string();
      }
    }
    return {};
  }
  if (address.starts_with(file)) return address.substr(file.size());
  return (fs::path(folder) / address).string();  // an absolute address stays as it is
}

Solid enclosed(const Triangles& triangles) {
  // ∫1, ∫x and ∫x xᵀ over the tetrahedra from a point amid the vertices to each triangle:
  // V = det/6, ∫x = V (a+b+c)/4, ∫x xᵀ = V/20 (aaᵀ + bbᵀ + ccᵀ + (a+b+c)(a+b+c)ᵀ).
  if (triangles.vertices.empty()) return {};
  Vec3<double> origin{0, 0, 0};
  for (const Vec3<double>& v : triangles.vertices) origin = origin + v;
  origin = (1 / static_cast<double>(triangles.vertices.size())) * origin;
  double volume = 0;
  Vec3<double> first{0, 0, 0};
  Sym3<double> second = Sym3<double>::zero();
  for (const auto& face : triangles.faces) {
    const Vec3<double> a = triangles.vertices[face[0]] - origin;
    const Vec3<double> b = triangles.vertices[face[1]] - origin;
    const Vec3<double> c = triangles.vertices[face[2]] - origin;
    const double v = dot(a, cross(b, c)) / 6;
    const Vec3<double> sum = a + b + c;
    volume += v;
    first = first + (v / 4) * sum;
    second = second + (v / 20) * (outer(a) + outer(b) + outer(c) + outer(sum));
  }
  if (volume == 0 || !std::isfinite(volume)) return {};
  if (volume < 0) {  // all triangles turn inward
    volume = -volume;
    first = -first;
    second = -1.0 * second;
  }
  const Vec3<double> com = (1 / volume) * first;
  const Sym3<double> central = second - volume * outer(com);
  const double t = trace(central);
  return {volume, origin + com, Sym3<double>::diagonal(t, t, t) - central};
}

Triangles scaled(const Triangles& triangles, const Vec3<double>& scale) {
  Triangles out = triangles;
  for (Vec3<double>& v : out.vertices) {
    v = {v.x * scale.x, v.y * scale.y, v.z * scale.z};
  }
  if (scale.x * scale.y * scale.z < 0) {
    for (auto& face : out.faces) std::swap(face[1], face[2]);
  }
  return out;
}

const Triangles* Meshes::read(const std::string& path, const FileLine& at,
                              const std::string& who) {
  const auto [entry, fresh] = geometry_->files.try_emplace(path);
  if (fresh) {
    Result<Triangles> loaded = import_mesh(path);
    if (loaded) {
      entry->second = std::move(*loaded);
    } else {
      problems_->error(at, words({who, ": ", loaded.error(), shown(path)}));
    }
  }
  return entry->second.faces.empty() ? nullptr : &entry->second;
}

std::optional<Shape> Meshes::shape(const std::string& key, const Triangles& triangles,
                                   const Vec3<double>& scale, const FileLine& at,
                                   const std::string& who) {
  const auto [entry, fresh] =
      geometry_->shapes.try_emplace(words({options_->meshes, " ", key}));
  std::optional<Shape>& made = entry->second;
  if (!fresh) return made;
  const Triangles sized = scaled(triangles, scale);
  const bool too_large = std::ranges::any_of(sized.vertices, [](const Vec3<double>& v) {
    return !(std::fabs(v.x) <= largest_size && std::fabs(v.y) <= largest_size &&
             std::fabs(v.z) <= largest_size);
  });
  if (too_large) {
    problems_->error(at, words({who, ": as it is scaled, a vertex lies beyond 1e9 m"}));
    return made;
  }
  std::string reason;
  try {
    if (options_->meshes == "mesh" && !sized.faces.empty()) {
      Result<TriangleMesh> mesh = make_mesh(sized.vertices, sized.faces);
      if (mesh) {
        made = Mesh{&geometry_->meshes.emplace_back(std::move(*mesh))};
      } else {
        reason = mesh.error();
      }
    } else {
      Result<ConvexHull> hull = make_hull(sized.vertices);
      if (hull) {
        made = Convex{&geometry_->hulls.emplace_back(std::move(*hull))};
      } else {
        reason = hull.error();
      }
    }
  } catch (const std::exception&) {
    reason = "its points are too close together for a convex hull";
  }
  if (!made) problems_->error(at, words({who, ": ", reason}));
  return made;
}

}  // namespace bristle::scene
