#pragma once

#include <functional>

#include "scene/draft.hpp"

// What of the robots in a scene only the whole model decides: motors that hold joints,
// the masses that resist where they touch, and which of their own bodies never do.

namespace bristle::scene {

/// Position motors for all joints of robots that are held and that nothing else drives.
void add_holding_motors(Draft& draft);

/// Of every shape of a robot, the mass that resists a push on its link's centre of mass,
/// with every joint at neutral; or a quarter of what it carries, the robot where that is
/// free, if that is more. Rules of files that say how soft contacts are have the former,
/// and are as soft as their file says under the latter.
void find_apparent_masses(const Model& model, Draft& draft);

/// Keeps apart what of a robot overlaps with every joint at neutral or at the start, and
/// all of its bodies where self-collision is off. Says whether there are such pairs.
bool keep_robots_apart(const Model& model, const State& start, Draft& draft);

}  // namespace bristle::scene
