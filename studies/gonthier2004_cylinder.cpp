#include <algorithm>
#include <limits>

#include "studies/gonthier2004.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

constexpr double settled = 3;  // [s]: by then it rolls

Result<Outcome> run(Values& values, bool draw) {
  const Clock clock = clock_of(values);
  const double radius = values["radius"], hollow = values["cylinder_radius"];
  const double x0 = values["x0"], z0 = values["z0"], duration = values["duration"];
  if (std::hypot(x0, z0) + radius >= hollow) {
    return Error{"x0, z0: the ball must begin inside the cylinder, without touching it"};
  }
  ShapeSpec ground{.name = "cylinder",
                   .shape = Cavity{hollow, std::numeric_limits<double>::infinity()}};
  ground.pose.R = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};  // its axis along Y
  gonthier2004::Ball ball =
      gonthier2004::make_ball(values, clock, ground, {x0, 0, z0}, {0, values["vy0"], 0});
  Motion& motion = ball.motion;

  Series x, y, z, vx, vy, vz, wx, wy, wz, speed_in_plane, energy;
  std::vector<double> crossings;  // of the bottom, towards +X, after settling
  double peak_omega = std::nan(""), rolling_error = std::nan("");
  double before_time = 0, before_x = x0, before_rate = 0;
  Watch watch;
  watch.sample_interval = std::min(5e-4, duration / 1000);
  watch.on_sample = [&](const State& now) {
    const Vec3<double> p = ball.centre(now), v = ball.velocity(now), w = ball.omega(now);
    x.add(now.time, p.x);
    y.add(now.time, p.y);
    z.add(now.time, p.z);
    vx.add(now.time, v.x);
    vy.add(now.time, v.y);
    vz.add(now.time, v.z);
    wx.add(now.time, w.x);
    wy.add(now.time, w.y);
    wz.add(now.time, w.z);
    const Ledger books = motion.ledger(now);
    energy.add(now.time, books.kinetic + books.gravity + books.normal);
    if (now.time >= settled) {
      speed_in_plane.add(now.time, std::hypot(v.x, v.z));
      peak_omega = std::fmax(peak_omega, norm(w));
      const double from_axis = std::hypot(p.x, p.z);
      const Vec3<double> n{p.x / from_axis, 0, p.z / from_axis};
      const Vec3<double> rolls = w - dot(w, n) * n;
      rolling_error = std::fmax(rolling_error, std::fabs(norm(v) - radius * norm(rolls)));
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
        crossings.push_back(before_time + s * h);
      }
    }
    before_time = now.time;
    before_x = p.x;
    before_rate = v.x;
  };
  motion.go(duration, watch);

  // The first peak of the in-plane speed after settling.
  double peak_speed = std::nan("");
  const std::vector<double>& s = speed_in_plane.y;
  for (std::size_t i = 1; i + 1 < s.size(); ++i) {
    if (s[i] > s[i - 1] && s[i] >= s[i + 1]) {
      Series near;
      for (const std::size_t k : {i - 1, i, i + 1}) near.add(speed_in_plane.x[k], s[k]);
      peak_speed = peak_of(near).value;
      break;
    }
  }
  double drift = std::nan("");
  if (duration > settled) {
    const Ledger last = motion.ledger(motion.state());
    const auto from = std::lower_bound(energy.x.begin(), energy.x.end(), settled - 1e-9);
    const auto at = static_cast<std::size_t>(from - energy.x.begin());
    drift = last.kinetic + last.gravity + last.normal - energy.y[at];
  }
  const std::size_t n = crossings.size();
  const double period =
      n > 1 ? (crossings.back() - crossings.front()) / static_cast<double>(n - 1)
            : std::nan("");
  const Audit& books = motion.audit();
  Outcome outcome;
  outcome.trouble = motion.trouble();
  outcome.results = {{"period_s", period},
                     {"peak_speed", peak_speed},
                     {"peak_omega", peak_omega},
                     {"energy_drift_J", drift},
                     {"rolling_error", rolling_error},
                     {"energy_residual_J", books.residual()}};

  const auto against = [&](const char* name, double value, double reference,
                           double within, const char* source) {
    outcome.checks.push_back(
        {name, value, reference, tolerance(clock, within, reference), source});
  };
  if (values.as_published()) {
    const char* reference = "independent solution at tight tolerance";
    against("period [s]", period, 2.274891, 2e-4, reference);
    against("peak of the in-plane speed after 3 s [m/s]", peak_speed, 0.984037, 2e-4,
            reference);
    against("peak of |ω| after 3 s [rad/s]", peak_omega, 9.840935, 2e-3, reference);
    outcome.checks.push_back({"|v| when |ω| peaks at 10 rad/s [m/s]", peak_speed, 1, 0.05,
                              "§ 4.1: \"|v| = 1 m/s\", read from fig. 12"});
    outcome.checks.push_back({"energy lost from 3 s to the end [J]", -drift, 1.9e-4,
                              clock.adaptive ? 1e-5 : 1e-3,
                              "independent solution; fig. 15 calls it constant, bristles "
                              "and the normal damper "
                              "take a little"});
  }
  if (duration > settled) {
    outcome.checks.push_back({"it rolls: largest ||v| − R|ω − (ω·n)n|| [m/s]",
                              rolling_error, 0, 1e-3 * std::max(1.0, peak_speed),
                              "§ 4.1 has |v| = R|ω|, which spin about n makes false in "
                              "three dimensions"});
  }
  outcome.checks.push_back(
      {"energy books, over their scale", books.residual() / books.scale(), 0,
       clock.adaptive ? std::max(1e-8, clock.rtol) : 0.01, "the ledger closes"});
  if (draw) {
    outcome.figures = {
        {.title = "A ball dropped into a cylinder: it bounces, then rolls to and fro",
         .note = "Gonthier et al. 2004, figs. 11–15",
         .panels = {{.title = "Path of the centre, along the axis (figs. 11, 13)",
                     .x_label = "X [m]",
                     .y_label = "Z [m]",
                     .curves = {{"path", x.y, z.y}},
                     .equal_axes = true},
                    {.title = "Path of the centre, from above (fig. 13)",
                     .x_label = "X [m]",
                     .y_label = "Y [m]",
                     .curves = {{"path", x.y, y.y}}},
                    {.title = "Velocity (figs. 12, 14)",
                     .x_label = "time [s]",
                     .y_label = "velocity [m/s]",
                     .curves = {{"X", vx.x, vx.y}, {"Y", vy.x, vy.y}, {"Z", vz.x, vz.y}}},
                    {.title = "Angular velocity (figs. 12, 14)",
                     .x_label = "time [s]",
                     .y_label = "angular velocity [rad/s]",
                     .curves = {{"X", wx.x, wx.y}, {"Y", wy.x, wy.y}, {"Z", wz.x, wz.y}}},
                    {.title = "Kinetic, potential and spring energy (fig. 15)",
                     .x_label = "time [s]",
                     .y_label = "energy [J]",
                     .curves = {{"energy", energy.x, energy.y}}}},
         .columns = 2}};
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
                  {"energy_residual_J", "energy that is unaccounted for"}},
      .run = run};
}

}  // namespace bristle::studies
