#pragma once

#include <array>
#include <span>

#include "bristle/contact/law_pool.hpp"
#include "bristle/dynamics/loops.hpp"

// The pool of loops that are springs (rigid ones are held by step/loops.hpp). They have
// neither laws nor memory: their forces follow from positions and velocities alone.

namespace bristle {

class LoopPool {
 public:
  struct Rows {};  // nothing to remember
  static constexpr int most_rows = 6;

  explicit LoopPool(const Model& model) : model_(&model) {
    for (std::size_t i = 0; i < model.loops.size(); ++i) {
      if (!model.loops[i].rigid) springs_.push_back(i);
    }
  }

  /// How many loops are springs, and which loop of the model each one is.
  std::size_t size() const { return springs_.size(); }
  std::size_t loop(std::size_t i) const { return springs_[i]; }

  /// Adds the forces of all springs; returns what their dampers take [W].
  double scatter(const Placement& at, LoopWorkspace& loops,
                 const ForceSink& to) const noexcept {
    return springs_.empty() ? 0 : add_loop_springs(*model_, at.tree, to.on_links, loops);
  }

  /// The directions in which spring i gives way: rows of J, stiffness and damping.
  SpringRows rows(const Placement& at, std::size_t i) const noexcept {
    return spring_rows(model_->loops[springs_[i]], at.tree);
  }
  int jacobian(const Placement& at, std::size_t i,
               std::span<JacobianRow<double>> out) const noexcept {
    const SpringRows found = rows(at, i);
    std::copy_n(found.row, found.count, out.begin());
    return found.count;
  }
  int dense_jacobian(const Tree& tree, const Placement& at, std::size_t i,
                     std::span<double> out, std::span<double>) const noexcept {
    const SpringRows found = rows(at, i);
    const auto n = static_cast<std::size_t>(tree.velocity_count());
    for (int k = 0; k < found.count; ++k) {
      dense_row(tree, at.tree, found.row[k],
                out.subspan(static_cast<std::size_t>(k) * n, n));
    }
    return found.count;
  }

 private:
  const Model* model_;
  std::vector<std::size_t> springs_;
};

}  // namespace bristle
