#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bristle/core/result.hpp"
#include "bristle/model/model.hpp"
#include "recording/bytes.hpp"

// What a recording says about its model, once, at its beginning: names, layout, units,
// geometry, laws, looks. Whoever reads a recording needs neither the scene nor the
// engine's model.

namespace bristle::recording {

/// Version 2 added how bodies hang together and how they look; recordings of version 1
/// are read without.
inline constexpr std::uint32_t format_version = 2;

/// A column of numbers by name.
struct Quantity {
  std::string name;
  std::string unit;  // "1" for a plain number
  bool operator==(const Quantity&) const = default;
};

struct JointInfo {
  std::string name;
  std::string type;  // joint_type_name()
  int q = -1;        // its first position and velocity; −1 for a fixed joint
  int v = -1;
  int positions = 0;
  int velocities = 0;
  bool operator==(const JointInfo&) const = default;
};

/// A body's place in the tree, and its mass; of recordings of version 1 unknown.
struct BodyInfo {
  int parent = -1;            // the body that it is joined or welded to; −1: the world
  double mass = 0;            // [kg] of all that is welded together, at the first of them
  Vec3<double> com{0, 0, 0};  // its centre of mass, in the body [m]
};

/// Where a joint or a loop holds a body, in the body's own frame.
struct AnchorInfo {
  int body = -1;
  Vec3<double> point{0, 0, 0};  // [m]
};

/// How a shape is seen.
struct Look {
  bool drawn = true;                           // else only what touches it is
  std::optional<std::array<float, 4>> rgba{};  // sRGB and opacity, from 0 to 1
  bool operator==(const Look&) const = default;
};

/// A shape on a body, with all that is needed to draw it.
struct ShapeInfo {
  std::string name;
  std::string surface;
  int body = -1;  // −1: the world
  ShapeKind kind = ShapeKind::sphere;
  Transform<double> in_body{};
  std::vector<double> numbers{};  // radius; half edges; radius, half length; semi-axes
  std::vector<Vec3<double>> vertices{};  // of hulls, meshes and height fields
  std::vector<std::array<std::uint32_t, 3>> triangles{};
  Look look{};
};

struct LawRecord {
  std::string name;
  std::vector<Quantity> parameters{};
  std::vector<double> values{};
  std::vector<Quantity> memory{};
  bool operator==(const LawRecord&) const = default;
};

/// The laws of one block of contacts.
struct LawPair {
  LawRecord normal, friction;
  bool operator==(const LawPair&) const = default;
};

/// What the model does not know about a run.
struct RunInfo {
  std::string scene{};             // its text
  std::string source{};            // where that came from: a file name
  std::vector<Quantity> probes{};  // what the caller measures
  /// How the model's shapes are seen, in its order; empty: all of them as they are.
  std::vector<Look> looks{};
  /// What is seen and touches nothing, with the body by its number.
  std::vector<ShapeInfo> visuals{};
};

struct Header {
  std::uint32_t version = format_version;
  std::string bristle{};  // version of the program
  std::string created{};  // 2026-02-28T12:34:56Z
  RunInfo run{};
  std::uint64_t layout = 0;  // fingerprints of the model (state_bytes.hpp)
  std::uint64_t model = 0;
  Vec3<double> gravity{0, 0, 0};
  std::vector<std::string> bodies{};
  std::vector<BodyInfo> tree{};  // of the bodies; empty in version 1
  std::vector<AnchorInfo> anchors{};
  std::vector<JointInfo> joints{};
  int positions = 0;
  int velocities = 0;
  std::vector<ShapeInfo> shapes{};
  std::vector<ShapeInfo> visuals{};  // only seen: nothing of the run refers to them
  std::vector<LawPair> laws{};       // of all blocks, those of joints first
  int normal_memory = 0;             // columns
  int friction_memory = 0;
  int patch_numbers = 0;  // 5 where some laws are volumetric: couple, V, A
  std::vector<Quantity> ledger{};
};

inline constexpr int numbers_of_patch = 5;

/// Triangles of all visuals together; what is more of them is left out.
inline constexpr std::size_t most_visual_triangles = 200'000;

/// The numbers of a contact beyond ContactSample.
inline std::size_t contact_fields(const Header& header) {
  return static_cast<std::size_t>(header.normal_memory + header.friction_memory +
                                  header.patch_numbers);
}

/// A shape with all that is needed to draw it.
ShapeInfo shape_info(std::string name, int body, const Transform<double>& in_body,
                     const Shape& shape);

/// The time of the call, as Header::created has it.
std::string time_stamp();

/// Stamped with the time of the call.
Header make_header(const Model& model, RunInfo run);

/// The lines of the energy ledger in a sample, in order.
std::vector<Quantity> ledger_lines();

Bytes encode(const Header& header);
Result<Header> decode_header(std::span<const std::byte> bytes);

/// The name of a shape, or "" for none; and of the body that it is on.
std::string_view shape_name(const Header& header, std::uint32_t shape);
std::string_view body_name(const Header& header, std::uint32_t shape);

}  // namespace bristle::recording
