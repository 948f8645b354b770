#pragma once

#include <map>
#include <string>
#include <vector>

#include "bristle/laws/materials.hpp"
#include "scene/keys.hpp"
#include "scene/scene.hpp"

// A scene while it is being read: parts, and what later sections need to know of earlier
// ones.

namespace bristle::scene {

struct MaterialNumbers {
  double youngs_modulus;
  double poissons_ratio;
  double density;
};

/// The table that says something of the model; it outlives the draft.
struct Written {
  const toml::table* table;
  std::span<const Key> keys;

  explicit Written(const Section& at) : table(&at.whole()), keys(at.keys()) {}
  /// The line of a key, or else that of the name, or else that of the table.
  FileLine place_of(std::string_view key, const Source& source) const;
};

struct Draft {
  Source source;
  Parts parts;
  std::map<std::string, MaterialNumbers, std::less<>> materials;  // of this scene
  std::map<std::pair<std::string, std::string>, Written>
      names;                   // "body", its name: where
  std::vector<Written> rules;  // as many as contacts in parts: where
  std::map<std::string, FileLine, std::less<>> body_places;
  std::map<std::string, Transform<double>, std::less<>> fixed;  // bodies: where
  std::map<std::string, std::vector<std::string>, std::less<>> fixed_shapes;  // on them
  /// Keys that put a body somewhere or set it in motion, as they are written.
  std::map<std::string, std::vector<std::string>, std::less<>> placed;
  bool allow_overlap = false;
  /// Bodies of robots' files, and which of [[robots]] each belongs to.
  std::map<std::string, std::size_t, std::less<>> robot_of;
  /// What of a robot the whole model decides.
  struct RobotRules {
    bool self_collision = true;
    bool hold = false;
    FileLine place;
  };
  std::vector<RobotRules> robots;

  /// A name that nothing else of its sort may have.
  bool claim(const char* sort, const std::string& name, const Section& at);
  /// The table of a robot's file stands for all parts that have no place yet.
  void place_robot(const Section& at);
  /// Where the thing is written that an error of the engine is about.
  FileLine place_of(const ErrorSubject& subject) const;
  /// Of the scene or of the table that comes with the engine.
  std::optional<MaterialNumbers> material(const std::string& name, const Section& at,
                                          std::string_view key) const;
  std::string folder() const;  // of the file, with a slash at its end
};

std::optional<Transform<double>> pose_of(const Section& at,
                                         std::string_view position = "position",
                                         std::string_view rotation = "rotation",
                                         std::string_view quaternion = "quaternion");

/// Says so where a key of a joint has not the unit that its type asks for: metres along
/// an axis, angles about one.
void check_unit(const Section& at, std::string_view name, bool linear);

void read_materials(const Section& scene, Draft& draft);
void read_bodies(const Section& scene, Draft& draft);
void read_joints(const Section& scene, Draft& draft);
void read_loops(const Section& scene, Draft& draft);
void read_constraints(const Section& scene, Draft& draft);
void read_contacts(const Section& scene, Draft& draft);
void read_motors(const Section& scene, Draft& draft);
void read_loads(const Section& scene, Draft& draft);
void read_robots(const Section& scene, Draft& draft);
ClockSpec read_clock(const Section& scene, Draft& draft);
RecordSpec read_record(const Section& scene, double duration, Draft& draft);
/// Probes and the sensors that they ask for, after the scene's model is there.
void read_probes(const Section& at, Draft& draft, Scene& scene);

/// The shape of a mesh file, or nothing, and the problem has been said.
std::optional<Shape> read_mesh(const Section& at, const std::string& file, double scale,
                               bool hull, Draft& draft);

}  // namespace bristle::scene
