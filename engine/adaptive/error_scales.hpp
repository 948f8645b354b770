#pragma once

#include <cstdint>
#include <vector>

#include "bristle/adaptive/motion_ode.hpp"

// What errors are measured by: positions by how deep contacts are by nature, at rest
// under what they carry and at the bottom of an impact; velocities by the speed of
// falling that far; not by the size of the scene.

namespace bristle {

/// Of an impact: its depth, and the depth over its speed.
struct Impact {
  double depth = 0;  // [m]
  double time = 0;   // 0: nothing gives way [s]
};

/// How deep an acting row is at rest under what it carries, and the speed of falling that
/// far.
struct NaturalScale {
  double depth = 0;  // [m]
  double speed = 0;  // [m/s]
};

/// How large errors are against what is allowed, a number per entry; more than 1 is too
/// large. Not a number where one of them is none.
double worst_ratio(const std::vector<double>& errors,
                   const std::vector<double>& allowed) noexcept;

class ErrorScales {
 public:
  using Vector = MotionOde::Vector;

  /// The motion must outlive it; it is told how deep closed contacts are at least.
  explicit ErrorScales(MotionOde& ode);

  /// Finds the scales of contacts that have just begun. After begin() at a settled state.
  void measure(const State& state);
  NaturalScale natural(std::size_t row) const {
    return {rows_[row].depth, rows_[row].speed};
  }
  /// What a row's approach at a settled state leads to.
  Impact impact(const State& state, std::size_t row);
  /// The contact whose own time runs is measured by this impact from now on.
  void measure_clock_by(const Impact& impact) { clock_ = impact; }

  /// The size of each number of y, from a point of the motion on.
  void scales(const Vector& from, Vector& scale);
  /// The errors that a relative tolerance allows: that part of the scales, and at least
  /// what rounding does to the numbers themselves, and to the depths of contacts.
  void allowances(double rtol, const Vector& from, Vector& allowed);

  /// The slopes of all rates by y[i], by a difference that is small against its scale.
  /// `rate` is that at y.
  void differentiate(const Vector& y, const double* rate, std::size_t i,
                     const Vector& scale, Vector& slopes);

 private:
  struct RowScale {
    std::uint32_t episode = 0;
    double depth = 0;    // at rest under what it carries [m]
    double speed = 0;    // of falling that far [m/s]
    double time = 0;     // of an impact: its depth over its speed [s]
    double stretch = 0;  // of friction before it slips [m]
  };

  RowScale scale_of(const State& state, std::size_t row);

  MotionOde* ode_;
  double longest_;     // that errors of positions are measured by [m]
  double energy_ = 0;  // [J]
  Impact clock_;
  std::vector<RowScale> rows_;
  std::vector<RowScale> next_rows_;  // room for them
  RowLaws laws_;
  Vector scratch_, least_depths_, largest_, stretched_, moved_;
};

}  // namespace bristle
