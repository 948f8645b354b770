#include "recording/header.hpp"

#include <algorithm>
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

void put(ByteWriter& to, const Look& look) {
  const std::uint32_t flags = (look.drawn ? 1U : 0U) | (look.rgba ? 2U : 0U);
  to.put(flags);
  for (const float x : look.rgba.value_or(std::array<float, 4>{})) to.put(x);
}
Look get_look(ByteReader& from) {
  const auto flags = from.get<std::uint32_t>();
  std::array<float, 4> rgba{};
  for (float& x : rgba) {
    x = from.get<float>();
    if (!(x >= 0 && x <= 1)) from.fail();
  }
  if (flags > 3) from.fail();
  Look look{.drawn = (flags & 1U) != 0, .rgba = {}};
  if ((flags & 2U) != 0) look.rgba = rgba;
  return look;
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

/// A body and a point on it.
AnchorInfo anchor_at(const Model& model, int link, const Vec3<double>& in_link) {
  const std::span<const Body> bodies = model.tree.bodies();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].link != link) continue;
    return {static_cast<int>(b), inverse(bodies[b].in_link) * in_link};
  }
  return {};
}

/// Parents, masses and anchors. Of bodies that are welded together the first stands for
/// all, and the others hang from it.
void describe_tree(const Model& model, Header& header) {
  const Tree& tree = model.tree;
  std::vector<int> first(static_cast<std::size_t>(tree.link_count()), -1);
  const std::span<const Body> bodies = tree.bodies();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    int& of_link = first[static_cast<std::size_t>(bodies[b].link)];
    if (of_link < 0) of_link = static_cast<int>(b);
  }
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const int link = bodies[b].link;
    BodyInfo info{.parent = first[static_cast<std::size_t>(link)]};
    if (info.parent == static_cast<int>(b)) {
      info.parent = -1;
      if (link != world_link) {
        const int above = tree.link(link).parent;
        if (above != world_link) info.parent = first[static_cast<std::size_t>(above)];
        const Inertia<double>& inertia =
            tree.constants()[static_cast<std::size_t>(link)].inertia;
        info.mass = inertia.mass;
        if (inertia.mass > 0) {
          info.com = inverse(bodies[b].in_link) * ((1 / inertia.mass) * inertia.moment);
        }
      }
    }
    header.tree.push_back(info);
  }
  const auto add = [&](int link, const Vec3<double>& point) {
    const AnchorInfo here = anchor_at(model, link, point);
    if (link != world_link && here.body >= 0) header.anchors.push_back(here);
  };
  for (int link = 1; link < tree.link_count(); ++link) {
    const JointType type = tree.link(link).type;
    if (type == JointType::free || type == JointType::planar) continue;
    add(link, {0, 0, 0});
    add(tree.link(link).parent, tree.constants()[static_cast<std::size_t>(link)].joint.p);
  }
  for (const Loop& loop : model.loops) {
    add(loop.link_a, loop.on_a.p);
    add(loop.link_b, loop.on_b.p);
  }
}

/// How shapes are seen, and what is only seen, as far as there is room for it.
void describe_looks(RunInfo& run, Header& header) {
  for (std::size_t i = 0; i < run.looks.size() && i < header.shapes.size(); ++i) {
    header.shapes[i].look = run.looks[i];
  }
  std::size_t triangles = 0;
  for (ShapeInfo& visual : run.visuals) {
    triangles += visual.triangles.size();
    if (triangles > most_visual_triangles) break;
    header.visuals.push_back(std::move(visual));
  }
  run.looks.clear();
  run.visuals.clear();
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

ShapeInfo shape_info(std::string name, int body, const Transform<double>& in_body,
                     const Shape& shape) {
  ShapeInfo info{
      .name = std::move(name), .surface = {}, .body = body, .kind = kind_of(shape)};
  info.in_body = in_body;
  describe(shape, info);
  return info;
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
  describe_tree(model, header);
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
    Transform<double> in_body = shape.in_link;
    if (shape.body >= 0) {
      const Body& body = model.tree.bodies()[static_cast<std::size_t>(shape.body)];
      in_body = inverse(body.in_link) * shape.in_link;
    }
    header.shapes.push_back(shape_info(shape.name, shape.body, in_body, shape.shape));
    header.shapes.back().surface = shape.surface;
  }
  describe_looks(header.run, header);
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
  to.put(format_version);
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
  to.put(header.patch_numbers);
  to.put_count(header.tree.size());
  for (const BodyInfo& body : header.tree) {
    to.put(body.parent);
    to.put(body.mass);
    put(to, body.com);
  }
  to.put_count(header.anchors.size());
  for (const AnchorInfo& anchor : header.anchors) {
    to.put(anchor.body);
    put(to, anchor.point);
  }
  for (const ShapeInfo& shape : header.shapes) put(to, shape.look);
  to.put_count(header.visuals.size());
  for (const ShapeInfo& visual : header.visuals) {
    put(to, visual);
    put(to, visual.look);
  }
  return bytes;
}

namespace {

/// Whether some body does not hang from the world.
bool has_cycle(const std::vector<BodyInfo>& tree) {
  std::vector<std::size_t> seen(tree.size(), 0);  // by which walk upwards
  for (std::size_t b = 0; b < tree.size(); ++b) {
    for (int up = static_cast<int>(b); up >= 0;) {
      const auto at = static_cast<std::size_t>(up);
      if (seen[at] == b + 1) return true;
      if (seen[at] > 0) break;
      seen[at] = b + 1;
      up = tree[at].parent;
    }
  }
  return false;
}

/// What version 2 added.
void get_looks(ByteReader& from, Header& header) {
  const int bodies = static_cast<int>(header.bodies.size());
  const auto body_at = [&](int least) {
    const int body = from.get<int>();
    if (body < least || body >= bodies) from.fail();
    return body;
  };
  header.tree.resize(from.get_count(36));
  if (header.tree.size() != header.bodies.size()) from.fail();
  for (BodyInfo& body : header.tree) {
    body.parent = body_at(-1);
    body.mass = from.get<double>();
    body.com = get_vec3(from);
  }
  if (!from.ok() || has_cycle(header.tree)) from.fail();
  header.anchors.resize(from.get_count(28));
  for (AnchorInfo& anchor : header.anchors) {
    anchor.body = body_at(0);
    anchor.point = get_vec3(from);
  }
  for (ShapeInfo& shape : header.shapes) shape.look = get_look(from);
  const std::size_t visuals = from.get_count(128);
  for (std::size_t i = 0; i < visuals && from.ok(); ++i) {
    header.visuals.push_back(get_shape(from, bodies));
    header.visuals.back().look = get_look(from);
  }
}

}  // namespace

Result<Header> decode_header(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  Header header;
  header.version = from.get<std::uint32_t>();
  if (from.ok() && (header.version < 1 || header.version > format_version)) {
    std::string text("was written in version ");
    text += std::to_string(header.version);
    text += " of the format; this program reads versions up to ";
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
    if (header.patch_numbers != 0 || header.version == 1) {
      within(numbers_of_patch, header.patch_numbers, numbers_of_patch);
    }
  }
  if (header.version >= 2) get_looks(from, header);
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
