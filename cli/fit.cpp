#include "cli/fit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/fit_files.hpp"
#include "cli/fit_output.hpp"
#include "cli/fit_scene.hpp"
#include "cli/fit_setup.hpp"
#include "cli/text.hpp"
#include "files/output_folder.hpp"
#include "identify/least_squares.hpp"

namespace bristle::cli {

namespace {

std::string wrong_option(const FitWish& wish) {
  const identify::FitOptions& o = wish.options;
  const auto outside = [](std::string_view name, double value, std::string_view range) {
    return fmt::format("{} {:g}: must lie in {}", name, value, range);
  };
  if (o.starts < 1 || o.starts > 10000)
    return outside("--starts", o.starts, "[1, 10000]");
  if (o.bootstrap < 0 || o.bootstrap == 1 || o.bootstrap > 100000) {
    return outside("--bootstrap", o.bootstrap, "[2, 100000]");
  }
  if (o.threads < 1 || o.threads > 1024)
    return outside("--threads", o.threads, "[1, 1024]");
  if (o.iterations < 1) return outside("--iterations", o.iterations, "[1, 1e9]");
  if (!(o.sigma >= 0 && o.sigma < 1e300)) return "--sigma must be above 0";
  if (wish.substeps < 1 || wish.substeps > 10000) {
    return outside("--substeps", wish.substeps, "[1, 10000]");
  }
  for (const auto& [name, value] : {std::pair{"--window_s", wish.window.duration},
                                    std::pair{"--lead_m", wish.window.lead}}) {
    if (!value) continue;
    if (wish.kind != "force") return fmt::format("{} is of fit force", name);
    if (!(*value >= 0 && *value < 1e9)) return outside(name, *value, "[0, 1e9)");
  }
  if (wish.kind != "force" && wish.contact_point != "joint") {
    return "--contact-point is of fit force";
  }
  for (const std::string& text : wish.columns) {
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0) continue;
    return fmt::format("--column {}: write it as name=column, force_N=/probes/force",
                       text);
  }
  if (wish.kind == "scene" && wish.scene.empty()) {
    return "fit scene needs --scene FILE";
  }
  if (wish.kind != "scene" && !wish.scene.empty()) return "--scene is of fit scene";
  return {};
}

/// What is to be fitted, the first law first; an error is about what was given.
Result<std::vector<FittedLaw>> prepare(const FitWish& wish) {
  const auto laws = laws_of_wish(wish);
  if (!laws) return Error{laws.error()};
  std::vector<FittedLaw> fitted;
  std::vector<std::string> known;
  if (wish.kind == "scene") {
    auto setup = set_up_scene(wish);
    if (!setup) return Error{setup.error()};
    fitted.push_back({.setup = std::move(*setup), .fit = {}});
    return fitted;
  }
  const auto table = read_fit_data(wish);
  if (!table) return Error{table.error()};
  for (const std::string& law : *laws) {
    auto setup = set_up(wish, *table, law, known);
    if (!setup) return Error{setup.error()};
    fitted.push_back({.setup = std::move(*setup), .fit = {}});
  }
  if (std::string problem = unknown_name(wish, known, laws->front()); !problem.empty()) {
    return Error{std::move(problem)};
  }
  return fitted;
}

/// On a terminal, while a scene is simulated again and again.
void show_progress(double part) {
  tell("\rsearching: {:3.0f} %", 100 * part);
  std::fflush(stderr);
}

Result<std::vector<FittedLaw>> fit_all(const FitWish& wish) {
  auto prepared = prepare(wish);
  if (!prepared) return prepared;
  std::vector<FittedLaw>& fitted = *prepared;
  const std::string& name = fitted.front().setup.law;
  for (FittedLaw& law : fitted) {
    identify::FitOptions options = wish.options;
    const bool watched = wish.kind == "scene" && isatty(fileno(stderr)) != 0;
    if (watched) options.progress = show_progress;
    auto found = identify::fit(*law.setup.model, options);
    if (watched) tell("\r{:40}\r", "");
    if (!found) {
      return Error{fmt::format("{}{}{}", wish.data, name.empty() ? "" : ": " + name,
                               ": " + found.error())};
    }
    law.fit = std::move(*found);
    if (fitted.size() > 1) {
      law.held_out = held_out_rms(*law.setup.model, law.fit, wish.options);
    }
  }
  // Without --law the best of those that were compared is told of.
  if (wish.law.empty()) std::swap(fitted.front(), fitted[ranked(fitted).front()]);
  return prepared;
}

int fit_command(const FitWish& wish) {
  if (!identify::can_minimise()) {
    return fail(std::string(identify::no_ceres), cannot_go_on);
  }
  if (const std::string problem = wrong_option(wish); !problem.empty()) {
    return fail(problem);
  }
  const auto laws = fit_all(wish);
  if (!laws) return fail(laws.error());
  int status = fine;
  if (!wish.out.empty()) {
    const auto folder = files::OutputFolder::take(wish.out);
    if (!folder) return fail(folder.error(), cannot_go_on);
    status = write_fit_files(wish, *laws, *folder);
  }
  if (wish.json) {
    fmt::print("{}\n", json_text(fit_json(wish, *laws)));
  } else {
    print_fit(wish, *laws);
    if (!wish.out.empty()) {
      fmt::print("\nReport, figures and {}: {}\n",
                 wish.kind == "scene" ? "scene" : "contact", wish.out);
    }
  }
  if (laws->front().fit.converged) return status;
  return fail(
      fmt::format("the fit did not converge; the best parameters found are printed ({})",
                  laws->front().fit.reason),
      cannot_go_on);
}

void add_options(CLI::App& command, const std::shared_ptr<FitWish>& wish) {
  command
      .add_option("KIND", wish->kind,
                  "force (against position), restitution (against speed), friction "
                  "(against time), scene")
      ->required();
  command.add_option("DATA", wish->data, "A CSV file or an HDF5 file")->required();
  command.add_option("--law", wish->law, "Name of the law, see `bristle law list`");
  command.add_option("--free", wish->free, "Parameters to fit besides the usual ones")
      ->type_name("NAME,…");
  command.add_option("--set", wish->fixed, "Fix a parameter at a value; may be repeated")
      ->type_name("NAME=VALUE");
  command
      .add_option("--start", wish->starts_at,
                  "Initial value of a parameter; may be repeated")
      ->type_name("NAME=VALUE");
  command
      .add_option("--column", wish->columns,
                  "Which column, or dataset of an HDF5 file, holds a quantity: "
                  "force_N=/probes/force")
      ->type_name("NAME=COLUMN");
  command
      .add_option(
          "--shape", wish->shape,
          "Shape that presses, for a volumetric law; the tilt of a cylinder: tilt_deg")
      ->check(CLI::IsMember({"sphere", "cylinder", "flat"}));
  command.add_option("--radius", wish->radius, "Radius of that shape [m]");
  command.add_option("--scene", wish->scene, "The scene file, for KIND scene");
  command.add_option("--lead_m", wish->window.lead,
                     "Use the data from this distance before the first force on [m]");
  command.add_option("--window_s", wish->window.duration,
                     "Length of the data to use [s]");
  command
      .add_option("--contact-point", wish->contact_point,
                  "Where depth is 0. joint: fitted with the other parameters; "
                  "first-force: at the first measured force")
      ->check(CLI::IsMember({"joint", "first-force"}));
  command.add_option("--sigma", wish->options.sigma,
                     "Standard deviation of the noise; from the residuals when left out");
  command
      .add_option(
          "--loss", wish->loss,
          "Loss function: least squares, or Huber's, in which outliers weigh less")
      ->check(CLI::IsMember({"squares", "huber"}));
  command.add_option("--starts", wish->options.starts,
                     "Number of starting points of the search; 16 when left out");
  command.add_option("--seed", wish->options.seed,
                     "Seed of starting points and resampling; 1 when left out");
  command.add_option("--iterations", wish->options.iterations,
                     "Most iterations from each starting point; 200 when left out");
  command.add_option(
      "--bootstrap", wish->options.bootstrap,
      "Standard errors from fits to this many resampled data sets as well");
  command.add_option(
      "--substeps", wish->substeps,
      "Integration steps of a friction law between two rows of data; 16 when left out");
  command.add_option("--threads", wish->options.threads,
                     "Number of threads; the results do not depend on it");
  command.add_option("--compare", wish->compare, "Fit these laws and rank them")
      ->type_name("LAW,…");
  command
      .add_option("-o,--out", wish->out,
                  "Folder for report.html, figures with their data, and contact.toml")
      ->check(empty_name);
  command.add_flag("--json", wish->json, "Print JSON and nothing else");
}

}  // namespace

void add_fit_command(CLI::App& app, int& status) {
  const auto wish = std::make_shared<FitWish>();
  CLI::App* command = app.add_subcommand(
      "fit",
      "Identify the parameters of a law from measurements, with their uncertainty");
  add_options(*command, wish);
  command->footer(
      "Column names carry their units: position_um, force_kN; docs/fit.md lists them.\n"
      "Examples:\n"
      "  bristle fit force press.csv --law volumetric --shape sphere --radius 9.52e-3\n"
      "  bristle fit restitution drops.csv --law azad-featherstone --set stiffness=1e10\n"
      "  bristle fit friction pull.csv --law lugre --free stribeck_speed\n"
      "  bristle fit scene drop.csv --scene ball.toml --free "
      "contacts.0.normal.restitution");
  command->callback([wish, &status] {
    wish->options.huber = wish->loss == "huber";
    status = fit_command(*wish);
  });
}

}  // namespace bristle::cli
