#include "bristle/adaptive/smooth_motion.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bristle/laws/choice.hpp"
#include "bristle/model/positions.hpp"

namespace bristle {

namespace {

using detail::at;

// What a number of a contact's memory is.
enum : std::uint8_t { of_frame, of_depth, of_stretch, of_share, of_travel, of_books };

std::uint8_t kind_of(const StateField& field, std::uint8_t of_length) {
  return field.unit == "m" ? of_length : std::uint8_t{of_share};
}

// Where nothing touches, errors of velocities are measured by this.
constexpr double free_speed = 1e-3;  // [m/s]

// A closed contact is at least so deep, by its depth at rest: too little to be felt.
constexpr double least_depth = 1e-7;

/// x with f(x) = wanted for a function that grows from f(0) ≤ wanted on, to 1 %.
template <class F>
double inverse_of(const F& f, double wanted) {
  double high = 1e-12;
  while (high < 1e3 && f(high) < wanted) high *= 16;
  double low = high / 16;
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (f(middle) < wanted ? low : high) = middle;
  }
  return high;
}

/// 1 in the lines of the energy books that the laws and forces of a model write.
Works booked_lines(const Model& model) {
  Works works{};
  const auto add = [](const LedgerLines& lines, Powers<double>& to) {
    to.damping += lines.damping;
    to.slip += lines.slip;
    to.viscous += lines.viscous;
    to.parametric += lines.parametric;
    to.unsupplied += lines.unsupplied;
  };
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    const bool joint = static_cast<int>(b) < model.joint_blocks;
    add(normal_law(model.blocks[b].normal).lines, joint ? works.limits : works.normal);
    add(friction_law(model.blocks[b].friction).lines,
        joint ? works.joint_friction : works.friction);
  }
  works.dampers = model.has_joint_forces;
  works.motors = !model.motors.empty();
  works.loads = !model.loads.empty();
  works.loops = model.has_loop_springs;
  return works;
}

}  // namespace

SmoothMotion::SmoothMotion(const Model& model)
    : model_(&model),
      system_(model),
      nq_(at(model.tree.position_count())),
      nv_(at(model.tree.velocity_count())),
      q_(nq_),
      halves_(nv_),
      unit_(nv_) {
  for (const Link& link : model.tree.links()) {
    if (quaternion_at(link.type) >= 0) quaternions_ = true;
  }
  nothing_.begin.assign(model.contact_law_blocks().size() + 1, 0);
  // Springs of loops give way by what their load is over their stiffness.
  double mass = 0;
  for (const LinkConstants<double>& link : system_.tree.constants) {
    mass += link.inertia.mass;
  }
  const double weight = mass * std::max(norm(model.tree.gravity()), 1e-3);
  for (const Loop& loop : model.loops) {
    if (loop.rigid) continue;
    length_ = std::min(length_, std::max(weight / loop.stiffness, 1e-9));
  }
  regenerates_ = model.broad_phase;
  for (const ShapePair& pair : model.pairs) {
    regenerates_ = regenerates_ || pair.regenerates;
  }
  const Works booked = booked_lines(model);
  for (std::size_t k = 0; k < work_lines; ++k) {
    if (field<double>(booked, k) != 0) lines_.push_back(k);
  }
}

bool SmoothMotion::begin(State& state, int clock_row, double s) {
  state_ = &state;
  const bool same_clock = clock_row == clock_row_;
  clock_row_ = clock_row;
  std::swap(rows_, rows_before_);
  joint_rows_ = at(state.joints.count);
  joint_memory_ = state.joints.memory.size();
  const auto count = joint_rows_ + at(state.contacts.count);
  memory_.resize(joint_memory_ + state.contacts.memory.size());
  memory_rates_.resize(memory_.size());
  rows_.resize(count);
  depths_.resize(count);
  located_.assign(count, 0);
  open_.clear();
  closed_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const RowAt where = place_of(i);
    const ContactKey key = i < joint_rows_ ? ContactKey{} : state.contacts.key[where.i];
    const std::uint32_t episode = where.rows->episode[where.i];
    rows_[i] = {episode != 0, key.a, key.b, key.feature, episode};
    depths_[i] = where.rows->depth[where.i];
    (rows_[i].acts ? closed_ : open_).push_back(i);
  }
  held_.joints.roots.resize(clock_row >= 0 ? state.joints.capacity() : 0);
  held_.contacts.roots.resize(clock_row >= 0 ? state.contacts.capacity() : 0);
  if (clock_row >= 0) {
    for (const std::size_t i : open_) *roots_column(i) = 0;
  }
  const std::size_t stride = state.contacts.capacity();
  const bool same =
      same_clock && core_ > 0 && rows_ == rows_before_ && stride == stride_;
  stride_ = stride;
  if (!same) {
    list_numbers(state);
    carry_sides();
    core_ = nq_ + nv_ + books_at_ + 2;
    works_at_ = core_ + places_.size() - books_at_;
    size_ = works_at_ + lines_.size();
    start_.resize(size_);
  }
  std::copy(state.q.begin(), state.q.end(), start_.begin());
  std::copy(state.v.begin(), state.v.end(),
            start_.begin() + static_cast<std::ptrdiff_t>(nq_));
  const auto remembered = [&](std::size_t k) {
    return places_[k] < joint_memory_ ? state.joints.memory[places_[k]]
                                      : state.contacts.memory[places_[k] - joint_memory_];
  };
  for (std::size_t k = 0; k < books_at_; ++k) start_[nq_ + nv_ + k] = remembered(k);
  for (std::size_t k = books_at_; k < places_.size(); ++k) {
    start_[core_ + k - books_at_] = remembered(k);
  }
  start_[s_at()] = s;
  start_[t_at()] = state.time;
  rounding_ = rounding(start_);
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    start_[works_at_ + k] = field<double>(state.works, lines_[k]);
  }
  if (!same) copy_memory(start_);
  return same;
}

/// Which numbers of the rows' memory are part of y: what acting rows remember, then what
/// nothing depends on.
void SmoothMotion::list_numbers(const State& state) {
  places_.clear();
  kinds_.clear();
  const auto list = [&](const LawPool& pool, const LawRows& rows, bool joint, bool books,
                        std::size_t first_row, std::size_t first_number) {
    const MemoryLayout& layout = pool.layout();
    for (std::size_t b = 0; b < pool.blocks().size(); ++b) {
      const LawBlock& laws = pool.blocks()[b];
      for (auto i = at(rows.begin[b]); i < at(rows.begin[b + 1]); ++i) {
        if (!rows_[first_row + i].acts) continue;
        const auto take = [&](int first, int fields, std::uint8_t kind) {
          for (int k = first; k < first + fields; ++k) {
            places_.push_back(first_number + at(k) * rows.capacity() + i);
            kinds_.push_back(kind);
            rows_of_.push_back(first_row + i);
            columns_of_.push_back(at(k));
          }
        };
        if (books) {
          if (!joint && regenerates_) take(MemoryLayout::travel, 1, of_travel);
          if (model_->contact_books) take(layout.normal_books, 10, of_books);
          continue;
        }
        if (!joint) take(MemoryLayout::turn, 1, of_frame);
        int column = layout.normal;
        for (const StateField& field : entry_of(laws.normal).state) {
          take(column++, 1, kind_of(field, of_depth));
        }
        column = layout.friction;
        for (const StateField& field : entry_of(laws.friction).state) {
          take(column++, 1, kind_of(field, of_stretch));
        }
      }
    }
  };
  rows_of_.clear();
  columns_of_.clear();
  for (const bool books : {false, true}) {
    if (books) books_at_ = places_.size();
    list(system_.pools.joints, state.joints, true, books, 0, 0);
    list(system_.pools.points, state.contacts, false, books, joint_rows_, joint_memory_);
  }
}

bool SmoothMotion::began_with(const Vector& y) const {
  if (model_->loop_rows > 0 || !model_->prescribed.empty()) return false;
  for (std::size_t k = 0; k < books_at_; ++k) {
    const std::size_t i = nq_ + nv_ + k;
    if (kinds_[k] != of_frame && start_[i] != y[i]) return false;  // frames begin anew
  }
  return true;
}

void SmoothMotion::finish(const Vector& y, State& state) const {
  std::copy_n(y.begin(), nq_, state.q.begin());
  std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(nq_), nv_, state.v.begin());
  if (quaternions_) normalise<double>(model_->tree, state.q);
  const auto remember = [&](std::size_t k, double value) {
    if (places_[k] < joint_memory_) {
      state.joints.memory[places_[k]] = value;
    } else {
      state.contacts.memory[places_[k] - joint_memory_] = value;
    }
  };
  for (std::size_t k = 0; k < books_at_; ++k) remember(k, y[nq_ + nv_ + k]);
  for (std::size_t k = books_at_; k < places_.size(); ++k) {
    remember(k, y[core_ + k - books_at_]);
  }
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    field<double>(state.works, lines_[k]) = y[works_at_ + k];
  }
  state.time = y[t_at()];
  state.committed = false;
}

SmoothMotion::Settled SmoothMotion::settled(const State& state, std::size_t row) {
  const auto joints = at(state.joints.count);
  const LawRows& rows = row < joints ? state.joints : state.contacts;
  const std::size_t i = row < joints ? row : row - joints;
  return {rows.episode[i], rows.depth[i], rows.rate[i]};
}

double SmoothMotion::approach_speed(const State& state, std::size_t row) {
  const auto joints = at(state.joints.count);
  return row < joints ? state.joints.approach[row]
                      : state.contacts.approach[row - joints];
}

Event SmoothMotion::event(const RowEvent& of) const {
  const std::size_t row = at(of.row);
  const bool joint = row < joint_rows_;
  return {of.kind,
          of.time,
          {rows_[row].a, rows_[row].b, rows_[row].feature},
          joint ? of.row : -1,
          rows_[row].episode,
          std::abs(approach(row))};
}

void SmoothMotion::put_rows(State& state) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::size_t i = place_of(row).i;
    LawRows& rows = row < joint_rows_ ? state.joints : state.contacts;
    rows.depth[i] = depths_[row];
    rows.rate[i] = approach(row);
    if (row < joint_rows_) continue;
    state.contacts.point[i] = system_.pools.points.place(i).point;
    state.contacts.frame[i] = system_.pools.points.place(i).frame;
  }
}

/// All memory of the rows, for the passes: that of open contacts does not change.
void SmoothMotion::copy_memory(const Vector& y) {
  std::copy(state_->joints.memory.begin(), state_->joints.memory.end(), memory_.begin());
  std::copy(state_->contacts.memory.begin(), state_->contacts.memory.end(),
            memory_.begin() + static_cast<std::ptrdiff_t>(joint_memory_));
  for (std::size_t k = 0; k < books_at_; ++k) memory_[places_[k]] = y[nq_ + nv_ + k];
}

/// Kinematics and contacts at y; open contacts stay open, and the row whose clock runs is
/// as deep as s says.
void SmoothMotion::place(const Vector& y, bool all) {
  if (quaternions_) {
    std::copy_n(y.begin(), nq_, q_.begin());
    normalise<double>(model_->tree, q_);
    q_now_ = q_;
  } else {
    q_now_ = std::span(y).first(nq_);
  }
  v_now_ = std::span(y).subspan(nq_, nv_);
  if (closed_.empty() && !all) {
    kinematics<double>(model_->tree, q_now_, v_now_, system_.tree);
    return;
  }
  for (std::size_t k = 0; k < books_at_; ++k) memory_[places_[k]] = y[nq_ + nv_ + k];
  move_to(system_, *state_, q_now_, v_now_, {memory().joints, memory().contacts}, all);
  if (all) {
    for (std::size_t i = 0; i < rows_.size(); ++i) depths_[i] = depth_column(i);
  }
  for (const std::size_t i : open_) depth_column(i) = -1;
  // Closed contacts stay closed, and as deep as rounding can tell well: laws that set in
  // at once, or whose rates go by 1/δ, would else switch to and fro within steps.
  for (const std::size_t i : closed_) {
    const double natural = i < row_scales_.size() ? row_scales_[i].depth : 0;
    if (sides_[i * per_row] > 0) {
      double& depth = depth_column(i);
      depth = std::max({depth, rounding_, least_depth * natural});
    }
  }
  if (clock_row_ < 0) return;
  const double s = y[s_at()];
  if (all) clock_lag_ = depths_[at(clock_row_)] - s * s;  // t turns where s is 0
  depths_[at(clock_row_)] = std::copysign(s * s, s);
  depth_column(at(clock_row_)) = s * s;
  for (const std::size_t i : closed_) {
    *roots_column(i) = std::sqrt(std::max(depth_column(i), 0.0));
  }
  *roots_column(at(clock_row_)) = s;
}

bool SmoothMotion::stands() const {
  const PointPool& points = system_.pools.points;
  for (std::size_t p = 0; p < state_->contacts.pairs.size(); ++p) {
    if (points.unmatched(p) > rounding_) return false;
  }
  return std::none_of(closed_.begin(), closed_.end(), [&](std::size_t i) {
    return i >= joint_rows_ && points.lost(i - joint_rows_) && sides_[i * per_row] > 0;
  });
}

int SmoothMotion::places_to_look() const {
  const PointPool& points = system_.pools.points;
  double most = 0;
  for (const PairSlice& pair : state_->contacts.pairs) {
    const auto first = at(pair.first);
    bool lost = false;
    for (std::size_t i = first; i < first + at(pair.count); ++i) {
      lost = lost || (!rows_[joint_rows_ + i].acts && points.lost(i));
    }
    if (!lost) continue;
    const double one = model_->shapes[pair.a].radius, two = model_->shapes[pair.b].radius;
    if (!std::isfinite(one + two)) continue;  // nothing gets behind a plane
    // Contacts are looked for twice as far as the bodies go.
    const double way = 0.5 * pair.margin;
    most = std::max(most, way / (0.25 * std::min(one, two)));
  }
  return static_cast<int>(std::ceil(std::min(most, 64.0)));
}

void SmoothMotion::rates(const Vector& y, double* rate, bool all) {
  ++evaluations_;
  place(y, all);
  // Where nothing acts, the passes have nothing to do.
  const bool idle = closed_.empty() && model_->joint_blocks == 0;
  const double time = y[t_at()];
  const RowView rows(state_->joints, idle ? nothing_ : state_->contacts);
  apply_forces(system_, {.held = &held_}, time, q_now_, v_now_, rows,
               {memory().joints, memory().contacts}, split(memory_rates_), {});
  accelerate(system_, time, 0, v_now_, {});
  const bool clock = clock_row_ >= 0;
  const double pace = clock ? 2 * y[s_at()] : 1;  // dt/dη
  position_rates<double>(model_->tree, q_now_, v_now_, std::span(rate, nq_));
  if (clock) {
    for (std::size_t i = 0; i < nq_; ++i) rate[i] *= pace;
  }
  for (std::size_t i = 0; i < nv_; ++i) rate[nq_ + i] = pace * system_.acceleration[i];
  double* to = rate + nq_ + nv_;
  for (std::size_t k = 0; k < books_at_; ++k) to[k] = pace * memory_rates_[places_[k]];
  to = rate + core_;
  for (std::size_t k = books_at_; k < places_.size(); ++k) {
    to[k - books_at_] = pace * memory_rates_[places_[k]];
  }
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    rate[works_at_ + k] = pace * field<double>(system_.powers, lines_[k]);
  }
  rate[s_at()] = clock ? approach(at(clock_row_)) : 0;
  rate[t_at()] = pace;
}

void SmoothMotion::look(const Vector& y, bool with_laws) {
  ++looks_;
  place(y, true);
  if (!with_laws || closed_.empty()) return;
  contact_forces(system_, {.held = &held_}, *state_,
                 {memory().joints, memory().contacts}, split(memory_rates_));
}

void SmoothMotion::read_guards(Vector& guards) {
  guards.assign(guard_count(), 0);
  const auto read = [&](LawPool& pool, const LawRows& rows, std::span<double> known,
                        std::size_t first) {
    const LawColumns c = pool.law_columns(known);
    pool.for_each_row(rows, c, [&](const LawRow& row) {
      const std::size_t i = first + row.i;
      double* to = guards.data() + i * per_row;
      to[0] = depths_[i];
      if (!rows_[i].acts) return;
      const Kinematics<double> kin = row.kinematics();
      NormalLawTable::Guards found{};
      const NormalLawTable& table = normal_law(row.laws.normal);
      const int normal =
          table.guards(row.laws.normal, c.normal_state, row.i, kin, found);
      for (int k = 1; k < normal; ++k) to[k] = found[at(k)];
      // A ground that recovers is met where it is.
      if (table.fields > 0 && found[0] != kin.depth) to[friction_guard - 1] = found[0];
      const int friction =
          friction_law(row.laws.friction)
              .guards(row.laws.friction, c.friction_state, row.i, kin,
                      row.normal_force(), found);
      for (int k = 0; k < friction; ++k) to[friction_guard + at(k)] = found[at(k)];
    });
  };
  read(system_.pools.joints, state_->joints, memory().joints, 0);
  read(system_.pools.points, state_->contacts, memory().contacts, joint_rows_);
}

RowEvent SmoothMotion::note_event(std::size_t guard, State& state, double step) {
  const std::size_t row = guard / per_row, kind = guard % per_row;
  RowEvent event{EventKind::normal, static_cast<int>(row), state.time};
  if (kind == 0) {
    const bool touches = !rows_[row].acts || sides_[guard] < 0;
    event.kind = touches ? EventKind::touch : EventKind::lift_off;
    const bool by_clock = static_cast<int>(row) == clock_row_;
    located_[row] = touches ? 1 : by_clock ? -2 : -1;
    sides_[guard] = touches ? 1 : -1;
  } else {
    if (kind >= friction_guard) event.kind = EventKind::friction;
    if (state.time - switched_[guard] <= 0.1 * step) {
      sides_[guard] = free_side;
    } else {
      sides_[guard] = -sides_[guard];
    }
    switched_[guard] = state.time;
    hold_laws();
  }
  return event;
}

/// Contacts that last stay on their sides.
void SmoothMotion::carry_sides() {
  std::swap(sides_, sides_before_);
  std::swap(switched_, switched_before_);
  sides_.assign(guard_count(), 0);
  switched_.assign(guard_count(), -HUGE_VAL);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].acts) continue;
    const auto was =
        std::find_if(rows_before_.begin(), rows_before_.end(),
                     [&](const Row& row) { return row.episode == rows_[i].episode; });
    sides_[i * per_row] = 1;
    if (was == rows_before_.end()) continue;
    const auto from = (was - rows_before_.begin()) * static_cast<std::ptrdiff_t>(per_row);
    const auto to = static_cast<std::ptrdiff_t>(i * per_row);
    std::copy_n(sides_before_.begin() + from, per_row, sides_.begin() + to);
    std::copy_n(switched_before_.begin() + from, per_row, switched_.begin() + to);
  }
  hold_laws();
}

void SmoothMotion::hold(const Vector& guards) {
  bool changed = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].acts) continue;
    for (std::size_t g = i * per_row + 1; g < (i + 1) * per_row; ++g) {
      if (sides_[g] != 0 || guards[g] == 0) continue;
      sides_[g] = guards[g] > 0 ? 1 : -1;
      changed = true;
    }
  }
  if (changed) hold_laws();
}

/// The sides as the laws want them: the clamp and the ground that recovers; two of
/// friction.
void SmoothMotion::hold_laws() {
  constexpr std::size_t slots[4] = {1, friction_guard - 1, friction_guard,
                                    friction_guard + 1};
  const auto hold = [&](const LawRows& rows, std::size_t first, Vector& sides) {
    sides.resize(4 * rows.capacity());
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < at(rows.count); ++i) {
        const double side = sides_[(first + i) * per_row + slots[k]];
        sides[k * rows.capacity() + i] = side == free_side ? 0 : side;
      }
    }
  };
  hold(state_->joints, 0, held_.joints.sides);
  hold(state_->contacts, joint_rows_, held_.contacts.sides);
}

/// work(row) with a row of a settled state and its laws.
template <class Work>
auto SmoothMotion::with_law(const State& state, std::size_t row, const Work& work) {
  const bool joint = row < joint_rows_;
  LawPool& pool = pool_of(row);
  const LawRows& rows = joint ? state.joints : state.contacts;
  const std::size_t i = joint ? row : row - joint_rows_;
  const LawColumns columns = pool.law_columns(rows.memory);
  return work(LawRow{pool.laws_of(rows, i), columns, i});
}

/// The depth at which the normal law of a row stores that energy.
double SmoothMotion::depth_for_energy(const State& state, std::size_t row,
                                      double energy) {
  return with_law(state, row, [&](const LawRow& law) {
    return inverse_of([&](double depth) { return law.normal_energy(depth); }, energy);
  });
}

/// The depth at which it bears that force at rest.
double SmoothMotion::depth_for_force(const State& state, std::size_t row, double force) {
  return with_law(state, row, [&](const LawRow& law) {
    return inverse_of(
        [&](double depth) {
          return law.normal_slopes(Kinematics<double>::at(depth, 0.0)).static_force;
        },
        force);
  });
}

/// How a row's normal force accelerates its own depth, per newton.
double SmoothMotion::inverse_mass(const State& state, std::size_t row) {
  const Tree& tree = model_->tree;
  if (row < joint_rows_) {
    const JointRow* joint = system_.pools.joints.joint(row);
    if (joint == nullptr) return 0;
    std::fill(unit_.begin(), unit_.end(), 0.0);
    unit_[at(joint->dof)] = 1;
    solve_mass<double>(tree, unit_, {}, system_.tree, unit_);
    return unit_[at(joint->dof)];
  }
  std::array<JacobianRow<double>, PointPool::most_rows> rows;
  system_.pools.points.jacobian(system_.placement(state.q, state.v), row - joint_rows_,
                                rows);
  double result = 0;
  inverse_inertia<double>(tree, std::span(rows).first(1), system_.tree, halves_,
                          std::span(&result, 1));
  return result;
}

SmoothMotion::Impact SmoothMotion::impact(const State& state, std::size_t row) {
  factorise<double>(model_->tree, system_.tree);
  const RowScale scale = scale_of(state, row);
  const RowAt where = place_of(row);
  const double rate = where.rows->rate[where.i];
  fresh_ = {scale.time * std::max(rate, scale.speed), scale.time};
  return fresh_;
}

SmoothMotion::RowScale SmoothMotion::scale_of(const State& state, std::size_t row) {
  const bool of_contact = row >= joint_rows_;
  const LawRows& rows = of_contact ? state.contacts : state.joints;
  const std::size_t i = of_contact ? row - joint_rows_ : row;
  const std::uint32_t episode = rows.episode[i];
  const double rate = rows.rate[i];
  const JointRow* joint = of_contact ? nullptr : system_.pools.joints.joint(i);
  if (joint != nullptr && !joint->is_limit) {
    return {episode, 0, 0, 0, stretch_of(state, row, 1, joint->load)};
  }
  const double mobility = inverse_mass(state, row);
  if (!(mobility > 0)) return {episode, 0, 0, 0, length_};
  const double g = std::max(norm(model_->tree.gravity()), 1e-3);
  const double rest = depth_for_force(state, row, g / mobility);
  const double speed = std::sqrt(g * rest);
  const double energy = 0.5 * rate * rate / mobility;
  const double deep = std::max(rest, depth_for_energy(state, row, energy));
  const double force = with_law(state, row, [&](const LawRow& law) {
    return law.normal_slopes(Kinematics<double>::at(deep, 0.0)).static_force;
  });
  return {episode, rest, speed, deep / std::max(rate, speed),
          stretch_of(state, row, deep, force)};
}

/// How far the friction of a row stretches before it slips, under such a load.
double SmoothMotion::stretch_of(const State& state, std::size_t row, double depth,
                                double force) {
  const FrictionSpring<double> spring = with_law(state, row, [&](const LawRow& law) {
    return law.spring(Kinematics<double>::at(depth, 0.0), force);
  });
  const double stretch = spring.bound / spring.stiffness;
  return stretch > 0 && stretch < depth ? stretch : depth;
}

void SmoothMotion::measure_scales(const State& state) {
  const Tree& tree = model_->tree;
  factorise<double>(tree, system_.tree);
  std::vector<RowScale> now(rows_.size(), RowScale{0, 0, 0, 0, 0});
  double resting = 0;  // energy of sinking in under what contacts carry [J]
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].acts) continue;
    const auto known = std::find_if(
        row_scales_.begin(), row_scales_.end(),
        [&](const RowScale& scale) { return scale.episode == rows_[i].episode; });
    now[i] = known != row_scales_.end() ? *known : scale_of(state, i);
    const double mobility = now[i].speed > 0 ? inverse_mass(state, i) : 0;
    if (mobility > 0) resting += now[i].speed * now[i].speed / mobility;
  }
  std::swap(row_scales_, now);
  double moved = kinetic_energy<double>(tree, state.v, system_.tree);
  for (std::size_t k = 0; k < work_lines; ++k) {
    moved += std::abs(field<double>(state.works, k));
  }
  energy_scale_ = std::max({energy_scale_, moved, resting, 1e-12});
}

void SmoothMotion::scales(const Vector& from, Vector& scale) {
  scale.resize(size_);
  double length = HUGE_VAL, speed = HUGE_VAL;
  for (std::size_t i = 0; i < row_scales_.size(); ++i) {
    const RowScale& row = row_scales_[i];
    if (row.time == 0) continue;
    const RowAt where = place_of(i);
    const double rate = std::abs(where.rows->rate[where.i]);
    const double depth =
        std::max({row.depth, where.rows->depth[where.i], rate * row.time});
    length = std::min(length, depth);
    speed = std::min(speed, std::max({row.speed, rate, depth / row.time}));
  }
  if (!std::isfinite(speed)) speed = free_speed;
  length = std::min(length, length_);
  double fastest = 0;
  for (std::size_t i = nq_; i < nq_ + nv_; ++i) {
    fastest = std::max(fastest, std::abs(from[i]));
  }
  std::fill_n(scale.begin(), nq_, length);
  for (std::size_t i = nq_; i < nq_ + nv_; ++i) {
    scale[i] = std::max({std::abs(from[i]), 1e-3 * fastest, speed});
  }
  // What the same laws remember in other contacts is of the same size.
  largest_.assign(at(system_.pools.points.layout().count), 0);
  for (std::size_t k = 0; k < books_at_; ++k) {
    const std::size_t i = nq_ + nv_ + k;
    double& largest = largest_[columns_of_[k]];
    largest = std::max(largest, std::abs(from[i]));
  }
  for (std::size_t k = 0; k < books_at_; ++k) {
    const double least = kinds_[k] == of_depth ? length
                         : kinds_[k] == of_stretch
                             ? row_scales_[rows_of_[k]].stretch
                             : 1;
    scale[nq_ + nv_ + k] = std::max(largest_[columns_of_[k]], least);
  }
  const bool clock = clock_row_ >= 0;
  scale[s_at()] =
      clock ? std::max(std::abs(from[s_at()]), std::sqrt(fresh_.depth)) : HUGE_VAL;
  scale[t_at()] = clock ? fresh_.time : HUGE_VAL;
  for (std::size_t k = books_at_; k < places_.size(); ++k) {
    scale[core_ + k - books_at_] = kinds_[k] == of_travel ? length : energy_scale_;
  }
  for (std::size_t k = 0; k < lines_.size(); ++k) scale[works_at_ + k] = energy_scale_;
}

double SmoothMotion::rounding(const Vector& y) const {
  double farthest = 1e-3;
  for (std::size_t i = 0; i < nq_; ++i) farthest = std::max(farthest, std::abs(y[i]));
  return 2e-15 * farthest;
}

void SmoothMotion::allowances(double rtol, const Vector& from, Vector& allowed) {
  scales(from, allowed);
  // Depths are differences of positions: what rounding leaves of them bounds everything
  // that follows from them, unless the clock has its own.
  if (!closed_.empty() && clock_row_ < 0 && nq_ > 0) {
    rtol = std::max(rtol, rounding(from) / allowed[0]);
  }
  for (std::size_t i = 0; i < size_; ++i) {
    allowed[i] = std::max(rtol * allowed[i], 4e-16 * (std::abs(from[i]) + 1e-3));
  }
}

}  // namespace bristle
