#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bristle/model/model.hpp"
#include "bristle/step/sensors.hpp"
#include "scene/appearance.hpp"
#include "scene/mesh_import.hpp"
#include "scene/problem.hpp"
#include "scene/softness.hpp"

// The content of a file as specs of the engine: the reader of a format fills these
// in, and the compiler of scenes hands them to ModelBuilder.

namespace bristle::scene {

/// Hulls, meshes and height fields, which shapes only refer to: they stay where they are.
struct Geometry {
  std::deque<ConvexHull> hulls;
  std::deque<TriangleMesh> meshes;
  std::deque<HeightField> fields;

  // While files are read: each mesh file once, and the shapes that are made of it.
  std::map<std::string, Triangles, std::less<>> files{};  // empty: not to be had
  std::map<std::string, std::optional<Shape>, std::less<>> shapes{};
  void forget_files() {
    files.clear();
    shapes.clear();
  }
};

/// A joint's position or velocity at the start, where it is not the neutral one.
struct InitialJoint {
  std::string joint;
  std::vector<double> q;  // as JointType counts them
  std::vector<double> v;  // empty: at rest
};

/// How soft a file makes the contacts of a rule; what that is for a robot follows from
/// the weight that it carries.
struct SoftRule {
  std::string a, b;  // as in the rule
  Softness softness;
};

/// A keyframe of a file: the positions of revolute and prismatic joints.
struct Keyframe {
  std::string name;
  std::map<std::string, double, std::less<>> positions;  // by joint
};

/// A place on a body that a file names, with its zone for touch.
struct SiteSpec {
  std::string name;
  std::string body;
  Transform<double> pose;  // in the body
  std::optional<Shape> zone{};
};

struct Parts {
  std::string title{};  // the name that a robot's file gives it
  std::vector<BodySpec> bodies;
  std::vector<JointSpec> joints;
  std::vector<LoopSpec> loops;
  std::vector<ConstraintSpec> constraints;
  std::vector<ShapeSpec> shapes;
  std::vector<CouplingSpec> couplings;
  /// Of files: how their shapes touch, which a scene's own rules come before; and pairs
  /// that never touch or that touch although a joint connects them, which come last.
  std::vector<ContactSpec> touch_rules, contacts;
  std::vector<SoftRule> soft_rules{};  // of some of them
  std::vector<MotorSpec> motors;
  std::vector<LoadSpec> loads;
  std::vector<SiteSpec> sites{};
  std::vector<SensorSpec> sensors{};
  std::vector<InitialJoint> start;
  std::optional<Vec3<double>> gravity;  // [m/s²]
  std::optional<double> timestep{};     // that a file asks for [s]
  std::vector<std::string> keys{};      // of files: their keyframes
  std::vector<Keyframe> keyframes{};    // those that have a name and positions
  std::vector<ShapeLook> looks{};       // of some shapes
  std::vector<Visual> visuals{};
  std::shared_ptr<Geometry> geometry = std::make_shared<Geometry>();
};

}  // namespace bristle::scene
