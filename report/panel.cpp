#include "report/panel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "report/axis.hpp"
#include "report/text.hpp"
#include "report/trace.hpp"

namespace bristle::report {

namespace {

constexpr double left = 76;
constexpr double right = 18;
constexpr double top = 40;
constexpr double bottom = 54;
constexpr TextStyle reference_style{.size = 10.5, .colour = "#555"};
constexpr std::string_view reference_colour = "#777";

struct Axes {
  Axis x;
  Axis y;
  bool empty;  // nothing to show

  Box box() const { return {x.from, y.to, x.to, y.from}; }
};

/// Smallest range that holds what was added.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

std::optional<Range> valid(const std::optional<Range>& range, bool log) {
  const bool good = range && can_show(range->low, log) && can_show(range->high, log) &&
                    range->high - range->low >
                        1e-12 * std::max(std::fabs(range->low), std::fabs(range->high));
  return good ? range : std::nullopt;
}

/// Both ranges at one scale, about their middles.
void equalise(Axis& x, Axis& y) {
  const double scale =
      std::max((x.high - x.low) / x.length(), (y.high - y.low) / y.length());
  for (Axis* axis : {&x, &y}) {
    const double middle = 0.5 * (axis->low + axis->high);
    axis->low = middle - 0.5 * scale * axis->length();
    axis->high = middle + 0.5 * scale * axis->length();
  }
}

Axes axes_of(const Panel& panel, Point corner) {
  const auto x_fixed = valid(panel.x_range, panel.log_x);
  const auto y_fixed = valid(panel.y_range, panel.log_y);
  const auto holds = [](const std::optional<Range>& range, double value) {
    return !range || (value >= range->low && value <= range->high);
  };
  Extent x;
  Extent y;
  for (const Curve& curve : panel.curves) {
    for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
      const double a = curve.x[i];
      const double b = curve.y[i];
      if (!can_show(a, panel.log_x) || !can_show(b, panel.log_y)) continue;
      // Only what a fixed range lets through counts for the other axis.
      if (holds(y_fixed, b)) x.add(a);
      if (holds(x_fixed, a)) y.add(b);
    }
  }
  const bool empty = x.empty() && y.empty();
  for (const Reference& reference : panel.references) {
    const bool on_x = reference.along == Reference::Along::x;
    for (const double value : {reference.from, reference.to}) {
      if (can_show(value, on_x ? panel.log_x : panel.log_y)) (on_x ? x : y).add(value);
    }
  }
  const auto range = [](const std::optional<Range>& fixed, const Extent& extent,
                        bool log) {
    if (fixed) return *fixed;
    if (extent.empty()) return log ? Range{1, 10} : Range{0, 1};
    return padded({extent.low, extent.high}, log);
  };
  const Range on_x = range(x_fixed, x, panel.log_x);
  const Range on_y = range(y_fixed, y, panel.log_y);
  Axes axes{.x = {on_x.low, on_x.high, corner.x + left, corner.x + panel_width - right,
                  panel.log_x},
            .y = {on_y.low, on_y.high, corner.y + panel_height - bottom, corner.y + top,
                  panel.log_y},
            .empty = empty};
  if (panel.equal_axes && !panel.log_x && !panel.log_y) equalise(axes.x, axes.y);
  return axes;
}

/// Where the reference lies in the panel [px]; nothing when it is outside or has no
/// place.
std::optional<Box> place(const Reference& reference, const Axes& axes) {
  const bool on_x = reference.along == Reference::Along::x;
  const Axis& axis = on_x ? axes.x : axes.y;
  const double first = std::max(std::min(reference.from, reference.to), axis.low);
  const double last = std::min(std::max(reference.from, reference.to), axis.high);
  if (!(first <= last)) return std::nullopt;
  Box box = axes.box();
  if (on_x) {
    box.left = axis.at(first);
    box.right = axis.at(last);
  } else {
    box.bottom = axis.at(first);
    box.top = axis.at(last);
  }
  return box;
}

void draw_bands(Canvas& canvas, const Panel& panel, const Axes& axes) {
  for (const Reference& reference : panel.references) {
    const auto box = place(reference, axes);
    if (box && reference.from != reference.to) canvas.fill(*box, reference_colour, 0.18);
  }
}

void draw_reference_lines(Canvas& canvas, const Panel& panel, const Axes& axes) {
  constexpr Stroke stroke{
      .colour = reference_colour, .width = 1.2, .dash = Dash::dash_dotted};
  for (const Reference& reference : panel.references) {
    const auto box = place(reference, axes);
    if (!box || reference.from != reference.to) continue;
    const bool on_x = reference.along == Reference::Along::x;
    canvas.path({{{box->left, on_x ? box->bottom : box->top}, {box->right, box->top}}},
                stroke);
  }
}

/// Places along the curves, close enough together to see what a label would hide.
std::vector<Point> drawn_places(const Panel& panel, const Axes& axes) {
  constexpr double spacing = 5;
  constexpr double most = 100;  // pieces of one segment
  std::vector<Point> places;
  for (const Curve& curve : panel.curves) {
    if (!curve.line) {
      const auto markers = marker_places(curve, axes.x, axes.y);
      places.insert(places.end(), markers.begin(), markers.end());
      continue;
    }
    for (const Polyline& line : trace(curve, axes.x, axes.y).lines) {
      for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        const double dx = line[i + 1].x - line[i].x;
        const double dy = line[i + 1].y - line[i].y;
        const double pieces =
            std::min(most, std::floor(std::hypot(dx, dy) / spacing) + 1);
        for (double k = 0; k < pieces; ++k) {
          places.push_back({line[i].x + k / pieces * dx, line[i].y + k / pieces * dy});
        }
      }
    }
  }
  return places;
}

/// Rooms for the label of a reference, the preferred one first: right or left of a
/// vertical line, from the top downwards; above or below a horizontal one, from the right
/// leftwards; within a band that is wide enough.
std::vector<Box> label_rooms(const Reference& reference, const Box& at, const Box& panel,
                             double width) {
  constexpr double height = 14;
  constexpr double gap = 2;
  constexpr int steps = 8;
  const bool on_x = reference.along == Reference::Along::x;
  std::vector<double> lefts;
  std::vector<double> tops;
  if (on_x) {
    if (at.width() > width) lefts.push_back(0.5 * (at.left + at.right - width));
    lefts.push_back(at.right + gap);
    lefts.push_back(at.left - width - gap);
  } else {
    if (at.height() > height) tops.push_back(0.5 * (at.top + at.bottom - height));
    tops.push_back(at.top - height - 1);
    tops.push_back(at.bottom + gap);
  }
  const double across = panel.width() - width - 2 * gap;
  const double down = panel.height() - height - 2 * gap;
  for (int i = 0; i <= steps; ++i) {
    if (on_x) tops.push_back(panel.top + gap + down * i / steps);
    if (!on_x) lefts.push_back(panel.right - gap - width - across * i / steps);
  }
  std::vector<Box> rooms;
  for (const double l : lefts) {
    for (const double t : tops) {
      if (l < panel.left || l + width > panel.right) continue;
      if (t < panel.top || t + height > panel.bottom) continue;
      rooms.push_back({l, t, l + width, t + height});
    }
  }
  return rooms;
}

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/// Names of references, where they hide least.
void draw_reference_labels(Canvas& canvas, const Panel& panel, const Axes& axes) {
  if (panel.references.empty()) return;
  const std::vector<Point> drawn = drawn_places(panel, axes);
  std::vector<Box> taken;  // by lines and labels
  for (const Reference& reference : panel.references) {
    const auto at = place(reference, axes);
    if (at && reference.from == reference.to) {
      taken.push_back({at->left - 0.5, at->top - 0.5, at->right + 0.5, at->bottom + 0.5});
    }
  }
  for (const Reference& reference : panel.references) {
    const auto at = place(reference, axes);
    if (!at || reference.label.empty()) continue;
    const std::string label =
        shortened(reference.label, reference_style, 0.5 * axes.box().width());
    const double width = text_width(label, reference_style) + 6;
    std::optional<Box> best;
    std::ptrdiff_t least = 0;
    for (const Box& room : label_rooms(reference, *at, axes.box(), width)) {
      const auto hidden = std::count_if(drawn.begin(), drawn.end(),
                                        [&room](Point p) { return room.contains(p); });
      const auto others = std::count_if(
          taken.begin(), taken.end(), [&room](const Box& b) { return overlap(room, b); });
      const std::ptrdiff_t cost = hidden + 50 * others;
      if (best && cost >= least) continue;
      best = room;
      least = cost;
    }
    if (!best) continue;
    taken.push_back(*best);
    canvas.fill(*best, "#fff", 0.6);
    canvas.text({.at = {best->left + 3, best->bottom - 3.5},
                 .text = label,
                 .style = reference_style});
  }
}

double label_width(const Tick& tick) {
  TextStyle raised = tick_style;
  raised.size = superscript_size;
  return text_width(tick.label, tick_style) + text_width(tick.superscript, raised);
}

/// Every how many ticks along x a label has room.
std::size_t label_stride(const std::vector<Tick>& ticks, const Axis& axis) {
  for (std::size_t stride = 1; stride < ticks.size(); ++stride) {
    bool fits = true;
    for (std::size_t i = stride; i < ticks.size(); i += stride) {
      const Tick& a = ticks[i - stride];
      const Tick& b = ticks[i];
      fits = fits && axis.at(b.value) - axis.at(a.value) >
                         0.5 * (label_width(a) + label_width(b)) + 6;
    }
    if (fits) return stride;
  }
  return std::max<std::size_t>(ticks.size(), 1);
}

void draw_ticks(Canvas& canvas, const Axis& x, const Axis& y, const Ticks& along_x,
                const Ticks& along_y) {
  const std::size_t stride = label_stride(along_x.ticks, x);
  for (std::size_t i = 0; i < along_x.ticks.size(); ++i) {
    const Tick& tick = along_x.ticks[i];
    const double at = x.at(tick.value);
    canvas.line({at, y.from}, {at, y.to}, grid_stroke);
    if (i % stride != 0) continue;
    canvas.text({.at = {at, y.from + 17},
                 .text = tick.label,
                 .style = tick_style,
                 .anchor = Anchor::middle,
                 .superscript = tick.superscript});
  }
  for (const Tick& tick : along_y.ticks) {
    const double at = y.at(tick.value);
    canvas.line({x.from, at}, {x.to, at}, grid_stroke);
    canvas.text({.at = {x.from - 7, at + 4},
                 .text = tick.label,
                 .style = tick_style,
                 .anchor = Anchor::end,
                 .superscript = tick.superscript});
  }
  TextStyle style = tick_style;
  style.name = {};  // its size may differ
  if (!along_x.scale.empty()) {
    canvas.text({.at = {x.to, y.from + 33},
                 .text = along_x.scale,
                 .style = style,
                 .anchor = Anchor::end});
  }
  if (!along_y.scale.empty()) {
    canvas.text({.at = {x.from - 7, y.to - 14},
                 .text = along_y.scale,
                 .style = fitted(along_y.scale, style, left - 11, 7),
                 .anchor = Anchor::end});
  }
}

void draw_label(Canvas& canvas, Text text, double room) {
  text.style = fitted(text.text, text.style, room);
  text.text = shortened(text.text, text.style, room);
  canvas.text(text);
}

void draw_curve(Canvas& canvas, const Curve& curve, const CurveStyle& style,
                const Axes& axes) {
  constexpr double width = 1.8;
  if (curve.line) {
    const Trace drawn = trace(curve, axes.x, axes.y);
    canvas.path(drawn.lines,
                {.colour = style.colour, .width = width, .dash = style.dash});
    if (curve.marker == Marker::none) {
      for (const Point& dot : drawn.dots) canvas.disc(dot, 1.4 * width, style.colour);
    }
  }
  if (curve.marker == Marker::none) return;
  for (const Point& at : marker_places(curve, axes.x, axes.y)) {
    draw_marker(canvas, at, curve.marker, style.colour);
  }
}

}  // namespace

void draw_panel(Canvas& canvas, const Panel& panel, const Styles& styles, Point corner) {
  const Axes axes = axes_of(panel, corner);
  const auto& [x, y, empty] = axes;
  draw_bands(canvas, panel, axes);
  draw_label(canvas,
             {.at = {x.from, y.to - 14}, .text = panel.title, .style = panel_title_style},
             x.length() + right - 4);
  const Ticks along_x = empty ? Ticks{} : ticks_of(x);
  const Ticks along_y = empty ? Ticks{} : ticks_of(y);
  draw_ticks(canvas, x, y, along_x, along_y);
  canvas.outline(axes.box(), box_stroke);
  draw_label(canvas,
             {.at = {0.5 * (x.from + x.to), y.from + 38},
              .text = panel.x_label,
              .anchor = Anchor::middle},
             x.length() - 2 * text_width(along_x.scale, label_style));
  draw_label(canvas,
             {.at = {corner.x + 18, 0.5 * (y.from + y.to)},
              .text = panel.y_label,
              .anchor = Anchor::middle,
              .upwards = true},
             along_y.scale.empty() ? panel_height - 40 : y.length() + 16);
  if (empty) {
    canvas.text({.at = {0.5 * (x.from + x.to), 0.5 * (y.from + y.to)},
                 .text = "no data",
                 .style = note_style,
                 .anchor = Anchor::middle});
    return;
  }
  draw_reference_lines(canvas, panel, axes);
  for (const Curve& curve : panel.curves) {
    draw_curve(canvas, curve, styles.of(curve), axes);
  }
  draw_reference_labels(canvas, panel, axes);
}

}  // namespace bristle::report
