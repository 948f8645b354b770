#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "bristle/core/pack.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/model/assembly.hpp"
#include "bristle/model/pair_laws.hpp"

// Which shapes may touch and under which laws; all pairs of them, and room for their
// contacts.

namespace bristle::assembly {

namespace {

using checks::number;
using checks::quoted;

constexpr std::size_t few_pairs = 512;  // as many are looked at one by one
constexpr int lanes = ScalarTraits<NativePack<double>>::lanes;

int rounded_up(int n) { return (n + lanes - 1) / lanes * lanes; }

int most_contacts(ShapeKind a, ShapeKind b) {
  const auto simple = [](ShapeKind k) {
    return k != ShapeKind::mesh && k != ShapeKind::height_field && k != ShapeKind::cavity;
  };
  const bool ball = a == ShapeKind::sphere || b == ShapeKind::sphere;
  return ball && simple(a) && simple(b) ? 1 : max_contacts;
}

std::string_view body_name(const Model& model, const ModelShape& shape) {
  return shape.body < 0 ? world_name
                        : std::string_view(model.tree.bodies()[at(shape.body)].name);
}

/// Whether a rule that says this name means this shape.
bool matches(const Model& model, const ModelShape& shape, const std::string& name) {
  return name == "*" || shape.name == name || body_name(model, shape) == name ||
         (!shape.surface.empty() && shape.surface == name);
}

/// Whether a name is that of a shape or a body, not only of a surface.
bool names_one(const Model& model, const std::string& name) {
  return std::any_of(model.shapes.begin(), model.shapes.end(),
                     [&](const ModelShape& shape) {
                       return shape.name == name || body_name(model, shape) == name;
                     });
}

/// A name in a rule that means no shape.
Problem check_party(const Model& model, const Subject& who, std::string_view field,
                    const std::string& name) {
  std::vector<std::string_view> names;
  for (const ModelShape& shape : model.shapes) {
    if (matches(model, shape, name)) return {};
    names.push_back(shape.name);
    names.push_back(body_name(model, shape));
    if (!shape.surface.empty()) names.push_back(shape.surface);
  }
  if (name == "*") return {};
  return who.error(field, "no shape, no body with a shape and no surface has the name " +
                              quoted(name) + did_you_mean(name, names));
}

Problem check_rule(const Model& model, const ContactSpec& rule, std::size_t index) {
  const Subject who(Element::contact, "", index,
                    "contact of " + quoted(rule.a) + " with " + quoted(rule.b));
  if (Problem p = check_party(model, who, "a", rule.a)) return p;
  if (Problem p = check_party(model, who, "b", rule.b)) return p;
  if (!rule.touches) return {};
  const LawChoice* normal = rule.rigid ? nullptr : &rule.normal;
  if (Problem p = check_laws(who, normal, &rule.friction)) return p;
  const bool patch = normal != nullptr && entry_of(*normal).volumetric;
  if (rule.friction.spin != Spin::none && !patch) {
    return who.error("spin",
                     "friction resists spinning in a patch alone, and that needs a "
                     "volumetric normal law, such as volumetric");
  }
  if (rule.rigid && !between(0, 1).contains(rule.restitution)) {
    return who.error("restitution",
                     "restitution = " + number(rule.restitution) + " must lie in [0, 1]");
  }
  if (rule.rigid && entry_of(rule.friction).info.name == "azad-featherstone-clutch") {
    return who.error(
        "friction",
        "its stiffness follows the depth, and a rigid contact has none: take "
        "another law, such as spring-slider");
  }
  const double share = rule.share_a.value_or(0);
  if (!between(0, 1).contains(share)) {
    return who.error("share_a", "share_a = " + number(share) + " must lie in [0, 1]");
  }
  return {};
}

/// The place of two laws among the blocks of contacts, added where they are new.
int block_of(const ContactSpec& rule, Model& model) {
  LawBlock laws{.normal = rule.rigid ? choose<Hertz>() : rule.normal,
                .friction = rule.friction,
                .rigid = rule.rigid,
                .restitution = rule.rigid ? rule.restitution : 0,
                .volumetric = !rule.rigid && entry_of(rule.normal).volumetric};
  const auto begin = model.blocks.begin() + model.joint_blocks;
  const auto found = std::find(begin, model.blocks.end(), laws);
  if (found == model.blocks.end()) {
    model.blocks.push_back(laws);
    model.needs_impulses = model.needs_impulses || rule.rigid;
    model.has_patches = model.has_patches || laws.volumetric;
    return static_cast<int>(model.blocks.size()) - 1;
  }
  return static_cast<int>(found - model.blocks.begin());
}

/// Of every rule: whether its a and its b mean a shape.
using Signature = std::vector<bool>;

/// The rule that counts for two signatures.
struct Match {
  int rule = -1;  // −1: they never touch
  bool forward = true;
};

/// Shapes sorted by the rules that mean them, and which rule counts for two sorts: the
/// last one that fits.
struct Sorts {
  std::vector<int> of_shape;
  std::vector<Signature> signatures;
  std::vector<Match> matches;       // by sort of a and of b
  std::vector<bool> follows_pairs;  // of each sort: some rule of it has PairDefaults
  std::vector<bool> volumetric;     // and a volumetric law

  const Match& match(int a, int b) const {
    return matches[at(a) * signatures.size() + at(b)];
  }
};

Sorts sort_by_rules(std::span<const ContactSpec> rules, const Model& model) {
  Sorts sorts;
  std::map<Signature, int> known;
  for (const ModelShape& shape : model.shapes) {
    Signature signature;
    for (const ContactSpec& rule : rules) {
      signature.push_back(matches(model, shape, rule.a));
      signature.push_back(matches(model, shape, rule.b));
    }
    const auto [entry, added] =
        known.try_emplace(signature, static_cast<int>(known.size()));
    if (added) sorts.signatures.push_back(signature);
    sorts.of_shape.push_back(entry->second);
  }
  const std::size_t count = sorts.signatures.size();
  sorts.matches.resize(count * count);
  sorts.follows_pairs.resize(count);
  sorts.volumetric.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t r = rules.size(); r-- > 0;) {
        const bool forward = sorts.signatures[i][2 * r] && sorts.signatures[j][2 * r + 1];
        const bool backward =
            sorts.signatures[i][2 * r + 1] && sorts.signatures[j][2 * r];
        if (!forward && !backward) continue;
        if (!rules[r].touches) break;
        sorts.matches[i * count + j] = {static_cast<int>(r), forward};
        if (rules[r].from_pair.any()) {
          sorts.follows_pairs[i] = true;
          const bool patches = !rules[r].rigid && entry_of(rules[r].normal).volumetric;
          if (patches) sorts.volumetric[i] = true;
        }
        break;
      }
    }
  }
  return sorts;
}

/// A kind of shapes: one sort, and one scale where that matters.
struct ShapeClass {
  int sort = 0;
  ShapeScale scale{};
  int shapes = 0;
};

/// Where many different shapes touch, their scales are rounded, so that the number of
/// blocks and of kinds stays bounded: to powers of 2^grid; 0: as they are.
double rounded(double x, double grid) {
  return grid == 0 || !std::isfinite(x) || x == 0
             ? x
             : std::exp2(grid * std::round(std::log2(x) / grid));
}
ShapeScale rounded(const ShapeScale& s, double grid) {
  return {rounded(s.mass, grid), rounded(s.size, grid),    rounded(s.radius, grid),
          s.one_point,           rounded(s.section, grid), rounded(s.growth, grid)};
}
PairScale rounded(const PairScale& s, double grid) {
  return {
      rounded(s.mass, grid), rounded(s.size, grid),    rounded(s.radius, grid), s.gravity,
      s.one_point,           rounded(s.section, grid), rounded(s.growth, grid)};
}

/// Rules whose laws are the same, by number.
std::vector<int> same_laws(std::span<const ContactSpec> rules) {
  std::vector<int> number;
  std::vector<const ContactSpec*> distinct;
  for (const ContactSpec& rule : rules) {
    const auto found =
        std::find_if(distinct.begin(), distinct.end(), [&](const ContactSpec* other) {
          return other->normal == rule.normal && other->friction == rule.friction &&
                 other->rigid == rule.rigid && other->restitution == rule.restitution &&
                 other->from_pair == rule.from_pair;
        });
    number.push_back(static_cast<int>(found - distinct.begin()));
    if (found == distinct.end()) distinct.push_back(&rule);
  }
  return number;
}

/// As many kinds of shapes, and as many blocks of laws that follow from pairs, as are
/// told apart exactly.
constexpr std::size_t most_kinds = 256;
constexpr std::size_t most_blocks = 256;
constexpr double finest_grid = 0.125, coarsest_grid = 64;  // of rounded scales [octaves]

/// The kinds of shapes and the laws of each two of them.
class RuleTable {
 public:
  RuleTable(std::span<const ContactSpec> rules, Model& model)
      : rules_(rules),
        model_(model),
        sorts_(sort_by_rules(rules, model)),
        laws_(same_laws(rules)),
        gravity_(norm(model.tree.gravity())) {
    for (const ContactSpec& rule : rules) {
      by_name_.push_back(names_one(model, rule.a) && names_one(model, rule.b));
    }
  }

  Problem fill() {
    double grid = 0;
    while (!sort_into_kinds(grid) && grid < coarsest_grid) {
      grid = grid == 0 ? finest_grid : 2 * grid;
    }
    const std::size_t kinds = classes_.size();
    model_.kinds = static_cast<int>(kinds);
    model_.rules.assign(kinds * kinds, {});
    for (std::size_t i = 0; i < kinds; ++i) {
      for (std::size_t j = 0; j < kinds; ++j) {
        if (Problem p = fill(i, j, model_.rules[i * kinds + j])) return p;
      }
    }
    return {};
  }

 private:
  /// The laws of a rule for a scale: a block.
  using Key = std::pair<int, PairScale>;

  /// Gives shapes their kinds; false where there are too many, or too many blocks.
  bool sort_into_kinds(double grid) {
    grid_ = grid;
    classes_.clear();
    std::map<std::pair<int, ShapeScale>, int> known;
    for (std::size_t s = 0; s < model_.shapes.size(); ++s) {
      const int sort = sorts_.of_shape[s];
      ShapeScale scale;
      if (sorts_.follows_pairs[at(sort)]) {
        scale = scale_of(model_, model_.shapes[s]);
        if (sorts_.volumetric[at(sort)]) add_section(model_.shapes[s].shape, scale);
        scale = rounded(scale, grid);
      }
      const auto [entry, added] =
          known.try_emplace({sort, scale}, static_cast<int>(known.size()));
      if (added) classes_.push_back({sort, scale});
      ++classes_[at(entry->second)].shapes;
      model_.shapes[s].kind = entry->second;
    }
    if (classes_.size() == sorts_.signatures.size()) return true;
    if (classes_.size() > most_kinds) return false;
    std::set<Key> keys;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      for (std::size_t j = i; j < classes_.size(); ++j) {
        if (const auto key = key_of(i, j)) keys.insert(*key);
        if (keys.size() > most_blocks) return false;
      }
    }
    return true;
  }

  /// Nothing where no two shapes of these kinds touch, or where a rule has its own laws.
  std::optional<Key> key_of(std::size_t i, std::size_t j) const {
    const ShapeClass& a = classes_[i];
    const ShapeClass& b = classes_[j];
    const Match& match = sorts_.match(a.sort, b.sort);
    if (match.rule < 0 || !rules_[at(match.rule)].from_pair.any()) return {};
    const bool both_stand = !std::isfinite(a.scale.mass) && !std::isfinite(b.scale.mass);
    if (both_stand || (i == j && a.shapes < 2)) return {};
    PairScale scale = rounded(scale_of(a.scale, b.scale, gravity_), grid_);
    const ContactSpec& rule = rules_[at(match.rule)];
    if (rule.from_pair.contact_modulus == 0) scale.radius = 1;
    if (rule.rigid || !entry_of(rule.normal).volumetric)
      scale.section = 0, scale.growth = 1;
    return Key{laws_[at(match.rule)], scale};
  }

  Problem fill(std::size_t i, std::size_t j, PairRule& to) {
    const Match& match = sorts_.match(classes_[i].sort, classes_[j].sort);
    if (match.rule < 0) return {};
    const ContactSpec& rule = rules_[at(match.rule)];
    if (rule.from_pair.any()) {
      const auto key = key_of(i, j);
      if (!key) return {};
      const auto [entry, added] = blocks_.try_emplace(*key, -1);
      if (added) {
        const Result<LawPair> found = laws_of_pair(rule, key->second);
        if (!found) return said(found, rule, match.rule, i, j);
        ContactSpec laws = rule;
        laws.normal = found->normal;
        laws.friction = found->friction;
        entry->second = block_of(laws, model_);
      }
      to.block = entry->second;
    } else {
      to.block = block_of(rule, model_);
    }
    if (const std::optional<double> share = rule.share_a) {
      to.share_a = match.forward ? *share : 1 - *share;
    }
    to.adjacent = by_name_[at(match.rule)];
    return {};
  }

  Problem said(const Result<LawPair>& wrong, const ContactSpec& rule, int index,
               std::size_t i, std::size_t j) const {
    const auto example = [&](std::size_t kind, const ModelShape* other) {
      return &*std::find_if(
          model_.shapes.begin(), model_.shapes.end(),
          [&](const ModelShape& s) { return at(s.kind) == kind && &s != other; });
    };
    const ModelShape* a = example(i, nullptr);
    const ModelShape* b = example(j, a);
    const Subject who(Element::contact, "", at(index),
                      "contact of " + quoted(rule.a) + " with " + quoted(rule.b));
    return who.error(wrong.error_subject().field,
                     quoted(a->name) + " on " + quoted(b->name) + ": " + wrong.error());
  }

  std::span<const ContactSpec> rules_;
  Model& model_;
  Sorts sorts_;
  std::vector<int> laws_;
  std::vector<bool> by_name_;  // of every rule: shapes or bodies, not surfaces
  double gravity_;
  double grid_ = 0;
  std::vector<ShapeClass> classes_;
  std::map<Key, int> blocks_;
};

bool may_touch(const Model& model, const ModelShape& a, const ModelShape& b) {
  const PairRule& rule = model.rule(a.kind, b.kind);
  return rule.block >= 0 && a.link != b.link &&
         (rule.adjacent || !model.adjacent(a.link, b.link));
}

/// Shapes of one kind of geometry and one kind of rules, with a volume or without.
struct Group {
  ShapeKind shape;
  int kind;
  bool point;

  friend auto operator<=>(const Group&, const Group&) = default;
};

Group group_of(const ModelShape& shape) {
  const auto* sphere = std::get_if<Sphere>(&shape.shape);
  return {kind_of(shape.shape), shape.kind, sphere != nullptr && !(sphere->radius > 0)};
}

/// Shapes that may touch by the rules, of kinds that cannot.
Problem check_pairs(const Model& model) {
  std::map<Group, std::vector<const ModelShape*>> groups;
  for (const ModelShape& shape : model.shapes) groups[group_of(shape)].push_back(&shape);
  for (const auto& [one, first] : groups) {
    for (const auto& [two, second] : groups) {
      const int block = model.rule(one.kind, two.kind).block;
      if (two < one || block < 0) continue;
      const std::string missing =
          model.blocks[at(block)].volumetric
              ? missing_overlap_message(first[0]->shape, second[0]->shape)
              : missing_pair_message(one.shape, two.shape);
      if (missing.empty()) continue;
      for (const ModelShape* a : first) {
        for (const ModelShape* b : second) {
          if (!may_touch(model, *a, *b)) continue;
          const auto index = static_cast<std::size_t>(a - model.shapes.data());
          return Subject(Element::shape, a->name, index)
              .sentence("shape", "shapes " + quoted(a->name) + " and " + quoted(b->name) +
                                     " may touch by the rules given, but there is " +
                                     missing +
                                     "; take another shape, or add a contact rule that "
                                     "keeps them apart");
        }
      }
    }
  }
  return {};
}

}  // namespace

Problem add_rules(std::span<const ContactSpec> specs, Model& model) {
  for (std::size_t r = 0; r < specs.size(); ++r) {
    if (Problem p = check_rule(model, specs[r], r)) return p;
  }
  return RuleTable(specs, model).fill();
}

Problem add_pairs(Model& model) {
  if (Problem problem = check_pairs(model)) return problem;
  const auto& shapes = model.shapes;
  for (std::size_t i = 0; i < shapes.size() && !model.broad_phase; ++i) {
    for (std::size_t j = i + 1; j < shapes.size(); ++j) {
      if (!may_touch(model, shapes[i], shapes[j])) continue;
      if (model.pairs.size() == few_pairs) {
        model.broad_phase = true;
        model.pairs.clear();
        break;
      }
      model.pairs.push_back(
          model.pair(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)));
    }
  }
  std::sort(model.pairs.begin(), model.pairs.end(),
            [](const ShapePair& x, const ShapePair& y) {
              return std::tie(x.block, x.a, x.b) < std::tie(y.block, y.a, y.b);
            });
  return {};
}

Problem add_capacity(const ModelOptions& options, Model& model) {
  const int shapes = static_cast<int>(model.shapes.size());
  int joint_rows = 0;
  for (int b = 0; b < model.joint_blocks; ++b) {
    joint_rows +=
        rounded_up(model.joint_block_rows[at(b + 1)] - model.joint_block_rows[at(b)]);
  }
  const int contact_blocks = static_cast<int>(model.blocks.size()) - model.joint_blocks;
  int contacts = options.contact_capacity;
  if (contacts < 0) {
    return Error{"contact_capacity = " + std::to_string(contacts) + " must be >= 0"};
  }
  model.rooms_grow = contacts == 0 && model.broad_phase;
  if (contacts == 0 && !model.broad_phase) {
    for (const ShapePair& pair : model.pairs) {
      contacts += most_contacts(kind_of(model.shapes[pair.a].shape),
                                kind_of(model.shapes[pair.b].shape));
    }
  }
  model.joint_row_capacity = joint_rows;
  model.contact_row_capacity = rounded_up(contacts) + lanes * contact_blocks;
  model.pair_capacity =
      model.broad_phase ? 32 * shapes + shapes * static_cast<int>(model.planes.size() +
                                                                  model.large.size())
                        : static_cast<int>(model.pairs.size());
  for (const LawBlock& block : model.blocks) {
    model.normal_fields = std::max(model.normal_fields,
                                   static_cast<int>(entry_of(block.normal).state.size()));
    model.friction_fields =
        std::max(model.friction_fields,
                 static_cast<int>(
                     entry_of(block.friction).state_with(block.friction.spin).size()));
  }
  return {};
}

}  // namespace bristle::assembly
