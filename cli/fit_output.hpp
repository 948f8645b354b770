#pragma once

#include <string>
#include <vector>

#include "cli/fit_setup.hpp"
#include "cli/text.hpp"

namespace bristle::cli {

/// A law and its fit, with what --compare asks for.
struct FittedLaw {
  FitSetup setup;
  identify::Fit fit;
  double held_out = identify::not_known;  // rms
};

/// The first is the one that was asked for; several are ranked.
void print_fit(const FitWish& wish, const std::vector<FittedLaw>& laws);
Json fit_json(const FitWish& wish, const std::vector<FittedLaw>& laws);

/// The places of the laws, the best first.
std::vector<std::size_t> ranked(const std::vector<FittedLaw>& laws);

}  // namespace bristle::cli
