#pragma once

#include <optional>
#include <string>

namespace bristle::scene {

/// Why the nodes of a COLLADA file must not be followed, or nothing: they contain
/// themselves, lie too deep in each other, or are too many once every instance_node has
/// been replaced by the node that it names. Also where the text is not XML.
std::optional<std::string> unsound_collada(const std::string& text);

}  // namespace bristle::scene
