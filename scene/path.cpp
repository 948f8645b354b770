#include "scene/path.hpp"

#include <charconv>
#include <sstream>
#include <system_error>

#include "scene/problem.hpp"
#include "scene/toml_text.hpp"

namespace bristle::scene {

toml::node* step_into(toml::node& node, const std::string& word) {
  if (toml::table* table = node.as_table()) return table->get(word);
  toml::array* list = node.as_array();
  if (list == nullptr) return nullptr;
  for (toml::node& one : *list) {
    toml::table* table = one.as_table();
    if (table != nullptr && (*table)["name"].value<std::string>() == word) return table;
  }
  std::size_t index = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), index);
  if (error != std::errc{} || end != word.data() + word.size()) return nullptr;
  return index < list->size() ? list->get(index) : nullptr;
}

std::optional<double> number_at(const std::string& scene_text, const std::string& path) {
  Problems problems;
  auto table = parse_toml(scene_text, "scene", problems);
  if (!table) return std::nullopt;
  toml::node* node = &*table;
  std::stringstream words(path);
  for (std::string word; node != nullptr && std::getline(words, word, '.');) {
    node = step_into(*node, word);
  }
  if (node == nullptr) return std::nullopt;
  return number_in(*node);
}

}  // namespace bristle::scene
