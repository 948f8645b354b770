#pragma once

#include <limits>

#include "bristle/core/result.hpp"
#include "bristle/laws/impact.hpp"
#include "bristle/model/model.hpp"

// Laws whose parameters follow from the two shapes that touch.
//
// A pair has an effective mass m, a size L, a radius R* and a gravity g. Its rest depth
//   δ₀ = 5e-4 L
// is the depth at which one contact carries the weight m g. From it follow
//   the stiffness         k:       f_K(δ₀) = k δ₀^p = m g
//   the floor of the impact speed  v_min = V(e)/a₀ with a₀ = 2 √(p/(g δ₀)),
// where a = V(e)/v_i is the damping that a law latches at touch-down (gonthier: V =
// d(e)/e) and a₀ the one that is critical for the mass m at rest at δ₀; and the friction
//   spring-slider         k_t = ∂f_K/∂δ at δ₀ = p m g/δ₀,  c_t = √(k_t m),
// half of critical for the mass m, and critical for a ball that rolls (2/7 m) or a box
// that stands on four points. Where a rule gives k, its own δ₀ with f_K(δ₀) = m g takes
// the place of the above.
//
// Under a volumetric law f_K = k_v V(δ), V that of the pair: of the smaller shape, laid
// on a plane with its least extent upright, or of two balls. From materials it is
//   k_v = 2E*/(π r) of a flat face of the area π r²,
//   k_v = 8E*/(5π √(R δ)) of a round one: as much work as Hertz' law at the depth δ at
//         which that carries the weight m g.
// Where both bodies yield, 1/E* = Σ(1 − ν²)/E makes 1/k_v the sum of theirs.
// A rule may give a frequency instead, for a linear law: k = m ω², c = 2 ζ m ω.

namespace bristle {

/// The rest depth over the size of the pair: how hard contacts are by default. Measured
/// on falls, stacks and heaps under the adaptive integrator: 1e-4 takes 1.8 times as many
/// steps, 1e-3 0.8 times; a ball that falls from twenty radii sinks in by 5 % of its
/// radius (1e-4: 2 %, 1e-3: 8 %).
inline constexpr double rest_depth_ratio = 5e-4;

/// Takes the place of a gravity below 1 m/s² [m/s²].
inline constexpr double reference_gravity = 9.81;

/// The properties of a shape that decide about its contacts.
struct ShapeScale {
  double mass = std::numeric_limits<double>::infinity();    // of its link; ∞: the world
  double size = std::numeric_limits<double>::infinity();    // half its least extent [m]
  double radius = std::numeric_limits<double>::infinity();  // of curvature; ∞: flat [m]
  bool one_point = false;  // it touches in one point only, whatever the other shape
  // Laid on a plane at its rest depth, where some law is volumetric; else 0.
  double section = 0;  // V/δ [m²]
  double growth = 1;   // A δ/V: 1 of a flat face, 2 of a ball

  friend auto operator<=>(const ShapeScale&, const ShapeScale&) = default;
};

struct PairScale {
  double mass = 1;  // m, 1/m = 1/m_a + 1/m_b [kg]
  double size = 1;  // L, of the smaller shape [m]
  double radius =
      1;  // R*, 1/R* = 1/R_a + 1/R_b; of flat shapes L, of a point on a plane ∞ [m]
  double gravity = reference_gravity;  // g [m/s²]
  bool one_point = true;               // they touch in one point only
  double section = 0;                  // as ShapeScale's, at the pair's rest depth [m²]
  double growth = 1;

  friend auto operator<=>(const PairScale&, const PairScale&) = default;
};

ShapeScale scale_of(const Model& model, const ModelShape& shape);
/// Fills in V and A of a shape on a plane, for volumetric laws.
void add_section(const Shape& shape, ShapeScale& scale);
/// At least one of them moves.
PairScale scale_of(const ShapeScale& a, const ShapeScale& b, double gravity);
PairScale scale_of(const Model& model, const ModelShape& a, const ModelShape& b);

/// The size of a point on a plane, which has none: of a ball of water of that mass [m].
double substitute_size(double mass);

/// The overlap of a pair under a volumetric law; other laws ignore it.
Punch punch_of(const PairScale& pair);

/// The depth at which a normal law carries a load at rest [m].
double rest_depth(const LawChoice& normal, double load, const Punch& punch = {});

struct LawPair {
  LawChoice normal;
  LawChoice friction;
};

/// The laws of a rule for a pair. An error says which field of the rule it is about.
Result<LawPair> laws_of_pair(const ContactSpec& rule, const PairScale& pair);

}  // namespace bristle
