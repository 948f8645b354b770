#pragma once

#include "bristle/dynamics/workspace.hpp"
#include "bristle/model/state.hpp"
#include "report/film.hpp"

namespace bristle::studies {

/// Films a motion: shown the samples of a run, it keeps some two thousand.
class Camera {
 public:
  Camera(std::string title, const Model& model, double duration);

  void see(const State& now);

  report::Film film;

 private:
  const Model* model_;
  Workspace<double> ws_;
  double interval_;
};

}  // namespace bristle::studies
