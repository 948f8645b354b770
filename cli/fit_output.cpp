#include "cli/fit_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bristle::cli {

using identify::Estimate;
using identify::Fit;
using identify::Unknown;

namespace {

Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

const Unknown& unknown_of(const FittedLaw& law, const Estimate& e) {
  return law.setup.model->unknowns()[e.unknown];
}

std::string_view shown_unit(const Unknown& u) {
  const bool plain = u.unit == "1" || u.unit == "flag" || u.unit == "choice";
  return plain ? std::string_view() : std::string_view(u.unit);
}

Json parameters_json(const FittedLaw& law) {
  Json json = Json::object();
  for (const Estimate& e : law.fit.estimates) {
    const Unknown& u = unknown_of(law, e);
    json[u.name] = {{"value", e.value},      {"sd", or_null(e.sd)},
                    {"low", or_null(e.low)}, {"high", or_null(e.high)},
                    {"unit", u.unit},        {"identified", e.identified}};
    if (std::isfinite(e.bootstrap_sd)) json[u.name]["bootstrap_sd"] = e.bootstrap_sd;
  }
  return json;
}

Json fixed_json(const FittedLaw& law) {
  Json json = Json::object();
  const auto& unknowns = law.setup.model->unknowns();
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    if (!unknowns[i].free) json[unknowns[i].name] = law.fit.values[i];
  }
  return json;
}

Json correlations_json(const FittedLaw& law) {
  Json json = Json::object();
  const auto& estimates = law.fit.estimates;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    for (std::size_t j = i + 1; j < estimates.size(); ++j) {
      json[unknown_of(law, estimates[i]).name + "," +
           unknown_of(law, estimates[j]).name] = or_null(law.fit.correlations(i, j));
    }
  }
  return json;
}

void print_parameters(const FittedLaw& law) {
  std::size_t names = 0;
  for (const Unknown& u : law.setup.model->unknowns()) {
    names = std::max(names, width_of(u.name));
  }
  fmt::print("\n{}\n",
             padded("parameter", names + 4) + "value ± standard error, 95 % interval");
  for (const Estimate& e : law.fit.estimates) {
    const Unknown& u = unknown_of(law, e);
    fmt::print("  {}  ", padded(printable(u.name), names));
    if (!e.identified) {
      fmt::print("{:.6g} {}  not determined\n", e.value, shown_unit(u));
      continue;
    }
    fmt::print("{:.7g} ± {:.2g} {}  [{:.7g}, {:.7g}]", e.value, e.sd, shown_unit(u),
               e.low, e.high);
    if (std::isfinite(e.bootstrap_sd)) fmt::print("  resampled ± {:.2g}", e.bootstrap_sd);
    fmt::print("\n");
  }
  const auto& unknowns = law.setup.model->unknowns();
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    if (unknowns[i].free) continue;
    fmt::print("  {}  {:.7g} {}  fixed\n", padded(printable(unknowns[i].name), names),
               law.fit.values[i], shown_unit(unknowns[i]));
  }
}

void print_correlations(const FittedLaw& law) {
  const Json all = correlations_json(law);
  bool headed = false;
  for (const auto& [pair, value] : all.items()) {
    if (value.is_null()) continue;
    if (!headed) fmt::print("\ncorrelations\n");
    headed = true;
    fmt::print("  {:8.4f}  {}\n", value.get<double>(), printable(pair));
  }
}

Json comparison_json(const std::vector<FittedLaw>& laws) {
  Json json = Json::array();
  for (const std::size_t i : ranked(laws)) {
    const FittedLaw& law = laws[i];
    json.push_back({{"law", law.setup.law},
                    {"aicc", law.fit.aicc},
                    {"bic", law.fit.bic},
                    {"held_out_rms", or_null(law.held_out)},
                    {"rms", law.fit.rms},
                    {"parameters", parameters_json(law)}});
  }
  return json;
}

}  // namespace

std::vector<std::size_t> ranked(const std::vector<FittedLaw>& laws) {
  std::vector<std::size_t> order(laws.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(laws[a].fit.aicc, a) < std::pair(laws[b].fit.aicc, b);
  });
  return order;
}

Json fit_json(const FitWish& wish, const std::vector<FittedLaw>& laws) {
  const FittedLaw& law = laws.front();
  const Fit& fit = law.fit;
  Json json{{"fit", wish.kind},
            {"law", law.setup.law},
            {"points", fit.points},
            {"parameters", parameters_json(law)},
            {"fixed", fixed_json(law)},
            {"correlations", correlations_json(law)},
            {"determined", fit.determined},
            {"rms", fit.rms},
            {"noise", fit.noise},
            {"aicc", fit.aicc},
            {"bic", fit.bic},
            {"starts", fit.starts},
            {"starts_at_best", fit.starts_at_best},
            {"converged", fit.converged},
            {"warnings", fit.warnings}};
  if (wish.kind == "scene") json["scene"] = wish.scene;
  if (laws.size() > 1) json["comparison"] = comparison_json(laws);
  return json;
}

void print_fit(const FitWish& wish, const std::vector<FittedLaw>& laws) {
  const FittedLaw& law = laws.front();
  const Fit& fit = law.fit;
  const bool both = !law.setup.law.empty() && !law.setup.about.empty();
  fmt::print("fit {}: {}{}{}\n", wish.kind, printable(law.setup.law), both ? ", " : "",
             printable(law.setup.about));
  fmt::print("{}: {} points, rms of the residuals {:.5g}\n", printable(wish.data),
             fit.points, fit.rms);
  print_parameters(law);
  print_correlations(law);
  fmt::print("\n{} of {} starts end at the best fit; AICc {:.2f}, BIC {:.2f}\n",
             fit.starts_at_best, fit.starts, fit.aicc, fit.bic);
  if (laws.size() > 1) {
    fmt::print("\n{}{}{}{}{}\n", padded("law", 26), padded("AICc", 14), padded("BIC", 14),
               padded("held-out rms", 15), "rms");
    for (const std::size_t i : ranked(laws)) {
      const FittedLaw& one = laws[i];
      fmt::print("{}{}{}{}{:.5g}\n", padded(one.setup.law, 26),
                 padded(fmt::format("{:.2f}", one.fit.aicc), 14),
                 padded(fmt::format("{:.2f}", one.fit.bic), 14),
                 padded(fmt::format("{:.5g}", one.held_out), 15), one.fit.rms);
    }
  }
  if (!fit.warnings.empty()) fmt::print("\n");
  for (const std::string& warning : fit.warnings) {
    fmt::print("warning: {}\n", printable(warning));
  }
}

}  // namespace bristle::cli
