#include "scene/sensor_kinds.hpp"

#include <algorithm>
#include <iterator>

namespace bristle::scene {

namespace {

constexpr SensorWord all_words[] = {
    {SensorKind::joint_position, "", "jointpos", "rad or m"},
    {SensorKind::joint_velocity, "", "jointvel", "rad/s or m/s"},
    {SensorKind::joint_torque, "joint_torque", "jointactuatorfrc", "N m or N"},
    {SensorKind::position, "", "framepos", "m"},
    {SensorKind::orientation, "orientation", "framequat", "1"},
    {SensorKind::velocity, "", "framelinvel", "m/s"},
    {SensorKind::angular_velocity, "angular_velocity", "frameangvel", "rad/s"},
    {SensorKind::acceleration, "acceleration", "", "m/s^2"},
    {SensorKind::angular_acceleration, "angular_acceleration", "frameangacc", "rad/s^2"},
    {SensorKind::accelerometer, "accelerometer", "accelerometer", "m/s^2"},
    {SensorKind::gyro, "gyro", "gyro", "rad/s"},
    {SensorKind::velocimeter, "velocimeter", "velocimeter", "m/s"},
    {SensorKind::force, "force", "force", "N"},
    {SensorKind::torque, "torque", "torque", "N m"},
    {SensorKind::touch, "touch", "touch", "N"},
    {SensorKind::range, "range", "rangefinder", "m"},
    {SensorKind::felt_acceleration, "", "framelinacc", "m/s^2"},
    {SensorKind::coupling_position, "", "tendonpos", "m or rad"},
    {SensorKind::coupling_velocity, "", "tendonvel", "m/s or rad/s"},
    {SensorKind::motor_force, "", "actuatorfrc", "N or N m"}};

}  // namespace

std::span<const SensorWord> sensor_words() { return all_words; }

const SensorWord* sensor_word_in_scene(std::string_view kind) {
  if (kind.empty()) return nullptr;
  const auto found = std::ranges::find(all_words, kind, &SensorWord::in_scene);
  return found == std::end(all_words) ? nullptr : found;
}

std::string_view unit_of(SensorKind kind) {
  return std::ranges::find(all_words, kind, &SensorWord::kind)->unit;
}

std::string_view component_name(SensorKind kind, int i) {
  constexpr std::string_view names[] = {"w", "x", "y", "z"};
  const int count = value_count(kind);
  if (count == 1) return {};
  return names[i + (count == 4 ? 0 : 1)];
}

}  // namespace bristle::scene
