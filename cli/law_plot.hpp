#pragma once

#include <string>
#include <vector>

#include "bristle/laws/impact.hpp"
#include "cli/settings.hpp"

namespace bristle::cli {

/// `bristle law plot`: figures of one or several laws of one family. Returns the exit
/// status.
int plot_laws(const std::vector<std::string>& names, const Settings& settings,
              const Punch& punch, const std::string& output);

}  // namespace bristle::cli
