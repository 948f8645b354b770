// CSV files of measurements: the first byte says for which kind of fit. What is let
// through is whole and finite, and the models survive it.

#include <cmath>

#include "bristle/laws/catalogue.hpp"
#include "identify/force_model.hpp"
#include "identify/friction_model.hpp"
#include "identify/restitution_model.hpp"
#include "identify/table.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace bristle::identify {
namespace {

/// Names of other programs, and probes with odd names.
const ColumnNames& other_names() {
  static const ColumnNames names{{"force_N", "load"}, {"time_s", "t"}, {"speed_m_s", ""}};
  return names;
}

std::span<const ColumnWish> probes() {
  static constexpr ColumnWish wishes[] = {
      {.name = "time", .quantity = Quantity::time, .required = true},
      {.name = "height", .quantity = Quantity::length, .dataset = "/probes"},
      {.name = "force on the ball", .quantity = Quantity::force, .dataset = "/probes"},
      {.name = "", .quantity = Quantity::number, .dataset = "/probes"}};
  return wishes;
}

void expect_whole(const Table& table) {
  if (table.rows() == 0) __builtin_trap();
  for (const auto& [name, values] : table.columns) {
    if (values.size() != table.rows()) __builtin_trap();
    for (const double x : values) {
      if (!std::isfinite(x)) __builtin_trap();
    }
  }
}

void expect_words(const std::string& error) {
  if (error.empty()) __builtin_trap();
}

/// A prediction for the data, at the values where a search begins.
template <class Model>
void predict(const Model& model) {
  if (model.points() > 300) return;
  std::vector<double> values = model.values();
  model.improve(values);
  const std::vector<std::size_t> by = model.free();
  std::vector<double> r(model.points()), jacobian(model.points() * by.size());
  static_cast<void>(model.residuals(values, by, r.data(), jacobian.data()));
}

void use(unsigned kind, const Table& table) {
  if (kind == 0) {
    const auto data = force_data(table);
    if (!data) return expect_words(data.error());
    static_cast<void>(windowed(*data, {.lead = 1e-6, .duration = 1e-2}));
    static_cast<void>(first_force_position(*data));
    predict(ForceModel(**find_law("hertz"), *data, PatchShape::none, 0));
  } else if (kind == 1) {
    const auto data = restitution_data(table);
    if (!data) return expect_words(data.error());
    predict(RestitutionModel(nullptr, *data));
  } else if (kind == 2) {
    const auto data = friction_data(table);
    if (!data) return expect_words(data.error());
    predict(FrictionModel(**find_law("lugre"), *data, 2));
  }
}

}  // namespace
}  // namespace bristle::identify

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle::identify;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const unsigned kind = data[0] % 4;
  const std::span<const ColumnWish> wishes = kind == 0   ? force_columns()
                                             : kind == 1 ? restitution_columns()
                                             : kind == 2 ? friction_columns()
                                                         : probes();
  const bool renamed = (data[0] & 4) != 0;
  const auto table =
      parse_csv({reinterpret_cast<const char*>(data + 1), size - 1}, "data.csv", wishes,
                renamed ? other_names() : ColumnNames{});
  if (!table) {
    expect_words(table.error());
    return 0;
  }
  expect_whole(*table);
  use(kind, *table);
  return 0;
}
