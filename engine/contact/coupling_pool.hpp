#pragma once

#include <string>

#include "bristle/contact/law_pool.hpp"
#include "bristle/dynamics/coupling_motion.hpp"
#include "bristle/dynamics/spring_rows.hpp"

namespace bristle {

/// Couplings as springs: −k (s − rest) − d ṡ. J of a sum is constant, so that an implicit
/// step counts it exactly. Springs with slack are rows of JointPool.
class CouplingPool {
 public:
  explicit CouplingPool(const Model& model) : model_(&model), motion_(model) {}

  std::size_t size() const { return model_->couplings.size(); }
  std::string name(std::size_t i) const {
    return "the coupling \"" + model_->couplings[i].name + "\"";
  }
  double stiffness(std::size_t i) const { return model_->couplings[i].stiffness; }

  SpringRows rows(const Placement& at, std::size_t i) const noexcept {
    const Coupling& coupling = model_->couplings[i];
    motion_.update(i, at.tree);
    // Without positions only rates are asked for.
    const double stretch =
        at.q.empty() && !coupling.moves() ? 0 : motion_.value(i, at.q) - coupling.rest;
    SpringRows rows;
    rows.count = 1;
    rows.row[0] = row_of_joints<double>(motion_.joints(i));
    rows.stiffness[0] = coupling.stiffness;
    rows.damping[0] = coupling.damping;
    rows.elastic[0] = -coupling.stiffness * stretch;
    return rows;
  }
  double energy(const Placement& at) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const Coupling& coupling = model_->couplings[i];
      if (!(coupling.stiffness > 0)) continue;
      motion_.update(i, at.tree);
      const double stretch = motion_.value(i, at.q) - coupling.rest;
      sum += 0.5 * coupling.stiffness * stretch * stretch;
    }
    return sum;
  }

 private:
  const Model* model_;
  mutable CouplingMotion motion_;  // where the last call had it
};

}  // namespace bristle
