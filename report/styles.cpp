#include "report/styles.hpp"

#include <algorithm>
#include <array>

namespace bristle::report {

namespace {

// Okabe & Ito's colours, told apart by colour-blind readers, with the yellow darkened for
// thin lines; then three more that differ in lightness. After ten curves the dashes
// differ.
constexpr std::array<std::string_view, 10> colours{
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f6000",
    "#56b4e9", "#000000", "#e69f00", "#882255", "#999999"};
constexpr std::array rounds{Dash::solid, Dash::dotted, Dash::dash_dotted};

}  // namespace

Styles::Styles(const Figure& figure) {
  for (const Panel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      if (curve.label.empty()) continue;
      const bool known =
          std::any_of(legend_.begin(), legend_.end(),
                      [&curve](const Curve* c) { return c->label == curve.label; });
      if (!known) legend_.push_back(&curve);
    }
  }
}

CurveStyle Styles::of(const Curve& curve) const {
  const auto found =
      std::find_if(legend_.begin(), legend_.end(),
                   [&curve](const Curve* c) { return c->label == curve.label; });
  const auto i = static_cast<std::size_t>(found - legend_.begin());
  const Dash dash = rounds[(i / colours.size()) % rounds.size()];
  return {colours[i % colours.size()], curve.dashed ? Dash::dashed : dash};
}

void draw_sample(Canvas& canvas, Point at, const Curve& curve, const CurveStyle& style) {
  if (curve.line) {
    canvas.line({at.x, at.y - 4}, {at.x + 24, at.y - 4},
                {.colour = style.colour, .width = 3, .dash = style.dash});
  }
  draw_marker(canvas, {at.x + 12, at.y - 4}, curve.marker, style.colour);
}

void draw_marker(Canvas& canvas, Point at, Marker marker, std::string_view colour) {
  constexpr double radius = 3.2;
  constexpr double half = 2.9;
  switch (marker) {
    case Marker::circle:
      canvas.disc(at, radius, colour);
      break;
    case Marker::square:
      canvas.fill({at.x - half, at.y - half, at.x + half, at.y + half}, colour, 1);
      break;
    case Marker::none:
      break;
  }
}

}  // namespace bristle::report
