#include "cli/crosscheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/crosscheck_runs.hpp"
#include "cli/scene.hpp"
#include "cli/text.hpp"
#include "files/file_out.hpp"
#include "files/output_folder.hpp"
#include "report/figure.hpp"

namespace bristle::cli {

namespace {

using scene::Scene;

struct CrosscheckWish {
  std::string scene;
  Settings settings;
  std::string steps = "4";
  std::optional<double> until;
  double rtol = CrosscheckPlan{}.rtol;
  std::string out;
  bool json = false;
};

constexpr int most_halvings = 20;
constexpr std::size_t most_steps = 50;
constexpr double most_taken = 1e9;  // by one run

/// "4": the step of the scene, halved so many times; "2e-3,1e-3": these, in seconds.
Result<std::vector<double>> read_steps(const std::string& text, double of_scene) {
  const auto wrong = [&text](std::string_view what) {
    return Error{fmt::format("--steps {}: {}", text, what)};
  };
  const bool whole = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  std::vector<double> steps;
  if (whole) {
    const std::optional<double> halvings = number_in(text);
    if (!halvings || *halvings < 1 || *halvings > most_halvings) {
      return wrong(
          fmt::format("the number of halvings must lie in [1, {}]; steps in "
                      "seconds have a point or an exponent: 1e-3,5e-4",
                      most_halvings));
    }
    for (int k = 0; k <= static_cast<int>(*halvings); ++k) {
      steps.push_back(std::ldexp(of_scene, -k));
    }
    return steps;
  }
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::optional<double> step =
        number_in(std::string_view(text).substr(from, comma - from));
    if (!step || !(*step > 0)) {
      return wrong("give steps above 0 s, apart by commas, or a number of halvings");
    }
    steps.push_back(*step);
    from = comma + 1;
  }
  if (steps.size() > most_steps) {
    return wrong(fmt::format("at most {} steps", most_steps));
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  for (const double step : steps) {
    const double parts = steps.front() / step;
    if (std::abs(parts - std::round(parts)) > 1e-9 * parts) {
      return wrong(
          fmt::format("the longest step must be a multiple of every other, so "
                      "that all can be compared at the same times; {:g} s is "
                      "{:g} times {:g} s",
                      steps.front(), parts, step));
    }
  }
  return steps;
}

/// The end of the comparison, where a step of the longest length ends.
Result<double> read_until(const CrosscheckWish& wish, const Scene& scene,
                          const std::vector<double>& steps) {
  const double until = wish.until.value_or(std::min(1.0, scene.clock.duration));
  const double count = std::floor(until / steps.front() + 1e-9);
  if (!(until > 0) || !(count >= 1)) {
    return Error{
        fmt::format("--until {:g}: must be a time not shorter than the longest "
                    "step, {:g} s",
                    until, steps.front())};
  }
  if (!(until / steps.back() <= most_taken)) {
    return Error{fmt::format("--until {:g}: that is more than {:g} steps of {:g} s",
                             until, most_taken, steps.back())};
  }
  return count * steps.front();
}

std::string or_dash(double value, std::string_view format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "–";
}

Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const ClockRun& run, const Model& model) {
  Json json{{"clock", run.stepper->name}};
  if (run.fixed_step()) {
    json["method"] = name_of(run.options.method);
    json["step_s"] = run.options.step;
    json["substeps"] = run.options.substeps;
  } else {
    json["rtol"] = run.options.rtol;
  }
  json["steps"] = run.counts.steps;
  json["cpu_s"] = run.cpu;
  if (!run.trouble.empty()) {
    json["trouble"] = run.trouble;
    return json;
  }
  json["balance_error"] = run.balance_error;
  if (run.counts.solves.solves > 0) {
    json["worst_residual_m_s"] = run.counts.solves.residual;
    json["worst_relative_residual"] = run.counts.solves.relative;
    json["steps_not_converged"] = run.counts.solves.unconverged;
  }
  if (std::isnan(run.difference)) return json;  // the reference itself
  json["difference_m"] = run.difference;
  if (run.body >= 0) {
    json["body"] = model.tree.bodies()[static_cast<std::size_t>(run.body)].name;
    json["time_s"] = run.time;
  }
  json["order"] = or_null(run.order);
  return json;
}

Json to_json(const Crosscheck& all, const Scene& scene, const CrosscheckPlan& plan) {
  Json json{{"scene", scene.file}, {"title", scene.title}, {"until_s", plan.until}};
  json["reference"] = to_json(all.reference, scene.model);
  if (!all.why_not_adaptive.empty()) json["not_adaptive"] = all.why_not_adaptive;
  json["runs"] = Json::array();
  for (const ClockRun& run : all.runs) json["runs"].push_back(to_json(run, scene.model));
  return json;
}

std::string accuracy_text(const ClockRun& run) {
  return run.fixed_step() ? fmt::format("{:.4g} ms", 1e3 * run.options.step)
                          : fmt::format("rtol {:g}", run.options.rtol);
}

/// The body that is furthest off, and when.
std::string largest_text(const ClockRun& run, const Model& model) {
  if (std::isnan(run.difference)) return "the reference";
  if (run.body < 0) return {};
  const Body& body = model.tree.bodies()[static_cast<std::size_t>(run.body)];
  return fmt::format("{} at {:.4g} s", printable(body.name), run.time);
}

void print_row(const ClockRun& run, const Model& model, std::size_t names) {
  fmt::print("{}  {}", padded(run.name(), names), padded(accuracy_text(run), 13));
  if (!run.trouble.empty()) {
    fmt::print("{}\n", printable(run.trouble));
    return;
  }
  const SolveCounts& solves = run.counts.solves;
  const bool solved = solves.solves > 0;
  fmt::print("{}{}{}{}{}{}{}\n", padded(or_dash(run.difference, "{:.3e} m"), 13),
             padded(or_dash(run.order, "{:.2f}"), 7),
             padded(fmt::format("{:.2e} s", run.cpu), 12),
             padded(fmt::format("{:.1e}", run.balance_error), 9),
             padded(solved ? fmt::format("{:.1e} m/s", solves.residual) : "–", 13),
             padded(solved ? fmt::format("{}", solves.unconverged) : "–", 10),
             largest_text(run, model));
}

void print_table(const Crosscheck& all, const Scene& scene, const CrosscheckPlan& plan) {
  fmt::print("{}: positions of all bodies over {:g} s, against {} {}\n",
             printable(scene.title.empty() ? scene.file : scene.title), plan.until,
             all.reference.name(), accuracy_text(all.reference));
  std::size_t names = width_of(all.reference.name());
  for (const ClockRun& run : all.runs) names = std::max(names, width_of(run.name()));
  fmt::print("\n{}  {}{}{}{}{}{}{}{}\n", padded("integrator", names), padded("step", 13),
             padded("difference", 13), padded("order", 7), padded("processor", 12),
             padded("balance", 9), padded("residual", 13), padded("unsolved", 10),
             "furthest off");
  print_row(all.reference, scene.model, names);
  for (const ClockRun& run : all.runs) print_row(run, scene.model, names);
}

/// Differences against steps and processor time, and over time.
report::Figure figure_of(const Crosscheck& all, const Scene& scene,
                         const CrosscheckPlan& plan) {
  report::Panel by_step{.title = "Difference against step",
                        .x_label = "step [s]",
                        .y_label = "largest difference [m]",
                        .curves = {},
                        .log_x = true,
                        .log_y = true};
  report::Panel by_cost{.title = "Difference against processor time",
                        .x_label = "processor time [s]",
                        .y_label = "largest difference [m]",
                        .curves = {},
                        .log_x = true,
                        .log_y = true};
  report::Panel over_time{.title = "Difference over time, shortest steps",
                          .x_label = "time [s]",
                          .y_label = "difference [m]",
                          .curves = {},
                          .log_y = true};
  const auto curve_of = [](report::Panel& panel, const std::string& label) {
    const auto known = std::find_if(panel.curves.begin(), panel.curves.end(),
                                    [&](const auto& c) { return c.label == label; });
    if (known != panel.curves.end()) return known;
    panel.curves.push_back(
        {.label = label, .x = {}, .y = {}, .marker = report::Marker::circle});
    return panel.curves.end() - 1;
  };
  for (const ClockRun& run : all.runs) {
    if (!run.trouble.empty()) continue;
    if (run.fixed_step()) {
      const auto curve = curve_of(by_step, run.name());
      curve->x.push_back(run.options.step);
      curve->y.push_back(run.difference);
    }
    const auto cost = curve_of(by_cost, run.name());
    cost->x.push_back(run.cpu);
    cost->y.push_back(run.difference);
    // Of each integrator the shortest step, which comes last.
    const auto latest = curve_of(over_time, run.name());
    latest->marker = report::Marker::none;
    latest->x.assign(run.times.begin(), run.times.begin() + static_cast<std::ptrdiff_t>(
                                                                run.differences.size()));
    latest->y = run.differences;
  }
  return {scene.title.empty() ? scene.file : scene.title,
          fmt::format("positions of all bodies over {:g} s, against {} {}", plan.until,
                      all.reference.name(), accuracy_text(all.reference)),
          {by_step, by_cost, over_time},
          3};
}

/// The figure as SVG and PNG with its data, and the table as JSON.
int write_folder(const files::OutputFolder& folder, const report::Figure& figure,
                 const Json& json) {
  int status = fine;
  for (const char* name : {"crosscheck.svg", "crosscheck.png"}) {
    if (report::write_figure(figure, folder.inside(name))) continue;
    status = fail(fmt::format("{} cannot be written", folder.shown(name)), cannot_go_on);
  }
  if (!report::write_csv(figure, folder.inside("crosscheck.csv"))) {
    status = fail(fmt::format("{} cannot be written", folder.shown("crosscheck.csv")),
                  cannot_go_on);
  }
  const auto error =
      files::write_file(json_text(json) + "\n", folder.inside("crosscheck.json"));
  if (error) status = fail(folder.shown_in(error->message), cannot_go_on);
  return status;
}

int crosscheck_command(const CrosscheckWish& wish) {
  if (!(wish.rtol >= 1e-13 && wish.rtol <= 0.1)) {
    return fail(fmt::format("--rtol {:g} must lie in [1e-13, 0.1]", wish.rtol));
  }
  const auto scene = load_scene(wish.scene, wish.settings);
  if (!scene) return bad_input;
  const auto steps = read_steps(wish.steps, scene->clock.options.step);
  if (!steps) return fail(steps.error());
  const auto until = read_until(wish, *scene, *steps);
  if (!until) return fail(until.error());
  std::optional<files::OutputFolder> folder;
  if (!wish.out.empty()) {
    auto taken = files::OutputFolder::take(wish.out);
    if (!taken) return fail(taken.error(), cannot_go_on);
    folder.emplace(std::move(*taken));
  }
  const CrosscheckPlan plan{*until, *steps, wish.rtol, wish.json};
  const Crosscheck all = crosscheck(*scene, plan);
  const Json json = to_json(all, *scene, plan);
  if (wish.json) {
    fmt::print("{}\n", json_text(json));
  } else {
    print_table(all, *scene, plan);
  }
  int status = fine;
  if (!all.reference.trouble.empty()) {
    status = fail(fmt::format("there is nothing to compare with: {}: {}",
                              all.reference.name(), all.reference.trouble),
                  cannot_go_on);
  }
  if (!folder) return status;
  status = std::max(status, write_folder(*folder, figure_of(all, *scene, plan), json));
  if (!wish.json) fmt::print("\nFigure and data: {}\n", folder->path());
  return status;
}

}  // namespace

void add_crosscheck_command(CLI::App& app, int& status) {
  const auto wish = std::make_shared<CrosscheckWish>();
  CLI::App* command = app.add_subcommand(
      "crosscheck",
      "Compare the adaptive, fixed-step and complementarity integrators on a scene");
  command->add_option("SCENE", wish->scene, "A scene file (TOML)")->required();
  command
      ->add_option("--set", wish->settings,
                   "Change a value of the scene: clock.method=rk4")
      ->type_name("KEY=VALUE");
  command
      ->add_option("--steps", wish->steps,
                   "How often to halve the scene's step, or a list of steps in seconds: "
                   "2e-3,1e-3,5e-4; 4 when left out")
      ->type_name("N|S,S,…");
  command->add_option("--until", wish->until,
                      "End of the comparison [s]; the first second when left out");
  command->add_option("--rtol", wish->rtol,
                      "Tolerance of the adaptive reference; 1e-10 when left out");
  command->add_option("-o,--out", wish->out, "Folder for the figure and the table")
      ->check(empty_name);
  command->add_flag("--json", wish->json, "Print the table as JSON and nothing else");
  command->footer(
      "difference: the largest distance of any body from its place in the reference.\n"
      "order: the exponent with which the difference falls as the step is halved.\n"
      "An integrator that cannot run the scene has a row that says why.\n"
      "Examples:\n"
      "  bristle crosscheck scenes/pinched-capsule.toml\n"
      "  bristle crosscheck scenes/quadruped.toml --until 0.2 --out out/crosscheck\n"
      "  bristle crosscheck scenes/arm.toml --steps 1e-3,5e-4,2.5e-4 --json");
  command->callback([wish, &status] { status = crosscheck_command(*wish); });
}

}  // namespace bristle::cli
