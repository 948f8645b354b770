#include <algorithm>
#include <cmath>
#include <ranges>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

const Attribute* Reading::get(const View& view, std::string_view name) const {
  if (const Attribute* own = view.element->find(name)) return own;
  for (int c = view.defaults; c >= 0; c = classes_[static_cast<std::size_t>(c)].parent) {
    const DefaultClass& defaults = classes_[static_cast<std::size_t>(c)];
    const auto found = defaults.elements.find(family(view.element->tag));
    if (found == defaults.elements.end()) continue;
    for (const Element* e : std::views::reverse(found->second)) {
      if (const Attribute* a = e->find(name)) return a;
    }
  }
  return nullptr;
}

std::string_view Reading::word(const View& view, std::string_view name,
                               std::string_view otherwise) const {
  const Attribute* found = get(view, name);
  return found == nullptr ? otherwise : std::string_view(found->value);
}

double Reading::number(const View& view, std::string_view name, double otherwise,
                       Range range) {
  return xml::number(get(view, name), view.who, otherwise, range, problems_);
}

Vec3<double> Reading::vector(const View& view, std::string_view name,
                             const Vec3<double>& otherwise) {
  return xml::vector(get(view, name), view.who, otherwise, problems_);
}

std::optional<std::vector<double>> Reading::numbers(const View& view,
                                                    std::string_view name,
                                                    std::size_t least, std::size_t most,
                                                    Range range) {
  const Attribute* found = get(view, name);
  if (found == nullptr) return {};
  return xml::numbers(*found, view.who, least, most, range, problems_);
}

std::string Reading::choice(const Attribute* given, const std::string& who,
                            std::initializer_list<std::string_view> allowed) {
  if (given == nullptr) return std::string(*allowed.begin());
  for (const std::string_view one : allowed) {
    if (given->value == one) return given->value;
  }
  std::string list;
  std::size_t left = allowed.size();
  for (const std::string_view one : allowed) {
    list += one;
    if (--left > 0) list += left == 1 ? " or " : ", ";
  }
  error(given->place(),
        {who, ": ", given->name, " = ", shown(given->value), " must be ", list});
  return std::string(*allowed.begin());
}

View Reading::view(const Element& e, int inherited, std::string_view name) {
  View v{&e, inherited, called(e.tag, name)};
  if (const Attribute* given = e.find("class")) v.defaults = class_named(*given, v.who);
  return v;
}

int Reading::class_named(const Attribute& given, const std::string& who) {
  const auto found = class_of_.find(given.value);
  if (found != class_of_.end()) return found->second;
  error(given.place(), {who, ": ", given.name, " = \"", shown(given.value),
                        "\" must be a default class of the model"});
  return main_class;
}

void Reading::read_defaults(const Element& e, int parent) {
  int index = main_class;
  const Attribute* given = e.find("class");
  if (parent >= 0) {
    if (given == nullptr || given->value.empty()) {
      error(e.place(), {"default: it must have a class"});
      return;
    }
    index = static_cast<int>(classes_.size());
    if (!class_of_.try_emplace(given->value, index).second) {
      error(given->place(), {"default: class = \"", shown(given->value),
                             "\" must not be the name of another class"});
      return;
    }
    classes_.push_back({given->value, parent});
  } else if (given != nullptr && !given->value.empty()) {
    class_of_.try_emplace(given->value, main_class);
  }
  fill_class(e, index);
}

/// Classes of an attached model: its main one has two names and refines none of ours.
void Reading::read_attached_defaults(const Element& e) {
  const int index = static_cast<int>(classes_.size());
  classes_.push_back({std::string(e.value("class")), -1});
  for (const char* name : {"class", "main"}) {
    const int known =
        class_of_.try_emplace(std::string(e.value(name)), index).first->second;
    if (known == index) continue;
    error(e.place(), {"default: class = \"", shown(e.value(name)),
                      "\" must not be the name of another class"});
  }
  fill_class(e, index);
}

void Reading::fill_class(const Element& e, int index) {
  for (const Element& c : e.children) {
    if (c.tag == "default") {
      read_defaults(c, index);
    } else {
      classes_[static_cast<std::size_t>(index)]
          .elements[std::string(family(c.tag))]
          .push_back(&c);
    }
  }
}

std::vector<const Element*> Reading::layers(const View& view) const {
  std::vector<const Element*> all{view.element};
  for (int c = view.defaults; c >= 0; c = classes_[static_cast<std::size_t>(c)].parent) {
    const DefaultClass& defaults = classes_[static_cast<std::size_t>(c)];
    const auto found = defaults.elements.find(family(view.element->tag));
    if (found == defaults.elements.end()) continue;
    for (const Element* e : std::views::reverse(found->second)) all.push_back(e);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

bool Reading::is_limited(const View& v, const char* limited, const char* range) {
  const std::string said = choice(get(v, limited), v.who, {"auto", "true", "false"});
  if (said == "true" && get(v, range) == nullptr) {
    error(v.element->place(), {v.who, ": ", limited, " = true must come with ", range});
    return false;
  }
  return said == "true" ||
         (said == "auto" && settings(v).auto_limits && get(v, range) != nullptr);
}

Softness Reading::softness(const View& v, const char* solref, const char* solimp) {
  Softness soft;
  if (const auto n = numbers(v, solref, 1, 2)) {
    std::copy(n->begin(), n->end(), soft.solref);
    // Not faster than two of its own steps.
    const double least = 2 * parts.timestep.value_or(default_timestep);
    if (soft.solref[0] > 0) soft.solref[0] = std::max(soft.solref[0], least);
  }
  if (const auto n = numbers(v, solimp, 1, 5)) {
    std::copy_n(n->begin(), n->size(), soft.solimp);
  }
  return soft;
}

}  // namespace bristle::scene::mjcf
