#include <numbers>

#include "studies/camera.hpp"
#include "studies/gonthier2004.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

Result<Outcome> run(Values& values, bool draw) {
  const Clock clock = clock_of(values);
  const double tilt = values["tilt_deg"] * std::numbers::pi / 180;
  const double c = std::cos(tilt), s = std::sin(tilt);
  // Axes of the plane, turned about +Y: x points downhill.
  const Vec3<double> along{c, 0, -s}, across{0, 1, 0}, normal{s, 0, c};
  const Vec3<double> start{values["vx0"], values["vy0"], 0};
  const double gap = values["gap_m"], g = values["gravity"];
  const double duration = values["duration"];

  ShapeSpec ground{.name = "ground", .shape = Plane{}};
  ground.pose.R = {along, across, normal};
  gonthier2004::Ball ball = gonthier2004::make_ball(
      values, clock, ground, (gap + values["radius"]) * normal, start);
  Motion& motion = ball.motion;

  double first_touch = std::nan("");
  int impacts = 0;
  Series vx, vy, vz, wx, wy, wz, px, py, pz;
  Camera camera("The ball on the inclined plane (fig. 9)", motion.model(), duration);
  Watch watch;
  watch.sample_interval = duration / 6000;
  watch.on_sample = [&](const State& now) {
    if (draw) camera.see(now);
    const Vec3<double> v = ball.velocity(now), w = ball.omega(now), p = ball.centre(now);
    vx.add(now.time, dot(v, along));
    vy.add(now.time, dot(v, across));
    vz.add(now.time, dot(v, normal));
    wx.add(now.time, dot(w, along));
    wy.add(now.time, dot(w, across));
    wz.add(now.time, dot(w, normal));
    px.add(now.time, dot(p, along));
    py.add(now.time, dot(p, across));
    pz.add(now.time, dot(p, normal));
  };
  watch.on_event = [&](const State&, const Event& event) {
    if (event.kind != EventKind::touch) return;
    if (impacts++ == 0) first_touch = event.time;
  };
  motion.go(duration, watch);

  const double from = duration - std::min(0.5, duration);
  const Line rolling = line_through(vx, from);
  double vy_sum = 0, count = 0;
  for (std::size_t i = 0; i < vy.x.size(); ++i) {
    if (vy.x[i] < from) continue;
    vy_sum += vy.y[i];
    ++count;
  }
  const double vy_mean = vy_sum / count;
  const Audit& ledger = motion.audit();
  Outcome outcome;
  outcome.trouble = motion.trouble();
  outcome.results = {{"rolling_acceleration", rolling.slope},
                     {"rolling_vx_at_0", rolling.offset},
                     {"vy", vy_mean},
                     {"first_touch_s", first_touch},
                     {"impacts", static_cast<double>(impacts)},
                     {"energy_residual_J", ledger.residual()}};

  const Against against{outcome, clock};
  // It rolls where the point of contact is at rest, all the last half second.
  const double radius = values["radius"];
  double slip = impacts > 0 ? 0 : HUGE_VAL, speed = 0;
  for (std::size_t i = 0; i < vx.x.size(); ++i) {
    if (vx.x[i] < from) continue;
    slip = std::max(slip,
                    std::hypot(vx.y[i] - radius * wy.y[i], vy.y[i] + radius * wx.y[i]));
    speed = std::max(speed, std::hypot(vx.y[i], vy.y[i]));
  }
  // Far away, rounding of positions is seen in the depth.
  const double within =
      1e-6 * std::max(1.0, std::fabs(px.y.back()) / 10) * std::max(1.0, duration / 3);
  if (values.as_published() || slip < 1e-7 * speed) {
    // The spin about the contact line is all that friction can change: 5/7 of the
    // velocity without friction, whatever happened in between.
    against("acceleration of rolling [m/s²]", rolling.slope, 5.0 / 7 * g * s, within,
            "5/7 g sin θ; the paper's g sin θ forgets the inertia of the ball");
    against("v_x of rolling, at t = 0 [m/s]", rolling.offset, 5.0 / 7 * dot(start, along),
            within, "angular momentum about the contact");
    against("v_y of rolling [m/s]", vy_mean, 5.0 / 7 * start.y, within,
            "angular momentum about the contact; constant, § 4.1");
  }
  const double fall = g * c, towards = -dot(start, normal);
  if (fall > 0 || towards > 0) {
    // gap − towards t − ½ g cos θ t² = 0
    const double root = std::sqrt(towards * towards + 2 * fall * gap);
    const double touch = 2 * gap / (towards + root);
    if (touch < duration) {
      against("first touch [s]", first_touch, touch, 1e-9, "free fall");
    }
  }
  outcome.checks.push_back(ledger_balances(clock, ledger.residual(), ledger.scale()));
  if (draw) {
    outcome.figures = {
        {.title = "A ball dropped on an inclined plane: it bounces, slips, and rolls",
         .note = "Gonthier et al. 2004, figs. 9 and 10; axes turned with the plane",
         .panels =
             {{.title = "Path of the centre, from the side (fig. 9)",
               .x_label = "x, downhill [m]",
               .y_label = "z, along the normal [m]",
               .curves = {{"path", px.y, pz.y}}},
              {.title = "Path of the centre, from above (fig. 9)",
               .x_label = "x, downhill [m]",
               .y_label = "y [m]",
               .curves = {{"path", px.y, py.y}}},
              {.title = "Velocity of the centre (fig. 10)",
               .x_label = "time [s]",
               .y_label = "velocity [m/s]",
               .curves = {{"v_x", vx.x, vx.y}, {"v_y", vy.x, vy.y}, {"v_z", vz.x, vz.y}}},
              {.title = "Angular velocity (fig. 10)",
               .x_label = "time [s]",
               .y_label = "angular velocity [rad/s]",
               .curves = {{"ω_x", wx.x, wx.y},
                          {"ω_y", wy.x, wy.y},
                          {"ω_z", wz.x, wz.y}}}},
         .columns = 2}};
    outcome.films = {std::move(camera.film)};
  }
  return outcome;
}

}  // namespace

Study gonthier2004_inclined_plane() {
  using gonthier2004::ball_parameters;
  std::vector<Parameter> own = {
      {"tilt_deg", "θ", "deg", between(-80, 80), 20, "of the plane, about +Y"},
      {"gap_m", "", "m", above(0, 1e4), 0.5, "under the ball at the start"},
      {"vx0", "", "m/s", between(-1e4, 1e4), -1, "velocity at the start, along X"},
      {"vy0", "", "m/s", between(-1e4, 1e4), 0.5, "velocity at the start, along Y"}};
  const std::vector<Parameter> of_ball = ball_parameters();
  own.insert(own.end(), of_ball.begin(), of_ball.end());
  return {
      .name = "gonthier2004.inclined-plane",
      .title = "A ball bounces on an inclined plane until it rolls",
      .figures = "figs. 9, 10",
      .about =
          "The ball starts with −1 m/s along X and 0.5 m/s along Y in world axes; the "
          "gap "
          "along the normal is not given in the paper and does not matter for rolling. "
          "Bristles and dwell are zero in flight and at touch-down. Once it rolls, it "
          "accelerates by 5/7 g sin θ; the paper says g sin θ, which forgets the ball's "
          "inertia. rolling_* are fitted to the last 0.5 s.",
      .parameters =
          with_clock(gonthier2004::with_friction(
                         std::move(own), {0.45, 0.4, 1e5, 1e4, 0, 0.1, 0.01},
                         {{"duration", "", "s", above(0, 1e4), 3, "of the run"}}),
                     1e-10, 10),
      .results = {{"rolling_acceleration", "slope of v_x over the last 0.5 s [m/s²]"},
                  {"rolling_vx_at_0", "its line at t = 0 [m/s]"},
                  {"vy", "mean of v_y over the last 0.5 s [m/s]"},
                  {"first_touch_s", "when it touches first"},
                  {"impacts", "touch-downs, the last, lasting one included"},
                  {"energy_residual_J", "energy balance error"}},
      .run = run};
}

}  // namespace bristle::studies
