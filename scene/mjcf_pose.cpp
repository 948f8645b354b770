#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

double Reading::radians(const View& v, double angle) const {
  return settings(v).degrees ? angle * (std::numbers::pi / 180) : angle;
}

Mat3<double> Reading::orientation(const View& v) {
  constexpr std::array names{"quat", "euler", "axisangle", "xyaxes", "zaxis"};
  const Attribute* given = nullptr;
  for (const char* name : names) {
    const Attribute* a = v.element->find(name);
    if (a == nullptr) continue;
    if (given != nullptr) {
      error(a->place(), {v.who, ": ", a->name, " = ", shown(a->value),
                         " must not be given together with ", given->name});
      return Mat3<double>::identity();
    }
    given = a;
  }
  for (const char* name : names) {
    if (given == nullptr) given = get(v, name);
  }
  if (given == nullptr) return Mat3<double>::identity();
  const bool four = given->name == "quat" || given->name == "axisangle";
  const std::size_t count = four ? 4 : given->name == "xyaxes" ? 6 : 3;
  const auto n = xml::numbers(*given, v.who, count, count, Range::any, problems_);
  if (!n) return Mat3<double>::identity();
  const std::vector<double>& x = *n;
  const auto refuse = [&](std::string_view must) {
    error(given->place(),
          {v.who, ": ", given->name, " = ", shown(given->value), " must ", must});
    return Mat3<double>::identity();
  };
  const auto short_one = [](const Vec3<double>& a) {
    const double length = norm(a);
    return !(length > 1e-9) || !std::isfinite(length);
  };
  if (given->name == "quat") {
    const double length =
        std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (!(length > 1e-9) || !std::isfinite(length)) return refuse("have a length");
    return to_matrix(
        Quaternion<double>{x[0] / length, x[1] / length, x[2] / length, x[3] / length});
  }
  if (given->name == "axisangle") {
    if (short_one({x[0], x[1], x[2]})) return refuse("have an axis with a length");
    return turn({x[0], x[1], x[2]}, radians(v, x[3]));
  }
  if (given->name == "zaxis") {
    if (short_one({x[0], x[1], x[2]})) return refuse("have a length");
    return z_to({x[0], x[1], x[2]});
  }
  if (given->name == "xyaxes") {
    const Vec3<double> a{x[0], x[1], x[2]};
    const Vec3<double> b{x[3], x[4], x[5]};
    if (short_one(a)) return refuse("have an x axis with a length");
    const Vec3<double> ex = (1 / norm(a)) * a;
    const Vec3<double> across = b - dot(b, ex) * ex;
    if (short_one(across)) return refuse("have axes in two directions");
    const Vec3<double> ey = (1 / norm(across)) * across;
    return {ex, ey, cross(ex, ey)};
  }
  Mat3<double> r = Mat3<double>::identity();
  for (std::size_t i = 0; i < 3; ++i) {
    const char c = settings(v).euler[i];
    const bool moving = c >= 'x';
    const char letter = moving ? c : static_cast<char>(c - 'X' + 'x');
    const Vec3<double> axis = letter == 'x'   ? Vec3<double>{1, 0, 0}
                              : letter == 'y' ? Vec3<double>{0, 1, 0}
                                              : Vec3<double>{0, 0, 1};
    const Mat3<double> one = turn(axis, radians(v, x[i]));
    r = moving ? r * one : one * r;
  }
  return r;
}

Transform<double> Reading::pose(const View& v) {
  return {orientation(v), vector(v, "pos", {0, 0, 0})};
}

std::vector<Placed> Reading::children_of(const Element& e, int defaults) {
  std::vector<Placed> all;
  add_children(e, Transform<double>{}, defaults, all);
  return all;
}

void Reading::add_children(const Element& e, const Transform<double>& frame, int defaults,
                           std::vector<Placed>& to) {
  for (const Element& c : e.children) {
    if (c.tag != "frame") {
      to.push_back({&c, frame, defaults});
      continue;
    }
    const View v{&c, -1, called(c.tag, c.value("name"))};
    int inner = defaults;
    if (const Attribute* a = c.find("childclass")) inner = class_named(*a, v.who);
    add_children(c, frame * pose(v), inner, to);
  }
}

}  // namespace bristle::scene::mjcf
