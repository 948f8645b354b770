#include "bristle/model/state.hpp"

#include <algorithm>
#include <utility>

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
  entered.resize(rows);
  impulse.resize(rows);
  sides.resize(rows);
}

static_assert(sizeof(LawRows) == 11 * sizeof(std::vector<int>) + sizeof(std::size_t),
              "swap() exchanges every column");
static_assert(sizeof(ContactRows) == sizeof(LawRows) + 5 * sizeof(std::vector<int>),
              "swap() exchanges every column");

void LawRows::swap(LawRows& other) noexcept {
  begin.swap(other.begin);
  std::swap(count, other.count);
  episode.swap(other.episode);
  depth.swap(other.depth);
  rate.swap(other.rate);
  approach.swap(other.approach);
  acceleration.swap(other.acceleration);
  entered.swap(other.entered);
  impulse.swap(other.impulse);
  lag.swap(other.lag);
  sides.swap(other.sides);
  memory.swap(other.memory);
}

void ContactRows::swap(ContactRows& other) noexcept {
  LawRows::swap(other);
  key.swap(other.key);
  frame.swap(other.frame);
  point.swap(other.point);
  anchor.swap(other.anchor);
  pairs.swap(other.pairs);
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
  for (const Motor& motor : model.motors) {
    if (motor.lagged < 0) continue;
    state.lagged.push_back(
        std::clamp(motor.lag.start, motor.lag.least, motor.lag.largest));
  }
  return state;
}

}  // namespace bristle
