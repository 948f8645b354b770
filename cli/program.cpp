#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bristle/core/version.hpp"
#include "cli/exit.hpp"
#include "cli/export.hpp"
#include "cli/law.hpp"
#include "cli/material.hpp"
#include "cli/run.hpp"
#include "cli/study.hpp"

namespace bristle::cli {

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Bristle: compliant contact for multibody systems"};
  app.set_version_flag("--version", fmt::format("bristle {}", version()));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 fine, 1 a check failed, 2 bad input, 3 the simulation could not go "
      "on.\n"
      "`bristle COMMAND --help` has examples.");
  int status = fine;
  add_run_commands(app, status);
  add_export_command(app, status);
  add_law_commands(app, status);
  add_material_commands(app, status);
  add_study_commands(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? fine : bad_input;
  }
  return status;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs("bristle: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
  } catch (...) {
    std::fputs("bristle: an unknown error\n", stderr);
  }
  return cannot_go_on;
}

}  // namespace bristle::cli
