#pragma once

#include <concepts>

#include "bristle/contact/joint_pool.hpp"
#include "bristle/contact/point_pool.hpp"
#include "bristle/contact/spring_pools.hpp"

// Forces between bodies, pooled by kind. A pool measures its rows at a position
// and velocity, computes forces (or a step of the rows' memory), gives their slopes and
// their Jacobian rows, and scatters forces to links and joints. Memory from step to
// step lies in the State; a pool is room within a step. Rows under contact laws are a
// LawConstraintPool; springs and dampers, which remember nothing, a SpringPool.

namespace bristle {

/// The operations of a pool whose rows are under contact laws.
template <class P>
concept LawConstraintPool =
    std::derived_from<P, LawPool> && std::derived_from<typename P::Rows, LawRows> &&
    requires(P& pool, const P& seen, const Tree& tree, const Placement& at,
             const typename P::Rows& rows, std::span<const double> memory,
             const ForceSink& to, std::size_t i,
             std::span<JacobianRow<double>> directions, std::span<double> numbers) {
      { P::most_rows } -> std::convertible_to<int>;
      { seen.jacobian(at, i, directions) } noexcept -> std::same_as<int>;
      {
        seen.dense_jacobian(tree, at, i, numbers, numbers)
      } noexcept -> std::same_as<int>;
      { pool.measure(at, rows, memory, true) } noexcept;
      { pool.measure_rates(at, rows) } noexcept;
      { seen.scatter(at, rows, to) } noexcept;
      { seen.scatter_row(at, i, 0.0, Vec2<double>{}, to) } noexcept;
    };

static_assert(LawConstraintPool<PointPool> && LawConstraintPool<JointPool>);

struct Pools {
  Pools(const Model& model, Team& team)
      : joints(model, team), points(model, team), springs(model) {}

  JointPool joints;
  PointPool points;
  SpringPools springs;
};

/// The rows of a state, or others in their place.
struct RowView {
  const LawRows& joints;
  const ContactRows& contacts;

  RowView(const State& state) : joints(state.joints), contacts(state.contacts) {}
  RowView(const LawRows& of_joints, const ContactRows& of_contacts)
      : joints(of_joints), contacts(of_contacts) {}
};

/// What the rows remember, pool by pool: to read, or to write.
template <class N>
struct RowMemory {
  std::span<N> joints;
  std::span<N> contacts;
};

inline RowMemory<const double> memory_of(const State& state) {
  return {state.joints.memory, state.contacts.memory};
}
inline RowMemory<double> memory_of(State& state) {
  return {state.joints.memory, state.contacts.memory};
}
/// Room in the pools for as much: rates, or next values that are not used.
inline RowMemory<double> rates_of(Pools& pools) {
  return {pools.joints.rates(), pools.points.rates()};
}

/// work(pool, rows, memory) for the pools under laws that have rows.
template <class Rows, class N, class Work>
void for_each_law_pool(Pools& pools, Rows&& rows, const RowMemory<N>& memory,
                       const Work& work) {
  if (rows.joints.count > 0) work(pools.joints, rows.joints, memory.joints);
  if (rows.contacts.count > 0) work(pools.points, rows.contacts, memory.contacts);
}

}  // namespace bristle
