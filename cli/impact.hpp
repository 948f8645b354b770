#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/laws/impact.hpp"
#include "cli/settings.hpp"

namespace bristle::cli {

/// What `bristle law impact` and `bristle law compare` are asked.
struct ImpactWish {
  Settings settings;
  std::optional<double> restitution;  // tune each law to return this
  std::string materials;              // "steel,brass": the ball and what it hits
  std::optional<double> radius;       // of the ball [m]
  std::optional<double> radius2;      // of what it hits, flat when left out [m]
  std::string shape = "sphere";       // what hits under a volumetric law, or "flat"
  bool json = false;
};

/// What hits under a volumetric law: a sphere or a flat punch, 10 mm when no radius is
/// given.
Result<Punch> read_punch(const std::string& shape, std::optional<double> radius);

/// One law, one impact.
int show_impact(const std::string& name, const ImpactWish& wish);

/// The same impact under several laws, all when none is named; the plot goes to `output`.
int compare_laws(const std::vector<std::string>& names, const ImpactWish& wish,
                 const std::string& output);

}  // namespace bristle::cli
