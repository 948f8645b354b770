#pragma once

#include "report/canvas.hpp"
#include "report/figure.hpp"
#include "report/styles.hpp"

namespace bristle::report {

inline constexpr double panel_width = 460;
inline constexpr double panel_height = 330;

/// Draws a panel with its axes; `corner` is the upper left one of its room.
void draw_panel(Canvas& canvas, const Panel& panel, const Styles& styles, Point corner);

}  // namespace bristle::report
