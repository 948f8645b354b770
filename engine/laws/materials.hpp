#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bristle/core/parameter.hpp"
#include "bristle/core/result.hpp"
#include "bristle/laws/catalogue.hpp"

// Materials, and what follows from them for a contact: stiffness, friction, masses. Every
// number says where it is from and how far others differ; a contact that matters deserves
// a measurement.

namespace bristle {

/// A tabulated number: the value used here and its source, and the range over all sources
/// that were read (the value alone where there was one).
struct Quantity {
  double value;
  Range range;
  std::string_view source;
};

struct Material {
  std::string_view name;     // as typed: "cast-iron"
  std::string_view title;    // as read: "Grey cast iron"
  Quantity youngs_modulus;   // E [Pa]
  Quantity poissons_ratio;   // ν
  Quantity density;          // ρ [kg/m³]
  std::string_view caution;  // what to beware of; may be empty
};

/// Static and kinetic friction of two materials, dry.
struct FrictionPair {
  std::string_view a;
  std::string_view b;
  Quantity static_coefficient;   // μ_S
  Quantity kinetic_coefficient;  // μ_C
};

std::span<const Material> materials();
std::span<const FrictionPair> friction_pairs();

/// The material of that name, or a message with the nearest name.
Result<const Material*> find_material(std::string_view name);

/// Friction of two materials in either order, or a message that says which pairs there
/// are.
Result<const FrictionPair*> find_friction(const Material& a, const Material& b);

/// G = E/(2(1+ν)) [Pa].
double shear_modulus(const Material& material);

/// 1/E* = (1−ν₁²)/E₁ + (1−ν₂²)/E₂ (Johnson 1985, Contact Mechanics, § 4.2) [Pa].
double equivalent_modulus(const Material& a, const Material& b);

/// 1/G* = (2−ν₁)/G₁ + (2−ν₂)/G₂ (Johnson 1985, § 7.2) [Pa].
double equivalent_shear_modulus(const Material& a, const Material& b);

/// The radius of a plane.
double flat();

/// 1/R = 1/R₁ + 1/R₂; flat() for a plane, a negative radius for a hollow [m].
double equivalent_radius(double radius_a, double radius_b);

/// k = 4/3 E* √R of f = k δ^{3/2} (Hertz) [N/m^{3/2}].
double hertz_stiffness(double equivalent_modulus, double radius);

/// K_t = 2 E* √R = 3/2 k of the Azad–Featherstone clutch; its D_t is the λ of the normal
/// law (Azad & Featherstone 2010, eqs. 23, 24) [N/m^{3/2}].
double clutch_stiffness(double equivalent_modulus, double radius);

/// 8 G* √(R δ): tangential stiffness of a Hertz contact of depth δ without slip (Mindlin
/// 1949) [N/m].
double mindlin_stiffness(double equivalent_shear_modulus, double radius, double depth);

/// δ = (f/k)^{2/3} under a load f [m].
double hertz_depth(double stiffness, double load);

/// 4/3 π R³ ρ [kg].
double ball_mass(const Material& material, double radius);

/// The mass that a central impact of two free bodies sees, m₁m₂/(m₁+m₂) [kg].
double reduced_mass(double mass_a, double mass_b);

/// The `stiffness` with which this law stands for a Hertz contact at this mass and speed:
/// Hertz's own where the law is of the form k δ^{3/2}, else the one that stops the mass
/// at the same depth (5 m v²/(4 k))^{2/5}, damping at its weakest.
Result<double> equivalent_stiffness(const LawEntry& law,
                                    std::span<const double> parameters,
                                    double hertz_stiffness, double mass, double speed,
                                    const Punch& punch = {});

/// Parameters of a bristle friction law for a Hertz contact under a steady load.
struct BristleSuggestion {
  double stiffness;             // σ₀, Mindlin at this load [N/m]
  double damping;               // σ₁ = 2 ζ √(σ₀ m) [N s/m]
  double least_stribeck_speed;  // below it stiction breaks early [m/s]
  double stribeck_speed;        // v_S as asked, or twice the least [m/s]
  double breakaway_force;       // at this v_S [N]
  std::string warning;          // not empty when stiction breaks early
};

struct BristleWish {
  double equivalent_shear_modulus;  // G* [Pa]
  double hertz_stiffness;           // k [N/m^{3/2}]
  double radius;                    // R [m]
  double load;                      // f_n [N]
  double mass;                      // that rides on the bristles [kg]
  double damping_ratio;             // ζ
  double static_coefficient;        // μ_S
  double kinetic_coefficient;       // μ_C
  double load_rate;                 // Ḟ, how fast the tangential force rises [N/s]
  double stribeck_speed = 0;        // v_S; 0 to get a suggestion [m/s]
};

/// σ₀, σ₁ and v_S. While a force rises at Ḟ the bristles creep at Ḟ/σ₀ and σ₁ adds to
/// the force; the stick of the law fades before μ_S f_n is reached when v_S is small. The
/// force at break-away is then about μ_C f_n + v_S² σ₀σ₁/(4Ḟ).
Result<BristleSuggestion> suggest_bristle(const BristleWish& wish);

}  // namespace bristle
