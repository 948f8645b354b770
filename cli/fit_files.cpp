#include "cli/fit_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// One quantity that was measured, against what it is drawn over.
struct Series {
  std::string title, x_label, y_label;
  std::vector<std::size_t> points;  // of the model, along x
  std::vector<double> x;
  double scale = 1;  // by which measured values are to be multiplied
};

std::vector<std::size_t> all_points(std::size_t count) {
  std::vector<std::size_t> list(count);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

Series along(const std::vector<double>& x, std::string title, std::string x_label,
             std::string y_label) {
  Series s{
      std::move(title), std::move(x_label), std::move(y_label), all_points(x.size()), {}};
  std::stable_sort(s.points.begin(), s.points.end(),
                   [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  for (const std::size_t i : s.points) s.x.push_back(x[i]);
  return s;
}

std::vector<Series> series_of(const FittedLaw& law) {
  const identify::Model& model = *law.setup.model;
  if (const auto* force = dynamic_cast<const identify::ForceModel*>(&model)) {
    const identify::ForceData& data = force->data();
    if (!data.timed()) {
      return {
          along(data.position, "Force against position", "position [m]", "force [N]")};
    }
    std::vector<Series> list;
    for (const auto& [first, end] : data.presses()) {
      Series s{list.empty() ? std::string("Force against time")
                            : fmt::format("Impact {}", list.size() + 1),
               "time [s]",
               "force [N]",
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
    return {along(e->data().speed, "Restitution against impact speed",
                  "impact speed [m/s]", "restitution e")};
  }
  if (const auto* friction = dynamic_cast<const identify::FrictionModel*>(&model)) {
    return {
        along(friction->data().time, "Friction against time", "time [s]", "force [N]")};
  }
  const auto& scene = dynamic_cast<const SceneModel&>(model);
  return scene.for_each_probe([](const std::string& name, const std::string& unit,
                                 const std::vector<double>& time, std::size_t first,
                                 std::size_t stride, double scale) {
    Series s{name, "time [s]", fmt::format("[{}]", unit), {}, time, scale};
    for (std::size_t i = 0; i < time.size(); ++i) s.points.push_back(first + i * stride);
    return s;
  });
}

/// Data with the fitted curve and the 95 % band of the prediction; residuals below.
report::Figure data_figure(const FitWish& wish, const FittedLaw& law) {
  report::Figure figure{
      .title = fmt::format("fit {}", wish.kind),
      .note = fmt::format("{}, {}", wish.data,
                          law.setup.law.empty() ? wish.scene : law.setup.law),
      .panels = {},
      .columns = 2};
  const auto measured = law.setup.model->measured();
  for (const Series& s : series_of(law)) {
    report::Curve data{.label = "measured", .x = s.x, .y = {}}, fitted = data, low = data,
                                                                high = data, rest = data;
    data.marker = rest.marker = report::Marker::circle;
    data.line = rest.line = false;
    fitted.label = "fitted";
    low.label = "95 % band, low";
    high.label = "95 % band, high";
    rest.label = "predicted less measured";
    low.dashed = high.dashed = true;
    for (const std::size_t i : s.points) {
      const double r = law.fit.residuals[i];
      const double half = std::isfinite(law.fit.band[i]) ? law.fit.band[i] : 0;
      data.y.push_back(s.scale * measured[i]);
      fitted.y.push_back(s.scale * (measured[i] + r));
      low.y.push_back(s.scale * (measured[i] + r - half));
      high.y.push_back(s.scale * (measured[i] + r + half));
      rest.y.push_back(s.scale * r);
    }
    figure.panels.push_back({.title = s.title,
                             .x_label = s.x_label,
                             .y_label = s.y_label,
                             .curves = {data, fitted, low, high}});
    figure.panels.push_back({.title = fmt::format("Residuals: {}", s.title),
                             .x_label = s.x_label,
                             .y_label = s.y_label,
                             .curves = {rest},
                             .references = {report::horizontal_line(0)}});
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
    const identify::Profile p =
        identify::profile(*law.setup.model, law.fit, k, wish.options);
    figure.panels.push_back({.title = u.name,
                             .x_label = u.unit.empty() || u.unit == "1"
                                            ? u.name
                                            : fmt::format("{} [{}]", u.name, u.unit),
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
                                const std::string& path) {
  const std::string title = fmt::format(
      "fit {}: {}", wish.kind, law.setup.law.empty() ? wish.scene : law.setup.law);
  report::PageData page;
  page.head = {{"kind", "fit"},
               {"title", title},
               {"version", version()},
               {"created", recording::time_stamp()},
               {"data", wish.data},
               {"about", law.setup.about},
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
  const auto note = [&](const std::optional<Error>& error) {
    if (error) status = fail(folder.shown_in(error->message), cannot_go_on);
  };
  const std::vector<report::Figure> figures{data_figure(wish, law),
                                            profile_figure(wish, law)};
  const char* names[] = {"fit", "profiles"};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (const char* ending : {".svg", ".png", ".csv"}) {
      const std::string name = std::string(names[i]) + ending;
      const bool csv = name.ends_with(".csv");
      if (csv ? report::write_csv(figures[i], folder.inside(name))
              : report::write_figure(figures[i], folder.inside(name))) {
        continue;
      }
      status =
          fail(fmt::format("{} cannot be written", folder.shown(name)), cannot_go_on);
    }
  }
  note(files::write_file(json_text(json) + "\n", folder.inside("fit.json")));
  if (const auto* scene = dynamic_cast<const SceneModel*>(law.setup.model.get())) {
    const auto fitted = scene->scene_with(law.fit.values);
    if (fitted) note(files::write_file(fitted->text, folder.inside("scene.toml")));
  } else {
    note(files::write_file(contact_toml(wish, law), folder.inside("contact.toml")));
  }
  if (!report::empty_page().empty()) {
    note(write_page(wish, law, json, figures, folder.inside("report.html")));
  }
  return status;
}

}  // namespace bristle::cli
