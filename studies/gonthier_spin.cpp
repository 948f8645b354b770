#include <numbers>

#include "bristle/geometry/overlap_moments.hpp"
#include "bristle/laws/spin.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using std::numbers::pi;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

SpinFriction friction(DiscPressure pressure, bool exact, double u) {
  return exact ? spinning_disc(pressure, u) : elliptic_disc(pressure, u);
}

/// The sign of du/dt reversed: ω R du/dt = −μ g (F − 2 u T), for an inertia ½ m R².
double falling(DiscPressure pressure, bool exact, double u) {
  const SpinFriction f = friction(pressure, exact, u);
  return f.force - 2 * u * f.torque;
}

/// The v/(ω R) that a free disc tends to; 0 where it ends spinning, not a number where
/// the ratio stays what it was.
double stopping_ratio(DiscPressure pressure, bool exact, double u) {
  if (u == 0) return 0;
  // F − 2 u T is 1 − r_g²/R² > 0 for large u, and its sign at small u decides.
  constexpr double small = 1e-3;
  const double rise = falling(pressure, exact, small) / small;
  if (std::fabs(rise) < 1e-12) return unknown;
  if (rise > 0) return 0;
  double low = small, high = 10;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (falling(pressure, exact, middle) < 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// The exact integrals in another way: rings, and along each of them the mean of the
/// slip's direction, in panels that shrink towards the point at rest.
SpinFriction by_rings(DiscPressure pressure, double u) {
  const auto density = [pressure](double r) {
    const double rest = std::max(0.0, 1 - r * r);
    if (pressure == DiscPressure::uniform) return 1 / pi;
    return pressure == DiscPressure::paraboloid ? 2 / pi * rest
                                                : 1.5 / pi * std::sqrt(rest);
  };
  SpinFriction sum{0, 0};
  const auto ring = [&](double r, double weight) {
    const auto at = [&](double t, double w) {
      // t from the point that is nearest to rest
      const double x = u - r * std::cos(t), y = r * std::sin(t);
      const double slip = std::max(std::hypot(x, y), 1e-300);
      const double part = 2 * w * weight * r * density(r);
      sum.force += part * x / slip;
      sum.torque += part * r * (r - u * std::cos(t)) / slip;
    };
    double low = 0;
    for (double high = 1e-6; low < pi; high *= 3) {
      geometry::gauss(low, std::min(high, pi), at);
      low = std::min(high, pi);
    }
  };
  const auto rings = [&](double from, double to, bool towards_to) {
    // Halving panels towards the singular radius.
    double left = to - from;
    for (int k = 0; k < 40 && left > 1e-13; ++k) {
      const double step = k < 39 ? 0.5 * left : left;
      const double at = to - left;
      if (towards_to) {
        geometry::gauss(at, at + step, ring);
      } else {
        geometry::gauss(from + to - at - step, from + to - at, ring);
      }
      left -= step;
    }
  };
  const double split = std::min(u, 1.0);
  if (split > 0) rings(0, split, true);
  if (split < 1) {
    const double middle = 0.5 * (split + 1);
    rings(split, middle, false);
    rings(middle, 1, true);
  }
  return sum;
}

report::Figure draw(double marked) {
  report::Panel force{.title = "Friction against v/(ωR)",
                      .x_label = "v/(ωR)",
                      .y_label = "F/(μN)",
                      .curves = {},
                      .references = {report::vertical_line(marked, "this ratio")}};
  report::Panel torque{.title = "Torque against v/(ωR)",
                       .x_label = "v/(ωR)",
                       .y_label = "T/(μNR)",
                       .curves = {},
                       .references = {report::vertical_line(marked, "this ratio")}};
  const std::array<std::string, 3> names{"uniform", "paraboloid", "hertz"};
  for (int p = 0; p < 3; ++p) {
    for (const bool exact : {true, false}) {
      report::Curve f{
          names[static_cast<std::size_t>(p)] + (exact ? "" : ", elliptic"), {}, {}};
      f.dashed = !exact;
      report::Curve t = f;
      for (int i = 0; i <= 120; ++i) {
        const double u = 3.0 * i / 120;
        const SpinFriction s = friction(static_cast<DiscPressure>(p), exact, u);
        f.x.push_back(u);
        f.y.push_back(s.force);
        t.x.push_back(u);
        t.y.push_back(s.torque);
      }
      force.curves.push_back(f);
      torque.curves.push_back(t);
    }
  }
  return {.title = "A disc that slides and spins",
          .note = "Contensou's integrals, and Gonthier's elliptic closure",
          .panels = {force, torque},
          .columns = 2};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const auto pressure = static_cast<DiscPressure>(static_cast<int>(values["pressure"]));
  const bool exact = values.choice("closure") == "exact";
  const double u = values["speed_ratio"];
  const SpinFriction now = friction(pressure, exact, u);
  const double stop = stopping_ratio(pressure, exact, u);
  Outcome outcome;
  outcome.results = {
      {"force_ratio", now.force}, {"torque_ratio", now.torque}, {"stopping_ratio", stop}};
  if (exact) {
    const SpinFriction rings = by_rings(pressure, u);
    outcome.checks = {
        {"F/(μN)", now.force, rings.force, 1e-6, "integration over rings"},
        {"T/(μNR)", now.torque, rings.torque, 1e-6, "integration over rings"}};
    if (pressure == DiscPressure::uniform && u > 0) {
      outcome.checks.push_back({"v/(ωR) at which a uniform disc stops", stop, 0.653,
                                0.0005, "Farkas, Bartels, Unger & Wolf 2003"});
    }
    if (values.as_published()) {
      outcome.checks.push_back(
          {"F/(μN) at v = ωR", now.force, 8 / (3 * pi), 1e-12, "closed form"});
      outcome.checks.push_back(
          {"T/(μNR) at v = ωR", now.torque, 8 / (9 * pi), 1e-12, "closed form"});
    }
  } else {
    const double g2 = gyration_square(pressure);
    outcome.checks.push_back({"F² + (T R/r_g)²",
                              now.force * now.force + now.torque * now.torque / g2, 1,
                              1e-12, "elliptic limit surface"});
  }
  if (with_figure) outcome.figures = {draw(u)};
  return outcome;
}

}  // namespace

Study gonthier_spin() {
  return {
      .name = "gonthier.spin",
      .title = "A disc slides and spins: friction and torque of Contensou's effect",
      .figures = "2005 § on spinning friction; 2007 ch. on friction",
      .about =
          "Coulomb friction acts against the local slip everywhere under the disc, "
          "so that spin lowers the friction and sliding the torque. closure=exact "
          "integrates; elliptic takes r_g² = ∫p r²/N and the average slip "
          "√(v² + r_g²ω²), whose torque in pure spin is 6 to 8 % high, and twice too "
          "large where sliding dominates. A free disc (inertia ½mR²) tends to a ratio "
          "v/(ωR) of its own, whatever it began with.",
      .parameters = {{"pressure",
                      "",
                      "choice",
                      choice_of(3),
                      0,
                      "distribution over the disc",
                      {"uniform", "paraboloid", "hertz"}},
                     {"speed_ratio", "v/(ωR)", "1", between(0, 1e6), 1,
                      "sliding over spinning speed at the rim"},
                     {"closure",
                      "",
                      "choice",
                      choice_of(2),
                      0,
                      "exact integrals, or the elliptic limit surface",
                      {"exact", "elliptic"}}},
      .results = {{"force_ratio", "F/(μN), against v"},
                  {"torque_ratio", "T/(μNR), against ω"},
                  {"stopping_ratio",
                   "v/(ωR) at which a free disc comes to rest; 0: still spinning; "
                   "null: as it began"}},
      .run = run};
}

}  // namespace bristle::studies
