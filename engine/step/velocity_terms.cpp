#include "bristle/step/velocity_terms.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

using detail::at;

constexpr double slow_turn = 2e-3;  // of a link in a step [rad]
// Of T in a step: what is further above is no longer an error of second order. What is
// below is taken all the same, so that no step creates energy.
constexpr double most_share = 1.5;

/// Of a link: mass times the place of its centre, and times its velocity.
Vec3<double> lever_of(const Workspace<double>& ws, std::size_t link) {
  const Inertia<double>& inertia = ws.constants[link].inertia;
  return inertia.mass * ws.poses[link].p + ws.poses[link].R * inertia.moment;
}
Vec3<double> momentum_of(const Workspace<double>& ws, std::size_t link,
                         const Motion<double>& m) {
  const Inertia<double>& inertia = ws.constants[link].inertia;
  return inertia.mass * m.linear + cross(m.angular, ws.poses[link].R * inertia.moment);
}

}  // namespace

VelocityTerms::VelocityTerms(const Model& model)
    : group_(at(model.tree.link_count()), -1),
      of_velocity_(at(model.tree.velocity_count()), -1) {
  const Tree& tree = model.tree;
  const int links = tree.link_count();
  std::vector<int> first(group_.size());  // of the links that hang together
  std::vector<int> size(group_.size(), 0);
  for (int i = 1; i < links; ++i) {
    const int parent = tree.link(i).parent;
    first[at(i)] = parent == world_link ? i : first[at(parent)];
  }
  for (const Loop& loop : model.loops) {
    if (loop.link_a == world_link || loop.link_b == world_link) continue;
    const int from = std::max(first[at(loop.link_a)], first[at(loop.link_b)]);
    const int to = std::min(first[at(loop.link_a)], first[at(loop.link_b)]);
    std::replace(first.begin(), first.end(), from, to);
  }
  std::vector<std::uint8_t> driven(group_.size(), 0);
  for (int i = 1; i < links; ++i) {
    ++size[at(first[at(i)])];
    const bool prescribed = !model.prescribed.empty() && model.prescribed[at(i)] != 0;
    if (prescribed) driven[at(first[at(i)])] = 1;
  }
  for (int i = 1; i < links; ++i) {
    const int own = first[at(i)];
    const bool free = tree.link(own).type == JointType::free;
    if (driven[at(own)] != 0 || (size[at(own)] == 1 && free)) continue;
    if (own == i) {
      group_[at(i)] = static_cast<int>(root_.size());
      root_.push_back(free ? i : -1);
    }
    group_[at(i)] = group_[at(own)];
    // A second body that hangs from the world: they do not move as one.
    if (own != i && tree.link(i).parent == world_link) root_[at(group_[at(i)])] = -1;
    const Link& link = tree.link(i);
    for (int k = 0; k < velocity_count(link.type); ++k) {
      of_velocity_[at(link.v + k)] = group_[at(i)];
    }
  }
  fast_.resize(root_.size());
  target_.resize(root_.size());
  mass_.resize(root_.size());
  momentum_.resize(root_.size());
  for (int i = 1; i < links; ++i) {
    if (group_[at(i)] >= 0) {
      mass_[at(group_[at(i)])] += tree.constants()[at(i)].inertia.mass;
    }
  }
  energies_.resize(root_.size());
}

bool VelocityTerms::find(const Workspace<double>& ws, double h) noexcept {
  any_ = false;
  if (root_.empty()) return false;
  std::fill(fast_.begin(), fast_.end(), std::uint8_t{0});
  const double most = (slow_turn / h) * (slow_turn / h);
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (group_[i] < 0 || !(norm2(ws.velocities[i].angular) > most)) continue;
    fast_[at(group_[i])] = 1;
    any_ = true;
  }
  return any_;
}

double VelocityTerms::turns_by(const Workspace<double>& ws, double h) const noexcept {
  double most = 0;
  for (std::size_t i = 1; i < group_.size() && !root_.empty(); ++i) {
    if (group_[i] >= 0) most = std::max(most, norm2(ws.velocities[i].angular));
  }
  return h * std::sqrt(most);
}

bool VelocityTerms::keeps_energy(double turn) noexcept { return turn > slow_turn; }

void VelocityTerms::find_energies(const Workspace<double>& ws,
                                  std::span<const double> v) noexcept {
  std::fill(energies_.begin(), energies_.end(), 0.0);
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (!is_fast(i)) continue;
    const Mat3<double>& axes = ws.poses[i].R;
    const Motion<double>& m = ws.velocities[i];
    const Motion<double> own{transpose_times(axes, m.angular),
                             transpose_times(axes, m.linear)};
    energies_[at(group_[i])] += 0.5 * dot(ws.constants[i].inertia * own, own);
  }
  for (std::size_t k = 0; k < ws.armature.size(); ++k) {
    if (of_velocity_[k] < 0) continue;
    energies_[at(of_velocity_[k])] += 0.5 * ws.armature[k] * v[k] * v[k];
  }
}

/// The forces that the links need, without gravity and accelerations of their own, into
/// the workspace: those of −c, link by link.
void VelocityTerms::find_forces(const Tree& tree, std::span<const double> v,
                                std::span<const Motion<double>> before,
                                Workspace<double>& ws) noexcept {
  LinkWork<double>* work = ws.links.data();
  work[0].bias = Motion<double>::zero();
  work[0].spread = Mat3<double>::zero();
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (!is_fast(i)) continue;
    const Link& link = tree.link(static_cast<int>(i));
    const LinkWork<double>& parent = work[link.parent];
    Motion<double> a = bristle::detail::velocity_products(
        link, ws.dofs.data() + link.v, v.data() + link.v,
        before[at(link.parent)].angular);
    a.angular = a.angular + parent.bias.angular;
    a.linear = a.linear + (parent.bias.linear + parent.spread * work[i].arm);
    const Vec3<double>& w = before[i].angular;
    work[i].bias = a;
    work[i].spread = bristle::detail::spread_of(a.angular, w);
    work[i].force = bristle::detail::newton_euler(
        rotated(ws.poses[i].R, ws.constants[i].inertia), w, a, work[i].spread);
  }
}

double VelocityTerms::measure(const Tree& tree, double h, std::span<const double> v,
                              std::span<const double> v_next,
                              std::span<const Motion<double>> before,
                              std::span<const Vec3<double>> torques,
                              Workspace<double>& ws) noexcept {
  // T(v⁺) + V less the work of gravity; V at the new positions will come off.
  find_energies(ws, v_next);
  std::copy(energies_.begin(), energies_.end(), target_.begin());
  std::fill(momentum_.begin(), momentum_.end(), Vec3<double>{0, 0, 0});
  find_forces(tree, v, before, ws);
  double undamped = 0;
  const Vec3<double> gravity = tree.gravity();
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (!is_fast(i)) continue;
    const auto g = at(group_[i]);
    const double mass = ws.constants[i].inertia.mass;
    const Vec3<double> arm = ws.poses[i].R * ws.constants[i].inertia.moment;
    const Motion<double>&from = before[i], &to = ws.velocities[i];
    const Motion<double> change = to - from;
    Vec3<double> moved = mass * to.linear + cross(to.angular, arm);
    if (root_[g] < 0) {
      const Vec3<double> pushed = mass * change.linear + cross(change.angular, arm);
      undamped += 0.5 * h * dot(gravity, pushed);
      moved = moved - 0.5 * pushed;
    }
    target_[g] -= dot(gravity, mass * ws.poses[i].p + arm + h * moved);
    Force<double> c = ws.links[i].force;
    c.torque = c.torque - torques[i];
    momentum_[g] = momentum_[g] + mass * to.linear + cross(to.angular, arm) + h * c.force;
    target_[g] += 0.5 * h * dot(c, from + to);
    undamped -= 0.5 * h * dot(c, change);
  }
  return undamped;
}

void VelocityTerms::keep(const Tree& tree, std::span<const double> q, std::span<double> v,
                         Workspace<double>& ws) noexcept {
  kinematics<double>(tree, q, v, ws);
  find_energies(ws, v);
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (!is_fast(i)) continue;
    target_[at(group_[i])] += dot(tree.gravity(), lever_of(ws, i));
  }
  for (std::size_t g = 0; g < root_.size(); ++g) {
    if (fast_[g] != 0) scale(tree, g, v, ws);
  }
}

/// The velocity of the centre of mass.
Vec3<double> VelocityTerms::flight_at(std::size_t group,
                                      const Workspace<double>& ws) const noexcept {
  Vec3<double> momentum{0, 0, 0};
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (group_[i] != static_cast<int>(group)) continue;
    momentum = momentum + momentum_of(ws, i, ws.velocities[i]);
  }
  return (1 / mass_[group]) * momentum;
}

void VelocityTerms::scale(const Tree& tree, std::size_t group, std::span<double> v,
                          const Workspace<double>& ws) noexcept {
  const int root = root_[group];
  const double mass = root >= 0 ? mass_[group] : 0;
  Vec3<double> has_flight{0, 0, 0}, flight{0, 0, 0};
  if (mass > 0) {
    has_flight = flight_at(group, ws);
    flight = (1 / mass) * momentum_[group];
  }
  const double has = energies_[group] - 0.5 * mass * norm2(has_flight);
  const double wants = target_[group] - 0.5 * mass * norm2(flight);
  const bool turns = has > 1e-12 * energies_[group];
  const double factor = turns ? std::sqrt(std::clamp(wants / has, 0.0, most_share)) : 1;
  double* const linear = mass > 0 ? v.data() + tree.link(root).v + 3 : nullptr;
  if (linear != nullptr) {
    const Mat3<double>& axes = ws.free[at(tree.link(root).free)].axes;
    store(load_vec3(linear) - transpose_times(axes, has_flight), linear);
  }
  for (std::size_t k = 0; k < v.size(); ++k) {
    if (of_velocity_[k] == static_cast<int>(group)) v[k] *= factor;
  }
  if (linear != nullptr) {
    const Mat3<double>& axes = ws.free[at(tree.link(root).free)].axes;
    store(load_vec3(linear) + transpose_times(axes, flight), linear);
  }
}

}  // namespace bristle
