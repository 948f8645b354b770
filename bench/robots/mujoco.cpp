#include <mujoco/mujoco.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "bench/robots/driver.hpp"

namespace bristle::bench {

namespace {

std::string text(const double (&x)[3]) {
  std::ostringstream out;
  out.precision(17);
  out << x[0] << ' ' << x[1] << ' ' << x[2];
  return out.str();
}

/// The end of a geom; friction against turning as MuJoCo has it by default.
std::string rubbing() {
  std::ostringstream out;
  out << "' friction='" << friction << " 0.005 0.0001'/>";
  return out.str();
}

/// The bodies that hang from a link, with all that hangs from them.
void write_bodies(std::ostringstream& out, const RobotSpec& robot, int parent) {
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    const LinkSpec& l = robot.links[i];
    if (l.parent != parent) continue;
    out << "<body pos='" << text(l.place) << "' euler='" << l.roll
        << " 0 0'><inertial pos='" << text(l.com) << "' mass='" << l.mass
        << "' diaginertia='" << text(l.inertia) << "'/><joint type='hinge' axis='"
        << (l.axis == 0) << ' ' << (l.axis == 1) << ' ' << (l.axis == 2) << "'/>";
    for (const FootSpec& foot : robot.feet) {
      if (foot.link != static_cast<int>(i)) continue;
      out << "<geom type='sphere' size='" << foot.radius << "' pos='" << text(foot.centre)
          << rubbing();
    }
    write_bodies(out, robot, static_cast<int>(i));
    out << "</body>";
  }
}

std::string to_xml(const RobotSpec& robot, const std::string& solver) {
  std::ostringstream out;
  out.precision(17);
  out << "<mujoco><compiler angle='radian'/><option timestep='" << time_step
      << "' gravity='0 0 " << -gravity << "' solver='" << solver
      << "' integrator='Euler'/><worldbody><geom type='plane' size='5 5 1' pos='0 0 "
      << robot.ground << rubbing();
  if (robot.floating) {
    out << "<body pos='0 0 " << robot.trunk_height
        << "'><freejoint/><inertial pos='0 0 0' mass='" << robot.trunk_mass
        << "' diaginertia='" << text(robot.trunk_inertia) << "'/>";
  }
  write_bodies(out, robot, -1);
  out << (robot.floating ? "</body>" : "") << "</worldbody></mujoco>";
  return out.str();
}

class MujocoRobot {
 public:
  MujocoRobot(const RobotSpec& robot, const std::string& solver)
      : spec_(robot), first_q_(robot.floating ? 7 : 0), first_v_(robot.floating ? 6 : 0) {
    const std::string xml = to_xml(robot, solver);
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "robot.xml", static_cast<int>(xml.size()));
    std::memcpy(files->filedata[0], xml.data(), xml.size());
    char message[1000] = "";
    model_.reset(mj_loadXML("robot.xml", files.get(), message, sizeof message));
    mj_deleteVFS(files.get());
    if (!model_) throw std::runtime_error(message);
    data_.reset(mj_makeData(model_.get()));
    reset();
  }

  void reset() {
    mj_resetData(model_.get(), data_.get());
    for (std::size_t i = 0; i < spec_.links.size(); ++i) {
      data_->qpos[first_q_ + i] = spec_.links[i].start;
    }
  }

  void step() {
    mjData& d = *data_;
    for (std::size_t i = 0; i < spec_.links.size(); ++i) {
      const LinkSpec& l = spec_.links[i];
      d.qfrc_applied[first_v_ + i] =
          l.kp * (reference(spec_, i, d.time) - d.qpos[first_q_ + i]) -
          l.kd * d.qvel[first_v_ + i];
    }
    mj_step(model_.get(), data_.get());
  }

  double time() const { return data_->time; }

  std::vector<double> positions() const {
    return {data_->qpos, data_->qpos + first_q_ + spec_.links.size()};
  }

 private:
  struct Free {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  RobotSpec spec_;
  std::size_t first_q_, first_v_;  // of the joints, after the trunk's
  std::unique_ptr<mjModel, Free> model_;
  std::unique_ptr<mjData, Free> data_;
};

}  // namespace

Driver mujoco(const RobotSpec& robot, const std::string& solver) {
  const auto theirs = std::make_shared<MujocoRobot>(robot, solver);
  return {"MuJoCo " + solver, [theirs] { theirs->reset(); },
          [theirs](int steps) {
            for (int k = 0; k < steps; ++k) theirs->step();
          },
          [theirs] { return theirs->time(); }, [theirs] { return theirs->positions(); }};
}

}  // namespace bristle::bench
