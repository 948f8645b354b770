#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bristle/laws/law.hpp"

// A friction law under a prescribed motion along one line: stick, slip
// and memory.

namespace bristle {

struct SlideProgram {
  double normal_force = 10;  // [N]
  double depth = 1e-4;       // held constant [m]
  struct Step {
    double duration;  // [s]
    double speed;     // [m/s]
  };
  std::vector<Step> steps;

  /// `count` equal steps at one speed.
  void hold(double speed, double duration, int count) {
    steps.insert(steps.end(), static_cast<std::size_t>(count), {duration / count, speed});
  }
};

struct SlideSample {
  double time;          // at the end of the step [s]
  double displacement;  // [m]
  double speed;         // [m/s]
  double resistance;    // force against positive slip [N]
  double stored;        // [J]
  double dissipated;    // damping, slip and viscous, since the start [J]
  double unsupplied;    // energy that the law created, since the start [J]
};

template <FrictionLaw L>
std::vector<SlideSample> slide(const typename L::template Params<double>& params,
                               const SlideProgram& program) {
  std::vector<SlideSample> samples;
  samples.reserve(program.steps.size());
  auto state = L::touch(params);
  SlideSample at{};

  for (const auto& [h, speed] : program.steps) {
    const auto kin = Kinematics<double>::at(program.depth, 0.0, {speed, 0.0});
    const auto step = L::advance(params, state, kin, program.normal_force, h);
    state = step.state;
    at.time += h;
    at.displacement += h * speed;
    at.speed = speed;
    at.resistance = -step.force.x;
    at.stored = step.stored;
    at.dissipated += h * dissipated(step.powers);
    at.unsupplied += h * sources(step.powers);
    samples.push_back(at);
  }
  return samples;
}

/// The resistance at a constant slip speed once the memory has settled.
template <FrictionLaw L>
double steady_resistance(const typename L::template Params<double>& params, double speed,
                         double normal_force, double depth) {
  auto state = L::touch(params);
  const auto kin = Kinematics<double>::at(depth, 0.0, {speed, 0.0});
  double force = 0;
  // Implicit steps that grow: the memory settles whatever its time constants.
  double h = 1e-6;
  for (int i = 0; i < 80; ++i, h *= 1.6) {
    const auto step = L::advance(params, state, kin, normal_force, h);
    state = step.state;
    force = -step.force.x;
  }
  return force;
}

}  // namespace bristle
