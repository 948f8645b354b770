#include "identify/force_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "identify/statistics.hpp"

namespace bristle::identify {

namespace {

using std::numbers::pi;

/// The standard deviation of what changes from point to point, by second differences.
double point_noise(std::span<const double> y) {
  std::vector<double> sizes;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) {
    sizes.push_back(std::fabs(y[i - 1] - 2 * y[i] + y[i + 1]));
  }
  return median(std::move(sizes)) / (0.6745 * std::sqrt(6.0));
}

/// The first of three points in a row above the noise, or of the last ones.
std::optional<std::size_t> first_force(std::span<const double> force) {
  const double least = 3 * point_noise(force);
  for (std::size_t i = 0; i < force.size(); ++i) {
    const std::size_t end = std::min(i + 3, force.size());
    bool above = true;
    for (std::size_t k = i; k < end; ++k)
      above = above && force[k] > std::max(least, 0.0);
    if (above) return i;
  }
  return std::nullopt;
}

/// Coefficients of g(φ) = Σ c_k φ^{2k+5} for eq. 32's bracket, from
/// g′ = 3 φ sin φ − ¾ (cos φ − cos 3φ).
constexpr int terms = 16;
constexpr std::array<double, terms> wedge_series() {
  std::array<double, terms> c{};
  double factorial = 1, nines = 1;  // (2n)!, 9^n
  for (int n = 1; n <= terms + 1; ++n) {
    factorial *= (2.0 * n - 1) * (2.0 * n);
    nines *= 9;
    if (n < 2) continue;
    const double sign = n % 2 == 0 ? 1 : -1;                   // of φ^{2n}
    const double of_sine = -sign * 3 * (2.0 * n) / factorial;  // φ sin φ: φ^{2n}/(2n−1)!
    const double of_cosines = -sign * 0.75 * (1 - nines) / factorial;
    c[static_cast<std::size_t>(n - 2)] = (of_sine + of_cosines) / (2.0 * n + 1);
  }
  return c;
}

double wedge_bracket(double phi) {
  if (phi > 0.6) {
    return 2 * std::sin(phi) - std::cos(phi) * (3 * phi - 0.5 * std::sin(2 * phi));
  }
  static constexpr auto c = wedge_series();
  const double x = phi * phi;
  double sum = 0;
  for (std::size_t k = terms; k-- > 0;) sum = sum * x + c[k];
  return sum * x * x * phi;
}

/// V, A and dV/dt of a patch. Its potential is not asked for: forces do not need it.
template <class T>
PatchMotion<T> patch_at(PatchShape shape, double radius, const T& depth, double rate,
                        const T& tangent);

template <class T>
PatchMotion<T> round_patch(bool sphere, double radius, const T& depth, double rate) {
  const T d = max(depth, T(0));
  const T r = T(radius);
  if (!sphere) {
    const T area = T(pi) * r * r;
    return {area * d, T(0), area, area * T(rate)};
  }
  const T h = min(d, T(2) * r);
  const T area = T(pi) * h * (T(2) * r - h);
  return {T(pi / 3) * h * h * (T(3) * r - h), T(0), area, area * T(rate)};
}

template <>
PatchMotion<double> patch_at(PatchShape shape, double radius, const double& depth,
                             double rate, const double& tangent) {
  if (shape != PatchShape::cylinder || tangent == 0) {
    return round_patch(shape == PatchShape::sphere, radius, depth, rate);
  }
  const TiltedVolume v = tilted_volume(depth, radius, tangent);
  return {v.volume, 0, v.area, v.area * rate};
}

template <>
PatchMotion<Sensitive> patch_at(PatchShape shape, double radius, const Sensitive& depth,
                                double rate, const Sensitive& tangent) {
  if (shape != PatchShape::cylinder || tangent.value == 0) {
    return round_patch(shape == PatchShape::sphere, radius, depth, rate);
  }
  const TiltedVolume v = tilted_volume(depth.value, radius, tangent.value);
  const double t = tangent.value;
  // A depends on b = δ/t: dA/db = 2 √(b (2r − b)), the chord
  const double b = depth.value / t;
  const double chord = b > 0 && b < 2 * radius ? 2 * std::sqrt(b * (2 * radius - b)) : 0;
  Sensitive volume(v.volume), area(v.area);
  for (int k = 0; k < 4; ++k) {
    volume.by[k] = v.area * depth.by[k] + v.by_tangent * tangent.by[k];
    area.by[k] = chord / t * (depth.by[k] - b * tangent.by[k]);
  }
  return {volume, Sensitive(0), area, area * Sensitive(rate)};
}

double tangent_of(double degrees) { return std::tan(pi / 180 * degrees); }
Sensitive tangent_of(const Sensitive& degrees) {
  const double t = tangent_of(degrees.value);
  return degrees.chain(t, pi / 180 * (1 + t * t));
}

}  // namespace

TiltedVolume tilted_volume(double depth, double radius, double tangent) {
  if (!(depth > 0)) return {0, 0, 0};
  const double b = depth / tangent;
  if (b >= 2 * radius) {
    const double area = pi * radius * radius;
    return {area * (depth - radius * tangent), area, -area * radius};
  }
  // cos φ = 1 − b/r, by its half: the digits of a small φ stay
  const double phi = 2 * std::asin(std::sqrt(0.5 * b / radius));
  const double r2 = radius * radius;
  const double volume = tangent * r2 * radius / 3 * wedge_bracket(phi);
  const double sine = std::sin(phi);
  const double excess =  // φ − sin φ cos φ
      phi > 0.1
          ? phi - sine * std::cos(phi)
          : phi * phi * phi * (2.0 / 3 - phi * phi * (2.0 / 15 - phi * phi * 4 / 315));
  const double area = r2 * excess;
  return {volume, area, (volume - depth * area) / tangent};
}

std::vector<std::pair<std::size_t, std::size_t>> ForceData::presses() const {
  std::vector<std::pair<std::size_t, std::size_t>> list;
  for (std::size_t i = 0; i < size(); ++i) {
    if (begins[i]) list.emplace_back(i, i);
    list.back().second = i + 1;
  }
  return list;
}

void measure_speed(ForceData& data) {
  data.speed.resize(data.size());
  for (const auto& [first, end] : data.presses()) {
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t a = i > first ? i - 1 : i, b = i + 1 < end ? i + 1 : i;
      data.speed[i] =
          b > a ? (data.position[b] - data.position[a]) / (data.time[b] - data.time[a])
                : 0;
    }
  }
}

ForceData ForceData::part(std::size_t first, std::size_t end) const {
  const auto cut = [&](const auto& all) {
    using Column = std::remove_cvref_t<decltype(all)>;
    if (all.empty()) return Column();
    return Column(all.begin() + static_cast<std::ptrdiff_t>(first),
                  all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  ForceData data{cut(position), cut(force), cut(time), cut(speed), cut(begins)};
  if (data.size() > 0) data.begins[0] = true;
  return data;
}

std::span<const ColumnWish> force_columns() {
  static constexpr ColumnWish wishes[] = {{"position", Quantity::length, true},
                                          {"force", Quantity::force, true},
                                          {"time", Quantity::time},
                                          {"velocity", Quantity::speed},
                                          {"impact", Quantity::count}};
  return wishes;
}

Result<ForceData> force_data(const Table& table) {
  ForceData data{.position = table["position"], .force = table["force"]};
  data.begins.assign(data.size(), false);
  data.begins[0] = true;
  if (table.has("impact")) {
    const auto& impact = table["impact"];
    for (std::size_t i = 1; i < impact.size(); ++i) {
      data.begins[i] = impact[i] != impact[i - 1];
    }
  }
  if (table.has("velocity") && !table.has("time")) {
    return Error{fmt::format("{}: a column velocity needs a column time_s", table.file)};
  }
  if (table.has("time")) {
    if (const auto rising = check_rising(table, "time", "impact"); !rising) {
      return Error{rising.error()};
    }
    data.time = table["time"];
    if (table.has("velocity")) {
      data.speed = table["velocity"];
    } else {
      measure_speed(data);
    }
  }
  const double largest = *std::max_element(data.force.begin(), data.force.end());
  if (!(largest > 0 && largest > 6 * point_noise(data.force))) {
    return Error{
        fmt::format("{}: no contact in the data: the largest force, {:g} N, is not above "
                    "zero and the "
                    "noise; force must be positive where the bodies press",
                    table.file, largest)};
  }
  return data;
}

Result<double> first_force_position(const ForceData& data) {
  double sum = 0;
  double count = 0;
  for (const auto& [first, end] : data.presses()) {
    const auto at = first_force(std::span(data.force).subspan(first, end - first));
    if (!at) continue;
    sum += data.position[first + *at];
    ++count;
  }
  if (count == 0) return Error{"no force is above the noise: there is no first force"};
  return sum / count;
}

Result<ForceData> windowed(const ForceData& data, const Window& window) {
  if (!window.lead && !window.duration) return data;
  if (window.duration && !data.timed()) {
    return Error{"--window_s needs a column time_s"};
  }
  ForceData kept;
  for (const auto& [first, end] : data.presses()) {
    const auto at = first_force(std::span(data.force).subspan(first, end - first));
    if (!at) continue;
    std::size_t from = first;
    if (window.lead) {
      const double edge = data.position[first + *at] - *window.lead;
      from = first + *at;
      while (from > first && data.position[from - 1] >= edge) --from;
    }
    bool begins = true;
    for (std::size_t i = from; i < end; ++i) {
      if (window.duration && data.time[i] > data.time[from] + *window.duration) break;
      kept.position.push_back(data.position[i]);
      kept.force.push_back(data.force[i]);
      if (data.timed()) {
        kept.time.push_back(data.time[i]);
        kept.speed.push_back(data.speed[i]);
      }
      kept.begins.push_back(begins);
      begins = false;
    }
  }
  if (kept.size() < 3) {
    return Error{fmt::format(
        "the window holds {} of {} points: no force rises above the noise in it. Take a "
        "longer --window_s or --lead_m",
        kept.size(), data.size())};
  }
  return kept;
}

namespace {

/// Where the contact begins if the force grows like δ^{3/2}: by where it reaches a tenth
/// and a half of its largest value.
double guessed_contact(const ForceData& data) {
  const double largest = *std::max_element(data.force.begin(), data.force.end());
  const auto reached = [&](double part) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (data.force[i] >= part * largest) return data.position[i];
    }
    return data.position.back();
  };
  const double tenth = reached(0.1), half = reached(0.5);
  const double a = std::pow(0.1, 2.0 / 3), b = std::pow(0.5, 2.0 / 3);
  return tenth - std::fmax(half - tenth, 0) * a / (b - a);
}

}  // namespace

ForceModel::ForceModel(const LawEntry& law, ForceData data, PatchShape shape,
                       double radius)
    : law_(law), shape_(shape), radius_(radius) {
  set_data(std::move(data));
  for (const Parameter& p : law.parameters) {
    Unknown u = unknown_of(p);
    u.free = p.name == "stiffness" || (data_.timed() && p.name == law.damping_parameter);
    unknowns_.push_back(std::move(u));
  }
  const auto [low, high] =
      std::minmax_element(data_.position.begin(), data_.position.end());
  const double span = *high - *low;
  const double guess = std::clamp(guessed_contact(data_), *low - 0.5 * span, *high);
  contact_point_ = unknowns_.size();
  unknowns_.push_back({.name = "contact_point_m",
                       .unit = "m",
                       .range = between(*low - 0.5 * span, *high),
                       .value = guess,
                       .free = true,
                       .measure = Measure::offset,
                       .size = std::fmax(*high - guess, 1e-3 * span) + 1e-300,
                       .meaning = "position where the bodies touch"});
  if (shape_ != PatchShape::cylinder) return;
  tilt_ = unknowns_.size();
  unknowns_.push_back({.name = "tilt_deg",
                       .unit = "deg",
                       .range = between(0, 45),
                       .measure = Measure::tangent,
                       .meaning = "angle between the cylinder's axis and the normal"});
}

ForceModel ForceModel::with_data(ForceData data) const {
  ForceModel other = *this;
  other.set_data(std::move(data));
  return other;
}

std::unique_ptr<Model> ForceModel::thinned() const {
  constexpr std::size_t enough = 1000;
  const std::size_t stride = data_.size() / enough;
  if (stride < 2) return nullptr;
  ForceData few;
  bool begins = false;  // a press, since the point before
  for (std::size_t i = 0; i < data_.size(); ++i) {
    begins = begins || data_.begins[i];
    if (i % stride != 0) continue;
    few.position.push_back(data_.position[i]);
    few.force.push_back(data_.force[i]);
    few.begins.push_back(begins);
    begins = false;
    if (!data_.timed()) continue;
    few.time.push_back(data_.time[i]);
    few.speed.push_back(data_.speed[i]);
  }
  return std::make_unique<ForceModel>(with_data(std::move(few)));
}

void ForceModel::set_data(ForceData data) {
  data_ = std::move(data);
  motion_.resize(data_.size());
  for (std::size_t i = 0; i < motion_.size(); ++i) {
    NormalMoment<double>& moment = motion_[i];
    moment.rate = data_.timed() ? data_.speed[i] : 0;
    moment.begins = !data_.timed() || data_.begins[i];
    moment.duration = moment.begins ? 0 : data_.time[i] - data_.time[i - 1];
  }
}

namespace {

/// Room that a thread keeps: an evaluation of many points costs less than the pages that
/// fresh memory of its size takes.
template <class T>
std::vector<T>& room(std::size_t size) {
  static thread_local std::vector<T> kept;
  if (kept.size() < size) kept.resize(size);
  return kept;
}

}  // namespace

template <class T>
void ForceModel::predict(std::span<const T> values, std::span<T> force) const {
  const T tangent = shape_ == PatchShape::cylinder ? tangent_of(values[tilt_]) : T(0);
  const std::span path(room<NormalMoment<T>>(data_.size()).data(), data_.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    NormalMoment<T>& moment = path[i];
    moment.depth = T(data_.position[i]) - values[contact_point_];
    moment.rate = motion_[i].rate;
    moment.begins = motion_[i].begins;
    moment.duration = motion_[i].duration;
    if (law_.volumetric) {
      moment.patch = patch_at(shape_, radius_, moment.depth, moment.rate, tangent);
    }
  }
  const auto of_law = values.first(law_.parameters.size());
  if constexpr (std::is_same_v<T, double>) {
    law_.normal_along(of_law, path, force);
  } else {
    law_.normal_sensitive(of_law, path, force);
  }
}

bool ForceModel::residuals(std::span<const double> values,
                           std::span<const std::size_t> by, double* residuals,
                           double* jacobian) const {
  const std::size_t n = data_.size();
  if (jacobian == nullptr || by.empty()) {
    predict<double>(values, {residuals, n});
    for (std::size_t i = 0; i < n; ++i) residuals[i] -= data_.force[i];
    return true;
  }
  const std::span force(room<Sensitive>(n).data(), n);
  std::vector<Sensitive> variables(values.size());
  for (std::size_t from = 0; from < by.size(); from += 4) {
    const std::size_t count = std::min<std::size_t>(4, by.size() - from);
    for (std::size_t u = 0; u < values.size(); ++u) variables[u] = Sensitive(values[u]);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t u = by[from + k];
      variables[u] = Sensitive::variable(values[u], static_cast<int>(k));
    }
    predict<Sensitive>(variables, force);
    double* row = jacobian + from;
    for (std::size_t i = 0; i < n; ++i, row += by.size()) {
      residuals[i] = force[i].value - data_.force[i];
      for (std::size_t k = 0; k < count; ++k) row[k] = force[i].by[k];
    }
  }
  return true;
}

void ForceModel::improve(std::vector<double>& values) const {
  const int place = find("stiffness");
  if (place < 0) return;
  const auto at = static_cast<std::size_t>(place);
  const Unknown& stiffness = unknowns_[at];
  if (!stiffness.free || stiffness.given) return;
  std::vector<double> force(data_.size());
  predict<double>(values, force);
  double both = 0, squares = 0;
  for (std::size_t i = 0; i < force.size(); ++i) {
    both += force[i] * data_.force[i];
    squares += force[i] * force[i];
  }
  if (!(both > 0)) return;
  values[at] = std::clamp(values[at] * both / squares, 1e-9, stiffness.range.high);
}

}  // namespace bristle::identify
