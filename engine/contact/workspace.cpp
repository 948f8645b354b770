#include "bristle/contact/workspace.hpp"

namespace bristle {

ContactWorkspace::ContactWorkspace(const Model& model, int threads)
    : layout(model),
      capacity(static_cast<std::size_t>(model.row_capacity)),
      shape_poses(model.shapes.size()),
      margins(model.shapes.size()),
      boxes(model.broad_phase ? model.shapes.size() : 0),
      broad(boxes.size(),
            model.broad_phase ? static_cast<std::size_t>(model.pair_capacity) : 0),
      block_counts(model.blocks.size() + 1),
      found(static_cast<std::size_t>(threads < 1 ? 1 : threads)),
      found_count(found.size()),
      overflow(found.size()),
      next(make_state(model).contacts),
      places(capacity),
      lost(capacity),
      columns(RowColumns::count * capacity),
      rates(capacity * static_cast<std::size_t>(layout.count)),
      books(2 * book_columns * capacity),
      totals(2 * (capacity / contacts_per_block + model.blocks.size() + 1)),
      team(threads) {
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    // What stands still is placed once and for all.
    shape_poses[i] = model.shapes[i].in_link;
  }
  for (const std::uint32_t plane : model.planes) {
    half_spaces.push_back({plane, {0, 0, 1}, 0});
  }
  if (model.broad_phase) {
    candidates.resize(static_cast<std::size_t>(model.pair_capacity));
  } else {
    candidates = model.pairs;
  }
  groups.reserve(capacity);
  for (auto& list : found) list.resize(capacity);
}

LawColumns ContactWorkspace::law_columns(std::vector<double>& memory,
                                         std::vector<double>& next_memory) {
  const auto at = [&](std::vector<double>& of, int k) {
    return Columns<double>{of.data() + static_cast<std::size_t>(k) * capacity, capacity};
  };
  double* c = columns.data();
  return {.depth = c + RowColumns::depth * capacity,
          .rate = c + RowColumns::rate * capacity,
          .slip_x = c + RowColumns::slip_x * capacity,
          .slip_y = c + RowColumns::slip_y * capacity,
          .normal_state = at(memory, layout.normal),
          .friction_state = at(memory, layout.friction),
          .normal_force = c + RowColumns::normal * capacity,
          .friction_x = c + RowColumns::friction_x * capacity,
          .friction_y = c + RowColumns::friction_y * capacity,
          .normal_next = at(next_memory, layout.normal),
          .friction_next = at(next_memory, layout.friction),
          .normal_books = {books.data(), capacity},
          .friction_books = {books.data() + book_columns * capacity, capacity}};
}

}  // namespace bristle
