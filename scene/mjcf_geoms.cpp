#include <algorithm>
#include <cmath>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

std::uint32_t Reading::bits(const View& v, const char* name) {
  const Attribute* a = get(v, name);
  if (a == nullptr) return 1;
  const double x = xml::number(a, v.who, 1, Range::not_negative, problems_);
  if (x != std::floor(x) || x > 4294967295.0) {
    error(a->place(), {v.who, ": ", name, " = ", shown(a->value),
                       " must be a whole number of 32 bits"});
    return 1;
  }
  return static_cast<std::uint32_t>(x);
}

/// Contacts of MuJoCo push from margin − gap on: a round shape is as much larger.
void Reading::widen(const View& v, Shape& shape) {
  const double margin = number(v, "margin", 0, Range::not_negative) -
                        number(v, "gap", 0, Range::not_negative);
  if (!(margin > 0)) return;
  if (auto* sphere = std::get_if<Sphere>(&shape)) {
    sphere->radius += margin;
  } else if (auto* capsule = std::get_if<Capsule>(&shape)) {
    capsule->radius += margin;
  } else {
    unread_.count("margin of a geom that is not round", Consequence::contact);
  }
}

void Reading::read_geom(const Placed& at, int body, const Transform<double>& base,
                        Solid* total) {
  const Element& e = *at.element;
  const std::string given(e.value("name"));
  const View v = view(e, at.defaults, given);
  if (!given.empty() && !geom_names_.take(given)) {
    error(e.place(), {v.who, ": another geom must not have this name"});
  }
  if (!given.empty() && wrapped_.contains(given)) note_wrap(at, v, body, base);
  const std::uint32_t contype = bits(v, "contype");
  const std::uint32_t conaffinity = bits(v, "conaffinity");
  const bool touches =
      contype != 0 || conaffinity != 0 || (!given.empty() && paired_.contains(given));
  if (touches && word(v, "type", "sphere") == "hfield") {
    read_hfield_geom(at, v, body, base,
                     {given, {}, body, contype, conaffinity, touch_of(v)});
    return;
  }
  const double group = number(v, "group", 0, Range::any);
  const double density = number(v, "density", 1000, Range::not_negative);
  const bool has_mass = get(v, "mass") != nullptr;
  const double given_mass = number(v, "mass", 0, Range::not_negative);
  const bool weighs = total != nullptr && group >= group_range_.first &&
                      group <= group_range_.second &&
                      (has_mass ? given_mass : density) > 0;
  if (!touches && !weighs) {
    see_geom(at, v, body, base, nullptr);
    return;
  }
  std::optional<Form> form = read_form(v, body, touches, weighs);
  if (!form) return;
  if (!touches) see_geom(at, v, body, base, &*form);
  form->pose = at.frame * form->pose;
  if (weighs && form->solid.mass > 0) {
    const double factor = has_mass ? given_mass / form->solid.mass : density;
    *total = *total + moved(form->pose, scaled(form->solid, factor));
  }
  if (!touches || !form->shape) return;
  widen(v, *form->shape);
  const std::string& on = bodies_[static_cast<std::size_t>(body)].name;
  ShapeSpec shape;
  const bool free = !given.empty() && !body_names_.has(given) &&
                    !body_names_.is_reserved(given) && !shape_names_.has(given);
  shape.name =
      shape_names_.fresh(free ? given : on + "." + (given.empty() ? "geom" : given));
  shape.body = on;
  shape.shape = *form->shape;
  shape.pose = base * form->pose;
  shape.surface = options_.surface.empty() ? on : options_.surface;
  bodies_[static_cast<std::size_t>(body)].geoms.push_back(
      static_cast<int>(geoms_.size()));
  geoms_.push_back({given, shape.name, body, contype, conaffinity, touch_of(v)});
  see_shape(v, body, shape.name);
  parts.shapes.push_back(std::move(shape));
}

std::optional<Reading::Form> Reading::read_form(const View& v, int body, bool touches,
                                                bool weighs) {
  const std::string type = choice(get(v, "type"), v.who,
                                  {"sphere", "plane", "capsule", "ellipsoid", "cylinder",
                                   "box", "mesh", "hfield", "sdf"});
  if (type == "hfield" || type == "sdf") {
    unread_.count("geom of type " + type, Consequence::contact);
    return {};
  }
  Form form;
  form.pose = pose(v);
  if (type == "mesh") return read_mesh_form(v, form, touches, weighs);
  if (type == "plane") {
    if (bodies_[static_cast<std::size_t>(body)].group != 0) {
      error(v.element->place(), {v.who, ": a plane must not be on a body that moves"});
    }
    form.shape = Plane{};
    return form;
  }
  const Attribute* mesh = get(v, "mesh");
  const std::optional<Vec3<double>> size =
      mesh != nullptr ? fit(*mesh, v, type, form) : read_size(v, type, form);
  if (!size) return {};
  const Vec3<double>& half = *size;
  if (type == "sphere" || (type == "capsule" && half.y == 0)) {
    form.shape = Sphere{half.x};
    form.solid = solid_ball(half.x);
  } else if (type == "capsule") {
    form.shape = Capsule{half.x, half.y};
    form.solid = solid_capsule(half.x, half.y);
  } else if (type == "cylinder") {
    form.shape = Cylinder{half.x, half.y};
    form.solid = solid_cylinder(half.x, half.y);
  } else if (type == "box") {
    form.shape = Box{half};
    form.solid = solid_box(half);
  } else {
    form.shape = Ellipsoid{half};
    form.solid = solid_ellipsoid(half);
  }
  return form;
}

std::optional<Vec3<double>> Reading::read_size(const View& v, const std::string& type,
                                               Form& form) {
  // Half lengths, and the ends of long ones.
  const bool round = type == "capsule" || type == "cylinder";
  std::size_t count = type == "sphere" ? 1 : round ? 2 : 3;
  const Attribute* ends = type == "sphere" ? nullptr : get(v, "fromto");
  if (ends != nullptr) count = 1;
  const Attribute* given = get(v, "size");
  if (given == nullptr) {
    error(v.element->place(), {v.who, ": a ", type, " must have size"});
    return {};
  }
  const auto read = xml::numbers(*given, v.who, count, 3, Range::any, problems_);
  if (!read) return {};
  std::vector<double> size = *read;
  size.resize(3, 0.0);
  if (ends != nullptr) {
    const auto n = xml::numbers(*ends, v.who, 6, 6, Range::any, problems_);
    if (!n) return {};
    const Vec3<double> a{(*n)[0], (*n)[1], (*n)[2]};
    const Vec3<double> b{(*n)[3], (*n)[4], (*n)[5]};
    const double length = norm(a - b);
    if (!(length > 1e-9) || !std::isfinite(length)) {
      error(ends->place(),
            {v.who, ": fromto = ", shown(ends->value), " must be two different points"});
      return {};
    }
    form.pose = {z_to(a - b), 0.5 * (a + b)};
    size = round ? std::vector<double>{size[0], length / 2, 0}
                 : std::vector<double>{size[0], size[0], length / 2};
    count = round ? 2 : 3;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (size[i] >= smallest_size && size[i] <= largest_size) continue;
    error(given->place(),
          {v.who, ": size = ", shown(given->value),
           size[i] > 0 ? " must lie between 1e-9 and 1e9 m" : " must be above 0"});
    return {};
  }
  return Vec3<double>{size[0], size[1], size[2]};
}

}  // namespace bristle::scene::mjcf
