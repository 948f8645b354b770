#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "bristle/geometry/hull.hpp"
#include "scene/mjcf_reading.hpp"

// Height fields: prisms that stand side by side on a base, two for each cell, as MuJoCo
// takes them. Cells of a row that go on in one plane are one prism.

namespace bristle::scene::mjcf {

namespace {

constexpr std::size_t max_points = 1'000'000;  // of a height field
constexpr std::size_t max_prisms = 4000;

using Corners = std::vector<Vec3<double>>;

/// The points of a field, and the prisms under them.
struct Field {
  const HfieldAsset& asset;

  Vec3<double> at(int column, int row) const {
    const auto place = static_cast<std::size_t>(row * asset.columns + column);
    return {asset.size[0] * (2.0 * column / (asset.columns - 1) - 1),
            asset.size[1] * (2.0 * row / (asset.rows - 1) - 1),
            asset.size[2] * asset.heights[place]};
  }
  /// Whether the four corners of a cell lie in a plane, and what it rises by along both.
  bool flat(int column, int row, double& along_x, double& along_y) const {
    const double a = at(column, row).z, b = at(column + 1, row).z;
    const double c = at(column, row + 1).z, d = at(column + 1, row + 1).z;
    along_x = b - a;
    along_y = c - a;
    return std::abs(a + d - b - c) <= 1e-12 * asset.size[2];
  }
  Corners down_to_base(Corners top) const {
    const std::size_t count = top.size();
    for (std::size_t i = 0; i < count; ++i) {
      top.push_back({top[i].x, top[i].y, -asset.size[3]});
    }
    return top;
  }

  std::vector<Corners> prisms() const {
    std::vector<Corners> all;
    for (int row = 0; row + 1 < asset.rows; ++row) {
      for (int column = 0; column + 1 < asset.columns;) {
        double x = 0, y = 0, next_x = 0, next_y = 0;
        int end = column + 1;
        if (!flat(column, row, x, y)) {
          all.push_back(
              down_to_base({at(column, row), at(column, row + 1), at(column + 1, row)}));
          all.push_back(down_to_base(
              {at(column, row + 1), at(column + 1, row), at(column + 1, row + 1)}));
          column = end;
          continue;
        }
        const double same = 1e-12 * asset.size[2];
        while (end + 1 < asset.columns && flat(end, row, next_x, next_y) &&
               std::abs(next_x - x) <= same && std::abs(next_y - y) <= same) {
          ++end;
        }
        all.push_back(down_to_base(
            {at(column, row), at(column, row + 1), at(end, row), at(end, row + 1)}));
        column = end;
      }
    }
    return all;
  }
};

/// Heights between 0 and 1.
void normalise_heights(std::vector<double>& heights) {
  const auto [least, most] = std::ranges::minmax_element(heights);
  const double from = *least, range = *most - *least;
  for (double& h : heights) h = range > 1e-14 ? (h - from) / range : 0.0;
}

}  // namespace

void Reading::read_hfield(const Element& e) {
  std::string name(e.value("name"));
  const Attribute* file = e.find("file");
  if (name.empty() && file != nullptr) {
    name = std::filesystem::path(file->value).stem().string();
  }
  const View v = view(e, main_class, name);
  HfieldAsset asset;
  const auto size = numbers(v, "size", 4, 4, Range::size);
  if (e.find("size") == nullptr) error(e.place(), {v.who, ": it must have size"});
  if (size) std::copy(size->begin(), size->end(), asset.size);
  const bool fine = size && (file != nullptr ? read_hfield_file(*file, v, asset)
                                             : read_elevation(v, asset));
  if (!fine) asset.heights.clear();
  if (!hfields_.try_emplace(name, std::move(asset)).second) {
    error(e.place(), {v.who, ": another hfield must not have this name"});
  }
}

/// Rows from the far end to the near one.
bool Reading::read_elevation(const View& v, HfieldAsset& asset) {
  const double rows = number(v, "nrow", 0, Range::not_negative);
  const double columns = number(v, "ncol", 0, Range::not_negative);
  const bool whole = rows == std::floor(rows) && columns == std::floor(columns);
  if (!whole || rows < 2 || columns < 2 ||
      rows * columns > static_cast<double>(max_points)) {
    error(v.element->place(),
          {v.who, ": nrow and ncol must be whole numbers from 2 on, of ",
           std::to_string(max_points), " points at most"});
    return false;
  }
  asset.rows = static_cast<int>(rows);
  asset.columns = static_cast<int>(columns);
  const auto count = static_cast<std::size_t>(asset.rows * asset.columns);
  asset.heights.assign(count, 0.0);
  const Attribute* elevation = v.element->find("elevation");
  if (elevation == nullptr) return true;
  const auto given = xml::numbers(*elevation, v.who, count, count, Range::any, problems_);
  if (!given) return false;
  const auto width = static_cast<std::size_t>(asset.columns);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = static_cast<std::size_t>(asset.rows) - 1 - i / width;
    asset.heights[row * width + i % width] = (*given)[i];
  }
  normalise_heights(asset.heights);
  return true;
}

/// MuJoCo's own format: two numbers of rows and columns in 32 bits, and as many heights.
bool Reading::read_hfield_file(const Attribute& file, const View& v, HfieldAsset& asset) {
  if (file.value.ends_with(".png") || file.value.ends_with(".PNG")) {
    unread_.count("hfield of a PNG image", Consequence::contact);
    return false;
  }
  const std::string path =
      (std::filesystem::path(settings(v).folder) / settings(v).mesh_folder / file.value)
          .string();
  const auto bytes = xml::read_file(path, file.place(), v.who, problems_);
  if (!bytes) return false;
  static_assert(std::endian::native == std::endian::little);
  std::int32_t counts[2] = {0, 0};
  if (bytes->size() >= sizeof counts) std::memcpy(counts, bytes->data(), sizeof counts);
  const double points = static_cast<double>(counts[0]) * counts[1];
  if (counts[0] < 2 || counts[1] < 2 || points > static_cast<double>(max_points) ||
      bytes->size() != sizeof counts + 4 * static_cast<std::size_t>(points)) {
    error(file.place(),
          {v.who, ": file = ", shown(file.value),
           " must hold two numbers of rows and columns, and their heights"});
    return false;
  }
  asset.rows = counts[0];
  asset.columns = counts[1];
  for (std::size_t i = 0; i < static_cast<std::size_t>(points); ++i) {
    float height = 0;
    std::memcpy(&height, bytes->data() + sizeof counts + 4 * i, sizeof height);
    if (!std::isfinite(height)) {
      error(file.place(), {v.who, ": heights must be numbers"});
      return false;
    }
    asset.heights.push_back(static_cast<double>(height));
  }
  normalise_heights(asset.heights);
  return true;
}

/// The prisms of a geom, each a shape of its own.
void Reading::read_hfield_geom(const Placed& at, const View& v, int body,
                               const Transform<double>& base, const GeomRecord& like) {
  const Attribute* name = get(v, "hfield");
  if (name == nullptr) {
    error(v.element->place(), {v.who, ": a geom of type hfield must name one"});
    return;
  }
  const auto found = hfields_.find(name->value);
  if (found == hfields_.end()) {
    error(name->place(), {v.who, ": hfield = \"", shown(name->value),
                          "\" must be a height field of the model's assets"});
    return;
  }
  if (found->second.heights.empty()) {
    unread_.count("geom of type hfield", Consequence::contact);
    return;
  }
  const std::vector<Corners> prisms = Field{found->second}.prisms();
  if (prisms.size() > max_prisms) {
    unread_.count(words({"hfield of more than ", std::to_string(max_prisms), " prisms"}),
                  Consequence::contact);
    return;
  }
  const std::string& on = bodies_[static_cast<std::size_t>(body)].name;
  const Transform<double> pose_of_it = base * at.frame * pose(v);
  int count = 0;
  for (const Corners& corners : prisms) {
    Result<ConvexHull> hull = make_hull(corners);
    if (!hull) continue;  // without height
    ShapeSpec shape;
    shape.name =
        shape_names_.fresh(words({on, ".", like.name.empty() ? found->first : like.name,
                                  ".", std::to_string(++count)}));
    shape.body = on;
    shape.shape = Convex{&geometry_.hulls.emplace_back(std::move(*hull))};
    shape.pose = pose_of_it;
    shape.surface = options_.surface.empty() ? on : options_.surface;
    bodies_[static_cast<std::size_t>(body)].geoms.push_back(
        static_cast<int>(geoms_.size()));
    geoms_.push_back(like);
    geoms_.back().shape = shape.name;
    see_shape(v, body, shape.name);
    parts.shapes.push_back(std::move(shape));
  }
}

}  // namespace bristle::scene::mjcf
