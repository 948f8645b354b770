#pragma once

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

#include "bristle/dynamics/inverse_inertia.hpp"

// Half rows of pushes on a tree, W with W Wᵀ = J M⁻¹ Jᵀ, by the velocities that they
// touch: those on the way from both links to the world, or to the first free joint, which
// gives way entirely.

namespace bristle {

/// Half rows over the same velocities, one after the other. Nothing is allocated after
/// the tree is known.
class HalfRows {
 public:
  HalfRows(const HalfRows&) = delete;
  HalfRows& operator=(const HalfRows&) = delete;
  explicit HalfRows(const Tree& tree)
      : dense_(detail::at(tree.velocity_count())),
        velocities_(dense_.size()),
        values_(most_rows * dense_.size()) {}

  static constexpr std::size_t most_rows = 4;

  /// Of pushes between the same two links, or of one on joint velocities, with the last
  /// factorisation.
  void find(const Tree& tree, const Workspace<double>& ws,
            std::span<const JacobianRow<double>> pushes) noexcept {
    assert(!pushes.empty() && pushes.size() <= most_rows);
    const JacobianRow<double>& first = pushes.front();
    if (first.dof >= 0) {
      collect(tree, ws, tree.dofs()[detail::at(first.dof)].link, world_link);
    } else if (!first.joints.empty()) {
      collect(tree, ws, first.joints);
    } else {
      collect(tree, ws, first.link_a, first.link_b);
    }
    double* to = values_.data();
    for (const JacobianRow<double>& push : pushes) {
      assert(push.link_a == first.link_a && push.link_b == first.link_b);
      for (const int v : touched_) dense_[detail::at(v)] = 0;
      detail::half_row(tree, ws, push, dense_.data());
      for (const int v : touched_) *to++ = dense_[detail::at(v)];
    }
    rows_ = pushes.size();
  }

  /// In ascending order.
  std::span<const int> velocities() const noexcept { return touched_; }
  std::span<const double> values() const noexcept {
    return {values_.data(), rows_ * touched_.size()};
  }

 private:
  /// The higher link first: parents have lower numbers, so that links that both ways
  /// share are met once.
  void collect(const Tree& tree, const Workspace<double>& ws, int a, int b) noexcept {
    std::size_t count = 0;
    while (a != world_link || b != world_link) {
      const int i = a > b ? a : b;
      const Link& link = tree.link(i);
      const bool ends = link.type == JointType::free && !ws.locked[detail::at(i)];
      if (!ws.locked[detail::at(i)]) {
        for (int k = 0; k < velocity_count(link.type); ++k) {
          velocities_[count++] = link.v + k;
        }
      }
      const int next = ends ? world_link : link.parent;
      if (a == i) a = next;
      if (b == i) b = next;
    }
    touched_ = std::span(velocities_).first(count);
    std::sort(velocities_.begin(), velocities_.begin() + static_cast<long>(count));
  }

  /// All that the ways from several joints to the world pass.
  void collect(const Tree& tree, const Workspace<double>& ws,
               std::span<const DofWeight> joints) noexcept {
    std::fill(dense_.begin(), dense_.end(), 0.0);
    for (const DofWeight& joint : joints) {
      collect(tree, ws, tree.dofs()[detail::at(joint.dof)].link, world_link);
      for (const int v : touched_) dense_[detail::at(v)] = 1;
    }
    std::size_t count = 0;
    for (std::size_t v = 0; v < dense_.size(); ++v) {
      if (dense_[v] != 0) velocities_[count++] = static_cast<int>(v);
    }
    touched_ = std::span(velocities_).first(count);
  }

  std::vector<double> dense_;
  std::vector<int> velocities_;
  std::vector<double> values_;
  std::span<const int> touched_;  // the first of velocities_
  std::size_t rows_ = 0;
};

}  // namespace bristle
