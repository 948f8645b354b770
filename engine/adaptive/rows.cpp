#include "bristle/adaptive/rows.hpp"

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void list_rows(const Model& model, const State& state, std::vector<RowId>& rows) {
  const ContactRows& contacts = state.contacts;
  const auto joints = at(contacts.begin[at(model.joint_blocks)]);
  rows.resize(at(contacts.count));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ContactRow& row = contacts.rows[i];
    if (i < joints) {
      rows[i] = {no_shape, static_cast<std::uint32_t>(i), 0, row.episode};
    } else {
      rows[i] =
          row.a == no_shape ? empty_row : RowId{row.a, row.b, row.feature, row.episode};
    }
  }
}

}  // namespace bristle
