#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bristle/model/model.hpp"
#include "scene/problem.hpp"

// What a file describes, in the engine's own words: whoever reads a format fills these
// in, and whoever compiles a scene hands them to ModelBuilder.

namespace bristle::scene {

/// Hulls, meshes and height fields, which shapes only refer to: they stay where they are.
struct Geometry {
  std::deque<ConvexHull> hulls;
  std::deque<TriangleMesh> meshes;
  std::deque<HeightField> fields;
};

/// A joint's position or velocity at the start, where it is not the neutral one.
struct InitialJoint {
  std::string joint;
  std::vector<double> q;  // as JointType counts them
  std::vector<double> v;  // empty: at rest
};

struct Parts {
  std::vector<BodySpec> bodies;
  std::vector<JointSpec> joints;
  std::vector<LoopSpec> loops;
  std::vector<ConstraintSpec> constraints;
  std::vector<ShapeSpec> shapes;
  std::vector<ContactSpec> contacts;  // of files: pairs that never touch
  std::vector<MotorSpec> motors;
  std::vector<LoadSpec> loads;
  std::vector<InitialJoint> start;
  std::optional<Vec3<double>> gravity;  // [m/s²]
  std::shared_ptr<Geometry> geometry = std::make_shared<Geometry>();
};

}  // namespace bristle::scene
