#pragma once

#include <array>
#include <vector>

#include "bristle/adaptive/switching_step.hpp"
#include "bristle/contact/sweep.hpp"

// The links of a model along a step, by the dense output of the positions: polynomials of
// the place in the step, 0 … 1. Poses and velocities at a place, and bounds on how much
// velocities change over a stretch, which hold for these polynomials to the last digit.

namespace bristle {

/// How one joint moves over a stretch, at most: of M in F, by the place.
struct JointBounds {
  double turning = 0;         // |ω|
  double turning_change = 0;  // |dω|
  double offset = 0;          // |d|, of M's origin in F [m]
  double offset_rate = 0;     // |d′|
  double offset_change = 0;   // |d″|
};

/// The same of a link in the frame of another one that it hangs from.
struct LinkBounds {
  double speed = 0;         // of its origin
  double acceleration = 0;  // of its origin
  double turning = 0;
  double turning_change = 0;

  /// Of a link whose joint moves so, with F at this distance from the parent's origin.
  LinkBounds moved_by(const JointBounds& joint, double arm) const;
  /// Of a frame that is fixed to the link at this distance from its origin.
  MotionBounds at(double distance) const;
};

/// A polynomial Σ cₖ xᵏ, by its coefficients.
template <std::size_t count>
struct Polynomial {
  std::array<double, count> c{};

  /// The same polynomial of x − from.
  Polynomial from(double place) const {
    Polynomial p = *this;
    if (place == 0) return p;
    for (std::size_t k = 0; k + 1 < count; ++k) {
      for (std::size_t j = count - 1; j-- > k;) p.c[j] += place * p.c[j + 1];
    }
    return p;
  }
  double value(double x) const {
    double sum = 0;
    for (std::size_t k = count; k-- > 0;) sum = c[k] + x * sum;
    return sum;
  }
  double slope(double x) const {
    double sum = 0;
    for (std::size_t k = count; k-- > 1;) {
      sum = static_cast<double>(k) * c[k] + x * sum;
    }
    return sum;
  }
  Polynomial derivative() const {
    Polynomial p;
    for (std::size_t k = 1; k < count; ++k) p.c[k - 1] = static_cast<double>(k) * c[k];
    return p;
  }
  /// |p(x) − p(0)| for x from 0 to a place, at most.
  double swing(double place) const {
    double sum = 0;
    for (std::size_t k = count; k-- > 1;) sum = place * (std::abs(c[k]) + sum);
    return sum;
  }
  double largest(double place) const { return std::abs(c[0]) + swing(place); }
};

class LinkPaths {
 public:
  static constexpr std::size_t terms = 8;  // of dense output

  /// The tree and the step must outlive it.
  LinkPaths(const Tree& tree, SwitchingStep& step);

  /// The step has been completed: its dense output is computed where needed.
  void begin();

  /// A link, by its number, in the frame of one that it hangs from, or of itself.
  ShapeMotion motion(int number, int base, double place);
  LinkBounds bounds(int number, int base, double low, double high);

 private:
  /// How a quaternion turns: with N² = Q·Q, ω = 2 Im(Q′Q*)/N² and
  /// dω = 2 Im(Q″Q*)/N² − ω (N²)′/N².
  struct Turn {
    std::array<Polynomial<2 * terms>, 3> turning, change;
    Polynomial<2 * terms> norm2;
    double most = 0, most_change = 0;  // over the whole step
  };
  struct TurnBounds {
    double turning, change;
  };
  static TurnBounds turn_bounds(const Turn& turn, double low, double stretch);
  struct Path {
    bool known = false;
    std::array<Polynomial<terms>, 7> q;
    int turn = -1;  // in turns_
  };

  const Path& path(int number);
  JointBounds joint_bounds(int number, double low, double high);
  void list_chain(int link, int base);

  const Tree* tree_;
  SwitchingStep* step_;
  std::vector<Path> paths_;
  std::vector<Turn> turns_;
  std::vector<int> chain_;
};

}  // namespace bristle
