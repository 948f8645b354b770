#include "bristle/model/state.hpp"

#include <algorithm>

namespace bristle {

void LawRows::grow(std::size_t rows, std::size_t columns) {
  const std::size_t old = capacity();
  if (rows <= old) return;
  std::vector<double> wider(rows * columns, 0.0);
  for (std::size_t c = 0; c < columns && old > 0; ++c) {
    const auto from = memory.begin() + static_cast<std::ptrdiff_t>(c * old);
    std::copy(from, from + count, wider.begin() + static_cast<std::ptrdiff_t>(c * rows));
  }
  memory.swap(wider);
  episode.resize(rows);
  depth.resize(rows, -1.0);
  for (std::vector<double>* column : {&rate, &approach, &acceleration, &lag}) {
    column->resize(rows);
  }
  booked.resize(rows);
  impulse.resize(rows);
  sides.resize(rows);
}

void ContactRows::grow(std::size_t rows, std::size_t columns) {
  if (rows <= capacity()) return;
  LawRows::grow(rows, columns);
  key.resize(rows);
  frame.resize(rows);
  point.resize(rows);
  anchor.resize(rows);
  pairs.reserve(rows);
}

State make_state(const Model& model) {
  State state;
  state.q = model.tree.neutral();
  state.v.assign(static_cast<std::size_t>(model.tree.velocity_count()), 0.0);
  state.v_stepped = state.v;
  const auto columns = static_cast<std::size_t>(MemoryLayout(model).count);
  const auto joint_blocks = static_cast<std::size_t>(model.joint_blocks);
  state.joints.grow(static_cast<std::size_t>(model.joint_row_capacity), columns);
  state.joints.begin.assign(joint_blocks + 1, 0);
  state.contacts.grow(static_cast<std::size_t>(model.contact_row_capacity), columns);
  state.contacts.begin.assign(model.blocks.size() - joint_blocks + 1, 0);
  return state;
}

}  // namespace bristle
