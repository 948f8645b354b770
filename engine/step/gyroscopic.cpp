#include "bristle/step/gyroscopic.hpp"

#include <cmath>

#include "bristle/model/positions.hpp"

namespace bristle {

namespace {

using detail::at;

constexpr double slow_turn = 1e-2;  // of a link on its way, in a step [rad]

Vec3<double> column(const Sym3<double>& i, int k) {
  const Vec3<double> all[3] = {
      {i.xx, i.xy, i.xz}, {i.xy, i.yy, i.yz}, {i.xz, i.yz, i.zz}};
  return all[k];
}

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
  const double size = norm(inertia * w);
  for (int step = 0; step < 30; ++step) {
    const Vec3<double> momentum = inertia * x;
    const Vec3<double> f = 2.0 * (inertia * (x - w)) + h * cross(x, momentum);
    if (norm(f) <= 1e-14 * size) return x;
    Vec3<double> columns[3];
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> unit{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
      const Vec3<double> own = column(inertia, k);
      columns[k] = 2.0 * own + h * (cross(unit, momentum) + cross(x, own));
    }
    x = x - solve(columns[0], columns[1], columns[2], f);
    if (!(norm2(x) < 4 * norm2(w) * 1e6)) break;
  }
  return {0, 0, 0};
}

}  // namespace

GyroscopicStep::GyroscopicStep(const Tree& tree)
    : offset_(at(tree.link_count())), torques_(offset_.size()), changes_(offset_.size()) {
  const std::span<const LinkConstants<double>> constants = tree.constants();
  for (int i = 1; i < tree.link_count(); ++i) {
    const Link& link = tree.link(i);
    offset_[at(i)] = link.type == JointType::free && link.parent == world_link &&
                     norm2(constants[at(i)].inertia.moment) > 0;
    offset_[at(link.parent)] = 0;  // something hangs from it
  }
}

void GyroscopicStep::add(const Tree& tree, const Workspace<double>& ws, double h,
                         std::span<Force<double>> on_links) noexcept {
  for (int i = 1; i < tree.link_count(); ++i) {
    torques_[at(i)] = changes_[at(i)] = {0, 0, 0};
    const Link& link = tree.link(i);
    const Inertia<double>& inertia = ws.constants[at(i)].inertia;
    const Vec3<double>& turning = ws.velocities[at(i)].angular;
    const bool turns_freely =
        link.type == JointType::free || link.type == JointType::spherical;
    if (norm2(turning) == 0 || !(inertia.mass > 0)) continue;
    if (!turns_freely && h * norm(turning) < slow_turn) continue;
    const Vec3<double> com = (1 / inertia.mass) * inertia.moment;
    const Sym3<double> central = inertia.rotational - inertia.mass * point_inertia(com);
    const Mat3<double>& axes = ws.poses[at(i)].R;
    const Vec3<double> w = transpose_times(axes, turning);
    const Vec3<double> mean = mean_turning(central, w, h);
    const Vec3<double> torque = cross(mean, central * mean);
    const Vec3<double> change = cross(w, central * w) - torque;
    changes_[at(i)] = axes * change;
    on_links[at(i)].torque = on_links[at(i)].torque + changes_[at(i)];
    if (offset_[at(i)] != 0) {
      const Vec3<double> arm = axes * com;
      const Vec3<double> force = inertia.mass * cross(turning, cross(turning, arm));
      on_links[at(i)].force = on_links[at(i)].force + force;
      on_links[at(i)].torque = on_links[at(i)].torque + cross(arm, force);
    }
    if (link.type == JointType::free && link.parent == world_link) {
      torques_[at(i)] = axes * torque;
    }
  }
}

void GyroscopicStep::move_on(const Tree& tree, const Workspace<double>& ws, double h,
                             std::span<double> q, std::span<double> v) const noexcept {
  integrate<double>(tree, q, v, h);
  for (int i = 1; i < tree.link_count(); ++i) {
    if (offset_[at(i)] == 0) continue;
    const Link& link = tree.link(i);
    const Inertia<double>& inertia = ws.constants[at(i)].inertia;
    const Vec3<double> turning = load_vec3(v.data() + link.v);
    const Vec3<double> before =
        transpose_times(ws.free[at(link.free)].axes,
                        ws.poses[at(i)].R * ((1 / inertia.mass) * inertia.moment));
    const Vec3<double> after = to_matrix(rotation_exp(h * turning)) * before;
    const Vec3<double> carried = cross(turning, before);
    double* position = q.data() + link.q;
    store(load_vec3(position) + (before - after) + h * carried, position);
    double* linear = v.data() + link.v + 3;
    store(load_vec3(linear) + carried - cross(turning, after), linear);
  }
}

}  // namespace bristle
