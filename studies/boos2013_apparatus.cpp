#include "studies/boos2013_apparatus.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "bristle/laws/catalogue.hpp"
#include "identify/table.hpp"

namespace bristle::studies::boos2013 {

namespace {

constexpr PrintedStiffness aluminium{4.79e9, 7.59e13, 8.82e12, 0.32, 0.134};
constexpr PrintedStiffness magnesium{3.02e9, 3.82e13, 5.17e12, 0.46, 0.114};

double rounded(double x, double to) { return to * std::round(x / to); }

}  // namespace

const PrintedStiffness& printed(const Values& values) {
  return values.choice("plate") == "al" ? aluminium : magnesium;
}

std::vector<Parameter> apparatus_parameters(double plate) {
  return {
      {"plate", "", "choice", choice_of(2), plate, "material of the plate", {"al", "mg"}},
      {"drive_stiffness", "K", "N/m", between(0, 1e12), 2e6,
       "of the drive, which the paper does not give; 0: rigid"},
      {"noise", "σ", "N", between(0, 1e3), 0.1, "of the force, before rounding"},
      {"contact_point", "p₀", "m", between(-1, 1), 1e-5,
       "position where the bodies touch"},
      {"seed", "", "count", between(0, 1e9), 1, "of the noise"},
      {"data", "", "file", between(0, 0), 0,
       "measurements in place of made-up ones: position_m,force_N"}};
}

std::vector<Parameter> with_apparatus(std::vector<Parameter> own, double plate) {
  std::vector<Parameter> all = apparatus_parameters(plate);
  all.insert(all.begin() + 1, own.begin(), own.end());
  return all;
}

double Instruments::position(double x) const { return rounded(x, position_resolution); }

double Instruments::force(double f) {
  return rounded(f + noise_ * random_.normal(), force_resolution);
}

identify::ForceData press(const Values& values,
                          const std::function<double(double)>& force_at) {
  const double stiffness = values["drive_stiffness"], contact = values["contact_point"];
  Instruments instruments(values, 0);
  identify::ForceData data;
  // Where the payload is when the drive stands at x: K (x − p) = f(p − p₀).
  const auto settle = [&](double drive) {
    if (!(stiffness > 0)) return drive;
    double low = std::min(drive, contact), high = drive;
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      const bool beyond = force_at(middle - contact) > stiffness * (drive - middle);
      (beyond ? high : low) = middle;
    }
    return 0.5 * (low + high);
  };
  // The drive begins at 0, or where the contact is elsewhere some counts before it.
  const double counts = std::floor(contact / servo_count);
  const double begin = servo_count * (counts >= 8 && counts <= 1000 ? 0.0 : counts - 8);
  std::vector<double> drive;
  for (int count = 0; count < 100'000; ++count) {
    drive.push_back(begin + count * servo_count);
    if (force_at(settle(drive.back()) - contact) >= most_force) break;
  }
  for (std::size_t i = drive.size() - 1; i-- > 0;) drive.push_back(drive[i]);
  for (const double x : drive) {
    const double p = settle(x);
    data.position.push_back(instruments.position(p));
    data.force.push_back(instruments.force(force_at(p - contact)));
  }
  data.begins.assign(data.size(), false);
  data.begins[0] = true;
  return data;
}

Result<identify::ForceData> press_data(const Values& values,
                                       const std::function<double(double)>& force_at) {
  const std::string path = values.text("data");
  if (path.empty()) return press(values, force_at);
  const auto table = identify::read_table(path, identify::force_columns());
  if (!table) return Error{table.error()};
  auto data = identify::force_data(*table);
  if (!data) return data;
  data->time.clear();  // at rest everywhere
  data->speed.clear();
  return data;
}

const identify::Estimate& PressFit::operator[](std::string_view name) const {
  const int place = model->find(name);
  for (const identify::Estimate& e : fit.estimates) {
    if (static_cast<int>(e.unknown) == place) return e;
  }
  std::abort();  // a study asks for what it did not free
}

Result<PressFit> fit_press(std::string_view law, identify::ForceData data,
                           identify::PatchShape shape, double radius,
                           std::span<const Wanted> wanted) {
  PressFit fitted;
  fitted.model = std::make_unique<identify::ForceModel>(**find_law(law), std::move(data),
                                                        shape, radius);
  for (const Wanted& w : wanted) {
    identify::Unknown& u =
        fitted.model->unknowns()[static_cast<std::size_t>(fitted.model->find(w.name))];
    u.free = w.free;
    u.value = w.value;
  }
  auto found = identify::fit(*fitted.model, {.starts = 4});
  if (!found) return Error{found.error()};
  fitted.fit = std::move(*found);
  return fitted;
}

report::Curve points_of(const identify::ForceData& data) {
  report::Curve curve{.label = "data", .x = {}, .y = data.force};
  for (const double p : data.position) curve.x.push_back(1e6 * p);
  curve.marker = report::Marker::circle;
  curve.line = false;
  return curve;
}

report::Curve curve_of(std::string label, const PressFit& fit) {
  const identify::ForceData& data = fit.model->data();
  const auto [low, high] =
      std::minmax_element(data.position.begin(), data.position.end());
  identify::ForceData line;
  constexpr int count = 200;
  for (int i = 0; i <= count; ++i) {
    line.position.push_back(*low + (*high - *low) * i / count);
    line.force.push_back(0);
    line.begins.push_back(i == 0);
  }
  // The prediction is what the residuals are where every force is zero.
  const identify::ForceModel model = fit.model->with_data(line);
  std::vector<double> force(line.size());
  model.residuals(fit.fit.values, {}, force.data(), nullptr);
  report::Curve curve{.label = std::move(label), .x = {}, .y = force};
  for (const double p : line.position) curve.x.push_back(1e6 * p);
  return curve;
}

}  // namespace bristle::studies::boos2013
