#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scene/draft.hpp"
#include "scene/toml_text.hpp"

namespace bristle::scene {

namespace {

constexpr double default_restitution = 0.5;
constexpr double default_friction = 0.4;
constexpr double least_law_restitution = 1e-3;  // that a law's damping is found for
constexpr std::string_view rigid = "rigid";     // in the place of a normal law

/// Every name that a rule may say: a shape's, a body's, a surface's, "*".
using Names = std::set<std::string, std::less<>>;

Names names_of(const Draft& draft) {
  Names all;
  for (const ShapeSpec& shape : draft.parts.shapes) {
    all.insert({"*", shape.name, shape.body, shape.surface});
  }
  return all;
}

/// Why a name is not that of a law of the family.
/// A hint as the end of a sentence.
std::string ended(std::string hint) {
  if (!hint.ends_with('?')) hint += '.';
  return hint;
}

std::string wrong_law(std::string_view name, LawFamily family, bool known) {
  const bool normal = family == LawFamily::normal;
  if (known)
    return fmt::format("\"{}\" is a {} law", name, normal ? "friction" : "normal");
  std::vector<std::string_view> names;
  for (const LawEntry* law : laws_of(family)) names.push_back(law->info.name);
  if (normal) names.push_back(rigid);
  const std::string hint = normal && name == rigid
                               ? "; write normal = \"rigid\", without a table"
                               : did_you_mean(name, names);
  return fmt::format("there is no law \"{}\"{} {} laws: {}", name, ended(hint),
                     normal ? "Normal" : "Friction", fmt::join(names, ", "));
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
    at.error(key, fmt::format(
                      "{} must be {}a law's name, or a table with law and its "
                      "parameters",
                      shown(key, node),
                      family == LawFamily::normal ? "\"rigid\", " : "a coefficient, "));
    return std::nullopt;
  }
  const auto entry = find_law(name);
  if (!entry || (*entry)->family != family) {
    at.error(key, wrong_law(name, family, static_cast<bool>(entry)));
    return std::nullopt;
  }
  bool good = true;
  if (const toml::table* table = node.as_table()) {
    for (const auto& [word, value] : *table) {
      if (word.str() == "law") continue;
      const FileLine place = at.place_of(value);
      const auto& parameters = (*entry)->parameters;
      const auto found =
          std::find_if(parameters.begin(), parameters.end(),
                       [&](const Parameter& p) { return p.name == word.str(); });
      if (found == parameters.end()) {
        std::vector<std::string_view> names;
        for (const Parameter& p : parameters) names.push_back(p.name);
        at.source().problems->error(
            place,
            fmt::format("{}, {} law {}: unknown parameter {}{} Known: {}", at.what(), key,
                        name, word.str(), ended(did_you_mean(word.str(), names)),
                        fmt::join(names, ", ")));
        good = false;
        continue;
      }
      std::string text;
      if (const auto flag = value.value<bool>(); flag && value.is_boolean()) {
        text = *flag ? "true" : "false";
      } else if (value.is_string()) {
        text = *value.value<std::string>();
      } else if (const auto number = number_in(value)) {
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
  return entry_of(law).find_parameter(name) >= 0;
}

/// E* of a rule's two materials [Pa]; 0 where it names none.
double contact_modulus(const Section& at, const Draft& draft) {
  const std::vector<std::string> materials = at.texts("materials");
  if (materials.empty()) return 0;
  if (materials.size() != 2) {
    at.error("materials", "materials must be two names: [\"steel\", \"rubber\"]");
    return 0;
  }
  const auto a = draft.material(materials[0], at, "materials");
  const auto b = draft.material(materials[1], at, "materials");
  if (!a || !b) return 0;
  return 1 / ((1 - a->poissons_ratio * a->poissons_ratio) / a->youngs_modulus +
              (1 - b->poissons_ratio * b->poissons_ratio) / b->youngs_modulus);
}

bool is_rigid(const Section& at) {
  const toml::node* node = at.node("normal");
  return node != nullptr && node->is_string() && *node->value<std::string>() == rigid;
}

/// normal = "rigid": no law, a coefficient of restitution alone.
void read_rigid(const Section& at, ContactSpec& rule) {
  rule.rigid = true;
  rule.restitution = at.number_or("restitution", 0);
  for (const char* key : {"stiffness", "materials", "radius", "impact_speed"}) {
    if (!at.has(key)) continue;
    at.error(key,
             fmt::format("{} belongs to a normal law, and normal = \"rigid\" is none",
                         at.key_of(key)));
  }
}

/// The normal law, and what of it the pair decides: whatever the rule leaves out.
void read_normal(const Section& at, const Draft& draft, ContactSpec& rule) {
  if (is_rigid(at)) {
    read_rigid(at, rule);
    return;
  }
  rule.normal = choose<GonthierNormal>();
  const bool given = at.node("normal") != nullptr;
  if (given) {
    if (const auto law = read_law(at, "normal", LawFamily::normal)) rule.normal = *law;
  }
  PairDefaults& open = rule.from_pair;
  if (has_parameter(rule.normal, "stiffness") && !sets(at, "normal", "stiffness")) {
    if (const auto k = at.number("stiffness")) {
      set_parameter(rule.normal, "stiffness", *k);
    } else {
      open.contact_modulus = contact_modulus(at, draft);
      open.contact_radius = at.number_or("radius", 0);
      open.stiffness = open.contact_modulus == 0;
    }
  }
  if (at.has("restitution") || !given) {
    open.restitution = at.number_or("restitution", default_restitution);
    if (at.has("restitution") && open.restitution < least_law_restitution) {
      at.error("restitution",
               fmt::format(
                   "{} must be in [{:g}, 1] with a normal law; normal = \"rigid\" "
                   "takes 0 as well",
                   shown("restitution", *at.node("restitution")), least_law_restitution));
    }
    open.impact_speed = at.number_or("impact_speed", 0);
  } else if (at.has("impact_speed")) {
    at.error("impact_speed",
             "impact_speed_m_s says at which speed a restitution holds; "
             "give restitution as well");
  }
  const std::string_view damper = entry_of(rule.normal).damping_parameter;
  open.damping = open.stiffness && open.restitution == 0 && !sets(at, "normal", damper);
  open.impact_speed_floor = has_parameter(rule.normal, "impact_speed_floor") &&
                            !sets(at, "normal", "impact_speed_floor");
}

/// The friction law, or its coefficient alone.
void read_friction(const Section& at, ContactSpec& rule) {
  rule.friction = choose<Frictionless>();
  const toml::node* node = at.node("friction");
  if (node == nullptr) {
    rule.from_pair.friction = default_friction;
  } else if (const std::optional<double> mu = number_in(*node); !mu) {
    if (const auto law = read_law(at, "friction", LawFamily::friction)) {
      rule.friction = *law;
    }
  } else if (*mu >= 0 && *mu <= 10) {
    if (*mu > 0) rule.from_pair.friction = *mu;
  } else {
    at.error("friction", fmt::format("{} must lie in [0, 10]", shown("friction", *node)));
  }
}

/// How friction resists spinning: of patches only; left out, by the ellipse where the law
/// has it.
void read_spin(const Section& at, ContactSpec& rule) {
  const bool patch = !rule.rigid && entry_of(rule.normal).volumetric;
  // A coefficient alone is a spring-slider.
  const LawEntry& law = rule.from_pair.friction >= 0 ? entry_of(choose<SpringSlider>())
                                                     : entry_of(rule.friction);
  const auto offers = [&law](Spin spin) {
    return std::ranges::find(law.spins, spin) != law.spins.end();
  };
  if (!at.has("spin")) {
    if (patch && offers(Spin::elliptic)) rule.friction.spin = Spin::elliptic;
    return;
  }
  const std::string word = at.text_or("spin", "none");
  const auto found = std::ranges::find(spin_names, word);
  if (found == spin_names.end()) return;  // the reader has said so
  const auto spin = static_cast<Spin>(found - spin_names.begin());
  if (spin != Spin::none && !patch) {
    at.error("spin", fmt::format("spin = \"{}\" needs a patch that spins: take normal = "
                                 "\"volumetric\"",
                                 word));
  } else if (!offers(spin)) {
    std::vector<std::string> names;
    for (const Spin offered : law.spins) {
      names.push_back(
          fmt::format("\"{}\"", spin_names[static_cast<std::size_t>(offered)]));
    }
    at.error("spin",
             fmt::format("spin = \"{}\" needs another friction law: {} takes {}; "
                         "discs are integrated for friction = {{ law = \"coulomb\" }}",
                         word, law.info.name, fmt::join(names, ", ")));
  } else {
    rule.friction.spin = spin;
  }
}

void add_rule(const Section& at, const std::string& a, const std::string& b,
              const Names& known, Draft& draft) {
  ContactSpec rule;
  rule.a = a;
  rule.b = b;
  rule.touches = at.flag("touches", true);
  for (const std::string& name : {a, b}) {
    if (known.contains(name) || draft.parts.shapes.empty()) continue;
    std::vector<std::string_view> names;
    for (const ShapeSpec& shape : draft.parts.shapes) {
      names.insert(names.end(), {shape.name, shape.body, shape.surface});
    }
    at.error(name == a ? "a" : "b", fmt::format("\"{}\" is no shape, body or surface{}",
                                                name, did_you_mean(name, names)));
  }
  read_normal(at, draft, rule);
  read_friction(at, rule);
  read_spin(at, rule);
  for (const LawChoice* law : {&rule.normal, &rule.friction}) {
    if (rule.rigid && law == &rule.normal) continue;
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
  const Names names = names_of(draft);
  if (contacts.empty()) {
    static const toml::table nothing;
    add_rule(Section(nothing, contact_keys, "contacts", draft.source), "*", "*", names,
             draft);
    // Where the scene says nothing, robots touch as their files say.
    for (const ContactSpec& rule : draft.parts.touch_rules) {
      draft.parts.contacts.push_back(rule);
      draft.rules.push_back(draft.rules.front());
    }
  }
  for (std::size_t i = 0; i < contacts.size() && !draft.source.problems->full(); ++i) {
    const Section at(*contacts[i], contact_keys, fmt::format("contact {}", i + 1),
                     draft.source);
    const std::vector<std::string> group = at.texts("group");
    if (group.empty()) {
      add_rule(at, at.text_or("a", "*"), at.text_or("b", "*"), names, draft);
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
        add_rule(at, group[k], group[m], names, draft);
    }
  }
  // What a robot's file excludes stays excluded.
  draft.parts.contacts.insert(draft.parts.contacts.end(), of_files.begin(),
                              of_files.end());
  draft.rules.insert(draft.rules.end(), rules_of_files.begin(), rules_of_files.end());
}

}  // namespace bristle::scene
