#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "bench/bounce/spec.hpp"

namespace bristle::bench::bounce {

namespace {

using Real = long double;

constexpr Real m = 66.0L / 1000, g = 10, k = 1e10L, lambda = 1e5L;
static_assert(mass == static_cast<double>(m) && gravity == 10 && stiffness == 1e10 &&
              damping == 1e5);

constexpr std::size_t order = 24;

/// While it presses: s = √δ, u = δ̇ and t by the contact's own time, dt = 2 s dη. That is
/// a polynomial system,
///
///   s′ = u,  u′ = 2 g s − 2/m (k s⁴ + λ s² u),  t′ = 2 s,
///
/// so that power series need nothing but products.
struct Pressing {
  using Series = std::array<Real, order + 1>;
  Series s{}, u{}, t{};

  static Real product(const Series& a, const Series& b, std::size_t n) {
    Real sum = 0;
    for (std::size_t i = 0; i <= n; ++i) sum += a[i] * b[n - i];
    return sum;
  }

  Pressing(Real s0, Real u0, Real t0) {
    Series square{}, fourth{}, drag{};
    s[0] = s0;
    u[0] = u0;
    t[0] = t0;
    for (std::size_t n = 0; n < order; ++n) {
      square[n] = product(s, s, n);
      fourth[n] = product(square, square, n);
      drag[n] = product(square, u, n);
      const Real next = 1 / static_cast<Real>(n + 1);
      s[n + 1] = next * u[n];
      u[n + 1] = next * (2 * g * s[n] - 2 / m * (k * fourth[n] + lambda * drag[n]));
      t[n + 1] = next * 2 * s[n];
    }
  }

  static Real at(const Series& a, Real x) {
    Real sum = 0;
    for (std::size_t n = order + 1; n-- > 0;) sum = sum * x + a[n];
    return sum;
  }

  /// k δ + λ δ̇: presses while it is positive.
  Real push(Real x) const {
    const Real depth = at(s, x) * at(s, x);
    return k * depth + lambda * at(u, x);
  }

  /// So far that the last terms are lost in rounding.
  Real reach(Real speed) const {
    Real shortest = HUGE_VALL;
    for (const std::size_t n : {order - 1, order}) {
      if (u[n] == 0) continue;
      shortest = std::min(
          shortest, std::pow(1e-21L * speed / std::abs(u[n]), 1 / static_cast<Real>(n)));
    }
    return shortest;
  }
};

/// The first place between 0 and x where it no longer presses.
Real release(const Pressing& motion, Real x) {
  Real low = 0, high = x;
  for (int i = 0; i < 80; ++i) {
    const Real middle = (low + high) / 2;
    (motion.push(middle) > 0 ? low : high) = middle;
  }
  return high;
}

struct Motion {
  Real t = 0, depth = -static_cast<Real>(drop), rate = 0;
};

/// Presses until the damper would pull; false where it has come to stay.
bool press(Motion& ball) {
  Real s = std::sqrt(ball.depth), u = ball.rate, t = ball.t;
  const Real speed = std::abs(u);
  int turns = 0;
  for (;;) {
    const Pressing motion(s, u, t);
    const Real x = motion.reach(speed);
    // Where it begins, the push is the damper's alone: it is positive.
    if (motion.push(x) <= 0) {
      const Real end = release(motion, x);
      const Real root = Pressing::at(motion.s, end);
      ball = {Pressing::at(motion.t, end), root * root, Pressing::at(motion.u, end)};
      return true;
    }
    const Real before = u;
    s = Pressing::at(motion.s, x);
    u = Pressing::at(motion.u, x);
    t = Pressing::at(motion.t, x);
    // A whole oscillation without release: the next ones are smaller.
    if (before * u < 0 && ++turns == 3) return false;
  }
}

/// Free of force, on the way out. True where it gets out; else it presses again.
bool leave(Motion& ball) {
  const Real energy = ball.rate * ball.rate - 2 * g * ball.depth;
  // k δ + λ δ̇, zero at the release, falls at first and rises again after this time.
  const Real again = -2 * (k * ball.rate + lambda * g) / (k * g);
  const Real out = energy > 0 ? 2 * ball.depth / (-ball.rate + std::sqrt(energy)) : again;
  const Real wait = std::min(out, again);
  const bool leaves = energy > 0 && out <= again;
  const Real rate = ball.rate + g * wait;
  const Real depth = leaves ? 0 : ball.depth + wait * (ball.rate + rate) / 2;
  ball = {ball.t + wait, depth, rate};
  return leaves;
}

}  // namespace

Reference solve_reference() {
  struct Flight {
    Real begin, end, rate, depth;
  };
  auto flights = std::make_shared<std::vector<Flight>>();
  Reference reference;
  Motion ball;
  for (bool flies = true; flies;) {
    const Real speed = std::sqrt(ball.rate * ball.rate - 2 * g * ball.depth);
    const Real wait = (speed - ball.rate) / g;
    flights->push_back({ball.t, ball.t + wait, ball.rate, ball.depth});
    ball = {ball.t + wait, 0, speed};
    reference.touches.push_back(static_cast<double>(ball.t));
    do {
      flies = press(ball);
    } while (flies && !leave(ball));
  }
  reference.height = [flights](double time) {
    const Real t = time;
    for (const Flight& f : *flights) {
      if (t >= f.begin && t <= f.end) {
        const Real x = t - f.begin;
        return static_cast<double>(-(f.depth + x * (f.rate + g * x / 2)));
      }
    }
    return static_cast<double>(-std::pow(m * g / k, 2.0L / 3));
  };
  return reference;
}

}  // namespace bristle::bench::bounce
