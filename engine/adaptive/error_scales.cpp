#include "bristle/adaptive/error_scales.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

// Where nothing touches, nothing says how accurate a motion must be: a millimetre and
// 1 mm/s are what machines are built and measured to. Measured: 0.1 mm costs 1 % more and
// makes the errors of runs half as large, 10 mm 0.2 % less and half as large again; of
// the speed, 0.1 to 10 mm/s are within 0.1 %.
constexpr double free_length = 1e-3;  // [m]
constexpr double free_speed = 1e-3;   // [m/s]
// Weightless scenes are measured as if they weighed a ten-thousandth: contacts are then
// 1/460 as deep (Hertz) as under their weight, and impacts set the scale [m/s²].
constexpr double least_gravity = 1e-3;
// A spring of a loop gives way by a nanometre at least, ten million roundings of a metre;
// and the ledger of a scene in which nothing moves is measured by what a milligram gains
// in falling 0.1 µm.
constexpr double least_loop_length = 1e-9;  // [m]
constexpr double least_energy = 1e-12;      // [J]

// Deflections below this are without meaning (friction/bristle.hpp) [m].
constexpr double least_stretch = 1e-12;

// A velocity that is small among others need not be as accurate: to this part of the
// fastest. Measured: 1e-4 to 2e-3 are the same, 1e-2 costs 0.4 % less.
constexpr double slow_part = 1e-3;

// A closed contact is at least so deep, by its depth at rest: the force of a linear law
// is 1e-7 of the weight there, and less under steeper ones, below what any tolerance in
// use sees of accelerations. Measured: 1e-8 to 1e-6 are within 0.4 %.
constexpr double least_depth = 1e-7;

// Rounding of a number of y itself: four times 2⁻⁵³ of it, and of what is a thousandth in
// SI units. Measured: up to three times as much is the same.
constexpr double number_rounding = 4e-16, least_number = 1e-3;

// Differences for slopes, of the scale. A depth is the difference of positions, known to
// 1e-10 where it is a micrometre: a thousandth of it gives a slope to 1e-7 of rounding,
// and to 1e-3/4 of the curvature of δ^{3/2}. A velocity is no difference, and dampers are
// linear in it but for their switches: 1e-5. Measured: a third of both costs 6 % less
// evaluations, twice as much 10 % more, ten times 50 %; smaller ones are not taken, since
// rounding in scenes that are larger than these comes closer. Of time: motors change over
// milliseconds and more, and 1e-6 of a second is known to 1e-10 of it.
constexpr double position_part = 1e-3, velocity_part = 1e-5;
constexpr double time_step = 1e-6;  // [s]

/// x with f(x) = wanted for a function that grows from f(0) ≤ wanted on, to 1 %: a scale
/// need not be better known than that.
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

/// How far friction stretches before it slips, under such a load; at most so deep.
double stretch_of(RowLaws& laws, double depth, double force) {
  const FrictionSpring<double, 3> spring = laws.spring(depth, force);
  const double stretch = spring.bound / spring.stiffness;
  return stretch > 0 && stretch < depth ? stretch : depth;
}

}  // namespace

double worst_ratio(const std::vector<double>& errors,
                   const std::vector<double>& allowed) noexcept {
  double worst = 0;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const double ratio = std::abs(errors[i]) / allowed[i];
    if (std::isnan(ratio)) return ratio;
    worst = std::max(worst, ratio);
  }
  return worst;
}

ErrorScales::ErrorScales(MotionOde& ode)
    : ode_(&ode), longest_(free_length), scratch_(ode.velocity_count()) {
  // Springs between bodies give way by what their load is over their stiffness.
  const Model& model = ode.model();
  double mass = 0;
  for (const LinkConstants<double>& link : ode.system().tree.constants) {
    mass += link.inertia.mass;
  }
  const double weight = mass * std::max(norm(model.tree.gravity()), least_gravity);
  for_each_spring_pool(ode.system().pools.springs, [&](const auto& pool) {
    for (std::size_t i = 0; i < pool.size(); ++i) {
      longest_ =
          std::min(longest_, std::max(weight / pool.stiffness(i), least_loop_length));
    }
  });
}

Impact ErrorScales::impact(const State& state, std::size_t row) {
  factorise<double>(ode_->model().tree, ode_->system().tree);
  const RowScale scale = scale_of(state, row);
  const double rate = motion_of(state, row).rate;
  return {scale.time * std::max(rate, scale.speed), scale.time};
}

ErrorScales::RowScale ErrorScales::scale_of(const State& state, std::size_t row) {
  System& system = ode_->system();
  const Model& model = ode_->model();
  laws_of(system, state, row, laws_);
  const double load = friction_load(system, state, row);
  if (load > 0) return {.stretch = stretch_of(laws_, 1, load)};
  const double mobility = inverse_mass(system, state, row, scratch_);
  if (!(mobility > 0)) return {.stretch = longest_};
  const double g = std::max(norm(model.tree.gravity()), least_gravity);
  const auto static_force = [&](double depth) {
    return laws_.linearise(depth).static_force;
  };
  const auto stored = [&](double depth) { return laws_.stored(depth); };
  const double rest = inverse_of(static_force, g / mobility);
  const double speed = std::sqrt(g * rest);
  const double rate = motion_of(state, row).rate;
  const double energy = 0.5 * rate * rate / mobility;
  const double deep = std::max(rest, inverse_of(stored, energy));
  return {.depth = rest,
          .speed = speed,
          .time = deep / std::max(rate, speed),
          .stretch = stretch_of(laws_, deep, static_force(deep))};
}

void ErrorScales::measure(const State& state) {
  System& system = ode_->system();
  const Tree& tree = ode_->model().tree;
  factorise<double>(tree, system.tree);
  const std::span<const RowId> rows = ode_->rows();
  std::vector<RowScale>& now = next_rows_;
  now.assign(rows.size(), {});
  double resting = 0;  // energy of sinking in under what contacts carry [J]
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].acts()) continue;
    const auto known = std::find_if(rows_.begin(), rows_.end(), [&](const RowScale& r) {
      return r.episode == rows[i].episode;
    });
    now[i] = known != rows_.end() ? *known : scale_of(state, i);
    now[i].episode = rows[i].episode;
    const double mobility =
        now[i].speed > 0 ? inverse_mass(system, state, i, scratch_) : 0;
    if (mobility > 0) resting += now[i].speed * now[i].speed / mobility;
  }
  std::swap(rows_, now);
  double moved = kinetic_energy<double>(tree, state.v, system.tree);
  for (std::size_t k = 0; k < work_lines; ++k) {
    moved += std::abs(field<double>(state.works, k));
  }
  energy_ = std::max({energy_, moved, resting, least_energy});
  least_depths_.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    least_depths_[i] = least_depth * rows_[i].depth;
  }
  ode_->set_least_depths(least_depths_);
}

void ErrorScales::scales(const Vector& from, Vector& scale) {
  const MotionOde& ode = *ode_;
  scale.resize(ode.size());
  double length = HUGE_VAL, speed = HUGE_VAL;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const RowScale& row = rows_[i];
    if (row.time == 0) continue;
    const SettledRow motion = ode.start_motion(i);
    const double rate = std::abs(motion.rate);
    const double depth = std::max({row.depth, motion.depth, rate * row.time});
    length = std::min(length, depth);
    speed = std::min(speed, std::max({row.speed, rate, depth / row.time}));
  }
  if (!std::isfinite(speed)) speed = free_speed;
  length = std::min(length, longest_);
  const std::size_t nq = ode.position_count(), end = nq + ode.velocity_count();
  double fastest = 0;
  for (std::size_t i = nq; i < end; ++i) fastest = std::max(fastest, std::abs(from[i]));
  std::fill_n(scale.begin(), nq, length);
  for (std::size_t i = nq; i < end; ++i) {
    scale[i] = std::max({std::abs(from[i]), slow_part * fastest, speed});
  }
  // What the same laws remember in other contacts is of the same size.
  largest_.assign(ode.memory_columns(), 0);
  stretched_.assign(rows_.size(), 0);
  std::size_t i = ode.memory_at();
  for (const MemoryEntry& entry : ode.core_memory()) {
    const double size = std::abs(from[i++]);
    largest_[entry.column] = std::max(largest_[entry.column], size);
    if (entry.kind != MemoryKind::stretch) continue;
    stretched_[entry.row] = std::max(stretched_[entry.row], size);
  }
  i = ode.memory_at();
  for (const MemoryEntry& entry : ode.core_memory()) {
    const double least = entry.kind == MemoryKind::depth     ? length
                         : entry.kind == MemoryKind::stretch ? rows_[entry.row].stretch
                                                             : 1;
    scale[i] = std::max(largest_[entry.column], least);
    // On its bound, memory grows with the load, and so do errors of its direction.
    const bool grows = entry.kind == MemoryKind::stretch &&
                       ode.start_motion(entry.row).rate > 0 &&
                       ode.guards().on_bound(entry.row);
    if (grows) {
      scale[i] = std::sqrt(scale[i] * std::max(stretched_[entry.row], least_stretch));
    }
    ++i;
  }
  const bool clock = ode.by_clock();
  scale[ode.s_at()] =
      clock ? std::max(std::abs(from[ode.s_at()]), std::sqrt(clock_.depth)) : HUGE_VAL;
  scale[ode.t_at()] = clock ? clock_.time : HUGE_VAL;
  i = ode.core();
  for (const MemoryEntry& entry : ode.later_memory()) {
    scale[i++] = entry.kind == MemoryKind::travel ? length : energy_;
  }
  // What starts at rest has no energy then: motors and gravity bring it.
  double done = 0;
  for (std::size_t k = ode.works_at(); k < from.size(); ++k) done += std::abs(from[k]);
  energy_ = std::max(energy_, done);
  std::fill(scale.begin() + static_cast<std::ptrdiff_t>(ode.works_at()), scale.end(),
            energy_);
}

void ErrorScales::allowances(double rtol, const Vector& from, Vector& allowed) {
  scales(from, allowed);
  // Depths are differences of positions: what rounding leaves of them bounds everything
  // that follows from them, unless a contact's time has its own.
  if (ode_->any_acts() && !ode_->by_clock() && ode_->position_count() > 0) {
    rtol = std::max(rtol, ode_->depth_rounding(from) / allowed[0]);
  }
  for (std::size_t i = 0; i < ode_->size(); ++i) {
    allowed[i] =
        std::max(rtol * allowed[i], number_rounding * (std::abs(from[i]) + least_number));
  }
}

void ErrorScales::differentiate(const Vector& y, const double* rate, std::size_t i,
                                const Vector& scale, Vector& slopes) {
  const std::size_t nq = ode_->position_count();
  const bool of_velocity = i >= nq && i < nq + ode_->velocity_count();
  double d = time_step;
  if (i != ode_->t_at()) d = (of_velocity ? velocity_part : position_part) * scale[i];
  moved_ = y;
  moved_[i] += d;
  d = moved_[i] - y[i];
  slopes.resize(y.size());
  ode_->rates(moved_, slopes.data());
  for (std::size_t r = 0; r < ode_->size(); ++r) slopes[r] = (slopes[r] - rate[r]) / d;
}

}  // namespace bristle
