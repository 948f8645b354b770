#pragma once

#include <optional>
#include <string>

#include "report/page.hpp"
#include "studies/study.hpp"

namespace bristle::cli {

/// The page that shows studies: report.html beside their figures.
class StudyPage {
 public:
  explicit StudyPage(std::string title);

  /// `asked` is what the study was asked to run with, `result` what --json says of it.
  void add(const studies::Study& study, const studies::Values& asked,
           const report::Json& result, const studies::Outcome& outcome);

  /// Why it could not be written, or nothing.
  std::optional<Error> write(const std::string& path) const;

 private:
  std::string title_;
  report::PageData page_;
};

}  // namespace bristle::cli
