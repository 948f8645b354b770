#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "bristle/complementarity/gauss_seidel.hpp"
#include "bristle/complementarity/newton.hpp"
#include "bristle/complementarity/pivoting.hpp"
#include "bristle/complementarity/velocity_newton.hpp"

// The one list of solvers. A solver that stands here is known to scenes and to the
// contract tests; its .cpp goes into the list of engine/CMakeLists.txt.

namespace bristle {

template <ComplementaritySolver... Solvers>
struct SolverList {};

using Solvers = SolverList<Pivoting, GaussSeidel, Newton, VelocityNewton>;

/// Calls f.operator()<Solver>() for each solver of a list, in order.
template <class... S, class F>
constexpr void for_each_solver(SolverList<S...>, F&& f) {
  (f.template operator()<S>(), ...);
}

/// Calls f.operator()<Solver>() for the solver of that name; false when there is none.
template <class... S, class F>
constexpr bool with_solver(SolverList<S...>, std::string_view name, F&& f) {
  return ((name == S::info.name && (f.template operator()<S>(), true)) || ...);
}

namespace detail {
template <class... S>
constexpr bool solver_names_differ(SolverList<S...>) {
  const std::array names{S::info.name...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}
}  // namespace detail

static_assert(detail::solver_names_differ(Solvers{}), "two solvers have the same name");

}  // namespace bristle
