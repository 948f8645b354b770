#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "bristle/core/pack.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/model/assembly.hpp"

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
                .restitution = rule.rigid ? rule.restitution : 0};
  const auto begin = model.blocks.begin() + model.joint_blocks;
  const auto found = std::find(begin, model.blocks.end(), laws);
  if (found == model.blocks.end()) {
    model.blocks.push_back(laws);
    model.needs_impulses = model.needs_impulses || rule.rigid;
    return static_cast<int>(model.blocks.size()) - 1;
  }
  return static_cast<int>(found - model.blocks.begin());
}

/// Of every rule: whether its a and its b mean a shape.
using Signature = std::vector<bool>;

/// Shapes of the same signature are one kind. Returns the signatures of the kinds.
std::vector<Signature> sort_into_kinds(std::span<const ContactSpec> rules, Model& model) {
  std::map<Signature, int> kinds;
  std::vector<Signature> signatures;
  for (ModelShape& shape : model.shapes) {
    Signature signature;
    for (const ContactSpec& rule : rules) {
      signature.push_back(matches(model, shape, rule.a));
      signature.push_back(matches(model, shape, rule.b));
    }
    const auto [entry, added] =
        kinds.try_emplace(signature, static_cast<int>(kinds.size()));
    if (added) signatures.push_back(signature);
    shape.kind = entry->second;
  }
  model.kinds = static_cast<int>(signatures.size());
  return signatures;
}

bool may_touch(const Model& model, const ModelShape& a, const ModelShape& b) {
  const PairRule& rule = model.rule(a.kind, b.kind);
  return rule.block >= 0 && a.link != b.link &&
         (rule.adjacent || !model.adjacent(a.link, b.link));
}

/// Shapes of one kind of rules and one kind of geometry.
using Group = std::pair<int, ShapeKind>;

/// Shapes that may touch by the rules, of kinds that cannot.
Problem check_pairs(const Model& model) {
  std::map<Group, std::vector<const ModelShape*>> groups;
  for (const ModelShape& shape : model.shapes) {
    groups[{shape.kind, kind_of(shape.shape)}].push_back(&shape);
  }
  for (const auto& [one, first] : groups) {
    for (const auto& [two, second] : groups) {
      if (two < one || model.rule(one.first, two.first).block < 0) continue;
      const std::string missing = missing_pair_message(one.second, two.second);
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

double share_of(const PairRule& rule, int link_a, int link_b) {
  if (rule.share_a >= 0) return rule.share_a;
  return link_a == world_link ? 1 : (link_b == world_link ? 0 : 0.5);
}

}  // namespace

Problem add_rules(std::span<const ContactSpec> specs, Model& model) {
  std::vector<bool> by_name;  // of every rule: shapes or bodies, not surfaces
  for (std::size_t r = 0; r < specs.size(); ++r) {
    if (Problem p = check_rule(model, specs[r], r)) return p;
    by_name.push_back(names_one(model, specs[r].a) && names_one(model, specs[r].b));
  }
  // Of the rules that fit two kinds the last one counts.
  const std::vector<Signature> kinds = sort_into_kinds(specs, model);
  model.rules.resize(kinds.size() * kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = 0; j < kinds.size(); ++j) {
      for (std::size_t r = specs.size(); r-- > 0;) {
        const bool forward = kinds[i][2 * r] && kinds[j][2 * r + 1];
        const bool backward = kinds[i][2 * r + 1] && kinds[j][2 * r];
        if (!forward && !backward) continue;
        if (!specs[r].touches) break;
        PairRule& rule = model.rules[i * kinds.size() + j];
        rule.block = block_of(specs[r], model);
        if (const std::optional<double> share = specs[r].share_a) {
          rule.share_a = forward ? *share : 1 - *share;
        }
        rule.adjacent = by_name[r];
        break;
      }
    }
  }
  return {};
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
      const PairRule& rule = model.rule(shapes[i].kind, shapes[j].kind);
      const ShapeKind a = kind_of(shapes[i].shape);
      const ShapeKind b = kind_of(shapes[j].shape);
      model.pairs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j),
                             rule.block, share_of(rule, shapes[i].link, shapes[j].link),
                             pair_function<double>(a, b), regenerates(a, b)});
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
    model.friction_fields = std::max(
        model.friction_fields, static_cast<int>(entry_of(block.friction).state.size()));
  }
  return {};
}

}  // namespace bristle::assembly
