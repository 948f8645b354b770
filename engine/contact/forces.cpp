#include <algorithm>

#include "bristle/contact/contacts.hpp"

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A range of rows under one pair of laws, small enough for the first-level cache.
struct Piece {
  int block;
  ContactRange rows;
};

/// work(number, piece) for every piece of every block.
template <class Work>
void for_each_piece(const Model& model, const ContactRows& contacts, const Work& work) {
  std::size_t number = 0;
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    const auto end = at(contacts.begin[b + 1]);
    for (std::size_t begin = at(contacts.begin[b]); begin < end;
         begin += contacts_per_block) {
      work(number++, Piece{static_cast<int>(b),
                           {begin, std::min(begin + contacts_per_block, end)}});
    }
  }
}

bool is_joint_friction(const Model& model, int block) {
  return block < model.joint_blocks &&
         !model.joint_rows[at(model.joint_block_rows[at(block)])].is_limit;
}

void fill_loads(const Model& model, const Piece& piece, const ContactRows& contacts,
                double* normal_force) {
  const int first = model.joint_block_rows[at(piece.block)];
  const int count = model.joint_block_rows[at(piece.block + 1)] - first;
  const int begin = contacts.begin[at(piece.block)];
  for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
    const int k = static_cast<int>(i) - begin;
    normal_force[i] = k < count ? model.joint_rows[at(first + k)].load : 0;
  }
}

/// Sums of the books of single rows.
void sum_books(const double* books, std::size_t capacity, ContactRange rows,
               LawTotals& totals) {
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    totals.stored += books[i];
    for (std::size_t line = 0; line < 5; ++line) {
      field<double>(totals.powers, line) += books[(line + 1) * capacity + i];
    }
  }
}

/// The books of single rows go into their memory.
void keep_books(const double* books, std::size_t capacity, ContactRange rows, Form form,
                double h, const double* memory, double* next) {
  for (std::size_t line = 0; line < 5; ++line) {
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      const double power = books[(line + 1) * capacity + i];
      const std::size_t place = line * capacity + i;
      next[place] = form == Form::advance ? memory[place] + h * power : power;
    }
  }
}

/// Zero in the columns from `first` on and before `last`.
void clear(int first, int last, const ContactRange& rows, const ContactWorkspace& ws,
           std::vector<double>& memory) {
  for (int c = first; c < last; ++c) {
    const auto column = memory.begin() + static_cast<std::ptrdiff_t>(at(c) * ws.capacity);
    std::fill(column + static_cast<std::ptrdiff_t>(rows.begin),
              column + static_cast<std::ptrdiff_t>(rows.end), 0.0);
  }
}

void add(LawTotals& to, const LawTotals& from) {
  to.stored += from.stored;
  for (std::size_t line = 0; line < 5; ++line) {
    field<double>(to.powers, line) += field<double>(from.powers, line);
  }
}

}  // namespace

ContactTotals contact_forces(const Model& model, Form form, double h,
                             const ContactRows& contacts, std::vector<double>& memory,
                             std::vector<double>& next, ContactWorkspace& ws,
                             const HeldRows& held) noexcept {
  LawColumns columns = ws.law_columns(memory, next);
  columns.root_depth = held.root_depth;
  columns.normal_held = held.normal;
  columns.friction_held = held.friction;
  const bool by_row = model.contact_books || form == Form::advance;
  const auto run = [&](const Piece& piece, LawTotals& normal_totals,
                       LawTotals& friction_totals) {
    const LawBlock& laws = model.blocks[at(piece.block)];
    const NormalLawTable& normal = normal_law(laws.normal);
    const FrictionLawTable& friction = friction_law(laws.friction);
    const bool given_load = is_joint_friction(model, piece.block);
    if (given_load) {
      fill_loads(model, piece, contacts, columns.normal_force);
    } else {
      const auto pass = form == Form::advance
                            ? (by_row ? normal.advance_columns : normal.advance)
                            : (by_row ? normal.evaluate_columns : normal.evaluate);
      pass(laws.normal, columns, piece.rows, h, normal_totals);
    }
    const auto pass = form == Form::advance
                          ? (by_row ? friction.advance_columns : friction.advance)
                          : (by_row ? friction.evaluate_columns : friction.evaluate);
    pass(laws.friction, columns, piece.rows, h, friction_totals);
    // The frame's own turn, and how far the surfaces approached.
    double* turn = next.data() + at(MemoryLayout::turn) * ws.capacity;
    double* travel = next.data() + at(MemoryLayout::travel) * ws.capacity;
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
      turn[i] = form == Form::advance ? h * ws.places[i].spin : ws.places[i].spin;
      travel[i] = form == Form::advance ? 0 : columns.rate[i];
    }
    // What the laws of other blocks remember stays as it is.
    if (form == Form::evaluate) {
      const int normal_fields = given_load ? 0 : normal.fields;
      clear(ws.layout.normal + normal_fields, ws.layout.friction, piece.rows, ws, next);
      clear(ws.layout.friction + friction.fields, ws.layout.normal_books, piece.rows, ws,
            next);
      if (given_load) {
        clear(ws.layout.normal_books, ws.layout.friction_books, piece.rows, ws, next);
      }
    }
    if (!by_row) return;
    const double* of_normal = columns.normal_books.data;
    const double* of_friction = columns.friction_books.data;
    if (!given_load) sum_books(of_normal, ws.capacity, piece.rows, normal_totals);
    sum_books(of_friction, ws.capacity, piece.rows, friction_totals);
    if (!model.contact_books) return;
    const std::size_t to_normal = at(ws.layout.normal_books) * ws.capacity;
    const std::size_t to_friction = at(ws.layout.friction_books) * ws.capacity;
    if (!given_load) {
      keep_books(of_normal, ws.capacity, piece.rows, form, h, memory.data() + to_normal,
                 next.data() + to_normal);
    }
    keep_books(of_friction, ws.capacity, piece.rows, form, h, memory.data() + to_friction,
               next.data() + to_friction);
  };
  ContactTotals totals;
  // One by one: all of it at once g++ clears by "rep stos", which is slow to begin.
  for (LawTotals* part :
       {&totals.normal, &totals.friction, &totals.limits, &totals.joint_friction}) {
    *part = {};
  }
  const auto normal_of = [&](const Piece& piece) -> LawTotals& {
    return piece.block < model.joint_blocks ? totals.limits : totals.normal;
  };
  const auto friction_of = [&](const Piece& piece) -> LawTotals& {
    return piece.block < model.joint_blocks ? totals.joint_friction : totals.friction;
  };
  // A pass adds the sums of its rows at the end, so that they may go where they belong.
  if (ws.team.size() == 1 && !by_row) {
    for_each_piece(model, contacts, [&](std::size_t, const Piece& piece) {
      run(piece, normal_of(piece), friction_of(piece));
    });
    return totals;
  }
  ws.team.run([&](int member) {
    for_each_piece(model, contacts, [&](std::size_t number, const Piece& piece) {
      if (number % at(ws.team.size()) != at(member)) return;
      LawTotals& normal = ws.totals[2 * number];
      LawTotals& friction = ws.totals[2 * number + 1];
      normal = friction = {};
      run(piece, normal, friction);
    });
  });
  for_each_piece(model, contacts, [&](std::size_t number, const Piece& piece) {
    add(normal_of(piece), ws.totals[2 * number]);
    add(friction_of(piece), ws.totals[2 * number + 1]);
  });
  return totals;
}

void note_forces(ContactRows& contacts, const ContactWorkspace& ws,
                 bool at_end) noexcept {
  const double sign = at_end ? -1 : 1;
  const double* c = ws.columns.data();
  const double* normal_damping = ws.books.data() + ws.capacity;
  const double* friction_damping = ws.books.data() + (book_columns + 1) * ws.capacity;
  const double* slip_power = ws.books.data() + (book_columns + 2) * ws.capacity;
  for (std::size_t i = 0; i < at(contacts.count); ++i) {
    ContactRow& row = contacts.rows[i];
    const double rate = c[RowColumns::rate * ws.capacity + i];
    row.damper = rate != 0 ? sign * normal_damping[i] / rate : 0;
    row.friction = {sign * c[RowColumns::friction_x * ws.capacity + i],
                    sign * c[RowColumns::friction_y * ws.capacity + i]};
    row.slipping = slip_power[i] > friction_damping[i];
  }
}

void commit_contacts(const Model& model, State& state, ContactWorkspace& ws) noexcept {
  ContactRows& contacts = state.contacts;
  const LawColumns columns = ws.law_columns(contacts.memory, ws.rates);
  for_each_piece(model, contacts, [&](std::size_t, const Piece& piece) {
    const LawBlock& laws = model.blocks[at(piece.block)];
    const NormalLawTable& normal = normal_law(laws.normal);
    const FrictionLawTable& friction = friction_law(laws.friction);
    if (normal.fields == 0 && friction.fields == 0) return;
    LawTotals unused;
    if (is_joint_friction(model, piece.block)) {
      fill_loads(model, piece, contacts, columns.normal_force);
    } else {
      normal.evaluate(laws.normal, columns, piece.rows, 0.0, unused);
    }
    const bool joint = piece.block < model.joint_blocks;
    // What the rows release: room in the books, which are not in use here.
    double* by_normal = ws.books.data();
    double* by_friction = ws.books.data() + ws.capacity;
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
      by_normal[i] = by_friction[i] = 0;
    }
    normal.commit(laws.normal, columns, piece.rows, by_normal);
    friction.commit(laws.friction, columns, piece.rows, by_friction);
    double& damping = (joint ? state.works.limits : state.works.normal).damping;
    double& slip = (joint ? state.works.joint_friction : state.works.friction).slip;
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
      damping += by_normal[i];
      slip += by_friction[i];
      if (!model.contact_books) continue;
      const auto book = [&](int column) -> double& {
        return contacts.memory[at(column) * ws.capacity + i];
      };
      book(ws.layout.normal_books) += by_normal[i];
      book(ws.layout.friction_books + 1) += by_friction[i];
    }
  });
}

void add_forces(const Model& model, const LinkMotion& links, const ContactRows& contacts,
                const ContactWorkspace& ws, std::span<Force<double>> on_links,
                std::span<double> on_joints) noexcept {
  const double* normal = ws.columns.data() + RowColumns::normal * ws.capacity;
  const double* x = ws.columns.data() + RowColumns::friction_x * ws.capacity;
  const double* y = ws.columns.data() + RowColumns::friction_y * ws.capacity;
  for (int b = 0; b < model.joint_blocks; ++b) {
    const int first = model.joint_block_rows[at(b)];
    const int count = model.joint_block_rows[at(b + 1)] - first;
    for (int k = 0; k < count; ++k) {
      const JointRow& joint = model.joint_rows[at(first + k)];
      const auto i = at(contacts.begin[at(b)] + k);
      on_joints[at(joint.dof)] += joint.is_limit ? -joint.sign * normal[i] : x[i];
    }
  }
  const int begin = contacts.begin[at(model.joint_blocks)];
  for (int row = begin; row < contacts.count; ++row) {
    const auto i = at(row);
    if (normal[i] == 0 && x[i] == 0 && y[i] == 0) continue;
    const RowPlace& place = ws.places[i];
    const Vec3<double> f = normal[i] * place.frame.n + place.frame.to_world({x[i], y[i]});
    if (place.link_b != world_link) {
      Force<double>& to = on_links[at(place.link_b)];
      to.torque = to.torque + cross(place.point - links.poses[at(place.link_b)].p, f);
      to.force = to.force + f;
    }
    if (place.link_a != world_link) {
      Force<double>& to = on_links[at(place.link_a)];
      to.torque = to.torque - cross(place.point - links.poses[at(place.link_a)].p, f);
      to.force = to.force - f;
    }
  }
}

}  // namespace bristle
