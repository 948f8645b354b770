#include "recording/header.hpp"

#include <ctime>

#include "bristle/core/version.hpp"
#include "bristle/laws/choice.hpp"
#include "recording/sample.hpp"
#include "recording/state_bytes.hpp"

namespace bristle::recording {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

void describe(const Shape& shape, ShapeInfo& to) {
  const auto surface = [&](const TriangleSurface& from) {
    to.vertices = from.vertices;
    to.triangles = from.triangles;
  };
  const auto round = [&](double radius, double half_length) {
    to.numbers = {radius, half_length};
  };
  std::visit(Overloaded{
                 [&](const Sphere& s) { to.numbers = {s.radius}; },
                 [&](const Plane&) {},
                 [&](const Box& s) { to.numbers = {s.half.x, s.half.y, s.half.z}; },
                 [&](const Cylinder& s) { round(s.radius, s.half_length); },
                 [&](const Cavity& s) { round(s.radius, s.half_length); },
                 [&](const Capsule& s) { round(s.radius, s.half_length); },
                 [&](const Ellipsoid& s) {
                   to.numbers = {s.semi_axes.x, s.semi_axes.y, s.semi_axes.z};
                 },
                 [&](const Terrain& s) { surface(s.field->surface); },
                 [&](const Convex& s) {
                   to.vertices = s.hull->vertices;
                   for (std::uint32_t f = 0; f < s.hull->face_count(); ++f) {
                     const std::span<const std::uint32_t> face = s.hull->face(f);
                     for (std::size_t k = 2; k < face.size(); ++k) {
                       to.triangles.push_back({face[0], face[k - 1], face[k]});
                     }
                   }
                 },
                 [&](const Mesh& s) { surface(s.mesh->surface); },
             },
             shape);
}

LawRecord describe(const LawChoice& choice) {
  const LawEntry& entry = entry_of(choice);
  LawRecord law{.name = std::string(entry.info.name)};
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Parameter& parameter = entry.parameters[i];
    law.parameters.push_back({std::string(parameter.name), std::string(parameter.unit)});
    law.values.push_back(choice.parameters[i]);
  }
  for (const StateField& field : entry.state_with(choice.spin)) {
    law.memory.push_back({std::string(field.name), std::string(field.unit)});
  }
  return law;
}

// Each put has its get below, in the same order.

void put(ByteWriter& to, const Vec3<double>& v) {
  to.put(v.x);
  to.put(v.y);
  to.put(v.z);
}
Vec3<double> get_vec3(ByteReader& from) {
  Vec3<double> v{};
  v.x = from.get<double>();
  v.y = from.get<double>();
  v.z = from.get<double>();
  return v;
}

void put(ByteWriter& to, const std::vector<Quantity>& list) {
  to.put_count(list.size());
  for (const Quantity& q : list) {
    to.put_text(q.name);
    to.put_text(q.unit);
  }
}
std::vector<Quantity> get_quantities(ByteReader& from) {
  std::vector<Quantity> list(from.get_count(8));
  for (Quantity& q : list) {
    q.name = from.get_text();
    q.unit = from.get_text();
  }
  return list;
}

void put(ByteWriter& to, const LawRecord& law) {
  to.put_text(law.name);
  put(to, law.parameters);
  to.put_count(law.values.size());
  to.put_doubles(law.values);
  put(to, law.memory);
}
LawRecord get_law(ByteReader& from) {
  LawRecord law;
  law.name = from.get_text();
  law.parameters = get_quantities(from);
  law.values.resize(from.get_count(8));
  from.get_doubles(law.values);
  law.memory = get_quantities(from);
  return law;
}

void put(ByteWriter& to, const ShapeInfo& shape) {
  to.put_text(shape.name);
  to.put_text(shape.surface);
  to.put(shape.body);
  to.put(static_cast<int>(shape.kind));
  put(to, shape.in_body.R.x);
  put(to, shape.in_body.R.y);
  put(to, shape.in_body.R.z);
  put(to, shape.in_body.p);
  to.put_count(shape.numbers.size());
  to.put_doubles(shape.numbers);
  to.put_count(shape.vertices.size());
  for (const Vec3<double>& v : shape.vertices) put(to, v);
  to.put_count(shape.triangles.size());
  for (const auto& triangle : shape.triangles) {
    for (const std::uint32_t vertex : triangle) to.put(vertex);
  }
}

std::size_t numbers_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::sphere:
      return 1;
    case ShapeKind::cylinder:
    case ShapeKind::cavity:
    case ShapeKind::capsule:
      return 2;
    case ShapeKind::box:
    case ShapeKind::ellipsoid:
      return 3;
    case ShapeKind::plane:
    case ShapeKind::height_field:
    case ShapeKind::convex:
    case ShapeKind::mesh:
      return 0;
  }
  return 0;
}

ShapeInfo get_shape(ByteReader& from, int bodies) {
  ShapeInfo shape;
  shape.name = from.get_text();
  shape.surface = from.get_text();
  shape.body = from.get<int>();
  const int kind = from.get<int>();
  if (kind < 0 || kind >= shape_kinds || shape.body < -1 || shape.body >= bodies) {
    from.fail();
    return shape;
  }
  shape.kind = static_cast<ShapeKind>(kind);
  shape.in_body.R.x = get_vec3(from);
  shape.in_body.R.y = get_vec3(from);
  shape.in_body.R.z = get_vec3(from);
  shape.in_body.p = get_vec3(from);
  shape.numbers.resize(from.get_count(8));
  if (shape.numbers.size() != numbers_of(shape.kind)) from.fail();
  from.get_doubles(shape.numbers);
  shape.vertices.resize(from.get_count(24));
  for (Vec3<double>& v : shape.vertices) v = get_vec3(from);
  shape.triangles.resize(from.get_count(12));
  for (auto& triangle : shape.triangles) {
    for (std::uint32_t& vertex : triangle) {
      vertex = from.get<std::uint32_t>();
      if (vertex >= shape.vertices.size()) from.fail();
    }
  }
  return shape;
}

}  // namespace

std::vector<Quantity> ledger_lines() {
  std::vector<Quantity> lines;
  const auto line = [&](std::string name) { lines.push_back({std::move(name), "J"}); };
  // In the order of Ledger, then of Works, as Recorder::sample writes them.
  for (const char* name : {"kinetic", "gravity", "springs", "normal", "friction",
                           "limits", "joint_friction", "loops"}) {
    line(name);
  }
  for (const char* group : {"normal", "friction", "limits", "joint_friction"}) {
    for (const char* name : {"damping", "slip", "viscous", "parametric", "unsupplied"}) {
      std::string both("work_");
      both += group;
      both += '_';
      both += name;
      line(std::move(both));
    }
  }
  for (const char* name : {"dampers", "motors", "loads", "regenerated", "loops",
                           "projection", "numerical", "rolling", "spin"}) {
    std::string work("work_");
    work += name;
    line(std::move(work));
  }
  for (const char* name : {"energy", "dissipated", "supplied", "residual"}) line(name);
  return lines;
}

std::string time_stamp() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Header make_header(const Model& model, RunInfo run) {
  Header header;
  header.bristle = std::string(version());
  header.created = time_stamp();
  header.run = std::move(run);
  const Fingerprint print = fingerprint(model);
  header.layout = print.layout;
  header.model = print.whole;
  header.gravity = model.tree.gravity();
  for (const Body& body : model.tree.bodies()) header.bodies.push_back(body.name);
  for (const Joint& joint : model.tree.joints()) {
    header.joints.push_back({.name = joint.name,
                             .type = std::string(joint_type_name(joint.type)),
                             .q = joint.q,
                             .v = joint.v,
                             .positions = position_count(joint.type),
                             .velocities = velocity_count(joint.type)});
  }
  header.positions = model.tree.position_count();
  header.velocities = model.tree.velocity_count();
  for (const ModelShape& shape : model.shapes) {
    ShapeInfo info{.name = shape.name,
                   .surface = shape.surface,
                   .body = shape.body,
                   .kind = kind_of(shape.shape)};
    info.in_body = shape.in_link;
    if (shape.body >= 0) {
      const Body& body = model.tree.bodies()[static_cast<std::size_t>(shape.body)];
      info.in_body = inverse(body.in_link) * shape.in_link;
    }
    describe(shape.shape, info);
    header.shapes.push_back(std::move(info));
  }
  for (const LawBlock& block : model.blocks) {
    header.laws.push_back({describe(block.normal), describe(block.friction)});
  }
  header.normal_memory = model.normal_fields;
  header.friction_memory = model.friction_fields;
  header.patch_numbers = model.has_patches ? numbers_of_patch : 0;
  header.ledger = ledger_lines();
  return header;
}

Bytes encode(const Header& header) {
  Bytes bytes;
  ByteWriter to(bytes);
  to.put(header.version);
  to.put_text(header.bristle);
  to.put_text(header.created);
  to.put_text(header.run.scene);
  to.put_text(header.run.source);
  put(to, header.run.probes);
  to.put(header.layout);
  to.put(header.model);
  put(to, header.gravity);
  to.put_count(header.bodies.size());
  for (const std::string& body : header.bodies) to.put_text(body);
  to.put(header.positions);
  to.put(header.velocities);
  to.put_count(header.joints.size());
  for (const JointInfo& joint : header.joints) {
    to.put_text(joint.name);
    to.put_text(joint.type);
    to.put(joint.q);
    to.put(joint.v);
    to.put(joint.positions);
    to.put(joint.velocities);
  }
  to.put_count(header.shapes.size());
  for (const ShapeInfo& shape : header.shapes) put(to, shape);
  to.put_count(header.laws.size());
  for (const LawPair& laws : header.laws) {
    put(to, laws.normal);
    put(to, laws.friction);
  }
  to.put(header.normal_memory);
  to.put(header.friction_memory);
  put(to, header.ledger);
  if (header.patch_numbers > 0) to.put(header.patch_numbers);  // none in older ones
  return bytes;
}

Result<Header> decode_header(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  Header header;
  header.version = from.get<std::uint32_t>();
  if (from.ok() && header.version != format_version) {
    std::string text("was written in version ");
    text += std::to_string(header.version);
    text += " of the format; this program reads version ";
    text += std::to_string(format_version);
    return Error{text};
  }
  header.bristle = from.get_text();
  header.created = from.get_text();
  header.run.scene = from.get_text();
  header.run.source = from.get_text();
  header.run.probes = get_quantities(from);
  header.layout = from.get<std::uint64_t>();
  header.model = from.get<std::uint64_t>();
  header.gravity = get_vec3(from);
  header.bodies.resize(from.get_count(4));
  for (std::string& body : header.bodies) body = from.get_text();
  const auto within = [&](int low, int number, int high) {
    if (number < low || number > high) from.fail();
  };
  constexpr int most = 1 << 26;  // positions of anything that fits into memory
  header.positions = from.get<int>();
  header.velocities = from.get<int>();
  within(0, header.positions, most);
  within(0, header.velocities, most);
  header.joints.resize(from.get_count(24));
  for (JointInfo& joint : header.joints) {
    joint.name = from.get_text();
    joint.type = from.get_text();
    joint.q = from.get<int>();
    joint.v = from.get<int>();
    joint.positions = from.get<int>();
    joint.velocities = from.get<int>();
    within(0, joint.positions, 7);
    within(0, joint.velocities, 6);
    if (joint.positions > 0) within(0, joint.q, header.positions - joint.positions);
    if (joint.velocities > 0) within(0, joint.v, header.velocities - joint.velocities);
  }
  const std::size_t shapes = from.get_count(128);
  for (std::size_t i = 0; i < shapes && from.ok(); ++i) {
    header.shapes.push_back(get_shape(from, static_cast<int>(header.bodies.size())));
  }
  const std::size_t laws = from.get_count(32);
  for (std::size_t i = 0; i < laws && from.ok(); ++i) {
    LawPair pair;
    pair.normal = get_law(from);
    pair.friction = get_law(from);
    header.laws.push_back(std::move(pair));
  }
  header.normal_memory = from.get<int>();
  header.friction_memory = from.get<int>();
  within(0, header.normal_memory, 1000);
  within(0, header.friction_memory, 1000);
  header.ledger = get_quantities(from);
  if (from.ok() && from.left() > 0) {
    header.patch_numbers = from.get<int>();
    within(numbers_of_patch, header.patch_numbers, numbers_of_patch);
  }
  if (!from.ok() || from.left() > 0) return Error{"its header is damaged"};
  return header;
}

std::string_view shape_name(const Header& header, std::uint32_t shape) {
  return shape < header.shapes.size() ? header.shapes[shape].name : std::string_view();
}

std::string_view body_name(const Header& header, std::uint32_t shape) {
  if (shape >= header.shapes.size()) return {};
  const int body = header.shapes[shape].body;
  if (body < 0) return world_name;
  return header.bodies[static_cast<std::size_t>(body)];
}

}  // namespace bristle::recording
