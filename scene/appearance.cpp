#include "scene/appearance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "scene/mesh_file.hpp"
#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

using xml::shown;
using xml::words;

constexpr std::size_t most_of_mesh = 10'000;    // triangles of one mesh
constexpr std::size_t most_of_scene = 100'000;  // and of all together
constexpr std::size_t least_of_mesh = 500;      // that one is made coarser to
constexpr std::size_t most_named = 5;           // files of a note

/// Vertices in one cell of a grid with so many cells along the longest edge become one,
/// at the mean of them.
Triangles clustered(const Triangles& from, double cells) {
  Vec3<double> low = from.vertices.front(), high = low;
  for (const Vec3<double>& v : from.vertices) {
    low = {std::min(low.x, v.x), std::min(low.y, v.y), std::min(low.z, v.z)};
    high = {std::max(high.x, v.x), std::max(high.y, v.y), std::max(high.z, v.z)};
  }
  const Vec3<double> size = high - low;
  const double cell = std::max({size.x, size.y, size.z, 1e-12}) / cells;
  std::unordered_map<std::uint64_t, std::uint32_t> place;
  std::vector<std::uint32_t> to(from.vertices.size());
  std::vector<double> count;
  Triangles out;
  for (std::size_t i = 0; i < from.vertices.size(); ++i) {
    const Vec3<double> at = (1 / cell) * (from.vertices[i] - low);
    const auto key = static_cast<std::uint64_t>(at.x) |
                     static_cast<std::uint64_t>(at.y) << 20 |
                     static_cast<std::uint64_t>(at.z) << 40;
    const auto [entry, fresh] =
        place.try_emplace(key, static_cast<std::uint32_t>(out.vertices.size()));
    if (fresh) {
      out.vertices.push_back({0, 0, 0});
      count.push_back(0);
    }
    to[i] = entry->second;
    out.vertices[to[i]] = out.vertices[to[i]] + from.vertices[i];
    count[to[i]] += 1;
  }
  for (std::size_t i = 0; i < count.size(); ++i) {
    out.vertices[i] = (1 / count[i]) * out.vertices[i];
  }
  for (const auto& face : from.faces) {
    const std::array<std::uint32_t, 3> now{to[face[0]], to[face[1]], to[face[2]]};
    if (now[0] != now[1] && now[1] != now[2] && now[2] != now[0])
      out.faces.push_back(now);
  }
  return out;
}

Triangles placed(const Triangles& from, const SeenMesh& mesh) {
  Triangles all = from;
  for (Vec3<double>& v : all.vertices) v = transpose_times(mesh.turned, v - mesh.away);
  return scaled(all, mesh.scale);
}

bool within_size(const Triangles& triangles) {
  return std::ranges::all_of(triangles.vertices, [](const Vec3<double>& v) {
    return std::fabs(v.x) <= 1e9 && std::fabs(v.y) <= 1e9 && std::fabs(v.z) <= 1e9;
  });
}

/// Meshes by their files; what cannot be read is counted by why.
class Files {
 public:
  /// Nothing where it cannot be read.
  const Triangles* read(const std::string& path) {
    const auto [entry, fresh] = files_.try_emplace(path);
    if (fresh) load(path, entry->second);
    return entry->second.faces.empty() ? nullptr : &entry->second;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> all;
    for (const auto& [why, paths] : unread_) {
      std::string note =
          words({"seen without ", std::to_string(paths.size()),
                 paths.size() == 1 ? " visual mesh: " : " visual meshes: ", why});
      for (std::size_t i = 0; i < paths.size() && i < most_named; ++i) {
        note += (i > 0 ? ", " : "") + shown(paths[i]);
      }
      if (paths.size() > most_named) note += ", …";
      all.push_back(std::move(note));
    }
    return all;
  }

 private:
  void load(const std::string& path, Triangles& to) {
    Result<Triangles> read = import_mesh(path);
    if (!read) {
      unread_[read.error()].push_back(path);
      return;
    }
    to = coarser(std::move(*read), most_of_mesh);
  }

  std::map<std::string, Triangles> files_;
  std::map<std::string, std::vector<std::string>> unread_;
};

}  // namespace

Triangles coarser(Triangles triangles, std::size_t most) {
  if (triangles.faces.size() <= most || triangles.vertices.empty()) return triangles;
  // A closed surface in a grid of n cells has about n² of them, with two triangles each.
  double cells = std::clamp(2 * std::sqrt(static_cast<double>(most)), 4.0, 1e6);
  for (; cells >= 2; cells *= 0.8) {
    Triangles out = clustered(triangles, cells);
    if (out.faces.size() <= most) return out;
  }
  triangles.faces.resize(most);
  return triangles;
}

SeenVisuals read_visuals(const std::vector<Visual>& visuals, const Tree& tree) {
  SeenVisuals all;
  Files files;
  std::size_t meshes = 0, triangles = 0;
  std::map<std::string_view, int> body_of{{world_name, -1}};
  for (const Body& body : tree.bodies()) {
    body_of.try_emplace(body.name, static_cast<int>(&body - tree.bodies().data()));
  }
  for (const Visual& visual : visuals) {
    const auto body = body_of.find(visual.body);
    if (body == body_of.end()) continue;
    SeenVisual seen{.visual = &visual, .body = body->second};
    if (visual.mesh) {
      const Triangles* read = files.read(visual.mesh->path);
      if (read == nullptr) continue;
      seen.triangles = placed(*read, *visual.mesh);
      if (!within_size(seen.triangles)) continue;
      ++meshes;
      triangles += seen.triangles.faces.size();
    }
    all.visuals.push_back(std::move(seen));
  }
  all.notes = files.notes();
  if (triangles > most_of_scene) {
    const std::size_t each = std::max(least_of_mesh, most_of_scene / meshes);
    for (SeenVisual& seen : all.visuals) {
      seen.triangles = coarser(std::move(seen.triangles), each);
    }
  }
  return all;
}

}  // namespace bristle::scene
