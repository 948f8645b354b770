// The engine's tree dynamics with the contact law of this workload in the loop, until the
// engine steps scenes by itself.

#include <memory>

#include "bench/dynamics/robots.hpp"
#include "bench/robots/driver.hpp"
#include "bristle/model/positions.hpp"

namespace bristle::bench {

namespace {

struct Foot {
  int link;
  Vec3<double> centre;  // in the link's frame
  double radius;
  double stiffness;
};

class BristleRobot {
 public:
  BristleRobot(const RobotSpec& robot, Tree tree, const std::vector<std::string>& feet)
      : spec_(robot),
        tree_(std::move(tree)),
        ws_(tree_),
        tau_(ws_.dofs.size(), 0.0),
        acceleration_(ws_.dofs.size()),
        forces_(ws_.links.size(), Force<double>::zero()) {
    for (std::size_t i = 0; i < feet.size(); ++i) {
      const Body& body = *tree_.find_body(feet[i]);
      const FootSpec& foot = spec_.feet[i];
      feet_.push_back({body.link, body.in_link * load_vec3(foot.centre), foot.radius,
                       stiffness(foot)});
    }
    reset();
  }

  void reset() {
    q_ = tree_.neutral();
    v_.assign(tau_.size(), 0.0);
    t_ = 0;
    if (spec_.floating) q_[2] = spec_.trunk_height;
    const std::size_t first = q_.size() - spec_.links.size();
    for (std::size_t i = 0; i < spec_.links.size(); ++i) {
      q_[first + i] = spec_.links[i].start;
    }
  }

  void step(double h) {
    kinematics(tree_, q_, v_, ws_);
    drive();
    touch();
    forward_dynamics(tree_, v_, tau_, forces_, ws_, acceleration_);
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] += h * acceleration_[i];
    integrate<double>(tree_, q_, v_, h);
    t_ += h;
  }

  double time() const { return t_; }
  const std::vector<double>& positions() const { return q_; }

 private:
  void drive() {
    const std::size_t first_q = q_.size() - spec_.links.size();
    const std::size_t first_v = v_.size() - spec_.links.size();
    for (std::size_t i = 0; i < spec_.links.size(); ++i) {
      const LinkSpec& l = spec_.links[i];
      tau_[first_v + i] =
          l.kp * (reference(spec_, i, t_) - q_[first_q + i]) - l.kd * v_[first_v + i];
    }
  }

  void touch() {
    for (const Foot& foot : feet_) {
      forces_[static_cast<std::size_t>(foot.link)] = Force<double>::zero();
      const Vec3<double> centre =
          ws_.poses[static_cast<std::size_t>(foot.link)] * foot.centre;
      const double depth = spec_.ground + foot.radius - centre.z;
      if (depth <= 0) continue;
      const Vec3<double> point{centre.x, centre.y,
                               centre.z - (foot.radius - 0.5 * depth)};
      const Vec3<double> v = point_velocity(ws_, foot.link, point);
      const double f = std::max(
          0.0, foot.stiffness * depth * std::sqrt(depth) * (1 - dissipation * v.z));
      const double g =
          friction * f / std::max(std::sqrt(v.x * v.x + v.y * v.y), slip_speed);
      add_force_at<double>(ws_, foot.link, point, {-g * v.x, -g * v.y, f}, forces_);
    }
  }

  RobotSpec spec_;
  Tree tree_;
  Workspace<double> ws_;
  std::vector<Foot> feet_;
  std::vector<double> q_, v_, tau_, acceleration_;
  std::vector<Force<double>> forces_;  // on the links, from the contacts
  double t_ = 0;
};

Driver driver(const RobotSpec& robot, Tree tree, const std::vector<std::string>& feet) {
  const auto ours = std::make_shared<BristleRobot>(robot, std::move(tree), feet);
  return {"bristle", [ours] { ours->reset(); },
          [ours](int steps) {
            for (int k = 0; k < steps; ++k) ours->step(time_step);
          },
          [ours] { return ours->time(); }, [ours] { return ours->positions(); }};
}

}  // namespace

Driver bristle_arm() { return driver(arm_spec(), arm7(), {"link7"}); }

Driver bristle_quadruped() {
  return driver(quadruped_spec(), quadruped12(),
                {"shank0", "shank1", "shank2", "shank3"});
}

}  // namespace bristle::bench
