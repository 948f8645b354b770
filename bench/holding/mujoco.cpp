#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "bench/holding/driver.hpp"

namespace bristle::bench {

namespace {

std::string to_xml(double time_constant) {
  std::ostringstream out;
  out.precision(17);
  std::ostringstream contact;
  contact << "' condim='3' friction='" << friction << "' solref='" << time_constant
          << " 1'";
  const double apart = capsule_radius + finger_radius;
  out << "<mujoco><option timestep='" << time_step << "' gravity='0 0 " << -gravity
      << "' cone='elliptic' impratio='10' noslip_iterations='10' solver='Newton'/>"
      << "<worldbody><body><freejoint/><geom type='capsule' size='" << capsule_radius
      << ' ' << capsule_half << "' mass='" << capsule_mass << contact.str()
      << "/></body>";
  for (const bool left : {true, false}) {
    out << "<body pos='" << (left ? -apart : apart) << " 0 " << finger_height
        << "'><joint type='slide' axis='1 0 0' stiffness='"
        << (left ? holding_stiffness : 0) << "' damping='"
        << (left ? holding_damping : pressing_damping) << "'/><geom type='sphere' size='"
        << finger_radius << "' mass='" << finger_mass << contact.str() << "/></body>";
  }
  out << "</worldbody></mujoco>";
  return out.str();
}

struct Theirs {
  struct Free {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  std::unique_ptr<mjModel, Free> model;
  std::unique_ptr<mjData, Free> data;

  explicit Theirs(double time_constant) {
    const std::string xml = to_xml(time_constant);
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "capsule.xml", static_cast<int>(xml.size()));
    std::memcpy(files->filedata[0], xml.data(), xml.size());
    char message[1000] = "";
    model.reset(mj_loadXML("capsule.xml", files.get(), message, sizeof message));
    mj_deleteVFS(files.get());
    if (!model) throw std::runtime_error(message);
    data.reset(mj_makeData(model.get()));
    data->qfrc_applied[7] = -press;  // after the capsule's six and the other finger
  }
};

}  // namespace

Holding mujoco_holding(double time_constant) {
  const auto theirs = std::make_shared<Theirs>(time_constant);
  std::ostringstream name;
  name << "MuJoCo, time constant " << 1e3 * time_constant << " ms";
  return {name.str(), [theirs] { mj_step(theirs->model.get(), theirs->data.get()); },
          [theirs]() -> std::array<double, 3> {
            const double* q = theirs->data->qpos;
            return {q[0], q[1], q[2]};
          },
          [theirs] {
            const double* v = theirs->data->qvel;
            const double capsule = std::hypot(v[0], v[1], v[2]);
            return std::max({capsule, std::abs(v[6]), std::abs(v[7])});
          }};
}

}  // namespace bristle::bench
