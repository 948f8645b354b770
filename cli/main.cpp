#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bristle/core/version.hpp"
#include "cli/exit.hpp"
#include "cli/law.hpp"
#include "cli/material.hpp"

int main(int argc, char** argv) {
  using namespace bristle::cli;
  CLI::App app{"Bristle: compliant contact for multibody systems"};
  app.set_version_flag("--version", fmt::format("bristle {}", bristle::version()));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 fine, 1 a check failed, 2 bad input, 3 the simulation could not go "
      "on.\n"
      "`bristle COMMAND --help` has examples.");
  int status = fine;
  try {
    add_law_commands(app, status);
    add_material_commands(app, status);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? fine : bad_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bristle: {}\n", error.what());
    return cannot_go_on;
  }
  return status;
}
