#include "report/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

namespace bristle::report {

namespace {

constexpr double column_width = 0.5;     // [px]: one column of the PNG
constexpr double straight = 0.1;         // [px]: bends less than this are not seen
constexpr std::size_t few_points = 500;  // drawn as they are
constexpr std::size_t most_markers = 2000;

Box panel_box(const Axis& x, const Axis& y) {
  // A pixel more, so that rounding cuts nothing that belongs to the panel.
  return {x.from - 1, y.to - 1, x.to + 1, y.from + 1};
}

/// Unbroken stretches of the curve, in pixels.
std::vector<Polyline> stretches(const Curve& curve, const Axis& x, const Axis& y) {
  std::vector<Polyline> out;
  bool pen_down = false;
  for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
    if (!can_show(curve.x[i], x.log) || !can_show(curve.y[i], y.log)) {
      pen_down = false;
      continue;
    }
    if (!pen_down) out.emplace_back();
    out.back().push_back({x.at(curve.x[i]), y.at(curve.y[i])});
    pen_down = true;
  }
  return out;
}

/// The part of a segment inside the box (Liang & Barsky 1984).
std::optional<std::pair<Point, Point>> inside(Point a, Point b, const Box& box) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  double enter = 0;
  double leave = 1;
  const std::array<std::pair<double, double>, 4> sides{{{-dx, a.x - box.left},
                                                        {dx, box.right - a.x},
                                                        {-dy, a.y - box.top},
                                                        {dy, box.bottom - a.y}}};
  for (const auto& [outwards, room] : sides) {
    if (outwards == 0 && room < 0) return std::nullopt;
    if (outwards < 0) enter = std::max(enter, room / outwards);
    if (outwards > 0) leave = std::min(leave, room / outwards);
  }
  if (enter > leave) return std::nullopt;
  const Point from = enter == 0 ? a : Point{a.x + enter * dx, a.y + enter * dy};
  const Point to = leave == 1 ? b : Point{a.x + leave * dx, a.y + leave * dy};
  return std::pair{from, to};
}

void add_cut(const Polyline& points, const Box& box, std::vector<Polyline>& out) {
  bool pen_down = false;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const auto part = inside(points[i], points[i + 1], box);
    if (!part) {
      pen_down = false;
      continue;
    }
    if (!pen_down) out.push_back({part->first});
    out.back().push_back(part->second);
    pen_down = box.contains(points[i + 1]);
  }
}

/// Of the points that follow each other in one column: the first, the lowest, the highest
/// and the last. Works for loops as well as for curves that run from left to right.
Polyline thinned(const Polyline& points) {
  Polyline out;
  for (std::size_t first = 0; first < points.size();) {
    const double column = std::floor(points[first].x / column_width);
    std::size_t low = first;
    std::size_t high = first;
    std::size_t next = first + 1;
    for (; next < points.size() && std::floor(points[next].x / column_width) == column;
         ++next) {
      if (points[next].y < points[low].y) low = next;
      if (points[next].y > points[high].y) high = next;
    }
    std::array keep{first, std::min(low, high), std::max(low, high), next - 1};
    const auto* const last = std::unique(keep.begin(), keep.end());
    for (const auto* i = keep.begin(); i != last; ++i) out.push_back(points[*i]);
    first = next;
  }
  return out;
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length2 = dx * dx + dy * dy;
  double part = length2 > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length2 : 0;
  part = std::clamp(part, 0.0, 1.0);
  return std::hypot(p.x - a.x - part * dx, p.y - a.y - part * dy);
}

/// Without the points that lie on the line between others.
Polyline straightened(const Polyline& points) {
  Polyline out;
  for (const std::size_t i : needed_points(points, straight)) out.push_back(points[i]);
  return out;
}

std::vector<Point> one_per_cell(const std::vector<Point>& points, double cell) {
  std::unordered_set<std::int64_t> taken;
  std::vector<Point> out;
  for (const Point& p : points) {
    const auto column = static_cast<std::int64_t>(std::floor(p.x / cell));
    const auto row = static_cast<std::int64_t>(std::floor(p.y / cell));
    if (taken.insert(column * 1000003 + row).second) out.push_back(p);
  }
  return out;
}

}  // namespace

// By Douglas & Peucker 1973, in blocks: the search is quadratic for some shapes.
std::vector<std::size_t> needed_points(const Polyline& points, double tolerance) {
  constexpr std::size_t block = 500;
  std::vector<bool> keep(points.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> open;
  for (std::size_t a = 0; a < points.size(); a += block) {
    const std::size_t b = std::min(a + block, points.size() - 1);
    keep[a] = true;
    keep[b] = true;
    open.emplace_back(a, b);
  }
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    double farthest = tolerance;
    std::size_t at = a;
    for (std::size_t i = a + 1; i < b; ++i) {
      const double d = distance(points[i], points[a], points[b]);
      if (d > farthest) {
        farthest = d;
        at = i;
      }
    }
    if (at == a) continue;
    keep[at] = true;
    open.emplace_back(a, at);
    open.emplace_back(at, b);
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (keep[i]) out.push_back(i);
  }
  return out;
}

Trace trace(const Curve& curve, const Axis& x, const Axis& y) {
  const Box box = panel_box(x, y);
  Trace out;
  for (const Polyline& points : stretches(curve, x, y)) {
    if (points.size() > 1) {
      add_cut(points, box, out.lines);
    } else if (box.contains(points.front())) {
      out.dots.push_back(points.front());
    }
  }
  std::size_t count = out.dots.size();
  for (const Polyline& points : out.lines) count += points.size();
  if (count > few_points) {
    for (Polyline& points : out.lines) {
      points = straightened(count > most_points ? thinned(points) : points);
    }
  }
  if (count > most_points) out.dots = one_per_cell(out.dots, 1);
  return out;
}

std::vector<Point> marker_places(const Curve& curve, const Axis& x, const Axis& y) {
  const Box box = panel_box(x, y);
  std::vector<Point> places;
  for (const Polyline& points : stretches(curve, x, y)) {
    std::copy_if(points.begin(), points.end(), std::back_inserter(places),
                 [&box](Point p) { return box.contains(p); });
  }
  for (double cell = 1; places.size() > most_markers && cell < 64; cell *= 1.5) {
    places = one_per_cell(places, cell);
  }
  return places;
}

}  // namespace bristle::report
