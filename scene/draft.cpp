#include "scene/draft.hpp"

#include <fmt/format.h>

namespace bristle::scene {

namespace {

/// Keys of a scene that have another name in the engine.
constexpr std::pair<std::string_view, std::string_view> key_of_field[] = {
    {"body_a", "a"}, {"body_b", "b"}, {"shape", "type"}};

}  // namespace

FileLine Written::place_of(std::string_view key, const Source& source) const {
  Problems said_already;
  const Source quiet{source.file, &said_already};
  const Section at(*table, keys, "", quiet);
  return at.place_of(at.given(key) ? key : "name");
}

bool Draft::claim(const char* sort, const std::string& name, const Section& at) {
  const auto [found, fresh] = names.try_emplace({sort, name}, at);
  if (!fresh) {
    at.error("name", fmt::format("there is a {} \"{}\" already, in line {}", sort, name,
                                 found->second.place_of("name", source).line));
  }
  return fresh;
}

void Draft::place_robot(const Section& at) {
  const auto place = [&](Element element, const auto& specs) {
    for (const auto& spec : specs) {
      names.try_emplace({std::string(name_of(element)), spec.name}, at);
    }
  };
  place(Element::joint, parts.joints);
  place(Element::loop, parts.loops);
  place(Element::shape, parts.shapes);
  place(Element::motor, parts.motors);
  place(Element::coupling, parts.couplings);
  place(Element::load, parts.loads);
  rules.resize(parts.contacts.size(), Written(at));
}

FileLine Draft::place_of(const ErrorSubject& subject) const {
  const auto find = [&](Element element) -> const Written* {
    const auto found = names.find({std::string(name_of(element)), subject.name});
    return found == names.end() ? nullptr : &found->second;
  };
  const Written* written = nullptr;
  if (subject.element == Element::contact) {
    if (subject.index < rules.size()) written = &rules[subject.index];
  } else {
    written = find(subject.element);
    // A body without a joint of its own moves on one of the body's name.
    if (written == nullptr && subject.element == Element::joint) {
      written = find(Element::body);
    }
  }
  if (written == nullptr) return {source.file, 0};
  std::string_view key = subject.field;
  for (const auto& [field, other] : key_of_field) {
    if (key == field) key = other;
  }
  return written->place_of(key, source);
}

}  // namespace bristle::scene
