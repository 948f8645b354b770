#pragma once

#include <gtest/gtest.h>

#include "bristle/adaptive/event_location.hpp"
#include "tests/validation/scenes.hpp"

// A ball on a vertical guide above a plane: what the parts of the adaptive integrator are
// tried on, since everything about it is known in closed form.

namespace bristle::validation {

inline constexpr double ball_mass = 2, ball_radius = 0.05, ball_stiffness = 1e7;
inline constexpr double ball_gravity = 10;

/// q[0] is the height of the ball's lowest point. With a ceiling, its top touches another
/// plane at that height.
inline Model ball_on_guide(double ceiling = 0,
                           const LawChoice& normal = choose<Hertz>(
                               {.stiffness = ball_stiffness, .exponent = 1.5})) {
  ModelBuilder builder;
  builder.gravity({0, 0, -ball_gravity});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  if (ceiling > 0) {
    builder.add_shape(
        {.name = "ceiling",
         .shape = Plane{},
         .pose = {.R = about_y(pi), .p = {0, 0, ceiling + 2 * ball_radius}}});
  }
  builder.add_body({.name = "ball",
                    .mass = ball_mass,
                    .inertia = ball_inertia(ball_mass, ball_radius)});
  JointSpec guide;
  guide.name = "guide";
  guide.child = "ball";
  guide.type = JointType::prismatic;
  guide.axis = {0, 0, 1};
  guide.on_parent.p = {0, 0, ball_radius};
  builder.add_joint(guide);
  builder.add_shape({.name = "skin", .body = "ball", .shape = Sphere{ball_radius}});
  builder.add_contact({.normal = normal, .friction = choose<Frictionless>()});
  return built(builder);
}

/// The parts, at a height and speed, where contacts are looked for as far as `horizon`.
struct BallParts {
  explicit BallParts(const Model& model, double rtol = 1e-8)
      : ode(model),
        scales(ode),
        step(ode, scales, rtol),
        locator(ode, step),
        state(make_state(model)) {}

  void begin(double height, double speed, double horizon = 1) {
    state.q[0] = height;
    state.v[0] = speed;
    ASSERT_EQ(ode.settle(state, horizon).status, StepStatus::ok);
    ode.begin(state);
    scales.measure(state);
    step.begin(false);
    step.find_rate();
    ode.read(at_begin);
    ode.guards().hold(at_begin.guards);
  }
  /// A whole step, and what happens in it.
  StepEvent take(double length) {
    EXPECT_TRUE(step.attempt(length));
    step.complete();
    ode.read(at_end);
    return locator.first_event(at_begin, at_end);
  }

  MotionOde ode;
  ErrorScales scales;
  SwitchingStep step;
  EventLocator locator;
  State state;
  GuardReading at_begin, at_end;
};

}  // namespace bristle::validation
