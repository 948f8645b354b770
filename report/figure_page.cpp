#include "report/figure_page.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "report/trace.hpp"

namespace bristle::report {

namespace {

constexpr std::size_t few_points = 500;  // kept as they are
constexpr double straight = 5e-5;  // of the panel: bends less than this are not kept

/// The values of all curves of a panel on one axis, from 0 to 1.
Axis axis_of(const Panel& panel, std::vector<double> Curve::* values, bool log) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Axis axis{infinity, -infinity, 0, 1, log};
  for (const Curve& curve : panel.curves) {
    for (const double value : curve.*values) {
      if (!can_show(value, log)) continue;
      axis.low = std::min(axis.low, value);
      axis.high = std::max(axis.high, value);
    }
  }
  if (!(axis.low < axis.high)) axis.high = axis.low + 1;
  return axis;
}

Curve thinned(const Curve& curve, const Axis& x, const Axis& y) {
  const std::size_t n = std::min(curve.x.size(), curve.y.size());
  if (n <= few_points || !curve.line || curve.marker != Marker::none) return curve;
  Curve out = curve;
  out.x.clear();
  out.y.clear();
  const auto put = [&](std::size_t i) {
    out.x.push_back(curve.x[i]);
    out.y.push_back(curve.y[i]);
  };
  const auto shown = [&](std::size_t i) {
    return can_show(curve.x[i], x.log) && can_show(curve.y[i], y.log);
  };
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first;
    Polyline points;
    for (; end < n && shown(end); ++end) {
      points.push_back({x.at(curve.x[end]), y.at(curve.y[end])});
    }
    for (const std::size_t i : needed_points(points, straight)) put(first + i);
    if (end < n) put(end);  // a gap, once
    for (first = end; first < n && !shown(first); ++first) {
    }
  }
  return out;
}

Json range_json(const std::optional<Range>& range) {
  if (!range || !(range->low < range->high)) return nullptr;
  return {{"low", range->low}, {"high", range->high}};
}

Json curve_json(const Curve& curve, PageData& page) {
  constexpr const char* markers[] = {"none", "circle", "square"};
  return {{"label", curve.label},
          {"x", page.add(curve.x)},
          {"y", page.add(curve.y)},
          {"dashed", curve.dashed},
          {"marker", markers[static_cast<int>(curve.marker)]},
          {"line", curve.line}};
}

Json panel_json(const Panel& panel, PageData& page) {
  const Axis x = axis_of(panel, &Curve::x, panel.log_x);
  const Axis y = axis_of(panel, &Curve::y, panel.log_y);
  Json curves = Json::array(), references = Json::array();
  for (const Curve& curve : panel.curves) {
    curves.push_back(curve_json(thinned(curve, x, y), page));
  }
  for (const Reference& r : panel.references) {
    references.push_back({{"along", r.along == Reference::Along::x ? "x" : "y"},
                          {"from", r.from},
                          {"to", r.to},
                          {"label", r.label}});
  }
  return {{"title", panel.title},
          {"x_label", panel.x_label},
          {"y_label", panel.y_label},
          {"log_x", panel.log_x},
          {"log_y", panel.log_y},
          {"equal", panel.equal_axes},
          {"x_range", range_json(panel.x_range)},
          {"y_range", range_json(panel.y_range)},
          {"references", std::move(references)},
          {"curves", std::move(curves)}};
}

}  // namespace

Json figure_json(const Figure& figure, PageData& page) {
  Json panels = Json::array();
  for (const Panel& panel : figure.panels) panels.push_back(panel_json(panel, page));
  return {{"title", figure.title}, {"note", figure.note}, {"panels", std::move(panels)}};
}

}  // namespace bristle::report
