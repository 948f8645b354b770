#include <memory>
#include <numbers>
#include <random>

#include "bristle/laws/restitution.hpp"
#include "identify/fit.hpp"
#include "identify/restitution_model.hpp"
#include "identify/table.hpp"
#include "studies/central_impact.hpp"
#include "studies/closed_forms.hpp"
#include "studies/material_pairs.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

struct Point {
  double speed;
  double restitution;
};
using Points = std::vector<Point>;

// Measured points, from a file.

Result<Points> read_points(const std::string& path) {
  const auto table = identify::read_table(path, identify::restitution_columns());
  if (!table) return Error{table.error()};
  const auto data = identify::restitution_data(*table);
  if (!data) return Error{data.error()};
  Points points;
  for (std::size_t i = 0; i < data->speed.size(); ++i) {
    points.push_back({data->speed[i], data->restitution[i]});
  }
  if (points.size() < 3) {
    return Error{path + ":" +
                 std::to_string(table->lines.empty() ? 1 : table->lines.back()) + ": " +
                 std::to_string(points.size()) + " points; at least 3 are needed"};
  }
  return points;
}

/// Points as the model gives them, with noise: the same on every machine and every time.
Points made_up(const MaterialPair& pair) {
  constexpr int count = 16;
  constexpr double noise = 0.01;
  const PairContact contact = contact_of(pair);
  std::mt19937 random(2014u + static_cast<unsigned>(pair.name[0]));
  const auto uniform = [&random] {
    return (static_cast<double>(random()) + 0.5) / 4294967296.0;
  };
  Points points;
  for (int i = 0; i < count; ++i) {
    // More points at high speeds, as in the figure.
    const double part = static_cast<double>(i) / (count - 1);
    const double speed = 0.2 * std::pow(20.0, std::sqrt(part));
    const double group = azad_featherstone_group_of(contact.stiffness, contact.damping,
                                                    contact.mass, speed);
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * uniform());
    const double e = azad_featherstone_restitution(group, true) + noise * normal;
    points.push_back({speed, std::clamp(e, 1e-3, 1.0)});
  }
  return points;
}

/// The best fit of a law's damping to the points.
struct Fitted {
  std::unique_ptr<identify::RestitutionModel> model;
  identify::Fit fit;

  double damping() const { return fit.estimates.front().value; }
  double sd() const { return fit.estimates.front().sd; }
  double at(double speed) const { return model->at(fit.values, speed); }

  /// Cosine of the angle between the misses and their slopes: 0 at the best fit.
  double skew() const {
    const std::size_t n = model->points();
    const std::size_t free[] = {fit.estimates.front().unknown};
    std::vector<double> misses(n), slopes(n);
    model->residuals(fit.values, free, misses.data(), slopes.data());
    double both = 0, squares = 0, slopes2 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      both += misses[i] * slopes[i];
      squares += misses[i] * misses[i];
      slopes2 += slopes[i] * slopes[i];
    }
    const double size = std::sqrt(squares * slopes2);
    return size > 0 ? both / size : 0;
  }
};

Result<Fitted> fit_damping(std::string_view law, const Points& points, double stiffness,
                           double mass) {
  identify::RestitutionData data;
  for (const Point& p : points) {
    data.speed.push_back(p.speed);
    data.restitution.push_back(p.restitution);
  }
  Fitted fitted;
  fitted.model = std::make_unique<identify::RestitutionModel>(*find_law(law), data);
  for (const auto& [name, value] :
       {std::pair{"stiffness", stiffness}, std::pair{"mass", mass}}) {
    const auto place = static_cast<std::size_t>(fitted.model->find(name));
    fitted.model->unknowns()[place].value = value;
  }
  auto found = identify::fit(*fitted.model, {.starts = 1});
  if (!found) return Error{found.error()};
  fitted.fit = std::move(*found);
  return fitted;
}

Result<Fitted> fit_ours(const Points& points, double stiffness, double mass) {
  return fit_damping("azad-featherstone", points, stiffness, mass);
}

Result<Fitted> fit_hunt_crossley(const Points& points) {
  return fit_damping("hunt-crossley", points, 1e6, 1);  // which do not matter
}

double rms_of_constant(const Points& points) {
  double mean = 0, squares = 0;
  for (const Point& p : points) mean += p.restitution;
  mean /= static_cast<double>(points.size());
  for (const Point& p : points) {
    squares += (p.restitution - mean) * (p.restitution - mean);
  }
  return std::sqrt(squares / static_cast<double>(points.size()));
}

report::Panel panel_of(const std::string& title, const Points& points, const Fitted& ours,
                       const Fitted& classic) {
  report::Curve data{"data", {}, {}}, fitted{"new model", {}, {}},
      other{"Hunt–Crossley", {}, {}};
  other.dashed = true;
  data.line = false;
  data.marker = report::Marker::circle;
  Points sorted = points;
  std::sort(sorted.begin(), sorted.end(),
            [](const Point& a, const Point& b) { return a.speed < b.speed; });
  for (const Point& p : sorted) {
    data.x.push_back(p.speed);
    data.y.push_back(p.restitution);
  }
  const double from = 0.7 * sorted.front().speed, to = 1.4 * sorted.back().speed;
  for (int i = 0; i <= 40; ++i) {
    const double v = from * std::pow(to / from, i / 40.0);
    fitted.x.push_back(v);
    other.x.push_back(v);
    fitted.y.push_back(ours.at(v));
    other.y.push_back(classic.at(v));
  }
  return {.title = title,
          .x_label = "impact speed [m/s]",
          .y_label = "restitution e",
          .curves = {data, fitted, other},
          .log_x = true};
}

report::Figure draw(const Values& values, const Points& points, const Fitted& ours,
                    const Fitted& classic) {
  report::Figure figure{.title = "Restitution of pairs of materials",
                        .note = "",
                        .panels = {},
                        .columns = 3};
  if (const std::string path = values.text("data"); !path.empty()) {
    figure.note = "Azad & Featherstone 2014, as fig. 5; data from a file";
    figure.columns = 1;
    figure.panels = {panel_of(path, points, ours, classic)};
    return figure;
  }
  figure.note =
      "Azad & Featherstone 2014, as fig. 5; data made up by the model, with noise";
  for (const MaterialPair& pair : material_pairs) {
    const PairContact contact = contact_of(pair);
    std::string title = "(";
    title += pair.name;
    title += ") ";
    title += pair.in_words;
    const Points of_pair = made_up(pair);
    const auto one = fit_ours(of_pair, contact.stiffness, contact.mass);
    const auto other = fit_hunt_crossley(of_pair);
    if (one && other) figure.panels.push_back(panel_of(title, of_pair, *one, *other));
  }
  return figure;
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const MaterialPair& pair = material_pairs[static_cast<std::size_t>(values["pair"])];
  const PairContact contact = contact_of(pair);
  if (values.open("stiffness")) values.resolve("stiffness", contact.stiffness);
  if (values.open("mass")) values.resolve("mass", contact.mass);
  const double k = values["stiffness"], mass = values["mass"];
  const std::string path = values.text("data");
  const Result<Points> read = path.empty() ? made_up(pair) : read_points(path);
  if (!read) return Error{read.error()};
  const Points& points = *read;

  const auto fitted = fit_ours(points, k, mass), reference = fit_hunt_crossley(points);
  Outcome outcome;
  if (!fitted || !reference) {
    outcome.trouble = fitted ? reference.error() : fitted.error();
    return outcome;
  }
  const Fitted &ours = *fitted, &classic = *reference;
  outcome.results = {{"stiffness", k},
                     {"damping", ours.damping()},
                     {"damping_sd", ours.sd()},
                     {"rms", ours.fit.rms},
                     {"rms_hunt_crossley", classic.fit.rms},
                     {"rms_constant", rms_of_constant(points)}};

  if (ours.damping() > 0) {
    outcome.checks.push_back({"misses have no part along their slope (cosine)",
                              ours.skew(), 0, 1e-6, "least squares"});
  }
  // The curve is that of an impact.
  const double speed = points[points.size() / 2].speed;
  const CentralImpact impact = central_impact(
      choose<AzadFeatherstone>({.stiffness = k, .damping = ours.damping(), .clamp = 1}),
      true, mass, speed, clock, Detail::restitution_only);
  outcome.trouble = impact.trouble;
  const double e = ours.at(speed);
  outcome.checks.push_back({"an impact with this damping returns the curve's e",
                            impact.restitution, e, tolerance(clock, 1e-8, e),
                            "eq. 11 in motion"});
  if (path.empty()) {
    // Only λ/(m^{2/5} k^{3/5}) can be found.
    const double made_with = contact.damping * std::pow(mass / contact.mass, 0.4) *
                             std::pow(k / contact.stiffness, 0.6);
    outcome.checks.push_back({"damping, that the data were made with [N s/m^1.5]",
                              ours.damping(), made_with, 4 * ours.sd(),
                              "four standard deviations"});
    outcome.checks.push_back({"rms over that of Hunt–Crossley, below 1",
                              ours.fit.rms / classic.fit.rms, 0.5, 0.5, "fig. 5"});
  }
  if (with_figure) outcome.figures = {draw(values, points, ours, classic)};
  return outcome;
}

}  // namespace

Study azad2014_materials() {
  constexpr double open = std::numeric_limits<double>::quiet_NaN();
  return {
      .name = "azad2014.materials",
      .title = "The damping of a pair of materials from its restitution",
      .figures = "fig. 5",
      .about =
          "Fits λ of the clamped law to measured restitution, all points weighing the "
          "same, with k from the materials. The measured points of fig. 5 are not "
          "printed "
          "as numbers: unless a file is given, the data are made up by the model itself "
          "with an assumed damping and noise of 0.01, so that the fit says nothing of "
          "the "
          "model's truth. The paper does not give the masses nor the dampings that it "
          "found; only λ/(m^{2/5} k^{3/5}) can be identified.",
      .parameters = with_clock(
          {{"pair",
            "",
            "choice",
            choice_of(6),
            0,
            "A brass spheres, B steel on cast iron, C cork spheres, D steel on cork, E "
            "steel on brass, F steel on lead",
            {"A", "B", "C", "D", "E", "F"}},
           {"data", "", "file", yes_or_no, open,
            "CSV with the header speed_m_s,restitution"},
           {"stiffness", "k", "N/m^1.5", above(0, 1e15), open,
            "left open: that of the pair"},
           {"mass", "m", "kg", above(0, 1e9), open,
            "reduced mass; left open: that of the pair"}},
          1e-11, 2000),
      .results = {{"stiffness", "k, 4/3 E* √R unless set [N/m^1.5]"},
                  {"damping", "λ of the best fit [N s/m^1.5]"},
                  {"damping_sd", "its standard deviation [N s/m^1.5]"},
                  {"rms", "of the misses in e"},
                  {"rms_hunt_crossley", "of Hunt–Crossley's best fit"},
                  {"rms_constant", "of the best constant, the linear law"}},
      .run = run};
}

}  // namespace bristle::studies
