#pragma once

#include <cstdint>
#include <string_view>

#include "bristle/complementarity/local_contact.hpp"

// Steps that solve for impulses: bristle friction in a boxed complementarity problem
// (Peiret, Kövecses & Font-Llagunes), for any law, stable for any stiffness.

namespace bristle {

/// The normal impulses that bound friction.
enum class FrictionBounds : std::uint8_t {
  coupled,   // μ z_n of the same solution
  iterated,  // μ z_n of the solution before, until it no longer changes
  lagged,    // μ z_n of the last step
};

struct ComplementarityOptions {
  ConeShape cone = ConeShape::isotropic;
  FrictionBounds bounds = FrictionBounds::coupled;
  std::string_view solver =
      "velocity-newton";      // of the list in complementarity/solvers.hpp
  double tolerance = 1e-8;    // of residuals, relative to the free velocity
  int iterations = 1000;      // of the solver, at most
  int relinearisations = 20;  // of the laws, at most
  bool strict = false;        // a step that is not solved to the tolerance ends the run
};

}  // namespace bristle
