#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bristle/step/system.hpp"

// Steps of fixed length see shapes at their ends only: a shape that moves by more than
// the thickness of a pair goes through the other. Such pairs are followed along the
// straight motion from one end to the other (contact/sweep.hpp), and reported.

namespace bristle {

class PassageWatch {
 public:
  explicit PassageWatch(const Model& model);

  /// Where a substep begins, at a settled state.
  void begin(const System& system) noexcept;
  /// Where it ends; the kinematics of the system are then those of the state.
  void end(System& system, const State& state) noexcept;

  /// How often a pair went through, in all.
  std::uint64_t count() const { return count_; }
  /// A sentence per pair that went through.
  std::vector<std::string> warnings() const;

 private:
  /// A pair that went through, and how often.
  struct Passage {
    std::uint32_t a, b;
    std::uint64_t times;
    double first;      // when [s]
    double way;        // of one past the other in a substep, the longest [m]
    double thickness;  // of both [m]
    double step;       // [s]
  };

  double thin(const ShapePair& pair) const noexcept;
  bool may_pass(const PointPool& points, const ShapePair& pair,
                const Vec3<double>& between) const noexcept;
  bool passes(const ShapePair& pair, double& way) noexcept;
  void note(const ShapePair& pair, double way, double time, double step) noexcept;

  const Model* model_;
  std::vector<double> thickness_;               // of shapes, both sides [m]
  std::vector<Transform<double>> begin_, end_;  // poses of shapes
  double thinnest_ = HUGE_VAL;                  // of those that have a thickness [m]
  bool watches_ = false;                        // this substep
  std::vector<Passage> passages_;
  std::uint64_t count_ = 0;
};

}  // namespace bristle
