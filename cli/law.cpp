#include "cli/law.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "bristle/laws/catalogue.hpp"
#include "cli/exit.hpp"
#include "cli/law_plot.hpp"
#include "report/figure.hpp"

namespace bristle::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The impact's own parameters, beside those of the law.
constexpr std::array impact_parameters{
    Parameter{"mass", "m", "kg", above(0, 1e9), 0.154, "mass that hits a fixed body"},
    Parameter{"speed", "v", "m/s", above(0, 1e5), 1, "impact speed"}};

int fail(const std::string& message, int status = bad_input) {
  fmt::print(stderr, "bristle: {}\n", message);
  return status;
}

std::string_view family_name(LawFamily family) {
  return family == LawFamily::normal ? "normal" : "friction";
}

std::string range_text(const Parameter& p) {
  if (p.is_flag()) return "true or false";
  if (p.is_choice()) return choice_names(p);
  return fmt::format("{}{:g}, {:g}]", p.range.open_low ? "(" : "[", p.range.low,
                     p.range.high);
}

std::string value_text(const Parameter& p, double value) {
  if (p.is_flag()) return value != 0 ? "true" : "false";
  if (p.is_choice()) return std::string(p.choices[static_cast<std::size_t>(value)]);
  return fmt::format("{:g}", value);
}

Json value_json(const Parameter& p, double value) {
  if (p.is_flag()) return value != 0;
  if (p.is_choice()) return p.choices[static_cast<std::size_t>(value)];
  return value;
}

/// Characters as a reader counts them, for columns with Greek letters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text) +
         std::string(width > width_of(text) ? width - width_of(text) : 0, ' ');
}

void print_wrapped(std::string_view head, std::string_view text) {
  constexpr std::size_t indent = 10;
  constexpr std::size_t limit = 92;
  std::string line = padded(head, indent);
  std::size_t used = indent;
  const auto flush = [&] {
    fmt::print("{}\n", line);
    line = std::string(indent, ' ');
    used = indent;
  };
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (used > indent && used + 1 + width_of(word) > limit) flush();
    if (used > indent) line += ' ', ++used;
    line += word;
    used += width_of(word);
    if (end < text.size() && text[end] == '\n') flush();
    at = end + 1;
  }
  flush();
}

// bristle law list

int list_laws(bool json) {
  if (json) {
    Json laws = Json::array();
    for (const LawEntry& law : catalogue()) {
      laws.push_back({{"name", law.info.name},
                      {"family", family_name(law.family)},
                      {"title", law.info.title},
                      {"formula", law.info.formula}});
    }
    fmt::print("{}\n", Json{{"laws", laws}}.dump(2));
    return fine;
  }
  for (const LawFamily family : {LawFamily::normal, LawFamily::friction}) {
    fmt::print("{} laws\n", family == LawFamily::normal ? "Normal" : "Friction");
    for (const LawEntry& law : catalogue()) {
      if (law.family == family) {
        fmt::print("  {} {}\n", padded(law.info.name, 26), law.info.title);
      }
    }
  }
  fmt::print(
      "\n`bristle law show NAME` gives the formula and the parameters of one law.\n");
  return fine;
}

// bristle law show

Json to_json(const LawEntry& law) {
  Json parameters = Json::array();
  for (const Parameter& p : law.parameters) {
    parameters.push_back({{"name", p.name},
                          {"symbol", p.symbol},
                          {"unit", p.unit},
                          {"default", value_json(p, p.preset)},
                          {"low", p.range.low},
                          {"high", p.range.high},
                          {"low_is_open", p.range.open_low},
                          {"meaning", p.meaning}});
    if (p.is_choice()) {
      const auto names = std::span(p.choices).first(p.choice_count());
      parameters.back()["choices"] =
          std::vector<std::string_view>(names.begin(), names.end());
    }
  }
  Json state = Json::array();
  for (const StateField& s : law.state) {
    state.push_back({{"name", s.name},
                     {"symbol", s.symbol},
                     {"unit", s.unit},
                     {"meaning", s.meaning}});
  }
  return {{"name", law.info.name},
          {"family", family_name(law.family)},
          {"title", law.info.title},
          {"formula", law.info.formula},
          {"source", law.info.source},
          {"limits", law.info.limits},
          {"energy", law.info.energy},
          {"parameters", parameters},
          {"state", state},
          {"guards", law.guards}};
}

int show_law(const std::string& name, bool json) {
  const auto found = find_law(name);
  if (!found) return fail(found.error());
  const LawEntry& law = **found;
  if (json) {
    fmt::print("{}\n", to_json(law).dump(2));
    return fine;
  }
  fmt::print("{}  ({} law)\n{}\n\n", law.info.name, family_name(law.family),
             law.info.title);
  print_wrapped("formula", law.info.formula);
  fmt::print("\nparameters\n");
  std::size_t names = 0;
  std::size_t units = 0;
  for (const Parameter& p : law.parameters) {
    names = std::max(names, width_of(p.name));
    units = std::max(units, width_of(p.unit));
  }
  for (const Parameter& p : law.parameters) {
    fmt::print("  {} {} {} = {} in {}  {}\n", padded(p.name, names), padded(p.symbol, 5),
               padded(p.is_flag() || p.is_choice() || p.unit == "1" ? "" : p.unit, units),
               padded(value_text(p, p.preset), 9), padded(range_text(p), 16), p.meaning);
  }
  if (!law.state.empty()) {
    fmt::print("\nmemory\n");
    for (const StateField& s : law.state) {
      fmt::print("  {} {} {}  {}\n", padded(s.name, names), padded(s.symbol, 5),
                 padded(s.unit == "1" ? "" : s.unit, units), s.meaning);
    }
  }
  fmt::print("\n");
  print_wrapped("limits", law.info.limits);
  print_wrapped("energy", law.info.energy);
  print_wrapped("source", law.info.source);
  return fine;
}

// bristle law impact, bristle law compare

struct ImpactRun {
  const LawEntry* law;
  std::vector<Parameter> parameters;  // of the law, then of the impact
  std::vector<double> values;
  ImpactReport report;
  std::vector<ImpactSample> trace;

  double mass() const { return values[values.size() - 2]; }
  double speed() const { return values.back(); }
};

Json results_json(const ImpactReport& r) {
  return {
      {"restitution", r.restitution},          {"peak_force_N", r.peak_force},
      {"peak_depth_m", r.peak_depth},          {"depth_at_release_m", r.depth_at_release},
      {"contact_time_s", r.contact_time},      {"loop_area_J", r.loop_area},
      {"energy_residual_J", r.energy_residual}};
}

Json to_json(const ImpactRun& run) {
  Json parameters;
  for (std::size_t i = 0; i < run.parameters.size(); ++i) {
    parameters[std::string(run.parameters[i].name)] =
        value_json(run.parameters[i], run.values[i]);
  }
  return {{"law", run.law->info.name},
          {"parameters", parameters},
          {"results", results_json(run.report)}};
}

/// Parameters that an impact under this law takes.
std::vector<Parameter> with_impact(const LawEntry& law) {
  std::vector<Parameter> parameters = law.parameters;
  parameters.insert(parameters.end(), impact_parameters.begin(), impact_parameters.end());
  return parameters;
}

Result<ImpactRun> run_impact(const LawEntry& law, const std::vector<double>& values) {
  ImpactRun run{&law, with_impact(law), values, {}, {}};
  const std::size_t own = law.parameters.size();
  auto report =
      law.impact(std::span(values).first(own), run.mass(), run.speed(), &run.trace);
  if (!report) return Error{fmt::format("{}: {}", law.info.name, report.error())};
  run.report = *report;
  return run;
}

Result<const LawEntry*> find_normal_law(const std::string& name) {
  auto found = find_law(name);
  if (!found || (*found)->impact != nullptr) return found;
  std::vector<std::string_view> normal;
  for (const LawEntry& law : catalogue()) {
    if (law.impact != nullptr) normal.push_back(law.info.name);
  }
  return Error{fmt::format("\"{}\" is a friction law; an impact needs a normal law: {}",
                           name, fmt::join(normal, ", "))};
}

int show_impact(const std::string& name, const Settings& settings, bool json) {
  const auto law = find_normal_law(name);
  if (!law) return fail(law.error());
  const auto values = apply_settings(with_impact(**law), settings, name);
  if (!values) return fail(values.error());
  const auto run = run_impact(**law, *values);
  if (!run) return fail(run.error(), cannot_go_on);
  if (json) {
    fmt::print("{}\n", to_json(*run).dump(2));
    return fine;
  }
  fmt::print("{}: one central impact, no gravity\n\n", (*law)->info.title);
  for (std::size_t i = 0; i < run->parameters.size(); ++i) {
    const Parameter& p = run->parameters[i];
    fmt::print("  {} {} {}\n", padded(p.name, 20),
               padded(value_text(p, run->values[i]), 12),
               p.unit == "1" || p.is_flag() || p.is_choice() ? "" : p.unit);
  }
  fmt::print("\n");
  const Json results = results_json(run->report);
  for (const auto& [key, value] : results.items()) {
    fmt::print("  {} {:.9g}\n", padded(key, 20), value.get<double>());
  }
  return fine;
}

report::Figure impact_figure(const std::vector<ImpactRun>& runs) {
  report::Panel loop{"Force against depth", "depth δ [mm]", "normal force [N]", {}};
  report::Panel time{
      "Force against time", "time since touch-down [ms]", "normal force [N]", {}};
  report::Panel rate{"Speed against depth", "depth δ [mm]", "approach speed δ̇ [m/s]", {}};
  for (const ImpactRun& run : runs) {
    const std::string label(run.law->info.name);
    report::Curve a{label, {}, {}};
    report::Curve b{label, {}, {}};
    report::Curve c{label, {}, {}};
    for (const ImpactSample& s : run.trace) {
      a.x.push_back(1e3 * s.depth);
      a.y.push_back(s.force);
      b.x.push_back(1e3 * s.time);
      b.y.push_back(s.force);
      c.x.push_back(1e3 * s.depth);
      c.y.push_back(s.rate);
    }
    loop.curves.push_back(a);
    time.curves.push_back(b);
    rate.curves.push_back(c);
  }
  return {"One impact under each law",
          fmt::format("{:g} kg at {:g} m/s against a fixed body, no gravity",
                      runs.front().mass(), runs.front().speed()),
          {loop, time, rate},
          3};
}

int compare_laws(const std::vector<std::string>& names, const Settings& settings,
                 bool json, const std::string& output) {
  std::vector<const LawEntry*> laws;
  for (const std::string& name : names) {
    const auto law = find_normal_law(name);
    if (!law) return fail(law.error());
    laws.push_back(*law);
  }
  if (laws.empty()) {
    for (const LawEntry& law : catalogue()) {
      if (law.impact != nullptr) laws.push_back(&law);
    }
  }
  SettingsFor several(settings);
  std::vector<ImpactRun> runs;
  for (const LawEntry* law : laws) {
    const auto values = several.apply(with_impact(*law), law->info.name);
    if (!values) return fail(values.error());
    auto run = run_impact(*law, *values);
    if (!run) return fail(run.error(), cannot_go_on);
    runs.push_back(std::move(*run));
  }
  if (const std::string problem = several.unused(); !problem.empty())
    return fail(problem);
  if (json) {
    Json all = Json::array();
    for (const ImpactRun& run : runs) all.push_back(to_json(run));
    fmt::print("{}\n", Json{{"impacts", all}}.dump(2));
  } else {
    fmt::print("One impact of {:g} kg at {:g} m/s against a fixed body, no gravity\n\n",
               runs.front().mass(), runs.front().speed());
    std::size_t width = 20;
    for (const ImpactRun& run : runs) {
      width = std::max(width, width_of(run.law->info.name));
    }
    fmt::print("{}  restitution  peak force   peak depth   contact time  energy lost\n",
               padded("law", width));
    for (const ImpactRun& run : runs) {
      const ImpactReport& r = run.report;
      fmt::print("{}  {:11.6f}  {:8.4g} N  {:8.4g} mm  {:9.4g} ms  {:9.4g} J\n",
                 padded(run.law->info.name, width), r.restitution, r.peak_force,
                 1e3 * r.peak_depth, 1e3 * r.contact_time, r.loop_area);
    }
  }
  if (!output.empty()) {
    if (!report::write_figure(impact_figure(runs), output)) {
      return fail(fmt::format("cannot write {}", output));
    }
    if (!json) fmt::print("\nPlot: {}\n", output);
  }
  return fine;
}

}  // namespace

void add_law_commands(CLI::App& app, int& status) {
  CLI::App* law = app.add_subcommand("law", "List, explain and try contact laws");
  law->require_subcommand(1);
  law->footer(
      "Examples:\n"
      "  bristle law list\n"
      "  bristle law show gonthier\n"
      "  bristle law impact gonthier --set restitution=0.3 --set speed=2\n"
      "  bristle law compare hunt-crossley gonthier -o out/impact.svg\n"
      "  bristle law plot gonthier-friction -o out/friction.svg");

  struct Options {
    std::string name;
    std::vector<std::string> names;
    Settings settings;
    bool json = false;
    std::string output;
  };
  const auto options = std::make_shared<Options>();
  const auto with_json = [options](CLI::App* command) {
    command->add_flag("--json", options->json, "Print JSON and nothing else");
  };
  const auto with_set = [options](CLI::App* command) {
    command->add_option("--set", options->settings, "name=value, any number of times")
        ->type_name("NAME=VALUE");
  };

  CLI::App* list = law->add_subcommand("list", "All laws by name");
  with_json(list);
  list->callback([options, &status] { status = list_laws(options->json); });

  CLI::App* show =
      law->add_subcommand("show", "Formula, parameters, limits, source of a law");
  show->add_option("NAME", options->name, "A law's name")->required();
  with_json(show);
  show->callback([options, &status] { status = show_law(options->name, options->json); });

  CLI::App* impact = law->add_subcommand(
      "impact",
      "One central impact without gravity: restitution, peak force, contact time");
  impact->add_option("NAME", options->name, "A normal law's name")->required();
  with_set(impact);
  with_json(impact);
  impact->callback([options, &status] {
    status = show_impact(options->name, options->settings, options->json);
  });
  impact->footer(
      "Besides the law's own parameters, mass [kg] and speed [m/s] can be set.\n"
      "Example:  bristle law impact gonthier --set restitution=0.3 --set speed=2 --json");

  CLI::App* compare = law->add_subcommand(
      "compare", "The same impact under several laws, as a table and a plot");
  compare->add_option("NAMES", options->names, "Normal laws; all when left out");
  with_set(compare);
  with_json(compare);
  compare->add_option("-o,--output", options->output, "Write a plot to this .svg file");
  compare->callback([options, &status] {
    status =
        compare_laws(options->names, options->settings, options->json, options->output);
  });

  CLI::App* plot =
      law->add_subcommand("plot", "Figures of one or several laws of one family");
  plot->add_option("NAMES", options->names, "Laws, separated by commas or spaces")
      ->required()
      ->delimiter(',');
  with_set(plot);
  plot->add_option("-o,--output", options->output, "File to write, .svg or .html")
      ->required();
  plot->callback([options, &status] {
    status = plot_laws(options->names, options->settings, options->output);
  });
  plot->footer(
      "Normal laws: force against depth, restitution against speed. Friction laws: "
      "friction\n"
      "against slip and displacement, break-away after a rest.\n"
      "Besides the laws' parameters: mass, speed; or normal_force, depth.\n"
      "Example:  bristle law plot hunt-crossley,gonthier --set speed=2 -o out/laws.svg");
}

}  // namespace bristle::cli
