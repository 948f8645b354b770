#include <algorithm>
#include <numbers>

#include "bristle/laws/restitution.hpp"
#include "identify/table.hpp"
#include "studies/boos2013_apparatus.hpp"
#include "studies/closed_forms.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using boos2013::Instruments;
using boos2013::PressFit;
using identify::ForceData;

/// A payload on the drive's spring, whose far end moves at a constant speed, meets the
/// plate: m p̈ = K (v t + p(0) − p) − f. Until it touches, the spring is slack.
class DrivenImpact {
 public:
  DrivenImpact(const Values& values, double speed)
      : law_{values["stiffness"], values["true_restitution"], 1e-9},
        state_(Volumetric::touch(law_, speed)),
        mass_(values["payload_mass"]),
        drive_(values["drive_stiffness"]),
        contact_(values["contact_point"]),
        speed_(speed) {}

  /// Moves on from the touch; a rigid drive keeps its speed.
  void advance(double duration) {
    if (!(drive_ > 0)) {
      time_ += duration;
      position_ = contact_ + speed_ * time_;
      return;
    }
    for (const double end = time_ + duration; time_ < end;) {
      const double damping = law_.stiffness * patch().volume * state_.dissipation;
      const double stiffness = law_.stiffness * patch().area + drive_;
      const double rate = damping / mass_ + std::sqrt(stiffness / mass_);
      step(std::min({end - time_, 0.3 / rate, 1e-5}));
    }
  }
  /// Free motion to a time before the touch, which is at 0.
  void place(double time) {
    time_ = time;
    rate_ = speed_;
    position_ = contact_ + speed_ * time;
  }

  double position() const { return position_; }
  double force() const { return force_at(position_, drive_ > 0 ? rate_ : speed_); }

 private:
  PatchMotion<double> patch() const {
    return Punch{Punch::Kind::sphere, boos2013::sphere_radius}.at(position_ - contact_,
                                                                  rate_);
  }
  double force_at(double position, double rate) const {
    const double depth = position - contact_;
    const auto patch =
        Punch{Punch::Kind::sphere, boos2013::sphere_radius}.at(depth, rate);
    auto kin = Kinematics<double>::at(depth, rate);
    kin.patch = &patch;
    return Volumetric::evaluate(law_, state_, kin).force;
  }
  double acceleration(double time, double position, double rate) const {
    const double spring = drive_ * (contact_ + speed_ * time - position);
    return (spring - force_at(position, rate)) / mass_;
  }
  /// Runge and Kutta's step of order 4.
  void step(double h) {
    const double p = position_, v = rate_, t = time_;
    const double a1 = acceleration(t, p, v);
    const double v2 = v + 0.5 * h * a1,
                 a2 = acceleration(t + 0.5 * h, p + 0.5 * h * v, v2);
    const double v3 = v + 0.5 * h * a2,
                 a3 = acceleration(t + 0.5 * h, p + 0.5 * h * v2, v3);
    const double v4 = v + h * a3, a4 = acceleration(t + h, p + h * v3, v4);
    position_ = p + h / 6 * (v + 2 * v2 + 2 * v3 + v4);
    rate_ = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    time_ = t + h;
  }

  Volumetric::Params<double> law_;
  Volumetric::State<double> state_;
  double mass_, drive_, contact_, speed_;
  double time_ = 0, position_ = 0, rate_ = 0;
};

/// One impact as it is recorded, from well before the window that is fitted.
ForceData impact_data(const Values& values, double speed, std::uint64_t stream) {
  Instruments instruments(values, stream);
  DrivenImpact impact(values, speed);
  ForceData data;
  const double before = 4 * values["lead_m"] / speed + 20 * boos2013::sampling;
  const double after = values["window_s"] + 5 * boos2013::sampling;
  const double phase = instruments.phase();
  const auto first = -static_cast<long>(before / boos2013::sampling);
  bool touched = false;
  for (long i = first; static_cast<double>(i) * boos2013::sampling < after; ++i) {
    const double time = (static_cast<double>(i) + phase) * boos2013::sampling;
    if (time <= 0) {
      impact.place(time);
    } else if (!touched) {
      impact.place(0);
      impact.advance(time);
      touched = true;
    } else {
      impact.advance(boos2013::sampling);
    }
    data.time.push_back(time);
    data.position.push_back(instruments.position(impact.position()));
    data.force.push_back(instruments.force(impact.force()));
    data.begins.push_back(i == first);
  }
  identify::measure_speed(data);
  return data;
}

/// Made-up impacts at speeds in geometric order, or those of the file.
Result<std::vector<ForceData>> impacts_of(const Values& values) {
  std::vector<ForceData> impacts;
  if (const std::string path = values.text("data"); !path.empty()) {
    const auto table = identify::read_table(path, identify::force_columns());
    if (!table) return Error{table.error()};
    const auto all = identify::force_data(*table);
    if (!all) return Error{all.error()};
    if (!all->timed()) return Error{path + ": a column time_s is needed"};
    for (const auto& [first, end] : all->presses()) {
      impacts.push_back(all->part(first, end));
    }
    return impacts;
  }
  const auto count = static_cast<int>(values["impacts"]);
  for (int i = 0; i < count; ++i) {
    const double part = count > 1 ? static_cast<double>(i) / (count - 1) : 0;
    const double speed =
        values["speed_low"] * std::pow(values["speed_high"] / values["speed_low"], part);
    impacts.push_back(impact_data(values, speed, static_cast<std::uint64_t>(i)));
  }
  return impacts;
}

/// The slope of the position in free air, by least squares.
double approach_speed(const ForceData& data, double contact_point) {
  double n = 0, t = 0, p = 0, tt = 0, tp = 0;
  for (std::size_t i = 0; i < data.size() && data.position[i] < contact_point; ++i) {
    const double time = data.time[i] - data.time[0];
    const double position = data.position[i] - data.position[0];
    n += 1;
    t += time;
    p += position;
    tt += time * time;
    tp += time * position;
  }
  return (n * tp - t * p) / (n * tt - t * t);
}

struct Damping {
  double speed;   // v_i
  double factor;  // a
  double sd;
  PressFit fit;
  ForceData data;
};

Result<Damping> damping_of(const Values& values, const ForceData& data) {
  const bool joint = values.choice("contact_point_from") == "joint";
  const auto kept = identify::windowed(
      data, {.lead = values["lead_m"], .duration = values["window_s"]});
  if (!kept) return Error{kept.error()};
  const auto first = identify::first_force_position(data);
  if (!first) return Error{first.error()};
  const boos2013::Wanted wanted[] = {{"stiffness", false, values["stiffness"]},
                                     {"dissipation", true, 1e4},
                                     {"contact_point_m", joint, *first}};
  auto fit =
      boos2013::fit_press("volumetric-dissipation", *kept, identify::PatchShape::sphere,
                          boos2013::sphere_radius, wanted);
  if (!fit) return Error{fit.error()};
  const double contact =
      fit->fit.values[static_cast<std::size_t>(fit->model->find("contact_point_m"))];
  const identify::Estimate& a = (*fit)["dissipation"];
  return Damping{approach_speed(data, contact), a.value, a.sd, std::move(*fit), *kept};
}

/// a = C/v: C by least squares and its standard error; equal weights, or relative ones.
struct Inverse {
  double c, sd;
};
Inverse inverse_law(const std::vector<Damping>& all, bool relative) {
  const auto weight = [&](const Damping& d) { return relative ? d.speed * d.speed : 1; };
  double xy = 0, xx = 0, rr = 0;
  for (const Damping& d : all) {
    xy += weight(d) * d.factor / d.speed;
    xx += weight(d) / (d.speed * d.speed);
  }
  const double c = xy / xx;
  for (const Damping& d : all) {
    const double r = d.factor - c / d.speed;
    rr += weight(d) * r * r;
  }
  return {c, std::sqrt(rr / (static_cast<double>(all.size()) - 1) / xx)};
}

/// e with d(e)/e = C.
double restitution_of(double c) {
  double low = 1e-3, high = 1;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (damping_factor(middle) / middle > c ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double exponent_of(const std::vector<Damping>& all) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Damping& d : all) {
    if (!(d.factor > 0)) continue;
    const double lx = std::log(d.speed), ly = std::log(d.factor);
    n += 1;
    x += lx;
    y += ly;
    xx += lx * lx;
    xy += lx * ly;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/// The impact nearest to the one of fig. 8.
std::size_t nearest_to_figure(const std::vector<Damping>& all) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (std::fabs(std::log(all[i].speed / 5.8e-4)) <
        std::fabs(std::log(all[best].speed / 5.8e-4))) {
      best = i;
    }
  }
  return best;
}

report::Figure draw_impact(const Values& values, const Damping& d) {
  report::Panel position{"Displacement", "time [ms]", "position [µm]", {}};
  report::Panel force{"Force", "time [ms]", "force [N]", {}};
  report::Curve place{"encoder", {}, {}}, data{"measured", {}, {}},
      still{"k_v V", {}, {}}, fitted{"k_v V (1 + a v)", {}, {}};
  std::vector<double> residuals(d.data.size()), static_part(d.data.size());
  d.fit.model->residuals(d.fit.fit.values, {}, residuals.data(), nullptr);
  std::vector<double> undamped = d.fit.fit.values;
  undamped[static_cast<std::size_t>(d.fit.model->find("dissipation"))] = 0;
  d.fit.model->residuals(undamped, {}, static_part.data(), nullptr);
  for (std::size_t i = 0; i < d.data.size(); ++i) {
    const double t = 1e3 * (d.data.time[i] - d.data.time[0]);
    for (report::Curve* c : {&place, &data, &still, &fitted}) c->x.push_back(t);
    place.y.push_back(1e6 * d.data.position[i]);
    data.y.push_back(d.data.force[i]);
    still.y.push_back(static_part[i] + d.data.force[i]);
    fitted.y.push_back(residuals[i] + d.data.force[i]);
  }
  data.marker = report::Marker::circle;
  data.line = false;
  still.dashed = true;
  position.curves = {place};
  force.curves = {data, still, fitted};
  return {.title = "An impact of the sphere",
          .note = std::string("Boos & McPhee 2013, as fig. 8, plate ") +
                  std::string(values.choice("plate")),
          .panels = {position, force},
          .columns = 2};
}

report::Figure draw_factors(const std::vector<Damping>& all, double c) {
  report::Curve points{"fitted to impacts", {}, {}}, line{"a = C/v", {}, {}};
  points.marker = report::Marker::circle;
  points.line = false;
  for (const Damping& d : all) {
    points.x.push_back(1e3 * d.speed);
    points.y.push_back(d.factor);
  }
  const double low = *std::min_element(points.x.begin(), points.x.end());
  const double high = *std::max_element(points.x.begin(), points.x.end());
  for (int i = 0; i <= 100; ++i) {
    line.x.push_back(low * std::pow(high / low, i / 100.0));
    line.y.push_back(c / (1e-3 * line.x.back()));
  }
  return {.title = "Damping factors against impact speed",
          .note = "Boos & McPhee 2013, as fig. 9",
          .panels = {{.title = "a is inverse to the speed",
                      .x_label = "impact speed [mm/s]",
                      .y_label = "damping factor a [s/m]",
                      .curves = {points, line}}},
          .columns = 1};
}

Result<Outcome> run(Values& values, bool with_figure) {
  const auto& of_plate = boos2013::printed(values);
  if (values.open("stiffness")) values.resolve("stiffness", of_plate.volumetric);
  if (values.open("true_restitution")) {
    values.resolve("true_restitution", of_plate.restitution);
  }
  if (values["speed_high"] < values["speed_low"]) {
    return Error{"speed_high must be at least speed_low"};
  }
  const auto impacts = impacts_of(values);
  if (!impacts) return Error{impacts.error()};
  Outcome outcome;
  std::vector<Damping> all;
  for (const ForceData& data : *impacts) {
    auto one = damping_of(values, data);
    if (!one) {
      outcome.trouble = one.error();
      return outcome;
    }
    all.push_back(std::move(*one));
  }
  const auto [c, c_sd] = inverse_law(all, values.choice("weights") == "relative");
  const double e = restitution_of(c);
  const double h = 1e-4 * e;
  const double slope =
      (damping_factor(e + h) / (e + h) - damping_factor(e - h) / (e - h)) / (2 * h);
  const auto slowest = std::min_element(
      all.begin(), all.end(),
      [](const Damping& a, const Damping& b) { return a.speed < b.speed; });
  outcome.results = {{"damping_at_slowest", slowest->factor},
                     {"damping_at_580um_s", c / 5.8e-4},
                     {"restitution", e},
                     {"restitution_sd", std::fabs(c_sd / slope)},
                     {"speed_exponent", exponent_of(all)}};
  const bool joint = values.choice("contact_point_from") == "joint";
  if (values.text("data").empty() && joint) {
    outcome.checks.push_back({"restitution, that the impacts were made with", e,
                              values["true_restitution"], 0.01,
                              "d(e)/e = C, eqs. 12, 13"});
    outcome.checks.push_back({"slope of ln a over ln v", outcome.results.back().value, -1,
                              0.05, "eq. 12: a is inverse to the speed"});
  }
  if (values.as_published()) {
    outcome.checks.push_back(
        {"damping factor at 0.58 mm/s [s/m]", c / 5.8e-4, 1.6e4, 0.1e4, "fig. 8"});
  }
  if (with_figure) {
    outcome.figures = {draw_impact(values, all[nearest_to_figure(all)]),
                       draw_factors(all, c)};
  }
  return outcome;
}

}  // namespace

Study boos2013_damping() {
  return {
      .name = "boos2013.damping",
      .title = "Damping factors from impacts of a driven payload",
      .figures = "figs. 8, 9",
      .about =
          "Simulates impacts of a payload on the drive's spring, whose far end moves at "
          "a constant speed, as the instruments see them at 1 kHz, and fits a of "
          "eq. 22 to each, with k_v known and the contact point fitted with it, or taken "
          "where a force is first seen, as in the paper. C of a = C/v is fitted with "
          "equal weights, as in the paper, or relative ones, and e follows from "
          "d(e)/e = C, eq. 13. A payload that is driven does not rebound: this "
          "restitution is a parameter of the law and no more.",
      .parameters = boos2013::with_apparatus(
          {{"stiffness", "k_v", "N/m^3", above(0, 1e18), boos2013::open,
            "known; left open Table 2"},
           {"true_restitution", "e", "1", between(0.01, 1), boos2013::open,
            "what the impacts are made with; left open 0.134 of aluminium, 0.114 of "
            "magnesium"},
           {"speed_low", "v", "m/s", between(1e-6, 1), 1e-4, "of the slowest impact"},
           {"speed_high", "v", "m/s", between(1e-6, 1), 1e-3, "of the fastest"},
           {"impacts", "", "count", between(2, 1000), 12, "how many"},
           {"payload_mass", "m", "kg", between(1e-3, 1e6), 0.5, "that is driven"},
           {"window_s", "", "s", between(5e-3, 10), 0.1, "of data that are fitted"},
           {"lead_m", "", "m", between(1e-8, 1e-3), 2.5e-6,
            "from so far before the first force"},
           {"contact_point_from",
            "",
            "choice",
            choice_of(2),
            0,
            "joint: fitted with a",
            {"joint", "first-force"}},
           {"weights",
            "",
            "choice",
            choice_of(2),
            0,
            "of the impacts in the fit of C",
            {"equal", "relative"}}},
          1),
      .results = {{"damping_at_slowest", "a of the slowest impact [s/m]"},
                  {"damping_at_580um_s", "C/v at 0.58 mm/s [s/m]"},
                  {"restitution", "e with d(e)/e = C"},
                  {"restitution_sd",
                   "one standard deviation, from the scatter about C/v"},
                  {"speed_exponent", "slope of ln a over ln v"}},
      .run = run};
}

}  // namespace bristle::studies
