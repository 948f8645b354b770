#pragma once

#include <array>
#include <string>
#include <utility>

#include "bristle/geometry/cylinder_overlaps.hpp"
#include "bristle/geometry/polyhedron_overlaps.hpp"
#include "bristle/geometry/round_overlaps.hpp"

// Which pairs of shapes have an overlap in closed form: a second table, beside the one of
// contact points (pairs.hpp).
//
// An overlap function allocates nothing, locks nothing, throws nothing, and its work is
// bounded. Formulas are polynomials, sums over clipped faces, or Gauss quadrature of
// fixed order whose error is below rounding.

namespace bristle {

/// The overlap of shape A (in pose A) with shape B (in pose B). Where they are apart, the
/// depth is negative and the volume 0.
template <Scalar T>
using OverlapFunction = Overlap<T> (*)(const Shape& a, const Transform<T>& pose_a,
                                       const Shape& b,
                                       const Transform<T>& pose_b) noexcept;

namespace geometry {

/// Whether overlap_of(A, pose, B, pose) exists.
template <class A, class B>
inline constexpr bool has_overlap =
    requires(const A& a, const B& b, const Transform<double>& pose) {
      overlap_of(a, pose, b, pose);
    };

template <Scalar T, std::size_t a, std::size_t b>
Overlap<T> find_overlap(const Shape& shape_a, const Transform<T>& pose_a,
                        const Shape& shape_b, const Transform<T>& pose_b) noexcept {
  const auto& one = *std::get_if<a>(&shape_a);
  const auto& two = *std::get_if<b>(&shape_b);
  if constexpr (has_overlap<std::variant_alternative_t<a, Shape>,
                            std::variant_alternative_t<b, Shape>>) {
    return overlap_of(one, pose_a, two, pose_b);
  } else {
    Overlap<T> overlap = overlap_of(two, pose_b, one, pose_a);
    overlap.normal = -overlap.normal;
    return overlap;
  }
}

template <Scalar T>
inline constexpr auto overlap_table = []<std::size_t... i>(std::index_sequence<i...>) {
  std::array<OverlapFunction<T>, sizeof...(i)> table{};
  const auto enter = [&]<std::size_t k>(std::integral_constant<std::size_t, k>) {
    constexpr std::size_t a = k / shape_kinds;
    constexpr std::size_t b = k % shape_kinds;
    using A = std::variant_alternative_t<a, Shape>;
    using B = std::variant_alternative_t<b, Shape>;
    if constexpr (has_overlap<A, B> || has_overlap<B, A>) {
      table[k] = &find_overlap<T, a, b>;
    }
  };
  (enter(std::integral_constant<std::size_t, i>{}), ...);
  return table;
}(std::make_index_sequence<static_cast<std::size_t>(shape_kinds) * shape_kinds>{});

}  // namespace geometry

/// The function of a pair, or nullptr.
template <Scalar T>
constexpr OverlapFunction<T> overlap_function(ShapeKind a, ShapeKind b) noexcept {
  return geometry::overlap_table<T>[static_cast<std::size_t>(a) * shape_kinds +
                                    static_cast<std::size_t>(b)];
}

/// Empty, or why two shapes have no overlap that a volumetric law could use: a pair that
/// is not in the table, with what is available for each of them, or a shape without
/// volume.
std::string missing_overlap_message(const Shape& a, const Shape& b);

}  // namespace bristle
