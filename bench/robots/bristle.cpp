#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/dynamics/robots.hpp"
#include "bench/robots/driver.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/step/fixed_step.hpp"

namespace bristle::bench {

namespace {

/// The robot as a user would set it up: motors, spheres on a plane, laws of the registry.
Model make_model(const RobotSpec& robot, TreeBuilder tree, const std::string& prefix,
                 const std::vector<std::string>& feet) {
  ModelBuilder builder(std::move(tree));
  builder.add_shape(
      {.name = "ground", .shape = Plane{}, .pose = {.p = {0, 0, robot.ground}}});
  for (std::size_t i = 0; i < feet.size(); ++i) {
    const FootSpec& foot = robot.feet[i];
    builder.add_shape({.name = "foot" + std::to_string(i),
                       .body = feet[i],
                       .shape = Sphere{foot.radius},
                       .pose = {.p = load_vec3(foot.centre)}});
  }
  builder.add_contact(
      {.a = "ground",
       .b = "*",
       .normal = choose<HuntCrossley>({.stiffness = stiffness(robot.feet[0]),
                                       .exponent = 1.5,
                                       .dissipation = dissipation}),
       .friction = choose<Coulomb>({.mu_static = friction,
                                    .mu_coulomb = friction,
                                    .viscous = 0,
                                    .stribeck_speed = 1,
                                    .regularisation_speed = slip_speed,
                                    .regularisation = 0}),
       .share_a = 0.5});
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const std::string joint = robot.floating ? (i % 3 == 0   ? "abduct"
                                                : i % 3 == 1 ? "flex"
                                                             : "knee") +
                                                   std::to_string(i / 3)
                                             : prefix + std::to_string(i + 1);
    builder.add_motor({.name = "motor" + std::to_string(i),
                       .joint = joint,
                       .kind = MotorKind::position,
                       .kp = robot.links[i].kp,
                       .kd = robot.links[i].kd});
  }
  Result<Model> model = builder.build();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    std::exit(1);
  }
  return *std::move(model);
}

class BristleRobot {
 public:
  BristleRobot(const RobotSpec& robot, Model model, Method method)
      : spec_(robot),
        model_(std::move(model)),
        clock_(model_, {.method = method, .step = time_step}),
        commands_(model_.motors.size()) {
    reset();
  }

  void reset() {
    state_ = make_state(model_);
    if (spec_.floating) state_.q[2] = spec_.trunk_height;
    const std::size_t first = state_.q.size() - spec_.links.size();
    for (std::size_t i = 0; i < spec_.links.size(); ++i) {
      state_.q[first + i] = spec_.links[i].start;
    }
  }

  void step() {
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      commands_[i].target = reference(spec_, i, state_.time);
    }
    if (clock_.step(state_, commands_) != StepStatus::ok) std::abort();
  }

  double time() const { return state_.time; }
  const std::vector<double>& positions() const { return state_.q; }

 private:
  RobotSpec spec_;
  Model model_;
  FixedStep clock_;
  State state_;
  std::vector<MotorCommand> commands_;
};

Driver driver(const RobotSpec& robot, Model model, OurStep how) {
  const Method method = how == OurStep::semi_implicit ? Method::semi_implicit_euler
                        : how == OurStep::linearly_implicit
                            ? Method::linearly_implicit_euler
                            : Method::complementarity;
  const auto ours = std::make_shared<BristleRobot>(robot, std::move(model), method);
  const char* name = how == OurStep::semi_implicit       ? "bristle"
                     : how == OurStep::linearly_implicit ? "bristle implicit"
                                                         : "bristle impulses";
  return {name, [ours] { ours->reset(); },
          [ours](int steps) {
            for (int k = 0; k < steps; ++k) ours->step();
          },
          [ours] { return ours->time(); }, [ours] { return ours->positions(); }};
}

}  // namespace

Driver bristle_arm(OurStep how) {
  const RobotSpec robot = arm_spec();
  return driver(robot, make_model(robot, arm7_builder(), "to link", {"link7"}), how);
}

Driver bristle_quadruped(OurStep how) {
  const RobotSpec robot = quadruped_spec();
  return driver(robot,
                make_model(robot, quadruped12_builder(), "",
                           {"shank0", "shank1", "shank2", "shank3"}),
                how);
}

}  // namespace bristle::bench
