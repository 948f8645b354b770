#pragma once

#include <concepts>
#include <string>
#include <tuple>

#include "bristle/contact/coupling_pool.hpp"
#include "bristle/contact/loop_pool.hpp"

// Springs and dampers between bodies or on joints, pooled by kind. They have neither laws
// nor memory: forces follow from positions and velocities. A new kind is a file with a
// class of these operations and a word in SpringPools; forces, ledger, implicit steps,
// error scales and advice on the step then know it.

namespace bristle {

template <class P>
concept SpringPool = std::constructible_from<P, const Model&> &&
                     requires(const P& pool, const Placement& at, std::size_t i) {
                       // How many springs, what each is called, and its stiffness along a
                       // line [N/m].
                       { pool.size() } -> std::same_as<std::size_t>;
                       { pool.name(i) } -> std::same_as<std::string>;
                       { pool.stiffness(i) } -> std::same_as<double>;
                       // Its directions: rows of J, slopes and elastic
                       // forces.
                       { pool.rows(at, i) } noexcept -> std::same_as<SpringRows>;
                       // Stored in all of them [J].
                       { pool.energy(at) } noexcept -> std::same_as<double>;
                     };

/// A pool that adds its forces by itself and returns its dampers' losses [W]; of others
/// they follow from their rows.
template <class P>
concept ScattersItself = requires(P& pool, const Placement& at, const ForceSink& to) {
  { pool.scatter(at, to) } noexcept -> std::same_as<double>;
};

template <SpringPool... Pool>
struct SpringPoolList : std::tuple<Pool...> {
  explicit SpringPoolList(const Model& model) : std::tuple<Pool...>(Pool(model)...) {}
  std::size_t size() const {
    return std::apply([](const auto&... pool) { return (pool.size() + ...); }, all());
  }
  const std::tuple<Pool...>& all() const { return *this; }
  std::tuple<Pool...>& all() { return *this; }
};

using SpringPools = SpringPoolList<LoopPool, CouplingPool>;

/// work(pool) for every kind.
template <class Pools, class Work>
void for_each_spring_pool(Pools& springs, const Work& work) {
  std::apply([&](auto&... pool) { (work(pool), ...); }, springs.all());
}

/// work(rows) for every spring of every kind.
template <class Work>
void for_each_spring(const SpringPools& springs, const Placement& at, const Work& work) {
  for_each_spring_pool(springs, [&](const auto& pool) {
    for (std::size_t i = 0; i < pool.size(); ++i) work(pool.rows(at, i));
  });
}

/// Adds all forces; returns the dampers' losses [W].
inline double scatter_springs(SpringPools& springs, const Placement& at,
                              const ForceSink& to) noexcept {
  double loss = 0;
  for_each_spring_pool(springs, [&]<class P>(P& pool) {
    if constexpr (ScattersItself<P>) {
      loss += pool.scatter(at, to);
    } else {
      for (std::size_t i = 0; i < pool.size(); ++i) {
        const SpringRows rows = pool.rows(at, i);
        for (int k = 0; k < rows.count; ++k) {
          const double rate = row_rate(at.tree, at.v, rows.row[k]);
          loss += rows.damping[k] * rate * rate;
          add_row(rows.row[k], rows.elastic[k] - rows.damping[k] * rate, to.on_links,
                  to.on_joints);
        }
      }
    }
  });
  return loss;
}

/// Adds −(a K + b D) u alone, u the velocities of the springs.
inline void add_spring_slopes(const SpringPools& springs, const Placement& at, double a,
                              double b, const ForceSink& to) noexcept {
  for_each_spring(springs, at, [&](const SpringRows& rows) {
    for (int k = 0; k < rows.count; ++k) {
      const double slope = a * rows.stiffness[k] + b * rows.damping[k];
      add_row(rows.row[k], -slope * row_rate(at.tree, at.v, rows.row[k]), to.on_links,
              to.on_joints);
    }
  });
}

/// Stored in all of them [J].
inline double energy_of(const SpringPools& springs, const Placement& at) noexcept {
  double sum = 0;
  for_each_spring_pool(springs, [&](const auto& pool) { sum += pool.energy(at); });
  return sum;
}

/// The name of spring number i of all.
inline std::string name_of(const SpringPools& springs, std::size_t i) {
  std::string name;
  for_each_spring_pool(springs, [&](const auto& pool) {
    if (name.empty() && i < pool.size()) name = pool.name(i);
    i -= std::min(i, pool.size());
  });
  return name;
}

}  // namespace bristle
