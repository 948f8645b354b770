#include "report/layout.hpp"

#include <algorithm>

#include "report/panel.hpp"
#include "report/styles.hpp"
#include "report/text.hpp"

namespace bristle::report {

namespace {

constexpr double margin = 20;
constexpr double row_height = 20;

/// What stands above the panels, and how high it is.
struct Head {
  std::vector<Text> lines;
  struct Entry {
    Point at;  // left end of the sample's base line
    std::string label;
    const Curve* curve;
  };
  std::vector<Entry> legend;
  double height;
};

int columns_of(const Figure& figure) {
  return std::clamp(figure.columns, 1,
                    std::max(1, static_cast<int>(figure.panels.size())));
}

double width_of(const Figure& figure) { return columns_of(figure) * panel_width + 16; }

Head head_of(const Figure& figure, const Styles& styles) {
  Head head{};
  const double room = width_of(figure) - 2 * margin;
  double y = 30;
  for (const std::string& line : wrapped(figure.title, title_style, room)) {
    head.lines.push_back({.at = {margin, y}, .text = line, .style = title_style});
    y += 22;
  }
  if (!figure.note.empty()) {
    for (const std::string& line : wrapped(figure.note, note_style, room)) {
      head.lines.push_back({.at = {margin, y}, .text = line, .style = note_style});
      y += 18;
    }
    y += 4;
  }
  y += 4;
  double x = 0;
  for (const Curve* curve : styles.legend()) {
    const std::string label = shortened(curve->label, label_style, room - sample_room);
    const double wide = sample_room + text_width(label, label_style) + 16;
    if (x > 0 && x + wide - 16 > room) {
      x = 0;
      y += row_height;
    }
    head.legend.push_back({{margin + x, y}, label, curve});
    x += wide;
  }
  head.height = y + 20;
  return head;
}

}  // namespace

FigureSize size_of(const Figure& figure) {
  const int columns = columns_of(figure);
  const int rows = (static_cast<int>(figure.panels.size()) + columns - 1) / columns;
  return {width_of(figure),
          rows * panel_height + head_of(figure, Styles(figure)).height + 8};
}

void draw(const Figure& figure, Canvas& canvas) {
  const Styles styles(figure);
  const Head head = head_of(figure, styles);
  for (const Text& line : head.lines) canvas.text(line);
  for (const Head::Entry& entry : head.legend) {
    draw_sample(canvas, entry.at, *entry.curve, styles.of(*entry.curve));
    canvas.text({.at = {entry.at.x + sample_room, entry.at.y}, .text = entry.label});
  }
  const int columns = columns_of(figure);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    draw_panel(canvas, figure.panels[i], styles,
               {column * panel_width, head.height + row * panel_height});
  }
}

}  // namespace bristle::report
