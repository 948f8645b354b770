#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bristle/core/result.hpp"
#include "recording/reader.hpp"

namespace bristle::report {

struct RunPageOptions {
  /// About how much the numbers of a page may take before they are compressed. Of longer
  /// recordings the page shows fewer samples, with the peaks of the contact forces among
  /// them.
  std::size_t bytes = 12'000'000;
  /// Another run to show over this one; none where it is null.
  recording::Reader* with = nullptr;
};

/// A page that shows a recording: the scene in motion, charts, energies, events.
std::optional<Error> write_run_page(recording::Reader& reader, const std::string& path,
                                    const RunPageOptions& options = {});

}  // namespace bristle::report
