// C++17: its headers do not compile as C++20, so this file sees none of the engine's.

#include <Simbody.h>

#include <cmath>
#include <ctime>
#include <memory>

#include "bench/bounce/spec.hpp"

namespace bristle::bench::bounce {

namespace {

constexpr double patience = 20;  // [s] of the machine's time for one run

double seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The weight and the law, along the slider.
class Ground : public SimTK::Force::Custom::Implementation {
 public:
  explicit Ground(const SimTK::MobilizedBody& ball) : ball_(ball) {}

  void calcForce(const SimTK::State& state, SimTK::Vector_<SimTK::SpatialVec>&,
                 SimTK::Vector_<SimTK::Vec3>&, SimTK::Vector& forces) const override {
    ++evaluations;
    const double depth = -ball_.getOneQ(state, 0), rate = -ball_.getOneU(state, 0);
    double force = -mass * gravity;
    if (depth > 0) {
      force += std::max(0.0, std::sqrt(depth) * (stiffness * depth + damping * rate));
    }
    ball_.applyOneMobilityForce(state, 0, force, forces);
  }
  SimTK::Real calcPotentialEnergy(const SimTK::State&) const override { return 0; }

  mutable std::uint64_t evaluations = 0;

 private:
  const SimTK::MobilizedBody& ball_;
};

class Ball {
 public:
  Ball() {
    const SimTK::Body::Rigid body(
        SimTK::MassProperties(mass, SimTK::Vec3(0), SimTK::Inertia(1e-5)));
    ball_ = SimTK::MobilizedBody::Slider(matter_.updGround(), SimTK::Transform(), body,
                                         SimTK::Transform());
    ground_ = new Ground(ball_);  // the subsystem owns and deletes it
    SimTK::Force::Custom(forces_, ground_);
    start_ = system_.realizeTopology();
    system_.realizeModel(start_);
    ball_.setOneQ(start_, 0, drop);
  }

  template <class Integrator>
  Outcome run(double accuracy, double until) {
    Outcome outcome;
    Integrator integrator(system_);
    integrator.setAccuracy(accuracy);
    integrator.setReturnEveryInternalStep(true);
    integrator.setFinalTime(until);
    ground_->evaluations = 0;
    const double begin = seconds();
    double t = 0, z = drop, v = 0;
    try {
      integrator.initialize(start_);
      while (integrator.getTime() < until) {
        integrator.stepTo(until);
        const SimTK::State& now = integrator.getState();
        const double next_z = ball_.getOneQ(now, 0), next_v = ball_.getOneU(now, 0);
        // It came down, or came and went within the step. It fell freely until then.
        if (z > 0 && (next_z <= 0 || (v < 0 && next_v > 0))) {
          outcome.touches.push_back(t +
                                    (v + std::sqrt(v * v + 2 * gravity * z)) / gravity);
        }
        t = now.getTime();
        z = next_z;
        v = next_v;
        if (seconds() - begin > patience) {
          outcome.trouble = "took too long";
          break;
        }
      }
    } catch (const std::exception& error) {
      outcome.trouble = error.what();
    }
    outcome.time = t;
    outcome.height = z;
    outcome.steps = static_cast<std::uint64_t>(integrator.getNumStepsTaken());
    outcome.evaluations = ground_->evaluations;
    return outcome;
  }

 private:
  SimTK::MultibodySystem system_;
  SimTK::SimbodyMatterSubsystem matter_{system_};
  SimTK::GeneralForceSubsystem forces_{system_};
  SimTK::MobilizedBody::Slider ball_;
  Ground* ground_ = nullptr;
  SimTK::State start_;
};

template <class Integrator>
void add(std::vector<Contestant>& all, const std::shared_ptr<Ball>& ball,
         const char* name, const std::vector<double>& tolerances) {
  for (const double accuracy : tolerances) {
    all.push_back({name, accuracy,
                   [=](double until) { return ball->run<Integrator>(accuracy, until); }});
  }
}

}  // namespace

std::vector<Contestant> simbody(const std::vector<double>& tolerances) {
  const auto ball = std::make_shared<Ball>();
  std::vector<Contestant> all;
  add<SimTK::RungeKuttaMersonIntegrator>(all, ball, "Simbody, RungeKuttaMerson",
                                         tolerances);
  add<SimTK::CPodesIntegrator>(all, ball, "Simbody, CPodes", tolerances);
  return all;
}

std::vector<Contestant> simbody_others(const std::vector<double>& tolerances) {
  const auto ball = std::make_shared<Ball>();
  std::vector<Contestant> all;
  add<SimTK::RungeKuttaFeldbergIntegrator>(all, ball, "Simbody, RungeKuttaFeldberg",
                                           tolerances);
  add<SimTK::SemiExplicitEuler2Integrator>(all, ball, "Simbody, SemiExplicitEuler2",
                                           tolerances);
  return all;
}

}  // namespace bristle::bench::bounce
