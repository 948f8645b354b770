#include "bristle/laws/materials.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <vector>

namespace bristle {

namespace {

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string number(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x,
                                 std::chars_format::general, 4)
                       .ptr;
  return {text.data(), end};
}

// Where the numbers are from.
constexpr std::string_view gere =
    "Typical Moduli and Poisson's Ratios, after Gere, Mechanics of Materials, 5th ed., "
    "and Ashby";
constexpr std::string_view riley =
    "Multimedia Engineering Mechanics, appendix of material properties";
constexpr std::string_view asm_316 = "ASM data sheet, AISI Type 316, annealed bar";
constexpr std::string_view boos = "Boos & McPhee 2013, table 1";
constexpr std::string_view aluminum_association =
    "Aluminum Association, typical values of 6061-T6";
constexpr std::string_view substech = "SubsTech, Wrought magnesium alloy AZ31B";
constexpr std::string_view olin = "Olin Brass, C26000 (ASTM B36) data sheet";
constexpr std::string_view lead_sources =
    "matmake, Properties of lead, after Cardarelli, Materials Handbook, 2018, and the "
    "CRC "
    "Handbook of Chemistry and Physics, 2016";
constexpr std::string_view granta = "Granta Design, data sheet Cork; mid-range";
constexpr std::string_view float_glass =
    "VASGLASS, Constituent materials and attributes: float glass to EN 572";
constexpr std::string_view munro =
    "Munro 1997, Evaluated material properties for a sintered alpha-alumina, J. Am. "
    "Ceram. Soc. 80; NIST SRD 150";
constexpr std::string_view munro_nu = "from E = 416 GPa and K = 257 GPa of Munro 1997";
constexpr std::string_view quadrant = "Quadrant, Nylon 101 (PA 66, extruded) data sheet";
constexpr std::string_view matweb_rubber =
    "MatWeb, Natural rubber, vulcanized: G = 0.5 MPa, so E = 3 G";
constexpr std::string_view matweb_rubber_density =
    "MatWeb, Natural rubber, vulcanized, uncompounded";
constexpr std::string_view gammon =
    "Hill's mean of the crystal constants at -16 C of Gammon, Kiefte, Clouter & Denner "
    "1983, J. Glaciology 29";
constexpr std::string_view oak =
    "Missouri University of Science and Technology, wood at 12 % water: oak";
constexpr std::string_view missouri =
    "Missouri University of Science and Technology, Mechanics of Materials, Example "
    "Properties";
constexpr std::string_view cast_iron_modulus =
    "handbook value; Gere gives 83 to 170 GPa, MakeItFrom 66 to 180 GPa by grade";
constexpr std::string_view cast_iron_ratio = "handbook value; Gere gives 0.2 to 0.3";
constexpr std::string_view cast_iron_density = "MakeItFrom, ASTM Grade 20 grey cast iron";
constexpr std::string_view gere_rubber =
    "nearly incompressible; Gere, Mechanics of Materials, gives 0.45 to 0.5";
constexpr std::string_view heitzman =
    "Triton College, Strength of Materials, Material Constants: red oak";
constexpr std::string_view handbook = "handbook value, source not traced";

constexpr double MPa = 1e6;
constexpr double GPa = 1e9;

constexpr std::array table{
    Material{"steel",
             "Carbon steel",
             {200 * GPa, {190 * GPa, 210 * GPa}, riley},
             {0.29, {0.27, 0.30}, riley},
             {7850, {7810, 7860}, missouri},
             ""},
    Material{"stainless-316",
             "Stainless steel AISI 316, annealed",
             {193 * GPa, {187.5 * GPa, 200 * GPa}, asm_316},
             {0.27, {0.27, 0.30}, boos},
             {8000, {7900, 8000}, asm_316},
             "Boos & McPhee 2013 print 200 GPa, but their Hertz stiffnesses follow from "
             "193 GPa."},
    Material{"aluminium-6061",
             "Aluminium alloy 6061-T6",
             {68.9 * GPa, {68 * GPa, 72 * GPa}, aluminum_association},
             {0.33, {0.33, 0.33}, riley},
             {2700, {2700, 2730}, aluminum_association},
             ""},
    Material{"magnesium-az31",
             "Magnesium alloy AZ31B",
             {45 * GPa, {35 * GPa, 45 * GPa}, substech},
             {0.35, {0.29, 0.35}, boos},
             {1770, {1700, 1830}, substech},
             "Anisotropic when extruded: Boos & McPhee 2013 give 35 to 40 GPa, and their "
             "Hertz stiffness follows from 38.0 GPa."},
    Material{"brass",
             "Cartridge brass C26000 (CuZn30)",
             {110 * GPa, {96 * GPa, 112 * GPa}, riley},
             {0.33, {0.31, 0.34}, riley},
             {8530, {8200, 8600}, olin},
             ""},
    Material{"cast-iron",
             "Grey cast iron",
             {120 * GPa, {66 * GPa, 180 * GPa}, cast_iron_modulus},
             {0.26, {0.20, 0.30}, cast_iron_ratio},
             {7200, {7000, 7600}, cast_iron_density},
             "Does not follow Hooke's law; the modulus varies twofold with the grade."},
    Material{"lead",
             "Lead",
             {16.1 * GPa, {14 * GPa, 16.1 * GPa}, lead_sources},
             {0.44, {0.42, 0.44}, lead_sources},
             {11350, {11340, 11400}, lead_sources},
             "Yields at once: hardly any impact is elastic."},
    Material{"cork",
             "Cork",
             {37.5 * MPa, {25 * MPa, 50 * MPa}, granta},
             {0.24, {0.08, 0.4}, granta},
             {200, {120, 240}, granta},
             "A foam: stiffer along the radius of the tree, linear to about 5 % strain."},
    Material{"glass",
             "Soda-lime float glass",
             {70 * GPa, {70 * GPa, 72 * GPa}, float_glass},
             {0.2, {0.2, 0.23}, float_glass},
             {2500, {2400, 2530}, float_glass},
             ""},
    Material{"alumina",
             "Sintered alumina, 99.5 %",
             {416 * GPa, {220 * GPa, 446 * GPa}, munro},
             {0.23, {0.22, 0.24}, munro_nu},
             {3984, {3500, 4100}, munro},
             "Grades below 99.5 % are softer: the range covers them."},
    Material{"nylon",
             "Nylon 66, dry",
             {2.93 * GPa, {1.5 * GPa, 3.4 * GPa}, quadrant},
             {0.4, {0.4, 0.4}, gere},
             {1150, {1120, 1150}, quadrant},
             "Softens with moisture, by half at 2.5 % water, and with temperature."},
    Material{"rubber",
             "Natural rubber, vulcanised, unfilled",
             {1.5 * MPa, {0.7 * MPa, 4.1 * MPa}, matweb_rubber},
             {0.499, {0.45, 0.5}, gere_rubber},
             {950, {930, 1280}, matweb_rubber_density},
             "Fillers stiffen it severalfold; Hertz holds for small strains only."},
    Material{"ice",
             "Polycrystalline ice near -16 C",
             {9.2 * GPa, {9.1 * GPa, 9.3 * GPa}, gammon},
             {0.328, {0.325, 0.33}, gammon},
             {917, {917, 917}, handbook},
             "For fast loads: slow ones creep, and the modulus seems lower."},
    Material{"wood",
             "Oak, along the grain",
             {12.4 * GPa, {11 * GPa, 12.4 * GPa}, oak},
             {0.3, {0.3, 0.3}, heitzman},
             {680, {680, 680}, oak},
             "Far softer across the grain: Hertz is a rough guide only."},
};

constexpr std::string_view lbl =
    "Lawrence Berkeley National Laboratory, Engineering: Coefficient of Friction";
constexpr std::string_view ecampus =
    "Physics Fundamentals (eCampusOntario), table A.1, clean and dry";
constexpr std::string_view lust =
    "Lust, Engineering Guide CDA3000, table 7.21; mid-range";
constexpr std::string_view drill_hq = "Drill-HQ, Coefficient of Friction chart, 2012";
constexpr std::string_view quadrant_friction = "Quadrant, Nylon 101: dry against steel";
constexpr std::string_view hill = "S. A. Hill, Coefficients of Friction, 2023";
constexpr std::string_view pickedshares =
    "pickedshares, Static and sliding friction values, dry";

constexpr std::array pairs{
    FrictionPair{"steel", "steel", {0.74, {0.12, 0.80}, lbl}, {0.42, {0.08, 0.70}, lbl}},
    FrictionPair{"steel",
                 "aluminium-6061",
                 {0.61, {0.61, 0.61}, ecampus},
                 {0.47, {0.47, 0.47}, ecampus}},
    FrictionPair{
        "steel", "brass", {0.51, {0.35, 0.51}, ecampus}, {0.44, {0.44, 0.44}, ecampus}},
    FrictionPair{"steel",
                 "cast-iron",
                 {0.40, {0.18, 0.40}, ecampus},
                 {0.23, {0.17, 0.24}, ecampus}},
    FrictionPair{"steel",
                 "nylon",
                 {0.33, {0.20, 0.45}, lust},
                 {0.25, {0.18, 0.45}, quadrant_friction}},
    FrictionPair{"steel", "wood", {0.5, {0.20, 0.75}, hill}, {0.3, {0.20, 0.60}, hill}},
    FrictionPair{"steel",
                 "ice",
                 {0.027, {0.027, 0.4}, pickedshares},
                 {0.014, {0.014, 0.02}, pickedshares}},
    FrictionPair{"aluminium-6061",
                 "aluminium-6061",
                 {1.05, {1.05, 1.35}, ecampus},
                 {0.4, {0.4, 1.4}, ecampus}},
    FrictionPair{"cast-iron",
                 "cast-iron",
                 {1.1, {1.1, 1.1}, ecampus},
                 {0.15, {0.15, 0.15}, ecampus}},
    FrictionPair{
        "glass", "glass", {0.95, {0.9, 1.0}, drill_hq}, {0.4, {0.4, 0.4}, drill_hq}},
    FrictionPair{"wood", "wood", {0.5, {0.25, 0.75}, hill}, {0.3, {0.20, 0.50}, hill}},
    FrictionPair{"ice", "ice", {0.1, {0.1, 0.1}, hill}, {0.03, {0.03, 0.03}, hill}},
};

}  // namespace

std::span<const Material> materials() { return table; }
std::span<const FrictionPair> friction_pairs() { return pairs; }

Result<const Material*> find_material(std::string_view name) {
  std::vector<std::string_view> names;
  std::string list;
  for (const Material& m : table) {
    if (m.name == name) return &m;
    names.push_back(m.name);
    list += concat({list.empty() ? "" : ", ", m.name});
  }
  std::string_view close = nearest(name, names);
  for (const std::string_view n : names) {  // "stainless" for "stainless-316"
    if (close.empty() && name.size() >= 3 && n.starts_with(name)) close = n;
  }
  const std::string hint =
      close.empty() ? "." : concat({"; did you mean \"", close, "\"?"});
  return Error{
      concat({"there is no material \"", name, "\"", hint, " Known materials: ", list})};
}

Result<const FrictionPair*> find_friction(const Material& a, const Material& b) {
  for (const FrictionPair& p : pairs) {
    if ((p.a == a.name && p.b == b.name) || (p.a == b.name && p.b == a.name)) return &p;
  }
  const auto partners = [](const Material& m) {
    std::string list;
    for (const FrictionPair& p : pairs) {
      if (p.a != m.name && p.b != m.name) continue;
      list += concat({list.empty() ? "" : ", ", p.a == m.name ? p.b : p.a});
    }
    return list.empty() ? std::string("nothing") : list;
  };
  return Error{
      concat({"friction of ", a.name, " on ", b.name,
              " is not tabulated; measure it. Tabulated for ", a.name, ": ", partners(a),
              a.name == b.name ? "" : concat({"; for ", b.name, ": ", partners(b)})})};
}

double shear_modulus(const Material& m) {
  return m.youngs_modulus.value / (2 * (1 + m.poissons_ratio.value));
}

double equivalent_modulus(const Material& a, const Material& b) {
  const auto compliance = [](const Material& m) {
    const double nu = m.poissons_ratio.value;
    return (1 - nu * nu) / m.youngs_modulus.value;
  };
  return 1 / (compliance(a) + compliance(b));
}

double equivalent_shear_modulus(const Material& a, const Material& b) {
  const auto compliance = [](const Material& m) {
    return (2 - m.poissons_ratio.value) / shear_modulus(m);
  };
  return 1 / (compliance(a) + compliance(b));
}

double flat() { return std::numeric_limits<double>::infinity(); }

double equivalent_radius(double radius_a, double radius_b) {
  return 1 / (1 / radius_a + 1 / radius_b);
}

double hertz_stiffness(double equivalent_modulus, double radius) {
  return 4.0 / 3 * equivalent_modulus * std::sqrt(radius);
}

double clutch_stiffness(double equivalent_modulus, double radius) {
  return 2 * equivalent_modulus * std::sqrt(radius);
}

double mindlin_stiffness(double equivalent_shear_modulus, double radius, double depth) {
  return 8 * equivalent_shear_modulus * std::sqrt(radius * depth);
}

double hertz_depth(double stiffness, double load) {
  return std::pow(load / stiffness, 2.0 / 3);
}

double ball_mass(const Material& material, double radius) {
  return 4.0 / 3 * std::numbers::pi * radius * radius * radius * material.density.value;
}

double reduced_mass(double mass_a, double mass_b) {
  return 1 / (1 / mass_a + 1 / mass_b);
}

Result<double> equivalent_stiffness(const LawEntry& law,
                                    std::span<const double> parameters,
                                    double hertz_stiffness, double mass, double speed,
                                    const Punch& punch) {
  std::vector<double> values(parameters.begin(), parameters.end());
  double* stiffness = nullptr;
  const Parameter* about = nullptr;
  double exponent = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& p = law.parameters[i];
    if (p.name == "stiffness") {
      stiffness = &values[i];
      about = &p;
    }
    if (p.name == "exponent") exponent = values[i];
    if (p.name == law.damping_parameter) {
      values[i] = p.name == "restitution" ? p.range.high : p.range.low;
    }
  }
  if (about == nullptr || law.impact_function == nullptr) {
    return Error{concat({law.info.name, " has no stiffness that materials could give"})};
  }
  double k = hertz_stiffness;
  const bool hertzian =
      about->unit == "N/m^1.5" || (about->unit == "N/m^p" && exponent == 1.5);
  if (!hertzian) {
    // Secants in log k and log depth, a straight line for a power law.
    const double wanted = 0.4 * std::log(1.25 * mass * speed * speed / hertz_stiffness);
    double log_k = std::log(about->preset);
    double slope = -0.5;
    double last_log_k = 0;
    double last_miss = 0;
    for (int i = 0; i < 50; ++i) {
      *stiffness = std::exp(log_k);
      const auto report = law.impact(values, mass, speed, nullptr, punch);
      if (!report) return Error{concat({law.info.name, ": ", report.error()})};
      const double miss = std::log(report->peak_depth) - wanted;
      if (std::fabs(miss) < 1e-12) break;
      if (i > 0 && miss != last_miss) slope = (miss - last_miss) / (log_k - last_log_k);
      last_log_k = log_k;
      last_miss = miss;
      log_k -= miss / slope;
    }
    k = std::exp(log_k);
  }
  if (std::string problem = out_of_range(*about, k); !problem.empty()) {
    return Error{concat({law.info.name, ": ", problem})};
  }
  return k;
}

Result<BristleSuggestion> suggest_bristle(const BristleWish& w) {
  struct Named {
    std::string_view name;
    double value;
  };
  for (const Named& n :
       {Named{"equivalent shear modulus", w.equivalent_shear_modulus},
        Named{"stiffness", w.hertz_stiffness}, Named{"radius", w.radius},
        Named{"load", w.load}, Named{"mass", w.mass},
        Named{"damping ratio", w.damping_ratio}, Named{"load rate", w.load_rate},
        Named{"kinetic coefficient", w.kinetic_coefficient}}) {
    const bool sound = n.value > 0 && std::isfinite(n.value);
    if (!sound) {
      return Error{concat({n.name, " = ", number(n.value), " must be above 0"})};
    }
  }
  if (!(w.static_coefficient >= w.kinetic_coefficient)) {
    return Error{
        concat({"static coefficient = ", number(w.static_coefficient),
                " must not be below the kinetic one, ", number(w.kinetic_coefficient)})};
  }
  if (!(w.stribeck_speed >= 0)) {
    return Error{concat({"Stribeck speed = ", number(w.stribeck_speed),
                         " must be above 0 m/s, or 0 for a suggestion"})};
  }
  BristleSuggestion s{};
  s.stiffness = mindlin_stiffness(w.equivalent_shear_modulus, w.radius,
                                  hertz_depth(w.hertz_stiffness, w.load));
  s.damping = 2 * w.damping_ratio * std::sqrt(s.stiffness * w.mass);
  const double excess = (w.static_coefficient - w.kinetic_coefficient) * w.load;
  s.least_stribeck_speed =
      2 * std::sqrt(excess * w.load_rate / (s.stiffness * s.damping));
  s.stribeck_speed = w.stribeck_speed > 0 ? w.stribeck_speed : 2 * s.least_stribeck_speed;
  const double early =
      w.kinetic_coefficient * w.load +
      s.stribeck_speed * s.stribeck_speed * s.stiffness * s.damping / (4 * w.load_rate);
  s.breakaway_force = std::fmin(w.static_coefficient * w.load, early);
  if (s.stribeck_speed < s.least_stribeck_speed) {
    s.warning =
        concat({"v_S = ", number(s.stribeck_speed),
                " m/s is too small: stiction breaks at about ", number(s.breakaway_force),
                " N instead of ", number(w.static_coefficient * w.load),
                " N when the force rises at ", number(w.load_rate),
                " N/s; take at least ", number(s.least_stribeck_speed), " m/s"});
  }
  return s;
}

}  // namespace bristle
