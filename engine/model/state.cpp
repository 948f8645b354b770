#include "bristle/model/state.hpp"

namespace bristle {

State make_state(const Model& model) {
  State state;
  state.q = model.tree.neutral();
  state.v.assign(static_cast<std::size_t>(model.tree.velocity_count()), 0.0);
  state.v_stepped = state.v;
  const auto capacity = static_cast<std::size_t>(model.row_capacity);
  ContactRows& contacts = state.contacts;
  contacts.rows.resize(capacity);
  contacts.memory.assign(capacity * static_cast<std::size_t>(MemoryLayout(model).count),
                         0.0);
  contacts.begin.assign(model.blocks.size() + 1, 0);
  return state;
}

}  // namespace bristle
