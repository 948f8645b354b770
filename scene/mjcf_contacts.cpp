#include <algorithm>
#include <cmath>

#include "bristle/laws/choice.hpp"
#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

int Reading::body_named(const Element& e, const char* attribute) {
  const Attribute* a = e.find(attribute);
  if (a == nullptr) {
    error(e.place(), {e.tag, ": it must have ", attribute});
    return -1;
  }
  if (a->value == world_name) return 0;
  const auto found = body_of_.find(a->value);
  if (found != body_of_.end()) return found->second;
  error(a->place(), {e.tag, ": ", attribute, " = \"", shown(a->value),
                     "\" must be a body of the model"});
  return -1;
}

void Reading::read_exclude(const Element& e) {
  const int a = body_named(e, "body1");
  const int b = body_named(e, "body2");
  if (a >= 0 && b >= 0) excluded_.insert(std::minmax(a, b));
}

void Reading::never(const std::string& a, const std::string& b) {
  ContactSpec rule;
  rule.a = a;
  rule.b = b;
  rule.touches = false;
  never_.push_back(std::move(rule));
}

void Reading::never(const BodyRecord& a, const BodyRecord& b) {
  if (a.name != world_name) {
    never(a.name, b.name);
    return;
  }
  for (const int g : a.geoms) never(geoms_[static_cast<std::size_t>(g)].shape, b.name);
}

/// What there is to know of a body to tell that nothing keeps it apart from another.
struct Reading::ShapedBody {
  int body, group, parent;
  unsigned every_type = ~0U, every_affinity = ~0U;  // bits that all its geoms have

  bool joins(const ShapedBody& other) const {
    return group != 0 && parent == other.group && other.group != 0;
  }
  /// Each geom meets each of the other's.
  bool meets(const ShapedBody& other) const {
    return ((every_type & other.every_affinity) | (other.every_type & every_affinity)) !=
           0;
  }
};

std::vector<Reading::ShapedBody> Reading::shaped_bodies() const {
  std::vector<ShapedBody> shaped;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (bodies_[b].geoms.empty()) continue;
    const int group = bodies_[b].group;
    ShapedBody body{static_cast<int>(b), group,
                    bodies_[static_cast<std::size_t>(group)].parent};
    for (const int g : bodies_[b].geoms) {
      body.every_type &= geoms_[static_cast<std::size_t>(g)].contype;
      body.every_affinity &= geoms_[static_cast<std::size_t>(g)].conaffinity;
    }
    shaped.push_back(body);
  }
  return shaped;
}

void Reading::keep_apart() {
  bool all_meet = true;
  for (const GeomRecord& g : geoms_) {
    all_meet = all_meet && (g.contype & 1U) != 0 && (g.conaffinity & 1U) != 0;
  }
  bool direct = true;
  for (const BodyRecord& b : bodies_) direct = direct && b.direct;
  if (all_meet && direct && excluded_.empty()) return;
  if (geoms_.size() > max_geoms) {
    problems_.error({path_, 0}, words({"a model of more than ", std::to_string(max_geoms),
                                       " geoms must not keep pairs of them apart"}));
    return;
  }
  const std::vector<ShapedBody> shaped = shaped_bodies();
  for (auto one = shaped.begin(); one != shaped.end(); ++one) {
    for (auto two = one + 1; two != shaped.end(); ++two) {
      // Thousands of bodies are millions of pairs: most of them are done with here.
      if (one->group == two->group) continue;
      const bool neighbours = one->joins(*two) || two->joins(*one);
      if (!neighbours && excluded_.empty() && one->meets(*two)) continue;
      keep_apart(one->body, two->body);
      if (never_.size() > max_rules) {
        problems_.error({path_, 0},
                        words({"contype, conaffinity and exclude must not keep more "
                               "than ",
                               std::to_string(max_rules), " pairs apart"}));
        return;
      }
    }
  }
}

void Reading::keep_apart(int a, int b) {
  const BodyRecord& one = bodies_[static_cast<std::size_t>(a)];
  const BodyRecord& two = bodies_[static_cast<std::size_t>(b)];
  const BodyRecord& first = bodies_[static_cast<std::size_t>(one.group)];
  const BodyRecord& second = bodies_[static_cast<std::size_t>(two.group)];
  const bool below = first.group != 0 && first.parent == second.group;
  const bool above = second.group != 0 && second.parent == first.group;
  if ((below || above) && first.group != 0 && second.group != 0) {
    // Neighbours: the engine keeps those of one joint apart by itself.
    if (!(below ? first : second).direct) never(one, two);
    return;
  }
  if (excluded_.contains(std::minmax(a, b))) {
    never(one, two);
    return;
  }
  std::vector<std::pair<int, int>> apart;
  for (const int g : one.geoms) {
    for (const int h : two.geoms) {
      const GeomRecord& x = geoms_[static_cast<std::size_t>(g)];
      const GeomRecord& y = geoms_[static_cast<std::size_t>(h)];
      const bool meet = ((x.contype & y.conaffinity) | (y.contype & x.conaffinity)) != 0;
      if (!meet) apart.emplace_back(g, h);
      if (apart.size() > max_rules) break;
    }
  }
  if (apart.size() == one.geoms.size() * two.geoms.size()) {
    never(one, two);
    return;
  }
  for (const auto& [g, h] : apart) {
    never(geoms_[static_cast<std::size_t>(g)].shape,
          geoms_[static_cast<std::size_t>(h)].shape);
  }
}

TouchRecord Reading::touch_of(const View& v) {
  TouchRecord touch;
  if (const auto n = numbers(v, "friction", 1, 5, Range::not_negative)) {
    touch.friction = n->front();
  }
  touch.condim = static_cast<int>(number(v, "condim", 3, Range::positive));
  touch.priority = static_cast<int>(number(v, "priority", 0, Range::any));
  touch.softness = softness(v, "solref", "solimp");
  if (touch.condim > 3) {
    unread_.count(touch.condim == 4 ? "spinning friction of a geom"
                                    : "rolling and spinning friction of a geom",
                  Consequence::contact);
  }
  return touch;
}

namespace {

/// What MuJoCo makes of two geoms: the higher priority counts; else the larger friction,
/// and softness in the middle.
TouchRecord combined(const TouchRecord& a, const TouchRecord& b) {
  if (a.priority != b.priority) return a.priority > b.priority ? a : b;
  TouchRecord both;
  both.friction = std::max(a.friction, b.friction);
  both.condim = std::max(a.condim, b.condim);
  const bool same_form = (a.softness.solref[0] > 0) == (b.softness.solref[0] > 0);
  for (int i = 0; i < 2; ++i) {
    const double x = a.softness.solref[i], y = b.softness.solref[i];
    both.softness.solref[i] = same_form && x > 0 ? 0.5 * (x + y) : std::min(x, y);
  }
  for (int i = 0; i < 5; ++i) {
    both.softness.solimp[i] = 0.5 * (a.softness.solimp[i] + b.softness.solimp[i]);
  }
  return both;
}

ContactSpec rule_of(const TouchRecord& touch) {
  ContactSpec rule;
  rule.normal = choose<KelvinVoigt>();
  rule.from_pair.frequency = touch.softness.frequency();
  rule.from_pair.damping_ratio = touch.softness.damping_ratio();
  rule.friction = choose<Frictionless>();
  rule.from_pair.friction = touch.condim > 1 ? touch.friction : 0;
  return rule;
}

constexpr std::size_t max_touch_kinds = 60;

}  // namespace

void Reading::add_touch_rules() {
  std::map<TouchRecord, std::string> kinds;
  for (const GeomRecord& geom : geoms_) {
    const auto [kind, fresh] = kinds.try_emplace(geom.touch);
    if (fresh) kind->second = words({path_, "#", std::to_string(kinds.size())});
  }
  if (kinds.size() > max_touch_kinds) {
    unread_.count("friction and softness of geoms, of which there are too many kinds",
                  Consequence::contact);
    return;
  }
  if (!options_.surface.empty()) return;  // contacts are the scene's
  std::map<std::string_view, const GeomRecord*> geom_of;
  for (const GeomRecord& geom : geoms_) geom_of[geom.shape] = &geom;
  for (ShapeSpec& shape : parts.shapes) {
    shape.surface = kinds.at(geom_of.at(shape.name)->touch);
  }
  const auto add = [&](const TouchRecord& touch, const std::string& one,
                       const std::string& other) {
    ContactSpec rule = rule_of(touch);
    rule.a = one;
    rule.b = other;
    parts.soft_rules.push_back({one, other, touch.softness});
    parts.touch_rules.push_back(std::move(rule));
  };
  for (const auto& [touch, name] : kinds) {
    // What is not of this file touches as a geom with MuJoCo's defaults.
    add(combined(touch, TouchRecord{}), name, "*");
  }
  for (auto a = kinds.begin(); a != kinds.end(); ++a) {
    for (auto b = a; b != kinds.end(); ++b) {
      add(combined(a->first, b->first), a->second, b->second);
    }
  }
}

void Reading::read_pair(const Element& e) {
  const View v = view(e, main_class, e.value("name"));
  const GeomRecord* geoms[2] = {nullptr, nullptr};
  const char* attributes[2] = {"geom1", "geom2"};
  for (int i = 0; i < 2; ++i) {
    const Attribute* name = e.find(attributes[i]);
    if (name == nullptr) {
      error(e.place(), {"pair: it must have ", attributes[i]});
      return;
    }
    const auto found =
        std::find_if(geoms_.begin(), geoms_.end(),
                     [&](const GeomRecord& g) { return g.name == name->value; });
    if (found != geoms_.end()) {
      geoms[i] = &*found;
    } else if (!geom_names_.has(name->value)) {
      error(name->place(), {"pair: ", attributes[i], " = \"", shown(name->value),
                            "\" must be a geom of the model"});
      return;
    }
  }
  if (geoms[0] == nullptr || geoms[1] == nullptr) return;  // of a type that is not read
  TouchRecord touch = combined(geoms[0]->touch, geoms[1]->touch);
  if (const auto n = numbers(v, "friction", 1, 5, Range::not_negative)) {
    touch.friction = n->front();
  }
  touch.condim = static_cast<int>(number(v, "condim", touch.condim, Range::positive));
  if (get(v, "solref") != nullptr || get(v, "solimp") != nullptr) {
    touch.softness = softness(v, "solref", "solimp");
  }
  ContactSpec rule = rule_of(touch);
  rule.a = geoms[0]->shape;
  rule.b = geoms[1]->shape;
  parts.soft_rules.push_back({rule.a, rule.b, touch.softness});
  pairs_.push_back(std::move(rule));
}

}  // namespace bristle::scene::mjcf
