#include "scene/keys.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "bristle/steppers.hpp"

namespace bristle::scene {

namespace {

/// Texts that keys refer to: one for each list of choices, kept for good.
std::string_view kept(std::string text) {
  static std::deque<std::string> texts;
  const auto known = std::find(texts.begin(), texts.end(), text);
  if (known != texts.end()) return *known;
  texts.push_back(std::move(text));
  return texts.back();
}

template <class List, class NameOf>
std::string_view choices(const List& list, const NameOf& name_of) {
  std::string text;
  for (const auto& one : list) {
    if (!text.empty()) text += '|';
    text += name_of(one);
  }
  return kept(std::move(text));
}

Key key_of(const Parameter& own) {
  Key key{.name = own.name, .kind = Kind::number, .meaning = own.meaning};
  if (own.is_flag()) {
    key.kind = Kind::flag;
  } else if (own.is_choice()) {
    key.kind = Kind::text;
    key.choices = choices(std::span(own.choices).first(own.choice_count()),
                          [](std::string_view name) { return name; });
  } else {
    if (own.unit == "count") key.kind = Kind::whole;
    key.range = own.range;
    if (own.unit == "s") key.dimension = Dimension::time;
  }
  return key;
}

}  // namespace

std::vector<Key> clock_keys() {
  std::vector<Key> keys{
      {"kind", Kind::text, Dimension::none, "integrator; adaptive when left out",
       any_number,
       choices(steppers(), [](const StepperInfo& info) { return info.name; })},
      {"duration", Kind::number, Dimension::time, "duration of the run", time_range},
      {"rtol", Kind::number, Dimension::none,
       "relative tolerance of the adaptive integrator; 1e-6 when left out",
       Range{1e-13, 0.1}},
      {"step", Kind::number, Dimension::time,
       "step of the fixed-step integrator; 2 ms when left out, 1 ms with joints or an "
       "explicit method",
       time_range},
      {"substeps", Kind::whole, Dimension::none,
       "substeps per step of an explicit method; as many as the present contacts need "
       "when left out",
       Range{1, 1e6}},
      {"most_substeps", Kind::whole, Dimension::none,
       "largest number of substeps when substeps is left out; 1000 when left out",
       Range{1, 1e6}},
      {"method", Kind::text, Dimension::none,
       "method of the fixed-step integrator; complementarity when left out", any_number,
       choices(fixed_methods(), [](Method method) { return name_of(method); })},
      {"threads", Kind::whole, Dimension::none,
       "number of threads of the fixed-step integrator", Range{1, 1024}}};
  for (const StepperInfo& info : steppers()) {
    for (const Parameter& own : info.parameters) {
      const bool known = std::any_of(
          keys.begin(), keys.end(), [&](const Key& key) { return key.name == own.name; });
      if (!known) keys.push_back(key_of(own));
    }
  }
  return keys;
}

std::vector<Key> scene_keys(std::span<const Key> clock) {
  std::vector<Key> keys(std::begin(fixed_scene_keys), std::end(fixed_scene_keys));
  const auto place = std::find_if(keys.begin(), keys.end(),
                                  [](const Key& key) { return key.name == "record"; });
  keys.insert(place, {"clock", Kind::section, Dimension::none, "table [clock]",
                      any_number, "", 0, false, clock});
  return keys;
}

}  // namespace bristle::scene
