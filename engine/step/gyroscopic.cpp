#include "bristle/step/gyroscopic.hpp"

#include <cmath>

#include "bristle/model/positions.hpp"

namespace bristle {

namespace {

using detail::at;

constexpr double slow_turn = 1e-2;  // of a link on its way, in a step [rad]

/// Solves a 3 × 3 system by Cramer's rule.
Vec3<double> solve(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c,
                   const Vec3<double>& y) {
  const Vec3<double> bc = cross(b, c);
  const double det = dot(a, bc);
  return (1 / det) * Vec3<double>{dot(y, bc), dot(a, cross(y, c)), dot(a, cross(b, y))};
}

/// ω̄ by Newton's method on 2 I (x − ω) + h x × I x = 0; ω̄ = 0 where it does not converge,
/// which leaves the torque out.
Vec3<double> mean_turning(const Sym3<double>& inertia, const Vec3<double>& w, double h) {
  Vec3<double> x = w;
  Vec3<double> momentum = inertia * w;
  Vec3<double> f = h * cross(w, momentum);
  const double size = norm2(momentum);
  for (int step = 0; step < 30; ++step) {
    const double left = norm2(f);
    if (left <= 1e-28 * size) return x;
    const auto slope = [&](const Vec3<double>& own, const Vec3<double>& turned) {
      return 2.0 * own + h * (turned + cross(x, own));  // turned: a unit vector × I x
    };
    const Vec3<double>& m = momentum;
    x = x - solve(slope({inertia.xx, inertia.xy, inertia.xz}, {0, -m.z, m.y}),
                  slope({inertia.xy, inertia.yy, inertia.yz}, {m.z, 0, -m.x}),
                  slope({inertia.xz, inertia.yz, inertia.zz}, {-m.y, m.x, 0}), f);
    if (!(norm2(x) < 4 * norm2(w) * 1e6)) break;
    // A step squares the error: what is left now is of the order of rounding.
    if (left <= 1e-18 * size) return x;
    momentum = inertia * x;
    f = 2.0 * (inertia * (x - w)) + h * cross(x, momentum);
  }
  return {0, 0, 0};
}

}  // namespace

GyroscopicStep::GyroscopicStep(const Tree& tree)
    : bodies_(at(tree.link_count())),
      torques_(bodies_.size(), {0, 0, 0}),
      changes_(bodies_.size(), {0, 0, 0}) {
  const std::span<const LinkConstants<double>> constants = tree.constants();
  for (int i = 1; i < tree.link_count(); ++i) {
    const Link& link = tree.link(i);
    const Inertia<double>& inertia = constants[at(i)].inertia;
    Body& body = bodies_[at(i)];
    body.has_mass = inertia.mass > 0;
    if (body.has_mass) {
      body.com = (1 / inertia.mass) * inertia.moment;
      body.inertia = inertia.rotational - inertia.mass * point_inertia(body.com);
    }
    body.turns_freely = link.type == JointType::free || link.type == JointType::spherical;
    body.floats = link.type == JointType::free && link.parent == world_link;
    body.offset = body.floats && norm2(inertia.moment) > 0;
    bodies_[at(link.parent)].offset = false;  // something hangs from it
  }
}

void GyroscopicStep::add(const Tree& tree, const Workspace<double>& ws, double h,
                         std::span<Force<double>> on_links) noexcept {
  const double slow = slow_turn * slow_turn / (h * h);
  for (int i = 1; i < tree.link_count(); ++i) {
    const Body& body = bodies_[at(i)];
    changes_[at(i)] = {0, 0, 0};
    const Vec3<double>& turning = ws.velocities[at(i)].angular;
    const double speed = norm2(turning);
    if (!body.turns_freely && speed < slow) continue;
    if (body.floats) torques_[at(i)] = {0, 0, 0};
    if (speed == 0 || !body.has_mass) continue;
    const Mat3<double>& axes = ws.poses[at(i)].R;
    const Vec3<double> w = transpose_times(axes, turning);
    const Vec3<double> mean = mean_turning(body.inertia, w, h);
    const Vec3<double> torque = cross(mean, body.inertia * mean);
    const Vec3<double> change = cross(w, body.inertia * w) - torque;
    changes_[at(i)] = axes * change;
    on_links[at(i)].torque = on_links[at(i)].torque + changes_[at(i)];
    if (body.offset) {
      const double mass = ws.constants[at(i)].inertia.mass;
      const Vec3<double> arm = axes * body.com;
      const Vec3<double> force = mass * cross(turning, cross(turning, arm));
      on_links[at(i)].force = on_links[at(i)].force + force;
      on_links[at(i)].torque = on_links[at(i)].torque + cross(arm, force);
    }
    if (body.floats) torques_[at(i)] = axes * torque;
  }
}

void GyroscopicStep::move_on(const Tree& tree, const Workspace<double>& ws, double h,
                             std::span<double> q, std::span<double> v) const noexcept {
  integrate<double>(tree, q, v, h);
  for (int i = 1; i < tree.link_count(); ++i) {
    if (!bodies_[at(i)].offset) continue;
    const Link& link = tree.link(i);
    const Vec3<double> turning = load_vec3(v.data() + link.v);
    const Vec3<double> before = transpose_times(ws.free[at(link.free)].axes,
                                                ws.poses[at(i)].R * bodies_[at(i)].com);
    const Vec3<double> after = to_matrix(rotation_exp(h * turning)) * before;
    const Vec3<double> carried = cross(turning, before);
    double* position = q.data() + link.q;
    store(load_vec3(position) + (before - after) + h * carried, position);
    double* linear = v.data() + link.v + 3;
    store(load_vec3(linear) + carried - cross(turning, after), linear);
  }
}

}  // namespace bristle
