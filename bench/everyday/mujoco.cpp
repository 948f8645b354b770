#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "bench/everyday/driver.hpp"

namespace bristle::bench {

namespace {

struct Free {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};

double energy(const mjModel* model, mjData* data) {
  mj_energyPos(model, data);
  mj_energyVel(model, data);
  return data->energy[0] + data->energy[1];
}

}  // namespace

Everyday mujoco_everyday(const std::filesystem::path& file) {
  Everyday result;
  mju_user_warning = [](const char*) {};  // no log where the bench is run
  const std::unique_ptr<mjModel, Free> model(
      mj_loadXML(file.c_str(), nullptr, result.trouble, sizeof result.trouble));
  if (!model) {
    result.exit = 2;
    return result;
  }
  const std::unique_ptr<mjData, Free> data(mj_makeData(model.get()));
  const int speeds = mj_name2id(model.get(), mjOBJ_NUMERIC, "qvel");
  const double* start = model->numeric_data + model->numeric_adr[speeds];
  std::copy(start, start + model->nv, data->qvel);
  constexpr double end = 2, interval = 0.01;
  const double started = thread_seconds();
  mj_forward(model.get(), data.get());
  const double first = energy(model.get(), data.get());
  double rise = 0, least = first, most = first;
  for (double next = interval; data->time < end - 1e-9; next += interval) {
    while (data->time < next - 1e-9) mj_step(model.get(), data.get());
    const double now = energy(model.get(), data.get());
    rise = std::max(rise, now - first);
    least = std::min(least, now);
    most = std::max(most, now);
  }
  result.cpu = thread_seconds() - started;
  result.exit = data->warning[mjWARN_BADQACC].number == 0 ? 0 : 3;
  if (data->warning[mjWARN_CONTACTFULL].number > 0) {
    std::strcpy(result.trouble, "its contact buffer was full");
  }
  result.rise = rise / std::max(most - least, 1e-300);
  result.steps =
      static_cast<unsigned long>(std::lround(data->time / model->opt.timestep));
  for (int k = 0; k < model->nv; k += 6) {
    const double* v = data->qvel + k;
    result.speed = std::max(result.speed, std::hypot(v[0], v[1], v[2]));
  }
  return result;
}

}  // namespace bristle::bench
