#include "cli/run_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/run_summary.hpp"
#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "recording/reader.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"

namespace bristle::cli {

namespace {

class Writing {
 public:
  explicit Writing(const files::OutputFolder& folder) : folder_(folder) {}

  void lost(const std::string& what) { missing_.push_back(folder_.shown_in(what)); }
  std::vector<std::string> missing() && { return std::move(missing_); }

  /// The log as an HDF5 file; true where nothing of the log is lacking in it. `samples`
  /// as many as were written, where that is known.
  bool fold(std::optional<std::uint64_t> samples) {
    const auto folded = recording::fold(folder_.inside(recording::log_name),
                                        folder_.inside(recording::hdf5_name));
    if (!folded) {
      lost(folded.error());
      return false;
    }
    const bool whole = folded->complete && folded->note.empty() &&
                       (!samples || *samples == folded->samples);
    if (!whole) {
      std::string text = folder_.shown(recording::log_name);
      text += folded->note.empty() ? ": does not hold all that was written to it"
                                   : ": " + folded->note;
      if (samples) {
        text += fmt::format("; {} of {} samples are left", folded->samples, *samples);
      }
      lost(text);
    }
    folder_.sync();
    return whole;
  }

  void remove_log() {
    const std::string log = folder_.inside(recording::log_name);
    if (std::remove(log.c_str()) != 0 && errno != ENOENT) {
      lost(fmt::format("{} cannot be removed: {}", log, std::strerror(errno)));
    }
  }

  Json csv() {
    auto reader = recording::Reader::open(folder_.inside(""));
    const auto tables = reader ? recording::export_csv(*reader, folder_.inside("csv"))
                               : Result<recording::ExportReport>(Error{reader.error()});
    if (!tables) {
      lost(tables.error());
      return nullptr;
    }
    Json files = Json::array();
    for (const std::string& file : tables->files) files.push_back(folder_.shown_in(file));
    return files;
  }

  /// The page to look at, beside the recording.
  bool page() {
    if (report::empty_page().empty()) return false;
    auto reader = recording::Reader::open(folder_.inside(""));
    const auto error = reader ? report::write_run_page(*reader, folder_.inside(page_name))
                              : std::optional<Error>(Error{reader.error()});
    if (error) lost(fmt::format("no {}: {}", page_name, error->message));
    return !error;
  }

  bool picture(const report::Figure& figure, const char* name) {
    const bool written = report::write_figure(figure, folder_.inside(name));
    if (!written) lost(fmt::format("{} cannot be written", folder_.shown(name)));
    return written;
  }

  static constexpr const char* page_name = "report.html";

 private:
  const files::OutputFolder& folder_;
  std::vector<std::string> missing_;
};

}  // namespace

std::vector<std::string> write_run_files(recording::Recorder& recorder,
                                         const files::OutputFolder& folder,
                                         const RunReport& report, bool csv,
                                         Json& summary) {
  Writing writing(folder);
  summary["folder"] = folder.path();
  const bool closed =
      recorder.finish({ending_text(report.ending), json_text(summary, -1)});
  if (!closed && report.ending != Ending::cannot_write) writing.lost(recorder.error());
  // Of a log that could not be closed there is no telling what it lacks.
  const bool whole =
      writing.fold(closed ? std::optional(recorder.samples()) : std::nullopt);
  if (whole) summary["recording"] = folder.shown(recording::hdf5_name);
  if (whole && report.ending == Ending::finished) writing.remove_log();
  if (csv) summary["csv"] = writing.csv();
  if (writing.page()) summary["report"] = folder.shown(Writing::page_name);
  if (writing.picture(report.figure, "run.png")) {
    summary["picture"] = folder.shown("run.png");
  }
  writing.picture(report.figure, "run.svg");
  return std::move(writing).missing();
}

std::vector<std::string> finish_run_files(const files::OutputFolder& folder) {
  Writing writing(folder);
  if (writing.fold(std::nullopt)) writing.remove_log();
  writing.page();
  return std::move(writing).missing();
}

}  // namespace bristle::cli
