#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "bristle/spatial/quaternion.hpp"
#include "bristle/spatial/transform.hpp"

// How a joint type moves the child-side frame M in the parent-side frame F.
//
//   type       positions q              velocities v           M in F
//   fixed      –                        –                      M = F
//   revolute   angle                    rate                   turned about z
//   prismatic  distance                 rate                   moved along z
//   universal  two angles               their rates            turned about F's x, then
//                                                              about the new y
//   spherical  quaternion w, x, y, z    ω                      turned by the quaternion
//   planar     x, y, angle              their rates            moved in F's x y, turned
//                                                              about z
//   free       x, y, z, quaternion      ω, velocity of origin  moved and turned
//
// ω and the velocity are those of M relative to F, in the axes of F. A revolute or
// prismatic joint that asks for another axis than z has its two frames turned when the
// tree is built.

namespace bristle {

enum class JointType : std::uint8_t {
  fixed,
  revolute,
  prismatic,
  universal,
  spherical,
  planar,
  free
};

constexpr int position_count(JointType type) {
  constexpr int counts[] = {0, 1, 1, 2, 4, 3, 7};
  return counts[static_cast<int>(type)];
}

constexpr int velocity_count(JointType type) {
  constexpr int counts[] = {0, 1, 1, 2, 3, 3, 6};
  return counts[static_cast<int>(type)];
}

constexpr std::string_view joint_type_name(JointType type) {
  constexpr std::string_view names[] = {"fixed",     "revolute", "prismatic", "universal",
                                        "spherical", "planar",   "free"};
  return names[static_cast<int>(type)];
}

/// Where the quaternion begins in the positions of a joint; −1 when it has none.
constexpr int quaternion_at(JointType type) {
  return type == JointType::spherical ? 0 : type == JointType::free ? 3 : -1;
}

/// Whether velocity k of a joint moves along an axis; the others turn about one.
constexpr bool is_linear(JointType type, int k) {
  return type == JointType::prismatic || (type == JointType::planar && k < 2) ||
         (type == JointType::free && k >= 3);
}

template <Scalar T>
BRISTLE_INLINE Quaternion<T> load_quaternion(const T* q) {
  return {q[0], q[1], q[2], q[3]};
}
template <Scalar T>
BRISTLE_INLINE void store(const Quaternion<T>& from, T* q) {
  q[0] = from.w;
  q[1] = from.x;
  q[2] = from.y;
  q[3] = from.z;
}
template <Scalar T>
BRISTLE_INLINE Vec3<T> load_vec3(const T* v) {
  return {v[0], v[1], v[2]};
}
template <Scalar T>
BRISTLE_INLINE void store(const Vec3<T>& from, T* v) {
  v[0] = from.x;
  v[1] = from.y;
  v[2] = from.z;
}

/// F with its x and y axes turned about z.
template <Scalar T>
BRISTLE_INLINE Mat3<T> turned_about_z(const Mat3<T>& f, const SinCos<T>& angle) {
  const T s = angle.sin, c = angle.cos;
  return {c * f.x + s * f.y, c * f.y - s * f.x, f.z};
}

/// F turned about its x axis, then about the new y axis.
template <Scalar T>
BRISTLE_INLINE Mat3<T> turned_about_x_y(const Mat3<T>& f, const SinCos<T>& first,
                                        const SinCos<T>& second) {
  Vec3<T> y = first.cos * f.y + first.sin * f.z;
  Vec3<T> z = first.cos * f.z - first.sin * f.y;
  return {second.cos * f.x - second.sin * z, y, second.cos * z + second.sin * f.x};
}

/// M in F.
template <Scalar T>
BRISTLE_INLINE Transform<T> joint_transform(JointType type, const T* q) {
  Transform<T> x;
  switch (type) {
    case JointType::fixed:
      break;
    case JointType::revolute:
      x.R = turned_about_z(x.R, sincos(q[0]));
      break;
    case JointType::prismatic:
      x.p.z = q[0];
      break;
    case JointType::universal:
      x.R = turned_about_x_y(x.R, sincos(q[0]), sincos(q[1]));
      break;
    case JointType::spherical:
      x.R = to_matrix(load_quaternion(q));
      break;
    case JointType::planar:
      x.R = turned_about_z(x.R, sincos(q[2]));
      x.p.x = q[0];
      x.p.y = q[1];
      break;
    case JointType::free:
      x.R = to_matrix(load_quaternion(q + 3));
      x.p = load_vec3(q);
      break;
  }
  return x;
}

}  // namespace bristle
