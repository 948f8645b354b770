#include <nlohmann/json.hpp>

#include "bristle/laws/catalogue.hpp"
#include "scene/keys.hpp"
#include "scene/scene.hpp"

namespace bristle::scene {

namespace {

using Json = nlohmann::ordered_json;

Json bounded(const Key& key, double factor) {
  Json number{{"type", "number"}};
  if (key.range.low > -largest_number) {
    number[key.range.open_low ? "exclusiveMinimum" : "minimum"] = key.range.low / factor;
  }
  if (key.range.high < largest_number) number["maximum"] = key.range.high / factor;
  return number;
}

Json schema_of(std::span<const Key> keys);

Json schema_of(const Key& key, double factor) {
  switch (key.kind) {
    case Kind::number:
      return bounded(key, factor);
    case Kind::whole: {
      Json number = bounded(key, factor);
      number["type"] = "integer";
      return number;
    }
    case Kind::numbers: {
      Json list{{"type", "array"}, {"items", bounded(key, factor)}};
      if (key.count > 0) list["minItems"] = list["maxItems"] = key.count;
      return list;
    }
    case Kind::text: {
      Json text{{"type", "string"}};
      if (!key.choices.empty()) {
        text["enum"] = Json::array();
        for (std::string_view left = key.choices; !left.empty();) {
          const std::size_t end = std::min(left.find('|'), left.size());
          text["enum"].push_back(std::string(left.substr(0, end)));
          left.remove_prefix(std::min(end + 1, left.size()));
        }
      }
      return text;
    }
    case Kind::texts:
      return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case Kind::flag:
      return {{"type", "boolean"}};
    case Kind::any:
      return Json::object();
    case Kind::section:
      return key.inside.empty() ? Json{{"type", "object"}} : schema_of(key.inside);
    case Kind::sections:
      return {{"type", "array"}, {"items", schema_of(key.inside)}};
  }
  return Json::object();
}

Json schema_of(std::span<const Key> keys) {
  Json table{{"type", "object"}, {"additionalProperties", false}};
  table["properties"] = Json::object();
  for (const Key& key : keys) {
    const auto add = [&](const std::string& name, double factor) {
      Json one = schema_of(key, factor);
      if (!key.meaning.empty()) one["description"] = std::string(key.meaning);
      table["properties"][name] = one;
    };
    if (units_of(key.dimension).empty()) add(std::string(key.name), 1);
    for (const Unit& unit : units_of(key.dimension)) {
      std::string name(key.name);
      name += '_';
      name += unit.suffix;
      add(name, unit.factor);
    }
    if (key.required && units_of(key.dimension).empty()) {
      table["required"].push_back(std::string(key.name));
    }
  }
  return table;
}

Json schema_of(const Parameter& parameter) {
  Json one{{"type", "number"}};
  if (parameter.is_flag()) {
    one = {{"type", "boolean"}};
  } else if (parameter.is_choice()) {
    one = {{"enum", Json::array()}};
    for (std::size_t i = 0; i < parameter.choice_count(); ++i) {
      one["enum"].push_back(std::string(parameter.choices[i]));
    }
  } else {
    const Range& range = parameter.range;
    one[range.open_low ? "exclusiveMinimum" : "minimum"] = range.low;
    one["maximum"] = range.high;
  }
  std::string meaning(parameter.meaning);
  if (!parameter.is_flag() && !parameter.is_choice() && parameter.unit != "1") {
    meaning += " [" + std::string(parameter.unit) + "]";
  }
  one["description"] = meaning;
  return one;
}

/// What a key that takes a law may hold: the name of one, registered ones included, or a
/// table with its name and parameters; for friction also a coefficient.
Json law_schema(LawFamily family) {
  Json any = Json::array();
  any.push_back({{"type", "string"}, {"enum", Json::array()}});
  if (family == LawFamily::normal) any[0]["enum"].push_back("rigid");
  for (const LawEntry* law : laws_of(family)) {
    const std::string name(law->info.name);
    any[0]["enum"].push_back(name);
    Json table{{"type", "object"}, {"additionalProperties", false}};
    table["description"] = std::string(law->info.title);
    table["properties"]["law"] = {{"const", name}};
    for (const Parameter& parameter : law->parameters) {
      table["properties"][std::string(parameter.name)] = schema_of(parameter);
    }
    table["required"] = {"law"};
    any.push_back(table);
  }
  if (family == LawFamily::friction) {
    any.push_back({{"type", "number"}, {"minimum", 0}, {"maximum", 10}});
  }
  return any;
}

}  // namespace

std::string scene_schema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "Bristle scene"}};
  const std::vector<Key> clock = clock_keys();
  const Json inside = schema_of(scene_keys(clock));
  for (const auto& [key, value] : inside.items()) schema[key] = value;
  schema["properties"]["materials"]["additionalProperties"] =
      schema_of(std::span<const Key>(material_keys));
  Json& contact = schema["properties"]["contacts"]["items"]["properties"];
  contact["normal"]["anyOf"] = law_schema(LawFamily::normal);
  contact["friction"]["anyOf"] = law_schema(LawFamily::friction);
  return schema.dump(2);
}

}  // namespace bristle::scene
