#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bristle/laws/restitution.hpp"
#include "scene/draft.hpp"

namespace bristle::scene {

namespace {

constexpr double default_restitution = 0.5;
constexpr double default_friction = 0.4;

/// How large a shape is, for the radius of a contact [m]; a point has no size.
double size_of(const Shape& shape) {
  const Aabb box = bounds(shape, Transform<double>{});
  const Vec3<double> half = 0.5 * (box.high - box.low);
  const double size = std::min({half.x, half.y, half.z});
  return std::isfinite(size) && size > 0 ? size : HUGE_VAL;
}

constexpr double no_size = 1e300;

/// What a rule is about: the heaviest body, the smallest curved thing, materials.
struct Subject {
  double mass = 0;          // [kg]
  double radius = no_size;  // [m]
  bool any = false;         // it fits some shape
};

/// Of every name that a rule may say: a shape's, a body's, a surface's, "*".
using Subjects = std::map<std::string, Subject, std::less<>>;

Subjects subjects_of(const Draft& draft) {
  Subjects all;
  for (const ShapeSpec& shape : draft.parts.shapes) {
    const double size = size_of(shape.shape);
    const auto mass = draft.masses.find(shape.body);
    for (const std::string& name :
         {std::string("*"), shape.name, shape.body, shape.surface}) {
      Subject& s = all[name];
      s.any = true;
      s.radius = std::min(s.radius, size);
      if (mass != draft.masses.end()) s.mass = std::max(s.mass, mass->second);
    }
  }
  return all;
}

/// A law given as a name or a table: law = "…" and its parameters.
std::optional<LawChoice> read_law(const Section& at, std::string_view key,
                                  LawFamily family) {
  const toml::node& node = *at.node(key);
  std::string name;
  std::vector<std::pair<std::string, double>> given;
  if (const auto text = node.value<std::string>(); text && node.is_string()) {
    name = *text;
  } else if (const toml::table* table = node.as_table()) {
    const auto law = (*table)["law"].value<std::string>();
    if (!law) {
      at.error(key,
               fmt::format("{} needs law = \"…\"; `bristle law list` names them", key));
      return std::nullopt;
    }
    name = *law;
  } else {
    at.error(key, fmt::format("{} must be a law's name, or a table with law and its "
                              "parameters",
                              shown(key, node)));
    return std::nullopt;
  }
  const auto entry = find_law(name);
  if (!entry || (*entry)->family != family) {
    at.error(key, entry ? fmt::format("\"{}\" is a {} law", name,
                                      family == LawFamily::normal ? "friction" : "normal")
                        : entry.error());
    return std::nullopt;
  }
  bool good = true;
  if (const toml::table* table = node.as_table()) {
    for (const auto& [word, value] : *table) {
      if (word.str() == "law") continue;
      const Place place = at.place_of(value);
      const auto& parameters = (*entry)->parameters;
      const auto found =
          std::find_if(parameters.begin(), parameters.end(),
                       [&](const Parameter& p) { return p.name == word.str(); });
      if (found == parameters.end()) {
        std::vector<std::string_view> names;
        for (const Parameter& p : parameters) names.push_back(p.name);
        at.source().problems->error(
            place, fmt::format("{}, {} law {}: unknown parameter {}{}", at.what(), key,
                               name, word.str(), did_you_mean(word.str(), names)));
        good = false;
        continue;
      }
      std::string text;
      if (const auto flag = value.value<bool>(); flag && value.is_boolean()) {
        text = *flag ? "true" : "false";
      } else if (value.is_string()) {
        text = *value.value<std::string>();
      } else if (const auto number = value.value<double>()) {
        text = fmt::format("{}", *number);
      }
      const auto parsed = parse_value(*found, text);
      if (!parsed) {
        at.source().problems->error(place, fmt::format("{}, {} law {}: {}", at.what(),
                                                       key, name, parsed.error()));
        good = false;
        continue;
      }
      given.emplace_back(std::string(word.str()), *parsed);
    }
  }
  if (!good) return std::nullopt;
  std::vector<std::pair<std::string_view, double>> views;
  for (const auto& [word, value] : given) views.emplace_back(word, value);
  const auto choice = choose(name, views);
  if (!choice) {
    at.error(key, choice.error());
    return std::nullopt;
  }
  return *choice;
}

bool sets(const Section& at, std::string_view key, std::string_view parameter) {
  const toml::node* node = at.node(key);
  const toml::table* table = node != nullptr ? node->as_table() : nullptr;
  return table != nullptr && table->contains(parameter);
}

void set_parameter(LawChoice& law, std::string_view name, double value) {
  const auto& parameters = entry_of(law).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) law.parameters[i] = value;
  }
}

bool has_parameter(const LawChoice& law, std::string_view name) {
  const auto& parameters = entry_of(law).parameters;
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& p) { return p.name == name; });
}

/// k of f = k δ^{3/2}: as given, from materials, or so that the body sinks in by a
/// ten-thousandth of its size under its weight.
double stiffness_of(const Section& at, const Subject& both, double gravity,
                    const Draft& draft) {
  if (const auto k = at.number("stiffness")) return *k;
  const double radius = std::min(both.radius, 1e3);
  const std::vector<std::string> materials = at.texts("materials");
  if (!materials.empty()) {
    if (materials.size() != 2) {
      at.error("materials", "materials must be two names: [\"steel\", \"rubber\"]");
      return 1e6;
    }
    const auto a = draft.material(materials[0], at, "materials");
    const auto b = draft.material(materials[1], at, "materials");
    if (!a || !b) return 1e6;
    const double compliance =
        (1 - a->poissons_ratio * a->poissons_ratio) / a->youngs_modulus +
        (1 - b->poissons_ratio * b->poissons_ratio) / b->youngs_modulus;
    if (!at.given("radius") && both.radius >= no_size) {
      at.error("materials", "materials need radius_m here: nothing that touches has one");
    }
    return hertz_stiffness(1 / compliance, at.number_or("radius", radius));
  }
  const double weight = std::max(both.mass, 1e-6) * std::max(gravity, 1.0);
  return weight / std::pow(1e-4 * std::min(radius, 1.0), 1.5);
}

/// Bristles as stiff as the contact under the body's weight, damped by half.
LawChoice bristles(double mu, double stiffness, const Subject& both, double gravity) {
  const double mass = std::max(both.mass, 1e-6);
  const double depth = std::pow(mass * std::max(gravity, 1.0) / stiffness, 2.0 / 3);
  const double sigma0 = std::clamp(1.5 * stiffness * std::sqrt(depth), 1e-3, 1e12);
  return choose<GonthierFriction>(
      {.mu_static = mu,
       .mu_coulomb = mu,
       .stiffness = sigma0,
       .damping = std::clamp(std::sqrt(sigma0 * mass), 1e-6, 1e9),
       .viscous = 0,
       .stribeck_speed = 1e-3,
       .dwell_time = 0.01,
       .bound = 1});
}

void add_rule(const Section& at, const std::string& a, const std::string& b,
              const Subjects& subjects, Draft& draft) {
  ContactSpec rule;
  rule.a = a;
  rule.b = b;
  rule.touches = at.flag("touches", true);
  const auto subject = [&](const std::string& name) {
    const auto found = subjects.find(name);
    return found == subjects.end() ? Subject{} : found->second;
  };
  const Subject of_a = subject(a), of_b = subject(b);
  for (const auto& [name, who] : {std::pair{a, of_a}, std::pair{b, of_b}}) {
    if (who.any || draft.parts.shapes.empty()) continue;
    std::vector<std::string_view> names;
    for (const ShapeSpec& shape : draft.parts.shapes) {
      names.insert(names.end(), {shape.name, shape.body, shape.surface});
    }
    at.error(name == a ? "a" : "b", fmt::format("\"{}\" is no shape, body or surface{}",
                                                name, did_you_mean(name, names)));
  }
  Subject both;
  both.mass = std::max(of_a.mass, of_b.mass);
  both.radius = std::min(of_a.radius, of_b.radius);
  const Vec3<double> g = draft.parts.gravity.value_or(Vec3<double>{0, 0, -9.81});
  const double gravity = norm(g);
  const double stiffness = stiffness_of(at, both, gravity, draft);
  const double restitution = at.number_or("restitution", default_restitution);

  rule.normal = choose<GonthierNormal>({.stiffness = stiffness,
                                        .exponent = 1.5,
                                        .restitution = restitution,
                                        .impact_speed_floor = 1e-4});
  if (at.node("normal") != nullptr) {
    if (const auto law = read_law(at, "normal", LawFamily::normal)) {
      rule.normal = *law;
      if (!sets(at, "normal", "stiffness") && has_parameter(*law, "stiffness")) {
        const bool hertzian =
            !has_parameter(*law, "exponent") || !sets(at, "normal", "exponent");
        if (at.has("stiffness") || at.has("materials") || hertzian) {
          set_parameter(rule.normal, "stiffness", stiffness);
        }
      }
      if (at.has("restitution")) {
        if (has_parameter(*law, "restitution")) {
          set_parameter(rule.normal, "restitution", restitution);
        } else {
          const LawEntry& entry = entry_of(rule.normal);
          const auto tuned = parameters_for_restitution(
              entry, std::span(rule.normal.parameters).first(entry.parameters.size()),
              restitution, std::max(both.mass, 1e-6), 1);
          if (tuned) {
            std::copy(tuned->begin(), tuned->end(), rule.normal.parameters.begin());
          } else {
            at.error("restitution", tuned.error());
          }
        }
      }
    }
  }
  rule.friction = bristles(default_friction, stiffness, both, gravity);
  if (const toml::node* node = at.node("friction")) {
    if (node->is_number()) {
      const double mu = *node->value<double>();
      if (!(mu >= 0 && mu <= 10)) {
        at.error("friction",
                 fmt::format("{} must lie in [0, 10]", shown("friction", *node)));
      } else {
        rule.friction =
            mu == 0 ? choose<Frictionless>() : bristles(mu, stiffness, both, gravity);
      }
    } else if (const auto law = read_law(at, "friction", LawFamily::friction)) {
      rule.friction = *law;
    }
  }
  for (const LawChoice* law : {&rule.normal, &rule.friction}) {
    if (const std::string wrong = out_of_range(*law); !wrong.empty())
      at.error("a", wrong);
  }
  rule.share_a = at.number("share_a");
  draft.parts.contacts.push_back(rule);
  draft.rules.emplace_back(at);
}

}  // namespace

void read_contacts(const Section& scene, Draft& draft) {
  const auto contacts = scene.tables("contacts");
  const std::vector<ContactSpec> of_files = draft.parts.contacts;
  const std::vector<Written> rules_of_files = draft.rules;
  draft.parts.contacts.clear();
  draft.rules.clear();
  const Subjects subjects = subjects_of(draft);
  if (contacts.empty()) {
    static const toml::table nothing;
    add_rule(Section(nothing, contact_keys, "contacts", draft.source), "*", "*", subjects,
             draft);
  }
  for (std::size_t i = 0; i < contacts.size() && !draft.source.problems->full(); ++i) {
    const Section at(*contacts[i], contact_keys, fmt::format("contact {}", i + 1),
                     draft.source);
    const std::vector<std::string> group = at.texts("group");
    if (group.empty()) {
      add_rule(at, at.text_or("a", "*"), at.text_or("b", "*"), subjects, draft);
      continue;
    }
    if (at.has("a") || at.has("b"))
      at.error("group", "give a and b, or a group, not both");
    if (group.size() > group_names) {
      at.error("group", fmt::format("group has {} names, and may have at most {}; give "
                                    "their shapes one surface, and name that",
                                    group.size(), group_names));
      continue;
    }
    for (std::size_t k = 0; k < group.size(); ++k) {
      for (std::size_t m = k; m < group.size(); ++m)
        add_rule(at, group[k], group[m], subjects, draft);
    }
  }
  // What a robot's file excludes stays excluded.
  draft.parts.contacts.insert(draft.parts.contacts.end(), of_files.begin(),
                              of_files.end());
  draft.rules.insert(draft.rules.end(), rules_of_files.begin(), rules_of_files.end());
}

}  // namespace bristle::scene
