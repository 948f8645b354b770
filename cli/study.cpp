#include "cli/study.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/settings.hpp"
#include "cli/study_page.hpp"
#include "cli/text.hpp"
#include "report/figure.hpp"
#include "report/page.hpp"
#include "studies/realtime.hpp"
#include "studies/study.hpp"

namespace bristle::cli {

namespace {

using studies::Check;
using studies::Finding;
using studies::Outcome;
using studies::Study;
using studies::Values;

Json number_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Settings of file names apart from those of numbers.
Result<Values> read_values(const Study& study, const Settings& settings) {
  Settings numbers;
  std::map<std::string, std::string, std::less<>> texts;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    const auto named = [&key](const Parameter& p) {
      return p.unit == "file" && p.name == key;
    };
    if (equals != std::string::npos &&
        std::any_of(study.parameters.begin(), study.parameters.end(), named)) {
      texts[key] = setting.substr(equals + 1);
    } else {
      numbers.push_back(setting);
    }
  }
  auto values = apply_settings(study.parameters, numbers, study.name);
  if (!values) return Error{values.error()};
  return Values(study.parameters, *std::move(values), std::move(texts));
}

Json parameter_json(const Parameter& p, const Values& values) {
  if (p.unit == "file") return values.text(p.name);
  if (values.open(p.name)) return nullptr;
  return value_json(p, values[p.name]);
}

std::string parameter_text(const Parameter& p, const Values& values) {
  if (p.unit == "file") return values.text(p.name);
  return values.open(p.name) ? "" : value_text(p, values[p.name]);
}

Json outcome_json(const Study& study, const Values& values, const Outcome& outcome) {
  Json json{{"study", study.name}};
  json["parameters"] = Json::object();
  for (const Parameter& p : study.parameters) {
    json["parameters"][std::string(p.name)] = parameter_json(p, values);
  }
  json["results"] = Json::object();
  for (const Finding& f : outcome.results) {
    json["results"][std::string(f.name)] = number_json(f.value);
  }
  json["checks"] = Json::array();
  for (const Check& c : outcome.checks) {
    json["checks"].push_back({{"name", c.name},
                              {"value", number_json(c.value)},
                              {"reference", number_json(c.reference)},
                              {"tolerance", number_json(c.tolerance)},
                              {"source", c.source},
                              {"pass", c.passes()}});
  }
  if (!outcome.trouble.empty()) json["trouble"] = outcome.trouble;
  return json;
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.10g}", value) : std::string("–");
}

void print_checks(const std::vector<Check>& checks) {
  std::size_t widest = 0;
  for (const Check& c : checks) widest = std::max(widest, width_of(c.name));
  for (const Check& c : checks) {
    fmt::print("  {}  {:>16}  {:>16} ± {:<8.2g} {}  {}\n", padded(c.name, widest),
               number_text(c.value), number_text(c.reference), c.tolerance,
               c.passes() ? "ok  " : "FAIL", c.source);
  }
}

int status_of(const Outcome& outcome) {
  if (!outcome.trouble.empty()) return cannot_go_on;
  for (const Check& c : outcome.checks) {
    if (!c.passes()) return check_failed;
  }
  return fine;
}

/// Figures as SVG and PNG, their data as CSV; what could not be written, or nothing.
std::string write_figures(const Study& study, const Outcome& outcome,
                          const std::string& folder) {
  for (std::size_t i = 0; i < outcome.figures.size(); ++i) {
    std::string stem = (std::filesystem::path(folder) / study.name).string();
    if (i > 0) stem += fmt::format("-{}", i + 1);
    const report::Figure& figure = outcome.figures[i];
    for (const char* ending : {".svg", ".png"}) {
      if (!report::write_figure(figure, stem + ending)) return stem + ending;
    }
    if (!report::write_csv(figure, stem + ".csv")) return stem + ".csv";
  }
  return {};
}

/// What a command that was given a folder leaves there: figures with their data, and a
/// page that shows everything.
class Folder {
 public:
  Folder(std::string path, std::string title)
      : path_(std::move(path)), page_(std::move(title)) {}

  bool wanted() const { return !path_.empty(); }

  /// What could not be written, or nothing.
  std::string add(const Study& study, const Values& asked, const Json& result,
                  const Outcome& outcome) {
    if (!wanted()) return {};
    page_.add(study, asked, result, outcome);
    return write_figures(study, outcome, path_);
  }
  std::string finish() const {
    if (!wanted() || report::empty_page().empty()) return {};
    return page_.write(page()) ? page() : std::string();
  }
  /// Says where to look.
  void announce() const {
    if (!wanted()) return;
    fmt::print("\nFigures and data: {}\n", path_);
    if (report::empty_page().empty()) {
      fmt::print("{}\n", report::no_pages);
    } else {
      fmt::print("Look at it: {}\n", page());
    }
  }

 private:
  std::string page() const {
    return (std::filesystem::path(path_) / "report.html").string();
  }

  std::string path_;
  StudyPage page_;
};

int cannot_write(const std::string& path) {
  return fail(fmt::format("cannot write {}", path), cannot_go_on);
}

int list_studies(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Study& study : studies::all_studies()) {
      list.push_back({{"name", study.name},
                      {"title", study.title},
                      {"figures", study.figures},
                      {"paper", studies::citation(study.paper())}});
    }
    fmt::print("{}\n", Json{{"studies", list}}.dump(2));
    return fine;
  }
  std::string_view paper;
  for (const Study& study : studies::all_studies()) {
    if (study.paper() != paper) {
      paper = study.paper();
      fmt::print("{}\n", studies::citation(paper));
    }
    fmt::print("  {:29} {:22} {}\n", study.name, study.figures, study.title);
  }
  fmt::print(
      "\n`bristle study show NAME` gives parameters and results of one study,\n"
      "`bristle study run NAME` runs it.\n");
  return fine;
}

int show_study(const std::string& name, bool json) {
  const auto found = studies::find_study(name);
  if (!found) return fail(found.error());
  const Study& study = **found;
  if (json) {
    Json parameters = Json::array();
    for (const Parameter& p : study.parameters) {
      parameters.push_back({{"name", p.name}, {"unit", p.unit}, {"meaning", p.meaning}});
      parameters.back()["default"] = p.unit == "file"       ? Json("")
                                     : std::isnan(p.preset) ? Json(nullptr)
                                                            : value_json(p, p.preset);
    }
    Json results = Json::array();
    for (const auto& r : study.results) {
      results.push_back({{"name", r.name}, {"meaning", r.meaning}});
    }
    const Json all{{"study", study.name},      {"title", study.title},
                   {"figures", study.figures}, {"about", study.about},
                   {"parameters", parameters}, {"results", results}};
    fmt::print("{}\n", all.dump(2));
    return fine;
  }
  fmt::print("{}: {}\n{}, {}\n\n", study.name, study.title,
             studies::citation(study.paper()), study.figures);
  print_wrapped("about", study.about);
  fmt::print("\nparameters\n");
  for (const Parameter& p : study.parameters) {
    const bool numeric = p.unit != "file" && !std::isnan(p.preset);
    fmt::print("  {:20} {} {:9} {:8} in {}  {}\n", p.name, padded(p.symbol, 5),
               numeric ? value_text(p, p.preset) : std::string(), unit_text(p),
               p.unit == "file" ? "a file" : range_text(p), p.meaning);
  }
  fmt::print("\nresults\n");
  for (const auto& r : study.results) fmt::print("  {:26} {}\n", r.name, r.meaning);
  return fine;
}

int run_study(const std::string& name, const Settings& settings, const std::string& out,
              bool json) {
  const auto found = studies::find_study(name);
  if (!found) return fail(found.error());
  const Study& study = **found;
  auto values = read_values(study, settings);
  if (!values) return fail(values.error());
  const Values asked = *values;
  Folder folder(out, std::string(study.title));
  const auto outcome = study.run(*values, folder.wanted());
  if (!outcome) return fail(fmt::format("{}: {}", study.name, outcome.error()));

  const Json result = outcome_json(study, *values, *outcome);
  std::string unwritten = folder.add(study, asked, result, *outcome);
  if (unwritten.empty()) unwritten = folder.finish();
  if (!unwritten.empty()) return cannot_write(unwritten);
  if (!outcome->trouble.empty()) {
    fail(fmt::format("{}: {}", study.name, outcome->trouble));
  }
  if (json) {
    fmt::print("{}\n", result.dump(2));
    return status_of(*outcome);
  }
  fmt::print("{}: {}\n{}, {}\n\n", study.name, study.title,
             studies::citation(study.paper()), study.figures);
  fmt::print("with");
  for (const Parameter& p : study.parameters) {
    const std::string text = parameter_text(p, *values);
    if (!text.empty()) fmt::print(" {}={}", p.name, text);
  }
  fmt::print("\n\n");
  for (const Finding& f : outcome->results) {
    fmt::print("  {:26} {}\n", f.name, number_text(f.value));
  }
  fmt::print("\nchecks: value, reference, verdict, source\n");
  print_checks(outcome->checks);
  folder.announce();
  return status_of(*outcome);
}

/// Every study as published; a table per paper.
int run_all(const std::string& out, bool json) {
  Folder folder(out, "The papers, computed");
  Json all = Json::array();
  int worst = fine;
  std::string_view paper;
  const auto started = std::chrono::steady_clock::now();
  std::size_t passed = 0, failed = 0;
  for (const Study& study : studies::all_studies()) {
    std::vector<double> presets;
    presets.reserve(study.parameters.size());
    for (const Parameter& p : study.parameters) presets.push_back(p.preset);
    Values values(study.parameters, presets);
    const Values asked = values;
    const auto outcome = study.run(values, folder.wanted());
    if (!outcome) return fail(fmt::format("{}: {}", study.name, outcome.error()));
    worst = std::max(worst, status_of(*outcome));
    for (const Check& c : outcome->checks) ++(c.passes() ? passed : failed);
    all.push_back(outcome_json(study, values, *outcome));
    const std::string unwritten = folder.add(study, asked, all.back(), *outcome);
    if (!unwritten.empty()) return cannot_write(unwritten);
    if (!outcome->trouble.empty()) {
      fail(fmt::format("{}: {}", study.name, outcome->trouble));
    }
    if (json) continue;
    if (study.paper() != paper) {
      paper = study.paper();
      fmt::print("\n{}\n", studies::citation(paper));
    }
    fmt::print("\n{} ({})\n", study.name, study.figures);
    print_checks(outcome->checks);
    std::fflush(stdout);
  }
  const std::string unwritten = folder.finish();
  if (!unwritten.empty()) return cannot_write(unwritten);
  if (json) {
    fmt::print("{}\n", Json{{"studies", all}}.dump(2));
    return worst;
  }
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  fmt::print("\n{} studies, {} checks hold, {} do not, {:.1f} s\n",
             studies::all_studies().size(), passed, failed, elapsed);
  folder.announce();
  return worst;
}

int show_realtime(bool json) {
  const bool watched = isatty(fileno(stderr)) != 0;
  const auto rows = studies::realtime_table(
      [watched](std::string_view study, std::string_view method, int substeps) {
        if (watched) {
          tell("\r{:30} {:24} {:4} substeps", study, method, substeps);
          std::fflush(stderr);
        }
      });
  if (watched) tell("\r{:70}\r", "");
  if (json) {
    Json list = Json::array();
    for (const auto& row : rows) {
      list.push_back({{"study", row.study},
                      {"method", row.method},
                      {"substeps", row.substeps > 0 ? Json(row.substeps) : Json(nullptr)},
                      {"most_tried", row.tried},
                      {"busy", row.busy > 0 ? Json(row.busy) : Json(nullptr)},
                      {"fewer_fail", row.fails}});
    }
    fmt::print("{}\n", Json{{"realtime", list}}.dump(2));
    return fine;
  }
  fmt::print(
      "Substeps of a 1 ms step with which the checks hold within 1 %, as they do with "
      "the\n"
      "next two numbers tried, and the part of real time that the computation takes,\n"
      "observers included.\n\n"
      "{:30} {:24} {:>8} {:>8}  with fewer, this fails\n",
      "study", "method", "substeps", "busy");
  for (const auto& row : rows) {
    fmt::print(
        "{:30} {:24} {:>8} {:>8}  {}\n", row.study, row.method,
        row.substeps > 0 ? std::to_string(row.substeps) : fmt::format("> {}", row.tried),
        row.busy > 0 ? fmt::format("{:.2g} %", 100 * row.busy) : std::string("–"),
        row.fails);
  }
  return fine;
}

}  // namespace

void add_study_commands(CLI::App& app, int& status) {
  CLI::App* study =
      app.add_subcommand("study", "Results of published papers, computed and checked");
  study->require_subcommand(1);
  study->footer(
      "Examples:\n"
      "  bristle study list\n"
      "  bristle study show gonthier2004.impact\n"
      "  bristle study run gonthier2004.impact --set restitution=0.3 --out out\n"
      "  bristle study run gonthier2004.impact --set clock=fixed --set substeps=50\n"
      "  bristle study all --out out\n"
      "  bristle study realtime");

  struct Options {
    std::string name;
    Settings settings;
    std::string folder;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  const auto with_json = [options](CLI::App* command) {
    command->add_flag("--json", options->json, "Print JSON and nothing else");
  };
  const auto with_out = [options](CLI::App* command) {
    command
        ->add_option("-o,--out", options->folder,
                     "Folder for report.html, a page to look at in a browser, and for "
                     "figures (SVG, PNG) with their data (CSV)")
        ->check(empty_name);
  };

  CLI::App* list = study->add_subcommand("list", "All studies by paper");
  with_json(list);
  list->callback([options, &status] { status = list_studies(options->json); });

  CLI::App* show = study->add_subcommand("show", "Parameters and results of a study");
  show->add_option("NAME", options->name, "A study's name")->required();
  with_json(show);
  show->callback(
      [options, &status] { status = show_study(options->name, options->json); });

  CLI::App* run = study->add_subcommand("run",
                                        "One study: results, checks, figures, a page to "
                                        "look at. Exit status 1 when a check fails");
  run->add_option("NAME", options->name, "A study's name")->required();
  run->add_option("--set", options->settings, "name=value, any number of times")
      ->type_name("NAME=VALUE");
  with_out(run);
  with_json(run);
  run->callback([options, &status] {
    status = run_study(options->name, options->settings, options->folder, options->json);
  });

  CLI::App* all = study->add_subcommand(
      "all", "Every study as published, a table of checks per paper");
  with_out(all);
  with_json(all);
  all->callback([options, &status] { status = run_all(options->folder, options->json); });

  CLI::App* realtime = study->add_subcommand(
      "realtime",
      "Fewest substeps of a 1 ms step with which Gonthier's examples pass their checks");
  with_json(realtime);
  realtime->callback([options, &status] { status = show_realtime(options->json); });
}

}  // namespace bristle::cli
