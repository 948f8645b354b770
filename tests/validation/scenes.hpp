#pragma once

#include <cmath>
#include <cstdio>
#include <string>

#include "bristle/laws/choice.hpp"
#include "bristle/step/fixed_step.hpp"
#include "bristle/step/ledger.hpp"

// Bodies that the validation scenes are made of.

namespace bristle::validation {

constexpr double pi = 3.14159265358979323846;

/// The axes of a frame turned about y.
inline Mat3<double> about_y(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, 0, -s}, {0, 1, 0}, {s, 0, c}};
}
inline Mat3<double> about_x(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{1, 0, 0}, {0, c, s}, {0, -s, c}};
}
inline Mat3<double> about_z(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
}

inline Sym3<double> ball_inertia(double mass, double radius) {
  const double i = 0.4 * mass * radius * radius;
  return Sym3<double>::diagonal(i, i, i);
}
inline Sym3<double> box_inertia(double mass, const Vec3<double>& half) {
  return Sym3<double>::diagonal(mass / 3 * (half.y * half.y + half.z * half.z),
                                mass / 3 * (half.x * half.x + half.z * half.z),
                                mass / 3 * (half.x * half.x + half.y * half.y));
}

/// "b" and a number. (Not by "b" + to_string: GCC 12 then warns of an overlap.)
inline std::string numbered(const char* word, int number) {
  std::string name(word);
  name += std::to_string(number);
  return name;
}

/// A body that moves freely, with one shape of its own name.
inline void add_free(ModelBuilder& builder, const std::string& name, double mass,
                     const Sym3<double>& inertia, const Shape& shape,
                     const std::string& surface = {}) {
  builder.add_body({.name = name, .mass = mass, .inertia = inertia});
  builder.add_joint({.name = name + " moves", .child = name, .type = JointType::free});
  builder.add_shape({.name = name, .body = name, .shape = shape, .surface = surface});
}

/// The model, or a message and the end.
inline Model built(const ModelBuilder& builder) {
  Result<Model> model = builder.build();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    std::abort();
  }
  return *std::move(model);
}

/// Where a body's free joint stands in the positions and velocities.
struct FreePlace {
  std::size_t q, v;
};
inline FreePlace place_of(const Model& model, const std::string& body) {
  const Joint* joint = model.tree.find_joint(body + " moves");
  return {static_cast<std::size_t>(joint->q), static_cast<std::size_t>(joint->v)};
}

inline void put(const Model& model, State& state, const std::string& body,
                const Vec3<double>& at, const Vec3<double>& velocity = {0, 0, 0},
                const Vec3<double>& turning = {0, 0, 0}) {
  const FreePlace place = place_of(model, body);
  store(at, state.q.data() + place.q);
  store(turning, state.v.data() + place.v);
  store(velocity, state.v.data() + place.v + 3);
}

}  // namespace bristle::validation
