#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bristle/core/version.hpp"
#include "bristle/laws/catalogue.hpp"
#include "report/page.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Compliant contact for multibody systems", "bristle"};
  app.set_version_flag("--version", std::string{bristle::version()});
  app.require_subcommand(1);

  std::string out = "out";
  CLI::App* demo = app.add_subcommand("demo", "Placeholder: writes a page");
  demo->add_option("--out", out, "Folder for the results");
  CLI11_PARSE(app, argc, argv);

  std::filesystem::create_directories(out);
  const std::string path = out + "/report.html";
  const nlohmann::json laws = bristle::law_names();
  std::ofstream{path} << bristle::report::page("Bristle", laws.dump());
  fmt::print("wrote {}\n", path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bristle: {}\n", error.what());
    return 2;
  }
}
