#include "scene/mesh_file.hpp"

#include <algorithm>
#include <array>
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

namespace {

using Corners = std::array<Vec3<double>, 3>;

/// Adds up masses on triangles: ∫1, ∫x and ∫x xᵀ.
struct Moments {
  double mass = 0;
  Vec3<double> first{0, 0, 0};
  Sym3<double> second = Sym3<double>::zero();

  /// Of the tetrahedron from the origin to a, b, c: ∫x = V (a+b+c)/4,
  /// ∫x xᵀ = V/20 (aaᵀ + bbᵀ + ccᵀ + (a+b+c)(a+b+c)ᵀ).
  void add_tetrahedron(const Corners& at, double volume) {
    add(at, volume, volume / 4, volume / 20);
  }
  /// Of the triangle: ∫x = A (a+b+c)/3, ∫x xᵀ with A/12.
  void add_triangle(const Corners& at, double area) {
    add(at, area, area / 3, area / 12);
  }
  Solid about(const Vec3<double>& origin) const {
    const Vec3<double> com = (1 / mass) * first;
    const Sym3<double> central = second - mass * outer(com);
    const double t = trace(central);
    return {mass, origin + com, Sym3<double>::diagonal(t, t, t) - central};
  }

 private:
  void add(const Corners& at, double size, double by_first, double by_second) {
    const Vec3<double> sum = at[0] + at[1] + at[2];
    mass += size;
    first = first + by_first * sum;
    second =
        second + by_second * (outer(at[0]) + outer(at[1]) + outer(at[2]) + outer(sum));
  }
};

/// work(corners) for every triangle, seen from a point.
template <class Work>
void each_triangle(const Triangles& triangles, const Vec3<double>& origin,
                   const Work& work) {
  for (const auto& face : triangles.faces) {
    work(Corners{triangles.vertices[face[0]] - origin,
                 triangles.vertices[face[1]] - origin,
                 triangles.vertices[face[2]] - origin});
  }
}

double volume_over_origin(const Corners& at) {
  return dot(at[0], cross(at[1], at[2])) / 6;
}

double area_of(const Corners& at) {
  return 0.5 * norm(cross(at[1] - at[0], at[2] - at[0]));
}

Vec3<double> middle_of_vertices(const Triangles& triangles) {
  Vec3<double> sum{0, 0, 0};
  for (const Vec3<double>& v : triangles.vertices) sum = sum + v;
  return (1 / static_cast<double>(triangles.vertices.size())) * sum;
}

}  // namespace

Solid enclosed(const Triangles& triangles) {
  if (triangles.vertices.empty()) return {};
  const Vec3<double> origin = middle_of_vertices(triangles);
  Moments sum;
  each_triangle(triangles, origin, [&](const Corners& at) {
    sum.add_tetrahedron(at, volume_over_origin(at));
  });
  if (sum.mass == 0 || !std::isfinite(sum.mass)) return {};
  if (sum.mass < 0) {  // all triangles turn inward
    sum.mass = -sum.mass;
    sum.first = -sum.first;
    sum.second = -1.0 * sum.second;
  }
  return sum.about(origin);
}

Solid shell(const Triangles& triangles) {
  if (triangles.vertices.empty()) return {};
  const Vec3<double> origin = middle_of_vertices(triangles);
  Moments sum;
  each_triangle(triangles, origin,
                [&](const Corners& at) { sum.add_triangle(at, area_of(at)); });
  if (!(sum.mass > 0) || !std::isfinite(sum.mass)) return {};
  return sum.about(origin);
}

Solid enclosed_without_signs(const Triangles& triangles) {
  const auto sum_over = [&](const Vec3<double>& origin) {
    Moments sum;
    each_triangle(triangles, origin, [&](const Corners& at) {
      sum.add_tetrahedron(at, std::abs(volume_over_origin(at)));
    });
    return sum;
  };
  const Solid surface = shell(triangles);
  if (!(surface.mass > 0)) return {};
  const Moments by_surface = sum_over(surface.com);
  if (!(by_surface.mass > 0) || !std::isfinite(by_surface.mass)) return {};
  // The moments are those over the centre of mass, without a shift to their own centre.
  const Vec3<double> com = surface.com + (1 / by_surface.mass) * by_surface.first;
  Moments sum = sum_over(com);
  if (!(sum.mass > 0)) return {};
  sum.first = {0, 0, 0};
  return sum.about(com);
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
