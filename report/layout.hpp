#pragma once

#include "report/canvas.hpp"
#include "report/figure.hpp"

namespace bristle::report {

struct FigureSize {
  double width;
  double height;
};

/// Room that the figure takes [px].
FigureSize size_of(const Figure& figure);

/// Draws the figure: title, note, legend, then the panels row by row. The legend stands
/// above the panels, so that it hides no data.
void draw(const Figure& figure, Canvas& canvas);

}  // namespace bristle::report
