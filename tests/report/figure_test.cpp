#include "report/figure.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report/axis.hpp"
#include "report/layout.hpp"
#include "report/text.hpp"
#include "report/trace.hpp"

namespace bristle::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Axis across(double low, double high, bool log = false) {
  return {low, high, 0, 400, log};
}
Axis upwards(double low, double high, bool log = false) {
  return {low, high, 300, 0, log};
}

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks_of(axis).ticks)
    out.push_back(tick.label + tick.superscript);
  return out;
}

Figure one_panel(std::vector<Curve> curves) {
  Panel panel{"panel", "x", "y", std::move(curves)};
  return {"title", "note", {panel}, 1};
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++n;
  }
  return n;
}

/// Numbers as a file should never hold them.
void expect_sound(const std::string& svg) {
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("e+"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8U | static_cast<unsigned char>(bytes.at(at + i));
  }
  return value;
}

// Axes

TEST(Ticks, AreRoundAndInside) {
  EXPECT_EQ(nice_ticks(0, 1, 5),
            (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  for (const double size : {1e-12, 1.0, 7e9}) {
    const auto ticks = nice_ticks(-0.3 * size, size, 6);
    ASSERT_GE(ticks.size(), 4U);
    EXPECT_LE(ticks.size(), 8U);
    EXPECT_GE(ticks.front(), -0.3 * size);
    EXPECT_LE(ticks.back(), size * (1 + 1e-9));
  }
}

TEST(Ticks, ShareTheirPowerOfTen) {
  const Ticks tiny = ticks_of(across(0, 2e-7));
  EXPECT_EQ(tiny.scale, "×10⁻⁷");
  EXPECT_EQ(tiny.ticks.back().label, "2");
  EXPECT_EQ(ticks_of(across(0, 3e10)).scale, "×10¹⁰");
  EXPECT_EQ(ticks_of(across(0, 25000)).scale, "");
  EXPECT_EQ(labels(across(0, 25000)).back(), "25000");
}

TEST(Ticks, CountFromAnOffsetWhereLabelsWouldBeTheSame) {
  const Axis axis = across(1234567, 1234567.2);
  EXPECT_EQ(ticks_of(axis).scale, "+ 1234567");
  EXPECT_EQ(labels(axis), (std::vector<std::string>{"0", "0.05", "0.1", "0.15", "0.2"}));
}

TEST(Ticks, OfALogarithmicAxisAreEnough) {
  EXPECT_EQ(labels(across(1e-3, 10, true)),
            (std::vector<std::string>{"10-3", "10-2", "10-1", "100", "101"}));
  for (const double high : {1.5, 3.0, 7.0, 30.0, 99.0, 1e3, 1e12, 1e40}) {
    const auto shown = labels(across(1.1, 1.1 * high, true));
    EXPECT_GE(shown.size(), 3U) << high;
    EXPECT_LE(shown.size(), 10U) << high;
  }
}

TEST(Padded, GivesRoomToConstantsAndKeepsZero) {
  for (const double value : {0.0, 3e10, -1e-7, 5e-324}) {
    const Range range = padded({value, value}, false);
    EXPECT_LT(range.low, value);
    EXPECT_GT(range.high, value);
  }
  EXPECT_EQ(padded({0, 2}, false).low, 0);
  EXPECT_LT(padded({1e-7, 1e-7}, true).low, 1e-7);
}

// Curves

TEST(Trace, BreaksTheLineAtNaN) {
  const Curve curve{"c", {0, 1, 2, 3, 4, 5, 6}, {0, 1, nan, 3, infinity, 5, 6}};
  const Trace drawn = trace(curve, across(0, 6), upwards(0, 6));
  ASSERT_EQ(drawn.lines.size(), 2U);
  EXPECT_EQ(drawn.lines[0].size(), 2U);
  EXPECT_EQ(drawn.lines[1].size(), 2U);
  EXPECT_EQ(drawn.dots.size(), 1U);  // the lonely 3
}

TEST(Trace, LeavesOutWhatALogarithmicAxisCannotShow) {
  const Curve curve{"c", {-1, 0, 1, 10, 100}, {1, 1, 1, -5, 1}};
  const Trace drawn = trace(curve, across(1, 100, true), upwards(0.1, 10, true));
  EXPECT_TRUE(drawn.lines.empty());
  EXPECT_EQ(drawn.dots.size(), 2U);
}

TEST(Trace, CutsAtThePanel) {
  const Curve curve{"c", {-1e200, 1e200, 0.5}, {0.5, 0.5, 1e200}};
  const Trace drawn = trace(curve, across(0, 1), upwards(0, 1));
  ASSERT_FALSE(drawn.lines.empty());
  for (const Polyline& line : drawn.lines) {
    for (const Point& p : line) {
      EXPECT_GE(p.x, -2);
      EXPECT_LE(p.x, 402);
      EXPECT_GE(p.y, -2);
      EXPECT_LE(p.y, 302);
    }
  }
  EXPECT_NEAR(drawn.lines[0][0].x, -1, 1e-6);
  EXPECT_NEAR(drawn.lines[0][1].x, 401, 1e-6);
}

TEST(Trace, ThinningKeepsExtremes) {
  Curve curve{"c", {}, {}};
  for (int i = 0; i < 200000; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(std::sin(0.37 * i) + std::sin(1e-4 * i));
  }
  curve.y[77777] = 50;
  curve.y[123456] = -40;
  const Axis y = upwards(-50, 60);
  const Trace drawn = trace(curve, across(0, 200000), y);
  ASSERT_EQ(drawn.lines.size(), 1U);
  EXPECT_LT(drawn.lines[0].size(), most_points);
  double low = infinity;
  double high = -infinity;
  for (const Point& p : drawn.lines[0]) {
    low = std::min(low, p.y);
    high = std::max(high, p.y);
  }
  EXPECT_DOUBLE_EQ(low, y.at(50));
  EXPECT_DOUBLE_EQ(high, y.at(-40));
}

TEST(Trace, ThinningKeepsTheShapeOfLoops) {
  Curve curve{"c", {}, {}};
  constexpr int loops = 200;
  constexpr int points = 1000;
  for (int i = 0; i <= loops * points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points;
    curve.x.push_back(std::cos(angle));
    curve.y.push_back(std::sin(angle));
  }
  const Axis x{-1, 1, 0, 300, false};
  const Trace drawn = trace(curve, x, upwards(-1, 1));
  ASSERT_EQ(drawn.lines.size(), 1U);
  EXPECT_LT(drawn.lines[0].size(), curve.x.size() / 8);
  const Polyline& line = drawn.lines[0];
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Point middle{0.5 * (line[i].x + line[i + 1].x),
                       0.5 * (line[i].y + line[i + 1].y)};
    // A chord of the circle, no farther from it than thinning and straightening allow.
    EXPECT_NEAR(std::hypot(middle.x - 150, middle.y - 150), 150, 0.7);
  }
}

TEST(Markers, ThatHideEachOtherAreLeftOut) {
  Curve curve{"c", {}, {}};
  for (int row = 0; row < 100; ++row) {
    for (int column = 0; column < 1000; ++column) {
      curve.x.push_back(column);
      curve.y.push_back(row);
    }
  }
  const auto places = marker_places(curve, across(0, 1000), upwards(0, 100));
  EXPECT_LE(places.size(), 2000U);
  EXPECT_GT(places.size(), 500U);
}

// Text

TEST(Text, WidthCountsCharactersNotBytes) {
  EXPECT_NEAR(text_width("δδδ"), 3 * text_width("δ"), 1e-12);
  EXPECT_EQ(text_width("δ̇"), text_width("δ"));
  EXPECT_GT(text_width("WWW"), text_width("iii"));
}

TEST(Text, IsCutBetweenCharacters) {
  const std::string cut = shortened("δδδδδδδδδδ", label_style, 50);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_EQ(readable(cut), cut);
  EXPECT_LE(text_width(cut), 50);
  EXPECT_EQ(readable("a\xff\nb\xc3"), "a\uFFFD b\uFFFD");
  EXPECT_EQ(wrapped("one two three", label_style, 60),
            (std::vector<std::string>{"one two", "three"}));
}

// Figures

TEST(Figure, DegenerateDataDrawSomething) {
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> data{
      {{}, {}},
      {{1}, {2}},
      {{nan, nan}, {1, 2}},
      {{0, 1}, {3, 3}},
      {{0, 0}, {0, 0}},
      {{-1, -2}, {-3, -4}},
      {{1, 2, 3}, {1}},
      {{1e308, -1e308}, {5e-324, 0}},
      {{1e-320, 1e-310}, {1e299, -1e299}},
      {{1e-7, 2e-7}, {1e10, 3e10}}};
  for (const auto& [x, y] : data) {
    for (const int way : {0, 1, 2, 3, 4}) {
      Curve curve{"c", x, y};
      curve.marker = Marker::circle;
      Figure figure = one_panel({curve});
      Panel& panel = figure.panels[0];
      panel.log_x = way == 1 || way == 2;
      panel.log_y = way == 2;
      panel.equal_axes = way == 3;
      panel.references = {vertical_line(nan, "n"),
                          horizontal_band(-infinity, 0, "below")};
      if (way == 4) panel.x_range = Range{2, 1};
      expect_sound(to_svg(figure));
      if (way == 2 || way == 3) {
        EXPECT_FALSE(to_png(figure).empty());
      }
    }
  }
}

TEST(Figure, WithoutFiniteDataSaysSo) {
  EXPECT_EQ(count(to_svg(one_panel({})), "no data"), 1U);
  EXPECT_EQ(count(to_svg(one_panel({Curve{"c", {1, nan}, {nan, 1}}})), "no data"), 1U);
  EXPECT_EQ(count(to_svg(one_panel({Curve{"c", {1}, {1}}})), "no data"), 0U);
  expect_sound(to_svg({"no panels", "", {}, 2}));
}

TEST(Figure, DrawsMarkersAndReferences) {
  Curve points{"measured", {0, 1, 2}, {0, 1, 4}};
  points.marker = Marker::circle;
  points.line = false;
  Curve both{"model", {0, 1, 2}, {0, 1, 3}, true};
  both.marker = Marker::square;
  Figure figure = one_panel({points, both});
  figure.panels[0].references = {vertical_line(1, "here"),
                                 horizontal_band(6, 7, "there")};
  const std::string svg = to_svg(figure);
  EXPECT_EQ(count(svg, "<circle"), 4U);  // three points and the legend
  EXPECT_EQ(count(svg, "stroke-dasharray=\"6 4\""), 2U);
  EXPECT_EQ(count(svg, ">here<"), 1U);
  EXPECT_EQ(count(svg, ">there<"), 1U);
}

TEST(Figure, OfManyPointsIsASmallFile) {
  std::vector<Curve> curves;
  for (int k = 0; k < 4; ++k) {
    Curve curve{std::string(1, static_cast<char>('a' + k)), {}, {}};
    for (int i = 0; i < 100000; ++i) {
      curve.x.push_back(i);
      curve.y.push_back(std::sin((1 + k) * 0.77 * i));
    }
    curves.push_back(std::move(curve));
  }
  EXPECT_LT(to_svg(one_panel(std::move(curves))).size(), 300000U);
}

TEST(Figure, EscapesText) {
  Figure figure = one_panel({Curve{"a < b & c", {0, 1}, {0, 1}}});
  figure.title = "x > \xff";
  const std::string svg = to_svg(figure);
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(svg.find("x &gt; \uFFFD"), std::string::npos);
}

TEST(Figure, PngHasTwiceTheSizeOfTheLayout) {
  Figure figure = one_panel({Curve{"δ̇ in m/s²", {0, 1}, {0, 1}}});
  figure.title = "\xff";  // not UTF-8
  const FigureSize size = size_of(figure);
  const std::string png = to_png(figure);
  ASSERT_GT(png.size(), 1000U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(big_endian(png, 16), std::lround(2 * size.width));
  EXPECT_EQ(big_endian(png, 20), std::lround(2 * size.height));
}

TEST(Figure, CsvReadsBackTheSameNumbers) {
  const std::vector<double> x{0.1, 1.0 / 3, 1e-320, -1e300};
  const std::vector<double> y{std::numbers::pi, -0.0, nan, infinity};
  Figure figure = one_panel({Curve{"a, \"b\"", x, y}, Curve{"", {1}, {2}}});
  std::istringstream lines(to_csv(figure));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "panel,curve,x,y");
  const std::string names = "panel,\"a, \"\"b\"\"\",";
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::getline(lines, line);
    ASSERT_TRUE(line.starts_with(names)) << line;
    double a = 0;
    double b = 0;
    const char* end = line.data() + line.size();
    const auto first = std::from_chars(line.data() + names.size(), end, a);
    std::from_chars(first.ptr + 1, end, b);
    EXPECT_EQ(a, x[i]);
    EXPECT_TRUE(b == y[i] || (std::isnan(b) && std::isnan(y[i]))) << line;
  }
  std::getline(lines, line);
  EXPECT_EQ(line, "panel,2,1,2");
}

TEST(Figure, NameChoosesTheFormat) {
  const Figure figure = one_panel({Curve{"c", {0, 1}, {0, 1}}});
  const auto folder = std::filesystem::path(testing::TempDir()) / "bristle_figure_test";
  const auto head = [&figure, &folder](const std::string& name) {
    const std::string path = (folder / name).string();
    EXPECT_TRUE(write_figure(figure, path));
    std::ifstream file(path, std::ios::binary);
    std::string bytes(4, ' ');
    file.read(bytes.data(), 4);
    return bytes;
  };
  EXPECT_EQ(head("a.svg"), "<svg");
  EXPECT_EQ(head("a.html"), "<!do");
  EXPECT_EQ(head("a.png"), "\x89PNG");
  EXPECT_TRUE(write_csv(figure, (folder / "a.csv").string()));
  EXPECT_FALSE(write_figure(figure, (folder / "a.svg" / "b.png").string()));
  EXPECT_TRUE(is_figure_name("out/x.png"));
  EXPECT_FALSE(is_figure_name("out/x.pdf"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bristle::report
