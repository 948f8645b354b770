#pragma once

#include <bristle/laws/normal/spring_damper.hpp>

// A whole normal law outside the library: what it is in words, its parameters, and its
// spring and damper with their slopes. SpringDamper makes the operations of them.
//
//   f_n = max(0, k δ² + c δ δ̇)
//
// so that stiffness and damping both grow with the depth.

namespace own_law {

using namespace bristle;  // scalars, and the functions that laws may call on them

struct SoftWall : SpringDamper<SoftWall> {
  static constexpr LawInfo info{
      .name = "soft-wall",
      .title = "Soft wall",
      .formula = "f_n = max(0, k δ² + c δ δ̇)",
      .source = "An example of a law outside the library.",
      .limits = "Depths well below the thickness of the wall's padding.",
      .energy = "Passive."};

  template <class T>
  struct Params {
    T stiffness;  // k [N/m²]
    T damping;    // c [N s/m²]
  };
  static constexpr auto parameters() {
    using P = Params<double>;
    return std::array{ParameterField<P>{&P::stiffness,
                                        {"stiffness", "k", "N/m^2", above(0, 1e15), 1e7,
                                         "force over the square of the depth"}},
                      ParameterField<P>{&P::damping,
                                        {"damping", "c", "N s/m^2", between(0, 1e9), 1e4,
                                         "damping force over depth and speed"}}};
  }
  static constexpr std::string_view damping_parameter = "damping";

  template <Scalar T>
  BRISTLE_INLINE static NormalParts<T> parts(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    const T spring = p.stiffness * square(kin.depth);
    return {.elastic = spring,
            .damping = p.damping * kin.depth * kin.rate,
            .stored = spring * kin.depth / T(3),
            .clamp = T(1)};
  }
  template <Scalar T>
  BRISTLE_INLINE static PartSlopes<T> slopes(const Params<T>& p, const State<T>&,
                                             const Kinematics<T>& kin) {
    return {.by_depth = T(2) * p.stiffness * kin.depth + p.damping * kin.rate,
            .by_rate = p.damping * kin.depth};
  }
};

}  // namespace own_law
