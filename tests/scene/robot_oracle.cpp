#include "tests/scene/robot_oracle.hpp"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace bristle::test {

namespace {

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

Model load(const std::string& path, const mjVFS& files) {
  char message[1000] = "";
  Model model(mj_loadXML(path.c_str(), &files, message, sizeof message), &mj_deleteModel);
  if (!model) throw std::runtime_error(message);
  return model;
}

}  // namespace

struct RobotOracle::Inside {
  Model model;
  Data data;
};

RobotOracle::RobotOracle(const std::string& path, const std::string& text) {
  std::string file = path;
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  if (!text.empty()) {
    file = "robot" + path.substr(path.rfind('.'));
    mj_makeEmptyFileVFS(files.get(), file.c_str(), static_cast<int>(text.size()));
    std::memcpy(files->filedata[0], text.data(), text.size());
  }
  Model model = load(file, *files);
  mj_deleteVFS(files.get());
  Data data(mj_makeData(model.get()), &mj_deleteData);
  const mjModel& m = *model;
  positions = m.nq;
  velocities = m.nv;
  std::copy(m.opt.gravity, m.opt.gravity + 3, gravity);
  for (int b = 1; b < m.nbody; ++b) moving_mass += m.body_mass[b];
  for (int j = 0; j < m.njnt; ++j) {
    const int q = m.jnt_qposadr[j];
    const int v = m.jnt_dofadr[j];
    const char* name = mj_id2name(&m, mjOBJ_JOINT, j);
    joints.push_back({name == nullptr ? "" : name,
                      "fbsh"[m.jnt_type[j]],
                      q,
                      v,
                      m.jnt_type[j] >= mjJNT_SLIDE ? m.qpos0[q] : 0,
                      m.jnt_limited[j] != 0,
                      {m.jnt_range[2 * j], m.jnt_range[2 * j + 1]},
                      m.dof_damping[v],
                      m.dof_frictionloss[v],
                      m.dof_armature[v],
                      m.jnt_stiffness[j],
                      m.qpos_spring[q]});
  }
  for (int t = 0; t < m.ntendon; ++t) {
    const char* name = mj_id2name(&m, mjOBJ_TENDON, t);
    tendon_names.emplace_back(name == nullptr ? "" : name);
  }
  if (m.nkey > 0) {
    key_qpos.assign(m.key_qpos, m.key_qpos + m.nq);
    key_qvel.assign(m.key_qvel, m.key_qvel + m.nv);
  }
  inside_ = std::make_unique<Inside>(Inside{std::move(model), std::move(data)});
}

RobotOracle::~RobotOracle() = default;

RobotState RobotOracle::at(const std::vector<double>& qpos,
                           const std::vector<double>& qvel) {
  const mjModel& m = *inside_->model;
  mjData& d = *inside_->data;
  std::copy(qpos.begin(), qpos.end(), d.qpos);
  std::copy(qvel.begin(), qvel.end(), d.qvel);
  if (m.nkey > 0) std::copy(m.key_ctrl, m.key_ctrl + m.nu, d.ctrl);
  // Filters are at rest; those of the last actuators.
  for (int i = 0; i < m.na; ++i) d.act[i] = d.ctrl[m.nu - m.na + i];
  mj_forward(&m, &d);
  RobotState state;
  state.driven.assign(d.qfrc_actuator, d.qfrc_actuator + m.nv);
  state.passive.assign(d.qfrc_passive, d.qfrc_passive + m.nv);
  state.lengths.assign(d.ten_length, d.ten_length + m.ntendon);
  for (int t = 0; t < m.ntendon; ++t) {
    state.tendons.push_back(d.ten_length[t] - m.tendon_length0[t]);
  }
  const auto n = static_cast<std::size_t>(m.nv);
  state.mass_matrix.resize(n * n);
  mj_fullM(&m, state.mass_matrix.data(), d.qM);
  state.bias.assign(d.qfrc_bias, d.qfrc_bias + m.nv);
  for (int g = 0; g < m.ngeom; ++g) {
    const char* name = mj_id2name(&m, mjOBJ_GEOM, g);
    RobotGeom geom{};
    geom.name = name == nullptr ? "" : name;
    geom.kind = "phsceybm"[m.geom_type[g]];
    std::copy(m.geom_size + 3 * g, m.geom_size + 3 * g + 3, geom.size);
    std::copy(d.geom_xpos + 3 * g, d.geom_xpos + 3 * g + 3, geom.position);
    std::copy(d.geom_xmat + 9 * g, d.geom_xmat + 9 * g + 9, &geom.rotation[0][0]);
    if (geom.kind == 'm') {
      const int mesh = m.geom_dataid[g];
      for (int i = 0; i < m.mesh_vertnum[mesh]; ++i) {
        const float* v = m.mesh_vert + 3 * (m.mesh_vertadr[mesh] + i);
        for (int k = 0; k < 3; ++k) {
          double x = geom.position[k];
          for (int c = 0; c < 3; ++c)
            x += geom.rotation[k][c] * static_cast<double>(v[c]);
          geom.low[k] = i == 0 ? x : std::min(geom.low[k], x);
          geom.high[k] = i == 0 ? x : std::max(geom.high[k], x);
        }
      }
    }
    state.geoms.push_back(geom);
  }
  for (int s = 0; s < m.nsensor; ++s) {
    const char* name = mj_id2name(&m, mjOBJ_SENSOR, s);
    const double* first = d.sensordata + m.sensor_adr[s];
    state.sensors[name == nullptr ? "" : name].assign(first, first + m.sensor_dim[s]);
  }
  return state;
}

}  // namespace bristle::test
