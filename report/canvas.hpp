#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a figure is drawn on. Lengths are in pixels, y points down. The layout draws the
// same strokes and words on every kind of canvas.

namespace bristle::report {

struct Point {
  double x;
  double y;
};

using Polyline = std::vector<Point>;

struct Box {
  double left;
  double top;
  double right;
  double bottom;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool contains(Point p) const {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
};

enum class Dash { solid, dashed, dotted, dash_dotted };

// Colours are "#rgb" or "#rrggbb". A name is that of the style sheet an SVG file carries.
struct Stroke {
  std::string_view colour;
  double width = 1;
  Dash dash = Dash::solid;
  std::string_view name = {};
};

struct TextStyle {
  double size = 13;
  bool bold = false;
  std::string_view colour = "#222";
  std::string_view name = {};
};

enum class Anchor { start, middle, end };

struct Text {
  Point at;  // on the base line
  std::string text;
  TextStyle style = {};
  Anchor anchor = Anchor::start;
  bool upwards = false;          // turned a quarter to the left
  std::string superscript = {};  // after the text, smaller and raised
};

inline constexpr double superscript_size = 9;
inline constexpr double superscript_rise = 5;

inline constexpr TextStyle title_style{.size = 17, .bold = true};
inline constexpr TextStyle note_style{.colour = "#555"};
inline constexpr TextStyle panel_title_style{.bold = true};
inline constexpr TextStyle label_style{};
inline constexpr TextStyle tick_style{.size = 11, .colour = "#444", .name = "tick"};
inline constexpr Stroke grid_stroke{.colour = "#ddd", .name = "grid"};
inline constexpr Stroke box_stroke{.colour = "#888", .name = "box"};

class Canvas {
 public:
  Canvas() = default;
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  virtual ~Canvas() = default;

  virtual void line(Point from, Point to, const Stroke& stroke) = 0;
  virtual void path(const std::vector<Polyline>& lines, const Stroke& stroke) = 0;
  virtual void outline(const Box& box, const Stroke& stroke) = 0;
  /// A filled rectangle; opacity 0 is invisible, 1 hides what is behind it.
  virtual void fill(const Box& box, std::string_view colour, double opacity) = 0;
  virtual void disc(Point centre, double radius, std::string_view colour) = 0;
  virtual void text(const Text& text) = 0;
};

}  // namespace bristle::report
