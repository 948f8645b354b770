#include "bristle/dynamics/dynamics.hpp"

namespace bristle {

template void kinematics<double>(const Tree&, In<double>, In<double>,
                                 Workspace<double>&) noexcept;
template void inverse_dynamics<double>(const Tree&, In<double>, In<double>,
                                       In<Force<double>>, Workspace<double>&,
                                       Out<double>) noexcept;
template void mass_matrix<double>(const Tree&, Workspace<double>&, Out<double>) noexcept;
template void forward_dynamics<double>(const Tree&, In<double>, In<double>,
                                       In<Force<double>>, Workspace<double>&,
                                       Out<double>) noexcept;
template void hybrid_dynamics<double>(const Tree&, In<double>,
                                      std::span<const std::uint8_t>, In<Force<double>>,
                                      Workspace<double>&, Out<double>,
                                      Out<double>) noexcept;
template void factorise<double>(const Tree&, Workspace<double>&,
                                std::span<const std::uint8_t>) noexcept;
template void solve_mass<double>(const Tree&, In<double>, In<Force<double>>,
                                 Workspace<double>&, Out<double>) noexcept;
template void inverse_inertia<double>(const Tree&, In<JacobianRow<double>>,
                                      const Workspace<double>&, Out<double>,
                                      Out<double>) noexcept;

}  // namespace bristle
