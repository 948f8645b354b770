#include "cli/run_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "cli/run_summary.hpp"
#include "files/guarded.hpp"
#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "recording/reader.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"

namespace bristle::cli {

namespace {

/// Parts of the writing, each in a process of its own: the libraries that draw and that
/// write HDF5 end the process that they run in where memory is short, and the run's log
/// is to outlive them.
class Writing {
 public:
  explicit Writing(const files::OutputFolder& folder) : folder_(folder) {}

  void lost(const std::string& what) { missing_.push_back(folder_.shown_in(what)); }
  std::vector<std::string> missing() && { return std::move(missing_); }

  /// The log as an HDF5 file; true where nothing of the log is lacking in it. `samples`
  /// as many as were written, where that is known.
  bool fold(std::optional<std::uint64_t> samples) {
    const auto answer = apart(recording::hdf5_name, [&] {
      const auto folded = recording::fold(folder_.inside(recording::log_name),
                                          folder_.inside(recording::hdf5_name));
      if (!folded) throw std::runtime_error(folded.error());
      return json_text({{"samples", folded->samples},
                        {"complete", folded->complete},
                        {"note", folded->note}});
    });
    if (!answer) return false;
    folder_.sync();
    const Json folded = Json::parse(*answer);
    const std::string note = folded["note"];
    const bool whole = folded["complete"].get<bool>() && note.empty() &&
                       (!samples || folded["samples"] == *samples);
    if (!whole) {
      std::string text = folder_.shown(recording::log_name);
      text += note.empty() ? ": is incomplete" : ": " + note;
      if (samples) {
        text += fmt::format("; {} of {} samples are left",
                            folded["samples"].get<std::uint64_t>(), *samples);
      }
      lost(text);
    }
    return whole;
  }

  void remove_log() {
    const std::string log = folder_.inside(recording::log_name);
    if (std::remove(log.c_str()) != 0 && errno != ENOENT) {
      lost(fmt::format("{} cannot be removed: {}", log, std::strerror(errno)));
    }
  }

  Json csv() {
    const auto answer = apart("csv", [&] {
      auto reader = recording::Reader::open(folder_.inside(""));
      if (!reader) throw std::runtime_error(reader.error());
      const auto tables = recording::export_csv(*reader, folder_.inside("csv"));
      if (!tables) throw std::runtime_error(tables.error());
      return json_text(tables->files);
    });
    if (!answer) return nullptr;
    Json files = Json::array();
    for (const std::string file : Json::parse(*answer)) {
      files.push_back(folder_.shown_in(file));
    }
    return files;
  }

  /// The page to look at, beside the recording.
  bool page() {
    if (report::empty_page().empty()) return false;
    return apart(page_name,
                 [&] {
                   auto reader = recording::Reader::open(folder_.inside(""));
                   if (!reader) throw std::runtime_error(reader.error());
                   const auto error =
                       report::write_run_page(*reader, folder_.inside(page_name));
                   if (error) throw std::runtime_error(error->message);
                   return std::string();
                 })
        .has_value();
  }

  bool picture(const report::Figure& figure, const char* name) {
    const auto draw = [&] {
      if (!report::write_figure(figure, folder_.inside(name))) {
        throw std::runtime_error("it cannot be written");
      }
      return std::string();
    };
    // A picture takes a fraction of a second, unless the system's fonts are in disorder.
    return apart(name, draw, {.memory = 0, .seconds = 10}).has_value();
  }

  static constexpr const char* page_name = "report.html";

 private:
  std::optional<std::string> apart(std::string_view name,
                                   const std::function<std::string()>& work,
                                   const files::GuardLimits& limits = files::no_limits) {
    const auto answer = files::guarded(work, limits);
    if (answer) return *answer;
    // Most messages begin with the file; others are about it.
    const std::string why = folder_.shown_in(answer.error());
    const bool named = why.find(folder_.path()) != std::string::npos;
    lost(named ? fmt::format("no {}: {}", name, why)
               : fmt::format("{}: {}", folder_.shown(name), why));
    return std::nullopt;
  }

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
