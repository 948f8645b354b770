#pragma once

#include <cairo.h>

#include <memory>
#include <string>

#include "report/canvas.hpp"

namespace bristle::report {

/// Pixels by cairo, two for each pixel of the layout in both directions.
class PngCanvas final : public Canvas {
 public:
  PngCanvas(double width, double height);

  void line(Point from, Point to, const Stroke& stroke) override;
  void path(const std::vector<Polyline>& lines, const Stroke& stroke) override;
  void outline(const Box& box, const Stroke& stroke) override;
  void fill(const Box& box, std::string_view colour, double opacity) override;
  void disc(Point centre, double radius, std::string_view colour) override;
  void text(const Text& text) override;

  /// The bytes of the PNG file; none when cairo could not draw.
  std::string document() const;

 private:
  struct Closer {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };

  /// Draws and forgets the current path.
  void draw_path(const Stroke& stroke);

  std::unique_ptr<cairo_surface_t, Closer> surface_;
  std::unique_ptr<cairo_t, Closer> context_;
};

}  // namespace bristle::report
