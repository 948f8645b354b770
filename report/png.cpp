#include "report/png.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "report/text.hpp"

namespace bristle::report {

namespace {

constexpr double pixels_per_unit = 2;
constexpr double most_pixels = 32000;  // cairo's images end at 32767

void set_colour(cairo_t* context, std::string_view colour, double opacity = 1) {
  const std::string_view digits = colour.substr(1);
  const std::size_t each = digits.size() / 3;  // "#rgb" or "#rrggbb"
  std::array<double, 3> part{};
  for (std::size_t i = 0; i < part.size(); ++i) {
    unsigned value = 0;
    const char* first = digits.data() + i * each;
    std::from_chars(first, first + each, value, 16);
    part[i] = value / (each == 1 ? 15.0 : 255.0);
  }
  cairo_set_source_rgba(context, part[0], part[1], part[2], opacity);
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(data, data + length);
  return CAIRO_STATUS_SUCCESS;
}

cairo_text_extents_t extents_of(cairo_t* context, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(context, text.c_str(), &extents);
  return extents;
}

double advance(cairo_t* context, const std::string& text) {
  return extents_of(context, text).x_advance;
}

/// Words, and where the dots of time derivatives go: cairo would put that of δ̇ into the
/// letter.
struct Dotted {
  std::string text;  // without dots
  struct Letter {
    std::size_t begin;  // of the letter under the dot
    std::size_t end;
  };
  std::vector<Letter> letters;
};

Dotted without_dots(const std::string& text) {
  constexpr std::string_view dot = "\u0307";
  Dotted out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, dot.size(), dot) != 0) {
      out.text += text[i++];
      continue;
    }
    i += dot.size();
    std::size_t begin = out.text.size();
    while (begin > 0 && continues_character(out.text[begin - 1])) --begin;
    if (begin > 0) --begin;
    out.letters.push_back({begin, out.text.size()});
  }
  return out;
}

void show_dotted(cairo_t* context, const Dotted& words, double start, double size) {
  cairo_move_to(context, start, 0);
  cairo_show_text(context, words.text.c_str());
  for (const auto& [begin, end] : words.letters) {
    const cairo_text_extents_t letter =
        extents_of(context, words.text.substr(begin, end - begin));
    const double x = start + advance(context, words.text.substr(0, begin)) +
                     letter.x_bearing + 0.5 * letter.width;
    cairo_new_path(context);
    cairo_arc(context, x, letter.y_bearing - 0.14 * size, 0.07 * size, 0,
              2 * std::numbers::pi);
    cairo_fill(context);
  }
}

}  // namespace

PngCanvas::PngCanvas(double width, double height) {
  const double scale = std::min(pixels_per_unit, most_pixels / std::max(width, height));
  surface_.reset(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * scale)),
      static_cast<int>(std::lround(height * scale))));
  context_.reset(cairo_create(surface_.get()));
  cairo_scale(context_.get(), scale, scale);
  set_colour(context_.get(), "#fff");
  cairo_paint(context_.get());
  cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
  // Letters keep their shape and spacing at every size, as in the SVG file.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context_.get(), options);
  cairo_font_options_destroy(options);
}

void PngCanvas::draw_path(const Stroke& stroke) {
  constexpr std::array dashed{6.0, 4.0};
  constexpr std::array dotted{2.0, 3.0};
  constexpr std::array dash_dotted{8.0, 3.0, 2.0, 3.0};
  cairo_t* c = context_.get();
  switch (stroke.dash) {
    case Dash::dashed:
      cairo_set_dash(c, dashed.data(), dashed.size(), 0);
      break;
    case Dash::dotted:
      cairo_set_dash(c, dotted.data(), dotted.size(), 0);
      break;
    case Dash::dash_dotted:
      cairo_set_dash(c, dash_dotted.data(), dash_dotted.size(), 0);
      break;
    case Dash::solid:
      cairo_set_dash(c, nullptr, 0, 0);
      break;
  }
  set_colour(c, stroke.colour);
  cairo_set_line_width(c, stroke.width);
  cairo_stroke(c);
}

void PngCanvas::line(Point from, Point to, const Stroke& stroke) {
  cairo_move_to(context_.get(), from.x, from.y);
  cairo_line_to(context_.get(), to.x, to.y);
  draw_path(stroke);
}

void PngCanvas::path(const std::vector<Polyline>& lines, const Stroke& stroke) {
  for (const Polyline& points : lines) {
    cairo_new_sub_path(context_.get());
    for (const Point& p : points) cairo_line_to(context_.get(), p.x, p.y);
  }
  draw_path(stroke);
}

void PngCanvas::outline(const Box& box, const Stroke& stroke) {
  cairo_rectangle(context_.get(), box.left, box.top, box.width(), box.height());
  draw_path(stroke);
}

void PngCanvas::fill(const Box& box, std::string_view colour, double opacity) {
  cairo_rectangle(context_.get(), box.left, box.top, box.width(), box.height());
  set_colour(context_.get(), colour, opacity);
  cairo_fill(context_.get());
}

void PngCanvas::disc(Point centre, double radius, std::string_view colour) {
  cairo_new_sub_path(context_.get());
  cairo_arc(context_.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  set_colour(context_.get(), colour);
  cairo_fill(context_.get());
}

void PngCanvas::text(const Text& text) {
  cairo_t* c = context_.get();
  cairo_save(c);
  cairo_select_font_face(
      c, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
      text.style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  set_colour(c, text.style.colour);
  cairo_set_font_size(c, superscript_size);
  const double raised = text.superscript.empty() ? 0 : advance(c, text.superscript);
  cairo_set_font_size(c, text.style.size);
  // Readable, because cairo draws nothing more after a bad byte.
  const Dotted words = without_dots(readable(text.text));
  const double plain = advance(c, words.text);
  double start = 0;
  if (text.anchor == Anchor::middle) start = -0.5 * (plain + raised);
  if (text.anchor == Anchor::end) start = -(plain + raised);
  cairo_translate(c, text.at.x, text.at.y);
  if (text.upwards) cairo_rotate(c, -0.5 * std::numbers::pi);
  show_dotted(c, words, start, text.style.size);
  if (!text.superscript.empty()) {
    cairo_set_font_size(c, superscript_size);
    cairo_move_to(c, start + plain, -superscript_rise);
    cairo_show_text(c, text.superscript.c_str());
  }
  cairo_restore(c);
}

std::string PngCanvas::document() const {
  std::string bytes;
  if (cairo_status(context_.get()) != CAIRO_STATUS_SUCCESS ||
      cairo_surface_write_to_png_stream(surface_.get(), append, &bytes) !=
          CAIRO_STATUS_SUCCESS) {
    return {};
  }
  return bytes;
}

}  // namespace bristle::report
