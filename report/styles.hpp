#pragma once

#include <string_view>
#include <vector>

#include "report/canvas.hpp"
#include "report/figure.hpp"

namespace bristle::report {

struct CurveStyle {
  std::string_view colour;
  Dash dash;
};

/// Colours and dashes of a figure's curves. A label looks the same in every panel.
class Styles {
 public:
  explicit Styles(const Figure& figure);

  CurveStyle of(const Curve& curve) const;
  /// The first curve of each label, in the order of appearance.
  const std::vector<const Curve*>& legend() const { return legend_; }

 private:
  std::vector<const Curve*> legend_;
};

/// Width of a sample in the legend, with the blank after it [px].
inline constexpr double sample_room = 31;

/// A short piece of the curve beside its name in the legend.
void draw_sample(Canvas& canvas, Point at, const Curve& curve, const CurveStyle& style);

void draw_marker(Canvas& canvas, Point at, Marker marker, std::string_view colour);

}  // namespace bristle::report
