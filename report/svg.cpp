#include "report/svg.hpp"

#include <fmt/format.h>

#include <iterator>

#include "report/text.hpp"

namespace bristle::report {

namespace {

std::string_view dash_attribute(Dash dash) {
  switch (dash) {
    case Dash::dashed:
      return " stroke-dasharray=\"6 4\"";
    case Dash::dotted:
      return " stroke-dasharray=\"2 3\"";
    case Dash::dash_dotted:
      return " stroke-dasharray=\"8 3 2 3\"";
    case Dash::solid:
      break;
  }
  return "";
}

std::string stroke_attributes(const Stroke& stroke) {
  return fmt::format(" stroke=\"{}\" stroke-width=\"{:g}\"", stroke.colour, stroke.width);
}

/// What a class of the style sheet does not say already.
std::string style_attributes(const TextStyle& style) {
  std::string out;
  if (!style.name.empty()) return out;
  if (style.size != label_style.size)
    out += fmt::format(" font-size=\"{:.4g}\"", style.size);
  if (style.bold) out += " font-weight=\"600\"";
  if (style.colour != label_style.colour)
    out += fmt::format(" fill=\"{}\"", style.colour);
  return out;
}

std::string class_attribute(std::string_view name) {
  return name.empty() ? std::string() : fmt::format(" class=\"{}\"", name);
}

std::string_view anchor_attribute(Anchor anchor) {
  switch (anchor) {
    case Anchor::middle:
      return " text-anchor=\"middle\"";
    case Anchor::end:
      return " text-anchor=\"end\"";
    case Anchor::start:
      break;
  }
  return "";
}

std::string place(const Text& text) {
  if (text.upwards) {
    return fmt::format(" transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", text.at.x,
                       text.at.y);
  }
  // Title and note stand at whole pixels.
  const bool whole =
      text.style.size == title_style.size || text.style.colour == note_style.colour;
  return fmt::format(" x=\"{0:.{2}f}\" y=\"{1:.{2}f}\"", text.at.x, text.at.y,
                     whole ? 0 : 1);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : readable(text)) {
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

SvgCanvas::SvgCanvas(double width, double height) {
  svg_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"system-ui, 'DejaVu Sans', "
      "sans-serif\" "
      "font-size=\"13\" fill=\"#222\">\n"
      "<style>.grid{{stroke:#ddd;stroke-width:1}}.box{{fill:none;stroke:#888}}"
      ".tick{{font-size:11px;fill:#444}}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
      width, height);
}

void SvgCanvas::line(Point from, Point to, const Stroke& stroke) {
  fmt::format_to(std::back_inserter(svg_),
                 "<line{} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}{}/>",
                 class_attribute(stroke.name), from.x, from.y, to.x, to.y,
                 stroke.name.empty() ? stroke_attributes(stroke) : std::string(),
                 dash_attribute(stroke.dash));
}

void SvgCanvas::path(const std::vector<Polyline>& lines, const Stroke& stroke) {
  if (lines.empty()) return;
  auto out = std::back_inserter(svg_);
  svg_ += "<path d=\"";
  for (const Polyline& points : lines) {
    char command = 'M';
    for (const Point& p : points) {
      fmt::format_to(out, "{}{:.2f} {:.2f}", command, p.x, p.y);
      command = 'L';
    }
  }
  fmt::format_to(out, "\" fill=\"none\"{} stroke-linejoin=\"round\"{}/>\n",
                 stroke_attributes(stroke), dash_attribute(stroke.dash));
}

void SvgCanvas::outline(const Box& box, const Stroke& stroke) {
  fmt::format_to(
      std::back_inserter(svg_),
      "<rect{} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"{}/>\n",
      class_attribute(stroke.name), box.left, box.top, box.width(), box.height(),
      stroke.name.empty() ? " fill=\"none\"" + stroke_attributes(stroke) : std::string());
}

void SvgCanvas::fill(const Box& box, std::string_view colour, double opacity) {
  fmt::format_to(std::back_inserter(svg_),
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                 "fill=\"{}\" fill-opacity=\"{:g}\"/>\n",
                 box.left, box.top, box.width(), box.height(), colour, opacity);
}

void SvgCanvas::disc(Point centre, double radius, std::string_view colour) {
  fmt::format_to(std::back_inserter(svg_),
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\"/>\n",
                 centre.x, centre.y, radius, colour);
}

void SvgCanvas::text(const Text& text) {
  fmt::format_to(std::back_inserter(svg_), "<text{}{}{}{}>{}",
                 class_attribute(text.style.name), place(text),
                 style_attributes(text.style), anchor_attribute(text.anchor),
                 escaped(text.text));
  if (!text.superscript.empty()) {
    fmt::format_to(std::back_inserter(svg_),
                   "<tspan dy=\"-{:g}\" font-size=\"{:g}\">{}</tspan>", superscript_rise,
                   superscript_size, escaped(text.superscript));
  }
  svg_ += "</text>\n";
}

}  // namespace bristle::report
