#include "cli/impact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "bristle/laws/catalogue.hpp"
#include "bristle/laws/restitution.hpp"
#include "cli/bodies.hpp"
#include "cli/text.hpp"
#include "report/figure.hpp"

namespace bristle::cli {

namespace {

/// The impact's own parameters, beside those of the law.
constexpr std::array impact_parameters{
    Parameter{"mass", "m", "kg", above(0, 1e9), 0.154, "mass that hits a fixed body"},
    Parameter{"speed", "v", "m/s", above(0, 1e5), 1, "impact speed"}};

struct ImpactRun {
  const LawEntry* law;
  std::vector<Parameter> parameters;  // of the law, then of the impact
  std::vector<double> values;
  Punch punch;                       // under a volumetric law
  std::optional<std::size_t> tuned;  // which of them was found for a restitution
  ImpactReport report;
  std::vector<ImpactSample> trace;

  double mass() const { return values[values.size() - 2]; }
  double speed() const { return values.back(); }
  std::span<const double> own() const {
    return std::span(values).first(law->parameters.size());
  }
};

/// Parameters that an impact under this law takes; the mass is the bodies' where there
/// are any.
std::vector<Parameter> with_impact(const LawEntry& law,
                                   const std::optional<Bodies>& bodies) {
  std::vector<Parameter> parameters = law.parameters;
  parameters.insert(parameters.end(), impact_parameters.begin(), impact_parameters.end());
  if (bodies) parameters[parameters.size() - 2].preset = bodies->mass;
  return parameters;
}

std::optional<std::size_t> index_of(const std::vector<Parameter>& parameters,
                                    std::string_view name) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return i;
  }
  return {};
}

bool is_set(const Settings& settings, std::string_view name) {
  return std::any_of(settings.begin(), settings.end(), [name](const std::string& s) {
    return std::string_view(s).substr(0, s.find('=')) == name;
  });
}

/// Stiffness from the bodies and damping from the restitution, where these are asked for.
Result<ImpactRun> prepare(const LawEntry& law, const std::vector<double>& values,
                          const ImpactWish& wish, const std::optional<Bodies>& bodies) {
  const auto punch = read_punch(wish.shape, wish.radius);
  if (!punch) return Error{punch.error()};
  ImpactRun run{&law, with_impact(law, bodies), values, *punch, {}, {}, {}};
  if (bodies && !is_set(wish.settings, "stiffness")) {
    const auto k = equivalent_stiffness(law, run.own(), bodies->stiffness, run.mass(),
                                        run.speed(), run.punch);
    if (!k) return Error{k.error()};
    if (const auto i = index_of(law.parameters, "stiffness")) run.values[*i] = *k;
  }
  if (wish.restitution) {
    const auto tuned = parameters_for_restitution(law, run.own(), *wish.restitution,
                                                  run.mass(), run.speed(), run.punch);
    if (!tuned) return Error{tuned.error()};
    std::copy(tuned->begin(), tuned->end(), run.values.begin());
    run.tuned = index_of(law.parameters, law.damping_parameter);
  }
  return run;
}

Result<ImpactRun> run_impact(ImpactRun run) {
  auto report =
      run.law->impact(run.own(), run.mass(), run.speed(), &run.trace, run.punch);
  if (!report) return Error{fmt::format("{}: {}", run.law->info.name, report.error())};
  run.report = *report;
  return run;
}

/// A parameter cannot be both set and tuned.
std::string set_and_tuned(const LawEntry& law, const ImpactWish& wish) {
  if (!wish.restitution || law.damping_parameter.empty() ||
      !is_set(wish.settings, law.damping_parameter)) {
    return {};
  }
  return fmt::format("{}: --restitution tunes {}; leave out --set {}=…", law.info.name,
                     law.damping_parameter, law.damping_parameter);
}

std::string wrong_restitution(const ImpactWish& wish) {
  if (!wish.restitution || (*wish.restitution > 0 && *wish.restitution <= 1)) return {};
  return fmt::format("--restitution {:g} must lie in (0, 1]", *wish.restitution);
}

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
  Json json{{"law", run.law->info.name}, {"parameters", parameters}};
  if (run.tuned) {
    const Parameter& p = run.parameters[*run.tuned];
    json["tuned"] = {
        {"name", p.name}, {"value", run.values[*run.tuned]}, {"unit", p.unit}};
  }
  if (run.law->volumetric) {
    json["shape"] = run.punch.kind == Punch::Kind::flat ? "flat" : "sphere";
    json["radius_m"] = run.punch.radius;
  }
  json["results"] = results_json(run.report);
  return json;
}

void add_wish(Json& json, const ImpactWish& wish, const std::optional<Bodies>& bodies) {
  if (wish.restitution) json["restitution_asked"] = *wish.restitution;
  if (bodies) json["bodies"] = bodies->json();
}

Result<const LawEntry*> find_normal_law(const std::string& name) {
  auto found = find_law(name);
  if (!found || (*found)->impact_function != nullptr) return found;
  std::vector<std::string_view> normal;
  for (const LawEntry& law : catalogue()) {
    if (law.impact_function != nullptr) normal.push_back(law.info.name);
  }
  return Error{fmt::format("\"{}\" is a friction law; an impact needs a normal law: {}",
                           name, fmt::join(normal, ", "))};
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

/// The bodies whose materials are named; where all laws are volumetric, a radius alone is
/// that of the patch.
Result<std::optional<Bodies>> bodies_for(std::span<const LawEntry* const> laws,
                                         const ImpactWish& wish) {
  const bool patch = std::all_of(laws.begin(), laws.end(),
                                 [](const LawEntry* law) { return law->volumetric; });
  if (patch && wish.materials.empty() && !wish.radius2) return std::optional<Bodies>{};
  return read_bodies(wish.materials, wish.radius, wish.radius2);
}

/// A law that has no answer, and why.
struct Silent {
  const LawEntry* law;
  std::string reason;
};

void print_table(const std::vector<ImpactRun>& runs, const std::vector<Silent>& silent,
                 const ImpactWish& wish, const std::optional<Bodies>& bodies) {
  fmt::print("One impact of {:g} kg at {:g} m/s against a fixed body, no gravity\n",
             runs.front().mass(), runs.front().speed());
  if (bodies) fmt::print("{}\n", bodies->text());
  if (wish.restitution) fmt::print("Each law tuned to return {:g}\n", *wish.restitution);

  std::vector<std::string> tuned;
  std::size_t names = 20;
  std::size_t width = 0;
  for (const ImpactRun& run : runs) {
    names = std::max(names, width_of(run.law->info.name));
    tuned.emplace_back();
    if (run.tuned) {
      const Parameter& p = run.parameters[*run.tuned];
      tuned.back() =
          fmt::format("{} = {:.6g} {}", p.name, run.values[*run.tuned], unit_text(p));
    } else if (wish.restitution) {
      tuned.back() = "nothing to tune";
    }
    width = std::max(width, width_of(tuned.back()) + 2);
  }
  fmt::print("\n{}  {}restitution  peak force   peak depth   contact time  energy lost\n",
             padded("law", names), wish.restitution ? padded("tuned", width) : "");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ImpactReport& r = runs[i].report;
    fmt::print("{}  {}{:11.6f}  {:8.4g} N  {:8.4g} mm  {:9.4g} ms  {:9.4g} J\n",
               padded(runs[i].law->info.name, names),
               wish.restitution ? padded(tuned[i], width) : "", r.restitution,
               r.peak_force, 1e3 * r.peak_depth, 1e3 * r.contact_time, r.loop_area);
  }
  if (!silent.empty()) fmt::print("\nLaws that cannot return it\n");
  for (const Silent& s : silent) fmt::print("  {}\n", s.reason);
}

}  // namespace

Result<Punch> read_punch(const std::string& shape, std::optional<double> radius) {
  Punch punch{Punch::Kind::sphere, radius.value_or(0.01)};
  if (shape == "flat") {
    punch.kind = Punch::Kind::flat;
  } else if (shape != "sphere") {
    return Error{fmt::format("--shape {}: must be sphere or flat", shape)};
  }
  if (!(punch.radius > 0 && punch.radius <= 1e6)) {
    return Error{fmt::format("--radius {:g} must lie in (0, 1e+06] m", punch.radius)};
  }
  return punch;
}

int show_impact(const std::string& name, const ImpactWish& wish) {
  const auto law = find_normal_law(name);
  if (!law) return fail(law.error());
  const auto bodies = bodies_for({&*law, 1}, wish);
  if (!bodies) return fail(bodies.error());
  for (const std::string& problem :
       {wrong_restitution(wish), set_and_tuned(**law, wish)}) {
    if (!problem.empty()) return fail(problem);
  }
  const auto values = apply_settings(with_impact(**law, *bodies), wish.settings, name);
  if (!values) return fail(values.error());
  auto prepared = prepare(**law, *values, wish, *bodies);
  if (!prepared) return fail(prepared.error());
  const auto run = run_impact(std::move(*prepared));
  if (!run) return fail(run.error(), cannot_go_on);
  if (wish.json) {
    Json json = to_json(*run);
    add_wish(json, wish, *bodies);
    fmt::print("{}\n", json.dump(2));
    return fine;
  }
  fmt::print("{}: one central impact, no gravity\n", (*law)->info.title);
  if (const std::optional<Bodies>& b = *bodies) fmt::print("{}\n", b->text());
  if ((*law)->volumetric) {
    fmt::print("{} of radius {:g} m\n",
               run->punch.kind == Punch::Kind::flat ? "flat punch" : "sphere",
               run->punch.radius);
  }
  fmt::print("\n");
  for (std::size_t i = 0; i < run->parameters.size(); ++i) {
    const Parameter& p = run->parameters[i];
    fmt::print("  {} {} {}{}\n", padded(p.name, 20),
               padded(value_text(p, run->values[i]), 12), unit_text(p),
               run->tuned == i ? "  (tuned)" : "");
  }
  fmt::print("\n");
  const Json results = results_json(run->report);
  for (const auto& [key, value] : results.items()) {
    fmt::print("  {} {:.9g}\n", padded(key, 20), value.get<double>());
  }
  return fine;
}

int compare_laws(const std::vector<std::string>& names, const ImpactWish& wish,
                 const std::string& output) {
  if (!output.empty() && !report::is_figure_name(output)) {
    return fail(
        fmt::format("-o {}: give a file name that ends in .svg, .html or .png", output));
  }
  std::vector<const LawEntry*> laws;
  for (const std::string& name : names) {
    const auto law = find_normal_law(name);
    if (!law) return fail(law.error());
    laws.push_back(*law);
  }
  if (laws.empty()) {
    for (const LawEntry& law : catalogue()) {
      if (law.impact_function != nullptr) laws.push_back(&law);
    }
  }
  const auto bodies = bodies_for(laws, wish);
  if (!bodies) return fail(bodies.error());
  if (const std::string problem = wrong_restitution(wish); !problem.empty())
    return fail(problem);

  SettingsFor several(wish.settings);
  std::vector<std::vector<double>> values;
  for (const LawEntry* law : laws) {
    const auto of_law = several.apply(with_impact(*law, *bodies), law->info.name);
    if (!of_law) return fail(of_law.error());
    values.push_back(*of_law);
    if (const std::string problem = set_and_tuned(*law, wish); !problem.empty())
      return fail(problem);
  }
  if (const std::string problem = several.unused(); !problem.empty())
    return fail(problem);

  std::vector<ImpactRun> runs;
  std::vector<Silent> silent;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    auto prepared = prepare(*laws[i], values[i], wish, *bodies);
    if (!prepared) {
      silent.push_back({laws[i], prepared.error()});
      continue;
    }
    auto run = run_impact(std::move(*prepared));
    if (!run) return fail(run.error(), cannot_go_on);
    runs.push_back(std::move(*run));
  }
  if (runs.empty()) {
    std::string reasons = "no law can do it";
    for (const Silent& s : silent) reasons += "\n  " + s.reason;
    return fail(reasons);
  }

  if (wish.json) {
    Json all = Json::array();
    for (const ImpactRun& run : runs) all.push_back(to_json(run));
    Json json{{"impacts", all}};
    if (wish.restitution || *bodies) {
      Json cannot = Json::array();
      for (const Silent& s : silent) {
        cannot.push_back({{"law", s.law->info.name}, {"reason", s.reason}});
      }
      json["without_answer"] = cannot;
    }
    add_wish(json, wish, *bodies);
    fmt::print("{}\n", json.dump(2));
  } else {
    print_table(runs, silent, wish, *bodies);
  }
  if (!output.empty()) {
    if (!report::write_figure(impact_figure(runs), output)) {
      return fail(fmt::format("cannot write {}", output), cannot_go_on);
    }
    if (!wish.json) fmt::print("\nPlot: {}\n", output);
  }
  return fine;
}

}  // namespace bristle::cli
