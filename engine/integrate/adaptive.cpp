#include "bristle/integrate/adaptive.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bristle/core/dormand_prince.hpp"
#include "bristle/model/positions.hpp"

namespace bristle {

namespace {

using detail::at;

// The interpolant of order 4 is Shampine's (Hairer, Nørsett & Wanner 1993, § II.6).
using dormand_prince::a;
using dormand_prince::defect;
constexpr int stages = dormand_prince::stages;
constexpr double dense[stages] = {
    -12715105075.0 / 11282082432.0,  0,
    87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0};

// RODAS, order 4 with an embedded 3, L-stable (Hairer & Wanner 1996, § IV.10, method of
// rodas.f), for an autonomous system.
constexpr int implicit_stages = 6;
constexpr double implicit_gamma = 0.25;
constexpr double ra[implicit_stages][implicit_stages] = {
    {},
    {1.544000000000000},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
constexpr double rc[implicit_stages][implicit_stages] = {
    {},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054}};

constexpr std::size_t per_row =
    8;  // guards: touching, 3 of the normal law, 4 of friction
constexpr std::size_t friction_guard = 4;

/// x with f(x) = wanted for a function that grows from f(0) ≤ wanted on.
template <class F>
double inverse_of(const F& f, double wanted) {
  double high = 1e-12;
  while (high < 1e3 && f(high) < wanted) high *= 4;
  double low = 0;
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (low + high);
    (f(middle) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

Adaptive::Adaptive(const Model& model, const AdaptiveOptions& options)
    : model_(&model),
      options_(options),
      system_(model),
      nq_(at(model.tree.position_count())),
      nv_(at(model.tree.velocity_count())),
      columns_(at(system_.contacts.layout.count)),
      k_(stages),
      q_(nq_),
      v_(nv_),
      memory_(system_.contacts.rates.size()),
      memory_rates_(memory_.size()) {}

StepStatus Adaptive::settle(State& state) {
  // In the contact's clock a step takes 2 s dη; s is of the order of its scale.
  const double horizon = next_step_ * (clock_row_ >= 0 ? 4 * s_scale_ : 1);
  return bristle::settle(system_, std::max(horizon, 1e-9), state, {},
                         Episodes::by_events);
}

void Adaptive::pack(const State& state) {
  rows_ = at(state.contacts.count);
  memory_at_ = nq_ + nv_;
  works_at_ = memory_at_ + rows_ * columns_;
  s_at_ = works_at_ + work_lines;
  t_at_ = s_at_ + 1;
  size_ = t_at_ + 1;
  for (Vector* x : {&y_, &end_, &stage_, &error_}) x->resize(size_);
  for (Vector& k : k_) k.resize(size_);
  for (Vector* g : {&guards_, &guards_end_, &guards_look_, &guards_found_}) {
    g->resize(rows_ * per_row);
  }
  std::copy(state.q.begin(), state.q.end(), y_.begin());
  std::copy(state.v.begin(), state.v.end(),
            y_.begin() + static_cast<std::ptrdiff_t>(nq_));
  for (std::size_t c = 0; c < columns_; ++c) {
    for (std::size_t i = 0; i < rows_; ++i) {
      y_[memory_at_ + c * rows_ + i] =
          state.contacts.memory[c * system_.contacts.capacity + i];
    }
  }
  for (std::size_t k = 0; k < work_lines; ++k) {
    y_[works_at_ + k] = field<double>(state.works, k);
  }
  y_[t_at_] = state.time;
}

void Adaptive::unpack(const Vector& y, State& state) const {
  std::copy_n(y.begin(), nq_, state.q.begin());
  std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(nq_), nv_, state.v.begin());
  normalise<double>(model_->tree, state.q);
  for (std::size_t c = 0; c < columns_; ++c) {
    for (std::size_t i = 0; i < rows_; ++i) {
      state.contacts.memory[c * system_.contacts.capacity + i] =
          y[memory_at_ + c * rows_ + i];
    }
  }
  for (std::size_t k = 0; k < work_lines; ++k) {
    field<double>(state.works, k) = y[works_at_ + k];
  }
  state.time = y[t_at_];
  state.committed = false;
}

/// Kinematics, contacts and their forces at y; open contacts stay open, and the row whose
/// clock runs is as deep as s says.
void Adaptive::look(const Vector& y) {
  std::copy_n(y.begin(), nq_, q_.begin());
  std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(nq_), nv_, v_.begin());
  normalise<double>(model_->tree, q_);
  for (std::size_t c = 0; c < columns_; ++c) {
    std::copy_n(
        y.begin() + static_cast<std::ptrdiff_t>(memory_at_ + c * rows_), rows_,
        memory_.begin() + static_cast<std::ptrdiff_t>(c * system_.contacts.capacity));
  }
  move_to(system_, *contacts_, q_, v_, memory_);
  double* depth = system_.contacts.columns.data();
  for (std::size_t i = 0; i < rows_; ++i) {
    guards_look_[i * per_row] = depth[i];
    if (contacts_->rows[i].episode == 0) depth[i] = -1;
  }
  if (clock_row_ >= 0) {
    const double s = y[s_at_];
    guards_look_[at(clock_row_) * per_row] = s;
    depth[clock_row_] = s * s;
  }
}

void Adaptive::rates(const Vector& y, Vector& dy) {
  ++counts_.evaluations;
  look(y);
  const double time = y[t_at_];
  apply_forces(system_, Form::evaluate, 0, time, q_, v_, *contacts_, memory_,
               memory_rates_, {});
  accelerate(system_, time, 0, v_, {});
  position_rates<double>(model_->tree, q_, v_, std::span(dy).first(nq_));
  std::copy(system_.acceleration.begin(), system_.acceleration.end(),
            dy.begin() + static_cast<std::ptrdiff_t>(nq_));
  for (std::size_t c = 0; c < columns_; ++c) {
    std::copy_n(memory_rates_.begin() +
                    static_cast<std::ptrdiff_t>(c * system_.contacts.capacity),
                rows_, dy.begin() + static_cast<std::ptrdiff_t>(memory_at_ + c * rows_));
  }
  for (std::size_t k = 0; k < work_lines; ++k) {
    dy[works_at_ + k] = field<double>(system_.powers, k);
  }
  dy[s_at_] = 0;
  dy[t_at_] = 1;
  if (clock_row_ < 0) return;
  const double pace = 2 * y[s_at_];  // dt/dη
  for (double& x : dy) x *= pace;
  dy[s_at_] = system_.contacts.column(RowColumns::rate)[at(clock_row_)];
}

/// The laws' own guards, after rates() or look() with its forces.
void Adaptive::read_guards(Vector& guards) {
  ContactWorkspace& ws = system_.contacts;
  const LawColumns c = ws.law_columns(memory_, memory_rates_);
  for (std::size_t b = 0; b < model_->blocks.size(); ++b) {
    const LawBlock& laws = model_->blocks[b];
    for (std::size_t i = at(contacts_->begin[b]); i < at(contacts_->begin[b + 1]); ++i) {
      double* to = guards.data() + i * per_row;
      to[0] = guards_look_[i * per_row];
      std::fill_n(to + 1, per_row - 1, 0.0);
      if (contacts_->rows[i].episode == 0) continue;
      const auto kin =
          Kinematics<double>::at(c.depth[i], c.rate[i], {c.slip_x[i], c.slip_y[i]});
      NormalLawTable::Guards found{};
      const int normal =
          normal_law(laws.normal).guards(laws.normal, c.normal_state, i, kin, found);
      for (int k = 1; k < normal; ++k) to[k] = found[at(k)];
      const int friction =
          friction_law(laws.friction)
              .guards(laws.friction, c.friction_state, i, kin, c.normal_force[i], found);
      for (int k = 0; k < friction; ++k) to[friction_guard + at(k)] = found[at(k)];
    }
  }
}

/// A step from y_ to end_; returns its error relative to the tolerance.
double Adaptive::try_step(double h) {
  return implicit_ ? try_implicit(h) : try_explicit(h);
}

/// ∂ẏ/∂y by differences, small against the depths of the contacts.
void Adaptive::differentiate() {
  core_.clear();
  for (std::size_t i = 0; i < works_at_; ++i) core_.push_back(i);
  core_.push_back(t_at_);
  const std::size_t n = core_.size();
  jacobian_.resize(size_ * n);
  Vector& there = stage_;
  Vector& rate = k_[1];
  double fastest = 0;
  for (std::size_t i = nq_; i < nq_ + nv_; ++i) {
    fastest = std::max(fastest, std::abs(y_[i]));
  }
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t i = core_[c];
    double step = 1e-6;  // of t
    if (i < nq_) {
      step = 1e-3 * q_scale_;
    } else if (i < memory_at_) {
      step = 1e-5 * std::max({std::abs(y_[i]), 1e-3 * fastest, v_scale_});
    } else if (i < works_at_) {
      step = 1e-6 * std::max(std::abs(y_[i]), q_scale_);
    }
    there = y_;
    there[i] += step;
    step = there[i] - y_[i];
    rates(there, rate);
    for (std::size_t r = 0; r < size_; ++r) {
      jacobian_[r * n + c] = (rate[r] - k_[0][r]) / step;
    }
  }
  slopes_known_ = true;
}

/// LU factors with row exchanges of 1/(hγ) − J.
bool Adaptive::factorise_core(double h) {
  const std::size_t n = core_.size();
  matrix_.resize(n * n);
  pivots_.resize(n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) matrix_[r * n + c] = -jacobian_[core_[r] * n + c];
    matrix_[r * n + r] += 1 / (h * implicit_gamma);
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t r = k + 1; r < n; ++r) {
      if (std::abs(matrix_[r * n + k]) > std::abs(matrix_[best * n + k])) best = r;
    }
    pivots_[k] = best;
    if (!(std::abs(matrix_[best * n + k]) > 0)) return false;
    if (best != k) {
      for (std::size_t c = 0; c < n; ++c)
        std::swap(matrix_[k * n + c], matrix_[best * n + c]);
    }
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = matrix_[r * n + k] / matrix_[k * n + k];
      matrix_[r * n + k] = factor;
      if (factor == 0) continue;
      for (std::size_t c = k + 1; c < n; ++c)
        matrix_[r * n + c] -= factor * matrix_[k * n + c];
    }
  }
  return true;
}

void Adaptive::solve_core(Vector& x) const {
  const std::size_t n = core_.size();
  for (std::size_t k = 0; k < n; ++k) std::swap(x[k], x[pivots_[k]]);
  for (std::size_t r = 1; r < n; ++r) {
    for (std::size_t c = 0; c < r; ++c) x[r] -= matrix_[r * n + c] * x[c];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t c = r + 1; c < n; ++c) x[r] -= matrix_[r * n + c] * x[c];
    x[r] /= matrix_[r * n + r];
  }
}

double Adaptive::try_implicit(double h) {
  if (!slopes_known_) differentiate();
  if (!factorise_core(h)) return HUGE_VAL;
  const std::size_t n = core_.size();
  std::vector<Vector>& u = increments_;
  u.resize(implicit_stages);
  for (Vector& x : u) x.resize(size_);
  Vector x(n);
  Vector& rate = k_[1];
  for (std::size_t s = 0; s < implicit_stages; ++s) {
    for (std::size_t i = 0; i < size_; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < s; ++j) sum += ra[s][j] * u[j][i];
      stage_[i] = y_[i] + sum;
    }
    s == 0 ? static_cast<void>(rate = k_[0]) : rates(stage_, rate);
    for (std::size_t i = 0; i < size_; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < s; ++j) sum += rc[s][j] * u[j][i];
      rate[i] += sum / h;
    }
    for (std::size_t k = 0; k < n; ++k) x[k] = rate[core_[k]];
    solve_core(x);
    for (std::size_t k = 0; k < n; ++k) u[s][core_[k]] = x[k];
    // Works follow, and nothing follows from them.
    for (std::size_t i = works_at_; i < s_at_; ++i) {
      double sum = rate[i];
      for (std::size_t k = 0; k < n; ++k) sum += jacobian_[i * n + k] * x[k];
      u[s][i] = h * implicit_gamma * sum;
    }
    u[s][s_at_] = 0;
  }
  for (std::size_t i = 0; i < size_; ++i) {
    end_[i] = stage_[i] + u[implicit_stages - 1][i];
    error_[i] = u[implicit_stages - 1][i];
  }
  rates(end_, k_[stages - 1]);
  return error_norm();
}

/// How stiff the last explicit step was: h times the fastest motion that it met.
double Adaptive::stiffness() const {
  double top = 0, bottom = 0;
  for (std::size_t i = 0; i < nq_ + nv_; ++i) {
    const double scale = i < nq_ ? q_scale_ : v_scale_;
    const double d = (k_[stages - 1][i] - k_[stages - 2][i]) / scale;
    const double e = (end_[i] - last_stage_[i]) / scale;
    top += d * d;
    bottom += e * e;
  }
  return bottom > 0 ? next_step_ * std::sqrt(top / bottom) : 0;
}

double Adaptive::try_explicit(double h) {
  for (std::size_t s = 1; s < stages; ++s) {
    for (std::size_t i = 0; i < size_; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < s; ++j) sum += a[s - 1][j] * k_[j][i];
      stage_[i] = y_[i] + h * sum;
    }
    if (s == stages - 2) last_stage_ = stage_;
    if (s == stages - 1) end_ = stage_;
    rates(stage_, k_[s]);
  }
  for (std::size_t i = 0; i < size_; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < stages; ++j) sum += defect[j] * k_[j][i];
    error_[i] = h * sum;
  }
  return error_norm();
}

double Adaptive::error_norm() const {
  double worst = 0;
  const double rtol = options_.rtol;
  const auto compare = [&](std::size_t i, double scale) {
    const double floor = 4e-16 * (std::abs(y_[i]) + 1e-3);
    const double ratio = std::abs(error_[i]) / std::max(rtol * scale, floor);
    worst = ratio <= worst ? worst : ratio;  // a NaN stays
  };
  for (std::size_t i = 0; i < nq_; ++i) compare(i, q_scale_);
  double fastest = 0;
  for (std::size_t i = nq_; i < nq_ + nv_; ++i) {
    fastest = std::max({fastest, std::abs(y_[i]), std::abs(end_[i])});
  }
  for (std::size_t i = nq_; i < nq_ + nv_; ++i) {
    compare(i, std::max({std::abs(y_[i]), 1e-3 * fastest, v_scale_}));
  }
  for (std::size_t c = 0; c < columns_; ++c) {
    double largest = c == MemoryLayout::turn     ? 1
                     : c == MemoryLayout::travel ? q_scale_
                                                 : 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      const std::size_t k = memory_at_ + c * rows_ + i;
      largest = std::max({largest, std::abs(y_[k]), std::abs(end_[k])});
    }
    if (largest == 0) continue;
    for (std::size_t i = 0; i < rows_; ++i) compare(memory_at_ + c * rows_ + i, largest);
  }
  for (std::size_t k = 0; k < work_lines; ++k) compare(works_at_ + k, energy_scale_);
  if (clock_row_ >= 0) {
    compare(s_at_, std::max(std::abs(y_[s_at_]), s_scale_));
    compare(t_at_, t_scale_);
  }
  return worst;
}

/// The step's interpolant; a cubic after an implicit step.
void Adaptive::interpolate(double place, Vector& y) const {
  const double x = place, z = 1 - place;
  const double h = next_step_;
  for (std::size_t i = 0; i < size_; ++i) {
    const double d = end_[i] - y_[i];
    const double e = h * k_[0][i] - d;
    const double f = d - h * k_[stages - 1][i] - e;
    double g = 0;
    if (!implicit_) {
      for (std::size_t j = 0; j < stages; ++j) g += dense[j] * k_[j][i];
    }
    y[i] = y_[i] + x * (d + z * (e + x * (f + z * h * g)));
  }
}

/// A guard at a place within the step.
double Adaptive::guard_at(int guard, double place) {
  ++counts_.looks;
  interpolate(place, stage_);
  look(stage_);
  contact_forces(*model_, Form::evaluate, 0, *contacts_, memory_, memory_rates_,
                 system_.contacts);
  read_guards(guards_found_);
  return guards_found_[at(guard)];
}

/// Where a guard changes its sign between two places: bisection and inverse quadratic
/// interpolation in turn (Chandrupatla 1997, Adv. Eng. Softw. 28, 145). A guard may begin
/// at round-off and end high up, where simpler rules creep.
double Adaptive::locate(int guard, double low, double at_low, double high,
                        double at_high) {
  double x1 = high, f1 = at_high, x2 = low, f2 = at_low, x3 = low, f3 = at_low;
  double part = 0.5;
  for (int k = 0; k < 100; ++k) {
    const double x = x1 + part * (x2 - x1);
    const double f = guard_at(guard, x);
    if ((f > 0) == (f1 > 0)) {
      x3 = x1;
      f3 = f1;
    } else {
      x3 = x2;
      f3 = f2;
      x2 = x1;
      f2 = f1;
    }
    x1 = x;
    f1 = f;
    const double least = (1e-16 + 4e-16 * x1) / std::abs(x2 - x1);
    if (f == 0) return x;
    if (least > 0.5) return (f1 > 0) == (at_high > 0) ? x1 : x2;  // just beyond
    const double xi = (x1 - x2) / (x3 - x2);
    const double phi = (f1 - f2) / (f3 - f2);
    const bool smooth = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
    part = smooth ? f1 / (f2 - f1) * f3 / (f2 - f3) +
                        (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
                  : 0.5;
    part = std::clamp(part, least, 1 - least);
  }
  return x1;
}

/// Where an open contact closes. It may begin a trifle inside, when it has just opened,
/// or touch and leave again within the step.
double Adaptive::locate_touch(int row) {
  const int guard = row * static_cast<int>(per_row);
  const double before = guards_[at(guard)], after = guards_end_[at(guard)];
  if (before < 0 && after >= 0) return locate(guard, 0, before, 1, after);
  if (before >= 0 && after >= 0) {
    // It leaves first: somewhere near the beginning it is out.
    double place = 0.5;
    for (int k = 0; k < 50; ++k, place *= 0.5) {
      const double value = guard_at(guard, place);
      if (value < 0) return locate(guard, place, value, 1, after);
    }
    return 2;
  }
  if (before >= 0) return 2;
  const double approach = next_step_ * contacts_->rows[at(row)].rate;
  const double leaving = next_step_ * rates_end_[at(row)];
  if (!(approach > 0) || !(leaving < 0)) return 2;
  // The cubic through both ends: where it is highest.
  double highest = -HUGE_VAL, place = 0.5;
  for (int k = 1; k < 16; ++k) {
    const double x = k / 16.0, z = 1 - x;
    const double value = z * z * (1 + 2 * x) * before + x * x * (3 - 2 * x) * after +
                         x * z * z * approach - x * x * z * leaving;
    if (value > highest) {
      highest = value;
      place = x;
    }
  }
  if (highest < 0.5 * std::max(before, after)) return 2;
  const double value = guard_at(guard, place);
  return value >= 0 ? locate(guard, 0, before, place, value) : 2;
}

Adaptive::Crossing Adaptive::first_crossing() {
  Crossing first;
  for (std::size_t i = 0; i < rows_; ++i) {
    const bool open = contacts_->rows[i].episode == 0;
    if (contacts_->rows[i].a == no_shape &&
        i >= at(contacts_->begin[at(model_->joint_blocks)])) {
      continue;
    }
    if (open) {
      const double place = locate_touch(static_cast<int>(i));
      if (place < first.place) first = {static_cast<int>(i * per_row), place};
      continue;
    }
    for (std::size_t k = 0; k < per_row; ++k) {
      const std::size_t g = i * per_row + k;
      const double before = guards_[g], after = guards_end_[g];
      const bool crosses = k == 0
                               ? before > 0 && after <= 0
                               : (before < 0 && after > 0) || (before > 0 && after < 0);
      if (!crosses) continue;
      const double place = locate(static_cast<int>(g), 0, before, 1, after);
      // A switch that has just been located may lie a trifle ahead again by round-off.
      if (k > 0 && place < 1e-6) continue;
      if (place < first.place) first = {static_cast<int>(g), place};
    }
  }
  return first;
}

/// The depth at which the normal law of a row stores that energy.
double Adaptive::depth_for_energy(const State& state, int row, double energy) {
  const LawChoice& law = normal_choice(state, row);
  const Columns<double> memory = normal_memory(state);
  return inverse_of(
      [&](double depth) { return normal_law(law).stored(law, memory, at(row), depth); },
      energy);
}

/// The depth at which it bears that force at rest.
double Adaptive::depth_for_force(const State& state, int row, double force) {
  const LawChoice& law = normal_choice(state, row);
  const Columns<double> memory = normal_memory(state);
  return inverse_of(
      [&](double depth) {
        return normal_law(law)
            .linearise(law, memory, at(row), Kinematics<double>::at(depth, 0.0))
            .static_force;
      },
      force);
}

const LawChoice& Adaptive::normal_choice(const State& state, int row) const {
  std::size_t b = 0;
  while (state.contacts.begin[b + 1] <= row) ++b;
  return model_->blocks[b].normal;
}

Columns<double> Adaptive::normal_memory(const State& state) {
  return system_.contacts
      .law_columns(const_cast<Vector&>(state.contacts.memory), memory_rates_)
      .normal_state;
}

/// How deep and how fast the closed contacts are by nature: at rest under the weight of
/// what they carry, and at the bottom of the impact that began them.
void Adaptive::scale_rows(const State& state) {
  const Tree& tree = model_->tree;
  factorise<double>(tree, system_.tree);
  depth_scale_.assign(rows_, 0);
  speed_scale_.assign(rows_, 0);
  q_scale_ = HUGE_VAL;
  v_scale_ = HUGE_VAL;
  const double g = std::max(norm(tree.gravity()), 1e-3);
  std::vector<double> halves(nv_);
  for (std::size_t i = at(state.contacts.begin[at(model_->joint_blocks)]); i < rows_;
       ++i) {
    const ContactRow& row = state.contacts.rows[i];
    if (row.episode == 0) continue;
    const RowPlace& place = system_.contacts.places[i];
    const PushRow<double> push = push_at<double>(system_.tree, place.link_a, place.link_b,
                                                 place.point, place.frame.n);
    double inverse_mass = 0;
    inverse_inertia<double>(tree, std::span(&push, 1), system_.tree, halves,
                            std::span(&inverse_mass, 1));
    if (!(inverse_mass > 0)) continue;
    const int index = static_cast<int>(i);
    const double rest = depth_for_force(state, index, g / inverse_mass);
    depth_scale_[i] = std::max(rest, row.depth);
    speed_scale_[i] = std::sqrt(g * rest);
    q_scale_ = std::min(q_scale_, depth_scale_[i]);
    v_scale_ = std::min(v_scale_, speed_scale_[i]);
    if (index == clock_row_ && s_scale_ == 0) {
      const double rate = row.rate;
      const double deep = std::max(
          rest, depth_for_energy(state, index, 0.5 * rate * rate / inverse_mass));
      s_scale_ = std::sqrt(deep);
      t_scale_ = deep / std::max(rate, speed_scale_[i]);
    }
  }
  if (!std::isfinite(q_scale_)) q_scale_ = 1e-3;
  if (!std::isfinite(v_scale_)) v_scale_ = 1e-3;
  const double kinetic = kinetic_energy<double>(tree, state.v, system_.tree);
  double moved = kinetic;
  for (std::size_t k = 0; k < work_lines; ++k) {
    moved += std::abs(field<double>(state.works, k));
  }
  energy_scale_ = std::max({energy_scale_, moved, 1e-12});
}

StepStatus Adaptive::advance_to(
    State& state, double until,
    const std::function<void(const State&, const Event&)>& on_event) {
  if (next_step_ == 0) next_step_ = 1e-3;
  StepStatus status = settle(state);
  if (status != StepStatus::ok) return status;
  contacts_ = &state.contacts;
  pack(state);
  scale_rows(state);
  fresh_ = true;
  double flight_step = next_step_;
  while (state.time < until) {
    if (fresh_) {
      rates(y_, k_[0]);
      read_guards(guards_);
      fresh_ = false;
      slopes_known_ = false;
    }
    // Not beyond the end, nor much too far.
    const double left = until - state.time;
    if (clock_row_ < 0) next_step_ = std::min({next_step_, left, options_.longest_step});
    const double error = try_step(next_step_);
    if (!(error <= 1)) {
      ++counts_.rejected;
      next_step_ *=
          std::isfinite(error) ? std::max(0.2, 0.9 * std::pow(error, -0.2)) : 0.1;
      if (next_step_ < 1e-18) return StepStatus::not_converged;
      continue;
    }
    const double order = implicit_ ? 0.25 : 0.2;
    const double grow =
        std::clamp(0.9 * std::pow(std::max(error, 1e-12), -order), 0.2, 8.0);
    // Steps that stability holds back are taken implicitly; and explicitly again where
    // that gains nothing.
    if (implicit_) {
      stiff_steps_ = next_step_ < explicit_step_ ? stiff_steps_ + 1 : 0;
    } else if (clock_row_ < 0) {
      stiff_steps_ = stiffness() > 0.7 ? stiff_steps_ + 1 : 0;
    }
    double planned = next_step_ * grow;
    read_guards(guards_end_);
    const std::span<const double> approach = system_.contacts.column(RowColumns::rate);
    rates_end_.assign(approach.begin(),
                      approach.begin() + static_cast<std::ptrdiff_t>(rows_));
    Crossing crossing = first_crossing();
    // The clock's own end of time.
    bool ends = false;
    if (clock_row_ >= 0 && end_[t_at_] > until) {
      double low = 0, high = crossing.guard >= 0 ? crossing.place : 1;
      interpolate(high, stage_);
      if (stage_[t_at_] > until) {
        for (int k = 0; k < 60; ++k) {
          const double middle = 0.5 * (low + high);
          interpolate(middle, stage_);
          (stage_[t_at_] < until ? low : high) = middle;
        }
        crossing = {-1, high};
        ends = true;
      }
    }
    if (crossing.place < 1) {
      // Again, and exactly to there.
      const double whole = next_step_;
      next_step_ = std::max(crossing.place * whole, 1e-300);
      try_step(next_step_);
      planned = whole;
    }
    ++counts_.steps;
    if (implicit_) ++counts_.implicit_steps;
    if (clock_row_ < 0 && crossing.guard < 0) end_[t_at_] = state.time + next_step_;
    const std::uint32_t clock_episode =
        clock_row_ >= 0 ? state.contacts.rows[at(clock_row_)].episode : 0;
    const double clock_rate_before =
        clock_row_ >= 0 ? state.contacts.rows[at(clock_row_)].rate : 0;
    const double s_end = end_[s_at_];
    unpack(end_, state);
    if (ends || until - state.time < 1e-15 * std::max(1.0, until)) state.time = until;

    Event event{EventKind::normal, -1, state.time};
    if (crossing.guard >= 0) {
      const std::size_t row = at(crossing.guard) / per_row;
      const std::size_t kind = at(crossing.guard) % per_row;
      const bool open = state.contacts.rows[row].episode == 0;
      event.row = static_cast<int>(row);
      event.kind = kind == 0 ? (open ? EventKind::touch : EventKind::lift_off)
                   : kind < friction_guard ? EventKind::normal
                                           : EventKind::friction;
      if (kind == 0) state.contacts.rows[row].event = open ? 1 : -1;
      ++counts_.events;
      if (event.kind == EventKind::touch) ++counts_.touches;
    }
    if (crossing.guard >= 0 && at(crossing.guard) % per_row == 0) {
      implicit_ = false;
      stiff_steps_ = 0;
    } else if (stiff_steps_ >= 12) {
      explicit_step_ = implicit_ ? explicit_step_ : planned;
      implicit_ = !implicit_;
      stiff_steps_ = 0;
    }
    const std::uint32_t a_shape =
        event.row >= 0 ? state.contacts.rows[at(event.row)].a : 0;
    const std::uint32_t b_shape =
        event.row >= 0 ? state.contacts.rows[at(event.row)].b : 0;
    const std::uint32_t feature =
        event.row >= 0 ? state.contacts.rows[at(event.row)].feature : 0;
    // Contacts are looked for as far as the next step may lead.
    if (crossing.guard >= 0 && event.kind == EventKind::lift_off) {
      planned = clock_row_ >= 0 ? flight_step : std::max(flight_step, planned);
    }
    next_step_ = planned;
    status = settle(state);
    if (status != StepStatus::ok) return status;
    contacts_ = &state.contacts;

    // Where the rows are now.
    const auto find = [&](auto&& is) {
      for (int i = 0; i < state.contacts.count; ++i) {
        if (is(state.contacts.rows[at(i)])) return i;
      }
      return -1;
    };
    if (event.row >= 0) {
      event.row = find([&](const ContactRow& r) {
        return r.a == a_shape && r.b == b_shape && r.feature == feature &&
               r.a != no_shape;
      });
    }
    if (clock_row_ >= 0) {
      clock_row_ = find([&](const ContactRow& r) { return r.episode == clock_episode; });
      if (clock_row_ >= 0) {
        const double rate = state.contacts.rows[at(clock_row_)].rate;
        if (rate * clock_rate_before < 0) ++turns_;
      }
      if (clock_row_ < 0 || turns_ >= 2) {
        if (clock_row_ >= 0) next_step_ = 2 * s_end * planned;  // it lasts: plain time
        clock_row_ = -1;
      }
    }
    if (event.kind == EventKind::touch && event.row >= 0) {
      flight_step = planned;
      s_scale_ = 0;
      turns_ = 0;
      clock_row_ = event.row;
    }
    pack(state);
    y_[s_at_] = clock_row_ >= 0 ? s_end : 0;
    if (event.kind == EventKind::touch) y_[s_at_] = 0;
    scale_rows(state);
    if (event.kind == EventKind::touch && event.row >= 0) {
      const double rate = state.contacts.rows[at(event.row)].rate;
      if (!options_.contact_clock || s_scale_ == 0) {
        next_step_ = 0.01 * t_scale_;
        clock_row_ = -1;
      } else {
        next_step_ = 0.1 * s_scale_ / std::max(rate, s_scale_ * s_scale_ / t_scale_);
      }
    }
    fresh_ = true;
    if (crossing.guard >= 0 && on_event) on_event(state, event);
  }
  return StepStatus::ok;
}

}  // namespace bristle
