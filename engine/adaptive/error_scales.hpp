#pragma once

#include <cstdint>
#include <vector>

#include "bristle/adaptive/motion_ode.hpp"

// Scales of errors: of positions, the static and the peak depth of contacts (at rest
// under their load, and at the bottom of an impact); of velocities, the speed of
// falling that far. The size of the scene does not enter.

namespace bristle {

/// Of an impact: its depth, and the depth over its speed.
struct Impact {
  double depth = 0;  // [m]
  double time = 0;   // 0: no body can move [s]
};

/// The depth of an acting row at rest under its load, and the speed of falling that
/// far.
struct NaturalScale {
  double depth = 0;  // [m]
  double speed = 0;  // [m/s]
};

/// Errors over their tolerances, a number per entry; more than 1 is too
/// large. Not a number where one of them is none.
double worst_ratio(const std::vector<double>& errors,
                   const std::vector<double>& allowed) noexcept;

class ErrorScales {
 public:
  using Vector = MotionOde::Vector;

  /// The motion must outlive it, and gets the least depths of closed contacts.
  explicit ErrorScales(MotionOde& ode);

  /// Finds the scales of contacts that have just begun. After begin() at a settled state.
  void measure(const State& state);
  NaturalScale natural(std::size_t row) const {
    return {rows_[row].depth, rows_[row].speed};
  }
  /// What a row's approach at a settled state leads to.
  Impact impact(const State& state, std::size_t row);
  /// Errors of the contact in contact time are scaled by this impact from now on.
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
    double depth = 0;    // at rest under its load [m]
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
