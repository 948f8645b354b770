// A program outside the tree: a figure, and a page if the library was built with pages.
#include <cstdio>
#include <string>

#include "report/figure.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"

int main() {
  const bristle::report::Figure figure{
      .title = "height",
      .note = "",
      .panels = {{.title = "ball",
                  .x_label = "time [s]",
                  .y_label = "height [m]",
                  .curves = {{.label = "z", .x = {0, 1, 2}, .y = {2, 1, 0}}}}}};
  const std::string svg = bristle::report::to_svg(figure);
  if (svg.find("height [m]") == std::string::npos) return 1;
  if (!bristle::report::write_figure(figure, "figure.png")) return 1;
  const auto reader = bristle::recording::Reader::open("there-is-no-such-folder");
  std::puts("report: good");
  return reader ? 1 : 0;
}
