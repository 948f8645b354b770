#include "bristle/step/ledger.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

double losses(const Powers<double>& works) { return dissipated(works); }

}  // namespace

double Ledger::dissipated() const {
  return losses(works.normal) + losses(works.friction) + losses(works.limits) +
         losses(works.joint_friction) + works.dampers + works.loops + works.numerical +
         works.rolling + works.spin;
}

double Ledger::supplied() const {
  return sources(works.normal) + sources(works.friction) + sources(works.limits) +
         sources(works.joint_friction) + works.motors + works.loads + works.regenerated +
         works.projection;
}

double Ledger::unsupplied() const {
  return works.normal.unsupplied + works.friction.unsupplied + works.limits.unsupplied +
         works.joint_friction.unsupplied;
}

Ledger make_ledger(System& system, const State& state) noexcept {
  const Model& model = *system.model;
  Ledger ledger;
  ledger.kinetic = kinetic_energy<double>(model.tree, state.v, system.tree);
  ledger.gravity = gravity_energy<double>(model.tree, system.tree);
  ledger.springs = spring_energy<double>(model.tree, state.q);
  const PoolSums sums = settled_forces(system, state);
  ledger.normal = sums.contacts.normal.stored;
  ledger.friction = sums.contacts.friction.stored;
  ledger.limits = sums.joints.normal.stored;
  ledger.joint_friction = sums.joints.friction.stored;
  ledger.loops = energy_of(system.pools.springs, system.placement(state.q, state.v));
  ledger.works = state.works;
  return ledger;
}

void Audit::observe(const Ledger& ledger) noexcept {
  if (!begun_) {
    first_ = ledger;
    begun_ = true;
  }
  last_ = ledger;
  const double dissipated = ledger.dissipated() - first_.dissipated();
  const double supplied = ledger.supplied() - first_.supplied();
  residual_ = ledger.energy() - first_.energy() + dissipated - supplied;
  worst_ = std::max(worst_, std::abs(residual_));
  unsupplied_ = ledger.unsupplied() - first_.unsupplied();
  worst_unsupplied_ = std::max(worst_unsupplied_, std::abs(unsupplied_));
  // Not below the rounding errors of a potential whose changes are small.
  scale_ = std::max({scale_, 1e-9 * std::abs(ledger.gravity),
                     ledger.kinetic + ledger.stored() +
                         std::abs(ledger.gravity - first_.gravity) + dissipated -
                         std::max(unsupplied_, 0.0)});
}

}  // namespace bristle
