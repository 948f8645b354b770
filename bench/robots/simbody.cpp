// C++17: its headers do not compile as C++20, so this file sees none of the engine's.

#include <Simbody.h>

#include <algorithm>
#include <memory>

#include "bench/robots/driver.hpp"

namespace bristle::bench {

namespace {

SimTK::Vec3 vec(const double (&x)[3]) { return {x[0], x[1], x[2]}; }

using Bodies = std::vector<SimTK::MobilizedBodyIndex>;

class Motors : public SimTK::Force::Custom::Implementation {
 public:
  Motors(const RobotSpec& robot, const SimTK::SimbodyMatterSubsystem& matter,
         const Bodies& bodies)
      : spec_(robot), matter_(matter), bodies_(bodies) {}

  void calcForce(const SimTK::State& state, SimTK::Vector_<SimTK::SpatialVec>&,
                 SimTK::Vector_<SimTK::Vec3>&, SimTK::Vector& torques) const override {
    const double t = state.getTime();
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const SimTK::MobilizedBody& body = matter_.getMobilizedBody(bodies_[i]);
      const LinkSpec& l = spec_.links[i];
      body.applyOneMobilityForce(
          state, 0,
          l.kp * (reference(spec_, i, t) - body.getOneQ(state, 0)) -
              l.kd * body.getOneU(state, 0),
          torques);
    }
  }
  SimTK::Real calcPotentialEnergy(const SimTK::State&) const override { return 0; }

 private:
  const RobotSpec& spec_;
  const SimTK::SimbodyMatterSubsystem& matter_;
  const Bodies& bodies_;
};

class Contacts : public SimTK::Force::Custom::Implementation {
 public:
  Contacts(const RobotSpec& robot, const SimTK::SimbodyMatterSubsystem& matter,
           const Bodies& bodies)
      : spec_(robot), matter_(matter), bodies_(bodies) {}

  void calcForce(const SimTK::State& state, SimTK::Vector_<SimTK::SpatialVec>& forces,
                 SimTK::Vector_<SimTK::Vec3>&, SimTK::Vector&) const override {
    using SimTK::Vec3;
    for (const FootSpec& foot : spec_.feet) {
      const SimTK::MobilizedBody& body =
          matter_.getMobilizedBody(bodies_[static_cast<std::size_t>(foot.link)]);
      const Vec3 centre = body.findStationLocationInGround(state, vec(foot.centre));
      const double depth = spec_.ground + foot.radius - centre[2];
      if (depth <= 0) continue;
      const Vec3 point = body.findStationAtGroundPoint(
          state, centre - Vec3(0, 0, foot.radius - 0.5 * depth));
      const Vec3 v = body.findStationVelocityInGround(state, point);
      const double f = std::max(
          0.0, stiffness(foot) * depth * std::sqrt(depth) * (1 - dissipation * v[2]));
      const double g =
          friction * f / std::max(std::sqrt(v[0] * v[0] + v[1] * v[1]), slip_speed);
      body.applyForceToBodyPoint(state, point, Vec3(-g * v[0], -g * v[1], f), forces);
    }
  }
  SimTK::Real calcPotentialEnergy(const SimTK::State&) const override { return 0; }

 private:
  const RobotSpec& spec_;
  const SimTK::SimbodyMatterSubsystem& matter_;
  const Bodies& bodies_;
};

class SimbodyRobot {
 public:
  explicit SimbodyRobot(const RobotSpec& robot) : spec_(robot) {
    using SimTK::Transform;
    const SimTK::Force::Gravity weight(forces_, matter_, SimTK::Vec3(0, 0, -gravity));
    SimTK::MobilizedBody base = matter_.updGround();
    if (spec_.floating) {
      const SimTK::Body::Rigid trunk(SimTK::MassProperties(
          spec_.trunk_mass, SimTK::Vec3(0), SimTK::Inertia(vec(spec_.trunk_inertia))));
      base = SimTK::MobilizedBody::Free(matter_.updGround(), Transform(), trunk,
                                        Transform());
    }
    for (const LinkSpec& l : spec_.links) {
      const SimTK::Vec3 com = vec(l.com);
      const SimTK::Body::Rigid body(SimTK::MassProperties(
          l.mass, com, SimTK::Inertia(vec(l.inertia)).shiftFromMassCenter(com, l.mass)));
      SimTK::Rotation align;  // pins turn about z
      if (l.axis == 0) align = SimTK::Rotation(pi / 2, SimTK::YAxis);
      if (l.axis == 1) align = SimTK::Rotation(-pi / 2, SimTK::XAxis);
      SimTK::MobilizedBody parent =
          l.parent < 0
              ? base
              : matter_.updMobilizedBody(bodies_[static_cast<std::size_t>(l.parent)]);
      const SimTK::MobilizedBody::Pin pin(
          parent, Transform(SimTK::Rotation(l.roll, SimTK::XAxis) * align, vec(l.place)),
          body, Transform(align));
      bodies_.push_back(pin.getMobilizedBodyIndex());
    }
    // The subsystem owns and deletes them.
    SimTK::Force::Custom(forces_, new Motors(spec_, matter_, bodies_));
    SimTK::Force::Custom(forces_, new Contacts(spec_, matter_, bodies_));

    start_ = system_.realizeTopology();
    system_.realizeModel(start_);
    if (spec_.floating) {
      base.setQToFitTranslation(start_, SimTK::Vec3(0, 0, spec_.trunk_height));
    }
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      matter_.getMobilizedBody(bodies_[i]).setOneQ(start_, 0, spec_.links[i].start);
    }
    system_.realize(start_, SimTK::Stage::Acceleration);
    integrator_ =
        std::make_unique<SimTK::SemiExplicitEulerIntegrator>(system_, time_step);
    integrator_->setReturnEveryInternalStep(true);
    reset();
  }

  void reset() {
    integrator_->initialize(start_);
    // Its first call only reports the start and does not move.
    integrator_->stepBy(time_step);
  }

  void run(int steps) {
    for (int k = 0; k < steps; ++k) integrator_->stepBy(time_step);
  }

  double time() const { return integrator_->getState().getTime(); }

  std::vector<double> positions() const {
    const SimTK::State& state = integrator_->getState();
    const SimTK::Vector& q = state.getQ();
    std::vector<double> all;
    if (spec_.floating) all = {q[4], q[5], q[6], q[0], q[1], q[2], q[3]};
    for (const SimTK::MobilizedBodyIndex body : bodies_) {
      all.push_back(matter_.getMobilizedBody(body).getOneQ(state, 0));
    }
    return all;
  }

 private:
  RobotSpec spec_;
  SimTK::MultibodySystem system_;
  SimTK::SimbodyMatterSubsystem matter_{system_};
  SimTK::GeneralForceSubsystem forces_{system_};
  Bodies bodies_;
  SimTK::State start_;
  std::unique_ptr<SimTK::SemiExplicitEulerIntegrator> integrator_;
};

}  // namespace

Driver simbody(const RobotSpec& robot) {
  const auto theirs = std::make_shared<SimbodyRobot>(robot);
  return {"Simbody", [theirs] { theirs->reset(); },
          [theirs](int steps) { theirs->run(steps); },
          [theirs] { return theirs->time(); }, [theirs] { return theirs->positions(); }};
}

}  // namespace bristle::bench
