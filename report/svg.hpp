#pragma once

#include <string>

#include "report/canvas.hpp"

namespace bristle::report {

/// Readable text with the characters that XML keeps for itself written out.
std::string escaped(std::string_view text);

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height);

  void line(Point from, Point to, const Stroke& stroke) override;
  void path(const std::vector<Polyline>& lines, const Stroke& stroke) override;
  void outline(const Box& box, const Stroke& stroke) override;
  void fill(const Box& box, std::string_view colour, double opacity) override;
  void disc(Point centre, double radius, std::string_view colour) override;
  void text(const Text& text) override;

  /// The document so far, closed.
  std::string document() const { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace bristle::report
