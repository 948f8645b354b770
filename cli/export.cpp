#include "cli/export.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cli/text.hpp"
#include "files/guarded.hpp"
#include "files/output_folder.hpp"
#include "recording/export.hpp"
#include "recording/reader.hpp"
#include "report/run_page.hpp"

namespace bristle::cli {

namespace {

namespace fs = std::filesystem;

struct ExportWish {
  std::string from;
  std::string out;
  std::string with;
  bool csv = false, vtk = false, gltf = false, html = false, one_table = false;
  double every = 0;
};

/// The folder when none is named: beside the recording.
std::string default_folder(const std::string& from) {
  std::error_code ignored;
  const fs::path beside =
      fs::is_directory(from, ignored) ? fs::path(from) : fs::path(from).parent_path();
  return (beside / "export").string();
}

/// What an export wrote and what it could not.
struct Exported {
  std::vector<std::string> files, missing;
};

Exported export_all(recording::Reader& reader, recording::Reader* with,
                    const ExportWish& wish, const files::OutputFolder& folder) {
  Exported all;
  const auto add = [&](const Result<recording::ExportReport>& report) {
    if (!report) {
      all.missing.push_back(folder.shown_in(report.error()));
      return;
    }
    for (const std::string& file : report->files) {
      all.files.push_back(folder.shown_in(file));
    }
  };
  if (wish.csv) {
    recording::CsvOptions options;
    options.one_table = wish.one_table;
    options.frames.interval = wish.every;
    add(recording::export_csv(reader, folder.inside(""), options));
  }
  if (wish.vtk) {
    recording::VtkOptions options;
    options.frames.interval = wish.every;
    add(recording::export_vtk(reader, folder.inside(""), options));
  }
  if (wish.gltf) {
    recording::GltfOptions options;
    options.frames.interval = wish.every;
    add(recording::export_gltf(reader, folder.inside("recording.glb"), options));
  }
  if (wish.html) {
    const char* name = "report.html";
    if (const auto error =
            report::write_run_page(reader, folder.inside(name), {.with = with})) {
      all.missing.push_back(folder.shown_in(error->message));
    } else {
      all.files.push_back(folder.shown(name));
    }
  }
  return all;
}

int export_command(const ExportWish& wish) {
  if (!wish.csv && !wish.vtk && !wish.gltf && !wish.html) {
    return fail("no format is given: --csv, --vtk, --gltf or --html");
  }
  // In a process of its own: the library that reads HDF5 ends the one that it runs in
  // where memory is short.
  const auto answer = files::guarded(
      [&] {
        Json all{{"files", Json::array()}, {"missing", Json::array()}};
        auto reader = recording::Reader::open(wish.from);
        if (!reader) {
          all["unread"] = reader.error();
          return json_text(all);
        }
        all["note"] = reader->note();
        std::optional<recording::Reader> with;
        if (!wish.with.empty()) {
          auto other = recording::Reader::open(wish.with);
          if (!other) {
            all["unread"] = other.error();
            return json_text(all);
          }
          with.emplace(std::move(*other));
        }
        const auto folder = files::OutputFolder::take(
            wish.out.empty() ? default_folder(wish.from) : wish.out);
        if (!folder) throw std::runtime_error(folder.error());
        const Exported exported =
            export_all(*reader, with ? &*with : nullptr, wish, *folder);
        all["files"] = exported.files;
        all["missing"] = exported.missing;
        return json_text(all);
      },
      files::no_limits);
  if (!answer) return fail(answer.error(), cannot_go_on);
  const Json all = Json::parse(*answer);
  if (all.contains("unread")) return fail(all.value("unread", ""));
  const std::string note = all.value("note", "");
  if (!note.empty()) tell("warning: {}\n", printable(note));
  int status = fine;
  for (const std::string what : all["missing"]) status = fail(what, cannot_go_on);
  for (const std::string file : all["files"]) fmt::print("{}\n", file);
  return status;
}

}  // namespace

void add_export_command(CLI::App& app, int& status) {
  const auto wish = std::make_shared<ExportWish>();
  CLI::App* command = app.add_subcommand(
      "export", "Convert a recording to tables, or for ParaView, Blender and browsers");
  command->add_option("RECORDING", wish->from, "The folder of a run, or its recording.h5")
      ->required();
  CLI::Option* csv = command->add_flag("--csv", wish->csv,
                                       "Tables of bodies, joints, contacts, events, …");
  command
      ->add_flag("--one-table", wish->one_table, "With --csv: one wide table of samples")
      ->needs(csv);
  command->add_flag("--vtk", wish->vtk, "recording.pvd for ParaView");
  command->add_flag("--gltf", wish->gltf, "recording.glb, animated");
  CLI::Option* html =
      command->add_flag("--html", wish->html, "report.html, to look at in a browser");
  command
      ->add_option("--with", wish->with,
                   "With --html: another recording, drawn over this one")
      ->type_name("RECORDING")
      ->needs(html);
  command
      ->add_option("--every", wish->every,
                   "Least time between two samples in tables and animations [s]")
      ->check(time_or_zero);
  command->add_option("-o,--out", wish->out, "Folder; RECORDING/export when left out")
      ->check(empty_name);
  command->footer(
      "A run that was killed can be exported as well, up to its last recorded sample.\n"
      "Examples:\n"
      "  bristle export out/steel-ball --csv\n"
      "  bristle export out/steel-ball --html\n"
      "  bristle export out/arm --html --with out/arm-rk4\n"
      "  bristle export out/arm --gltf --every 0.02 --out out/arm-animation");
  command->callback([wish, &status] { status = export_command(*wish); });
}

}  // namespace bristle::cli
