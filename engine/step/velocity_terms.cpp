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
  flight_.resize(root_.size());
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

/// ½ Σ a v² of the joints' own inertias a, to the energies of their mechanisms.
void VelocityTerms::add_armatures(const Workspace<double>& ws,
                                  std::span<const double> v) noexcept {
  for (std::size_t k = 0; k < ws.armature.size(); ++k) {
    if (of_velocity_[k] < 0) continue;
    energies_[at(of_velocity_[k])] += 0.5 * ws.armature[k] * v[k] * v[k];
  }
}

double VelocityTerms::measure(const Tree& tree, double h, std::span<const double> v_next,
                              std::span<const Motion<double>> before,
                              std::span<const Vec3<double>> torques,
                              const Workspace<double>& ws) noexcept {
  // T(v⁺) + V less the work of gravity; V at the new positions will come off.
  std::fill(energies_.begin(), energies_.end(), 0.0);
  std::fill(target_.begin(), target_.end(), 0.0);
  std::fill(momentum_.begin(), momentum_.end(), Vec3<double>{0, 0, 0});
  add_armatures(ws, v_next);
  double undamped = 0;
  const Vec3<double> gravity = tree.gravity();
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (!is_fast(i)) continue;
    const auto g = at(group_[i]);
    const LinkWork<double>& link = ws.links[i];
    const Motion<double>&from = before[i], &to = ws.velocities[i];
    const Motion<double> change = to - from;
    const Force<double> momentum = link.inertia * to;
    energies_[g] += 0.5 * dot(momentum, to);
    Vec3<double> moved = momentum.force;
    if (root_[g] < 0) {
      const Vec3<double> pushed =
          link.inertia.mass * change.linear + cross(change.angular, link.inertia.moment);
      undamped += 0.5 * h * dot(gravity, pushed);
      moved = moved - 0.5 * pushed;
    }
    target_[g] -=
        dot(gravity, link.inertia.mass * ws.poses[i].p + link.inertia.moment + h * moved);
    // What the link needs without gravity and accelerations of its own: its part of c.
    const Motion<double> moves{link.bias.angular, link.bias.linear + gravity};
    Force<double> c =
        bristle::detail::newton_euler(link.inertia, from.angular, moves, link.spread);
    c.torque = c.torque - torques[i];
    momentum_[g] = momentum_[g] + momentum.force + h * c.force;
    target_[g] += 0.5 * h * dot(c, from + to);
    undamped -= 0.5 * h * dot(c, change);
  }
  for (std::size_t g = 0; g < root_.size(); ++g) target_[g] += energies_[g];
  return undamped;
}

void VelocityTerms::keep(const Tree& tree, std::span<const double> q, std::span<double> v,
                         Workspace<double>& ws) noexcept {
  kinematics<double>(tree, q, v, ws);
  std::fill(energies_.begin(), energies_.end(), 0.0);
  std::fill(flight_.begin(), flight_.end(), Vec3<double>{0, 0, 0});
  add_armatures(ws, v);
  for (std::size_t i = 1; i < group_.size(); ++i) {
    if (!is_fast(i)) continue;
    const auto g = at(group_[i]);
    const Inertia<double>& inertia = ws.constants[i].inertia;
    const Mat3<double>& axes = ws.poses[i].R;
    const Motion<double>& m = ws.velocities[i];
    const Motion<double> own{transpose_times(axes, m.angular),
                             transpose_times(axes, m.linear)};
    const Force<double> momentum = inertia * own;
    energies_[g] += 0.5 * dot(momentum, own);
    if (root_[g] >= 0) flight_[g] = flight_[g] + axes * momentum.force;
    target_[g] +=
        dot(tree.gravity(), inertia.mass * ws.poses[i].p + axes * inertia.moment);
  }
  for (std::size_t g = 0; g < root_.size(); ++g) {
    if (fast_[g] != 0) scale(tree, g, v, ws);
  }
}

void VelocityTerms::scale(const Tree& tree, std::size_t group, std::span<double> v,
                          const Workspace<double>& ws) noexcept {
  const int root = root_[group];
  const double mass = root >= 0 ? mass_[group] : 0;
  Vec3<double> has_flight{0, 0, 0}, flight{0, 0, 0};
  if (mass > 0) {
    has_flight = (1 / mass) * flight_[group];
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
