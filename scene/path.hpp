#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>

namespace bristle::scene {

/// One step of a path such as bodies.ball.mass_kg: a key of a table, or an element of a
/// list of tables by its name or number. Null where there is none.
toml::node* step_into(toml::node& node, const std::string& word);

/// The number at a path of a scene's text, if there is one.
std::optional<double> number_at(const std::string& scene_text, const std::string& path);

}  // namespace bristle::scene
