#pragma once

#include <algorithm>
#include <cmath>

// Roots of a function between two places of a step, 0 … 1, where it has different signs.

namespace bristle {

/// A place and the function's value there.
struct RootEnd {
  double x;
  double f;
};

/// The root to round-off, or just beyond it: by bisection and inverse quadratic
/// interpolation in turn (Chandrupatla 1997, Adv. Eng. Softw. 28, 145). The function may
/// begin at round-off and end far above, where simpler rules converge slowly.
template <class F>
double find_root(const F& f, RootEnd low, RootEnd high) {
  // Values below this are round-off of the larger end: a thousand units in its last
  // place.
  const double small = 1e-13 * std::max(std::abs(low.f), std::abs(high.f));
  RootEnd one = high, two = low, three = low;
  double part = one.f / (one.f - two.f);
  for (int k = 0; k < 100; ++k) {  // bisection alone takes 53 twice
    const double x = one.x + part * (two.x - one.x);
    const RootEnd now{x, f(x)};
    if ((now.f > 0) == (one.f > 0)) {
      three = one;
    } else {
      three = two;
      two = one;
    }
    one = now;
    if (std::abs(one.f) <= small) return one.x;
    // Half a unit in the last place of 1, and four of the place itself.
    const double least = (1e-16 + 4e-16 * one.x) / std::abs(two.x - one.x);
    if (least > 0.5) return (one.f > 0) == (high.f > 0) ? one.x : two.x;
    const double xi = (one.x - two.x) / (three.x - two.x);
    const double phi = (one.f - two.f) / (three.f - two.f);
    const bool smooth = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
    part = smooth ? one.f / (two.f - one.f) * three.f / (two.f - three.f) +
                        (three.x - one.x) / (two.x - one.x) * one.f / (three.f - one.f) *
                            two.f / (three.f - two.f)
                  : 0.5;
    part = std::clamp(part, least, 1 - least);
  }
  return one.x;
}

/// A value and its slope by the place.
struct SlopedValue {
  double f;
  double slope;
};

/// The same for a function whose slope is known, by Newton's method within the bracket,
/// from the parabola on through both ends with `slope_low` at the lower one; 0: from the
/// chord.
template <class F>
double find_root_with_slope(const F& f, RootEnd low, RootEnd high, double slope_low) {
  const bool rising = high.f > low.f;
  // low.f + b x + c x² with x from 0 to 1 between the ends
  const double chord = high.f - low.f;
  const double b = slope_low != 0 ? (high.x - low.x) * slope_low : chord, c = chord - b;
  const double root = std::sqrt(std::max(b * b - 4 * c * low.f, 0.0));
  const double part = rising == (b > 0) ? -2 * low.f / (b + std::copysign(root, b))
                                        : (-b + (rising ? root : -root)) / (2 * c);
  double x =
      part > 0 && part < 1 ? low.x + part * (high.x - low.x) : 0.5 * (low.x + high.x);
  for (int k = 0; k < 100; ++k) {
    const SlopedValue now = f(x);
    ((now.f > 0) == rising ? high : low).x = x;
    const double next = x - now.f / now.slope;
    if (std::abs(next - x) <= 2e-15 * x) return next;  // ten units in the last place
    // A zero slope, or out of the bracket: halve it.
    const bool within = next > low.x && next < high.x;
    x = within ? next : 0.5 * (low.x + high.x);
    if (high.x - low.x <= 4e-16 * high.x) return x;
  }
  return x;
}

}  // namespace bristle
