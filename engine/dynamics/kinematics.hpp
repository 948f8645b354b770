#pragma once

#include <algorithm>

#include "bristle/dynamics/workspace.hpp"

namespace bristle {

namespace detail {

/// Three velocities along or about the axes of a frame.
template <class T>
BRISTLE_INLINE void set_axes(DofWork<T>* dof, const Mat3<T>& f) noexcept {
  dof[0].axis = f.x;
  dof[1].axis = f.y;
  dof[2].axis = f.z;
}

/// The velocity of a link whose joint is placed: its axes, arm and parent are known.
template <Scalar T>
BRISTLE_INLINE Motion<T> moved_by_joint(const Link& link, const DofWork<T>* dof,
                                        const T* v, const Vec3<T>& arm,
                                        const Motion<T>& parent) noexcept {
  const auto along = [&](int first) {
    return Mat3<T>{dof[first].axis, dof[first + 1].axis, dof[first + 2].axis} *
           load_vec3(v + first);
  };
  Vec3<T> turning = parent.angular;
  Vec3<T> linear = parent.linear + cross(turning, arm);
  switch (link.type) {
    case JointType::fixed:
    case JointType::revolute:
      turning = turning + v[0] * dof[0].axis;
      break;
    case JointType::prismatic:
      linear = linear + v[0] * dof[0].axis;
      break;
    case JointType::universal:
      turning = turning + (v[0] * dof[0].axis + v[1] * dof[1].axis);
      break;
    case JointType::spherical:
      turning = turning + along(0);
      break;
    case JointType::planar:
      linear = linear + (v[0] * dof[0].axis + v[1] * dof[1].axis);
      turning = turning + v[2] * dof[2].axis;
      break;
    case JointType::free:
      linear = linear + along(3);
      turning = turning + along(0);
      break;
  }
  return {turning, linear};
}

}  // namespace detail

/// Poses and velocities of all links, from the world outwards. All functions of this
/// folder start from them.
template <class T>
void kinematics(const Tree& tree, In<T> q, In<T> v, Workspace<T>& ws) noexcept {
  using detail::at;
  const Link* links = tree.links().data();
  const int count = tree.link_count();
  const LinkConstants<T>* constants = ws.constants.data();
  Transform<T>* poses = ws.poses.data();
  Motion<T>* velocities = ws.velocities.data();
  LinkWork<T>* work = ws.links.data();
  DofWork<T>* dofs = ws.dofs.data();
  for (std::size_t k = 0; k < ws.placed_at.size(); ++k) ws.placed_at[k] = q[k];
  for (int i = 1; i < count; ++i) {
    const Link& link = links[i];
    const T* qi = q.data() + link.q;
    DofWork<T>* dof = dofs + link.v;
    const Transform<T>& parent = poses[link.parent];
    Mat3<T> f = constants[i].joint.R;
    Vec3<T> arm = constants[i].joint.p;
    if (link.parent != world_link) {
      f = parent.R * f;
      arm = parent.R * arm;
    }
    Mat3<T> axes;
    switch (link.type) {
      case JointType::fixed:
      case JointType::revolute:
        axes = turned_about_z(f, sincos(qi[0]));
        dof[0].axis = f.z;
        break;
      case JointType::prismatic:
        axes = f;
        dof[0].axis = f.z;
        arm = arm + qi[0] * f.z;
        break;
      case JointType::universal:
        axes = turned_about_x_y(f, sincos(qi[0]), sincos(qi[1]));
        dof[0].axis = f.x;
        dof[1].axis = axes.y;
        break;
      case JointType::spherical:
        axes = f * to_matrix(load_quaternion(qi));
        detail::set_axes(dof, f);
        break;
      case JointType::planar:
        axes = turned_about_z(f, sincos(qi[2]));
        detail::set_axes(dof, f);
        arm = arm + (qi[0] * f.x + qi[1] * f.y);
        break;
      case JointType::free:
        axes = f * to_matrix(load_quaternion(qi + 3));
        detail::set_axes(dof, f);
        detail::set_axes(dof + 3, f);
        ws.free[at(link.free)].axes = f;
        arm = arm + f * load_vec3(qi);
        break;
    }
    poses[i].R = axes;
    poses[i].p = parent.p + arm;
    velocities[i] = detail::moved_by_joint(link, dof, v.data() + link.v, arm,
                                           velocities[link.parent]);
    work[i].arm = arm;
  }
}

/// The same where the links may be at these positions already: their velocities alone.
template <PlainScalar T>
void renew_kinematics(const Tree& tree, In<T> q, In<T> v, Workspace<T>& ws) noexcept {
  if (!std::equal(ws.placed_at.begin(), ws.placed_at.end(), q.begin())) {
    return kinematics<T>(tree, q, v, ws);
  }
  for (int i = 1; i < tree.link_count(); ++i) {
    const Link& link = tree.link(i);
    ws.velocities[detail::at(i)] = detail::moved_by_joint(
        link, ws.dofs.data() + link.v, v.data() + link.v, ws.links[detail::at(i)].arm,
        ws.velocities[detail::at(link.parent)]);
  }
}

/// A body's frame in the world, after kinematics().
template <Scalar T>
Transform<T> body_pose(const Workspace<T>& ws, const Body& body) noexcept {
  const LinkConstants<T> in_link = cast<T>({body.in_link, Inertia<double>::zero()});
  return ws.poses[detail::at(body.link)] * in_link.joint;
}

/// The velocity of a point that moves with a link; both in world axes.
template <Scalar T>
BRISTLE_INLINE Vec3<T> point_velocity(const Workspace<T>& ws, int link,
                                      const Vec3<T>& point) noexcept {
  const Motion<T>& m = ws.velocities[detail::at(link)];
  return m.linear + cross(m.angular, point - ws.poses[detail::at(link)].p);
}

/// Adds a force at a point in the world to what acts on a link at its origin.
template <Scalar T>
BRISTLE_INLINE void add_force_at(const Workspace<T>& ws, int link, const Vec3<T>& point,
                                 const Vec3<T>& force, Out<Force<T>> forces) noexcept {
  Force<T>& f = forces[detail::at(link)];
  f.torque = f.torque + cross(point - ws.poses[detail::at(link)].p, force);
  f.force = f.force + force;
}

namespace detail {

/// What a joint's velocity adds to the acceleration of its link, given the velocity ω of
/// the parent: ω × ω_J for the part that turns, 2 ω × v_J for the part that moves. A
/// universal joint's second axis turns with the first one as well.
template <Scalar T>
BRISTLE_INLINE Motion<T> velocity_products(const Link& link, const DofWork<T>* dof,
                                           const T* v, const Vec3<T>& turning) {
  Vec3<T> zero{T(0), T(0), T(0)};
  switch (link.type) {
    case JointType::fixed:
      return {zero, zero};
    case JointType::revolute:
      return {cross(turning, v[0] * dof[0].axis), zero};
    case JointType::prismatic:
      return {zero, cross(turning, (T(2) * v[0]) * dof[0].axis)};
    case JointType::universal: {
      Vec3<T> first = v[0] * dof[0].axis;
      Vec3<T> second = v[1] * dof[1].axis;
      return {cross(turning, first) + cross(turning + first, second), zero};
    }
    case JointType::spherical: {
      Vec3<T> w = v[0] * dof[0].axis + v[1] * dof[1].axis + v[2] * dof[2].axis;
      return {cross(turning, w), zero};
    }
    case JointType::planar: {
      Vec3<T> w = v[0] * dof[0].axis + v[1] * dof[1].axis;
      return {cross(turning, v[2] * dof[2].axis), T(2) * cross(turning, w)};
    }
    case JointType::free: {
      Vec3<T> w = v[0] * dof[0].axis + v[1] * dof[1].axis + v[2] * dof[2].axis;
      Vec3<T> u = v[3] * dof[3].axis + v[4] * dof[4].axis + v[5] * dof[5].axis;
      return {cross(turning, w), T(2) * cross(turning, u)};
    }
  }
  return {zero, zero};
}

/// Σ Sₖ xₖ over the velocities of a joint.
template <Scalar T>
BRISTLE_INLINE Motion<T> joint_motion(const Link& link, const DofWork<T>* dof,
                                      const T* x) {
  Motion<T> m = Motion<T>::zero();
  for (int k = 0; k < velocity_count(link.type); ++k) {
    Vec3<T>& part = is_linear(link.type, k) ? m.linear : m.angular;
    part = part + x[k] * dof[k].axis;
  }
  return m;
}

/// K = (α×) + (ω×)(ω×)
template <Scalar T>
BRISTLE_INLINE Mat3<T> spread_of(const Vec3<T>& alpha, const Vec3<T>& w) {
  const T xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {{-(yy + zz), xy + alpha.z, xz - alpha.y},
          {xy - alpha.z, -(xx + zz), yz + alpha.x},
          {xz + alpha.y, yz - alpha.x, -(xx + yy)}};
}

/// The force that moves a rigid body so, about its origin.
template <Scalar T>
BRISTLE_INLINE Force<T> newton_euler(const Inertia<T>& i, const Vec3<T>& w,
                                     const Motion<T>& acceleration,
                                     const Mat3<T>& spread) {
  return {(i.rotational * acceleration.angular + cross(w, i.rotational * w)) +
              cross(i.moment, acceleration.linear),
          i.mass * acceleration.linear + spread * i.moment};
}

}  // namespace detail

}  // namespace bristle
