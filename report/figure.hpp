#pragma once

#include <optional>
#include <string>
#include <vector>

// Static figures: panels of curves, as SVG, PNG or CSV. One small module for laws,
// studies and runs.

namespace bristle::report {

enum class Marker { none, circle, square };

/// A value that is not finite, or not positive on a logarithmic axis, breaks the line.
struct Curve {
  std::string label;  // the same label has the same colour in every panel
  std::vector<double> x;
  std::vector<double> y;
  bool dashed = false;
  Marker marker = Marker::none;
  bool line = true;  // false: markers only
};

/// A value to compare with: a line where from = to, else a band. The axes make room for
/// it.
struct Reference {
  enum class Along { x, y };
  Along along;  // the axis the values are on: x gives a vertical line
  double from;
  double to;
  std::string label;
};
Reference vertical_line(double x, std::string label = {});
Reference horizontal_line(double y, std::string label = {});
Reference vertical_band(double from, double to, std::string label = {});
Reference horizontal_band(double from, double to, std::string label = {});

struct Range {
  double low;
  double high;
};

struct Panel {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Curve> curves;
  bool log_x = false;
  bool log_y = false;
  std::vector<Reference> references = {};
  // Left out, or not low < high: as the data need it.
  std::optional<Range> x_range = {};
  std::optional<Range> y_range = {};
  bool equal_axes = false;  // a circle stays a circle; ranges grow to fill the panel
};

struct Figure {
  std::string title;
  std::string note;  // under the title
  std::vector<Panel> panels;
  int columns = 2;
};

/// The figure as one SVG document.
std::string to_svg(const Figure& figure);

/// The figure as the bytes of a PNG file, two pixels for each of the SVG's.
std::string to_png(const Figure& figure);

/// The data as they were given, one line per point: panel,curve,x,y. Panels without a
/// title and curves without a label go by their number. Numbers are the shortest that
/// read back the same.
std::string to_csv(const Figure& figure);

/// True for names that write_figure knows: .svg, .html, .png.
bool is_figure_name(const std::string& path);

/// Writes the figure as its file name says; as SVG where it says nothing. Makes the
/// folder if need be. False when the file cannot be written.
bool write_figure(const Figure& figure, const std::string& path);

/// Writes the data as CSV, likewise.
bool write_csv(const Figure& figure, const std::string& path);

}  // namespace bristle::report
