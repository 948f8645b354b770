#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/figure.hpp"

namespace bristle::report {

namespace {

/// A field, in quotes where RFC 4180 asks for them.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string named(const std::string& name, std::size_t index) {
  return field(name.empty() ? std::to_string(index + 1) : name);
}

}  // namespace

std::string to_csv(const Figure& figure) {
  std::string csv = "panel,curve,x,y\n";
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const Panel& panel = figure.panels[p];
    for (std::size_t c = 0; c < panel.curves.size(); ++c) {
      const Curve& curve = panel.curves[c];
      const std::string names = named(panel.title, p) + ',' + named(curve.label, c);
      for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
        fmt::format_to(std::back_inserter(csv), "{},{},{}\n", names, curve.x[i],
                       curve.y[i]);
      }
    }
  }
  return csv;
}

}  // namespace bristle::report
