#include "cli/material.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>

#include "bristle/laws/materials.hpp"
#include "cli/bodies.hpp"
#include "cli/text.hpp"

namespace bristle::cli {

namespace {

struct Shown {
  std::string_view name;
  std::string_view key;  // in JSON, with its unit
  const Quantity* quantity;
  double scale;  // to the unit that is read
  std::string_view unit;
};

std::array<Shown, 3> quantities(const Material& m) {
  const bool soft = m.youngs_modulus.value < 1e9;
  return {{{"Young's modulus E", "youngs_modulus_Pa", &m.youngs_modulus,
            soft ? 1e-6 : 1e-9, soft ? "MPa" : "GPa"},
           {"Poisson's ratio ν", "poissons_ratio", &m.poissons_ratio, 1, ""},
           {"density ρ", "density_kg_per_m3", &m.density, 1, "kg/m³"}}};
}

std::string range_of(const Quantity& q, double scale = 1) {
  if (q.range.low == q.range.high) return "one value";
  return fmt::format("{:g} to {:g}", scale * q.range.low, scale * q.range.high);
}

Json to_json(const Quantity& q) {
  return {{"value", q.value},
          {"low", q.range.low},
          {"high", q.range.high},
          {"source", q.source}};
}

Json to_json(const Material& m) {
  Json json{{"name", m.name}, {"title", m.title}};
  for (const Shown& s : quantities(m)) json[std::string(s.key)] = to_json(*s.quantity);
  json["caution"] = m.caution;
  return json;
}

Json to_json(const FrictionPair& p) {
  return {{"a", p.a},
          {"b", p.b},
          {"static", to_json(p.static_coefficient)},
          {"kinetic", to_json(p.kinetic_coefficient)}};
}

int list_materials(bool json) {
  if (json) {
    Json all = Json::array();
    for (const Material& m : materials()) all.push_back(to_json(m));
    Json pairs = Json::array();
    for (const FrictionPair& p : friction_pairs()) pairs.push_back(to_json(p));
    fmt::print("{}\n", Json{{"materials", all}, {"friction", pairs}}.dump(2));
    return fine;
  }
  fmt::print("{}  {}       E [GPa]       ν   ρ [kg/m³]\n", padded("name", 15),
             padded("material", 36));
  for (const Material& m : materials()) {
    fmt::print("{}  {}  {:12.4g}  {:6.4g}  {:10.4g}\n", padded(m.name, 15),
               padded(m.title, 36), 1e-9 * m.youngs_modulus.value, m.poissons_ratio.value,
               m.density.value);
  }
  fmt::print(
      "\n`bristle material show NAME` gives ranges and sources, `bristle material pair A "
      "B`\nwhat follows for a contact.\n");
  return fine;
}

/// "E, ν: one source. ρ: another."
std::string sources(std::initializer_list<std::array<std::string_view, 2>> named) {
  std::string text;
  std::string_view last;
  for (const auto& [name, source] : named) {
    if (source == last) {
      text.insert(text.rfind(fmt::format(": {}.", source)), fmt::format(", {}", name));
      continue;
    }
    text += fmt::format("{}{}: {}.", text.empty() ? "" : " ", name, source);
    last = source;
  }
  return text;
}

/// The tables of docs/materials.md; a test holds the two together.
int print_markdown() {
  fmt::print("| name | material | E | ν | ρ [kg/m³] |\n|---|---|---|---|---|\n");
  for (const Material& m : materials()) {
    fmt::print("| `{}` | {} |", m.name, m.title);
    for (const Shown& s : quantities(m)) {
      fmt::print(" {:g}{} ({}) |", s.scale * s.quantity->value,
                 s.key == "youngs_modulus_Pa" ? fmt::format(" {}", s.unit) : "",
                 range_of(*s.quantity, s.scale));
    }
    fmt::print("\n");
  }
  fmt::print("\n| pair | μ_S | μ_C |\n|---|---|---|\n");
  for (const FrictionPair& p : friction_pairs()) {
    fmt::print("| {} on {} | {:g} ({}) | {:g} ({}) |\n", p.a, p.b,
               p.static_coefficient.value, range_of(p.static_coefficient),
               p.kinetic_coefficient.value, range_of(p.kinetic_coefficient));
  }
  fmt::print("\n");
  for (const Material& m : materials()) {
    fmt::print("- `{}`: {}{}{}\n", m.name,
               sources({{"E", m.youngs_modulus.source},
                        {"ν", m.poissons_ratio.source},
                        {"ρ", m.density.source}}),
               m.caution.empty() ? "" : " ", m.caution);
  }
  for (const FrictionPair& p : friction_pairs()) {
    fmt::print("- {} on {}: {}\n", p.a, p.b,
               sources({{"μ_S", p.static_coefficient.source},
                        {"μ_C", p.kinetic_coefficient.source}}));
  }
  return fine;
}

int show_material(const std::string& name, bool json) {
  const auto found = find_material(name);
  if (!found) return fail(found.error());
  const Material& m = **found;
  if (json) {
    Json out = to_json(m);
    Json pairs = Json::array();
    for (const FrictionPair& p : friction_pairs()) {
      if (p.a == m.name || p.b == m.name) pairs.push_back(to_json(p));
    }
    out["friction"] = pairs;
    fmt::print("{}\n", out.dump(2));
    return fine;
  }
  fmt::print("{}\n{}\n\n", m.name, m.title);
  for (const Shown& s : quantities(m)) {
    const Quantity& q = *s.quantity;
    fmt::print("  {} {:8g} {}  {}  {}\n", padded(s.name, 18), s.scale * q.value,
               padded(s.unit, 5), padded(range_of(q, s.scale), 15), q.source);
  }
  fmt::print("\nfriction, dry\n");
  bool any = false;
  for (const FrictionPair& p : friction_pairs()) {
    if (p.a != m.name && p.b != m.name) continue;
    any = true;
    fmt::print("  on {} μ_S {:g} ({}), μ_C {:g} ({})\n",
               padded(p.a == m.name ? p.b : p.a, 15), p.static_coefficient.value,
               range_of(p.static_coefficient), p.kinetic_coefficient.value,
               range_of(p.kinetic_coefficient));
  }
  if (!any) fmt::print("  nothing tabulated; measure it\n");
  if (!m.caution.empty()) {
    fmt::print("\n");
    print_wrapped("caution", m.caution);
  }
  return fine;
}

struct PairWish {
  std::string a;
  std::string b;
  std::optional<double> radius;
  std::optional<double> radius2;
  std::optional<double> load;
  std::optional<double> load_rate;
  std::optional<double> stribeck_speed;
  double damping_ratio = 0.3;
  bool json = false;
};

int show_pair(const PairWish& wish) {
  const auto a = find_material(wish.a);
  if (!a) return fail(a.error());
  const auto b = find_material(wish.b);
  if (!b) return fail(b.error());
  if (!wish.radius && (wish.radius2 || wish.load)) {
    return fail("--radius_m is needed, the radius of the first body in metres");
  }
  const auto friction = find_friction(**a, **b);
  const double modulus = equivalent_modulus(**a, **b);
  const double shear = equivalent_shear_modulus(**a, **b);
  Json json{{"a", (*a)->name},
            {"b", (*b)->name},
            {"equivalent_modulus_Pa", modulus},
            {"equivalent_shear_modulus_Pa", shear}};
  std::string text = fmt::format("{} on {}\n\n", (*a)->title, (*b)->title);
  const auto line = [&text](std::string_view what, double value, std::string_view unit) {
    text += fmt::format("  {} {:.6g} {}\n", padded(what, 34), value, unit);
  };
  line("equivalent modulus E*", 1e-9 * modulus, "GPa");
  line("equivalent shear modulus G*", 1e-9 * shear, "GPa");

  if (friction) {
    const FrictionPair& p = **friction;
    json["friction"] = to_json(p);
    text += fmt::format("  {} {:g} ({}), dry\n", padded("static friction μ_S", 34),
                        p.static_coefficient.value, range_of(p.static_coefficient));
    text += fmt::format("  {} {:g} ({}), dry\n", padded("kinetic friction μ_C", 34),
                        p.kinetic_coefficient.value, range_of(p.kinetic_coefficient));
  } else {
    json["friction"] = nullptr;
    json["friction_missing"] = friction.error();
    text += fmt::format("  {}\n", friction.error());
  }

  if (wish.radius) {
    const auto bodies = bodies_of(**a, **b, *wish.radius, wish.radius2);
    if (!bodies) return fail(bodies.error());
    const double clutch = clutch_stiffness(modulus, bodies->contact_radius);
    json["bodies"] = bodies->json();
    json["ball_mass_kg"] = ball_mass(**a, *wish.radius);
    json["clutch_stiffness_N_per_m1.5"] = clutch;
    text += "\n";
    line("equivalent radius R", 1e3 * bodies->contact_radius, "mm");
    line("Hertz stiffness k = 4/3 E* √R", bodies->stiffness, "N/m^1.5");
    line("clutch stiffness K_t = 2 E* √R", clutch, "N/m^1.5; D_t is the λ of the law");
    line(fmt::format("mass of the {} ball", (*a)->name),
         1e3 * ball_mass(**a, *wish.radius), "g");
    if (wish.radius2) {
      json["ball2_mass_kg"] = ball_mass(**b, *wish.radius2);
      line(fmt::format("mass of the {} ball", (*b)->name),
           1e3 * ball_mass(**b, *wish.radius2), "g");
      line("reduced mass", 1e3 * bodies->mass, "g");
    }
    if (wish.load) {
      BristleWish bristle{.equivalent_shear_modulus = shear,
                          .hertz_stiffness = bodies->stiffness,
                          .radius = bodies->contact_radius,
                          .load = *wish.load,
                          .mass = bodies->mass,
                          .damping_ratio = wish.damping_ratio,
                          .static_coefficient = 1,
                          .kinetic_coefficient = 1,
                          .load_rate = wish.load_rate.value_or(*wish.load),
                          .stribeck_speed = wish.stribeck_speed.value_or(0)};
      if (friction) {
        bristle.static_coefficient = (*friction)->static_coefficient.value;
        bristle.kinetic_coefficient = (*friction)->kinetic_coefficient.value;
      }
      const auto s = suggest_bristle(bristle);
      if (!s) return fail(s.error());
      const double depth = hertz_depth(bodies->stiffness, *wish.load);
      Json j{{"load_N", *wish.load},
             {"depth_m", depth},
             {"stiffness_N_per_m", s->stiffness},
             {"damping_N_s_per_m", s->damping}};
      text += fmt::format("\n  bristles under {:g} N\n", *wish.load);
      line("depth δ", 1e6 * depth, "µm");
      line("stiffness σ₀ = 8 G* √(R δ)", s->stiffness, "N/m");
      line("damping σ₁ = 2 ζ √(σ₀ m)", s->damping,
           fmt::format("N s/m for ζ = {:g}", wish.damping_ratio));
      if (friction) {
        j["load_rate_N_per_s"] = bristle.load_rate;
        j["least_stribeck_speed_m_per_s"] = s->least_stribeck_speed;
        j["stribeck_speed_m_per_s"] = s->stribeck_speed;
        j["breakaway_force_N"] = s->breakaway_force;
        j["warning"] = s->warning;
        line("Stribeck speed v_S", s->stribeck_speed,
             fmt::format("m/s; at least {:.4g} where the force rises at {:g} N/s",
                         s->least_stribeck_speed, bristle.load_rate));
        line("break-away force", s->breakaway_force, "N");
        if (!s->warning.empty()) {
          text += fmt::format("\n  warning: {}\n", s->warning);
        }
      }
      json["bristles"] = j;
    }
  }
  fmt::print("{}", wish.json ? json.dump(2) + "\n" : text);
  return fine;
}

}  // namespace

void add_material_commands(CLI::App& app, int& status) {
  CLI::App* material = app.add_subcommand(
      "material", "Materials, and what follows from them for a contact");
  material->require_subcommand(1);
  material->footer(
      "Examples:\n"
      "  bristle material list\n"
      "  bristle material show steel\n"
      "  bristle material pair steel brass --radius_m 0.0127\n"
      "  bristle material pair steel brass --radius_m 0.0127 --load_N 10\n"
      "  bristle law compare --materials steel,brass --radius 0.0127 --restitution 0.7");

  struct Options {
    std::string name;
    bool json = false;
    bool markdown = false;
    PairWish pair;
  };
  const auto options = std::make_shared<Options>();
  const auto with_json = [](CLI::App* command, bool& flag) {
    command->add_flag("--json", flag, "Print JSON and nothing else");
  };

  CLI::App* list = material->add_subcommand("list", "All materials by name");
  with_json(list, options->json);
  list->add_flag("--markdown", options->markdown,
                 "The tables of docs/materials.md, with ranges and sources");
  list->callback([options, &status] {
    status = options->markdown ? print_markdown() : list_materials(options->json);
  });

  CLI::App* show = material->add_subcommand("show", "Values, ranges, sources, friction");
  show->add_option("NAME", options->name, "A material's name")->required();
  with_json(show, options->json);
  show->callback(
      [options, &status] { status = show_material(options->name, options->json); });

  CLI::App* pair = material->add_subcommand(
      "pair", "Equivalent moduli, friction, and stiffness and mass for a radius");
  PairWish& wish = options->pair;
  pair->add_option("A", wish.a, "The first material, the ball")->required();
  pair->add_option("B", wish.b, "The second material")->required();
  pair->add_option("--radius_m,--radius", wish.radius, "Radius of the ball [m]");
  pair->add_option("--radius2_m,--radius2", wish.radius2,
                   "Radius of the second body [m]; flat when left out");
  pair->add_option("--load_N", wish.load, "Steady load, for bristle parameters [N]");
  pair->add_option("--damping_ratio", wish.damping_ratio, "ζ of the bristles")
      ->capture_default_str();
  pair->add_option("--load_rate_N_per_s", wish.load_rate,
                   "How fast the tangential force rises [N/s]; the load in a second when "
                   "left out");
  pair->add_option("--stribeck_speed_m_per_s", wish.stribeck_speed,
                   "v_S to check [m/s]; suggested when left out");
  with_json(pair, wish.json);
  pair->callback([options, &status] { status = show_pair(options->pair); });
}

}  // namespace bristle::cli
