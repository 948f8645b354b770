#include "report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace bristle::report {

namespace {

// Okabe & Ito's colours: told apart by colour-blind readers, dark enough for thin lines.
constexpr std::array<std::string_view, 7> colours{
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f6000", "#56b4e9", "#000000"};
constexpr double panel_width = 460;
constexpr double panel_height = 330;
constexpr double left = 76;
constexpr double right = 18;
constexpr double top = 40;
constexpr double bottom = 54;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Labels in the order of first appearance; a label has the same colour in every panel.
std::vector<const Curve*> legend_of(const Figure& figure) {
  std::vector<const Curve*> legend;
  for (const Panel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      const bool known =
          std::any_of(legend.begin(), legend.end(),
                      [&curve](const Curve* c) { return c->label == curve.label; });
      if (!known) legend.push_back(&curve);
    }
  }
  return legend;
}

std::string_view colour_of(const std::vector<const Curve*>& legend, const Curve& curve) {
  for (std::size_t i = 0; i < legend.size(); ++i) {
    if (legend[i]->label == curve.label) return colours[i % colours.size()];
  }
  return colours.back();
}

/// One axis: data on [low, high] to pixels on [from, to].
struct Axis {
  double low;
  double high;
  double from;
  double to;
  bool log;

  double at(double x) const {
    const double part =
        log ? (std::log10(x) - std::log10(low)) / (std::log10(high) - std::log10(low))
            : (x - low) / (high - low);
    return from + part * (to - from);
  }
  bool shows(double x) const { return std::isfinite(x) && (!log || x > 0); }
  std::vector<double> ticks() const {
    if (!log) return nice_ticks(low, high, 6);
    std::vector<double> decades;
    const double first = std::ceil(std::log10(low) - 1e-9);
    const double last = std::floor(std::log10(high) + 1e-9);
    const double step = std::max(1.0, std::ceil((last - first) / 8));
    for (double d = first; d <= last; d += step) decades.push_back(std::pow(10.0, d));
    return decades;
  }
};

Axis fit(const std::vector<Curve>& curves, std::vector<double> Curve::* values, bool log,
         double from, double to) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Curve& curve : curves) {
    for (const double x : curve.*values) {
      if (!std::isfinite(x) || (log && x <= 0)) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  if (!(low <= high)) {
    low = log ? 1 : 0;
    high = log ? 10 : 1;
  }
  // A constant with its rounding errors is a constant.
  if (high - low <= 1e-9 * std::max(std::fabs(low), std::fabs(high))) {
    const double margin = low == 0 ? 1 : 0.1 * std::fabs(low);
    low = log ? low / 2 : low - margin;
    high = log ? high * 2 : high + margin;
  }
  if (!log) {
    // A little air, but an axis that starts at zero keeps its zero.
    const double air = 0.05 * (high - low);
    high += high == 0 ? 0 : air;
    low -= low == 0 ? 0 : air;
  }
  return {low, high, from, to, log};
}

std::string tick_label(double x, bool log) {
  if (log) {
    return fmt::format("10<tspan dy=\"-5\" font-size=\"9\">{}</tspan>",
                       static_cast<int>(std::lround(std::log10(x))));
  }
  return fmt::format("{:.4g}", x);
}

void draw_curve(std::string& svg, const Curve& curve, std::string_view colour,
                const Axis& x, const Axis& y) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
    if (!x.shows(curve.x[i]) || !y.shows(curve.y[i])) {
      pen_down = false;
      continue;
    }
    fmt::format_to(std::back_inserter(path), "{}{:.2f} {:.2f}", pen_down ? "L" : "M",
                   x.at(curve.x[i]), y.at(curve.y[i]));
    pen_down = true;
  }
  fmt::format_to(std::back_inserter(svg),
                 "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" "
                 "stroke-linejoin=\"round\"{}/>\n",
                 path, colour, curve.dashed ? " stroke-dasharray=\"6 4\"" : "");
}

void draw_panel(std::string& svg, const Panel& panel,
                const std::vector<const Curve*>& legend, double x0, double y0) {
  const Axis x =
      fit(panel.curves, &Curve::x, panel.log_x, x0 + left, x0 + panel_width - right);
  const Axis y =
      fit(panel.curves, &Curve::y, panel.log_y, y0 + panel_height - bottom, y0 + top);
  auto out = std::back_inserter(svg);
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-weight=\"600\">{}</text>\n",
                 x.from, y.to - 14, escaped(panel.title));
  for (const double t : x.ticks()) {
    fmt::format_to(out,
                   "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" "
                   "y2=\"{2:.1f}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{3:.1f}\" "
                   "text-anchor=\"middle\">{4}</text>\n",
                   x.at(t), y.from, y.to, y.from + 17, tick_label(t, panel.log_x));
  }
  for (const double t : y.ticks()) {
    fmt::format_to(out,
                   "<line class=\"grid\" x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" "
                   "y2=\"{0:.1f}\"/><text class=\"tick\" x=\"{3:.1f}\" y=\"{4:.1f}\" "
                   "text-anchor=\"end\">{5}</text>\n",
                   y.at(t), x.from, x.to, x.from - 7, y.at(t) + 4,
                   tick_label(t, panel.log_y));
  }
  fmt::format_to(out,
                 "<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                 "height=\"{:.1f}\"/>\n",
                 x.from, y.to, x.to - x.from, y.from - y.to);
  fmt::format_to(out,
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                 0.5 * (x.from + x.to), y.from + 38, escaped(panel.x_label));
  fmt::format_to(out,
                 "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" "
                 "text-anchor=\"middle\">{}</text>\n",
                 x0 + 18, 0.5 * (y.from + y.to), escaped(panel.y_label));
  for (const Curve& curve : panel.curves) {
    draw_curve(svg, curve, colour_of(legend, curve), x, y);
  }
}

double legend_room(const Curve& curve) {
  return 44 + 7.2 * static_cast<double>(curve.label.size());
}

/// Where each entry of the legend goes: rows as wide as the figure.
std::vector<std::pair<double, int>> legend_places(const std::vector<const Curve*>& legend,
                                                  double width) {
  std::vector<std::pair<double, int>> places;
  double at = 0;
  int row = 0;
  for (const Curve* curve : legend) {
    if (at > 0 && at + legend_room(*curve) > width) {
      at = 0;
      ++row;
    }
    places.emplace_back(at, row);
    at += legend_room(*curve);
  }
  return places;
}

void draw_legend(std::string& svg, const std::vector<const Curve*>& legend,
                 const std::vector<std::pair<double, int>>& places, double x0,
                 double y0) {
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double x = x0 + places[i].first;
    const double y = y0 + 20 * places[i].second;
    fmt::format_to(std::back_inserter(svg),
                   "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" "
                   "stroke=\"{3}\" stroke-width=\"3\"{6}/><text x=\"{4:.1f}\" "
                   "y=\"{5:.1f}\">{7}</text>\n",
                   x, y - 4, x + 24, colours[i % colours.size()], x + 31, y,
                   legend[i]->dashed ? " stroke-dasharray=\"6 4\"" : "",
                   escaped(legend[i]->label));
  }
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
  const double raw = (high - low) / count;
  const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * magnitude;
  for (const double candidate : {1.0, 2.0, 2.5, 5.0}) {
    if (candidate * magnitude >= raw) {
      step = candidate * magnitude;
      break;
    }
  }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= 10 * count && (first + i) * step <= high + 1e-9 * step; ++i) {
    ticks.push_back(first + i == 0 ? 0 : (first + i) * step);
  }
  return ticks;
}

std::string to_svg(const Figure& figure) {
  if (figure.panels.empty()) return {};
  const int columns =
      std::clamp(figure.columns, 1, static_cast<int>(figure.panels.size()));
  const int rows = (static_cast<int>(figure.panels.size()) + columns - 1) / columns;
  const double width = columns * panel_width + 16;
  const std::vector<const Curve*> legend = legend_of(figure);
  const auto places = legend_places(legend, width - 40);
  const double legend_height = places.empty() ? 0 : 20.0 * places.back().second;
  const double legend_top = figure.note.empty() ? 56 : 78;
  const double head = legend_top + legend_height + 20;
  const double height = rows * panel_height + head + 8;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"system-ui, 'DejaVu Sans', "
      "sans-serif\" "
      "font-size=\"13\" fill=\"#222\">\n"
      "<style>.grid{{stroke:#ddd;stroke-width:1}}.box{{fill:none;stroke:#888}}"
      ".tick{{font-size:11px;fill:#444}}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n"
      "<text x=\"20\" y=\"30\" font-size=\"17\" font-weight=\"600\">{2}</text>\n",
      width, height, escaped(figure.title));
  if (!figure.note.empty()) {
    fmt::format_to(std::back_inserter(svg),
                   "<text x=\"20\" y=\"52\" fill=\"#555\">{}</text>\n",
                   escaped(figure.note));
  }
  draw_legend(svg, legend, places, 20, legend_top);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    draw_panel(svg, figure.panels[i], legend, column * panel_width,
               head + row * panel_height);
  }
  return svg + "</svg>\n";
}

bool write_figure(const Figure& figure, const std::string& path) {
  const std::filesystem::path where(path);
  std::error_code ignored;
  if (where.has_parent_path())
    std::filesystem::create_directories(where.parent_path(), ignored);
  std::ofstream file(where, std::ios::binary);
  if (where.extension() == ".html") {
    file
        << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        << "<meta name=\"viewport\" content=\"width=device-width\"><title>"
        << escaped(figure.title)
        << "</"
           "title><style>body{margin:1rem;background:#fff}svg{max-width:100%;height:auto}"
        << "</style></head><body>\n"
        << to_svg(figure) << "</body></html>\n";
  } else {
    file << to_svg(figure);
  }
  file.close();
  return !file.fail();
}

}  // namespace bristle::report
