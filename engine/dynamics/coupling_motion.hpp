#pragma once

#include <algorithm>
#include <vector>

#include "bristle/dynamics/workspace.hpp"
#include "bristle/model/model.hpp"

// Where couplings are. A sum of joint positions has constant weights. The length of a
// path and the wrench at a place depend on where the bodies are; how joint velocities
// change them (moment arms) is found after kinematics().

namespace bristle {

class CouplingMotion {
 public:
  explicit CouplingMotion(const Model& model) : model_(&model) {
    std::size_t most = 0;
    for (const Coupling& coupling : model.couplings) {
      first_.push_back(arms_.size());
      lengths_.push_back(0);
      if (!coupling.moves()) continue;
      any_ = true;
      arms_.insert(arms_.end(), coupling.joints.begin(), coupling.joints.end());
      most = std::max(most, 4 * coupling.path.size() + 1);
    }
    pulls_.reserve(most);
  }

  /// All couplings, after kinematics().
  void update(const Workspace<double>& ws) noexcept {
    if (!any_) return;
    for (std::size_t i = 0; i < model_->couplings.size(); ++i) update(i, ws);
  }
  void update(std::size_t i, const Workspace<double>& ws) noexcept {
    const Coupling& coupling = model_->couplings[i];
    if (!coupling.moves()) return;
    const std::span<DofWeight> arms{arms_.data() + first_[i], coupling.joints.size()};
    for (DofWeight& arm : arms) arm.weight = 0;
    pulls_.clear();
    if (!coupling.path.empty()) {
      lengths_[i] = follow_path(coupling.path, ws.poses, pulls_);
      for (const PathPull& pull : pulls_) {
        const Vec3<double> arm =
            pull.point - ws.poses[static_cast<std::size_t>(pull.link)].p;
        add(pull.link, {cross(arm, pull.force), pull.force}, coupling.stem, ws, arms);
      }
      return;
    }
    const auto link = static_cast<std::size_t>(coupling.wrench_link);
    const Transform<double> pose = ws.poses[link] * coupling.wrench_pose;
    const Vec3<double> force = pose.R * coupling.wrench.force;
    const Vec3<double> torque = pose.R * coupling.wrench.torque;
    add(coupling.wrench_link, {torque + cross(pose.p - ws.poses[link].p, force), force},
        coupling.stem, ws, arms);
  }

  /// The sum, or the length, of coupling i; 0 of a wrench.
  double value(std::size_t i, std::span<const double> q) const noexcept {
    const Coupling& coupling = model_->couplings[i];
    return coupling.moves() ? lengths_[i] : coupling.value(q);
  }
  double rate(std::size_t i, std::span<const double> v) const noexcept {
    double u = 0;
    for (const DofWeight& j : joints(i)) {
      u += j.weight * v[static_cast<std::size_t>(j.dof)];
    }
    return u;
  }
  /// How its value changes with the velocities.
  std::span<const DofWeight> joints(std::size_t i) const noexcept {
    const Coupling& coupling = model_->couplings[i];
    if (!coupling.moves()) return coupling.joints;
    return {arms_.data() + first_[i], coupling.joints.size()};
  }

 private:
  /// A force on a link, about its origin, as forces on the joints below it down to the
  /// stem.
  void add(int link, Force<double> f, int stem, const Workspace<double>& ws,
           std::span<DofWeight> arms) noexcept {
    const Tree& tree = model_->tree;
    for (int i = link; i != stem && i != world_link; i = tree.link(i).parent) {
      const Link& above = tree.link(i);
      const auto first =
          std::lower_bound(arms.begin(), arms.end(), above.v,
                           [](const DofWeight& a, int dof) { return a.dof < dof; });
      for (int k = 0; k < velocity_count(above.type); ++k) {
        const int dof = above.v + k;
        const Vec3<double>& axis = ws.dofs[static_cast<std::size_t>(dof)].axis;
        first[k].weight += dot(axis, is_linear(above.type, k) ? f.force : f.torque);
      }
      f = shifted_back(f, ws.links[static_cast<std::size_t>(i)].arm);
    }
  }

  const Model* model_;
  bool any_ = false;
  std::vector<std::size_t> first_;  // of its arms, by coupling
  std::vector<double> lengths_;     // the same
  std::vector<DofWeight> arms_;
  std::vector<PathPull> pulls_;
};

}  // namespace bristle
