#include <algorithm>
#include <limits>
#include <numbers>
#include <optional>

#include "studies/camera.hpp"
#include "studies/gonthier2004.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

constexpr double settled = 3;         // [s]: by then it rolls
constexpr double slips_above = 0.95;  // of the friction that it can have

bool begins_inside(const Values& values) {
  return std::hypot(values["x0"], values["z0"]) + values["radius"] <
         values["cylinder_radius"];
}

/// What was seen of a run; what is said of rolling is taken after it has settled.
struct Traces {
  Series x, y, z, vx, vy, vz, wx, wy, wz, speed_in_plane, energy;
  std::vector<double> crossings;  // of the bottom, towards +X
  double peak_omega = std::nan(""), rolling_error = std::nan("");
  bool held = true;                // friction is below its limit all the time
  double drift = std::nan("");     // of the energy [J]
  double residual = 0, scale = 0;  // of the energy ledger [J]
  std::string trouble;
  std::optional<report::Film> film;

  double period() const {
    const std::size_t n = crossings.size();
    return n > 1 ? (crossings.back() - crossings.front()) / static_cast<double>(n - 1)
                 : std::nan("");
  }
  /// The first peak of the in-plane speed.
  double peak_speed() const;
};

double Traces::peak_speed() const {
  const std::vector<double>& s = speed_in_plane.y;
  for (std::size_t i = 1; i + 1 < s.size(); ++i) {
    if (s[i] > s[i - 1] && s[i] >= s[i + 1]) {
      Series near;
      for (const std::size_t k : {i - 1, i, i + 1}) near.add(speed_in_plane.x[k], s[k]);
      return peak_of(near).value;
    }
  }
  return std::nan("");
}

/// The cylinder has no end and no way to look inside; a film shows the part of it that
/// the ball comes near.
void open_cylinder(report::Film& film, double cylinder, double ball) {
  double from = 0, to = 0, highest = 0;
  for (const Transform<double>& pose : film.poses) {
    from = std::min(from, pose.p.y);
    to = std::max(to, pose.p.y);
    highest = std::max(highest, std::fabs(std::atan2(pose.p.x, -pose.p.z)));
  }
  const double half = std::min(highest + 4 * ball / cylinder, std::numbers::pi);
  constexpr std::uint32_t strips = 64;
  recording::ShapeInfo trough{.name = "cylinder", .surface = {}, .kind = ShapeKind::mesh};
  for (std::uint32_t i = 0; i <= strips; ++i) {
    const double angle = half * (2.0 * i / strips - 1);
    const double x = cylinder * std::sin(angle), z = -cylinder * std::cos(angle);
    trough.vertices.push_back({x, from - 4 * ball, z});
    trough.vertices.push_back({x, to + 4 * ball, z});
    if (i == strips) break;
    trough.triangles.push_back({2 * i, 2 * i + 2, 2 * i + 1});
    trough.triangles.push_back({2 * i + 1, 2 * i + 2, 2 * i + 3});
  }
  film.header.shapes.front() = std::move(trough);
}

Traces roll(const Values& values, const Clock& clock, bool draw) {
  const double radius = values["radius"], x0 = values["x0"];
  const double duration = values["duration"];
  ShapeSpec ground{.name = "cylinder",
                   .shape = Cavity{values["cylinder_radius"],
                                   std::numeric_limits<double>::infinity()}};
  ground.pose.R = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};  // its axis along Y
  gonthier2004::Ball ball = gonthier2004::make_ball(
      values, clock, ground, {x0, 0, values["z0"]}, {0, values["vy0"], 0});
  Motion& motion = ball.motion;

  Traces traces;
  Camera camera(values["vy0"] == 0 ? "The ball in the cylinder (fig. 11)"
                                   : "The ball in the cylinder (fig. 13)",
                motion.model(), duration);
  double before_time = 0, before_x = x0, before_rate = 0;
  Watch watch;
  watch.sample_interval = std::min(5e-4, duration / 1000);
  watch.on_sample = [&](const State& now) {
    if (draw) camera.see(now);
    const Vec3<double> p = ball.centre(now), v = ball.velocity(now), w = ball.omega(now);
    traces.x.add(now.time, p.x);
    traces.y.add(now.time, p.y);
    traces.z.add(now.time, p.z);
    traces.vx.add(now.time, v.x);
    traces.vy.add(now.time, v.y);
    traces.vz.add(now.time, v.z);
    traces.wx.add(now.time, w.x);
    traces.wy.add(now.time, w.y);
    traces.wz.add(now.time, w.z);
    const Ledger ledger = motion.ledger(now);
    traces.energy.add(now.time, ledger.kinetic + ledger.gravity + ledger.normal);
    if (now.time >= settled) {
      const ContactNow contact = motion.contact(now);
      traces.held =
          traces.held && contact.episode != 0 &&
          norm(contact.friction) < slips_above * values["mu_c"] * contact.normal;
      traces.speed_in_plane.add(now.time, std::hypot(v.x, v.z));
      traces.peak_omega = std::fmax(traces.peak_omega, norm(w));
      const double from_axis = std::hypot(p.x, p.z);
      const Vec3<double> n{p.x / from_axis, 0, p.z / from_axis};
      const Vec3<double> rolls = w - dot(w, n) * n;
      traces.rolling_error =
          std::fmax(traces.rolling_error, std::fabs(norm(v) - radius * norm(rolls)));
      if (before_time >= settled && before_x < 0 && p.x >= 0) {
        // A cubic through both samples and their rates, by Newton from the chord.
        const double h = now.time - before_time, d = p.x - before_x;
        const double e = h * before_rate - d, f = d - h * v.x - e;
        double s = -before_x / d;
        for (int i = 0; i < 5; ++i) {
          const double u = 1 - s;
          const double value = before_x + s * (d + u * (e + s * f));
          const double slope = d + (u - s) * (e + s * f) + s * u * f;
          s -= value / slope;
        }
        traces.crossings.push_back(before_time + s * h);
      }
    }
    before_time = now.time;
    before_x = p.x;
    before_rate = v.x;
  };
  motion.go(duration, watch);

  if (duration > settled) {
    const Series& energy = traces.energy;
    const Ledger last = motion.ledger(motion.state());
    const auto from = std::lower_bound(energy.x.begin(), energy.x.end(), settled - 1e-9);
    const auto at = static_cast<std::size_t>(from - energy.x.begin());
    traces.drift = last.kinetic + last.gravity + last.normal - energy.y[at];
  }
  traces.residual = motion.audit().residual();
  traces.scale = motion.audit().scale();
  traces.trouble = motion.trouble();
  if (draw) {
    open_cylinder(camera.film, values["cylinder_radius"], radius);
    traces.film = std::move(camera.film);
  }
  return traces;
}

/// Some 3000 of the samples: a curve needs fewer than a peak does.
report::Curve thinned(std::string label, const std::vector<double>& x,
                      const std::vector<double>& y) {
  const std::size_t every = std::max<std::size_t>(1, x.size() / 3000);
  report::Curve curve{std::move(label), {}, {}};
  for (std::size_t i = 0; i < x.size(); i += every) {
    curve.x.push_back(x[i]);
    curve.y.push_back(y[i]);
  }
  return curve;
}

report::Figure figure_of(const Traces& t, double vy0) {
  const bool planar = vy0 == 0;
  const auto over_time = [](const char* label, const Series& s) {
    return thinned(label, s.x, s.y);
  };
  report::Figure figure{
      .title = "A ball dropped into a cylinder: it bounces, then rolls to and fro",
      .note = planar ? "Gonthier et al. 2004, figs. 11 and 12: motion in a plane"
                     : "Gonthier et al. 2004, figs. 13–15: motion along the axis as well",
      .panels = {{.title = planar ? "Path of the centre, along the axis (fig. 11)"
                                  : "Path of the centre, along the axis (fig. 13)",
                  .x_label = "X [m]",
                  .y_label = "Z [m]",
                  .curves = {thinned("path", t.x.y, t.z.y)},
                  .equal_axes = true}},
      .columns = 2};
  if (!planar) {
    figure.panels.push_back({.title = "Path of the centre, from above (fig. 13)",
                             .x_label = "Y, along the axis [m]",
                             .y_label = "X [m]",
                             .curves = {thinned("path", t.y.y, t.x.y)}});
  }
  figure.panels.push_back(
      {.title = planar ? "Velocity (fig. 12)" : "Velocity (fig. 14)",
       .x_label = "time [s]",
       .y_label = "velocity [m/s]",
       .curves = {over_time("X", t.vx), over_time("Y", t.vy), over_time("Z", t.vz)}});
  figure.panels.push_back(
      {.title = planar ? "Angular velocity (fig. 12)" : "Angular velocity (fig. 14)",
       .x_label = "time [s]",
       .y_label = "angular velocity [rad/s]",
       .curves = {over_time("X", t.wx), over_time("Y", t.wy), over_time("Z", t.wz)}});
  figure.panels.push_back({.title = planar ? "Kinetic, potential and spring energy"
                                           : "Kinetic, potential and spring energy "
                                             "(fig. 15)",
                           .x_label = "time [s]",
                           .y_label = "energy [J]",
                           .curves = {over_time("energy", t.energy)}});
  return figure;
}

Result<Outcome> run(Values& values, bool draw) {
  const Clock clock = clock_of(values);
  if (!begins_inside(values)) {
    return Error{"x0, z0: the ball must begin inside the cylinder, without touching it"};
  }
  Traces traces = roll(values, clock, draw);
  const double period = traces.period(), peak_speed = traces.peak_speed();
  const double peak_omega = traces.peak_omega, drift = traces.drift;
  Outcome outcome;
  outcome.trouble = traces.trouble;
  outcome.results = {{"period_s", period},
                     {"peak_speed", peak_speed},
                     {"peak_omega", peak_omega},
                     {"energy_drift_J", drift},
                     {"rolling_error", traces.rolling_error},
                     {"energy_residual_J", traces.residual}};

  const Against against{outcome, clock};
  if (values.as_published()) {
    const char* reference = "independent solution at tight tolerance";
    against("period [s]", period, 2.274891, 2e-4, reference);
    against("peak of the in-plane speed after 3 s [m/s]", peak_speed, 0.984037, 2e-4,
            reference);
    against("peak of |ω| after 3 s [rad/s]", peak_omega, 9.840935, 2e-3, reference);
    outcome.checks.push_back({"|v| when |ω| peaks at 10 rad/s [m/s]", peak_speed, 1, 0.05,
                              "§ 4.1: \"|v| = 1 m/s\", read from fig. 12"});
    outcome.checks.push_back({"energy lost from 3 s to the end [J]", -drift, 1.9e-4,
                              clock.locates_events() ? 1e-5 : 1e-3,
                              "independent solution; fig. 15 calls it constant, bristles "
                              "and the normal damper "
                              "take a little"});
  }
  if (values["duration"] > settled && traces.held) {
    outcome.checks.push_back({"it rolls: largest ||v| − R|ω − (ω·n)n|| [m/s]",
                              traces.rolling_error, 0, 1e-3 * std::max(1.0, peak_speed),
                              "§ 4.1 has |v| = R|ω|, which spin about n makes false in "
                              "three dimensions"});
  }
  outcome.checks.push_back(ledger_balances(clock, traces.residual, traces.scale));
  if (draw) {
    const auto show = [&](Traces&& seen, double along) {
      outcome.figures.push_back(figure_of(seen, along));
      outcome.films.push_back(*std::move(seen.film));
    };
    show(std::move(traces), values["vy0"]);
    if (values.as_published()) {
      constexpr double along = 0.3;  // [m/s], figs. 13–15
      show(roll(values.with("vy0", along), clock, true), along);
    }
  }
  return outcome;
}

}  // namespace

Study gonthier2004_cylinder() {
  std::vector<Parameter> own = {
      {"x0", "", "m", between(-100, 100), 0.3, "centre's offset from the axis, along X"},
      {"z0", "", "m", between(-100, 100), -0.5, "and along Z, which points up"},
      {"vy0", "", "m/s", between(-1e3, 1e3), 0, "velocity along the axis; fig. 13: 0.3"},
      {"cylinder_radius", "", "m", above(0, 1e3), 1, "of the hollow"}};
  const std::vector<Parameter> of_ball = gonthier2004::ball_parameters();
  own.insert(own.end(), of_ball.begin(), of_ball.end());
  return {
      .name = "gonthier2004.cylinder",
      .title = "A ball dropped into a lying cylinder bounces, then rolls to and fro",
      .figures = "figs. 11–15",
      .about =
          "The height that the ball is dropped from is not in the paper; 0.5 m below the "
          "axis gives its peak of about 10 rad/s. |v| = R|ω| holds in the plane only: in "
          "three "
          "dimensions the ball spins about the normal, and |v| = R|ω − (ω·n)n|. Bristles "
          "are carried along with the tangent plane; left in world axes they would press "
          "on the wall. Results are taken after 3 s.",
      .parameters =
          with_clock(gonthier2004::with_friction(
                         std::move(own), {0.45, 0.4, 1e5, 1e4, 0, 0.1, 0.01},
                         {{"duration", "", "s", above(0, 1e4), 12, "of the run"}}),
                     1e-10, 10),
      .results = {{"period_s", "mean period after settling"},
                  {"peak_speed", "first peak of the in-plane speed after 3 s [m/s]"},
                  {"peak_omega", "largest |ω| after 3 s [rad/s]"},
                  {"energy_drift_J",
                   "change of kinetic, potential and normal-spring energy after 3 s"},
                  {"rolling_error", "largest ||v| − R|ω − (ω·n)n|| after 3 s [m/s]"},
                  {"energy_residual_J", "energy balance error"}},
      .run = run};
}

}  // namespace bristle::studies
