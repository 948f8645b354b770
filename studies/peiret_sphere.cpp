#include <algorithm>
#include <cmath>
#include <numbers>

#include "studies/camera.hpp"
#include "studies/peiret.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using namespace peiret;

constexpr double duration = 1;  // [s]
constexpr long most_reference_steps = 500000;

struct Ball {
  OnPlane body;
  Vec3<double> velocity;
  double mu;
};

Ball ball_of(const Values& values) {
  const double tilt = values["tilt_deg"] * std::numbers::pi / 180;
  const double angle = values["angle_deg"] * std::numbers::pi / 180;
  const double mass = values["mass"], radius = values["radius"];
  return {.body = {.mass = mass,
                   .radius = radius,
                   .inertia = ball_inertia(mass, radius),
                   .gravity = {0, gravity * std::sin(tilt), -gravity * std::cos(tilt)},
                   .friction = bristle(values["mu"], values["kt"], values["dt"])},
          .velocity = {values["slip0"] * std::cos(angle),
                       values["slip0"] * std::sin(angle), 0},
          .mu = values["mu"]};
}

struct Slide {
  Track track;
  std::vector<double> friction_x, friction_y;  // over μ λ_N
  double cone_ratio = 0;
  double solves_per_step = 0;
  std::string trouble;
};

Slide slide(const Ball& ball, const Clock& clock) {
  Motion motion = begin(ball.body, clock, ball.velocity);
  Slide found;
  found.track.see(motion.state());
  motion.go(duration, {.on_step = [&](const State& now) {
              found.track.see(now);
              const ContactNow contact = motion.contact(now);
              const double bound = ball.mu * contact.normal;
              if (!(bound > 0)) return true;
              found.friction_x.push_back(contact.friction.x / bound);
              found.friction_y.push_back(contact.friction.y / bound);
              found.cone_ratio =
                  std::max(found.cone_ratio, norm(contact.friction) / bound);
              return true;
            }});
  found.trouble = motion.trouble();
  const auto steps = static_cast<double>(motion.steps());
  found.solves_per_step = static_cast<double>(motion.solves().solves) / steps;
  return found;
}

struct Shown {
  report::Curve x_y{"path", {}, {}};
  report::Film film;
};

/// The adaptive integrator at the end of the slide.
Vec3<double> reference(const Ball& ball, std::string& trouble, Shown* shown) {
  Vec3<double> velocity{0, 0, 0};
  const std::string found = under_adaptive([&](const Clock& clock) -> std::string {
    Motion motion = begin(ball.body, clock, ball.velocity);
    Camera camera("The sphere on the tilted plane", motion.model(), duration);
    Watch watch;
    long steps = 0;
    watch.on_step = [&](const State&) { return ++steps < most_reference_steps; };
    if (shown != nullptr) {
      shown->x_y.x.clear();
      shown->x_y.y.clear();
      watch.sample_interval = duration / 500;
      watch.on_sample = [&](const State& now) {
        camera.see(now);
        shown->x_y.x.push_back(now.q[0]);
        shown->x_y.y.push_back(now.q[1]);
      };
    }
    motion.go(duration, watch);
    if (shown != nullptr) shown->film = std::move(camera.film);
    velocity = load_vec3(motion.state().v.data() + 3);
    if (steps < most_reference_steps) return motion.trouble();
    return "the adaptive integrator has not come to 1 s in " + std::to_string(steps) +
           " steps: take a softer or damped bristle";
  });
  if (!found.empty()) trouble = found;
  return velocity;
}

ConeShape cone_of(std::string_view name) {
  return name == "box" ? ConeShape::box : ConeShape::isotropic;
}

double velocity_error(const Slide& found, const Vec3<double>& exact) {
  return norm(found.track.velocity_at(duration) - exact);
}

void draw(const Ball& ball, double h, const Vec3<double>& exact, Shown shown,
          Outcome& outcome) {
  report::Curve adaptive{"adaptive", std::move(shown.x_y.x), std::move(shown.x_y.y)};
  adaptive.dashed = true;
  std::vector<report::Curve> paths, cones, errors;
  for (const std::string_view name : {"isotropic", "box"}) {
    const std::string label(name);
    report::Curve path{label, {}, {}}, error{label, {}, {}};
    error.marker = report::Marker::circle;
    for (const double part : {1.0, 0.5, 0.25, 0.125}) {
      const Slide found = slide(ball, complementarity(part * h, cone_of(name)));
      error.x.push_back(part * h);
      error.y.push_back(velocity_error(found, exact));
      if (part != 1) continue;
      for (const Vec3<double>& p : found.track.position) {
        path.x.push_back(p.x);
        path.y.push_back(p.y);
      }
      cones.push_back({.label = label,
                       .x = found.friction_x,
                       .y = found.friction_y,
                       .marker = report::Marker::circle,
                       .line = false});
    }
    paths.push_back(path);
    errors.push_back(error);
  }
  paths.push_back(adaptive);
  report::Curve circle{"|λ_T| = μ λ_N", {}, {}};
  for (int i = 0; i <= 180; ++i) {
    circle.x.push_back(std::cos(i * std::numbers::pi / 90));
    circle.y.push_back(std::sin(i * std::numbers::pi / 90));
  }
  cones.push_back(circle);
  outcome.figures = {
      {.title = "A sphere slides obliquely to the axes of the bounds",
       .note = "Bounds by components, as printed, and the isotropic cone",
       .panels = {{.title = "Path, from above",
                   .x_label = "x [m]",
                   .y_label = "y, downhill [m]",
                   .curves = paths},
                  {.title = "Friction of every step, over μ λ_N",
                   .x_label = "λ_x/(μ λ_N)",
                   .y_label = "λ_y/(μ λ_N)",
                   .curves = cones,
                   .equal_axes = true},
                  {.title = "Velocity at 1 s, from the adaptive integrator",
                   .x_label = "h [s]",
                   .y_label = "error [m/s]",
                   .curves = errors,
                   .log_x = true,
                   .log_y = true}},
       .columns = 2}};
  outcome.films = {std::move(shown.film)};
}

/// Whether both components of the bristle are at their bounds in every step: friction
/// takes at most 7/2 μ g cos θ from a slip and gravity g sin θ, and what is left
/// stretches the bristle beyond its bound within a step.
bool saturates(const Values& values, const Ball& ball, double h) {
  const double bound = ball.mu * -ball.body.gravity.z;
  const double lost = (3.5 * bound + std::fabs(ball.body.gravity.y)) * duration;
  const double least =
      std::min(std::fabs(ball.velocity.x), std::fabs(ball.velocity.y)) - lost;
  return bound > 0 && (h * values["kt"] + values["dt"]) * least > bound * ball.body.mass;
}

Result<Outcome> run(Values& values, bool with_figure) {
  const double h = values["h"];
  const ConeShape cone = cone_of(values.choice("cone"));
  const Ball ball = ball_of(values);
  Outcome outcome;
  Shown shown;
  const Slide found = slide(ball, complementarity(h, cone));
  outcome.trouble = found.trouble;
  const Vec3<double> exact =
      reference(ball, outcome.trouble, with_figure ? &shown : nullptr);
  const Vec3<double> at = found.track.position_at(duration),
                     v = found.track.velocity_at(duration);
  const double error = velocity_error(found, exact);
  outcome.results = {{"x", at.x},
                     {"y", at.y},
                     {"vx", v.x},
                     {"vy", v.y},
                     {"error_v", error},
                     {"cone_ratio", found.cone_ratio},
                     {"solves_per_step", found.solves_per_step}};
  if (!outcome.trouble.empty()) return outcome;

  if (cone == ConeShape::isotropic && ball.mu > 0) {
    outcome.checks.push_back({"friction beyond the cone, |λ_T|/(μ λ_N) − 1, at most",
                              std::max(found.cone_ratio - 1, 0.0), 0, 1e-6,
                              "the radial return is exact"});
  }
  if (values.as_published()) {
    const double finer = velocity_error(slide(ball, complementarity(0.5 * h)), exact);
    outcome.checks.push_back({"order of the velocity in h", std::log2(error / finer), 1,
                              0.1, "backward Euler; the cone is that of the law"});
  }
  // The other bound is the negative control of what is published.
  const bool oblique = saturates(values, ball, 0.5 * h);
  if (oblique && (cone == ConeShape::box || values.as_published())) {
    const Slide box = slide(ball, complementarity(h, ConeShape::box));
    const Slide finer = slide(ball, complementarity(0.5 * h, ConeShape::box));
    outcome.checks.push_back({"largest |λ_T|/(μ λ_N), box", box.cone_ratio,
                              std::numbers::sqrt2, 1e-6,
                              "both components at their bounds"});
    outcome.checks.push_back({"error of the velocity at h/2 over that at h, box",
                              velocity_error(finer, exact) / velocity_error(box, exact),
                              1, 0.1,
                              "bounds by components do not converge to the cone"});
  }
  if (with_figure) draw(ball, h, exact, std::move(shown), outcome);
  return outcome;
}

}  // namespace

Study peiret_sphere() {
  return {
      .name = "peiret.sphere",
      .title = "A sphere slides obliquely: component bounds against the isotropic cone",
      .figures = "eq. 4, bounds",
      .about =
          "A sphere, ⅖mR², slides on a rigid tilted plane, gravity pulling along +y, "
          "with "
          "slip0 at angle_deg from x and no spin; for 1 s. cone = box bounds the "
          "components of friction along x and y one by one, as printed: √2 μN obliquely, "
          "whatever the step. The isotropic cone is the exact radial return, of first "
          "order. error_v is the distance to the velocity under the adaptive integrator "
          "with the same normal force.",
      .parameters = {{"h", "h", "s", between(1e-6, 1), 5e-3, "step"},
                     {"angle_deg", "", "deg", between(-360, 360), 45,
                      "of the slip, from x"},
                     {"tilt_deg", "", "deg", between(-80, 80), 5,
                      "of the plane, downhill along +y"},
                     {"cone",
                      "",
                      "choice",
                      choice_of(2),
                      0,
                      "bound of friction",
                      {"isotropic", "box"}},
                     {"mass", "m", "kg", between(1e-6, 1e9), 10, "of the sphere"},
                     {"radius", "R", "m", between(1e-4, 1e3), 0.3, "of the sphere"},
                     {"mu", "μ", "1", between(0, 10), 0.2, "friction coefficient"},
                     {"kt", "K_T", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"},
                     {"dt", "D_T", "N s/m", between(0, 1e9), 0, "bristle damping"},
                     {"slip0", "", "m/s", between(-1e4, 1e4), 13.46,
                      "slip at the beginning"}},
      .results = {{"x", "position at 1 s, from the start [m]"},
                  {"y", "position at 1 s, from the start [m]"},
                  {"vx", "velocity at 1 s [m/s]"},
                  {"vy", "velocity at 1 s [m/s]"},
                  {"error_v", "distance to the adaptive integrator's velocity [m/s]"},
                  {"cone_ratio", "largest |λ_T|/(μ λ_N)"},
                  {"solves_per_step", "linearisations solved, on average"}},
      .run = run};
}

}  // namespace bristle::studies
