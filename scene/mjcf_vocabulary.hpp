#pragma once

#include <string_view>

#include "scene/xml.hpp"

// Which elements and attributes of MJCF are read, and what it means where one is not.

namespace bristle::scene::mjcf {

/// Whether an element is read where it stands; elsewhere it means something else.
bool belongs(std::string_view tag, std::string_view parent);

/// Whether an attribute of an element that belongs is read.
bool is_read(std::string_view tag, std::string_view attribute);

/// What follows from an element that is not read, within its parent.
xml::Consequence consequence_of(std::string_view tag, std::string_view parent);

/// What follows from an attribute that is not read.
xml::Consequence consequence_of_attribute(std::string_view tag,
                                          std::string_view attribute);

/// Actuators of all kinds share their defaults, and so do the kinds of tendons.
std::string_view family(std::string_view tag);

}  // namespace bristle::scene::mjcf
