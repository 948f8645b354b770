#include "studies/bouncing.hpp"

#include <cmath>

#include "bristle/laws/materials.hpp"

namespace bristle::studies {

Motion dropped(const Drop& drop, const Clock& clock) {
  ModelBuilder builder;
  builder.gravity({0, 0, -drop.gravity});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "ball", .mass = drop.mass});
  builder.add_joint({.name = "rail", .child = "ball", .type = JointType::prismatic});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{drop.radius}});
  builder.add_contact({.normal = drop.law, .friction = choose<Frictionless>()});
  Motion motion(builder, clock);
  motion.state().q[0] = drop.radius + drop.height;
  return motion;
}

double gap_of(const Drop& drop, const State& state) { return state.q[0] - drop.radius; }

void note(const Drop& drop, const State& state, const Event& event, Bounces& bounces) {
  if (event.kind == EventKind::touch) bounces.touches.push_back(event.time);
  if (event.kind != EventKind::lift_off) return;
  // No force acts any more but gravity.
  const double speed = state.v[0];
  bounces.lift_offs.push_back({event.time,
                               gap_of(drop, state) + 0.5 * speed * speed / drop.gravity,
                               state.time + speed / drop.gravity});
}

double fall_time(const Drop& drop) { return std::sqrt(2 * drop.height / drop.gravity); }

double fall_energy(const Drop& drop) {
  const double weight = drop.mass * drop.gravity;
  const double stiffness = params_of<AzadFeatherstone>(drop.law).stiffness;
  return weight * (drop.height + hertz_depth(stiffness, weight));
}

}  // namespace bristle::studies
