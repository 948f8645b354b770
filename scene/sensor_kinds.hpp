#pragma once

#include <span>
#include <string_view>

#include "bristle/step/sensors.hpp"

namespace bristle::scene {

/// A kind of sensor as scenes and MJCF files call it; one of them may be empty.
struct SensorWord {
  SensorKind kind;
  std::string_view in_scene;
  std::string_view in_mjcf;
  std::string_view unit;
};

std::span<const SensorWord> sensor_words();
/// Null where a kind of probe is no sensor.
const SensorWord* sensor_word_in_scene(std::string_view kind);
std::string_view unit_of(SensorKind kind);

/// What value number i of a sensor is called: "x"; empty where there is only one.
std::string_view component_name(SensorKind kind, int i);

}  // namespace bristle::scene
