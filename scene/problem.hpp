#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bristle::scene {

/// Where something stands in a file; line 0: in the file as a whole.
struct Place {
  std::string file;
  int line = 0;
};

/// "robot.urdf:12: link \"arm\": mass = -1 must be above 0 kg"
struct Problem {
  Place at;
  std::string message;

  std::string text() const;
};

/// What is wrong with a file, all of it at once, and what was left out of it.
class Problems {
 public:
  void error(Place at, std::string message) {
    errors_.push_back({std::move(at), std::move(message)});
  }
  void warning(Place at, std::string message) {
    warnings_.push_back({std::move(at), std::move(message)});
  }

  bool any() const { return !errors_.empty(); }
  const std::vector<Problem>& errors() const { return errors_; }
  const std::vector<Problem>& warnings() const { return warnings_; }
  /// All errors, a line each.
  std::string text() const;

 private:
  std::vector<Problem> errors_, warnings_;
};

}  // namespace bristle::scene
