#include "bristle/model/path.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "bristle/core/vec.hpp"

namespace bristle {

namespace {

constexpr double tiny = 1e-15;  // [m], [m²]

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double cross(const Vec2<double>& a, const Vec2<double>& b) {
  return a.x * b.y - a.y * b.x;
}

/// Whether two segments have a point in common.
bool meet(const Vec2<double>& a, const Vec2<double>& a_end, const Vec2<double>& b,
          const Vec2<double>& b_end) {
  const Vec2<double> u = a_end - a, v = b_end - b, between = b - a;
  const double area = cross(u, v);
  if (std::abs(area) < tiny) return false;
  const double along_u = cross(between, v) / area, along_v = cross(between, u) / area;
  return along_u >= 0 && along_u <= 1 && along_v >= 0 && along_v <= 1;
}

/// Where a string touches a circle about the origin, and the arc between.
struct Touching {
  Vec2<double> first, last;
  double arc = 0;
};

/// The point of the segment from a to b next to the origin.
Vec2<double> nearest(const Vec2<double>& a, const Vec2<double>& b) {
  const Vec2<double> d = b - a;
  const double along = -dot(d, a) / dot(d, d);
  return a + std::clamp(along, 0.0, 1.0) * d;
}

/// Around the outside. `side`: a direction in which it lies; else the shorter way, where
/// the straight one is barred.
std::optional<Touching> around(const Vec2<double>& a, const Vec2<double>& b,
                               const Vec2<double>* side, double radius) {
  const double aa = dot(a, a), bb = dot(b, b), rr = radius * radius;
  const Vec2<double> d = b - a;
  if (aa < rr || bb < rr || radius < tiny || dot(d, d) < tiny) return {};
  const Vec2<double> c = nearest(a, b);
  if (dot(c, c) > rr && (side == nullptr || dot(*side, c) >= 0)) return {};
  const double from_a = std::sqrt(aa - rr), from_b = std::sqrt(bb - rr);
  Touching best;
  double merit = 0;
  bool barred = true;
  for (const double sense : {-1.0, 1.0}) {  // clockwise, and against it
    const Vec2<double> left_a{-a.y, a.x}, left_b{-b.y, b.x};
    Touching way;
    way.first = (1 / aa) * (rr * a + sense * radius * from_a * left_a);
    way.last = (1 / bb) * (rr * b - sense * radius * from_b * left_b);
    const Vec2<double> sum = way.first + way.last, apart = way.first - way.last;
    const double size = std::sqrt(dot(sum, sum));
    const bool crossed = meet(a, way.first, b, way.last);
    const double own = side == nullptr ? -dot(apart, apart)
                       : size > tiny   ? dot(sum, *side) / size
                                       : side->x;
    const bool better =
        sense < 0 || (barred && !crossed) || (barred == crossed && own >= merit);
    if (!better) continue;
    const double turn =
        sense * std::atan2(cross(way.first, way.last), dot(way.first, way.last));
    // Rounding must not make a whole turn of none.
    way.arc = radius * (turn < -1e-9 ? turn + 2 * std::numbers::pi : std::max(turn, 0.0));
    best = way;
    merit = own;
    barred = crossed;
  }
  if (barred) return {};
  return best;
}

/// Through the inside: the point of the circle from which the way to both ends is
/// shortest, where the straight one passes outside.
std::optional<Touching> within(const Vec2<double>& a, const Vec2<double>& b,
                               double radius) {
  const double to_a = std::sqrt(dot(a, a)), to_b = std::sqrt(dot(b, b));
  if (to_a <= radius || to_b <= radius || radius < tiny) return {};
  const Vec2<double> d = b - a;
  if (dot(d, d) > tiny) {
    const Vec2<double> c = nearest(a, b);
    if (dot(c, c) <= radius * radius) return {};
  }
  const double between = std::atan2(std::abs(cross(a, b)), dot(a, b));
  const double sense = cross(a, b) < 0 ? -1 : 1;
  // g(φ): the slope of the length over the angle from a; it grows on [0, between].
  const auto slope = [&](double angle) {
    const double left = between - angle;
    const double reach_a =
        std::sqrt(to_a * to_a + radius * radius - 2 * to_a * radius * std::cos(angle));
    const double reach_b =
        std::sqrt(to_b * to_b + radius * radius - 2 * to_b * radius * std::cos(left));
    return to_a * std::sin(angle) / reach_a - to_b * std::sin(left) / reach_b;
  };
  double low = 0, high = between;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) < 0 ? low : high) = middle;
  }
  const double angle = sense * 0.5 * (low + high);
  const Vec2<double> unit = (1 / to_a) * a;
  const Vec2<double> touch{
      radius * (std::cos(angle) * unit.x - std::sin(angle) * unit.y),
      radius * (std::sin(angle) * unit.x + std::cos(angle) * unit.y)};
  return Touching{touch, touch, 0};
}

/// Where a string leaves the straight line, in the world, and the arc between.
struct Wrap {
  Vec3<double> first, last;
  double arc;
};

std::optional<Wrap> wrap(const PathElement& round,
                         std::span<const Transform<double>> poses,
                         const Vec3<double>& from, const Vec3<double>& to) {
  const Transform<double> pose = poses[at(round.link)] * round.pose;
  const Vec3<double> a = transpose_times(pose.R, from - pose.p);
  const Vec3<double> b = transpose_times(pose.R, to - pose.p);
  if (norm(a) < tiny || norm(b) < tiny) return {};
  Vec3<double> x{1, 0, 0}, y{0, 1, 0};
  if (round.part == PathPart::sphere) {
    x = (1 / norm(a)) * a;
    Vec3<double> normal = cross(a, b);
    if (norm(normal) < tiny) {  // any plane through both
      normal =
          cross(x, std::abs(x.x) < 0.6 ? Vec3<double>{1, 0, 0} : Vec3<double>{0, 1, 0});
    }
    y = cross((1 / norm(normal)) * normal, x);
  }
  const Vec2<double> a2{dot(a, x), dot(a, y)}, b2{dot(b, x), dot(b, y)};
  std::optional<Touching> touching;
  if (round.has_side) {
    const Vec3<double> side =
        transpose_times(pose.R, poses[at(round.side_link)] * round.side - pose.p);
    Vec2<double> direction{dot(side, x), dot(side, y)};
    const double size = std::sqrt(dot(direction, direction));
    direction = size > tiny ? (1 / size) * direction : Vec2<double>{1, 0};
    touching = norm(side) < round.radius ? within(a2, b2, round.radius)
                                         : around(a2, b2, &direction, round.radius);
  } else {
    touching = around(a2, b2, nullptr, round.radius);
  }
  if (!touching) return {};
  Vec3<double> first = touching->first.x * x + touching->first.y * y;
  Vec3<double> last = touching->last.x * x + touching->last.y * y;
  double arc = touching->arc;
  if (round.part == PathPart::cylinder) {  // it climbs evenly on the way around
    const Vec2<double> in = a2 - touching->first, out = b2 - touching->last;
    const double before = std::sqrt(dot(in, in)), after = std::sqrt(dot(out, out));
    const double climb = (b.z - a.z) / (before + arc + after);
    first.z = a.z + climb * before;
    last.z = a.z + climb * (before + arc);
    arc = std::hypot(arc, last.z - first.z);
  }
  return Wrap{pose * first, pose * last, arc};
}

}  // namespace

double follow_path(std::span<const PathElement> path,
                   std::span<const Transform<double>> poses,
                   std::vector<PathPull>& pulls) noexcept {
  double length = 0, divisor = 1;
  const PathElement* last = nullptr;   // point
  const PathElement* round = nullptr;  // since then
  Vec3<double> from{};
  const auto straight = [&](int link_a, const Vec3<double>& a, int link_b,
                            const Vec3<double>& b) {
    const double size = norm(b - a);
    length += size / divisor;
    if (link_a == link_b || !(size > tiny)) return;
    const Vec3<double> along = (1 / (size * divisor)) * (b - a);
    pulls.push_back({link_a, a, -along});
    pulls.push_back({link_b, b, along});
  };
  for (const PathElement& element : path) {
    if (element.part == PathPart::pulley) {
      divisor = element.divisor;
      last = round = nullptr;
      continue;
    }
    if (element.part != PathPart::point) {
      round = &element;
      continue;
    }
    const Vec3<double> here = poses[at(element.link)] * element.pose.p;
    std::optional<Wrap> over;
    if (last != nullptr && round != nullptr) over = wrap(*round, poses, from, here);
    if (over) {
      straight(last->link, from, round->link, over->first);
      length += over->arc / divisor;
      straight(round->link, over->last, element.link, here);
    } else if (last != nullptr) {
      straight(last->link, from, element.link, here);
    }
    last = &element;
    from = here;
    round = nullptr;
  }
  return length;
}

}  // namespace bristle
