#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"
#include "cli/runner.hpp"
#include "cli/text.hpp"
#include "files/output_folder.hpp"

// What a run leaves in its folder: recording.h5, report.html, run.png, run.svg, and csv/
// on request; recording.log while it goes on and where it did not come to its end.

namespace bristle::cli {

/// Closes the recording and writes everything else, whatever of it fails; returns what is
/// missing and why. The names of the files go into the summary.
std::vector<std::string> write_run_files(recording::Recorder& recorder,
                                         const files::OutputFolder& folder,
                                         const RunReport& report, bool csv,
                                         Json& summary);

/// The same for a run that came to its end before its log was folded.
std::vector<std::string> finish_run_files(const files::OutputFolder& folder);

}  // namespace bristle::cli
