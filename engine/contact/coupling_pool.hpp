#pragma once

#include <string>

#include "bristle/contact/law_pool.hpp"
#include "bristle/dynamics/spring_rows.hpp"

namespace bristle {

/// Couplings as springs: −k (s − rest) − d ṡ along s = Σ w q. J is constant, so that an
/// implicit step counts them exactly.
class CouplingPool {
 public:
  explicit CouplingPool(const Model& model) : model_(&model) {}

  std::size_t size() const { return model_->couplings.size(); }
  std::string name(std::size_t i) const {
    return "the coupling \"" + model_->couplings[i].name + "\"";
  }
  double stiffness(std::size_t i) const { return model_->couplings[i].stiffness; }

  SpringRows rows(const Placement& at, std::size_t i) const noexcept {
    const Coupling& coupling = model_->couplings[i];
    SpringRows rows;
    rows.count = 1;
    rows.row[0] = row_of_joints<double>(coupling.joints);
    rows.stiffness[0] = coupling.stiffness;
    rows.damping[0] = coupling.damping;
    // Without positions only rates are asked for.
    rows.elastic[0] =
        at.q.empty() ? 0 : -coupling.stiffness * (coupling.value(at.q) - coupling.rest);
    return rows;
  }
  double energy(const Placement& at) const noexcept {
    double sum = 0;
    for (const Coupling& coupling : model_->couplings) {
      const double stretch = coupling.value(at.q) - coupling.rest;
      sum += 0.5 * coupling.stiffness * stretch * stretch;
    }
    return sum;
  }

 private:
  const Model* model_;
};

}  // namespace bristle
