#include "cli/fit_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "bristle/core/version.hpp"
#include "cli/fit_scene.hpp"
#include "files/file_out.hpp"
#include "identify/friction_model.hpp"
#include "identify/restitution_model.hpp"
#include "recording/header.hpp"
#include "report/figure_page.hpp"

namespace bristle::cli {

using identify::Estimate;
using identify::Unknown;

namespace {

/// A unit with the prefix that numbers of a size ask for.
struct Scale {
  double factor = 1;
  std::string unit;
};
Scale scale_of(const std::string& unit, double largest) {
  const std::string_view prefixed[] = {"m", "N", "s", "m/s", "N s/m", "N/m"};
  const bool can =
      std::find(std::begin(prefixed), std::end(prefixed), unit) != std::end(prefixed);
  if (!can || !(largest > 0)) return {1, unit};
  constexpr std::pair<double, const char*> prefixes[] = {
      {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}};
  for (const auto& [size, name] : prefixes) {
    const bool of_length = size > 1 && (unit == "m" || unit == "s" || unit == "m/s");
    if (largest >= size && !of_length) return {1 / size, name + unit};
  }
  return {1e9, "n" + unit};
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

/// Brings numbers of a unit to a handy size; "position [µm]".
std::string rescale(std::span<std::vector<double>* const> lists, std::string_view name,
                    const std::string& unit) {
  double largest = 0;
  for (const auto* list : lists) largest = std::max(largest, largest_of(*list));
  const Scale scale = scale_of(unit, largest);
  for (auto* list : lists) {
    for (double& x : *list) x *= scale.factor;
  }
  if (scale.unit.empty() || scale.unit == "1") return std::string(name);
  return fmt::format("{}{}[{}]", name, name.empty() ? "" : " ", scale.unit);
}

/// One quantity that was measured, against what it is drawn over.
struct Series {
  std::string title;
  std::string x_name, x_unit, y_name, y_unit;
  std::vector<std::size_t> points;  // of the model, along x
  std::vector<double> x;
  double scale = 1;  // by which measured values are to be multiplied
};

std::vector<std::size_t> all_points(std::size_t count) {
  std::vector<std::size_t> list(count);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

/// The points in the order of their x.
Series along(const std::vector<double>& x, Series s) {
  s.points = all_points(x.size());
  std::sort(s.points.begin(), s.points.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(x[a], a) < std::pair(x[b], b);
  });
  for (const std::size_t i : s.points) s.x.push_back(x[i]);
  return s;
}

std::vector<Series> series_of(const FittedLaw& law) {
  const identify::Model& model = *law.setup.model;
  if (const auto* force = dynamic_cast<const identify::ForceModel*>(&model)) {
    const identify::ForceData& data = force->data();
    if (!data.timed()) {
      return {along(data.position,
                    {"Force against position", "position", "m", "force", "N", {}, {}})};
    }
    std::vector<Series> list;
    for (const auto& [first, end] : data.presses()) {
      Series s{list.empty() ? std::string("Force against time")
                            : fmt::format("Impact {}", list.size() + 1),
               "time",
               "s",
               "force",
               "N",
               {},
               {}};
      for (std::size_t i = first; i < end; ++i) {
        s.points.push_back(i);
        s.x.push_back(data.time[i]);
      }
      list.push_back(std::move(s));
    }
    return list;
  }
  if (const auto* e = dynamic_cast<const identify::RestitutionModel*>(&model)) {
    return {along(e->data().speed, {"Restitution against impact speed",
                                    "impact speed",
                                    "m/s",
                                    "restitution e",
                                    "",
                                    {},
                                    {}})};
  }
  if (const auto* friction = dynamic_cast<const identify::FrictionModel*>(&model)) {
    return {along(friction->data().time,
                  {"Friction against time", "time", "s", "force", "N", {}, {}})};
  }
  const auto& scene = dynamic_cast<const SceneModel&>(model);
  return scene.for_each_probe([](const std::string& name, const std::string& unit,
                                 const std::vector<double>& time, std::size_t first,
                                 std::size_t stride, double scale) {
    Series s{name, "time", "s", name, unit, {}, time, scale};
    for (std::size_t i = 0; i < time.size(); ++i) s.points.push_back(first + i * stride);
    return s;
  });
}

/// Of the residuals; none where they are parts of something.
std::string unit_of_residuals(const FittedLaw& law) {
  if (law.setup.law.empty()) {
    return dynamic_cast<const SceneModel&>(*law.setup.model).unit();
  }
  return dynamic_cast<const identify::RestitutionModel*>(law.setup.model.get()) == nullptr
             ? "N"
             : "";
}

/// A series with the fitted curve and the 95 % band of the prediction, and its residuals.
std::array<report::Panel, 2> data_panels(Series s, const FittedLaw& law) {
  const auto measured = law.setup.model->measured();
  report::Curve data{.label = "measured", .x = {}, .y = {}}, fitted = data, low = data,
                                                             high = data, rest = data;
  data.marker = rest.marker = report::Marker::circle;
  data.line = rest.line = false;
  fitted.label = "fitted";
  low.label = high.label = "95 % band";
  rest.label = "predicted less measured";
  low.dashed = high.dashed = true;
  report::Curve below = low, above = low;  // beside the residuals
  for (const std::size_t i : s.points) {
    const double r = law.fit.residuals[i];
    const double half = std::isfinite(law.fit.band[i]) ? law.fit.band[i] : 0;
    data.y.push_back(s.scale * measured[i]);
    fitted.y.push_back(s.scale * (measured[i] + r));
    low.y.push_back(s.scale * (measured[i] + r - half));
    high.y.push_back(s.scale * (measured[i] + r + half));
    rest.y.push_back(s.scale * r);
    below.y.push_back(-s.scale * half);
    above.y.push_back(s.scale * half);
  }
  std::vector<double>* const xs[] = {&s.x};
  std::vector<double>* const ys[] = {&data.y, &fitted.y, &low.y, &high.y};
  std::vector<double>* const rests[] = {&rest.y, &below.y, &above.y};
  const std::string x_label = rescale(xs, s.x_name, s.x_unit);
  const std::string y_label = rescale(ys, s.y_name, s.y_unit);
  const std::string rest_label = rescale(rests, s.y_name, s.y_unit);
  for (report::Curve* c : {&data, &fitted, &low, &high, &rest, &below, &above})
    c->x = s.x;
  return {report::Panel{.title = s.title,
                        .x_label = x_label,
                        .y_label = y_label,
                        .curves = {data, low, high, fitted}},
          report::Panel{.title = fmt::format("Residuals: {}", s.title),
                        .x_label = x_label,
                        .y_label = rest_label,
                        .curves = {rest, below, above},
                        .references = {report::horizontal_line(0)}}};
}

report::Figure data_figure(const FitWish& wish, const FittedLaw& law) {
  report::Figure figure{
      .title = "Data, fit and residuals",
      .note = fmt::format("{}, {}", wish.data,
                          law.setup.law.empty() ? wish.scene : law.setup.law),
      .panels = {},
      .columns = 2};
  for (Series& s : series_of(law)) {
    for (report::Panel& panel : data_panels(std::move(s), law)) {
      figure.panels.push_back(std::move(panel));
    }
  }
  return figure;
}

/// How fast Σ r² grows as each parameter moves away from its best value, the others
/// following.
report::Figure profile_figure(const FitWish& wish, const FittedLaw& law) {
  report::Figure figure{
      .title = "Likelihood profiles",
      .note =
          "Σ r² over the noise's variance, less the least, the other parameters "
          "fitted again; 95 % lie below the line",
      .panels = {},
      .columns = 2};
  for (std::size_t k = 0; k < law.fit.estimates.size(); ++k) {
    const Unknown& u = law.setup.model->unknowns()[law.fit.estimates[k].unknown];
    identify::Profile p = identify::profile(*law.setup.model, law.fit, k, wish.options);
    std::vector<double>* const values[] = {&p.values};
    std::string_view name = u.name;  // contact_point of contact_point_m
    if (name.ends_with("_" + u.unit)) name.remove_suffix(u.unit.size() + 1);
    const std::string label = rescale(values, name, u.unit);
    figure.panels.push_back({.title = u.name,
                             .x_label = label,
                             .y_label = "increase of χ²",
                             .curves = {{.label = "χ²", .x = p.values, .y = p.increase}},
                             .references = {report::horizontal_line(3.84, "95 %")}});
  }
  return figure;
}

Json page_rows(const FittedLaw& law, const Json& all) {
  Json rows = Json::array();
  for (const Estimate& e : law.fit.estimates) {
    const Unknown& u = law.setup.model->unknowns()[e.unknown];
    Json row = all["parameters"][u.name];
    row["name"] = u.name;
    row["meaning"] = u.meaning;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Error> write_page(const FitWish& wish, const FittedLaw& law,
                                const Json& all,
                                const std::vector<report::Figure>& figures,
                                const std::vector<std::string>& files,
                                const std::string& path) {
  const std::string title = fmt::format(
      "fit {}: {}", wish.kind, law.setup.law.empty() ? wish.scene : law.setup.law);
  report::PageData page;
  page.head = {{"kind", "fit"},
               {"title", title},
               {"version", version()},
               {"created", recording::time_stamp()},
               {"data", wish.data},
               {"about", law.setup.law.empty() ? "" : law.setup.about},
               {"rms_unit", unit_of_residuals(law)},
               {"files", files},
               {"parameters", page_rows(law, all)},
               {"result", all},
               {"figures", Json::array()}};
  for (const report::Figure& figure : figures) {
    page.head["figures"].push_back(report::figure_json(figure, page));
  }
  return report::write_page(page, title, path);
}

}  // namespace

std::string contact_toml(const FitWish& wish, const FittedLaw& law) {
  std::string text = fmt::format("# Fitted to {} by `bristle fit {}`.\n",
                                 printable(wish.data), wish.kind);
  for (const Estimate& e : law.fit.estimates) {
    const Unknown& u = law.setup.model->unknowns()[e.unknown];
    text += e.identified
                ? fmt::format("# {} = {:.9g} ± {:.3g} {}, 95 %: {:.9g} to {:.9g}\n",
                              u.name, e.value, e.sd, u.unit, e.low, e.high)
                : fmt::format("# {} is not determined by these data\n", u.name);
  }
  text += "[[contacts]]\n";
  const bool normal =
      law.setup.entry == nullptr || law.setup.entry->family == LawFamily::normal;
  text += normal ? "normal = { law = \"" : "friction = { law = \"";
  if (law.setup.entry == nullptr) {
    return text + fmt::format("gonthier\", restitution = {:.9g} }}\n", law.fit.values[0]);
  }
  text += law.setup.entry->info.name;
  text += '"';
  for (std::size_t i = 0; i < law.setup.entry->parameters.size(); ++i) {
    const Parameter& p = law.setup.entry->parameters[i];
    const double value = law.fit.values[i];
    text += fmt::format(", {} = ", p.name);
    if (p.is_choice()) {
      text += fmt::format("\"{}\"", p.choices[static_cast<std::size_t>(value)]);
    } else if (p.is_flag()) {
      text += value != 0 ? "true" : "false";
    } else {
      text += fmt::format("{:.9g}", value);
    }
  }
  return text + " }\n";
}

int write_fit_files(const FitWish& wish, const std::vector<FittedLaw>& laws,
                    const files::OutputFolder& folder) {
  const FittedLaw& law = laws.front();
  const Json json = fit_json(wish, laws);
  int status = fine;
  std::vector<std::string> names;
  const auto note = [&](const std::string& name, const std::optional<Error>& error) {
    names.push_back(name);
    if (error) status = fail(folder.shown_in(error->message), cannot_go_on);
  };
  if (const auto* scene = dynamic_cast<const SceneModel*>(law.setup.model.get())) {
    const auto fitted = scene->scene_with(law.fit.values);
    if (fitted) {
      note("scene.toml", files::write_file(fitted->text, folder.inside("scene.toml")));
    }
  } else {
    note("contact.toml",
         files::write_file(contact_toml(wish, law), folder.inside("contact.toml")));
  }
  note("fit.json", files::write_file(json_text(json) + "\n", folder.inside("fit.json")));
  const std::pair<const char*, report::Figure> figures[] = {
      {"fit", data_figure(wish, law)}, {"profiles", profile_figure(wish, law)}};
  for (const auto& [stem, figure] : figures) {
    for (const char* ending : {".svg", ".png", ".csv"}) {
      names.push_back(std::string(stem) + ending);
      const std::string path = folder.inside(names.back());
      if (names.back().ends_with(".csv") ? report::write_csv(figure, path)
                                         : report::write_figure(figure, path)) {
        continue;
      }
      status = fail(fmt::format("{} cannot be written", folder.shown(names.back())),
                    cannot_go_on);
    }
  }
  if (!report::empty_page().empty()) {
    const auto error = write_page(wish, law, json, {figures[0].second, figures[1].second},
                                  names, folder.inside("report.html"));
    note("report.html", error);
  }
  return status;
}

}  // namespace bristle::cli
