#include <algorithm>
#include <cmath>

#include "studies/camera.hpp"
#include "studies/peiret.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using namespace peiret;

struct Wheel {
  double mass, radius, mu, stiffness, damping, v0, duration;
};

OnPlane body_of(const Wheel& wheel, const LawChoice& friction) {
  const double i = 0.5 * wheel.mass * wheel.radius * wheel.radius;
  return {.mass = wheel.mass,
          .radius = wheel.radius,
          .inertia = Sym3<double>::diagonal(0.5 * i, i, 0.5 * i),
          .gravity = {0, 0, -gravity},
          .friction = friction};
}

/// The wheel as it moves with an undamped bristle, in continuous time: the bristle
/// stretches to μN/k with the frequency of slip, ω² = k (1/m + R²/I) = 3k/m; the wheel
/// slides under a constant force until slip ends, and swings on the stretched bristle.
double exact_x(const Wheel& wheel, double t) {
  if (wheel.v0 < 0) {
    Wheel mirrored = wheel;
    mirrored.v0 = -wheel.v0;
    return -exact_x(mirrored, t);
  }
  const double omega = std::sqrt(3 * wheel.stiffness / wheel.mass);
  const double reach = wheel.mu * wheel.mass * gravity / wheel.stiffness;
  const double share = omega * reach / wheel.v0;
  // x as long as the bristle holds: m ẍ = −k s, and s̈ = −ω² s, so that ẍ = s̈/3.
  const auto held = [&](double x0, double v, double s, double slip, double dt) {
    const double c = std::cos(omega * dt), sn = std::sin(omega * dt);
    const double stretched = s * c + slip / omega * sn;
    return x0 + v * dt + (stretched - s - slip * dt) / 3;
  };
  const double first = share < 1 ? std::asin(share) / omega : HUGE_VAL;
  if (t <= first) return held(0, wheel.v0, 0, wheel.v0, t);
  const double slip = wheel.v0 * std::sqrt(1 - share * share);
  const double x1 = held(0, wheel.v0, 0, wheel.v0, first);
  const double v1 = wheel.v0 + (slip - wheel.v0) / 3;
  const double slows = wheel.mu * gravity;
  const double sliding = slip / (3 * slows);
  const double after = std::min(t - first, sliding);
  const double x2 = x1 + v1 * after - 0.5 * slows * after * after;
  if (t <= first + sliding) return x2;
  return held(x2, v1 - slows * sliding, reach, 0, t - first - sliding);
}

/// n steps of backward Euler that all slide: v_k = v₀ − k h μ g, x = Σ h v_k.
double sliding_steps(const Wheel& wheel, double h, double n) {
  return n * h * wheel.v0 - 0.5 * n * (n + 1) * h * h * wheel.mu * gravity;
}

Track roll(const Wheel& wheel, double h, double duration, std::string& trouble) {
  Motion motion = begin(body_of(wheel, bristle(wheel.mu, wheel.stiffness, wheel.damping)),
                        complementarity(h), {wheel.v0, 0, 0});
  Track track;
  track.see(motion.state());
  motion.go(duration, {.on_step = [&](const State& now) {
              track.see(now);
              return true;
            }});
  if (!motion.trouble().empty()) trouble = motion.trouble();
  return track;
}

/// The law of Liang, Fillmore & Ma under the adaptive integrator, at the times of a
/// track: at three thousand of them, if there are more.
std::string try_liang(const Wheel& wheel, const Clock& clock, const Track& other,
                      report::Film* film, Track& track) {
  const LawChoice liang = wheel.mu > 0 ? choose<Liang>({.mu_static = wheel.mu,
                                                        .mu_coulomb = wheel.mu,
                                                        .stiffness = wheel.stiffness,
                                                        .damping = wheel.damping,
                                                        .stribeck_speed = 1})
                                       : choose<Frictionless>();
  Motion motion = begin(body_of(wheel, liang), clock, {wheel.v0, 0, 0});
  Camera camera("The wheel (fig. 1)", motion.model(), other.time.back());
  track = {};
  const std::size_t last = other.time.size() - 1, stride = 1 + last / 3000;
  for (std::size_t i = 0; i <= last;
       i = i < last ? std::min(i + stride, last) : last + 1) {
    // It steps to the time, so that nothing is interpolated.
    if (!motion.go(other.time[i])) break;
    track.see(motion.state());
    if (film != nullptr) camera.see(motion.state());
  }
  if (film != nullptr) *film = std::move(camera.film);
  return motion.trouble();
}

Track roll_liang(const Wheel& wheel, const Track& other, report::Film* film,
                 std::string& trouble) {
  Track track;
  const std::string found = under_adaptive(
      [&](const Clock& clock) { return try_liang(wheel, clock, other, film, track); });
  if (!found.empty()) trouble = found;
  return track;
}

struct Differences {
  std::vector<double> time, x, v;
  double largest_x = 0, largest_v = 0;
};

/// At the times of both, which are among those of the first.
Differences differences(const Track& a, const Track& b) {
  Differences found;
  for (std::size_t i = 0, k = 0; k < b.time.size(); ++i) {
    if (a.time[i] < b.time[k] - 1e-12) continue;
    found.time.push_back(a.time[i]);
    found.x.push_back(std::fabs(a.position[i].x - b.position[k].x));
    found.v.push_back(std::fabs(a.velocity[i].x - b.velocity[k].x));
    found.largest_x = std::max(found.largest_x, found.x.back());
    found.largest_v = std::max(found.largest_v, found.v.back());
    ++k;
  }
  return found;
}

void draw(const Wheel& wheel, double h, const Track& track, const Track& liang,
          Outcome& outcome) {
  report::Curve ours{"complementarity, h", {}, {}}, theirs{"Liang, adaptive", {}, {}};
  for (std::size_t i = 0; i < track.time.size(); ++i) {
    ours.x.push_back(track.time[i]);
    ours.y.push_back(track.velocity[i].x);
  }
  for (std::size_t i = 0; i < liang.time.size(); ++i) {
    theirs.x.push_back(liang.time[i]);
    theirs.y.push_back(liang.velocity[i].x);
  }
  theirs.dashed = true;
  std::vector<report::Curve> in_x, in_v;
  for (const double part : {1.0, 0.5, 0.25}) {
    std::string trouble;
    const Track finer =
        part == 1 ? track : roll(wheel, part * h, wheel.duration, trouble);
    const Track reference =
        part == 1 ? liang : roll_liang(wheel, finer, nullptr, trouble);
    const Differences off = differences(finer, reference);
    const std::string label = part == 1 ? "h" : part == 0.5 ? "h/2" : "h/4";
    in_x.push_back({label, off.time, off.x});
    in_v.push_back({label, off.time, off.v});
  }
  outcome.figures = {
      {.title = "A wheel slides, then rolls",
       .note = "Peiret, Kövecses & Font-Llagunes, fig. 1",
       .panels = {{.title = "Velocity of the centre",
                   .x_label = "time [s]",
                   .y_label = "velocity [m/s]",
                   .curves = {ours, theirs}},
                  {.title = "Difference of x to the law of Liang et al. (fig. 1)",
                   .x_label = "time [s]",
                   .y_label = "|Δx| [m]",
                   .curves = in_x,
                   .log_y = true},
                  {.title = "Difference of velocity to the law of Liang et al.",
                   .x_label = "time [s]",
                   .y_label = "|Δv| [m/s]",
                   .curves = in_v,
                   .log_y = true}},
       .columns = 2}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const double h = values["h"];
  if (auto problem = too_many_steps(values)) return *problem;
  const Wheel wheel{values["mass"], values["radius"], values["mu"],      values["kt"],
                    values["dt"],   values["v0"],     values["duration"]};
  Outcome outcome;
  const Track track = roll(wheel, h, wheel.duration, outcome.trouble);
  const Track coarse =
      roll(wheel, 2 * h, std::min(wheel.duration, 1 + 2 * h), outcome.trouble);
  report::Film film;
  const Track liang =
      roll_liang(wheel, track, with_figure ? &film : nullptr, outcome.trouble);
  const Differences off = differences(track, liang);

  const bool undamped = wheel.damping == 0 && wheel.v0 != 0 && wheel.mu > 0;
  const double exact = undamped ? exact_x(wheel, 1) : liang.position_at(1).x;
  const double error = std::fabs(track.position_at(1).x - exact);
  const double coarse_error = std::fabs(coarse.position_at(1).x - exact);
  const bool exactly = !(error > 1e-12 * std::fabs(exact));
  const double order = exactly ? std::nan("") : std::log2(coarse_error / error);
  outcome.results = {{"x_1", track.position_at(1).x},
                     {"x_2", track.position_at(2).x},
                     {"x_3", track.position_at(3).x},
                     {"vx_3", track.velocity_at(3).x},
                     {"order", order},
                     {"liang_error_x", off.largest_x},
                     {"liang_error_v", off.largest_v}};
  if (!outcome.trouble.empty()) return outcome;

  // As long as every step slides: the slip loses 3μgh in each, and the first one
  // stretches the bristle to its reach.
  const double lost = 3 * wheel.mu * gravity * h;
  const double sliding = std::floor(wheel.v0 / lost * (1 + 1e-12));
  const bool slides_at_once = (wheel.stiffness * h + wheel.damping) * (wheel.v0 - lost) >
                              wheel.mu * wheel.mass * gravity;
  for (std::size_t i = 1; slides_at_once && i <= 2; ++i) {
    const double steps = std::round(static_cast<double>(i) / h);
    const bool at_a_step = std::fabs(steps * h - static_cast<double>(i)) < 1e-12;
    if (!at_a_step || steps > sliding || wheel.duration < static_cast<double>(i))
      continue;
    outcome.checks.push_back(
        {i == 1 ? "x_1 [m]" : "x_2 [m]", outcome.results[i - 1].value,
         sliding_steps(wheel, h, steps), 1e-9, "sum of the steps' own closed form"});
  }
  if (values.as_published()) {
    outcome.checks.push_back({"order in h", order, 1, 0.1, "backward Euler"});
    outcome.checks.push_back({"x(1) of the exact solution [m]", exact, 10.79101635, 1e-8,
                              "independent solution"});
    outcome.checks.push_back({"x(2) of the exact solution [m]", exact_x(wheel, 2),
                              19.6200327, 1e-7, "independent solution"});
  }
  if (undamped) {
    double largest = 0;
    for (std::size_t i = 0; i < liang.time.size(); ++i) {
      largest = std::max(largest,
                         std::fabs(liang.position[i].x - exact_x(wheel, liang.time[i])));
    }
    const double size = std::max(1e-3, std::fabs(liang.position.back().x));
    outcome.checks.push_back({"the law of Liang et al., from the exact solution [m]",
                              largest, 0, 1e-8 * size,
                              "closed form: stretches, slides, swings"});
  }
  if (with_figure) {
    draw(wheel, h, track, liang, outcome);
    outcome.films = {std::move(film)};
  }
  return outcome;
}

}  // namespace

Study peiret_wheel() {
  return {
      .name = "peiret.wheel",
      .title = "A wheel slides on the ground for two seconds, then rolls",
      .figures = "fig. 1",
      .about =
          "A disc, ½mR², with v0 and no spin on a rigid ground under the complementarity "
          "stepper, against the law of Liang, Fillmore & Ma under the adaptive "
          "integrator with the same normal force. The paper prints no numbers: presets "
          "are ours, chosen so that it slides for two seconds. The ground carries the "
          "wheel already at t = 0, and the bristle starts unstretched. order compares "
          "x_1 at 2h and h with the closed form (dt > 0: with the adaptive integrator). "
          "x between two steps is on the straight line between them.",
      .parameters = {{"h", "h", "s", between(1e-6, 1), 1e-2, "step"},
                     {"mass", "m", "kg", between(1e-6, 1e9), 10, "of the wheel"},
                     {"radius", "R", "m", between(1e-4, 1e3), 0.3, "of the wheel"},
                     {"mu", "μ", "1", between(0, 10), 0.2, "friction coefficient"},
                     {"kt", "K_T", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"},
                     {"dt", "D_T", "N s/m", between(0, 1e9), 0, "bristle damping"},
                     {"v0", "v₀", "m/s", between(-1e4, 1e4), 11.772,
                      "velocity at the beginning"},
                     {"duration", "", "s", above(0, 1e4), 3, "of the run"}},
      .results = {{"x_1", "position at 1 s [m]"},
                  {"x_2", "position at 2 s [m]"},
                  {"x_3", "position at 3 s [m]"},
                  {"vx_3", "velocity at 3 s [m/s]"},
                  {"order", "of x_1 in h, from 2h and h"},
                  {"liang_error_x",
                   "largest difference of positions to the law of Liang et al. [m]"},
                  {"liang_error_v", "largest difference of velocities to it [m/s]"}},
      .run = run};
}

}  // namespace bristle::studies
