#include <charconv>
#include <fstream>
#include <numbers>
#include <random>

#include "bristle/laws/restitution.hpp"
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

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

Error at_line(const std::string& path, int line, std::string_view problem) {
  std::string message = path;
  message += ':';
  message += std::to_string(line);
  message += ": ";
  message += problem;
  return Error{message};
}

std::string quoted(std::string_view what, std::string_view text, std::string_view must) {
  std::string problem(what);
  problem += " = \"";
  problem += text;
  problem += "\" must ";
  problem += must;
  return problem;
}

Result<double> number_in(std::string_view name, std::string_view text, Range range,
                         std::string_view must) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return Error{quoted(name, text, "be a number")};
  }
  if (!range.contains(value)) return Error{quoted(name, text, must)};
  return value;
}

Result<Points> read_points(const std::string& path) {
  constexpr std::string_view header = "speed_m_s,restitution";
  std::ifstream file(path);
  std::string text;
  int line = 1;
  if (!file || !std::getline(file, text)) {
    return at_line(path, line, "cannot be read, or is empty");
  }
  if (trimmed(text) != header) {
    return at_line(path, line,
                   quoted("the header", trimmed(text), "be speed_m_s,restitution"));
  }
  Points points;
  while (std::getline(file, text)) {
    ++line;
    const std::string_view row = trimmed(text);
    if (row.empty()) continue;
    const std::size_t comma = row.find(',');
    if (comma == std::string_view::npos ||
        row.find(',', comma + 1) != std::string_view::npos) {
      return at_line(path, line, quoted("the row", row, "hold two numbers: speed,e"));
    }
    const auto speed = number_in("speed_m_s", trimmed(row.substr(0, comma)),
                                 above(0, 1e4), "lie in (0, 1e4] m/s");
    if (!speed) return at_line(path, line, speed.error());
    const auto e = number_in("restitution", trimmed(row.substr(comma + 1)), above(0, 1),
                             "lie in (0, 1]");
    if (!e) return at_line(path, line, e.error());
    points.push_back({*speed, *e});
  }
  if (points.size() < 3) {
    std::string problem = std::to_string(points.size());
    problem += " points; at least 3 are needed";
    return at_line(path, line, problem);
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

/// Least squares of e(θ w_i), a falling curve from e(0) = 1 that is stretched.
class Fit {
 public:
  using Curve = std::function<double(double)>;

  /// `weight`: w of a point. `most`: the largest θ w to be tried, on the average.
  Fit(const Points& points, Curve curve, const Curve& weight, double most)
      : points_(points), curve_(std::move(curve)) {
    for (const Point& p : points) weights_.push_back(weight(p.speed));
    solve(most);
  }

  double theta() const { return theta_; }
  double sd() const { return sd_; }
  double rms() const { return rms_; }
  double at(double weight) const { return curve_(theta_ * weight); }
  /// Cosine of the angle between the misses and their slopes: 0 at the best fit.
  double skew() const { return skew_; }

 private:
  /// x de/dx; there is nothing smoother in x than its logarithm.
  double slope(double x) const {
    constexpr double h = 5e-3;
    const auto e = [&](double by) { return curve_(x * std::exp(by)); };
    return (8 * (e(h) - e(-h)) - (e(2 * h) - e(-2 * h))) / (12 * h);
  }
  double slope_at_zero() const {
    constexpr double h = 1e-4;
    return (4 * curve_(h) - curve_(2 * h) - 3 * curve_(0)) / (2 * h);
  }

  struct Sums {
    double squares = 0;  // Σ r²
    double slopes = 0;   // Σ J², J = de/dθ
    double both = 0;     // Σ r J
  };
  Sums sums(double theta) const {
    Sums s;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double x = theta * weights_[i];
      const double miss = points_[i].restitution - curve_(x);
      const double j = theta > 0 ? slope(x) / theta : slope_at_zero() * weights_[i];
      s.squares += miss * miss;
      s.slopes += j * j;
      s.both += miss * j;
    }
    return s;
  }

  /// The best of many θ, by a table of the curve.
  std::size_t scan(const std::vector<double>& thetas) const {
    const auto [least, most] = std::minmax_element(weights_.begin(), weights_.end());
    const double from = std::log(thetas.front() * *least) - step;
    const double to = std::log(thetas.back() * *most) + 2 * step;
    std::vector<double> table;
    for (int i = 0; from + i * step < to; ++i) {
      table.push_back(curve_(std::exp(from + i * step)));
    }
    std::size_t best = 0;
    double smallest = HUGE_VAL;
    for (std::size_t k = 0; k < thetas.size(); ++k) {
      double squares = 0;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        const double place = (std::log(thetas[k] * weights_[i]) - from) / step;
        const auto j = static_cast<std::size_t>(place);
        const double part = place - static_cast<double>(j);
        const double miss =
            points_[i].restitution - (1 - part) * table[j] - part * table[j + 1];
        squares += miss * miss;
      }
      if (squares < smallest) {
        smallest = squares;
        best = k;
      }
    }
    return best;
  }

  void solve(double most) {
    double middle = 0;
    for (const double w : weights_) middle += std::log(w);
    middle = std::exp(middle / static_cast<double>(weights_.size()));
    std::vector<double> thetas;
    for (double x = std::log(1e-6); x < std::log(most); x += step) {
      thetas.push_back(std::exp(x) / middle);
    }
    const std::size_t best = scan(thetas);
    // Where Σ r J changes its sign, by false position (Illinois) in ln θ. It is positive
    // where θ is too small: the curve lies too high, and falls.
    const std::size_t last = thetas.size() - 1;
    double low = std::log(thetas[best > 2 ? best - 2 : 0]);
    double high = std::log(thetas[std::min(best + 2, last)]);
    double at_low = sums(std::exp(low)).both, at_high = sums(std::exp(high)).both;
    if (at_low <= 0) {
      theta_ = best <= 2 ? 0 : std::exp(low);  // 0: no damping fits best
    } else if (at_high >= 0) {
      theta_ = std::exp(high);
    } else {
      for (int k = 0; k < 60; ++k) {
        const double x = (low * at_high - high * at_low) / (at_high - at_low);
        const double here = sums(std::exp(x)).both;
        const bool below = here > 0;
        const double moved = std::fabs(x - (below ? low : high));
        (below ? low : high) = x;
        (below ? at_low : at_high) = here;
        (below ? at_high : at_low) *= 0.5;
        theta_ = std::exp(x);
        if (moved < 1e-13 || here == 0) break;
      }
    }
    const Sums s = sums(theta_);
    const auto n = static_cast<double>(points_.size());
    rms_ = std::sqrt(s.squares / n);
    sd_ = std::sqrt(s.squares / (n - 1) / s.slopes);
    const double size = std::sqrt(s.squares * s.slopes);
    skew_ = size > 0 ? s.both / size : 0;
  }

  static constexpr double step = 0.1;  // in logarithms

  Points points_;
  Curve curve_;
  std::vector<double> weights_;
  double theta_ = 0, sd_ = 0, rms_ = 0, skew_ = 0;
};

/// By how much Λ grows with λ at a speed.
Fit::Curve group_per_damping(double stiffness, double mass) {
  return [=](double v) { return azad_featherstone_group_of(stiffness, 1, mass, v); };
}

Fit fit_ours(const Points& points, double stiffness, double mass) {
  return {points, [](double group) { return azad_featherstone_restitution(group, true); },
          group_per_damping(stiffness, mass), 1e3};
}

Fit fit_hunt_crossley(const Points& points) {
  return {points, hunt_crossley_restitution, [](double v) { return v; }, 1e6};
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

report::Panel panel_of(const std::string& title, const Points& points, double stiffness,
                       double mass) {
  const Fit ours = fit_ours(points, stiffness, mass), classic = fit_hunt_crossley(points);
  const Fit::Curve weight = group_per_damping(stiffness, mass);
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
    fitted.y.push_back(ours.at(weight(v)));
    other.y.push_back(classic.at(v));
  }
  return {.title = title,
          .x_label = "impact speed [m/s]",
          .y_label = "restitution e",
          .curves = {data, fitted, other},
          .log_x = true};
}

report::Figure draw(const Values& values, const Points& points) {
  report::Figure figure{.title = "Restitution of pairs of materials",
                        .note = "",
                        .panels = {},
                        .columns = 3};
  if (const std::string path = values.text("data"); !path.empty()) {
    figure.note = "Azad & Featherstone 2014, as fig. 5; data from a file";
    figure.columns = 1;
    figure.panels = {panel_of(path, points, values["stiffness"], values["mass"])};
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
    figure.panels.push_back(
        panel_of(title, made_up(pair), contact.stiffness, contact.mass));
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

  const Fit ours = fit_ours(points, k, mass), classic = fit_hunt_crossley(points);
  Outcome outcome;
  outcome.results = {{"stiffness", k},
                     {"damping", ours.theta()},
                     {"damping_sd", ours.sd()},
                     {"rms", ours.rms()},
                     {"rms_hunt_crossley", classic.rms()},
                     {"rms_constant", rms_of_constant(points)}};

  if (ours.theta() > 0) {
    outcome.checks.push_back({"misses have no part along their slope (cosine)",
                              ours.skew(), 0, 1e-6, "least squares"});
  }
  // The curve is that of an impact.
  const double speed = points[points.size() / 2].speed;
  const CentralImpact impact = central_impact(
      choose<AzadFeatherstone>({.stiffness = k, .damping = ours.theta(), .clamp = 1}),
      true, mass, speed, clock, Detail::restitution_only);
  outcome.trouble = impact.trouble;
  const double e = ours.at(group_per_damping(k, mass)(speed));
  outcome.checks.push_back({"an impact with this damping returns the curve's e",
                            impact.restitution, e, tolerance(clock, 1e-8, e),
                            "eq. 11 in motion"});
  if (path.empty()) {
    // Only λ/(m^{2/5} k^{3/5}) can be found.
    const double made_with = contact.damping * std::pow(mass / contact.mass, 0.4) *
                             std::pow(k / contact.stiffness, 0.6);
    outcome.checks.push_back({"damping, that the data were made with [N s/m^1.5]",
                              ours.theta(), made_with, 4 * ours.sd(),
                              "four standard deviations"});
    outcome.checks.push_back({"rms over that of Hunt–Crossley, below 1",
                              ours.rms() / classic.rms(), 0.5, 0.5, "fig. 5"});
  }
  if (with_figure) outcome.figures = {draw(values, points)};
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
