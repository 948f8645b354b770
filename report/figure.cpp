#include "report/figure.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "files/file_out.hpp"
#include "report/layout.hpp"
#include "report/png.hpp"
#include "report/svg.hpp"

namespace bristle::report {

namespace {

template <class Medium>
std::string drawn(const Figure& figure) {
  const FigureSize size = size_of(figure);
  Medium canvas(size.width, size.height);
  draw(figure, canvas);
  return canvas.document();
}

std::string to_html(const Figure& figure) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>";
  page += escaped(figure.title);
  page +=
      "</title><style>body{margin:1rem;background:#fff}svg{max-width:100%;height:auto}"
      "</style></head><body>\n";
  return page + to_svg(figure) + "</body></html>\n";
}

bool write_file(const std::string& bytes, const std::string& path) {
  return !files::write_file(bytes, path);
}

Reference reference(Reference::Along along, double from, double to, std::string label) {
  return {.along = along, .from = from, .to = to, .label = std::move(label)};
}

}  // namespace

Reference vertical_line(double x, std::string label) {
  return reference(Reference::Along::x, x, x, std::move(label));
}

Reference horizontal_line(double y, std::string label) {
  return reference(Reference::Along::y, y, y, std::move(label));
}

Reference vertical_band(double from, double to, std::string label) {
  return reference(Reference::Along::x, from, to, std::move(label));
}

Reference horizontal_band(double from, double to, std::string label) {
  return reference(Reference::Along::y, from, to, std::move(label));
}

std::string to_svg(const Figure& figure) { return drawn<SvgCanvas>(figure); }

std::string to_png(const Figure& figure) { return drawn<PngCanvas>(figure); }

bool is_figure_name(const std::string& path) {
  constexpr std::array<std::string_view, 3> known{".svg", ".html", ".png"};
  const std::string ending = std::filesystem::path(path).extension().string();
  return std::find(known.begin(), known.end(), ending) != known.end();
}

bool write_figure(const Figure& figure, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".html") return write_file(to_html(figure), path);
  if (ending != ".png") return write_file(to_svg(figure), path);
  const std::string bytes = to_png(figure);
  return !bytes.empty() && write_file(bytes, path);
}

bool write_csv(const Figure& figure, const std::string& path) {
  return write_file(to_csv(figure), path);
}

}  // namespace bristle::report
