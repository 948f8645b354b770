#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bristle/model/assembly.hpp"

namespace bristle::assembly {

namespace {

using checks::quoted;

bool is_identity(const Transform<double>& x) {
  const auto is = [](const Vec3<double>& v, double a, double b, double c) {
    return v.x == a && v.y == b && v.z == c;
  };
  return is(x.R.x, 1, 0, 0) && is(x.R.y, 0, 1, 0) && is(x.R.z, 0, 0, 1) &&
         is(x.p, 0, 0, 0);
}

/// Distance of a shape's farthest point from a point in its frame.
double reach_of(const Shape& shape, const Transform<double>& pose) {
  // A box around the shape in axes with that point as their origin.
  const Aabb box = bounds(shape, pose);
  const auto far = [](double low, double high) {
    return std::max(std::abs(low), std::abs(high));
  };
  const Vec3<double> corner{far(box.low.x, box.high.x), far(box.low.y, box.high.y),
                            far(box.low.z, box.high.z)};
  return norm(corner);
}

}  // namespace

Problem add_shapes(std::span<const ShapeSpec> specs, Model& model) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ShapeSpec& spec = specs[i];
    const Subject who(Element::shape, spec.name, i);
    if (spec.name.empty()) {
      return who.sentence("name",
                          "a shape on body " + quoted(spec.body) + " has no name");
    }
    if (!names.insert(spec.name).second) {
      return who.sentence("name", who.called() + " was added twice");
    }
    ModelShape shape{
        spec.name, spec.surface, spec.shape,        spec.pose, world_link, -1, 0, 0,
        0,         false,        spec.apparent_mass};
    if (spec.body != world_name) {
      Problem problem;
      const Body* body = find_body(model, spec.body, who, "body", problem);
      if (body == nullptr) return problem;
      shape.body = static_cast<int>(body - model.tree.bodies().data());
      shape.link = body->link;
      shape.in_link = body->in_link * spec.pose;
    }
    if (!is_pose(spec.pose)) {
      return who.error("pose", "its pose is not a rotation and a point");
    }
    const Result<Shape> fine = checked(spec.shape);
    if (!fine) return who.error("shape", fine.error());
    shape.radius = reach_of(spec.shape, Transform<double>{});
    shape.reach = reach_of(spec.shape, shape.in_link);
    shape.centred = is_identity(shape.in_link);
    const auto index = static_cast<std::uint32_t>(model.shapes.size());
    const ShapeKind kind = kind_of(spec.shape);
    if (kind == ShapeKind::plane) {
      model.planes.push_back(index);
    } else if (!std::isfinite(shape.radius) || kind == ShapeKind::mesh ||
               kind == ShapeKind::height_field) {
      model.large.push_back(index);
    }
    model.shapes.push_back(std::move(shape));
  }
  return {};
}

}  // namespace bristle::assembly
