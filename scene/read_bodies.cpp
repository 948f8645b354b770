#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "scene/draft.hpp"
#include "scene/mass.hpp"

namespace bristle::scene {

namespace {

/// The numbers that a shape cannot do without. A radius of 0 makes a point; one that is
/// hardly more makes nothing that could be computed with.
double needed(const Section& at, std::string_view name) {
  const auto value = at.number(name);
  if (value && *value > 0 && *value < smallest_size) {
    at.error(name, fmt::format("{} must be 0 or at least {:g} m",
                               shown(at.key_of(name), *at.node(name)), smallest_size));
  }
  if (!at.given(name)) {
    at.error("type", fmt::format("type = \"{}\" needs {}", at.text_or("type", ""),
                                 usual_key(name, Dimension::length)));
  }
  return value.value_or(1);
}

Vec3<double> needed_vector(const Section& at, std::string_view name) {
  const auto value = at.vector(name);
  if (!at.given(name)) {
    at.error("type", fmt::format("type = \"{}\" needs {}", at.text_or("type", ""),
                                 usual_key(name, Dimension::length)));
  }
  return value.value_or(Vec3<double>{1, 1, 1});
}

/// The keys that some types of shapes have, and which.
constexpr std::pair<std::string_view, std::string_view> keys_of_types[] = {
    {"radius", "sphere|cylinder|capsule|cavity"},
    {"length", "cylinder|capsule|cavity"},
    {"size", "box"},
    {"semi_axes", "ellipsoid"},
    {"file", "mesh|hull"},
    {"scale", "mesh|hull"}};

std::optional<Shape> read_shape(const Section& at, Draft& draft) {
  const std::string type = at.text_or("type", "");
  for (const auto& [key, types] : keys_of_types) at.only("type", key, types);
  if (type == "sphere") return Sphere{needed(at, "radius")};
  if (type == "plane") return Plane{};
  if (type == "box") return Box{0.5 * needed_vector(at, "size")};
  if (type == "cylinder") {
    return Cylinder{needed(at, "radius"), 0.5 * needed(at, "length")};
  }
  if (type == "capsule") {
    return Capsule{needed(at, "radius"), 0.5 * needed(at, "length")};
  }
  if (type == "ellipsoid") return Ellipsoid{needed_vector(at, "semi_axes")};
  if (type == "cavity") {
    return Cavity{needed(at, "radius"),
                  0.5 * at.number_or("length", std::numeric_limits<double>::infinity())};
  }
  if (type == "mesh" || type == "hull") {
    const auto file = at.text("file");
    if (!file) {
      at.error("type", fmt::format("type = \"{}\" needs file", type));
      return std::nullopt;
    }
    return read_mesh(at, *file, at.number_or("scale", 1), type == "hull", draft);
  }
  return std::nullopt;
}

void read_inertia(const Section& at, BodySpec& body) {
  const std::vector<double> i = at.numbers("inertia");
  if (i.size() != 3 && i.size() != 6) {
    if (at.has("inertia")) {
      at.error("inertia",
               fmt::format("{} must have 3 numbers (xx, yy, zz) or 6 (these and "
                           "xy, xz, yz)",
                           at.key_of("inertia")));
    }
    return;
  }
  body.inertia = Sym3<double>::diagonal(i[0], i[1], i[2]);
  if (i.size() == 6) {
    body.inertia.xy = i[3];
    body.inertia.xz = i[4];
    body.inertia.yz = i[5];
  }
  if (const auto why = impossible(body.inertia)) {
    at.error(
        "inertia",
        fmt::format("{}: {}", shown(at.key_of("inertia"), *at.node("inertia")), *why));
  }
}

void read_body(const toml::table& table, std::size_t number, Draft& draft) {
  const Section at(table, body_keys, called("body", table, number), draft.source);
  BodySpec body;
  body.name = at.text_or("name", fmt::format("body {}", number + 1));
  draft.claim("body", body.name, at);
  draft.body_places[body.name] = at.place();
  if (body.name == world_name) {
    at.error("name", "the world is there already; give the body another name");
  }
  const bool fixed = at.flag("fixed");
  for (const char* key :
       {"position", "rotation", "quaternion", "velocity", "angular_velocity"}) {
    if (!fixed && at.given(key)) draft.placed[body.name].push_back(at.key_of(key));
  }
  const Transform<double> pose = pose_of(at).value_or(Transform<double>{});

  // Shapes, and the solid that they make.
  std::optional<double> density = at.number("density");
  const std::string material = at.text_or("material", "");
  if (!material.empty()) {
    const auto numbers = draft.material(material, at, "material");
    if (numbers && !density) density = numbers->density;
  }
  Solid solid;
  bool endless = false;
  const auto shapes = at.tables("shapes");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Section in(*shapes[i], shape_keys,
                     fmt::format("{}, {}", at.what(), called("shape", *shapes[i], i)),
                     draft.source);
    const auto shape = read_shape(in, draft);
    const auto where = pose_of(in);
    if (!shape) continue;
    const std::string plain =
        shapes.size() == 1 ? body.name : fmt::format("{}.{}", body.name, i + 1);
    ShapeSpec spec{.name = in.text_or("name", plain),
                   .body = fixed ? std::string(world_name) : body.name,
                   .shape = *shape,
                   .pose = where.value_or(Transform<double>{}),
                   .surface = in.text_or("surface", "")};
    draft.claim("shape", spec.name, in);
    if (fixed) draft.fixed_shapes[body.name].push_back(spec.name);
    if (const auto good = checked(*shape); !good) in.error("type", good.error());
    const std::string own = in.text_or("material", material);
    std::optional<double> rho = density;
    if (in.has("material")) {
      if (const auto numbers = draft.material(own, in, "material"))
        rho = numbers->density;
    }
    if (const auto part = solid_of(*shape, rho.value_or(1000))) {
      solid = solid + moved(spec.pose, *part);
    } else {
      endless = true;
    }
    if (fixed) spec.pose = pose * spec.pose;
    draft.parts.shapes.push_back(spec);
  }

  if (fixed) {
    draft.fixed.emplace(body.name, pose);
    for (const char* key : {"mass", "inertia", "velocity", "angular_velocity"}) {
      if (at.has(key)) {
        at.error(key, fmt::format("{} means nothing on a fixed body", at.key_of(key)));
      }
    }
    return;
  }
  const auto mass = at.number("mass");
  if (mass) {
    body.mass = *mass;
    if (solid.mass > 0) {
      const double scale = *mass / solid.mass;
      body.com = solid.com;
      body.inertia = scale * solid.inertia;
    }
  } else if (solid.mass > 0 && !endless) {
    body.mass = solid.mass;
    body.com = solid.com;
    body.inertia = solid.inertia;
  } else if (!at.given("mass")) {
    at.error("name",
             "mass_kg is missing, and no shape of it encloses a volume; give mass_kg "
             "or fixed = true");
  }
  if (const auto com = at.vector("centre_of_mass")) body.com = *com;
  read_inertia(at, body);
  draft.parts.bodies.push_back(body);

  InitialJoint start{.joint = body.name, .q = {}, .v = {}};
  const Quaternion<double> q = from_matrix(pose.R);
  start.q = {pose.p.x, pose.p.y, pose.p.z, q.w, q.x, q.y, q.z};
  const Vec3<double> w = at.vector("angular_velocity").value_or(Vec3<double>{0, 0, 0});
  const Vec3<double> v = at.vector("velocity").value_or(Vec3<double>{0, 0, 0});
  start.v = {w.x, w.y, w.z, v.x, v.y, v.z};
  draft.parts.start.push_back(start);
}

}  // namespace

std::optional<Transform<double>> pose_of(const Section& at, std::string_view position,
                                         std::string_view rotation,
                                         std::string_view quaternion) {
  Transform<double> pose;
  bool given = false;
  if (const auto p = at.vector(position)) {
    pose.p = *p;
    given = true;
  }
  if (const auto r = at.vector(rotation)) {
    const Vec3<double> s{std::sin(r->x), std::sin(r->y), std::sin(r->z)};
    const Vec3<double> c{std::cos(r->x), std::cos(r->y), std::cos(r->z)};
    const Mat3<double> x{{1, 0, 0}, {0, c.x, s.x}, {0, -s.x, c.x}};
    const Mat3<double> y{{c.y, 0, -s.y}, {0, 1, 0}, {s.y, 0, c.y}};
    const Mat3<double> z{{c.z, s.z, 0}, {-s.z, c.z, 0}, {0, 0, 1}};
    pose.R = z * (y * x);
    given = true;
  }
  const std::vector<double> q =
      quaternion.empty() ? std::vector<double>{} : at.numbers(quaternion);
  if (q.size() == 4) {
    const double size = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(size > 1e-6)) {
      at.error(quaternion, "quaternion must not be zero: w, x, y, z");
      return pose;
    }
    if (at.has(rotation)) {
      at.error(quaternion, "give rotation_deg or quaternion, not both");
    }
    pose.R =
        to_matrix(Quaternion<double>{q[0] / size, q[1] / size, q[2] / size, q[3] / size});
    given = true;
  }
  return given ? std::optional(pose) : std::nullopt;
}

std::optional<MaterialNumbers> Draft::material(const std::string& name, const Section& at,
                                               std::string_view key) const {
  if (const auto own = materials.find(name); own != materials.end()) return own->second;
  const auto known = find_material(name);
  if (!known) {
    at.error(key, known.error());
    return std::nullopt;
  }
  return MaterialNumbers{(*known)->youngs_modulus.value, (*known)->poissons_ratio.value,
                         (*known)->density.value};
}

std::string Draft::folder() const {
  const std::size_t slash = source.file.find_last_of('/');
  return slash == std::string::npos ? std::string() : source.file.substr(0, slash + 1);
}

void read_materials(const Section& scene, Draft& draft) {
  const toml::table* all = scene.table("materials");
  if (all == nullptr) return;
  for (const auto& [name, node] : *all) {
    const toml::table* table = node.as_table();
    const std::string what = fmt::format("material \"{}\"", name.str());
    if (table == nullptr) {
      scene.error("materials",
                  fmt::format("{} must be a table: [materials.{}]", what, name.str()));
      continue;
    }
    const Section at(*table, material_keys, what, draft.source);
    draft.materials[std::string(name.str())] = {at.number_or("youngs_modulus", 1e9),
                                                at.number_or("poissons_ratio", 0.3),
                                                at.number_or("density", 1000)};
  }
}

void read_bodies(const Section& scene, Draft& draft) {
  const auto bodies = scene.tables("bodies");
  for (std::size_t i = 0; i < bodies.size() && !draft.source.problems->full(); ++i) {
    read_body(*bodies[i], i, draft);
  }
}

}  // namespace bristle::scene
