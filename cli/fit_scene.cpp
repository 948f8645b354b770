#include "cli/fit_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/probes.hpp"
#include "cli/text.hpp"
#include "identify/table.hpp"
#include "scene/path.hpp"

namespace bristle::cli {

using identify::Measure;
using identify::Quantity;
using identify::Unknown;

namespace {

constexpr double tightest_rtol = 1e-9;  // of the adaptive integrator, for differences

Quantity quantity_of(const std::string& unit) {
  if (unit == "m") return Quantity::length;
  if (unit == "N") return Quantity::force;
  if (unit == "m/s") return Quantity::speed;
  return Quantity::number;
}

std::string last_word(const std::string& path) {
  return path.substr(path.find_last_of('.') + 1);
}

/// The range that every law with a parameter of that name allows; any positive number
/// where no law has one.
Unknown unknown_at(const std::string& path, double value) {
  Unknown u{.name = path, .unit = "", .range = above(0, 1e300), .value = value};
  const std::string name = last_word(path);
  bool known = false;
  for (const LawEntry& law : catalogue()) {
    const int place = law.find_parameter(name);
    if (place < 0) continue;
    const Parameter& p = law.parameters[static_cast<std::size_t>(place)];
    if (!known) {
      u = identify::unknown_of(p);
      u.name = path;
      u.value = value;
      known = true;
    }
    u.range.low = std::max(u.range.low, p.range.low);
    u.range.high = std::min(u.range.high, p.range.high);
  }
  if (!known && name == "friction") u.range = between(0, 10);
  if (!known && !(value > 0)) u.range = between(-1e300, 1e300);
  if (!known && (name == "friction" || !(value > 0))) u.measure = Measure::share;
  if (u.measure == Measure::share) u.size = value != 0 ? std::fabs(value) : 1;
  return u;
}

}  // namespace

/// A state of a run at one of the times of the data.
struct SceneModel::Checkpoint {
  std::size_t next = 0;  // the time that comes next
  std::optional<State> state{};
};

SceneModel::SceneModel(std::string file, Settings fixed, Data data)
    : file_(std::move(file)), fixed_(std::move(fixed)), data_(std::move(data)) {
  for (const auto& values : data_.values) {
    double squares = 0;
    for (const double y : values) squares += y * y;
    const double rms = std::sqrt(squares / static_cast<double>(values.size()));
    scales_.push_back(data_.values.size() > 1 && rms > 0 ? rms : 1);
  }
  for (std::size_t i = 0; i < data_.time.size(); ++i) {
    for (std::size_t k = 0; k < data_.values.size(); ++k) {
      measured_.push_back(data_.values[k][i] / scales_[k]);
    }
  }
}

Result<bool> SceneModel::free_path(const std::string& path, std::optional<double> start) {
  const auto scene = scene_with({});
  std::optional<double> value = start;
  if (!value && scene) value = scene::number_at(scene->text, path);
  if (!value) {
    return Error{fmt::format(
        "{}: there is no number at {}; say where its search begins: --start {}=…", file_,
        path, path)};
  }
  Unknown u = unknown_at(path, *value);
  u.free = true;
  u.given = start.has_value();
  if (!u.range.contains(*value)) {
    return Error{fmt::format("{} = {:g} must lie in {}{:g}, {:g}]", path, *value,
                             u.range.open_low ? "(" : "[", u.range.low, u.range.high)};
  }
  unknowns_.push_back(std::move(u));
  return true;
}

std::optional<scene::Scene> SceneModel::scene_with(std::span<const double> values) const {
  Settings settings = fixed_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    settings.push_back(
        fmt::format("{}={}", unknowns_[i].name, fmt::format("{:.17g}", values[i])));
  }
  scene::Problems problems;
  return scene::read_scene(file_, settings, problems);
}

std::string SceneModel::unit() const {
  if (data_.probes.size() != 1) return {};
  return scene_with({})->probes[data_.probes[0]].unit;
}

bool SceneModel::is_of_contacts(std::size_t unknown) const {
  return unknowns_[unknown].name.starts_with("contacts.");
}

/// Goes through the times of the data: an adaptive integrator stops at each of them;
/// between the ends of fixed steps the probes are interpolated.
bool SceneModel::simulate(std::span<const double> values, const Checkpoint* from,
                          Checkpoint* keep, double* predicted) const {
  auto scene = scene_with(values);
  if (!scene) return false;
  StepperOptions options = scene->clock.options;
  options.rtol = std::min(options.rtol, tightest_rtol);
  const bool fixed_step = scene->clock.stepper->fixed_step;
  const auto stepper = scene->clock.stepper->make(scene->model, options);
  State state = from != nullptr ? *from->state : scene->start;
  if (stepper->settle(state) != StepStatus::ok) return false;
  Audit audit;
  ProbeMeter meter(*scene);
  std::vector<double> now, before;
  const auto look = [&](const State& seen) {
    System& system = stepper->system();
    audit.observe(make_ledger(system, seen));
    before = std::move(now);
    meter.measure({*system.model, seen, system, audit}, now);
  };
  double time_before = state.time, time_now = state.time;
  bool touched = false;
  StepObserver watch;
  watch.on_event = [&](const State&, const Event& event) {
    touched = touched || event.kind == EventKind::touch;
  };
  if (fixed_step) {
    watch.on_step = [&](const State& seen) {
      time_before = time_now;
      time_now = seen.time;
      look(seen);
      return true;
    };
  }
  look(state);
  before = now;
  const std::size_t columns = data_.probes.size();
  for (std::size_t i = from != nullptr ? from->next : 0; i < data_.time.size(); ++i) {
    const double until = data_.time[i];
    // The step that ends behind this time.
    const double ahead = fixed_step ? 0.51 * options.step : 0;
    if (until > time_now) {
      if (stepper->advance_to(state, until + ahead, watch) != StepStatus::ok)
        return false;
      if (!fixed_step) {
        time_before = time_now = state.time;
        look(state);
      }
    }
    const double span = time_now - time_before;
    const double part =
        fixed_step && span > 0 ? std::clamp((until - time_before) / span, 0.0, 1.0) : 1;
    for (std::size_t k = 0; k < columns; ++k) {
      const std::size_t probe = data_.probes[k];
      predicted[i * columns + k] =
          (before[probe] + part * (now[probe] - before[probe])) / scales_[k];
    }
    const bool in_contact = touched || state.episodes > 0;
    if (keep != nullptr && !in_contact && !fixed_step) *keep = {i + 1, state};
  }
  return true;
}

bool SceneModel::residuals(std::span<const double> values,
                           std::span<const std::size_t> by, double* residuals,
                           double* jacobian) const {
  const std::size_t n = measured_.size();
  Checkpoint free_flight;
  if (!simulate(values, nullptr, &free_flight, residuals)) return false;
  if (jacobian != nullptr) {
    std::vector<double> changed(values.begin(), values.end());
    for (std::size_t k = 0; k < by.size(); ++k) {
      const Unknown& u = unknowns_[by[k]];
      const double value = values[by[k]];
      double h = 1e-4 * (value != 0 ? std::fabs(value) : u.size);
      const bool reuse = free_flight.state && is_of_contacts(by[k]);
      const Checkpoint* from = reuse ? &free_flight : nullptr;
      std::vector<double> up(residuals, residuals + n), down(residuals, residuals + n);
      double width = 0;
      for (const double side : {1.0, -1.0}) {
        changed[by[k]] = value + side * h;
        if (!u.range.contains(changed[by[k]])) continue;
        if (!simulate(changed, from, nullptr, side > 0 ? up.data() : down.data())) {
          return false;
        }
        width += h;
      }
      changed[by[k]] = value;
      for (std::size_t i = 0; i < n; ++i) {
        jacobian[i * by.size() + k] = (up[i] - down[i]) / width;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) residuals[i] -= measured_[i];
  return true;
}

namespace {

/// The columns that are probes of the scene: by their names, in SI units or in others.
Result<SceneModel::Data> read_data(const FitWish& wish, const scene::Scene& scene) {
  std::vector<identify::ColumnWish> wishes{{"time", Quantity::time, true}};
  for (const scene::Probe& probe : scene.probes) {
    wishes.push_back(
        {.name = probe.name, .quantity = quantity_of(probe.unit), .dataset = "/probes"});
  }
  const auto table = identify::read_table(wish.data, wishes, names_of(wish.columns));
  if (!table) return Error{table.error()};
  SceneModel::Data data{.time = (*table)["time"], .probes = {}, .values = {}};
  if (const auto rising = identify::check_rising(*table, "time"); !rising) {
    return Error{rising.error()};
  }
  if (data.time.front() < scene.start.time) {
    return table->wrong(0, "time_s", data.time.front(), "not be before the scene begins");
  }
  std::string names;
  for (std::size_t i = 0; i < scene.probes.size(); ++i) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", scene.probes[i].name);
    if (!table->has(scene.probes[i].name)) continue;
    data.probes.push_back(i);
    data.values.push_back((*table)[scene.probes[i].name]);
  }
  if (!data.probes.empty()) return data;
  return Error{
      names.empty()
          ? fmt::format("{}: there is no [[probes]] to compare with data", scene.file)
          : fmt::format("{}: no column is a probe of {}: {}", wish.data, scene.file,
                        names)};
}

}  // namespace

Result<FitSetup> set_up_scene(const FitWish& wish) {
  const std::vector<std::string> free = split_commas(wish.free);
  if (free.empty()) {
    return Error{
        "no parameter is free: free numbers of the scene, e.g. --free "
        "contacts.0.normal.restitution"};
  }
  for (const std::string& setting : wish.fixed) {
    const std::string path = setting.substr(0, setting.find('='));
    if (std::find(free.begin(), free.end(), path) == free.end()) continue;
    return Error{fmt::format(
        "{} is both free (--free) and fixed (--set); --start {}=… says where a free one "
        "begins",
        path, path)};
  }
  scene::Problems problems;
  const auto scene = scene::read_scene(wish.scene, wish.fixed, problems);
  if (!scene) return Error{problems.text()};
  auto data = read_data(wish, *scene);
  if (!data) return Error{data.error()};
  auto model = std::make_unique<SceneModel>(wish.scene, wish.fixed, std::move(*data));
  std::vector<std::string> begun;
  for (const std::string& path : free) {
    std::optional<double> start;
    for (const std::string& text : wish.starts_at) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || text.substr(0, equals) != path) continue;
      start = number_in(text.substr(equals + 1));
      if (!start) return Error{fmt::format("--start {}: give a number", text)};
      begun.push_back(text);
    }
    if (const auto freed = model->free_path(path, start); !freed) {
      return Error{freed.error()};
    }
  }
  for (const std::string& text : wish.starts_at) {
    if (std::find(begun.begin(), begun.end(), text) != begun.end()) continue;
    return Error{fmt::format("--start {}: this is not free; free it with --free", text)};
  }
  if (!model->scene_with(model->values())) {
    scene::Problems wrong;
    Settings settings = wish.fixed;
    for (const Unknown& u : model->unknowns()) {
      settings.push_back(fmt::format("{}={:.17g}", u.name, u.value));
    }
    const auto again = scene::read_scene(wish.scene, settings, wrong);
    return Error{again ? std::string("the scene cannot be read again") : wrong.text()};
  }
  return FitSetup{"", nullptr, std::move(model), wish.scene};
}

}  // namespace bristle::cli
