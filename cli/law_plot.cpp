#include "cli/law_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>

#include "bristle/laws/catalogue.hpp"
#include "cli/exit.hpp"
#include "cli/text.hpp"
#include "report/figure.hpp"

namespace bristle::cli {

namespace {

using report::Curve;
using report::Figure;
using report::Panel;

constexpr std::array impact_parameters{
    Parameter{"mass", "m", "kg", above(0, 1e9), 0.154, "mass that hits a fixed body"},
    Parameter{"speed", "v", "m/s", above(0, 1e5), 1, "impact speed"}};
constexpr std::array slide_parameters{
    Parameter{"normal_force", "f_n", "N", above(0, 1e9), 10, "constant load"},
    Parameter{"depth", "δ", "m", above(0, 1), 1e-4, "constant depth"}};

struct Plotted {
  const LawEntry* law;
  std::vector<double> values;
  Punch punch;  // under a volumetric law

  std::span<const double> own() const {
    return std::span(values).first(law->parameters.size());
  }
  double extra(std::size_t i) const { return values[law->parameters.size() + i]; }
  std::string label() const { return std::string(law->info.name); }
  /// The value of a parameter of the law, or a stand-in when it has none of that name.
  double parameter(std::string_view name, double otherwise) const {
    for (std::size_t i = 0; i < law->parameters.size(); ++i) {
      if (law->parameters[i].name == name) return values[i];
    }
    return otherwise;
  }
};

// Normal laws

Panel loop_panel(const std::vector<Plotted>& laws) {
  Panel panel{"Force–depth loop of one impact", "depth δ [mm]", "normal force [N]", {}};
  for (const Plotted& p : laws) {
    std::vector<ImpactSample> trace;
    if (!p.law->impact(p.own(), p.extra(0), p.extra(1), &trace, p.punch)) continue;
    Curve curve{p.label(), {}, {}};
    for (const ImpactSample& s : trace) {
      curve.x.push_back(1e3 * s.depth);
      curve.y.push_back(s.force);
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

Panel restitution_panel(const std::vector<Plotted>& laws, bool log) {
  Panel panel{log ? "Restitution, logarithmic speed" : "Restitution against impact speed",
              "impact speed [m/s]",
              "restitution e",
              {}};
  panel.log_x = log;
  for (const Plotted& p : laws) {
    Curve curve{p.label(), {}, {}};
    const double top = 5 * p.extra(1);
    constexpr int points = 60;
    for (int i = 0; i <= points; ++i) {
      const double part = static_cast<double>(i) / points;
      const double speed =
          log ? top * std::pow(10.0, 4 * (part - 1)) : std::max(1e-3 * top, part * top);
      const auto report = p.law->impact(p.own(), p.extra(0), speed, nullptr, p.punch);
      if (!report) continue;
      curve.x.push_back(speed);
      curve.y.push_back(report->restitution);
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

// Friction laws

Panel slip_panel(const std::vector<Plotted>& laws) {
  Panel panel{
      "Settled friction against slip", "slip speed [m/s]", "friction over load", {}};
  panel.log_x = true;
  for (const Plotted& p : laws) {
    Curve curve{p.label(), {}, {}};
    const double scale = p.parameter("stribeck_speed", 0.01);
    constexpr int points = 160;
    for (int i = 0; i <= points; ++i) {
      const double speed = scale * std::pow(10.0, -3 + 5.0 * i / points);
      curve.x.push_back(speed);
      curve.y.push_back(p.law->steady_resistance(p.own(), speed, p.extra(0), p.extra(1)) /
                        p.extra(0));
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

/// A slow to-and-fro motion large enough to break away.
SlideProgram reciprocation(const Plotted& p, double amplitude, double period,
                           int cycles) {
  SlideProgram program;
  program.normal_force = p.extra(0);
  program.depth = p.extra(1);
  constexpr int steps_per_cycle = 4000;
  const double step = period / steps_per_cycle;
  const double omega = 2 * std::numbers::pi / period;
  for (int i = 0; i < cycles * steps_per_cycle; ++i) {
    program.steps.push_back(
        {step, amplitude * omega * std::cos(omega * step * (i + 0.5))});
  }
  return program;
}

/// Displacement at which a load of about one times the normal force bends the contact.
double bending_length(const Plotted& p) {
  const double slow = 1e-6 * p.parameter("stribeck_speed", 0.01);
  SlideProgram probe;
  probe.normal_force = p.extra(0);
  probe.depth = p.extra(1);
  // Pull slowly, in growing steps, until the resistance is a tenth of the load.
  for (double step = 1e-6; step < 1e6; step *= 1.05) probe.steps.push_back({step, slow});
  for (const SlideSample& s : p.law->slide(p.own(), probe)) {
    if (s.resistance > 0.1 * p.extra(0)) return 10 * s.displacement;
  }
  return p.parameter("stribeck_speed", 0.01);  // no memory: wide enough to slide
}

Panel displacement_panel(const std::vector<Plotted>& laws) {
  Panel panel{"Friction against displacement, to and fro",
              "displacement [µm]",
              "friction over load",
              {}};
  for (const Plotted& p : laws) {
    Curve curve{p.label(), {}, {}};
    const double amplitude = 1.5 * bending_length(p);
    for (const SlideSample& s :
         p.law->slide(p.own(), reciprocation(p, amplitude, 10, 2))) {
      curve.x.push_back(1e6 * s.displacement);
      curve.y.push_back(s.resistance / p.extra(0));
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

/// Largest resistance when sliding starts after a rest of a given time.
Panel dwell_panel(const std::vector<Plotted>& laws) {
  Panel panel{
      "Break-away after a rest", "time at rest [s]", "largest friction over load", {}};
  panel.log_x = true;
  for (const Plotted& p : laws) {
    Curve curve{p.label(), {}, {}};
    const double v = 0.2 * p.parameter("stribeck_speed", 0.01);
    const double dwell = p.parameter("dwell_time", 1);
    const double reach = bending_length(p);
    for (int i = 0; i <= 40; ++i) {
      const double rest = dwell * std::pow(10.0, -2 + 4.0 * i / 40);
      SlideProgram program;
      program.normal_force = p.extra(0);
      program.depth = p.extra(1);
      // Slide fast to break the contact, rest, then pull until it breaks away.
      constexpr std::size_t steps = 400;
      program.hold(50 * v, 100 * reach / v, static_cast<int>(steps));
      program.hold(0, rest, static_cast<int>(steps));
      program.hold(v, 1.3 * reach / v, static_cast<int>(steps));
      const auto samples = p.law->slide(p.own(), program);
      double peak = 0;
      for (std::size_t k = 2 * steps; k < samples.size(); ++k) {
        peak = std::max(peak, samples[k].resistance);
      }
      curve.x.push_back(rest);
      curve.y.push_back(peak / p.extra(0));
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

std::string joined_titles(const std::vector<Plotted>& laws) {
  std::string text;
  for (const Plotted& p : laws) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", p.law->info.title);
  }
  return text;
}

}  // namespace

int plot_laws(const std::vector<std::string>& names, const Settings& settings,
              const Punch& punch, const std::string& output) {
  if (!report::is_figure_name(output)) {
    return fail(
        fmt::format("-o {}: give a file name that ends in .svg, .html or .png", output));
  }
  std::vector<Plotted> laws;
  SettingsFor several(settings);
  for (const std::string& name : names) {
    const auto law = find_law(name);
    if (!law) return fail(law.error());
    if (!laws.empty() && laws.front().law->family != (*law)->family) {
      return fail("plot normal laws or friction laws, not both in one figure");
    }
    std::vector<Parameter> parameters = (*law)->parameters;
    const bool normal = (*law)->family == LawFamily::normal;
    const std::span<const Parameter> extra =
        normal ? std::span<const Parameter>(impact_parameters) : slide_parameters;
    parameters.insert(parameters.end(), extra.begin(), extra.end());
    const auto values = several.apply(parameters, name);
    if (!values) return fail(values.error());
    laws.push_back({*law, *values, punch});
  }
  if (const std::string problem = several.unused(); !problem.empty())
    return fail(problem);

  Figure figure;
  const Plotted& first = laws.front();
  if (first.law->family == LawFamily::normal) {
    figure.note = fmt::format("{:g} kg at {:g} m/s against a fixed body, no gravity",
                              first.extra(0), first.extra(1));
    figure.panels = {loop_panel(laws), restitution_panel(laws, false),
                     restitution_panel(laws, true)};
    figure.columns = 3;
  } else {
    figure.note =
        fmt::format("load {:g} N, depth {:g} m", first.extra(0), first.extra(1));
    figure.panels = {slip_panel(laws), displacement_panel(laws)};
    std::vector<Plotted> dwelling;
    for (const Plotted& p : laws) {
      if (p.parameter("dwell_time", -1) > 0) dwelling.push_back(p);
    }
    if (!dwelling.empty()) figure.panels.push_back(dwell_panel(dwelling));
    figure.columns = static_cast<int>(figure.panels.size());
  }
  figure.title = joined_titles(laws);
  if (!report::write_figure(figure, output)) {
    return fail(fmt::format("cannot write {}", output), cannot_go_on);
  }
  fmt::print("Plot: {}\n", output);
  return fine;
}

}  // namespace bristle::cli
