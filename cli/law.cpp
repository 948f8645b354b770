#include "cli/law.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "bristle/laws/catalogue.hpp"
#include "cli/exit.hpp"
#include "cli/impact.hpp"
#include "cli/law_plot.hpp"
#include "cli/text.hpp"

namespace bristle::cli {

namespace {

std::string_view family_name(LawFamily family) {
  return family == LawFamily::normal ? "normal" : "friction";
}

std::string_view role_name(GuardRole role) {
  switch (role) {
    case GuardRole::clamp:
      return "clamp";
    case GuardRole::slip:
      return "slip";
    case GuardRole::branch:
      return "branch";
    case GuardRole::bound:
      return "bound";
    case GuardRole::drift:
      return "drift";
  }
  return "branch";
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
  Json guards = Json::array(), roles = Json::array();
  for (const GuardInfo& guard : law.guards) {
    guards.push_back(guard.name);
    roles.push_back(role_name(guard.role));
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
          {"guards", guards},
          {"guard_roles", roles}};
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
               padded(unit_text(p), units), padded(value_text(p, p.preset), 9),
               padded(range_text(p), 16), p.meaning);
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
    ImpactWish wish;
    bool json = false;
    std::string output;
  };
  const auto options = std::make_shared<Options>();
  const auto with_json = [options](CLI::App* command) {
    command->add_flag("--json", options->json, "Print JSON and nothing else");
  };
  const auto with_set = [options](CLI::App* command) {
    command
        ->add_option("--set", options->wish.settings, "name=value, any number of times")
        ->type_name("NAME=VALUE");
  };
  const auto with_shape = [options](CLI::App* command) {
    command
        ->add_option("--shape", options->wish.shape,
                     "Shape that hits, under a volumetric law: sphere or flat")
        ->type_name("SHAPE");
  };
  const auto with_wish = [options, with_set, with_shape](CLI::App* command) {
    ImpactWish& wish = options->wish;
    with_set(command);
    command->add_option("--restitution", wish.restitution,
                        "Tune the law's damping to return this, in (0, 1]");
    command
        ->add_option("--materials", wish.materials,
                     "Stiffness and mass from materials: the ball's, then the other's")
        ->type_name("A,B");
    command->add_option("--radius,--radius_m", wish.radius,
                        "Radius of the ball, or of the shape under a volumetric law [m]");
    command->add_option("--radius2,--radius2_m", wish.radius2,
                        "Radius of the other body [m]; flat when left out");
    with_shape(command);
    command->add_flag("--json", wish.json, "Print JSON and nothing else");
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
  with_wish(impact);
  impact->callback(
      [options, &status] { status = show_impact(options->name, options->wish); });
  impact->footer(
      "Besides the law's own parameters, mass [kg] and speed [m/s] can be set.\n"
      "Examples:\n"
      "  bristle law impact gonthier --set restitution=0.3 --set speed=2 --json\n"
      "  bristle law impact azad-featherstone --restitution 0.7 --materials steel,brass "
      "--radius 0.0127");

  CLI::App* compare = law->add_subcommand(
      "compare", "The same impact under several laws, as a table and a plot");
  compare->add_option("NAMES", options->names, "Normal laws; all when left out");
  with_wish(compare);
  compare
      ->add_option("-o,--output", options->output,
                   "Write a plot to this file, .svg, .html or .png")
      ->check(empty_name);
  compare->callback([options, &status] {
    status = compare_laws(options->names, options->wish, options->output);
  });
  compare->footer(
      "Which law and parameters give a restitution, with its peak force and time:\n"
      "  bristle law compare --materials steel,brass --radius 0.0127 --restitution 0.7 "
      "--set speed=1");

  CLI::App* plot =
      law->add_subcommand("plot", "Figures of one or several laws of one family");
  plot->add_option("NAMES", options->names, "Laws, separated by commas or spaces")
      ->required()
      ->delimiter(',');
  with_set(plot);
  with_shape(plot);
  plot->add_option("--radius", options->wish.radius,
                   "Radius of the shape that hits, under a volumetric law [m]");
  plot->add_option("-o,--output", options->output, "File to write, .svg, .html or .png")
      ->required();
  plot->callback([options, &status] {
    const auto punch = read_punch(options->wish.shape, options->wish.radius);
    status =
        punch ? plot_laws(options->names, options->wish.settings, *punch, options->output)
              : fail(punch.error());
  });
  plot->footer(
      "Normal laws: force against depth, restitution against speed. Friction laws: "
      "friction\n"
      "against slip and displacement, break-away after a rest.\n"
      "Besides the laws' parameters: mass, speed; or normal_force, depth.\n"
      "Example:  bristle law plot hunt-crossley,gonthier --set speed=2 -o out/laws.svg");
}

}  // namespace bristle::cli
