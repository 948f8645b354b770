#pragma once

#include "bristle/dynamics/energy.hpp"
#include "bristle/dynamics/forward_dynamics.hpp"
#include "bristle/dynamics/inverse_dynamics.hpp"
#include "bristle/dynamics/inverse_inertia.hpp"
#include "bristle/dynamics/jacobian.hpp"
#include "bristle/dynamics/kinematics.hpp"
#include "bristle/dynamics/mass_matrix.hpp"

// The whole folder. The functions for double are compiled once, in the library; they say
// `class T` and not `Scalar T` because compilers disagree on how a constraint enters a
// symbol's name, and Workspace<T> constrains T anyway.

namespace bristle {

extern template void kinematics<double>(const Tree&, In<double>, In<double>,
                                        Workspace<double>&) noexcept;
extern template void inverse_dynamics<double>(const Tree&, In<double>, In<double>,
                                              In<Force<double>>, Workspace<double>&,
                                              Out<double>) noexcept;
extern template void mass_matrix<double>(const Tree&, Workspace<double>&,
                                         Out<double>) noexcept;
extern template void forward_dynamics<double>(const Tree&, In<double>, In<double>,
                                              In<Force<double>>, Workspace<double>&,
                                              Out<double>) noexcept;
extern template void hybrid_dynamics<double>(const Tree&, In<double>,
                                             std::span<const std::uint8_t>,
                                             In<Force<double>>, Workspace<double>&,
                                             Out<double>, Out<double>) noexcept;
extern template void factorise<double>(const Tree&, Workspace<double>&,
                                       std::span<const std::uint8_t>) noexcept;
extern template void solve_mass<double>(const Tree&, In<double>, In<Force<double>>,
                                        Workspace<double>&, Out<double>) noexcept;
extern template void inverse_inertia<double>(const Tree&, In<JacobianRow<double>>,
                                             const Workspace<double>&, Out<double>,
                                             Out<double>) noexcept;

}  // namespace bristle
