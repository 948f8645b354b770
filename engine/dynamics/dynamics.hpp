#pragma once

#include "bristle/dynamics/energy.hpp"
#include "bristle/dynamics/forward_dynamics.hpp"
#include "bristle/dynamics/inverse_dynamics.hpp"
#include "bristle/dynamics/inverse_inertia.hpp"
#include "bristle/dynamics/jacobian.hpp"
#include "bristle/dynamics/kinematics.hpp"
#include "bristle/dynamics/mass_matrix.hpp"

// All of the folder. The functions for double are compiled once, in the library; they say
// `class T` and not `Scalar T` because compilers disagree on how a constraint enters a
// symbol's name, and Workspace<T> constrains T anyway.

namespace bristle {

#define BRISTLE_DYNAMICS_FOR(kind, T)                                                    \
  kind void kinematics<T>(const Tree&, In<T>, In<T>, Workspace<T>&) noexcept;            \
  kind void inverse_dynamics<T>(const Tree&, In<T>, In<T>, In<Force<T>>, Workspace<T>&,  \
                                Out<T>) noexcept;                                        \
  kind void mass_matrix<T>(const Tree&, Workspace<T>&, Out<T>) noexcept;                 \
  kind void forward_dynamics<T>(const Tree&, In<T>, In<T>, In<Force<T>>, Workspace<T>&,  \
                                Out<T>) noexcept;                                        \
  kind void hybrid_dynamics<T>(const Tree&, In<T>, std::span<const std::uint8_t>,        \
                               In<Force<T>>, Workspace<T>&, Out<T>, Out<T>) noexcept;    \
  kind void factorise<T>(const Tree&, Workspace<T>&) noexcept;                           \
  kind void solve_mass<T>(const Tree&, In<T>, In<Force<T>>, Workspace<T>&,               \
                          Out<T>) noexcept;                                              \
  kind void inverse_inertia<T>(const Tree&, In<PushRow<T>>, const Workspace<T>&, Out<T>, \
                               Out<T>) noexcept;

BRISTLE_DYNAMICS_FOR(extern template, double)

}  // namespace bristle
