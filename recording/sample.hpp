#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bristle/spatial/quaternion.hpp"
#include "recording/header.hpp"

// What a recording holds of one instant, and of one event.

namespace bristle::recording {

/// A body's own frame, seen from the world and in its axes.
struct BodySample {
  Vec3<double> position;          // of its origin [m]
  Quaternion<double> quaternion;  // w, x, y, z; without jumps in sign
  Vec3<double> velocity;          // of its origin [m/s]
  Vec3<double> angular_velocity;  // [rad/s]
};
static_assert(sizeof(BodySample) == 13 * sizeof(double));

/// What a contact does. Open: no episode is under way, or a ground that still recovers is
/// not touched (depth ≤ 0 and no force). Else it slips where the friction law's guard of
/// the role slip is positive; under laws that have no such guard, where it slips faster
/// than RecorderOptions::stick_speed.
enum class ContactState : std::uint32_t { open, stick, slip };

constexpr std::string_view name_of(ContactState state) {
  constexpr std::string_view names[] = {"open", "stick", "slip"};
  return names[static_cast<std::uint32_t>(state)];
}

/// The fixed part of a contact; what its laws remember follows it. Shape a < shape b, the
/// normal points from A into B, slip is that of B on A, and forces are those on B.
struct ContactSample {
  std::uint32_t a, b;     // shapes
  std::uint32_t feature;  // which contact of the pair
  std::uint32_t episode;  // its number since the start of the run; 0 while open
  std::uint32_t laws;     // in Header::laws
  ContactState state;
  double depth;             // [m]
  double rate;              // [m/s]
  Vec2<double> slip;        // in the contact's frame [m/s]
  Vec3<double> slip_world;  // [m/s]
  double normal_force;      // [N]
  Vec3<double> friction;    // on B, in world axes [N]
  Vec3<double> point;       // where the force acts [m]
  Vec3<double> normal;      // unit, from A into B
};
static_assert(sizeof(ContactSample) == 6 * sizeof(std::uint32_t) + 17 * sizeof(double));

struct Sample {
  double time = 0;                   // [s]
  std::vector<BodySample> bodies{};  // as Header::bodies
  std::vector<double> q{}, v{};
  std::vector<double> ledger{};  // as Header::ledger [J]
  std::vector<double> probes{};
  std::vector<ContactSample> contacts{};
  std::vector<double>
      memory{};  // per contact: normal_memory, friction_memory, patch_numbers of Header
};

/// Bytes of a sample with so many contacts.
std::size_t sample_bytes(const Header& header, std::size_t contacts);

/// From a record of the log; false where it does not fit the header. Reuses the room of
/// the sample.
bool decode_sample(const Header& header, std::span<const std::byte> bytes, Sample& to);

enum class RecordedEvent : std::uint32_t { touch, lift_off, normal, friction };

constexpr std::string_view name_of(RecordedEvent kind) {
  constexpr std::string_view names[] = {"touch", "lift-off", "normal", "friction"};
  return names[static_cast<std::uint32_t>(kind)];
}

/// Touch and lift-off, a switch of the normal law (its clamp sets in or ends), or of the
/// friction law (stick to slip and back).
struct EventSample {
  RecordedEvent kind;
  std::uint32_t a, b;     // shapes; no_shape for a row of a joint, or when it has ended
  std::uint32_t feature;  // which contact of the pair
  std::uint32_t episode;
  std::int32_t dof;  // of a joint's limit or friction; else −1
  double time;       // [s]
  double speed;      // touch: at which the bodies meet; else |δ̇| [m/s]
};
static_assert(sizeof(EventSample) == 6 * sizeof(std::uint32_t) + 2 * sizeof(double));

bool decode_event(std::span<const std::byte> bytes, EventSample& to);

/// The last record of a run that came to its end.
struct EndRecord {
  std::string status{};   // "ok", or why it could not go on
  std::string summary{};  // JSON
};
Bytes encode(const EndRecord& end);
bool decode_end(std::span<const std::byte> bytes, EndRecord& to);

}  // namespace bristle::recording
