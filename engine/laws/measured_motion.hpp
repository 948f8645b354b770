#pragma once

#include <cstddef>
#include <span>

#include "bristle/core/dual.hpp"
#include "bristle/laws/law.hpp"

// A law along a motion that was measured: what force does it predict at each moment, and
// how does that depend on its parameters? T is double, or Sensitive for derivatives.

namespace bristle {

/// A number with its derivatives by four unknowns.
using Sensitive = Dual<double, 4>;

/// A sample of an approach. Without a duration the contact is at rest there.
template <Scalar T>
struct NormalMoment {
  T depth;               // δ [m], below 0 in free air
  double rate;           // δ̇ [m/s]
  double duration;       // since the moment before [s]
  bool begins;           // the first moment of an approach
  PatchMotion<T> patch;  // of a volumetric law
};

/// A moment of sliding along one line: speed, load and depth hold since the moment
/// before.
struct SlideMoment {
  double speed;  // [m/s]
  double normal_force;
  double depth;     // [m]
  double duration;  // [s]
};

/// Functions of a law for such motions; `force` has room for one of each moment. A normal
/// law answers with f_n, a friction law with the resistance against positive slip.
template <class Moment, Scalar T>
using AlongMotion = void (*)(std::span<const T> parameters, std::span<const Moment> path,
                             std::span<T> force);

namespace detail {

template <class Law, Scalar T>
typename Law::template Params<T> params_in(std::span<const T> values) {
  typename Law::template Params<T> params;
  for (std::size_t i = 0; i < field_count<decltype(params), T>; ++i) {
    field<T>(params, i) = values[i];
  }
  return params;
}

/// The approach speed where the depth passes through zero between two moments.
template <Scalar T>
T touch_speed(const NormalMoment<T>& before, const NormalMoment<T>& now) {
  const T span = now.depth - before.depth;
  const T share =
      select(span > T(0), -before.depth / select(span > T(0), span, T(1)), T(1));
  return max(T(before.rate) + share * T(now.rate - before.rate), T(0));
}

/// A contact begins where the depth becomes positive, unless the law still remembers the
/// one before.
template <NormalLaw Law, Scalar T>
void normal_along(std::span<const T> parameters, std::span<const NormalMoment<T>> path,
                  std::span<T> force) {
  const auto params = params_in<Law, T>(parameters);
  auto state = Law::touch(params, T(0));
  bool remembers = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const NormalMoment<T>& now = path[i];
    const bool fresh = now.begins || !(path[i - 1].depth > T(0));
    if (now.begins) remembers = false;
    if (now.depth > T(0) && fresh && !remembers) {
      const T speed =
          now.begins ? T(now.rate > 0 ? now.rate : 0) : touch_speed(path[i - 1], now);
      state = Law::touch(params, speed);
      remembers = true;
    }
    if (!remembers) {
      force[i] = T(0);
      continue;
    }
    auto kin = Kinematics<T>::at(now.depth, T(now.rate));
    kin.patch = &now.patch;
    const auto step = Law::advance(params, state, kin, T(now.duration));
    state = step.state;
    force[i] = step.force;
    remembers = now.depth > T(0) || step.stored > T(0);
  }
}

template <FrictionLaw Law, Scalar T>
void slide_along(std::span<const T> parameters, std::span<const SlideMoment> path,
                 std::span<T> force) {
  const auto params = params_in<Law, T>(parameters);
  auto state = Law::touch(params);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const SlideMoment& now = path[i];
    auto kin = Kinematics<T>::at(T(now.depth), T(0));
    kin.slip.x = T(now.speed);
    const auto step =
        Law::advance(params, state, kin, T(now.normal_force), T(now.duration));
    state = step.state;
    force[i] = -step.force.x;
  }
}

}  // namespace detail

}  // namespace bristle
