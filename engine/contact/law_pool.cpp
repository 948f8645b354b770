#include "bristle/contact/law_pool.hpp"

#include <algorithm>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Sums of the ledger of single rows.
void sum_ledger(const double* ledger, std::size_t capacity, ContactRange rows,
                LawTotals& totals) {
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    totals.stored += ledger[i];
    for (std::size_t line = 0; line < 5; ++line) {
      field<double>(totals.powers, line) += ledger[(line + 1) * capacity + i];
    }
  }
}

/// The ledger of single rows goes into their memory.
void keep_ledger(const double* ledger, std::size_t capacity, ContactRange rows,
                 const Evaluation& what, const double* memory, double* next) {
  for (std::size_t line = 0; line < 5; ++line) {
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      const double power = ledger[(line + 1) * capacity + i];
      const std::size_t place = line * capacity + i;
      next[place] = what.form == Form::advance ? memory[place] + what.h * power : power;
    }
  }
}

/// Zero in the columns from `first` on and before `last`.
void clear_columns(int first, int last, const ContactRange& rows, std::size_t capacity,
                   double* memory) {
  for (int c = first; c < last; ++c) {
    double* column = memory + at(c) * capacity;
    std::fill(column + rows.begin, column + rows.end, 0.0);
  }
}

void add(LawTotals& to, const LawTotals& from) {
  to.stored += from.stored;
  to.spin += from.spin;
  for (std::size_t line = 0; line < 5; ++line) {
    field<double>(to.powers, line) += field<double>(from.powers, line);
  }
}

}  // namespace

/// A range of rows under one pair of laws, small enough for the first-level cache.
struct LawPool::Piece {
  const LawBlock& laws;
  ContactRange rows;
};

/// What one run over all pieces goes by.
struct LawPool::Pass {
  LawColumns columns;
  const double* memory;
  double* next;
  const Evaluation& what;
  bool by_row;  // the ledger of single rows is kept
};

template <class Work>
void LawPool::for_each_piece(const LawRows& rows, const Work& work) const {
  std::size_t number = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto end = at(rows.begin[b + 1]);
    for (std::size_t begin = at(rows.begin[b]); begin < end;
         begin += contacts_per_block) {
      work(number++,
           Piece{blocks_[b], {begin, std::min(begin + contacts_per_block, end)}});
    }
  }
}

LawPool::LawPool(const Model& model, std::span<const LawBlock> blocks, Team& team)
    : blocks_(blocks),
      layout_(model),
      contact_ledger_(model.contact_ledger),
      team_(&team) {}

void LawPool::fit(const LawRows& rows) {
  if (rows.capacity() == capacity_) return;
  capacity_ = rows.capacity();
  columns_.assign(RowColumns::count * capacity_, 0.0);
  rates_.assign(at(layout_.count) * capacity_, 0.0);
  ledger_.assign(2 * book_columns * capacity_, 0.0);
  const bool any = std::any_of(blocks_.begin(), blocks_.end(),
                               [](const LawBlock& laws) { return laws.volumetric; });
  patches_.assign(any ? capacity_ : 0, {});
  patch_columns_.assign(any ? patch_columns * capacity_ : 0, 0.0);
  spin_columns_.assign(any ? 3 * capacity_ : 0, 0.0);
  pieces_.resize(capacity_ / contacts_per_block + blocks_.size() + 1);
}

/// The couples that resist rolling, after the normal forces; their power is a loss.
void LawPool::roll(const Pass& pass, const Piece& piece, LawSums& sums) noexcept {
  const LawColumns& c = pass.columns;
  const NormalLawTable& law = normal_law(piece.laws.normal);
  for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
    PatchRow& patch = patches_[i];
    patch.rolling = {0, 0};
    patch.rolling_power = 0;
    if (!(c.normal_force[i] > 0)) continue;
    const VolumeLaw volume = law.volume(piece.laws.normal, c.normal_state, i);
    patch.roll(volume.rolling, c.normal_force[i]);
    sums.rolling += patch.rolling_power;
  }
}

void LawPool::run_piece(const Pass& pass, const Piece& piece, LawSums& sums) noexcept {
  const LawBlock& laws = piece.laws;
  const NormalLawTable& normal = normal_law(laws.normal);
  const FrictionLawTable& friction = friction_law(laws.friction);
  const LawColumns& columns = pass.columns;
  const bool advance = pass.what.form == Form::advance, by_row = pass.by_row;
  const double h = pass.what.h;
  if (laws.has_normal_law()) {
    const auto run = advance ? (by_row ? normal.advance_columns : normal.advance)
                             : (by_row ? normal.evaluate_columns : normal.evaluate);
    run(laws.normal, columns, piece.rows, h, sums.normal);
    if (laws.volumetric) roll(pass, piece, sums);
  }
  const auto run = advance ? (by_row ? friction.advance_columns : friction.advance)
                           : (by_row ? friction.evaluate_columns : friction.evaluate);
  if (pass.what.loads == nullptr && !laws.volumetric) {
    run(laws.friction, columns, piece.rows, h, sums.friction);
  } else {
    LawColumns seen = columns;
    if (pass.what.loads != nullptr) seen.normal_force = pass.what.loads;
    if (laws.volumetric) seen.rate = columns.patch.column(patch_motions);
    run(laws.friction, seen, piece.rows, h, sums.friction);
  }
  // The frame's own turn, and how far the surfaces approached.
  const double* spin = columns_.data() + RowColumns::spin * capacity_;
  double* turn = pass.next + at(MemoryLayout::turn) * capacity_;
  double* travel = pass.next + at(MemoryLayout::travel) * capacity_;
  for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
    turn[i] = advance ? h * spin[i] : spin[i];
    travel[i] = advance ? 0 : columns.rate[i];
  }
  // What the laws of other blocks remember stays as it is.
  if (!advance) {
    clear_columns(layout_.normal + normal_fields(laws), layout_.friction, piece.rows,
                  capacity_, pass.next);
    clear_columns(layout_.friction + friction.fields, layout_.normal_ledger, piece.rows,
                  capacity_, pass.next);
    if (!laws.has_normal_law()) {
      clear_columns(layout_.normal_ledger, layout_.friction_ledger, piece.rows, capacity_,
                    pass.next);
    }
  }
  if (laws.volumetric && !laws.spins()) {
    double* third = spin_columns_.data() + capacity_;
    std::fill(third + piece.rows.begin, third + piece.rows.end, 0.0);
  }
  if (!by_row) return;
  const double* of_normal = columns.normal_ledger.data;
  const double* of_friction = columns.friction_ledger.data;
  if (laws.has_normal_law()) sum_ledger(of_normal, capacity_, piece.rows, sums.normal);
  sum_ledger(of_friction, capacity_, piece.rows, sums.friction);
  for (std::size_t i = piece.rows.begin; laws.spins() && i < piece.rows.end; ++i) {
    sums.friction.spin += columns.spin_loss[i];
  }
  if (!contact_ledger_) return;
  for (std::size_t i = piece.rows.begin; laws.volumetric && i < piece.rows.end; ++i) {
    columns.normal_ledger.column(1)[i] += patches_[i].rolling_power;
  }
  const std::size_t to_normal = at(layout_.normal_ledger) * capacity_;
  const std::size_t to_friction = at(layout_.friction_ledger) * capacity_;
  if (laws.has_normal_law()) {
    keep_ledger(of_normal, capacity_, piece.rows, pass.what, pass.memory + to_normal,
                pass.next + to_normal);
  }
  keep_ledger(of_friction, capacity_, piece.rows, pass.what, pass.memory + to_friction,
              pass.next + to_friction);
}

LawSums LawPool::run(const LawRows& rows, std::span<const double> memory,
                     std::span<double> next, const Evaluation& what) noexcept {
  const Pass pass{law_columns(memory, next, what.held), memory.data(), next.data(), what,
                  contact_ledger_ || what.form == Form::advance};
  LawSums sums{};
  const auto add_piece = [&](const LawSums& piece) {
    add(sums.normal, piece.normal);
    add(sums.friction, piece.friction);
    sums.rolling += piece.rolling;
  };
  if (team_->size() == 1) {
    for_each_piece(rows, [&](std::size_t, const Piece& piece) {
      // A pass adds the sums of its rows at the end, so that they may go where they
      // belong.
      if (!pass.by_row) return run_piece(pass, piece, sums);
      LawSums of_piece{};
      run_piece(pass, piece, of_piece);
      add_piece(of_piece);
    });
    return sums;
  }
  team_->run([&](int member) {
    for_each_piece(rows, [&](std::size_t number, const Piece& piece) {
      if (number % at(team_->size()) != at(member)) return;
      pieces_[number] = {};
      run_piece(pass, piece, pieces_[number]);
    });
  });
  for_each_piece(rows,
                 [&](std::size_t number, const Piece&) { add_piece(pieces_[number]); });
  return sums;
}

void LawPool::note_forces(LawRows& rows, bool at_end) noexcept {
  const double sign = at_end ? -1 : 1;
  const double* rate = column(RowColumns::rate).data();
  const double* friction_x = column(RowColumns::friction_x).data();
  const double* friction_y = column(RowColumns::friction_y).data();
  const double* normal_damping = ledger_.data() + capacity_;
  const double* friction_damping = ledger_.data() + (book_columns + 1) * capacity_;
  const double* slip_power = ledger_.data() + (book_columns + 2) * capacity_;
  for (std::size_t i = 0; i < at(rows.count); ++i) {
    LedgerForces& entered = rows.entered[i];
    double damping = normal_damping[i];
    if (has_patches()) {
      if (contact_ledger_) damping -= patches_[i].rolling_power;
      entered.rolling = sign * patches_[i].rolling;
      entered.spin_friction = sign * spin_friction(i);
    }
    entered.damper = rate[i] != 0 ? sign * damping / rate[i] : 0;
    entered.friction = {sign * friction_x[i], sign * friction_y[i]};
    entered.slipping = slip_power[i] > friction_damping[i];
  }
}

void LawPool::commit(LawRows& rows, double& normal_damping,
                     double& friction_slip) noexcept {
  if (rows.count == 0) return;
  const LawColumns for_force = law_columns(rows.memory, rates_);
  const LawColumns in_place = law_columns(rows.memory, rows.memory);
  for_each_piece(rows, [&](std::size_t, const Piece& piece) {
    const LawBlock& laws = piece.laws;
    const NormalLawTable& normal = normal_law(laws.normal);
    const FrictionLawTable& friction = friction_law(laws.friction);
    if (normal.fields == 0 && friction.fields == 0) return;
    if (laws.has_normal_law()) {
      LawTotals unused;
      normal.evaluate(laws.normal, for_force, piece.rows, 0.0, unused);
    }
    // What the rows release: room in the ledger columns, which are not in use here.
    double* by_normal = ledger_.data();
    double* by_friction = ledger_.data() + capacity_;
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
      by_normal[i] = by_friction[i] = 0;
    }
    normal.commit(laws.normal, in_place, piece.rows, by_normal);
    friction.commit(laws.friction, in_place, piece.rows, by_friction);
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i) {
      normal_damping += by_normal[i];
      friction_slip += by_friction[i];
      if (!contact_ledger_) continue;
      rows.memory[at(layout_.normal_ledger) * capacity_ + i] += by_normal[i];
      rows.memory[at(layout_.friction_ledger + 1) * capacity_ + i] += by_friction[i];
    }
  });
}

}  // namespace bristle
