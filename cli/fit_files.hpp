#pragma once

#include "cli/fit_output.hpp"
#include "files/output_folder.hpp"

namespace bristle::cli {

/// What --out asks for: report.html, the figures as SVG and PNG with their data as CSV,
/// fit.json, and what a scene includes: contact.toml of a law, scene.toml of a scene.
/// The exit status.
int write_fit_files(const FitWish& wish, const std::vector<FittedLaw>& laws,
                    const files::OutputFolder& folder);

/// The contact of a fitted law, to be included by a scene.
std::string contact_toml(const FitWish& wish, const FittedLaw& law);

}  // namespace bristle::cli
