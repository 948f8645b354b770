#pragma once

#include <vector>

#include "report/axis.hpp"
#include "report/canvas.hpp"
#include "report/figure.hpp"

// From the points of a curve to what is drawn of them: gaps where there is nothing to
// show, cut to the panel, and no more points than the eye can tell apart.

namespace bristle::report {

/// Curves with more points than this are thinned; those with some hundreds lose the
/// points that lie on a line between others.
inline constexpr std::size_t most_points = 5000;

struct Trace {
  std::vector<Polyline> lines;
  std::vector<Point> dots;  // points without a neighbour to draw a line to
};

Trace trace(const Curve& curve, const Axis& x, const Axis& y);

/// Which points a line needs so that all others are within `tolerance` of it.
std::vector<std::size_t> needed_points(const Polyline& points, double tolerance);

/// Where the markers go; those that would hide each other are left out when there are
/// many.
std::vector<Point> marker_places(const Curve& curve, const Axis& x, const Axis& y);

}  // namespace bristle::report
