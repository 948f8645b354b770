#include "recording/columns.hpp"

namespace bristle::recording {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const std::vector<std::string> xyz{"x", "y", "z"};
const std::vector<std::string> wxyz{"w", "x", "y", "z"};

struct JointNames {
  std::vector<std::string> q, v;
  const char* q_unit;
  const char* v_unit;
};

JointNames joint_names(const std::string& type) {
  if (type == "revolute") return {{}, {}, "rad", "rad/s"};
  if (type == "prismatic") return {{}, {}, "m", "m/s"};
  if (type == "universal") return {{"1", "2"}, {"1", "2"}, "rad", "rad/s"};
  if (type == "spherical") return {wxyz, xyz, "1", "rad/s"};
  if (type == "planar") {
    return {{"x", "y", "angle"}, {"x", "y", "angle"}, "m, m, rad", "m/s, m/s, rad/s"};
  }
  if (type == "free") {
    return {{"x", "y", "z", "qw", "qx", "qy", "qz"},
            {"wx", "wy", "wz", "vx", "vy", "vz"},
            "m, m, m, 1, 1, 1, 1",
            "rad/s, rad/s, rad/s, m/s, m/s, m/s"};
  }
  return {{}, {}, "", ""};
}

}  // namespace

std::vector<Column> sample_columns(const Header& header) {
  std::vector<Column> columns;
  std::size_t next = 0;
  const auto add = [&](Column column) {
    column.first = next;
    next += column.width;
    columns.push_back(std::move(column));
  };
  add({"", "", "time", "s", 0, 1});
  for (const std::string& body : header.bodies) {
    add({"bodies", body, "position", "m", 0, 3, xyz});
    add({"bodies", body, "quaternion", "1", 0, 4, wxyz});
    add({"bodies", body, "velocity", "m/s", 0, 3, xyz});
    add({"bodies", body, "angular_velocity", "rad/s", 0, 3, xyz});
  }
  const std::size_t q = next;
  const std::size_t v = q + at(header.positions);
  for (const JointInfo& joint : header.joints) {
    const JointNames names = joint_names(joint.type);
    if (joint.positions > 0) {
      columns.push_back({"joints", joint.name, "q", names.q_unit, q + at(joint.q),
                         at(joint.positions), names.q});
    }
    if (joint.velocities > 0) {
      columns.push_back({"joints", joint.name, "v", names.v_unit, v + at(joint.v),
                         at(joint.velocities), names.v});
    }
  }
  next = v + at(header.velocities);
  for (const Quantity& line : header.ledger) {
    add({"ledger", "", line.name, line.unit, 0, 1});
  }
  for (const Quantity& probe : header.run.probes) {
    add({"probes", "", probe.name, probe.unit, 0, 1});
  }
  return columns;
}

std::size_t sample_numbers(const Header& header) {
  return sample_bytes(header, 0) / sizeof(double) - 1;  // without the count of contacts
}

std::vector<Column> contact_words(const Header& header) {
  static_cast<void>(header);
  std::vector<Column> columns;
  for (const char* name : {"shape_a", "shape_b", "feature", "episode", "laws", "state"}) {
    columns.push_back({"contacts", "", name, "1", columns.size(), 1});
  }
  return columns;
}

std::vector<Column> contact_columns(const Header& header) {
  std::vector<Column> columns;
  std::size_t next = 0;
  const auto add = [&](const char* name, const char* unit, std::size_t width,
                       std::vector<std::string> parts = {}) {
    columns.push_back({"contacts", "", name, unit, next, width, std::move(parts)});
    next += width;
  };
  add("depth", "m", 1);
  add("rate", "m/s", 1);
  add("slip", "m/s", 2, {"1", "2"});
  add("slip_world", "m/s", 3, xyz);
  add("normal_force", "N", 1);
  add("friction", "N", 3, xyz);
  add("point", "m", 3, xyz);
  add("normal", "1", 3, xyz);
  const auto memory = [&](const char* name, int width) {
    if (width == 0) return;
    std::vector<std::string> parts;
    parts.reserve(at(width));
    for (int k = 0; k < width; ++k) parts.push_back(std::to_string(k));
    add(name, "see /laws", at(width), std::move(parts));
  };
  memory("normal_memory", header.normal_memory);
  memory("friction_memory", header.friction_memory);
  if (header.patch_numbers > 0) {
    add("couple", "N m", 3, xyz);
    add("volume", "m^3", 1);
    add("area", "m^2", 1);
  }
  return columns;
}

std::size_t contact_numbers(const Header& header) { return 17 + contact_fields(header); }

}  // namespace bristle::recording
