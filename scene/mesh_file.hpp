#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scene/mesh_import.hpp"
#include "scene/parts.hpp"
#include "scene/robot.hpp"
#include "scene/solid.hpp"

namespace bristle::scene {

/// The file behind an address in a robot file: package://name/…, file://…, absolute, or
/// relative to `folder`. Empty where a package is not found.
std::string resolve(const std::string& address, const std::string& folder,
                    const RobotOptions& options);

/// The mass of density 1 that the triangles enclose, whichever way they turn, by the
/// tetrahedra over a point; 0 where they enclose nothing.
Solid enclosed(const Triangles& triangles);
/// The same, every tetrahedron over the middle of the surface taken as positive: what is
/// open, not convex or turns both ways weighs more, as in MuJoCo's legacy inertia.
Solid enclosed_without_signs(const Triangles& triangles);
/// The mass of 1 kg/m² on the triangles.
Solid shell(const Triangles& triangles);

/// Reads meshes, each once, and makes shapes of them; both stay in the geometry.
class Meshes {
 public:
  Meshes(const RobotOptions& options, Geometry& geometry, Problems& problems)
      : options_(&options), geometry_(&geometry), problems_(&problems) {}

  /// STL, OBJ, PLY or COLLADA; nullptr, and a problem, where there are no triangles in
  /// it.
  const Triangles* read(const std::string& path, const FileLine& at,
                        const std::string& who);

  /// The shape of triangles scaled along their axes, as the options want it. Kept under
  /// `key`; nothing, and a problem, where there is none.
  std::optional<Shape> shape(const std::string& key, const Triangles& triangles,
                             const Vec3<double>& scale, const FileLine& at,
                             const std::string& who);

 private:
  const RobotOptions* options_;
  Geometry* geometry_;
  Problems* problems_;
};

/// Scaled along the axes; where the scale mirrors them, the triangles still turn outward.
Triangles scaled(const Triangles& triangles, const Vec3<double>& scale);

}  // namespace bristle::scene
