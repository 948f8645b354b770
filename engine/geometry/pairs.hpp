#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "bristle/geometry/capsule_pairs.hpp"
#include "bristle/geometry/convex.hpp"
#include "bristle/geometry/plane_pairs.hpp"
#include "bristle/geometry/sphere_pairs.hpp"

// Which pairs of shapes touch, and how their contacts are found: one table.
//
// A pair function fills in the contacts with a depth over −margin. It allocates nothing,
// locks nothing, throws nothing, and its work is bounded.

namespace bristle {

/// Contacts of shape A (in pose A) with shape B (in pose B): adds those with δ ≥ −margin.
template <Scalar T>
using PairFunction = void (*)(const Shape& a, const Transform<T>& pose_a, const Shape& b,
                              const Transform<T>& pose_b, double margin,
                              Contacts<T>& out) noexcept;

/// How the contacts of a pair are found.
enum class PairMethod : int {
  missing,
  closest,   // closest points of a shape to a sphere's centre      (sphere_pairs.hpp)
  vertices,  // vertices, rims and end spheres against a plane      (plane_pairs.hpp)
  hollow,    // the same in a cylindrical hollow                    (plane_pairs.hpp)
  axes,      // closest points of two segments                      (capsule_pairs.hpp)
  faces,  // separating axes, then one face clipped by another   (convex.hpp), double only
  support,  // GJK, Newton and EPA, then one side clipped          (convex.hpp), double
            // only
};

namespace geometry {

inline constexpr auto pair_methods = [] {
  using enum PairMethod;
  constexpr PairMethod no = missing;
  // clang-format off
  return std::array<std::array<PairMethod, shape_kinds>, shape_kinds>{{
  // A below, B to the right; the other half is the same with A and B exchanged.
  //  sphere    plane     box       cylinder  cavity    capsule   ellipsoid height f. convex    mesh
    {closest,  closest,  closest,  closest,  closest,  closest,  closest,  closest,  closest,  closest},  // sphere
    {no,       no,       vertices, vertices, no,       vertices, vertices, no,       vertices, no     },  // plane
    {no,       no,       faces,    support,  hollow,   support,  support,  no,       faces,    no     },  // box
    {no,       no,       no,       support,  hollow,   support,  support,  no,       support,  no     },  // cylinder
    {no,       no,       no,       no,       no,       hollow,   no,       no,       hollow,   no     },  // cavity
    {no,       no,       no,       no,       no,       axes,     support,  no,       support,  no     },  // capsule
    {no,       no,       no,       no,       no,       no,       support,  no,       support,  no     },  // ellipsoid
    {no,       no,       no,       no,       no,       no,       no,       no,       no,       no     },  // height f.
    {no,       no,       no,       no,       no,       no,       no,       no,       faces,    no     },  // convex
    {no,       no,       no,       no,       no,       no,       no,       no,       no,       no     },  // mesh
  }};
  // clang-format on
}();

constexpr PairMethod method(std::size_t a, std::size_t b) {
  return a <= b ? pair_methods[a][b] : pair_methods[b][a];
}

template <Scalar T, std::size_t a, std::size_t b>
void find_contacts(const Shape& shape_a, const Transform<T>& pose_a, const Shape& shape_b,
                   const Transform<T>& pose_b, double margin, Contacts<T>& out) noexcept {
  if constexpr (a > b) {
    const int before = out.count;
    find_contacts<T, b, a>(shape_b, pose_b, shape_a, pose_a, margin, out);
    for (int i = before; i < out.count; ++i) {
      std::swap(out[i].on_a, out[i].on_b);
      out[i].normal = -out[i].normal;
    }
  } else {
    constexpr PairMethod how = pair_methods[a][b];
    [[maybe_unused]] const auto& one = *std::get_if<a>(&shape_a);
    [[maybe_unused]] const auto& two = *std::get_if<b>(&shape_b);
    if constexpr (how == PairMethod::closest) {
      sphere_against(one, pose_a, two, pose_b, margin, out);
    } else if constexpr (how == PairMethod::vertices) {
      plane_against(one, pose_a, two, pose_b, margin, out);
    } else if constexpr (how == PairMethod::hollow) {
      if constexpr (a == static_cast<std::size_t>(ShapeKind::cavity)) {
        cavity_against(one, pose_a, two, pose_b, margin, out);
      } else {
        const int before = out.count;
        cavity_against(two, pose_b, one, pose_a, margin, out);
        for (int i = before; i < out.count; ++i) {
          std::swap(out[i].on_a, out[i].on_b);
          out[i].normal = -out[i].normal;
        }
      }
    } else if constexpr (how == PairMethod::axes) {
      capsule_against(one, pose_a, two, pose_b, margin, out);
    } else if constexpr (how == PairMethod::faces) {
      polyhedron_against_polyhedron(shape_a, pose_a, shape_b, pose_b, margin, out);
    } else {
      convex_against_convex(shape_a, pose_a, shape_b, pose_b, margin, out);
    }
  }
}

template <Scalar T>
inline constexpr auto pair_table = []<std::size_t... i>(std::index_sequence<i...>) {
  std::array<PairFunction<T>, sizeof...(i)> table{};
  const auto enter = [&]<std::size_t k>(std::integral_constant<std::size_t, k>) {
    constexpr std::size_t a = k / shape_kinds;
    constexpr std::size_t b = k % shape_kinds;
    constexpr PairMethod how = method(a, b);
    constexpr bool general = how != PairMethod::faces && how != PairMethod::support;
    if constexpr (how != PairMethod::missing && (general || std::is_same_v<T, double>)) {
      table[k] = &find_contacts<T, a, b>;
    }
  };
  (enter(std::integral_constant<std::size_t, i>{}), ...);
  return table;
}(std::make_index_sequence<static_cast<std::size_t>(shape_kinds) * shape_kinds>{});

}  // namespace geometry

/// The function of a pair, or nullptr. T other than double (derivatives): no pair of
/// method `faces` or `support`.
template <Scalar T>
constexpr PairFunction<T> pair_function(ShapeKind a, ShapeKind b) noexcept {
  return geometry::pair_table<T>[static_cast<std::size_t>(a) * shape_kinds +
                                 static_cast<std::size_t>(b)];
}

/// Empty, or why two kinds of shapes cannot touch, and what each of them can touch.
std::string missing_pair_message(ShapeKind a, ShapeKind b);

}  // namespace bristle
