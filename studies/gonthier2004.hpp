#pragma once

#include <initializer_list>

#include "studies/motion.hpp"

// What the studies of Gonthier et al. 2004 share: the seven parameters of friction, and a
// ball that bounces and rolls.

namespace bristle::studies::gonthier2004 {

/// Tables I to III.
struct FrictionTable {
  double mu_s, mu_c;
  double sigma0, sigma1, sigma2;
  double v_s, tau_dw;
};

/// The parameters of the table, after others.
std::vector<Parameter> with_friction(std::vector<Parameter> first,
                                     const FrictionTable& table,
                                     std::initializer_list<Parameter> last);

/// Friction as the values say, without a bound on the bristles, as printed.
LawChoice friction_of(const Values& values);
/// `stiffness`, `restitution`.
LawChoice normal_of(const Values& values);

/// The ball's own parameters: mass, radius, stiffness, restitution, gravity.
std::vector<Parameter> ball_parameters();

/// A ball that moves freely above `ground`, under a gravity along −z.
struct Ball {
  Motion motion;
  double radius;

  Vec3<double> centre(const State& state) const { return load_vec3(state.q.data()); }
  Vec3<double> omega(const State& state) const { return load_vec3(state.v.data()); }
  Vec3<double> velocity(const State& state) const {
    return load_vec3(state.v.data() + 3);
  }
};
Ball make_ball(const Values& values, const Clock& clock, const ShapeSpec& ground,
               const Vec3<double>& centre, const Vec3<double>& velocity);

}  // namespace bristle::studies::gonthier2004
