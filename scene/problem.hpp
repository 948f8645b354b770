#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scene/limits.hpp"

namespace bristle::scene {

/// A line of a file; line 0: the file as a whole.
struct FileLine {
  std::string file;
  int line = 0;
};

/// "robot.urdf:12: link \"arm\": mass = -1 must be above 0 kg"
struct Problem {
  FileLine at;
  std::string message;

  std::string text() const;
};

/// What is wrong with a file, all of it at once, and what was left out of it. Errors
/// beyond the first hundred are counted only.
class Problems {
 public:
  void error(FileLine at, std::string message) {
    ++count_;
    if (errors_.size() < errors_said) {
      errors_.push_back({std::move(at), std::move(message)});
    }
  }
  void warning(FileLine at, std::string message) {
    warnings_.push_back({std::move(at), std::move(message)});
  }

  bool any() const { return count_ > 0; }
  std::size_t count() const { return count_; }  // of all errors
  /// The list is full: a reader may stop.
  bool full() const { return count_ >= errors_said; }
  const std::vector<Problem>& errors() const { return errors_; }
  const std::vector<Problem>& warnings() const { return warnings_; }
  /// All errors, a line each.
  std::string text() const;

 private:
  std::vector<Problem> errors_, warnings_;
  std::size_t count_ = 0;
};

}  // namespace bristle::scene
