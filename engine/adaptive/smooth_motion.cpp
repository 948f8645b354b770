#include "bristle/adaptive/smooth_motion.hpp"

#include <algorithm>
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
      guards_(model, system_.contacts.capacity),
      q_(nq_),
      memory_(system_.contacts.rates.size()),
      memory_rates_(memory_.size()),
      halves_(nv_),
      unit_(nv_) {
  for (const Link& link : model.tree.links()) {
    if (quaternion_at(link.type) >= 0) quaternions_ = true;
  }
  nothing_.begin.assign(model.blocks.size() + 1, 0);
  open_.reserve(system_.contacts.capacity);
  closed_.reserve(system_.contacts.capacity);
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
  contacts_ = &state.contacts;
  const ContactRows& contacts = state.contacts;
  const bool same_clock = clock_row == clock_row_;
  clock_row_ = clock_row;
  std::swap(rows_, rows_before_);
  const auto count = at(contacts.count);
  list_rows(*model_, state, rows_);
  depths_.resize(count);
  open_.clear();
  closed_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    depths_[i] = contacts.rows[i].depth;
    (rows_[i].acts() ? closed_ : open_).push_back(i);
  }
  roots_.resize(clock_row >= 0 ? system_.contacts.capacity : 0);
  if (clock_row >= 0) {
    for (const std::size_t i : open_) roots_[i] = 0;
  }
  const bool same = same_clock && core_ > 0 && rows_ == rows_before_;
  if (!same) {
    const MemoryLayout& layout = system_.contacts.layout;
    const std::size_t stride = system_.contacts.capacity;
    places_.clear();
    kinds_.clear();
    for (const bool books : {false, true}) {
      if (books) books_at_ = places_.size();
      for (std::size_t b = 0; b < model_->blocks.size(); ++b) {
        const LawBlock& laws = model_->blocks[b];
        const bool joint = static_cast<int>(b) < model_->joint_blocks;
        for (auto i = at(contacts.begin[b]); i < at(contacts.begin[b + 1]); ++i) {
          if (!rows_[i].acts()) continue;
          const auto take = [&](int first, int fields, std::uint8_t kind) {
            for (int k = first; k < first + fields; ++k) {
              places_.push_back(at(k) * stride + i);
              kinds_.push_back(kind);
            }
          };
          if (!books) {
            if (!joint) take(MemoryLayout::turn, 1, of_frame);
            int column = layout.normal;
            for (const StateField& field : entry_of(laws.normal).state) {
              take(column++, 1, kind_of(field, of_depth));
            }
            column = layout.friction;
            for (const StateField& field : entry_of(laws.friction).state) {
              take(column++, 1, kind_of(field, of_stretch));
            }
          } else {
            if (!joint && regenerates_) take(MemoryLayout::travel, 1, of_travel);
            if (model_->contact_books) take(layout.normal_books, 10, of_books);
          }
        }
      }
    }
    guards_.lay_out(rows_, contacts.begin);
    core_ = nq_ + nv_ + books_at_ + 2;
    works_at_ = core_ + places_.size() - books_at_;
    size_ = works_at_ + lines_.size();
    start_.resize(size_);
  }
  std::copy(state.q.begin(), state.q.end(), start_.begin());
  std::copy(state.v.begin(), state.v.end(),
            start_.begin() + static_cast<std::ptrdiff_t>(nq_));
  for (std::size_t k = 0; k < books_at_; ++k) {
    start_[nq_ + nv_ + k] = contacts.memory[places_[k]];
  }
  for (std::size_t k = books_at_; k < places_.size(); ++k) {
    start_[core_ + k - books_at_] = contacts.memory[places_[k]];
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
  for (std::size_t k = 0; k < books_at_; ++k) {
    state.contacts.memory[places_[k]] = y[nq_ + nv_ + k];
  }
  for (std::size_t k = books_at_; k < places_.size(); ++k) {
    state.contacts.memory[places_[k]] = y[core_ + k - books_at_];
  }
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    field<double>(state.works, lines_[k]) = y[works_at_ + k];
  }
  state.time = y[t_at()];
  state.committed = false;
}

/// All memory of the rows, for the passes: that of open contacts does not change.
void SmoothMotion::copy_memory(const Vector& y) {
  const std::size_t stride = system_.contacts.capacity;
  const auto count = static_cast<std::ptrdiff_t>(rows_.size());
  for (std::size_t c = 0; c < at(system_.contacts.layout.count); ++c) {
    const auto from = contacts_->memory.begin() + static_cast<std::ptrdiff_t>(c * stride);
    std::copy(from, from + count,
              memory_.begin() + static_cast<std::ptrdiff_t>(c * stride));
  }
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
  move_to(system_, *contacts_, q_now_, v_now_, memory_, all);
  double* depth = system_.contacts.columns.data();
  if (all) std::copy_n(depth, rows_.size(), depths_.begin());
  for (const std::size_t i : open_) depth[i] = -1;
  // Closed contacts stay closed, and as deep as rounding can tell well: laws that set in
  // at once, or whose rates go by 1/δ, would else switch to and fro within steps.
  for (const std::size_t i : closed_) {
    const double natural = i < row_scales_.size() ? row_scales_[i].depth : 0;
    if (guards_.inside(i)) {
      depth[i] = std::max({depth[i], rounding_, least_depth * natural});
    }
  }
  if (clock_row_ < 0) return;
  const double s = y[s_at()];
  if (all) clock_lag_ = depths_[at(clock_row_)] - s * s;  // t turns where s is 0
  depths_[at(clock_row_)] = std::copysign(s * s, s);
  depth[clock_row_] = s * s;
  for (const std::size_t i : closed_) roots_[i] = std::sqrt(std::max(depth[i], 0.0));
  roots_[at(clock_row_)] = s;
}

bool SmoothMotion::stands() const {
  const ContactWorkspace& ws = system_.contacts;
  for (const PairGroup& group : ws.groups) {
    if (group.stranger > rounding_) return false;
  }
  return std::none_of(closed_.begin(), closed_.end(), [&](std::size_t i) {
    return ws.lost[i] != 0 && guards_.inside(i);
  });
}

int SmoothMotion::places_to_look() const {
  const ContactWorkspace& ws = system_.contacts;
  double most = 0;
  for (const PairGroup& group : ws.groups) {
    const auto first = static_cast<std::size_t>(group.first);
    bool lost = false;
    for (std::size_t i = first; i < first + at(group.count); ++i) {
      lost = lost || (!rows_[i].acts() && ws.lost[i] != 0);
    }
    if (!lost) continue;
    const ShapePair& pair = ws.candidates[group.pair];
    const double one = model_->shapes[pair.a].radius, two = model_->shapes[pair.b].radius;
    if (!std::isfinite(one + two)) continue;  // nothing gets behind a plane
    // Contacts are looked for twice as far as the bodies go.
    const double way = 0.5 * (ws.margins[pair.a] + ws.margins[pair.b]);
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
  apply_forces(system_, Form::evaluate, 0, time, q_now_, v_now_,
               idle ? nothing_ : *contacts_, memory_, memory_rates_, {}, held());
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
  contact_forces(*model_, Form::evaluate, 0, *contacts_, memory_, memory_rates_,
                 system_.contacts, held());
}

/// The passes go by the sides of guards, and by √δ where a clock owns it.
HeldRows SmoothMotion::held() {
  return {roots_.empty() ? nullptr : roots_.data(), guards_.normal_held(),
          guards_.friction_held()};
}

void SmoothMotion::read_guards(Vector& guards) {
  guards_.evaluate(system_.contacts.law_columns(memory_, memory_rates_), depths_, guards);
}

Event SmoothMotion::note_event(std::size_t guard, State& state, double step) {
  const Event event = guards_.note_event(guard, state.time, step);
  if (guards_.is_depth(guard)) {
    const bool by_clock = event.row == clock_row_;
    const int leaves = by_clock ? -2 : -1;
    state.contacts.rows[at(event.row)].event =
        event.kind == EventKind::touch ? 1 : leaves;
  }
  return event;
}

const LawBlock& SmoothMotion::laws_of(const State& state, std::size_t row) const {
  std::size_t b = 0;
  while (at(state.contacts.begin[b + 1]) <= row) ++b;
  return model_->blocks[b];
}

Columns<double> SmoothMotion::normal_memory(const State& state) {
  return system_.contacts
      .law_columns(const_cast<Vector&>(state.contacts.memory), memory_rates_)
      .normal_state;
}

/// The depth at which the normal law of a row stores that energy.
double SmoothMotion::depth_for_energy(const State& state, std::size_t row,
                                      double energy) {
  const LawChoice& law = laws_of(state, row).normal;
  const Columns<double> memory = normal_memory(state);
  return inverse_of(
      [&](double depth) { return normal_law(law).stored(law, memory, row, depth); },
      energy);
}

/// The depth at which it bears that force at rest.
double SmoothMotion::depth_for_force(const State& state, std::size_t row, double force) {
  const LawChoice& law = laws_of(state, row).normal;
  const Columns<double> memory = normal_memory(state);
  return inverse_of(
      [&](double depth) {
        return normal_law(law)
            .linearise(law, memory, row, Kinematics<double>::at(depth, 0.0))
            .static_force;
      },
      force);
}

/// How a row's normal force accelerates its own depth, per newton.
double SmoothMotion::inverse_mass(const State& state, std::size_t row) {
  const Tree& tree = model_->tree;
  if (row < at(state.contacts.begin[at(model_->joint_blocks)])) {
    const JointRow& joint = joint_row(*model_, state.contacts, row);
    std::fill(unit_.begin(), unit_.end(), 0.0);
    unit_[at(joint.dof)] = 1;
    solve_mass<double>(tree, unit_, {}, system_.tree, unit_);
    return unit_[at(joint.dof)];
  }
  const RowPlace& place = system_.contacts.places[row];
  const PushRow<double> push = push_at<double>(system_.tree, place.link_a, place.link_b,
                                               place.point, place.frame.n);
  double result = 0;
  inverse_inertia<double>(tree, std::span(&push, 1), system_.tree, halves_,
                          std::span(&result, 1));
  return result;
}

SmoothMotion::Impact SmoothMotion::impact(const State& state, std::size_t row) {
  factorise<double>(model_->tree, system_.tree);
  const RowScale scale = scale_of(state, row);
  const double rate = state.contacts.rows[row].rate;
  fresh_ = {scale.time * std::max(rate, scale.speed), scale.time};
  return fresh_;
}

SmoothMotion::RowScale SmoothMotion::scale_of(const State& state, std::size_t row) {
  const ContactRow& contact = state.contacts.rows[row];
  const bool of_contact = row >= at(state.contacts.begin[at(model_->joint_blocks)]);
  if (!of_contact && !joint_row(*model_, state.contacts, row).is_limit) {
    const double load = joint_row(*model_, state.contacts, row).load;
    return {contact.episode, 0, 0, 0, stretch_of(state, row, 1, load)};
  }
  const double mobility = inverse_mass(state, row);
  if (!(mobility > 0)) return {contact.episode, 0, 0, 0, length_};
  const double g = std::max(norm(model_->tree.gravity()), 1e-3);
  const double rest = depth_for_force(state, row, g / mobility);
  const double speed = std::sqrt(g * rest);
  const double energy = 0.5 * contact.rate * contact.rate / mobility;
  const double deep = std::max(rest, depth_for_energy(state, row, energy));
  const LawChoice& law = laws_of(state, row).normal;
  const double force =
      normal_law(law)
          .linearise(law, normal_memory(state), row, Kinematics<double>::at(deep, 0.0))
          .static_force;
  return {contact.episode, rest, speed, deep / std::max(contact.rate, speed),
          stretch_of(state, row, deep, force)};
}

/// How far the friction of a row stretches before it slips, under such a load.
double SmoothMotion::stretch_of(const State& state, std::size_t row, double depth,
                                double force) {
  const LawChoice& law = laws_of(state, row).friction;
  const Columns<double> memory =
      system_.contacts
          .law_columns(const_cast<Vector&>(state.contacts.memory), memory_rates_)
          .friction_state;
  const FrictionSpring<double> spring = friction_law(law).spring(
      law, memory, row, Kinematics<double>::at(depth, 0.0), force);
  const double stretch = spring.bound / spring.stiffness;
  return stretch > 0 && stretch < depth ? stretch : depth;
}

void SmoothMotion::measure_scales(const State& state) {
  const Tree& tree = model_->tree;
  factorise<double>(tree, system_.tree);
  std::vector<RowScale> now(rows_.size(), RowScale{0, 0, 0, 0, 0});
  double resting = 0;  // energy of sinking in under what contacts carry [J]
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const ContactRow& row = state.contacts.rows[i];
    const bool of_contact = i >= at(state.contacts.begin[at(model_->joint_blocks)]);
    if (!rows_[i].acts() || (of_contact && row.a == no_shape)) continue;
    const auto known =
        std::find_if(row_scales_.begin(), row_scales_.end(),
                     [&](const RowScale& scale) { return scale.episode == row.episode; });
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
    const double rate = std::abs(contacts_->rows[i].rate);
    const double depth = std::max({row.depth, contacts_->rows[i].depth, rate * row.time});
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
  const std::size_t stride = system_.contacts.capacity;
  largest_.assign(at(system_.contacts.layout.count), 0);
  for (std::size_t k = 0; k < books_at_; ++k) {
    const std::size_t i = nq_ + nv_ + k;
    double& largest = largest_[places_[k] / stride];
    largest = std::max(largest, std::abs(from[i]));
  }
  for (std::size_t k = 0; k < books_at_; ++k) {
    const double least = kinds_[k] == of_depth ? length
                         : kinds_[k] == of_stretch
                             ? row_scales_[places_[k] % stride].stretch
                             : 1;
    scale[nq_ + nv_ + k] = std::max(largest_[places_[k] / stride], least);
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
