#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bristle/core/result.hpp"
#include "bristle/core/vec.hpp"
#include "bristle/spatial/sym3.hpp"
#include "bristle/spatial/transform.hpp"

// Messages and checks that the builders of trees and models share.

namespace bristle::checks {

inline std::string number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", x);
  return text.data();
}

inline std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

inline bool finite(const Vec3<double>& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

inline bool finite(const Sym3<double>& s) {
  return finite(Vec3<double>{s.xx, s.yy, s.zz}) && finite(Vec3<double>{s.xy, s.xz, s.yz});
}
inline bool finite(const Transform<double>& x) {
  return finite(x.p) && finite(x.R.x) && finite(x.R.y) && finite(x.R.z);
}

/// What is wrong, if anything.
using Problem = std::optional<Error>;

/// An element that is being checked: makes errors that are about it.
class Subject {
 public:
  /// As messages call it: joint "elbow".
  Subject(Element element, std::string_view name, std::size_t index)
      : Subject(element, name, index,
                std::string(name_of(element)) + ' ' + quoted(name)) {}
  Subject(Element element, std::string_view name, std::size_t index, std::string called)
      : element_(element), name_(name), index_(index), called_(std::move(called)) {}

  /// 'joint "elbow": MESSAGE'
  Error error(std::string_view field, std::string_view message) const {
    return sentence(field, called_ + ": " + std::string(message));
  }
  /// A message of another form.
  Error sentence(std::string_view field, std::string message) const {
    return {std::move(message), {element_, name_, index_, std::string(field)}};
  }
  const std::string& called() const { return called_; }

 private:
  Element element_;
  std::string name_;
  std::size_t index_;
  std::string called_;
};

}  // namespace bristle::checks
