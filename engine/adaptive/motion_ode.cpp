#include "bristle/adaptive/motion_ode.hpp"

#include <algorithm>
#include <cmath>

#include "bristle/laws/choice.hpp"
#include "bristle/model/positions.hpp"

namespace bristle {

namespace {

using detail::at;

// Where there are too many contacts, the horizon shrinks by this factor: sixteen times
// fewer in a plane come into reach. Down to a length of time that nothing
// moves in: 10 µm at 10 m/s. Nothing is gained below `shortest_horizon`, in which a
// bullet moves a micrometre.
constexpr double shrink = 0.25;
constexpr double nothing_moves = 1e-6;     // [s]
constexpr double shortest_horizon = 1e-9;  // [s]

// Measured: the depth of a corner of a box on a plane is off by 1.3e-16 of the largest
// coordinate at most (20000 poses). A link of a chain adds as much: enough for fifteen.
// Of bodies laid on each other at tolerances down to 1e-12, a tenth of it takes 22 % more
// evaluations for nothing, and ten times as much leaves their ledger open.
constexpr double roundings = 2e-15;
constexpr double least_position = 1e-3;  // shapes are not smaller than that [m]

// The slope of a bound is known to this part of how it changes within a step; depths of
// a micrometre, known to 1e-10, leave 1e-6 of it to rounding.
constexpr double slope_part = 1e-4;

MemoryKind kind_of(const StateField& field, MemoryKind of_length) {
  return field.unit == "m" ? of_length : MemoryKind::share;
}

/// What a friction law remembers, in as many components as it has.
const std::vector<StateField>& friction_memory(const LawChoice& law) {
  return entry_of(law).state_with(law.spin);
}

/// 1 in the lines of the energy ledger that the laws and forces of a model write.
Works lines_in_use(const Model& model, const Pools& pools) {
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
  works.loops = pools.springs.size() > 0;
  works.rolling = works.spin = model.has_patches;
  return works;
}

}  // namespace

MotionOde::MotionOde(const Model& model)
    : model_(&model),
      system_(model),
      nq_(at(model.tree.position_count())),
      nv_(at(model.tree.velocity_count())),
      guards_(model),
      q_(nq_) {
  for (const Link& link : model.tree.links()) {
    if (quaternion_at(link.type) >= 0) quaternions_ = true;
  }
  nothing_.begin.assign(model.contact_law_blocks().size() + 1, 0);
  regenerates_ = model.broad_phase;
  for (const ShapePair& pair : model.pairs) {
    regenerates_ = regenerates_ || pair.regenerates;
  }
  const Works in_use = lines_in_use(model, system_.pools);
  for (std::size_t k = 0; k < work_lines; ++k) {
    if (field<double>(in_use, k) != 0) lines_.push_back(k);
  }
}

MotionOde::Settled MotionOde::settle(State& state, double horizon) {
  for (double part = 1;; part *= shrink) {
    const double now = std::max(part * horizon, shortest_horizon);
    const std::span<const std::int8_t> all(located_);
    LocatedEvents events;
    if (!all.empty()) events = {all.subspan(joint_rows_), all.first(joint_rows_)};
    const StepStatus status = bristle::settle(system_, now, state, {}, &events);
    const bool too_far =
        status == StepStatus::too_many_contacts || status == StepStatus::too_many_pairs;
    if (!too_far || now < nothing_moves) return {status, part};
  }
}

/// What y holds of the memory of rows, in the order of the rows: what rates depend on,
/// then the ledger.
void MotionOde::lay_out(const State& state) {
  memory_entries_.clear();
  for (const bool ledger : {false, true}) {
    if (ledger) core_entries_ = memory_entries_.size();
    lay_out_pool(system_.pools.joints, state.joints, true, ledger);
    lay_out_pool(system_.pools.points, state.contacts, false, ledger);
  }
  core_ = memory_at() + core_entries_ + 2;
  works_at_ = core_ + memory_entries_.size() - core_entries_;
  size_ = works_at_ + lines_.size();
  start_.resize(size_);
}

void MotionOde::lay_out_pool(const LawPool& pool, const LawRows& rows, bool joint,
                             bool ledger) {
  const MemoryLayout& layout = pool.layout();
  const std::size_t first_row = joint ? 0 : joint_rows_;
  const std::size_t first_place = joint ? 0 : joint_memory_;
  for (std::size_t b = 0; b < pool.blocks().size(); ++b) {
    const LawBlock& laws = pool.blocks()[b];
    for (auto i = at(rows.begin[b]); i < at(rows.begin[b + 1]); ++i) {
      if (!rows_[first_row + i].acts()) continue;
      const auto take = [&](int column, MemoryKind kind) {
        memory_entries_.push_back({first_place + at(column) * rows.capacity() + i,
                                   first_row + i, at(column), kind});
      };
      if (!ledger) {
        if (!joint) take(MemoryLayout::turn, MemoryKind::frame);
        int column = layout.normal;
        for (const StateField& field : entry_of(laws.normal).state) {
          take(column++, kind_of(field, MemoryKind::depth));
        }
        column = layout.friction;
        for (const StateField& field : friction_memory(laws.friction)) {
          take(column++, kind_of(field, MemoryKind::stretch));
        }
        continue;
      }
      if (!joint && regenerates_) take(MemoryLayout::travel, MemoryKind::travel);
      if (!model_->contact_ledger) continue;
      for (int k = layout.normal_ledger; k < layout.count; ++k) {
        take(k, MemoryKind::ledger);
      }
    }
  }
}

/// Lists the rows of a state: which of them act, and where they are.
void MotionOde::begin_rows(const State& state) {
  state_ = &state;
  joint_rows_ = at(state.joints.count);
  joint_memory_ = state.joints.memory.size();
  memory_.resize(joint_memory_ + state.contacts.memory.size());
  memory_rates_.resize(memory_.size());
  memory_by_pool_ = split(std::span<const double>(memory_));
  rates_by_pool_ = split(std::span(memory_rates_));
  std::swap(rows_, rows_before_);
  list_rows(state, rows_);
  located_.assign(rows_.size(), 0);
  start_motion_.resize(rows_.size());
  depths_.resize(rows_.size());
  open_.clear();
  closed_.clear();
  std::size_t row = 0;
  for (const LawRows* of_pool :
       {&state.joints, static_cast<const LawRows*>(&state.contacts)}) {
    for (std::size_t i = 0; i < at(of_pool->count); ++i, ++row) {
      start_motion_[row] = {of_pool->depth[i], of_pool->rate[i]};
      depths_[row] = of_pool->depth[i];
      if (rows_[row] == empty_row) continue;
      (rows_[row].acts() ? closed_ : open_).push_back(row);
    }
  }
}

bool MotionOde::begin(const State& state, int clock_row, double s) {
  const bool same_clock = clock_row == clock_row_;
  const bool same_stride = stride_ == state.contacts.capacity();
  clock_row_ = clock_row;
  stride_ = state.contacts.capacity();
  begin_rows(state);
  roots_.assign(by_clock() ? rows_.size() : 0, 0);
  const bool same = same_clock && same_stride && core_ > 0 && rows_ == rows_before_;
  if (!same) {
    lay_out(state);
    list_blocks(state, blocks_);
    guards_.lay_out(rows_, blocks_);
  }
  std::copy(state.q.begin(), state.q.end(), start_.begin());
  std::copy(state.v.begin(), state.v.end(),
            start_.begin() + static_cast<std::ptrdiff_t>(nq_));
  const auto remembered = [&](const MemoryEntry& entry) {
    return entry.place < joint_memory_
               ? state.joints.memory[entry.place]
               : state.contacts.memory[entry.place - joint_memory_];
  };
  double* to = start_.data() + memory_at();
  for (const MemoryEntry& entry : core_memory()) *to++ = remembered(entry);
  to = start_.data() + core_;
  for (const MemoryEntry& entry : later_memory()) *to++ = remembered(entry);
  start_[s_at()] = s;
  start_[t_at()] = state.time;
  rounding_ = depth_rounding(start_);
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    start_[works_at_ + k] = field<double>(state.works, lines_[k]);
  }
  if (!same) copy_memory(start_);
  held_ = sides();
  return same;
}

bool MotionOde::began_with(const Vector& y) const {
  if (model_->loop_rows > 0 || !model_->prescribed.empty()) return false;
  std::size_t i = memory_at();
  for (const MemoryEntry& entry : core_memory()) {
    const bool differs = start_[i] != y[i];
    if (entry.kind != MemoryKind::frame && differs) return false;  // frames begin anew
    ++i;
  }
  return true;
}

void MotionOde::finish(const Vector& y, State& state) {
  std::copy_n(y.begin(), nq_, state.q.begin());
  std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(nq_), nv_, state.v.begin());
  if (quaternions_) normalise<double>(model_->tree, state.q);
  const auto remember = [&](const MemoryEntry& entry, double value) {
    if (entry.place < joint_memory_) {
      state.joints.memory[entry.place] = value;
    } else {
      state.contacts.memory[entry.place - joint_memory_] = value;
    }
  };
  const double* from = y.data() + memory_at();
  for (const MemoryEntry& entry : core_memory()) remember(entry, *from++);
  from = y.data() + core_;
  for (const MemoryEntry& entry : later_memory()) remember(entry, *from++);
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    field<double>(state.works, lines_[k]) = y[works_at_ + k];
  }
  state.time = y[t_at()];
  state.committed = false;
  if (!guards_.any_on_bound()) return;
  measure(y, true);
  keep_bounds(state);
}

/// Memory that is held on its bound becomes as long as the bound is where all contacts
/// were measured last; what its spring loses by that is slip.
void MotionOde::keep_bounds(State& state) {
  const auto keep = [&](LawPool& pool, LawRows& rows, std::size_t first,
                        const HeldLaws& held, double& slip) {
    const LawColumns columns = pool.law_columns(rows.memory, rows.memory, &held);
    const std::size_t ledger = at(pool.layout().friction_ledger + 1) * rows.capacity();
    for (std::size_t b = 0; b < pool.blocks().size(); ++b) {
      const LawChoice& choice = pool.blocks()[b].friction;
      for (auto i = at(rows.begin[b]); i < at(rows.begin[b + 1]); ++i) {
        if (!rows_[first + i].acts() || !guards_.on_bound(first + i)) continue;
        released_.assign(i + 1, 0.0);
        friction_law(choice).commit(choice, columns, {i, i + 1}, released_.data());
        slip += released_[i];
        if (model_->contact_ledger) rows.memory[ledger + i] += released_[i];
      }
    }
  };
  keep(system_.pools.joints, state.joints, 0, held_.joints,
       state.works.joint_friction.slip);
  keep(system_.pools.points, state.contacts, joint_rows_, held_.contacts,
       state.works.friction.slip);
}

GuardEvent MotionOde::note_event(std::size_t guard, double time, double step) {
  const GuardEvent event = guards_.note_event(guard, time, step);
  if (event.kind == EventKind::touch) mark_row(at(event.row), RowEvent::touches);
  if (event.kind == EventKind::lift_off) {
    const bool by_its_clock = event.row == clock_row_;
    mark_row(at(event.row), by_its_clock ? RowEvent::leaves_by_clock : RowEvent::leaves);
  }
  return event;
}

Event MotionOde::told(const GuardEvent& event) const {
  const std::size_t row = at(event.row);
  const RowId& id = rows_[row];
  const bool joint = row < joint_rows_;
  return {.kind = event.kind,
          .time = event.time,
          .contact = joint ? ContactKey{} : ContactKey{id.a, id.b, id.feature},
          .joint_row = joint ? event.row : -1,
          .episode = id.episode,
          .speed = std::abs(approach(row)),
          .law = event.law};
}

double MotionOde::depth_rounding(const Vector& y) const {
  double farthest = least_position;
  for (std::size_t i = 0; i < nq_; ++i) farthest = std::max(farthest, std::abs(y[i]));
  return roundings * farthest;
}

/// All memory of the rows, for the passes: that of open contacts does not change.
void MotionOde::copy_memory(const Vector& y) {
  std::copy(state_->joints.memory.begin(), state_->joints.memory.end(), memory_.begin());
  std::copy(state_->contacts.memory.begin(), state_->contacts.memory.end(),
            memory_.begin() + static_cast<std::ptrdiff_t>(joint_memory_));
  const double* from = y.data() + memory_at();
  for (const MemoryEntry& entry : core_memory()) memory_[entry.place] = *from++;
}

/// Kinematics and contacts at y; open contacts stay open, and the row whose time runs is
/// as deep as s says.
void MotionOde::place(const Vector& y, bool all) {
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
  const double* from = y.data() + memory_at();
  for (const MemoryEntry& entry : core_memory()) memory_[entry.place] = *from++;
  move_to(system_, *state_, q_now_, v_now_, memory_by_pool_, all);
  double* const of_joints = system_.pools.joints.column(RowColumns::depth).data();
  double* const of_contacts = system_.pools.points.column(RowColumns::depth).data();
  const auto depth_column = [&](std::size_t row) -> double& {
    return row < joint_rows_ ? of_joints[row] : of_contacts[row - joint_rows_];
  };
  if (all) {
    for (std::size_t i = 0; i < rows_.size(); ++i) depths_[i] = depth_column(i);
  }
  for (const std::size_t i : open_) {
    if (i < joint_rows_) {
      system_.pools.joints.open(i);
    } else {
      system_.pools.points.open(i - joint_rows_);
    }
  }
  // Closed contacts stay closed, and as deep as rounding can tell well: laws that set in
  // at once, or whose rates go by 1/δ, would else switch to and fro within steps.
  for (const std::size_t i : closed_) {
    if (!guards_.inside(i)) continue;
    const double least = i < least_depths_.size() ? least_depths_[i] : 0;
    double& depth = depth_column(i);
    depth = std::max({depth, rounding_, least});
  }
  if (!by_clock()) return;
  const auto own = at(clock_row_);
  const double s = y[s_at()];
  if (all) clock_lag_ = depths_[own] - s * s;
  depths_[own] = std::copysign(s * s, s);  // t turns where s is 0
  depth_column(own) = s * s;
  for (const std::size_t i : closed_) {
    roots_[i] = std::sqrt(std::max(depth_column(i), 0.0));
  }
  roots_[own] = s;
}

/// The passes go by the sides of guards, and by s where a contact's time runs.
HeldPools MotionOde::sides() const {
  const auto from = [&](std::size_t row) {
    return HeldLaws{guards_.normal_held(row), guards_.friction_held(row),
                    roots_.empty() ? nullptr : roots_.data() + row};
  };
  return {from(0), from(joint_rows_)};
}

void MotionOde::rates(const Vector& y, double* rate, bool all) {
  ++evaluations_;
  place(y, all);
  // Where nothing acts, the passes have nothing to do.
  const bool idle = closed_.empty() && model_->joint_blocks == 0;
  const double time = y[t_at()];
  apply_forces(system_, {.held = &held_}, time, q_now_, v_now_,
               {state_->joints, idle ? nothing_ : state_->contacts}, memory_by_pool_,
               rates_by_pool_, {});
  accelerate(system_, time, 0, v_now_, {});
  const double pace = this->pace(y);
  position_rates<double>(model_->tree, q_now_, v_now_, std::span(rate, nq_));
  if (by_clock()) {
    for (std::size_t i = 0; i < nq_; ++i) rate[i] *= pace;
  }
  for (std::size_t i = 0; i < nv_; ++i) rate[nq_ + i] = pace * system_.acceleration[i];
  double* to = rate + memory_at();
  for (const MemoryEntry& entry : core_memory())
    *to++ = pace * memory_rates_[entry.place];
  to = rate + core_;
  for (const MemoryEntry& entry : later_memory()) {
    *to++ = pace * memory_rates_[entry.place];
  }
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    rate[works_at_ + k] = pace * field<double>(system_.powers, lines_[k]);
  }
  rate[s_at()] = by_clock() ? approach(at(clock_row_)) : 0;
  rate[t_at()] = pace;
}

void MotionOde::measure(const Vector& y, bool with_laws) {
  ++contact_evaluations_;
  place(y, true);
  if (!with_laws || closed_.empty()) return;
  contact_forces(system_, {.held = &held_}, *state_, memory_by_pool_, rates_by_pool_);
}

double MotionOde::approach(std::size_t row) const {
  return row < joint_rows_ ? system_.pools.joints.depth_rate(row)
                           : system_.pools.points.depth_rate(row - joint_rows_);
}

bool MotionOde::begins_smoothly(std::size_t row) const {
  const PointPool& points = system_.pools.points;
  if (row < joint_rows_ || !points.has_patches()) return false;
  const LawBlock& laws = points.laws_of(state_->contacts, row - joint_rows_);
  // Friction with parametric work has a spring that changes with √δ.
  return laws.volumetric && !friction_law(laws.friction).lines.parametric;
}

double MotionOde::normal_force(std::size_t row) const {
  return value(RowColumns::normal, row);
}

bool MotionOde::contact_set_complete() const {
  const PointPool& points = system_.pools.points;
  for (std::size_t p = 0; p < state_->contacts.pairs.size(); ++p) {
    if (points.unmatched(p) > rounding_) return false;
  }
  return std::none_of(closed_.begin(), closed_.end(), [&](std::size_t i) {
    return i >= joint_rows_ && points.lost(i - joint_rows_) && guards_.inside(i);
  });
}

void MotionOde::gaps(Vector& of_pairs) const {
  const PointPool& points = system_.pools.points;
  const std::vector<PairSlice>& pairs = state_->contacts.pairs;
  of_pairs.resize(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    double depth = points.unmatched(p);
    const auto first = at(pairs[p].first);
    for (std::size_t i = first; i < first + at(pairs[p].count); ++i) {
      if (!points.lost(i)) depth = std::max(depth, depths_[joint_rows_ + i]);
    }
    of_pairs[p] = std::isfinite(depth) ? std::max(-depth, 0.0) : 0;
  }
}

bool MotionOde::has_rows(std::uint32_t a, std::uint32_t b) const {
  const std::vector<PairSlice>& all = state_->contacts.pairs;
  return std::any_of(all.begin(), all.end(),
                     [&](const PairSlice& pair) { return pair.a == a && pair.b == b; });
}

bool MotionOde::touches(const PairSlice& pair) const {
  const auto first = joint_rows_ + at(pair.first);
  for (std::size_t i = first; i < first + at(pair.count); ++i) {
    if (rows_[i].acts() && guards_.inside(i)) return true;
  }
  return false;
}

void MotionOde::read_guards(Vector& guards) {
  guards_.evaluate(system_.pools.joints.law_columns(memory_by_pool_.joints),
                   system_.pools.points.law_columns(memory_by_pool_.contacts), depths_,
                   guards);
}

std::size_t MotionOde::stretch_at(std::size_t row) const {
  std::size_t i = memory_at();
  for (const MemoryEntry& entry : core_memory()) {
    if (entry.row == row && entry.kind == MemoryKind::stretch) return i;
    ++i;
  }
  return size_;
}

/// How bounds move against what they bound: by a difference along the motion.
void MotionOde::read_slopes(const Vector& y, const Vector& rate, double length,
                            GuardReading& reading) {
  reading.slopes.assign(reading.guards.size(), 0);
  if (!guards_.locates_bounds() || closed_.empty()) return;
  const auto in_force = [&](std::size_t g) {
    return guards_.is_bound(g) &&
           (guards_.side(g) != 0 || reading.guards[g] != 0 || reading.guards[g + 1] > 0);
  };
  bool any = false;
  for (std::size_t g = 0; g < reading.guards.size(); ++g) any = any || in_force(g);
  if (!any) return;
  const double way = slope_part * length;
  nearby_ = y;
  for (std::size_t i = 0; i < core_; ++i) nearby_[i] += way * rate[i];
  measure(nearby_, true);
  read_guards(guards_nearby_);
  for (std::size_t g = 0; g < reading.guards.size(); ++g) {
    if (!in_force(g)) continue;
    reading.slopes[g] = (guards_nearby_[g] - reading.guards[g]) / way;
    if (guards_.side(g) != 0 || reading.guards[g] != 0) continue;
    // At touch-down, where t is at rest by η: δ = s² takes s²/δ̇.
    const double s = nearby_[s_at()];
    const double elapsed = by_clock() ? s * s / rate[s_at()] : way;
    reading.slopes[g] += elapsed * reading.guards[g + 1] / way;
  }
  measure(y, true);
}

void MotionOde::read(const Vector& y, const Vector& rate, double length,
                     GuardReading& reading) {
  read(reading);
  read_slopes(y, rate, length, reading);
}

void MotionOde::read(GuardReading& reading) {
  read_guards(reading.guards);
  reading.approach.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) reading.approach[i] = approach(i);
  reading.clock_lag = clock_lag_;
  reading.contact_set_complete = contact_set_complete();
  gaps(reading.gaps);
  if (!model_->broad_phase && model_->pairs.empty()) return;
  reading.poses.assign(system_.tree.poses.begin(), system_.tree.poses.end());
  reading.velocities.assign(system_.tree.velocities.begin(),
                            system_.tree.velocities.end());
}

void MotionOde::observe(const Vector& y, double time, const State& state, State& sample) {
  measure(y, true);
  sample = state;
  finish(y, sample);
  sample.time = time;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row] == empty_row) continue;
    const bool joint = row < joint_rows_;
    const std::size_t i = joint ? row : row - joint_rows_;
    LawRows& rows = joint ? sample.joints : sample.contacts;
    rows.depth[i] = depth(row);
    rows.rate[i] = approach(row);
    if (joint) continue;
    sample.contacts.point[i] = system_.pools.points.place(i).point;
    sample.contacts.frame[i] = system_.pools.points.place(i).frame;
  }
}

}  // namespace bristle
