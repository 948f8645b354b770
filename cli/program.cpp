#include "cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#ifdef BRISTLE_WITH_SUNDIALS
#include "adapters/sundials/sundials_clock.hpp"
#endif
#include "bristle/core/version.hpp"
#include "bristle/laws/catalogue.hpp"
#include "cli/crosscheck.hpp"
#include "cli/exit.hpp"
#include "cli/export.hpp"
#include "cli/fit.hpp"
#include "cli/law.hpp"
#include "cli/material.hpp"
#include "cli/run.hpp"
#include "cli/scene.hpp"
#include "cli/study.hpp"
#include "cli/text.hpp"

namespace bristle::cli {

namespace {

/// What cannot be caught, such as an exception out of a destructor, where memory is
/// short: an end with a message and a status, not by a signal.
[[noreturn]] void give_up() {
  const char* text = "bristle: an error that cannot be handled\n";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    text = "bristle: there is not enough memory\n";
  } catch (...) {
  }
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, text, std::strlen(text));
  std::_Exit(cannot_go_on);
}

/// Before anything else is made.
__attribute__((constructor(101))) void prepare_to_give_up() {
  std::set_terminate(give_up);
}

/// Files that are opened must not become standard streams that are closed: what is
/// printed would go into them. Opened for reading, standard output still cannot be
/// written to.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);  // NOLINT
  }
}

/// The status, unless what was printed could not be written.
int with_output_written(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fail("standard output cannot be written");
  return status == fine ? cannot_go_on : status;
}

/// What is wrong with the words that should be commands; nothing where they are.
std::string wrong_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::vector<const CLI::App*> commands = at->get_subcommands({});
    const std::string_view word = argv[i];
    if (commands.empty() || word.starts_with('-')) return {};
    std::vector<std::string> names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) {
      const std::vector<std::string_view> views(names.begin(), names.end());
      const std::string_view close = nearest(word, views);
      return fmt::format(
          "there is no command \"{}\"{} Commands: {}", printable(word),
          close.empty() ? "." : fmt::format("; did you mean \"{}\"?", close),
          fmt::join(names, ", "));
    }
    at = commands[static_cast<std::size_t>(found - names.begin())];
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app{"Bristle: compliant contact for multibody systems"};
  app.set_version_flag("--version", fmt::format("bristle {}", version()));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success, 1 a check failed, 2 bad input, 3 a result could not be "
      "computed\n"
      "or written, 130 interrupted.\n"
      "`bristle COMMAND --help` has examples.");
  int status = fine;
  add_run_commands(app, status);
  add_scene_commands(app, status);
  add_crosscheck_command(app, status);
  add_export_command(app, status);
  add_law_commands(app, status);
  add_fit_command(app, status);
  add_material_commands(app, status);
  add_study_commands(app, status);
  if (const std::string wrong = wrong_command(app, argc, argv); !wrong.empty()) {
    return fail(wrong);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? fine : bad_input;
  }
  return status;
}

}  // namespace

int run_program(int argc, char** argv) {
#ifdef BRISTLE_WITH_SUNDIALS
  register_sundials();
#endif
  hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is a write that fails
  try {
    return with_output_written(run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("bristle: there is not enough memory\n", stderr);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) std::fputs("bristle: standard output: ", stderr);
    if (std::ferror(stdout) == 0) std::fputs("bristle: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
  } catch (...) {
    std::fputs("bristle: an unknown error\n", stderr);
  }
  return cannot_go_on;
}

}  // namespace bristle::cli
