#include "studies/camera.hpp"

#include "bristle/dynamics/kinematics.hpp"

namespace bristle::studies {

Camera::Camera(std::string title, const Model& model, double duration)
    : film{std::move(title), recording::make_header(model, {})},
      model_(&model),
      ws_(model.tree),
      interval_(duration / 2000) {}

void Camera::see(const State& now) {
  // The last sample takes the place of one that came too soon after another. A little
  // early is on time: samples are not exactly where they were asked for.
  const std::size_t n = film.times.size();
  if (n > 1 && film.times[n - 1] < film.times[n - 2] + 0.9 * interval_) {
    film.times.pop_back();
    film.poses.resize(film.poses.size() - model_->tree.bodies().size());
  }
  kinematics<double>(model_->tree, now.q, now.v, ws_);
  film.times.push_back(now.time);
  for (const Body& body : model_->tree.bodies()) {
    film.poses.push_back(body_pose(ws_, body));
  }
}

}  // namespace bristle::studies
