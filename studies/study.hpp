#pragma once

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/core/parameter.hpp"
#include "bristle/core/result.hpp"
#include "report/figure.hpp"
#include "report/film.hpp"

// A study: one group of figures of a paper as a function of named parameters, whose
// presets are the paper's, to named results, a figure, and checks against what the paper
// says or against something independent of it.

namespace bristle::studies {

/// What a study is run with.
class Values {
 public:
  Values(std::span<const Parameter> parameters, std::vector<double> values,
         std::map<std::string, std::string, std::less<>> texts = {});

  double operator[](std::string_view name) const { return values_[place(name)]; }
  bool flag(std::string_view name) const { return (*this)[name] != 0; }
  std::string_view choice(std::string_view name) const;
  /// Of a parameter with the unit "file"; empty when it was not given.
  std::string text(std::string_view name) const;

  /// A copy with one number changed.
  Values with(std::string_view name, double value) const;
  /// Gives a parameter that was left open the value that follows from the others.
  void resolve(std::string_view name, double value);
  bool open(std::string_view name) const { return std::isnan((*this)[name]); }

  /// Whether everything but the clock is as the paper has it.
  bool as_published() const { return as_published_; }

  std::span<const Parameter> parameters() const { return parameters_; }

 private:
  std::size_t place(std::string_view name) const;

  std::span<const Parameter> parameters_;
  std::vector<double> values_;
  std::map<std::string, std::string, std::less<>> texts_;
  bool as_published_ = true;
};

struct Finding {
  std::string_view name;
  double value;  // not a number: it did not occur
};

/// A statement that holds or does not: |value − reference| ≤ tolerance.
struct Check {
  std::string name;
  double value;
  double reference;
  double tolerance;
  std::string source;  // where the reference comes from

  bool passes() const { return std::fabs(value - reference) <= tolerance; }
};

struct Outcome {
  std::vector<Finding> results{};
  std::vector<Check> checks{};
  std::vector<report::Figure> figures{};
  /// What moves in the first figure, then in the second: times are the same.
  std::vector<report::Film> films{};
  std::string trouble{};  // why it could not go on; empty where it could
};

/// A result as it is announced.
struct ResultInfo {
  std::string_view name;
  std::string_view meaning;
};

struct Study {
  std::string_view name;     // gonthier2004.impact
  std::string_view title;    // what happens, in a line
  std::string_view figures;  // of the paper
  std::string_view about;    // what is done; what the paper leaves open or gets wrong
  std::vector<Parameter> parameters;  // with those of the clock
  std::vector<ResultInfo> results;
  /// Figures and films are made on request only. An error is about the values.
  Result<Outcome> (*run)(Values& values, bool draw);

  std::string_view paper() const { return name.substr(0, name.find('.')); }
};

/// All studies, by paper.
std::span<const Study> all_studies();

/// The study of that name, or a message with the nearest name.
Result<const Study*> find_study(std::string_view name);

/// "Gonthier, McPhee, Lange & Piedbœuf 2004, …"
std::string_view citation(std::string_view paper);

}  // namespace bristle::studies
