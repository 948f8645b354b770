#pragma once

#include <array>
#include <string_view>

// The pairs of materials whose restitution Azad & Featherstone compare with (2010, fig.
// 4; 2014, fig. 5).

namespace bristle::studies {

struct MaterialPair {
  std::string_view name;    // as the paper of 2014 has it
  std::string_view sphere;  // material
  std::string_view other;
  double radius;  // of the sphere [m]
  bool spheres;   // two equal ones; else a sphere on a plate
  std::string_view in_words;
  double restitution_assumed;  // at 1 m/s: the papers print curves, no numbers
};

inline constexpr std::array<MaterialPair, 6> material_pairs{{
    {"A", "brass", "brass", 0.015, true, "brass spheres", 0.88},
    {"B", "steel", "cast-iron", 0.0127, false, "steel on cast iron", 0.73},
    {"C", "cork", "cork", 0.0166, true, "cork spheres", 0.66},
    {"D", "steel", "cork", 0.0165, false, "steel on cork", 0.55},
    {"E", "steel", "brass", 0.0127, false, "steel on brass", 0.60},
    {"F", "steel", "lead", 0.0127, false, "steel on cold-worked lead", 0.25},
}};

/// What a central impact of a pair is governed by.
struct PairContact {
  double stiffness;  // k = 4/3 E* √R [N/m^{3/2}]
  double mass;       // reduced [kg]
  double damping;    // λ that gives the assumed restitution at 1 m/s [N s/m^{3/2}]
};
PairContact contact_of(const MaterialPair& pair);

}  // namespace bristle::studies
