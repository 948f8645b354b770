#pragma once

#include <optional>
#include <string>
#include <vector>

// Static figures: panels of curves, drawn as SVG. One small module for laws, studies and
// runs.

namespace bristle::report {

struct Curve {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;
  bool dashed = false;
};

struct Panel {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Curve> curves;
  bool log_x = false;
  bool log_y = false;
};

struct Figure {
  std::string title;
  std::string note;  // one line under the title
  std::vector<Panel> panels;
  int columns = 2;
};

/// The figure as one SVG document.
std::string to_svg(const Figure& figure);

/// Writes the figure as an SVG file, or as a page that holds it where the name ends in
/// .html; makes the folder if need be. False when the file cannot be written.
bool write_figure(const Figure& figure, const std::string& path);

/// Round tick positions that cover [low, high] with about `count` of them.
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace bristle::report
