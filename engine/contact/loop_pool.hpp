#pragma once

#include <span>
#include <string>
#include <vector>

#include "bristle/contact/law_pool.hpp"
#include "bristle/dynamics/loops.hpp"

namespace bristle {

/// The loops that are springs; rigid ones are held by step/loops.hpp.
class LoopPool {
 public:
  explicit LoopPool(const Model& model) : model_(&model), forces_(model.loops.size()) {
    for (std::size_t i = 0; i < model.loops.size(); ++i) {
      if (!model.loops[i].rigid) springs_.push_back(i);
    }
  }

  std::size_t size() const { return springs_.size(); }
  std::string name(std::size_t i) const { return "the loop \"" + loop(i).name + "\""; }
  double stiffness(std::size_t i) const { return loop(i).stiffness; }

  SpringRows rows(const Placement& at, std::size_t i) const noexcept {
    return spring_rows(loop(i), at.tree);
  }
  double energy(const Placement& at) const noexcept {
    return loop_energy(*model_, at.tree);
  }

  /// Forces act at the middle between the two ends, so that they add no moment.
  double scatter(const Placement& at, const ForceSink& to) noexcept {
    if (springs_.empty()) return 0;
    return add_loop_springs(*model_, at.tree, to.on_links, forces_);
  }
  /// Of every loop of the model that is a spring, as of the last scatter(): see
  /// System::loop_force.
  std::span<const Force<double>> forces() const { return forces_; }

 private:
  const Loop& loop(std::size_t i) const { return model_->loops[springs_[i]]; }

  const Model* model_;
  std::vector<std::size_t> springs_;
  std::vector<Force<double>> forces_;
};

}  // namespace bristle
