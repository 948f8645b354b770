#include "cli/study_page.hpp"

#include <cmath>

#include "bristle/core/version.hpp"
#include "cli/text.hpp"
#include "report/figure_page.hpp"
#include "report/film_page.hpp"
#include "studies/clock.hpp"

namespace bristle::cli {

using studies::Outcome;
using studies::Study;
using studies::Values;

namespace {

/// The value it was run with, and whether that was set by the user.
Json parameter_page_json(const Parameter& p, const Values& asked, const Json& used) {
  Json json{{"name", p.name},       {"symbol", p.symbol},
            {"unit", unit_text(p)}, {"meaning", p.meaning},
            {"value", used},        {"preset", nullptr},
            {"changed", false},     {"of_clock", studies::is_of_clock(p.name)}};
  if (p.unit == "file") {
    json["unit"] = "";
    json["changed"] = !asked.text(p.name).empty();
  } else {
    if (!std::isnan(p.preset)) json["preset"] = value_json(p, p.preset);
    json["changed"] = !asked.open(p.name) && asked[p.name] != p.preset;
  }
  return json;
}

}  // namespace

StudyPage::StudyPage(std::string title) : title_(std::move(title)) {
  page_.head = {{"kind", "studies"},       {"title", title_},
                {"version", version()},    {"created", recording::time_stamp()},
                {"papers", Json::array()}, {"studies", Json::array()}};
}

void StudyPage::add(const Study& study, const Values& asked, const Json& result,
                    const Outcome& outcome) {
  Json& papers = page_.head["papers"];
  if (papers.empty() || papers.back()["name"] != study.paper()) {
    papers.push_back(
        {{"name", study.paper()}, {"citation", studies::citation(study.paper())}});
  }
  Json parameters = Json::array(), results = Json::array(), figures = Json::array(),
       films = Json::array();
  for (const Parameter& p : study.parameters) {
    parameters.push_back(
        parameter_page_json(p, asked, result["parameters"][std::string(p.name)]));
  }
  for (const studies::ResultInfo& r : study.results) {
    results.push_back({{"name", r.name},
                       {"meaning", r.meaning},
                       {"value", result["results"].value(std::string(r.name), Json())}});
  }
  for (const report::Figure& figure : outcome.figures) {
    figures.push_back(report::figure_json(figure, page_));
  }
  for (const report::Film& film : outcome.films) {
    films.push_back(report::film_json(film, page_));
  }
  page_.head["studies"].push_back({{"name", study.name},
                                   {"paper", study.paper()},
                                   {"title", study.title},
                                   {"of_paper", study.figures},
                                   {"about", study.about},
                                   {"as_published", asked.as_published()},
                                   {"parameters", std::move(parameters)},
                                   {"results", std::move(results)},
                                   {"checks", result["checks"]},
                                   {"trouble", outcome.trouble},
                                   {"figures", std::move(figures)},
                                   {"films", std::move(films)}});
}

std::optional<Error> StudyPage::write(const std::string& path) const {
  return report::write_page(page_, title_, path);
}

}  // namespace bristle::cli
