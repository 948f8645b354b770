#include "cli/export.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/text.hpp"
#include "recording/export.hpp"
#include "recording/reader.hpp"
#include "report/run_page.hpp"

namespace bristle::cli {

namespace {

namespace fs = std::filesystem;

struct ExportWish {
  std::string from;
  std::string out;
  bool csv = false, vtk = false, gltf = false, html = false, one_table = false;
  double every = 0;
};

int export_command(const ExportWish& wish) {
  if (!wish.csv && !wish.vtk && !wish.gltf && !wish.html) {
    return fail("say what for: --csv, --vtk, --gltf or --html");
  }
  auto reader = recording::Reader::open(wish.from);
  if (!reader) return fail(reader.error());
  if (!reader->note().empty()) fmt::print(stderr, "warning: {}\n", reader->note());
  fs::path out = wish.out;
  if (wish.out.empty()) {
    out = fs::is_directory(wish.from) ? fs::path(wish.from)
                                         : fs::path(wish.from).parent_path();
    out /= "export";
  }
  const auto tell = [](const Result<recording::ExportReport>& report) {
    if (!report) return fail(report.error());
    for (const std::string& file : report->files) fmt::print("{}\n", file);
    return static_cast<int>(fine);
  };
  int status = fine;
  if (wish.csv) {
    recording::CsvOptions options;
    options.one_table = wish.one_table;
    options.frames.interval = wish.every;
    status =
        std::max(status, tell(recording::export_csv(*reader, out.string(), options)));
  }
  if (wish.vtk) {
    recording::VtkOptions options;
    options.frames.interval = wish.every;
    status =
        std::max(status, tell(recording::export_vtk(*reader, out.string(), options)));
  }
  if (wish.gltf) {
    recording::GltfOptions options;
    options.frames.interval = wish.every;
    std::error_code ignored;
    fs::create_directories(out, ignored);
    status = std::max(status, tell(recording::export_gltf(
                                  *reader, (out / "recording.glb").string(), options)));
  }
  if (wish.html) {
    const std::string page = (out / "report.html").string();
    if (const auto error = report::write_run_page(*reader, page)) {
      return fail(error->message);
    }
    fmt::print("{}\n", page);
  }
  return status;
}

}  // namespace

void add_export_command(CLI::App& app, int& status) {
  const auto wish = std::make_shared<ExportWish>();
  CLI::App* command = app.add_subcommand(
      "export", "A recording for other programs: tables, ParaView, Blender and browsers");
  command->add_option("RECORDING", wish->from, "A folder of a run, or its file")
      ->required();
  command->add_flag("--csv", wish->csv, "Tables of bodies, joints, contacts, events, …");
  command->add_flag("--one-table", wish->one_table,
                    "With --csv: one wide table of samples");
  command->add_flag("--vtk", wish->vtk, "recording.pvd for ParaView");
  command->add_flag("--gltf", wish->gltf, "recording.glb, animated");
  command->add_flag("--html", wish->html, "report.html, to look at in a browser");
  command
      ->add_option("--every", wish->every,
                   "Of tables, frames and animations: samples at least so far apart [s]")
      ->check(CLI::NonNegativeNumber);
  command->add_option("-o,--out", wish->out, "Folder; RECORDING/export when left out");
  command->footer(
      "A run that was killed can be exported as well, up to where it was recorded.\n"
      "Examples:\n"
      "  bristle export out/steel-ball --csv\n"
      "  bristle export out/steel-ball --html\n"
      "  bristle export out/arm --gltf --every 0.02 --out out/arm-animation");
  command->callback([wish, &status] { status = export_command(*wish); });
}

}  // namespace bristle::cli
