#include "bristle/step/complementarity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "bristle/complementarity/bound_iteration.hpp"
#include "bristle/complementarity/half_rows.hpp"
#include "bristle/complementarity/solvers.hpp"
#include "bristle/dynamics/motors.hpp"
#include "bristle/step/fixed_step.hpp"
#include "bristle/step/gyroscopic.hpp"
#include "bristle/step/implicit_joints.hpp"
#include "bristle/step/impulse_rows.hpp"
#include "bristle/step/time_scales.hpp"
#include "bristle/step/tree_newton.hpp"
#include "bristle/step/velocity_terms.hpp"

// M Δv = h f + Jᵀ z,  w = J v⁺ + C z + r,  z in boxes and cones opposite to w;
// q⁺ = q ⊕ h v⁺. Backward Euler in what is stiff: contacts, limits, friction, loops,
// springs, dampers and motors of joints. Order 1.
//
// Forces are counted at v⁺, so that kinetic energy changes by their work less
// ½ Δvᵀ M Δv. What the step damps so, and in the springs (½ K Δδ² and ½ K |Δs|² of linear
// ones), is the line `numerical` of the ledger.

namespace bristle {

namespace {

using detail::at;

constexpr int most_lowerings = 6;          // of a restitution in one step
constexpr std::size_t most_joinings = 32;  // of contacts that were left out
constexpr double jam_speed = 1e-2;         // of slip that a jam stops, at least [m/s]
constexpr double rate_rounding = 1e-15;    // of a row's rate, of the largest velocity
// Where free motion is not known, its scale is that of the rows as the step begins, and
// so much of what falling adds in the step.
constexpr double part_of_fall = 1e-2;
constexpr int most_tree_passes = 20;
// Of what the laws are off by, and of that scale at first, Newton's method leaves this:
// the laws will say something else.
constexpr double part_of_disagreement = 1e-2, part_of_scale = 0.1;
// A solve that leaves more than this of the free velocity has led astray: contacts that
// friction presses in may have no answer, and sweeps over them grow without end. Bounds
// are held then, so many times in turn.
constexpr double astray = 0.1;
constexpr int most_holds = 4;
constexpr double far = 0.03;  // that a link of a mechanism turns in a step [rad]

/// The row of a constraint, where the bodies are.
JacobianRow<double> row_of(const Workspace<double>& tree,
                           const VelocityConstraint& constraint) {
  const Transform<double>& a = tree.poses[at(constraint.link_a)];
  const Transform<double>& b = tree.poses[at(constraint.link_b)];
  const Mat3<double>& axes = constraint.turns_with_b ? b.R : a.R;
  return row_at_point<double>(tree, constraint.link_a, constraint.link_b,
                              b * constraint.point + a.R * constraint.offset,
                              axes * constraint.direction);
}

class Complementarity final : public FixedMethod {
 public:
  Complementarity(const System& system, const ComplementarityOptions& options);
  StepStatus step(System& system, State& state, double h,
                  Commands commands) noexcept override;
  SolveCounts solves() const noexcept override { return counts_; }
  double work_of_rows() const noexcept override;
  bool may_be_too_long(const System& system, double h) const noexcept override;
  bool keeps_energy(const System& system, double h) const noexcept override;
  std::string advice(const Model& model) const override;

 private:
  /// The row of a spring between bodies. Its direction turns with them, and the step is
  /// straight: at its end the stretch is x + h u + lag, the lag as the positions there
  /// say. A step whose force knew of no lag would leave stiff springs stretched by what
  /// bodies turn.
  struct SpringLine {
    double stiffness, damping;  // [N/m], [N s/m]
    double elastic;             // force at the step's beginning [N]
    double free_rate;
    double lag = 0;    // that the line has [m]
    double found = 0;  // that the solution leads to [m]

    double slope(double h) const { return h * stiffness + damping; }
    double offset(double h) const { return free_rate + lag / h - elastic / slope(h); }
  };
  /// What the problem's rows belong to, in the order they are added.
  struct Sections {
    int loops = 0, springs = 0, constraints = 0, motors = 0;
  };

  StepStatus take(System& system, State& state, double h, Commands commands);
  bool solve_by_rows(System& system, State& state, double h, Commands commands);
  void reserve(const System& system, const State& state);
  void apply(System& system, const State& state, double h, Commands commands);
  void free_motion(System& system, const State& state, double h, Commands commands);
  void linearise(System& system, const State& state, double h);
  void linearise_rows(System& system, const State& state, double h);
  bool step_on_trees(System& system, State& state, double h, Commands commands);
  TreeRows rows_on_trees(double h) noexcept;
  bool take_on_trees(System& system, const State& state, double h);
  bool solve_on_trees(System& system, State& state, double h);
  void build(System& system, const State& state, double h);
  void add_law_rows(System& system, const State& state, double h);
  void add_contacts(System& system, const State& state, double h);
  JacobianRow<double> add_rolling(System& system, const Placement& place, std::size_t i,
                                  PatchLine& patch, double h);
  void add_loops(System& system, double h);
  void add_springs(System& system, const State& state, double h);
  void add_constraints(System& system, double h);
  void add_motors(System& system, const State& state, double h);
  int add(System& system, const JacobianRow<double>& row, double rate,
          const ImpulseRows::Line& line);
  void mark_impacts(double h);
  bool lower_restitution(double h);
  void guess(const State& state, double h);
  std::span<const double> bounding_loads() const;
  void advance_laws(System& system, State& state, double h);
  void find_jams();
  bool accepts(const State& state);
  void solve_passes(System& system, State& state, double h);
  SolveReport solve_once();
  SolveReport solve_held();
  void find_rates();
  void find_diagonal();
  void renumber(System& system, const State& state, double h);
  void renumber_springs(double h);
  void find_lags(System& system, const State& state, double h);
  double disagreement_of_springs(double h) const;
  void find_velocity(System& system, const State& state, double h);
  bool join_missed(System& system, const State& state, double h);
  void enter_ledger(System& system, State& state, double h);
  void book_links(System& system, State& state, double h);
  void book_prescribed(System& system, State& state, double h);
  void note_loops(System& system, double h);
  void accept(System& system, State& state, double h);
  void restore(State& state);

  ComplementarityOptions options_;
  HalfRows halves_;
  ImplicitJoints joints_;
  GyroscopicStep gyroscopic_;
  VelocityTerms velocity_terms_;
  bool turns_fast_ = false;  // a mechanism, in the step in hand
  ImpulseRows limits_, contacts_;
  TreeNewton trees_;
  bool tries_trees_;       // where contacts are points and nothing joins the trees
  bool on_trees_ = false;  // the present step was solved so
  ComplementarityProblem problem_;
  SolveWorkspace workspace_;
  SolveOptions solve_options_;

  // By rows of the problem.
  std::vector<double> z_, z_before_, z_best_, z_held_, u_free_, u_, diagonal_;
  std::vector<int> contact_of_;  // −1: none
  std::vector<SpringLine> springs_, springs_best_;
  std::vector<double> y_;
  Sections sections_;

  std::size_t reserved_ = 0;  // places for contacts

  std::vector<double> v_free_, v_next_, change_;
  std::vector<Motion<double>> links_before_, links_free_;
  std::vector<Force<double>> applied_;
  LawSums sums_limits_, sums_contacts_;
  double residual_ = 0, relative_ = 0;
  bool converged_ = true;
  bool held_ = false;  // friction of the present step is bounded by z_held_

  // Where a step with springs between bodies leads.
  std::vector<double> q_ahead_, v_ahead_;
  std::unique_ptr<Workspace<double>> ahead_;

  SolveCounts counts_;
  int worst_contact_ = -1;   // the worst row of the present step
  int jammed_contact_ = -1;  // that jams in it

  // Of the first contact that jammed.
  ContactKey jammed_;
  double jammed_time_ = 0;

  // Of the worst step that was not solved.
  ContactKey unsolved_;
  double unsolved_relative_ = 0, unsolved_time_ = 0;
};

Complementarity::Complementarity(const System& system,
                                 const ComplementarityOptions& options)
    : options_(options),
      halves_(system.model->tree),
      joints_(*system.model),
      gyroscopic_(system.model->tree),
      velocity_terms_(*system.model),
      trees_(*system.model),
      tries_trees_(options.cone == ConeShape::isotropic &&
                   options.bounds == FrictionBounds::coupled &&
                   options.solver == ComplementarityOptions{}.solver &&
                   !system.model->has_patches && system.pools.springs.size() == 0 &&
                   system.model->loops.empty() && system.model->constraints.empty() &&
                   system.model->prescribed.empty()),
      // Tighter than the laws are asked for, so that its error is not mistaken for
      // theirs.
      solve_options_{.tolerance = 1e-2 * options.tolerance,
                     .iterations = options.iterations},
      v_free_(at(system.model->tree.velocity_count())),
      v_next_(v_free_.size()),
      change_(v_free_.size()),
      links_before_(at(system.model->tree.link_count()), Motion<double>::zero()),
      links_free_(links_before_),
      applied_(links_before_.size(), Force<double>::zero()) {
  const std::vector<Loop>& loops = system.model->loops;
  const bool bends = std::ranges::any_of(loops, [](const Loop& l) { return !l.rigid; }) ||
                     std::ranges::any_of(system.model->couplings,
                                         [](const Coupling& c) { return c.moves(); });
  if (!bends) return;
  ahead_ = std::make_unique<Workspace<double>>(system.model->tree);
  q_ahead_.resize(at(system.model->tree.position_count()));
  v_ahead_.resize(v_free_.size());
}

/// Room for as many rows as the state has places for.
void Complementarity::reserve(const System& system, const State& state) {
  const std::size_t contacts = state.contacts.capacity();
  if (contacts <= reserved_ && reserved_ > 0) return;
  reserved_ = std::max<std::size_t>(contacts, 1);
  const Model& model = *system.model;
  const Tree& tree = model.tree;
  const int velocities = tree.velocity_count();
  int longest = 0;  // way from a link to the world
  for (int i = 1; i < tree.link_count(); ++i) {
    int way = 0;
    for (int j = i; j != world_link; j = tree.link(j).parent) {
      way += velocity_count(tree.link(j).type);
    }
    longest = std::max(longest, way);
  }
  std::size_t most = 2;  // ways that a row takes
  for (const Coupling& coupling : model.couplings) {
    most = std::max(most, coupling.joints.size());
  }
  const std::size_t springs = 6 * system.pools.springs.size();
  const std::size_t rows = (model.has_patches ? 9 : 5) * contacts +
                           2 * state.joints.capacity() + at(model.loop_rows) + springs +
                           model.constraints.size() + joints_.most_rows();
  const int n = static_cast<int>(rows);
  problem_.reserve(n, std::min(velocities, static_cast<int>(most) * longest), velocities);
  for (std::vector<double>* list :
       {&z_, &z_before_, &z_best_, &z_held_, &u_free_, &u_, &diagonal_}) {
    list->reserve(rows);
  }
  contact_of_.reserve(rows);
  y_.reserve(at(velocities) + quad_lanes);
  springs_.reserve(springs);
  springs_best_.reserve(springs);
  trees_.reserve(contacts, state.joints.capacity() + joints_.most_rows());
  with_solver(Solvers{}, options_.solver, [&]<class S>() {
    workspace_.fit(Room{rows, 0} + S::room(n, velocities + quad_lanes, solve_options_));
  });
}

/// The forces of everything that is no row.
void Complementarity::apply(System& system, const State& state, double h,
                            Commands commands) {
  const Model& model = *system.model;
  std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
  std::fill(system.tau.begin(), system.tau.end(), 0.0);
  system.drives.couplings.update(system.tree);
  joints_.add(model, system.drives.couplings, state, h, commands, system.tree,
              system.tau);
  bristle::add_loads(model, system.tree, system.on_links);
  gyroscopic_.add(model.tree, system.tree, h, system.on_links);
}

/// v⁻ + h v̇ of everything that is no row, and the links' velocities with it.
void Complementarity::free_motion(System& system, const State& state, double h,
                                  Commands commands) {
  const Model& model = *system.model;
  apply(system, state, h, commands);
  applied_ = system.on_links;
  const bool hybrid = !model.prescribed.empty();
  if (hybrid) {
    for (std::size_t i = 0; i < model.motors.size(); ++i) {
      const Motor& motor = model.motors[i];
      if (motor.kind != MotorKind::prescribed) continue;
      system.acceleration[at(motor.v)] =
          prescribed_acceleration(motor, i, state.time, h, commands);
    }
    hybrid_dynamics<double>(model.tree, state.v, model.prescribed, system.on_links,
                            system.tree, system.tau, system.acceleration);
  } else {
    forward_dynamics<double>(model.tree, state.v, system.tau, system.on_links,
                             system.tree, system.acceleration);
  }
  for (std::size_t k = 0; k < v_free_.size(); ++k) {
    v_free_[k] = state.v[k] + h * system.acceleration[k];
  }
  if (hybrid) {
    kinematics<double>(model.tree, state.q, v_free_, system.tree);
    return;
  }
  for (std::size_t i = 0; i < links_before_.size(); ++i) {
    system.tree.velocities[i] = links_before_[i] + h * system.tree.links[i].response;
  }
}

void Complementarity::linearise(System& system, const State& state, double h) {
  Pools& pools = system.pools;
  const Placement place = system.placement(state.q, v_free_);
  pools.joints.measure_rates(place, state.joints);
  contacts_.put_back_patches(pools.points);
  pools.points.measure_rates(place, state.contacts);
  linearise_rows(system, state, h);
}

void Complementarity::linearise_rows(System& system, const State& state, double h) {
  Pools& pools = system.pools;
  const double last = state.impulses_known() ? state.impulse_step : 0;
  limits_.linearise(pools.joints, state.joints, h, last,
                    [&](std::size_t i) { return pools.joints.joint(i) != nullptr; });
  contacts_.linearise(pools.points, state.contacts, h, last,
                      [&](std::size_t i) { return !state.contacts.key[i].empty(); });
}

int Complementarity::add(System& system, const JacobianRow<double>& row, double rate,
                         const ImpulseRows::Line& line) {
  halves_.find(system.model->tree, system.tree, std::span(&row, 1));
  u_free_.push_back(rate);
  contact_of_.push_back(-1);
  return problem_.add_row(halves_.velocities(), halves_.values(), line.b, line.compliance,
                          line.lower, line.upper);
}

/// Limits and friction of joints.
void Complementarity::add_law_rows(System& system, const State& state, double h) {
  JointPool& pool = system.pools.joints;
  const Placement place = system.placement(state.q, v_free_);
  pool.for_each_row(
      state.joints, pool.law_columns(state.joints.memory), [&](const LawRow& law) {
        ImpulseRow& row = limits_.rows()[law.i];
        if (row.first < 0) return;
        if (law.laws.given_load && row.drag == 0) {
          row.first = -1;
          return;
        }
        JacobianRow<double> jacobian;
        pool.jacobian(place, law.i, std::span(&jacobian, 1));
        const double rate = law.laws.given_load ? row.free_slip.x : -row.free_rate;
        row.first = add(system, jacobian, rate, limits_.line(law.laws, row, h));
        if (!law.laws.given_load || !(row.viscous > 0)) return;
        row.damper = add(system, jacobian, rate, limits_.damper_line(row, 0, h));
      });
}

void Complementarity::add_contacts(System& system, const State& state, double h) {
  PointPool& pool = system.pools.points;
  const Tree& tree = system.model->tree;
  const Placement place = system.placement(state.q, v_free_);
  pool.for_each_row(
      state.contacts, pool.law_columns(state.contacts.memory), [&](const LawRow& law) {
        ImpulseRow& row = contacts_.rows()[law.i];
        if (row.first < 0) return;
        JacobianRow<double> jacobian[contact_lanes];
        pool.jacobian(place, law.i, std::span(jacobian).first(PointPool::most_rows));
        if (law.laws.spins()) jacobian[3] = pool.spin_row(law.i);
        const int owner = static_cast<int>(law.i);
        if (PatchLine* patch = contacts_.patch_line(law.i); patch != nullptr) {
          jacobian[0] = add_rolling(system, place, law.i, *patch, h);
        }
        if (row.tangents == 0) {
          row.first = add(system, jacobian[0], row.lag_speed - row.free_rate,
                          contacts_.line(law.laws, row, h));
          contact_of_.back() = owner;
          return;
        }
        halves_.find(tree, system.tree, std::span(jacobian).first(1 + at(row.tangents)));
        row.first = problem_.add_contact(halves_.velocities(), halves_.values(),
                                         contacts_.cone_rows(row, h));
        u_free_.push_back(row.lag_speed - row.free_rate);
        for (int k = 0; k < row.tangents; ++k) {
          u_free_.push_back(field<double>(row.free_slip, at(k)));
        }
        contact_of_.insert(contact_of_.end(), 1 + at(row.tangents), owner);
        if (!(row.viscous > 0)) return;
        for (int k = 0; k < row.tangents; ++k) {
          const int at_row =
              add(system, jacobian[1 + k], field<double>(row.free_slip, at(k)),
                  contacts_.damper_line(row, k, h));
          if (k == 0) row.damper = at_row;
        }
      });
}

/// The two rows of rolling; returns the row along n, through the centre of what resists.
JacobianRow<double> Complementarity::add_rolling(System& system, const Placement& place,
                                                 std::size_t i, PatchLine& patch,
                                                 double h) {
  const std::array<JacobianRow<double>, 3> rows =
      system.pools.points.patch_rows(place, i, patch.axes());
  if (!(patch.slope[1] > 0)) return rows[0];
  const std::array<double, 3> free = patch.rates(PatchLine::rates_of(patch.free));
  for (int axis = 0; axis < 2; ++axis) {
    const int row = add(system, rows[at(axis) + 1], free[at(axis) + 1],
                        contacts_.rolling_line(i, axis, h));
    if (axis == 0) patch.rolling = row;
  }
  return rows[0];
}

/// Rigid loops: J v⁺ = 0. Rows that say nothing new are left out.
void Complementarity::add_loops(System& system, double) {
  const Model& model = *system.model;
  if (model.loop_rows == 0) return;
  LoopWorkspace& loops = system.loops;
  place_loops(model, system.tree, loops);
  factorise_loops(model, system.tree, loops);
  for (std::size_t k = 0; k < loops.rank; ++k) {
    const JacobianRow<double>& row = loops.rows[loops.order[k]];
    const double rate = row_rate<double>(system.tree, v_free_, row);
    add(system, row, rate, {rate, 0, -unbounded, unbounded});
  }
}

/// Springs between bodies: z/h = f − (h k + d) (u + lag/h).
void Complementarity::add_springs(System& system, const State& state, double h) {
  const Placement place = system.placement(state.q, v_free_);
  springs_.clear();
  for_each_spring(system.pools.springs, place, [&](const SpringRows& rows) {
    for (int k = 0; k < rows.count; ++k) {
      const SpringLine line{
          .stiffness = rows.stiffness[k],
          .damping = rows.damping[k],
          .elastic = rows.elastic[k],
          .free_rate = row_rate<double>(system.tree, v_free_, rows.row[k])};
      if (!(line.slope(h) > 0)) continue;
      add(system, rows.row[k], line.free_rate,
          {line.offset(h), 1 / (h * line.slope(h)), -unbounded, unbounded});
      springs_.push_back(line);
    }
  });
}

/// Velocities that are kept at zero: J v⁺ = 0, or z/h = −c J v⁺.
void Complementarity::add_constraints(System& system, double h) {
  for (const VelocityConstraint& constraint : system.model->constraints) {
    const JacobianRow<double> row = row_of(system.tree, constraint);
    const double rate = row_rate<double>(system.tree, v_free_, row);
    const double compliance = constraint.damping > 0 ? 1 / (h * constraint.damping) : 0;
    add(system, row, rate, {rate, compliance, -unbounded, unbounded});
  }
}

void Complementarity::add_motors(System& system, const State&, double h) {
  for (const ImplicitJoints::Row& motor : joints_.rows()) {
    const JacobianRow<double> row =
        ImplicitJoints::jacobian(system.drives.couplings, motor);
    const double rate = row_rate<double>(system.tree, v_free_, row);
    add(system, row, rate,
        {rate - motor.force / motor.slope, 1 / (h * motor.slope), h * motor.least,
         h * motor.largest});
  }
}

void Complementarity::build(System& system, const State& state, double h) {
  const bool held = options_.bounds != FrictionBounds::coupled;
  problem_.begin(system.model->tree.velocity_count(), options_.cone,
                 held ? ConeBounds::held : ConeBounds::coupled);
  u_free_.clear();
  contact_of_.clear();
  add_law_rows(system, state, h);
  sections_.loops = problem_.row_count();
  add_loops(system, h);
  sections_.springs = problem_.row_count();
  add_springs(system, state, h);
  sections_.constraints = problem_.row_count();
  add_constraints(system, h);
  sections_.motors = problem_.row_count();
  add_motors(system, state, h);
  add_contacts(system, state, h);
  problem_.finish();
  const std::size_t n = at(problem_.row_count());
  z_.assign(n, 0.0);
  u_.resize(n);
  diagonal_.resize(n);
  y_.resize(at(problem_.most_velocities()));
  mark_impacts(h);
}

/// Where an open rigid contact closes, friction of its island is rigid for the step: the
/// impulse of a bristle would vanish with h.
void Complementarity::mark_impacts(double h) {
  bool any = false;
  for (int i = 0; i < problem_.island_count(); ++i) {
    const std::span<const int> rows = problem_.rows_of(i);
    const auto closes = [&](int row) {
      const int owner = contact_of_[at(row)];
      return owner >= 0 && contacts_.rows()[at(owner)].closes;
    };
    if (std::none_of(rows.begin(), rows.end(), closes)) continue;
    any = true;
    for (const int row : rows) {
      const int owner = contact_of_[at(row)];
      if (owner < 0) continue;
      ImpulseRow& contact = contacts_.rows()[at(owner)];
      if (contact.tangents == 0 || contact.first != row) continue;
      contact.impact = true;
      problem_.change_contact(row, contacts_.cone_rows(contact, h));
    }
  }
  if (any) problem_.lay_out_again();
}

/// Newton's restitution with friction can create energy. Where the impulses of an island
/// would, it is halved; false where none does.
bool Complementarity::lower_restitution(double h) {
  bool lowered = false;
  for (int i = 0; i < problem_.island_count(); ++i) {
    double work = 0, size = 0;
    bool rebounds = false;
    for (const int row : problem_.rows_of(i)) {
      const int owner = contact_of_[at(row)];
      if (owner < 0) continue;
      const ImpulseRow& contact = contacts_.rows()[at(owner)];
      if (!contact.rigid) continue;
      rebounds = rebounds || contact.restitution > 0;
      const int k = row - contact.first;
      const double start =
          k == 0 ? -contact.start_rate : field<double>(contact.start_slip, at(k - 1));
      work += 0.5 * z_[at(row)] * (u_[at(row)] + start);
      size += std::abs(z_[at(row)]) * (std::abs(u_[at(row)]) + std::abs(start));
    }
    if (!rebounds || !(work > 1e-12 * size)) continue;
    lowered = true;
    for (const int row : problem_.rows_of(i)) {
      const int owner = contact_of_[at(row)];
      if (owner < 0) continue;
      ImpulseRow& contact = contacts_.rows()[at(owner)];
      if (contact.first != row || !(contact.restitution > 0)) continue;
      contact.restitution = contact.restitution > 0.02 ? 0.5 * contact.restitution : 0;
      contact.least = contact.restitution * contact.start_rate;
      if (contact.tangents > 0) {
        problem_.change_contact(row, contacts_.cone_rows(contact, h));
      } else {
        const ConeRows rows = contacts_.cone_rows(contact, h);
        problem_.change_row(row, rows.b[0], 0, 0, unbounded);
      }
    }
  }
  if (lowered) problem_.lay_out_again();
  return lowered;
}

/// The impulses of the last step.
void Complementarity::guess(const State& state, double h) {
  if (state.impulses_known()) {
    const double share = h / state.impulse_step;
    for (std::size_t i = 0; i < limits_.rows().size(); ++i) {
      const ImpulseRow& row = limits_.rows()[i];
      if (row.first < 0) continue;
      const RowImpulse& last = state.joints.impulse[i];
      z_[at(row.first)] = share * (row.drag > 0 ? last.across.x : last.normal);
    }
    for (std::size_t i = 0; i < contacts_.rows().size(); ++i) {
      const ImpulseRow& row = contacts_.rows()[i];
      if (row.first < 0) continue;
      const RowImpulse& last = state.contacts.impulse[i];
      z_[at(row.first)] = share * last.normal;
      if (row.tangents == 0) continue;
      z_[at(row.first) + 1] = share * last.across.x;
      z_[at(row.first) + 2] = share * last.across.y;
      if (row.tangents > 2) z_[at(row.first) + 3] = share * last.spin;
    }
  }
  z_before_ = z_;
}

SolveReport Complementarity::solve_once() {
  SolveReport report;
  with_solver(Solvers{}, options_.solver, [&]<class S>() {
    switch (options_.bounds) {
      case FrictionBounds::coupled:
        report = solve<S>(problem_, solve_options_, z_, workspace_);
        break;
      case FrictionBounds::iterated: {
        const BoundIterationReport found =
            iterate_bounds<S>(problem_, solve_options_, options_.tolerance,
                              options_.iterations, z_, u_, workspace_);
        report = found.solve;
        report.converged = report.converged && found.converged;
        break;
      }
      case FrictionBounds::lagged:
        problem_.hold_bounds(z_before_);
        report = solve<S>(problem_, solve_options_, z_, workspace_);
        break;
    }
  });
  return report;
}

/// With bounds held the problem is convex, and friction takes energy whatever they are:
/// those of the last step, then those of each solution before.
SolveReport Complementarity::solve_held() {
  SolveReport report;
  z_ = z_before_;
  held_ = true;
  for (int k = 0; k < most_holds; ++k) {
    z_held_ = z_;
    problem_.hold_bounds(z_);
    with_solver(Solvers{}, options_.solver, [&]<class S>() {
      report = solve<S>(problem_, solve_options_, z_, workspace_);
    });
  }
  find_diagonal();
  double scale = 0;
  for (const double rate : u_free_) scale = std::max(scale, std::abs(rate));
  for (const ImpulseRow& row : contacts_.rows()) {
    if (row.first < 0 || row.tangents == 0) continue;
    const std::size_t first = at(row.first);
    const double off =
        diagonal_[first + 1] * row.mu * std::abs(z_[first] - z_held_[first]);
    if (!(off > report.residual)) continue;
    report.residual = off;
    report.relative = scale > 0 ? off / scale : 0;
    report.worst_row = row.first;
  }
  report.converged = report.converged && report.relative <= options_.tolerance;
  return report;
}

/// u = J v⁺ = J v_free + W Wᵀ z.
void Complementarity::find_rates() {
  for (int i = 0; i < problem_.island_count(); ++i) {
    const Island island = problem_.island(i);
    const std::span<const int> rows = problem_.rows_of(i);
    std::fill_n(y_.begin(), island.velocities, 0.0);
    for (const Unit& unit : island.units) {
      ContactLanes own = 0;
      for (int k = 0; k < unit.rows; ++k) own.set(k, z_[at(rows[at(unit.row + k)])]);
      push_by(island, unit, own, y_.data());
    }
    for (const Unit& unit : island.units) {
      const ContactLanes own = rates_of(island, unit, y_.data());
      for (int k = 0; k < unit.rows; ++k) {
        const std::size_t row = at(rows[at(unit.row + k)]);
        u_[row] = u_free_[row] + own[k];
      }
    }
  }
}

void Complementarity::find_diagonal() {
  for (int i = 0; i < problem_.island_count(); ++i) {
    const Island island = problem_.island(i);
    const std::span<const int> rows = problem_.rows_of(i);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      diagonal_[at(rows[k])] = island.diagonal[k];
    }
  }
}

/// Other lines for the laws' rows, in place.
void Complementarity::renumber(System& system, const State& state, double h) {
  JointPool& joints = system.pools.joints;
  joints.for_each_row(
      state.joints, joints.law_columns(state.joints.memory), [&](const LawRow& law) {
        const ImpulseRow& row = limits_.rows()[law.i];
        if (row.first < 0) return;
        const ImpulseRows::Line line = limits_.line(law.laws, row, h);
        problem_.change_row(row.first, line.b, line.compliance, line.lower, line.upper);
      });
  for (std::size_t i = 0; i < contacts_.rows().size(); ++i) {
    const ImpulseRow& row = contacts_.rows()[i];
    if (row.first < 0) continue;
    const PatchLine* patch = contacts_.patch_line(i);
    for (int axis = 0; patch != nullptr && patch->rolling >= 0 && axis < 2; ++axis) {
      const ImpulseRows::Line line = contacts_.rolling_line(i, axis, h);
      problem_.change_row(patch->rolling + axis, line.b, line.compliance, line.lower,
                          line.upper);
    }
    const ConeRows rows = contacts_.cone_rows(row, h);
    if (row.tangents > 0) {
      problem_.change_contact(row.first, rows);
    } else {
      problem_.change_row(row.first, rows.b[0], rows.compliance[0], 0, unbounded);
    }
    for (int k = 0; row.damper >= 0 && k < row.tangents; ++k) {
      const ImpulseRows::Line line = contacts_.damper_line(row, k, h);
      problem_.change_row(row.damper + k, line.b, line.compliance, line.lower,
                          line.upper);
    }
  }
  renumber_springs(h);
  problem_.lay_out_again();
}

void Complementarity::renumber_springs(double h) {
  int r = sections_.springs;
  for (SpringLine& line : springs_) {
    line.lag = line.found;
    problem_.change_row(r++, line.offset(h), 1 / (h * line.slope(h)), -unbounded,
                        unbounded);
  }
}

/// The lags at the positions that the solution leads to.
void Complementarity::find_lags(System& system, const State& state, double h) {
  if (ahead_ == nullptr) return;
  const Model& model = *system.model;
  links_free_ = system.tree.velocities;
  find_velocity(system, state, h);
  system.tree.velocities = links_free_;
  q_ahead_ = state.q;
  v_ahead_ = v_next_;
  gyroscopic_.move_on(model.tree, system.tree, h, q_ahead_, v_ahead_);
  kinematics<double>(model.tree, q_ahead_, v_ahead_, *ahead_);
  std::size_t k = 0;
  for_each_spring(
      system.pools.springs, {*ahead_, q_ahead_, v_ahead_}, [&](const SpringRows& rows) {
        for (int i = 0; i < rows.count; ++i) {
          if (!(h * rows.stiffness[i] + rows.damping[i] > 0)) continue;
          SpringLine& line = springs_[k];
          const double rate = u_[at(sections_.springs) + k];
          ++k;
          if (!(line.stiffness > 0)) continue;
          line.found = (line.elastic - rows.elastic[i]) / line.stiffness - h * rate;
        }
      });
}

/// The largest velocity that springs and solution disagree by [m/s].
double Complementarity::disagreement_of_springs(double h) const {
  double worst = 0;
  for (std::size_t k = 0; k < springs_.size(); ++k) {
    const SpringLine& line = springs_[k];
    const double stiffness = h * line.slope(h);
    const double mobility = diagonal_[at(sections_.springs) + k] - 1 / stiffness;
    const double missing = line.slope(h) * std::abs(line.found - line.lag);
    worst = std::max(worst, mobility / (1 + mobility * stiffness) * missing);
  }
  return worst;
}

/// The normal impulses that bound friction.
std::span<const double> Complementarity::bounding_loads() const {
  if (held_) return z_held_;
  return options_.bounds == FrictionBounds::lagged ? z_before_ : z_;
}

/// Forces and memory of the laws at the solution z.
void Complementarity::advance_laws(System& system, State& state, double h) {
  Pools& pools = system.pools;
  const std::span<const double> loads = bounding_loads();
  limits_.put_motion(pools.joints, state.joints, u_, z_, loads, h, options_.cone);
  contacts_.put_motion(pools.points, state.contacts, u_, z_, loads, h, options_.cone);
  sums_limits_ = limits_.advance(pools.joints, state.joints, h);
  sums_contacts_ = contacts_.advance(pools.points, state.contacts, h);
}

/// Solves, evaluates the laws, and solves again until they agree; else the best one.
void Complementarity::solve_passes(System& system, State& state, double h) {
  Pools& pools = system.pools;
  residual_ = relative_ = 0;
  converged_ = true;
  held_ = false;
  if (problem_.row_count() == 0) return advance_laws(system, state, h);
  double scale = 0;
  for (const double rate : u_free_) scale = std::max(scale, std::abs(rate));
  // Rows whose bodies move alike have no free velocity but for rounding.
  double fastest = 0;
  for (const double v : v_free_) fastest = std::max(fastest, std::abs(v));
  const double tolerance = std::max(options_.tolerance * scale, rate_rounding * fastest);
  double least = unbounded;
  for (int pass = 0, lowerings = 0;; ++pass) {
    SolveReport report = solve_once();
    ++counts_.solves;
    counts_.iterations += static_cast<std::uint64_t>(report.iterations);
    const bool coupled = options_.bounds == FrictionBounds::coupled;
    if (coupled && !(report.relative <= astray) && !(least < unbounded)) {
      report = solve_held();
    }
    find_rates();
    if (!held_ && lowerings < most_lowerings && lower_restitution(h)) {
      ++lowerings;
      ++counts_.lowered;
      continue;
    }
    find_diagonal();
    advance_laws(system, state, h);
    const ImpulseRows::Disagreement joints = limits_.improve(
        pools.joints, state.joints, z_, diagonal_, h, tolerance, options_.cone);
    const ImpulseRows::Disagreement points = contacts_.improve(
        pools.points, state.contacts, z_, diagonal_, h, tolerance, options_.cone);
    find_lags(system, state, h);
    const double off = std::max({joints.speed, points.speed, disagreement_of_springs(h)});
    const double worst = std::max(report.residual, off);
    const bool better = worst < least;
    if (better) {
      least = residual_ = worst;
      relative_ = std::max(report.relative, scale > 0 ? off / scale : 0);
      const bool solved =
          report.relative <= options_.tolerance || report.residual <= tolerance;
      converged_ = solved && off <= tolerance;
      worst_contact_ = report.relative * scale > off && report.worst_row >= 0
                           ? contact_of_[at(report.worst_row)]
                           : points.row;
    }
    // A solver that has used up its iterations would do so again.
    const bool spent =
        held_ || (!report.converged && report.iterations >= options_.iterations);
    if (off <= tolerance || spent || pass >= options_.relinearisations) {
      if (better) return;
      break;
    }
    if (better) {
      z_best_ = z_;
      springs_best_ = springs_;
    }
    renumber(system, state, h);
  }
  z_ = z_best_;
  springs_ = springs_best_;
  find_rates();
  advance_laws(system, state, h);
}

TreeRows Complementarity::rows_on_trees(double h) noexcept {
  return {contacts_.rows(), limits_.rows(), joints_.rows(), h};
}

/// The rows of a step whose contacts are all with the world; false where others take
/// part.
bool Complementarity::take_on_trees(System& system, const State& state, double h) {
  linearise_rows(system, state, h);
  JointPool& joints = system.pools.joints;
  joints.for_each_row(state.joints, joints.law_columns(state.joints.memory),
                      [&](const LawRow& law) {
                        ImpulseRow& row = limits_.rows()[law.i];
                        if (row.first < 0) return;
                        if (law.laws.given_load && row.drag == 0) row.first = -1;
                      });
  if (!trees_.begin(system, state, rows_on_trees(h))) return false;
  for (std::vector<double>* list : {&z_, &u_, &diagonal_}) list->assign(trees_.rows(), 0);
  const int motors = static_cast<int>(trees_.motors());
  sections_ = {motors, motors, motors, motors};
  springs_.clear();
  held_ = false;
  return true;
}

/// Solves, evaluates the laws, and solves again until they agree; false where not.
bool Complementarity::solve_on_trees(System& system, State& state, double h) {
  Pools& pools = system.pools;
  double scale = part_of_fall * h * norm(system.model->tree.gravity());
  for (const std::span<const ImpulseRow> rows : {contacts_.rows(), limits_.rows()}) {
    for (const ImpulseRow& row : rows) {
      if (row.first < 0) continue;
      scale = std::max({scale, std::abs(row.start_rate), norm(row.start_slip)});
    }
  }
  double fastest = 0;
  for (const double v : state.v) fastest = std::max(fastest, std::abs(v));
  const double tolerance = std::max(options_.tolerance * scale, rate_rounding * fastest);
  v_next_ = state.v;
  const TreeRows rows = rows_on_trees(h);
  double off = part_of_scale * scale / part_of_disagreement;
  for (int pass = 0; pass < most_tree_passes; ++pass) {
    const double enough = std::max(0.1 * tolerance, part_of_disagreement * off);
    const bool found = pass == 0 ? trees_.solve_first(system, rows, enough, v_next_)
                                 : trees_.solve_again(system, rows, enough, v_next_);
    if (!found) return false;
    trees_.put(system, v_next_, z_, u_);
    trees_.find_diagonal(rows, diagonal_);
    advance_laws(system, state, h);
    const ImpulseRows::Disagreement of_joints = limits_.improve(
        pools.joints, state.joints, z_, diagonal_, h, tolerance, options_.cone);
    const ImpulseRows::Disagreement of_contacts = contacts_.improve(
        pools.points, state.contacts, z_, diagonal_, h, tolerance, options_.cone);
    off = std::max(of_joints.speed, of_contacts.speed);
    residual_ = std::max(trees_.residual(), off);
    if (residual_ > tolerance) continue;
    relative_ = scale > 0 ? residual_ / scale : 0;
    converged_ = true;
    counts_.solves += static_cast<std::uint64_t>(pass) + 1;
    counts_.iterations += static_cast<std::uint64_t>(trees_.iterations());
    return true;
  }
  return false;
}

/// A step whose contacts are all with the world and neither jam nor chatter; false, with
/// the velocities of links as they were, where it has to be taken as any other.
bool Complementarity::step_on_trees(System& system, State& state, double h,
                                    Commands commands) {
  apply(system, state, h, commands);
  const bool found = take_on_trees(system, state, h) && solve_on_trees(system, state, h);
  joints_.remove(*system.model, system.tree);
  if (!found) system.tree.velocities = links_before_;
  return found;
}

/// Painlevé: friction presses a contact in as it slides, and by so much that none of its
/// impulses lets it slide, A_NN − μ A_NT·e ≤ 0 with e the direction of slip. It has
/// stopped within the step then, however short.
void Complementarity::find_jams() {
  for (int i = 0; i < problem_.island_count(); ++i) {
    const Island island = problem_.island(i);
    const std::span<const int> rows = problem_.rows_of(i);
    for (const Unit& unit : island.units) {
      const std::size_t first = at(rows[at(unit.row)]);
      if (unit.contact < 0 || !(z_[first] > 0)) continue;
      const ImpulseRow& row = contacts_.rows()[at(contact_of_[first])];
      const double speed = norm(row.start_slip);
      if (row.impact || row.tangents < 2 || !(speed > jam_speed)) continue;
      const LocalContact& contact = island.contacts[at(unit.contact)];
      const double pressed =
          contact.block[0][1] * row.start_slip.x + contact.block[0][2] * row.start_slip.y;
      const double slips = std::hypot(u_[first + 1], u_[first + 2]);
      if (contact.friction * pressed < contact.block[0][0] * speed) continue;
      if (slips < 0.5 * speed) jammed_contact_ = contact_of_[first];
    }
  }
}

/// Whether the step may be taken; what did not go well is noted.
bool Complementarity::accepts(const State& state) {
  jammed_contact_ = -1;
  if (!on_trees_ && problem_.contact_count() > 0) find_jams();
  if (jammed_contact_ >= 0) {
    if (counts_.jammed == 0) {
      jammed_ = state.contacts.key[at(jammed_contact_)];
      jammed_time_ = state.time;
    }
    ++counts_.jammed;
  }
  if (!converged_) {
    ++counts_.unconverged;
    if (relative_ > unsolved_relative_) {
      unsolved_relative_ = relative_;
      unsolved_time_ = state.time;
      unsolved_ =
          worst_contact_ >= 0 ? state.contacts.key[at(worst_contact_)] : ContactKey{};
    }
  }
  return !options_.strict || (converged_ && jammed_contact_ < 0);
}

/// v⁺ = v_free + M⁻¹ Jᵀ z, and the links' velocities with it.
void Complementarity::find_velocity(System& system, const State& state, double) {
  const Model& model = *system.model;
  std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
  std::fill(system.tau.begin(), system.tau.end(), 0.0);
  const Placement place = system.placement(state.q, v_free_);
  for (std::size_t i = 0; i < limits_.rows().size(); ++i) {
    const ImpulseRow& row = limits_.rows()[i];
    if (row.first < 0) continue;
    const double normal = row.drag > 0 ? 0 : z_[at(row.first)];
    system.pools.joints.scatter_row(place, i, normal, in_plane(across(row, z_)),
                                    system.sink());
  }
  for (std::size_t i = 0; i < contacts_.rows().size(); ++i) {
    const ImpulseRow& row = contacts_.rows()[i];
    if (row.first < 0) continue;
    const Vec3<double> pushed = across(row, z_);
    system.pools.points.scatter_row(place, i, z_[at(row.first)], in_plane(pushed),
                                    system.sink());
    const PatchLine* patch = contacts_.patch_line(i);
    if (patch == nullptr) continue;
    const double* about = patch->rolling >= 0 ? z_.data() + patch->rolling : nullptr;
    const Vec2<double> couple =
        patch->couple(z_[at(row.first)], about != nullptr ? about[0] : 0,
                      about != nullptr ? about[1] : 0);
    const Frame<double>& frame = system.pools.points.place(i).frame;
    const double spinning = patch->start().gyration() * pushed.z;
    system.pools.points.scatter_couple(i, frame.to_world(couple) + spinning * frame.n,
                                       system.sink());
  }
  for (int r = sections_.loops; r < sections_.springs; ++r) {
    const std::size_t k = system.loops.order[at(r - sections_.loops)];
    add_row<double>(system.loops.rows[k], z_[at(r)], system.on_links, system.tau);
  }
  int r = sections_.springs;
  for_each_spring(system.pools.springs, place, [&](const SpringRows& rows) {
    for (int k = 0; k < rows.count; ++k) {
      if (rows.stiffness[k] > 0 || rows.damping[k] > 0) {
        add_row<double>(rows.row[k], z_[at(r++)], system.on_links, system.tau);
      }
    }
  });
  for (const VelocityConstraint& constraint : model.constraints) {
    add_row<double>(row_of(system.tree, constraint), z_[at(r++)], system.on_links,
                    system.tau);
  }
  for (const ImplicitJoints::Row& motor : joints_.rows()) {
    add_row<double>(ImplicitJoints::jacobian(system.drives.couplings, motor), z_[at(r++)],
                    system.on_links, system.tau);
  }
  solve_mass<double>(model.tree, system.tau, system.on_links, system.tree, change_);
  for (std::size_t k = 0; k < v_next_.size(); ++k) v_next_[k] = v_free_[k] + change_[k];
  for (std::size_t i = 0; i < links_before_.size(); ++i) {
    system.tree.velocities[i] = system.tree.velocities[i] + system.tree.links[i].response;
  }
}

/// Contacts and limits that were left out, since free motion does not close them, and
/// that impulses elsewhere close within the step. Says whether there are any.
bool Complementarity::join_missed(System& system, const State& state, double h) {
  const Placement place = system.placement(state.q, v_next_);
  bool any = false;
  const auto look = [&](const auto& pool, ImpulseRow& row, std::size_t i) {
    if (row.first >= 0 || row.joins || !(row.depth <= 0)) return;
    JacobianRow<double> jacobian[PointPool::most_rows];
    pool.jacobian(place, i, jacobian);
    const double rate = -row_rate<double>(system.tree, v_next_, jacobian[0]);
    row.joins = row.depth + h * rate > 0;
    any = any || row.joins;
  };
  for (std::size_t i = 0; i < contacts_.rows().size(); ++i) {
    if (state.contacts.key[i].empty()) continue;
    look(system.pools.points, contacts_.rows()[i], i);
  }
  JointPool& joints = system.pools.joints;
  joints.for_each_row(state.joints, joints.law_columns(state.joints.memory),
                      [&](const LawRow& law) {
                        if (law.laws.given_load || joints.joint(law.i) == nullptr) return;
                        look(joints, limits_.rows()[law.i], law.i);
                      });
  return any;
}

/// The lines of the ledger, all forces at v⁺.
void Complementarity::enter_ledger(System& system, State& state, double h) {
  const Model& model = *system.model;
  Pools& pools = system.pools;
  Works& works = state.works;
  const auto add_powers = [h](Powers<double>& to, const Powers<double>& powers) {
    for (std::size_t line = 0; line < 5; ++line) {
      field<double>(to, line) += h * field<double>(powers, line);
    }
  };
  add_powers(works.normal, sums_contacts_.normal.powers);
  add_powers(works.friction, sums_contacts_.friction.powers);
  works.rolling += h * sums_contacts_.rolling;
  works.spin += h * sums_contacts_.friction.spin;
  works.friction.slip -= h * sums_contacts_.friction.spin;
  add_powers(works.limits, sums_limits_.normal.powers);
  add_powers(works.joint_friction, sums_limits_.friction.powers);
  const ImpulseLedger joints = limits_.finish(pools.joints, state.joints, u_, z_, h);
  const ImpulseLedger points = contacts_.finish(pools.points, state.contacts, u_, z_, h);
  pools.points.put_turns(system.placement(state.q, v_next_), h, state.contacts);
  works.limits.damping += joints.normal_damping;
  works.joint_friction.slip += joints.friction_slip;
  works.joint_friction.damping -= joints.stretched;
  works.normal.damping += points.normal_damping;
  works.friction.slip += points.friction_slip;
  works.friction.damping -= points.stretched;
  works.numerical +=
      joints.numerical + joints.stretched + points.numerical + points.stretched;
  works.regenerated += joints.regenerated + points.regenerated;
  const std::span<const Dof> dofs = model.tree.dofs();
  for (std::size_t k = 0; model.has_joint_forces && k < dofs.size(); ++k) {
    const double moved = h * v_next_[k];
    works.dampers += dofs[k].damping * moved * v_next_[k];
    if (dofs[k].q >= 0) works.numerical += 0.5 * dofs[k].stiffness * moved * moved;
  }
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    if (model.motors[i].kind == MotorKind::prescribed || joints_.is_row(i)) continue;
    system.motor_forces[i] =
        joints_.motor_force(model, system.drives.couplings, i, v_next_);
    works.motors += h * system.motor_forces[i] *
                    travel_rate(system.drives.couplings, model.motors[i], v_next_);
  }
  int r = sections_.springs;
  for (const SpringLine& line : springs_) {
    const double rate = u_[at(r++)];
    // ½ k x² from x to x⁺, and what the force that the step thought of did.
    const double grown = h * rate + line.lag, stretched = h * rate + line.found;
    const double force = line.stiffness * grown - line.elastic;
    works.loops += line.damping * grown * grown / h;
    works.numerical += 0.5 * line.stiffness * grown * grown;
    works.regenerated += 0.5 * line.stiffness * stretched * stretched -
                         line.elastic * stretched - force * h * rate +
                         0.5 * line.stiffness * grown * grown +
                         line.damping * grown * line.lag / h;
  }
  for (const VelocityConstraint& constraint : model.constraints) {
    const double rate = u_[at(r++)];
    works.loops += h * constraint.damping * rate * rate;
  }
  for (const ImplicitJoints::Row& row : joints_.rows()) {
    if (row.motor >= 0) {
      system.motor_forces[at(row.motor)] = z_[at(r)] / h;
      works.motors += z_[at(r)] * travel_rate(system.drives.couplings,
                                              model.motors[at(row.motor)], v_next_);
    }
    ++r;
  }
  book_links(system, state, h);
}

/// ½ Δvᵀ M Δv, gyroscopic torques and loads, by the links' velocities.
void Complementarity::book_links(System& system, State& state, double h) {
  const Model& model = *system.model;
  Workspace<double>& tree = system.tree;
  Works& works = state.works;
  if (!model.loads.empty()) {
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    works.loads += h * bristle::add_loads(model, tree, system.on_links);
  }
  for (std::size_t i = 1; i < links_before_.size(); ++i) {
    if (!velocity_terms_.is_fast(i)) works.numerical -= h * gyroscopic_.power(tree, i);
    std::swap(links_before_[i], tree.velocities[i]);
    tree.velocities[i] = links_before_[i] - tree.velocities[i];
  }
  for (std::size_t k = 0; k < change_.size(); ++k) change_[k] = v_next_[k] - state.v[k];
  works.numerical += kinetic_energy<double>(model.tree, change_, tree);
}

/// What prescribed joints take beyond the other forces on them.
void Complementarity::book_prescribed(System& system, State& state, double h) {
  const Model& model = *system.model;
  if (model.prescribed.empty()) return;
  for (std::size_t i = 0; i < applied_.size(); ++i) {
    system.on_links[i] = applied_[i] + (1 / h) * system.on_links[i];
  }
  for (std::size_t k = 0; k < v_next_.size(); ++k) {
    system.acceleration[k] = (v_next_[k] - state.v[k]) / h;
  }
  // With the velocity terms that the step began with.
  std::swap(links_before_, system.tree.velocities);
  inverse_dynamics<double>(model.tree, state.v, system.acceleration, system.on_links,
                           system.tree, change_);
  std::swap(links_before_, system.tree.velocities);
  const std::span<const Dof> dofs = model.tree.dofs();
  for (std::size_t i = 0; i < model.motors.size(); ++i) {
    const Motor& motor = model.motors[i];
    if (motor.kind != MotorKind::prescribed) continue;
    const std::size_t k = at(motor.v);
    const Dof& dof = dofs[k];
    const double spring =
        dof.q < 0 ? 0 : -dof.stiffness * (state.q[at(dof.q)] - dof.rest + h * v_next_[k]);
    const double others = system.tau[k] / h + spring - dof.damping * v_next_[k];
    system.motor_forces[i] = change_[k] - others;
    state.works.motors += h * system.motor_forces[i] * v_next_[k];
  }
}

/// What the rigid loops pushed with.
void Complementarity::note_loops(System& system, double h) {
  const Model& model = *system.model;
  if (model.loop_rows == 0) return;
  std::fill(system.loops.lambda.begin(), system.loops.lambda.end(), 0.0);
  for (int r = sections_.loops; r < sections_.springs; ++r) {
    system.loops.lambda[system.loops.order[at(r - sections_.loops)]] = z_[at(r)] / h;
  }
  push_loops(system.loops);
  bristle::note_loops(model, system.tree, system.loops);
}

void Complementarity::accept(System& system, State& state, double h) {
  counts_.residual = std::max(counts_.residual, residual_);
  counts_.relative = std::max(counts_.relative, relative_);
  state.v = v_next_;
  const Tree& tree = system.model->tree;
  gyroscopic_.move_on(tree, system.tree, h, state.q, state.v);
  if (turns_fast_) velocity_terms_.keep(tree, state.q, state.v, system.tree);
  state.v_stepped = state.v;
  state.time += h;
  state.impulse_time = state.time;
  state.impulse_step = h;
}

void Complementarity::restore(State& state) {
  limits_.restore(state.joints);
  contacts_.restore(state.contacts);
}

/// Free motion, the problem of all rows and its solution; false where that is not finite.
bool Complementarity::solve_by_rows(System& system, State& state, double h,
                                    Commands commands) {
  free_motion(system, state, h, commands);
  const bool finite = all_finite(v_free_);
  if (finite) {
    linearise(system, state, h);
    build(system, state, h);
    guess(state, h);
    solve_passes(system, state, h);
    find_velocity(system, state, h);
  }
  joints_.remove(*system.model, system.tree);
  return finite;
}

StepStatus Complementarity::take(System& system, State& state, double h,
                                 Commands commands) {
  reserve(system, state);
  limits_.begin(system.pools.joints, state.joints);
  contacts_.begin(static_cast<LawPool&>(system.pools.points), state.contacts);
  contacts_.begin(system.pools.points, state.contacts);
  links_before_ = system.tree.velocities;
  turns_fast_ = velocity_terms_.find(system.tree, h);
  joints_.begin();
  // Again where a motor turns out to reach its limit: it is a row then; and where a
  // contact closes that was left out.
  const std::size_t most = system.model->motors.size() + most_joinings;
  on_trees_ = tries_trees_;
  for (std::size_t attempt = 0; attempt <= most; ++attempt) {
    system.tree.velocities = links_before_;
    on_trees_ = on_trees_ && step_on_trees(system, state, h, commands);
    if (!on_trees_ && !solve_by_rows(system, state, h, commands)) {
      return StepStatus::not_finite;
    }
    const bool complete = !join_missed(system, state, h);
    if (joints_.within_limits(*system.model, system.drives.couplings, v_next_) &&
        complete)
      break;
  }
  if (!all_finite(v_next_)) {
    restore(state);
    return StepStatus::not_finite;
  }
  if (!accepts(state)) {
    restore(state);
    return StepStatus::not_converged;
  }
  if (turns_fast_) {
    state.works.numerical -=
        velocity_terms_.measure(system.model->tree, h, v_next_, links_before_,
                                gyroscopic_.changes(), system.tree);
  }
  book_prescribed(system, state, h);
  note_loops(system, h);
  enter_ledger(system, state, h);
  accept(system, state, h);
  return StepStatus::ok;
}

StepStatus Complementarity::step(System& system, State& state, double h,
                                 Commands commands) noexcept {
  try {
    return take(system, state, h, commands);
  } catch (const std::bad_alloc&) {
    return StepStatus::too_many_contacts;
  }
}

/// Where loops bend the way of bodies, and where a mechanism turns far in a step.
bool Complementarity::may_be_too_long(const System& system, double h) const noexcept {
  return !system.model->loops.empty() || velocity_terms_.turns_by(system.tree, h) > far;
}

bool Complementarity::keeps_energy(const System& system, double h) const noexcept {
  return VelocityTerms::keeps_energy(velocity_terms_.turns_by(system.tree, h));
}

double Complementarity::work_of_rows() const noexcept {
  double work = 0;
  const std::size_t others = at(sections_.motors) + joints_.rows().size();
  for (std::size_t r = 0; r < z_.size(); ++r) {
    if (r < at(sections_.loops) || r >= others) work += z_[r] * u_[r];
  }
  return work;
}

std::string Complementarity::advice(const Model& model) const {
  const auto names = [&model](const ContactKey& key) {
    return key.empty() ? std::string()
                       : ", at the contact of \"" + model.shapes[key.a].name +
                             "\" with \"" + model.shapes[key.b].name + "\"";
  };
  char numbers[200];
  std::string text;
  if (counts_.jammed > 0) {
    std::snprintf(numbers, sizeof numbers,
                  "%llu steps had a contact that jams (Painlevé: friction presses it in, "
                  "and it cannot slide on); the first at %.6g s",
                  static_cast<unsigned long long>(counts_.jammed), jammed_time_);
    text = numbers + names(jammed_) +
           ". It stops within a step: take a compliant normal law or less friction";
  }
  if (counts_.unconverged == 0) return text;
  std::snprintf(
      numbers, sizeof numbers,
      "%llu steps were not solved to %.1g of their free velocity; the worst, at "
      "%.6g s, to %.1g",
      static_cast<unsigned long long>(counts_.unconverged), options_.tolerance,
      unsolved_time_, unsolved_relative_);
  return (text.empty() ? text : text + ". ") + numbers + names(unsolved_) +
         ". Take a shorter step, more iterations or relinearisations, or laws with "
         "more damping";
}

double no_bound(const TimeScales&) noexcept {
  return std::numeric_limits<double>::infinity();
}

}  // namespace

const MethodInfo complementarity_method{
    .name = "complementarity",
    .title = "impulses by a complementarity problem",
    .order = 1,
    .evaluations = 1,
    .impulses = true,
    .stable_step = no_bound,
    .make = [](const System& system,
               const FixedStepOptions& options) -> std::unique_ptr<FixedMethod> {
      return std::make_unique<Complementarity>(system, options.complementarity);
    }};

}  // namespace bristle
