#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// A steel ball dropped on a plane: Azad & Featherstone 2014, § II-C. Plain C++17, because
// Simbody's headers do not compile as C++20.
//
//   m z̈ = −m g + F,  F = max(0, √δ (k δ + λ δ̇)),  δ = −z
//
// z is the gap. 38 touches, the tenth at 2.33 s, the last one at 2.53 s; then it rests.

namespace bristle::bench::bounce {

constexpr double mass = 0.066;        // m [kg]
constexpr double gravity = 10;        // g [m/s²]
constexpr double stiffness = 1e10;    // k [N/m^1.5]
constexpr double damping = 1e5;       // λ [N s/m^1.5]
constexpr double drop = 1;            // z at time 0 [m]
constexpr std::size_t compared = 10;  // touches whose times are compared

/// What a run did.
struct Outcome {
  std::vector<double> touches;            // [s]
  double time = 0;                        // that it came to [s]
  double height = 0;                      // z there [m]
  std::uint64_t steps = 0;                // accepted
  std::uint64_t evaluations = 0;          // of the forces: right-hand sides
  std::uint64_t contact_evaluations = 0;  // of the contact only, to locate events
  std::string trouble;                    // that it owned up to; empty: none
};

/// A method at one tolerance.
struct Contestant {
  std::string name;
  double tolerance;
  std::function<Outcome(double until)> run;
};

/// In extended precision, from event to event.
struct Reference {
  std::vector<double> touches;
  std::function<double(double)> height;  // z at a time in flight, or at rest
};
Reference solve_reference();

std::vector<Contestant> ours(const std::vector<double>& tolerances);
std::vector<Contestant> sundials(const std::vector<double>& tolerances);
/// The integrators that stay on the ground; and those that do not.
std::vector<Contestant> simbody(const std::vector<double>& tolerances);
std::vector<Contestant> simbody_others(const std::vector<double>& tolerances);

}  // namespace bristle::bench::bounce
