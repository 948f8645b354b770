#include "studies/gonthier2004.hpp"

namespace bristle::studies::gonthier2004 {

std::vector<Parameter> with_friction(std::vector<Parameter> first,
                                     const FrictionTable& table,
                                     std::initializer_list<Parameter> last) {
  first.insert(
      first.end(),
      {{"mu_s", "μ_S", "1", between(0, 10), table.mu_s, "friction after long rest"},
       {"mu_c", "μ_C", "1", between(0, 10), table.mu_c, "friction of sliding"},
       {"sigma0", "σ₀", "N/m", between(1e-3, 1e12), table.sigma0, "bristle stiffness"},
       {"sigma1", "σ₁", "N s/m", between(1e-6, 1e9), table.sigma1, "bristle damping"},
       {"sigma2", "σ₂", "N s/m", between(0, 1e9), table.sigma2, "viscous friction"},
       {"v_s", "v_S", "m/s", between(1e-6, 100), table.v_s, "between stick and slip"},
       {"tau_dw", "τ_dw", "s", between(1e-6, 1e6), table.tau_dw, "dwell time constant"}});
  first.insert(first.end(), last);
  return first;
}

LawChoice friction_of(const Values& values) {
  return choose<GonthierFriction>({.mu_static = values["mu_s"],
                                   .mu_coulomb = values["mu_c"],
                                   .stiffness = values["sigma0"],
                                   .damping = values["sigma1"],
                                   .viscous = values["sigma2"],
                                   .stribeck_speed = values["v_s"],
                                   .dwell_time = values["tau_dw"],
                                   .bound = 0});
}

LawChoice normal_of(const Values& values) {
  return choose<GonthierNormal>({.stiffness = values["stiffness"],
                                 .exponent = 1.5,
                                 .restitution = values["restitution"],
                                 .impact_speed_floor = 1e-6});
}

std::vector<Parameter> ball_parameters() {
  return {
      {"mass", "m", "kg", above(0, 1e9), 2, "of the ball"},
      {"radius", "R", "m", above(0, 1e3), 0.1, "of the ball"},
      {"stiffness", "k", "N/m^1.5", above(0, 1e15), 1e6, "of f = k δ^{3/2}"},
      {"restitution", "e", "1", between(1e-3, 1), 0.5, "of a central impact"},
      {"gravity", "g", "m/s²", above(0, 1e4), 9.81, "along −Z"},
  };
}

Ball make_ball(const Values& values, const Clock& clock, const ShapeSpec& ground,
               const Vec3<double>& centre, const Vec3<double>& velocity) {
  const double mass = values["mass"], radius = values["radius"];
  ModelBuilder builder;
  builder.gravity({0, 0, -values["gravity"]});
  builder.add_shape(ground);
  builder.add_body({.name = "ball", .mass = mass, .inertia = ball_inertia(mass, radius)});
  builder.add_joint({.name = "moves", .child = "ball", .type = JointType::free});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{radius}});
  builder.add_contact({.normal = normal_of(values), .friction = friction_of(values)});
  Ball ball{Motion(builder, clock), radius};
  store(centre, ball.motion.state().q.data());
  store(velocity, ball.motion.state().v.data() + 3);
  return ball;
}

}  // namespace bristle::studies::gonthier2004
