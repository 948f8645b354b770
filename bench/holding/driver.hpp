#pragma once

#include <array>
#include <functional>
#include <string>

// A capsule between two fingertips (scenes/pinched-capsule.toml): one finger holds its
// place, the other presses, and friction alone carries the capsule.

namespace bristle::bench {

inline constexpr double gravity = 9.81;
inline constexpr double time_step = 1e-3;
inline constexpr double capsule_mass = 0.2;
inline constexpr double capsule_radius = 0.015;
inline constexpr double capsule_half = 0.03;  // between the centres of its ends, halved
inline constexpr double finger_mass = 0.1;
inline constexpr double finger_radius = 0.01;
inline constexpr double finger_height = 0.01;     // above the capsule's middle: it hangs
inline constexpr double holding_stiffness = 2e4;  // of the finger that keeps its place
inline constexpr double holding_damping = 50;
inline constexpr double pressing_damping = 20;
inline constexpr double press = 15;  // [N]
inline constexpr double friction = 0.5;
inline constexpr double contact_stiffness = 1e10;  // [N/m]
inline constexpr double bristle_stiffness = 1e10;

/// One simulator with the capsule in it, from rest on.
struct Holding {
  std::string name;
  std::function<void()> step;                    // of time_step
  std::function<std::array<double, 3>()> place;  // of the capsule
  std::function<double()> speed;                 // the largest of the bodies
};

Holding bristle_holding();

/// Newton's solver, elliptic cones, impratio 10, 10 iterations against slip; contacts as
/// stiff as by default, or with this time constant [s].
Holding mujoco_holding(double time_constant);

}  // namespace bristle::bench
