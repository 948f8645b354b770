#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "bristle/model/tree.hpp"
#include "bristle/spatial/articulated_inertia.hpp"
#include "bristle/spatial/ldl3.hpp"

// All algorithms of this folder write their vectors in the axes of the world, each link
// about its own origin. A quantity then moves from a link to its parent by one arm r and
// a cross product, and no inertia is turned more than once.
//
// Accelerations are those of material points. With α, ω and the acceleration a of the
// origin, the point at r accelerates by a + K r, K = (α×) + (ω×)(ω×), and the force that
// moves a rigid body is
//
//   f = m a + K mc,   n = I α + ω × I ω + mc × a                       (Newton, Euler)
//
// Gravity enters as an acceleration −g of the world.

namespace bristle {

/// Intermediate results of the passes over the links.
template <Scalar T>
struct LinkWork {
  Vec3<T> arm;         // from the parent's origin to this one
  Inertia<T> inertia;  // of the link alone, where forward dynamics was the last to ask
  Mat3<T> spread;      // K, of the acceleration without the joints' own
  Motion<T> bias;      // α and a that go with K
  ArticulatedInertia<T> articulated;
  Force<T> force;      // not yet balanced
  Motion<T> response;  // acceleration that the joints add
};

/// The articulated-body quantities of one velocity (Featherstone 2008, table 7.1).
template <Scalar T>
struct DofWork {
  Vec3<T> axis;  // S: a turn about it, or a movement along it
  Force<T> U;    // Iᴬ S
  T inverse;     // 1/D, D = Sᵀ U
  T u;           // τ − Sᵀ pᴬ
};

/// The articulated inertia at a free joint, ready to solve:
/// [A B; Bᵀ M]⁻¹ by M and its Schur complement A − B M⁻¹ Bᵀ.
template <Scalar T>
struct FreeFactor {
  Mat3<T> axes;  // of the parent-side frame
  Ldl3<T> linear;
  Ldl3<T> angular;
  Mat3<T> Y;  // M⁻¹ Bᵀ

  BRISTLE_INLINE static FreeFactor of(const Mat3<T>& axes,
                                      const ArticulatedInertia<T>& i) {
    Ldl3<T> linear = Ldl3<T>::of(i.M);
    Mat3<T> bt = transpose(i.B);
    Mat3<T> y{linear.solve(bt.x), linear.solve(bt.y), linear.solve(bt.z)};
    // (B Y)ᵢⱼ = (column i of Bᵀ) · (column j of Y)
    Sym3<T> schur = i.A - Sym3<T>{dot(bt.x, y.x), dot(bt.y, y.y), dot(bt.z, y.z),
                                  dot(bt.x, y.y), dot(bt.x, y.z), dot(bt.y, y.z)};
    return {axes, linear, Ldl3<T>::of(schur), y};
  }
  BRISTLE_INLINE Motion<T> solve(const Force<T>& f) const {
    Vec3<T> angular_part = angular.solve(f.torque - transpose_times(Y, f.force));
    return {angular_part, linear.solve(f.force) - Y * angular_part};
  }
  /// w with w·w′ = f·I⁻¹f′.
  BRISTLE_INLINE Motion<T> half_solve(const Force<T>& f) const {
    return {angular.half_solve(f.torque - transpose_times(Y, f.force)),
            linear.half_solve(f.force)};
  }
};

/// Memory of the algorithms beside the tree; no call allocates after this.
/// One workspace serves one thread.
template <Scalar T>
struct Workspace {
  explicit Workspace(const Tree& tree)
      : poses(static_cast<std::size_t>(tree.link_count())),
        velocities(poses.size(), Motion<T>::zero()),
        links(poses.size(), zero_link()),
        dofs(static_cast<std::size_t>(tree.velocity_count())),
        free(static_cast<std::size_t>(tree.free_count())),
        locked(poses.size(), 0),
        scratch(dofs.size()),
        placed_at(static_cast<std::size_t>(tree.position_count()),
                  T(std::numeric_limits<Value<T>>::quiet_NaN())) {
    constants.reserve(poses.size());
    for (const LinkConstants<double>& c : tree.constants()) {
      constants.push_back(cast<T>(c));
    }
    for (const double a : tree.armature()) {
      armature.push_back(T(static_cast<Value<T>>(a)));
    }
  }

  // Set by kinematics(): each link's frame in the world, and the velocity of its origin.
  std::vector<Transform<T>> poses;
  std::vector<Motion<T>> velocities;

  // Copies of the tree's own numbers. They may be changed: to differentiate by a mass, or
  // to give each lane of a pack a robot of its own.
  std::vector<LinkConstants<T>> constants;
  std::vector<T> armature;

  std::vector<LinkWork<T>> links;
  std::vector<DofWork<T>> dofs;
  std::vector<FreeFactor<T>> free;
  std::vector<std::uint8_t> locked;  // per link: its acceleration was prescribed
  std::vector<T> scratch;            // per velocity
  std::vector<T> placed_at;          // the positions of the last kinematics()

 private:
  static LinkWork<T> zero_link() {
    return {{T(0), T(0), T(0)},
            Inertia<T>::zero(),
            Mat3<T>::zero(),
            Motion<T>::zero(),
            ArticulatedInertia<T>::zero(),
            Force<T>::zero(),
            Motion<T>::zero()};
  }
};

/// Rows of numbers or forces as the functions take them. T follows from the workspace, so
/// that vectors, arrays and spans can be passed as they are.
template <class T>
struct Rows {
  using In = std::span<const T>;
  using Out = std::span<T>;
};
template <class T>
using In = typename Rows<T>::In;
template <class T>
using Out = typename Rows<T>::Out;

namespace detail {

BRISTLE_INLINE constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

template <Scalar T>
BRISTLE_INLINE Vec3<T> world_gravity(const Tree& tree) {
  const Vec3<double>& g = tree.gravity();
  return {T(static_cast<Value<T>>(g.x)), T(static_cast<Value<T>>(g.y)),
          T(static_cast<Value<T>>(g.z))};
}

}  // namespace detail

}  // namespace bristle
