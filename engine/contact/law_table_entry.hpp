#pragma once

#include <algorithm>
#include <array>

#include "bristle/contact/law_table.hpp"
#include "bristle/core/dual.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/laws/friction/spinning_disc.hpp"

// A law's entry in the table, made from its type: its operations as functions over
// columns of contacts. The library compiles those of laws.hpp; a program that registers a
// law of its own compiles them for that law.

namespace bristle {

namespace detail {

template <class L>
using RowParams = typename L::template Params<double>;
template <class L>
using RowState = typename L::template State<double>;

template <class L>
RowState<L> load_row(const Columns<const double>& state, std::size_t i) {
  return detail::load_fields<RowState<L>, double>(state, i);
}

template <NormalLaw L>
VolumeLaw volume_of([[maybe_unused]] const LawChoice& choice,
                    [[maybe_unused]] const Columns<const double>& state,
                    [[maybe_unused]] std::size_t i) noexcept {
  if constexpr (volumetric_law<L>) {
    const RowParams<L> params = params_of<L>(choice);
    return {params.stiffness, L::rolling(params, load_row<L>(state, i))};
  } else {
    return {};
  }
}

template <int D = 2>
Kinematics<double, D> row_kinematics(const LawColumns& c, std::size_t i) {
  return load_kinematics<double, D, Roots::alone>(c, i, c.root_depth);
}

/// As a friction law of two or three components reads it, in another scalar kind.
template <FrictionLaw L, class T>
Kinematics<T, slip_components<L>> as_seen(const SpinKinematics& kin) {
  if constexpr (slip_components<L> == 2) {
    return {T(kin.depth), T(kin.root_depth), T(kin.rate), {T(kin.slip.x), T(kin.slip.y)}};
  } else {
    return {T(kin.depth),
            T(kin.root_depth),
            T(kin.rate),
            {T(kin.slip.x), T(kin.slip.y), T(kin.slip.z)}};
  }
}
template <FrictionLaw L>
Kinematics<double, slip_components<L>> as_seen(const SpinKinematics& kin) {
  auto seen = as_seen<L, double>(kin);
  seen.held = kin.held;
  return seen;
}

/// Three components, the third zero where there are two.
inline Vec3<double> with_third(const Vec3<double>& v) { return v; }
inline Vec3<double> with_third(const Vec2<double>& v) { return {v.x, v.y, 0}; }

template <NormalLaw L, LedgerDetail ledger, Form form>
void run_normal(const LawChoice& choice, const LawColumns& columns, ContactRange range,
                double h, LawTotals& totals) noexcept {
  normal_pass<L, ledger, double, form>(params_of<L>(choice), columns, range, h, totals);
}

template <FrictionLaw L, LedgerDetail ledger, Form form>
void run_friction(const LawChoice& choice, const LawColumns& columns, ContactRange range,
                  double h, LawTotals& totals) noexcept {
  friction_pass<L, ledger, double, form>(params_of<L>(choice), columns, range, h, totals);
}

template <NormalLaw L>
void touch_normal(const LawChoice& choice, double approach, const Columns<double>& state,
                  std::size_t i) noexcept {
  detail::store_fields<double>(L::touch(params_of<L>(choice), approach), state, i);
}

template <FrictionLaw L>
void touch_friction(const LawChoice& choice, const Columns<double>& state,
                    std::size_t i) noexcept {
  detail::store_fields<double>(L::touch(params_of<L>(choice)), state, i);
}

template <NormalLaw L>
void commit_normal(const LawChoice& choice, const LawColumns& columns, ContactRange range,
                   [[maybe_unused]] double* released) noexcept {
  if constexpr (L::state().size() > 0) {
    const RowParams<L> params = params_of<L>(choice);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      auto kept = L::commit(params, load_row<L>(columns.normal_state, i),
                            row_kinematics(columns, i));
      detail::store_fields<double>(kept.state, columns.normal_next, i);
      released[i] += kept.released;
    }
  }
}

template <FrictionLaw L>
void commit_friction(const LawChoice& choice, const LawColumns& columns,
                     ContactRange range, [[maybe_unused]] double* released) noexcept {
  if constexpr (L::state().size() > 0) {
    const RowParams<L> params = params_of<L>(choice);
    HeldSides<L, double> held;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      auto kin = row_kinematics<slip_components<L>>(columns, i);
      kin.held = held.load_from(columns.friction_held, i);
      auto kept = L::commit(params, load_row<L>(columns.friction_state, i), kin,
                            columns.normal_force[i]);
      detail::store_fields<double>(kept.state, columns.friction_next, i);
      released[i] += kept.released;
    }
  }
}

template <NormalLaw L>
NormalSlopes<double> linearise_normal(const LawChoice& choice,
                                      const Columns<const double>& state, std::size_t i,
                                      const Kinematics<double>& kin) noexcept {
  return L::linearise(params_of<L>(choice), load_row<L>(state, i), kin);
}

template <NormalLaw L>
double stored_normal(const LawChoice& choice, const Columns<const double>& state,
                     std::size_t i, double depth) noexcept {
  return L::evaluate(params_of<L>(choice), load_row<L>(state, i),
                     Kinematics<double>::at(depth, 0.0))
      .stored;
}

template <FrictionLaw L>
double stored_friction(const LawChoice& choice, const Columns<const double>& state,
                       std::size_t i, double depth, double normal_force) noexcept {
  return L::evaluate(params_of<L>(choice), load_row<L>(state, i),
                     Kinematics<double, slip_components<L>>::at(depth, 0.0), normal_force)
      .stored;
}

template <FrictionLaw L>
StepSlopes step_slopes(const LawChoice& choice, const Columns<const double>& state,
                       std::size_t i, const SpinKinematics& kin, double normal_force,
                       double h) noexcept {
  constexpr int n = slip_components<L>;
  using D = Dual<double, n>;
  auto moving = as_seen<L, D>(kin);
  for (int k = 0; k < n; ++k) {
    field<D>(moving.slip, static_cast<std::size_t>(k)).by[k] = 1;
  }
  const auto step = L::advance(cast_params<L, D, double>(params_of<L>(choice)),
                               cast_state<L, D, double>(load_row<L>(state, i)), moving,
                               D(normal_force), D(h));
  StepSlopes slopes{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (std::size_t r = 0; r < n; ++r) {
    const D& force = field<D>(step.force, r);
    field<double>(slopes.by_slip_x, r) = force.by[0];
    field<double>(slopes.by_slip_y, r) = force.by[1];
    if constexpr (n == 3) field<double>(slopes.by_slip_z, r) = force.by[2];
  }
  return slopes;
}

/// The largest row sum of |∂ż/∂z|, a bound of its eigenvalues.
template <FrictionLaw L>
double memory_rate(const LawChoice& choice, const Columns<const double>& state,
                   std::size_t i, const SpinKinematics& kin,
                   double normal_force) noexcept {
  constexpr std::size_t n = L::state().size();
  if constexpr (n == 0) {
    return 0;
  } else {
    using D = Dual<double, static_cast<int>(n)>;
    auto memory = cast_state<L, D, double>(load_row<L>(state, i));
    for (std::size_t k = 0; k < n; ++k) field<D>(memory, k).by[k] = 1;
    const auto now = L::evaluate(cast_params<L, D, double>(params_of<L>(choice)), memory,
                                 as_seen<L, D>(kin), D(normal_force));
    double largest = 0;
    for (std::size_t r = 0; r < n; ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double slope = field<D>(now.rate, r).by[k];
        sum += slope < 0 ? -slope : slope;
      }
      largest = sum > largest ? sum : largest;
    }
    return largest;
  }
}

template <FrictionLaw L>
FrictionSpring<double, 3> spring_of(const LawChoice& choice,
                                    const Columns<const double>& state, std::size_t i,
                                    const SpinKinematics& kin,
                                    double normal_force) noexcept {
  const auto f = L::spring(params_of<L>(choice), load_row<L>(state, i), as_seen<L>(kin),
                           normal_force);
  return {f.stiffness, f.damping, with_third(f.elastic_force), f.bound, f.viscous};
}

template <FrictionLaw L>
Vec3<double> step_force(const LawChoice& choice, const Columns<const double>& state,
                        std::size_t i, const SpinKinematics& kin, double normal_force,
                        double h) noexcept {
  return with_third(L::advance(params_of<L>(choice), load_row<L>(state, i),
                               as_seen<L>(kin), normal_force, h)
                        .force);
}

template <class L>
inline constexpr auto guard_list = [] {
  static_assert(L::guard_list().size() <= max_guards, "a law has too many guards");
  return L::guard_list();
}();

template <NormalLaw L>
void normal_guards(const LawChoice& choice, const Columns<const double>& state,
                   std::size_t i, const Kinematics<double>& kin, double* out) noexcept {
  const auto now = L::guards(params_of<L>(choice), load_row<L>(state, i), kin);
  std::copy(now.begin(), now.end(), out);
}

template <FrictionLaw L>
void friction_guards(const LawChoice& choice, const Columns<const double>& state,
                     std::size_t i, const SpinKinematics& kin, double normal_force,
                     double* out) noexcept {
  const auto now = L::guards(params_of<L>(choice), load_row<L>(state, i), as_seen<L>(kin),
                             normal_force);
  std::copy(now.begin(), now.end(), out);
}

}  // namespace detail

template <NormalLaw L>
constexpr NormalLawTable normal_table_entry() {
  using namespace detail;
  return {static_cast<int>(L::state().size()),
          L::lines,
          &run_normal<L, LedgerDetail::totals, Form::advance>,
          &run_normal<L, LedgerDetail::columns, Form::advance>,
          &run_normal<L, LedgerDetail::totals, Form::evaluate>,
          &run_normal<L, LedgerDetail::columns, Form::evaluate>,
          &touch_normal<L>,
          &commit_normal<L>,
          &linearise_normal<L>,
          &stored_normal<L>,
          guard_list<L>,
          &normal_guards<L>,
          &volume_of<L>};
}

template <FrictionLaw L>
constexpr FrictionLawTable friction_table_entry() {
  using namespace detail;
  return {static_cast<int>(L::state().size()),
          L::lines,
          &run_friction<L, LedgerDetail::totals, Form::advance>,
          &run_friction<L, LedgerDetail::columns, Form::advance>,
          &run_friction<L, LedgerDetail::totals, Form::evaluate>,
          &run_friction<L, LedgerDetail::columns, Form::evaluate>,
          &touch_friction<L>,
          &commit_friction<L>,
          &memory_rate<L>,
          &step_slopes<L>,
          &spring_of<L>,
          &step_force<L>,
          &stored_friction<L>,
          guard_list<L>,
          &friction_guards<L>};
}

/// The kinds of spin beside Spin::none, in their order; null where a law has none.
using SpinLawTables = std::array<FrictionLawTable, spin_names.size() - 1>;

template <FrictionLaw L>
constexpr SpinLawTables spin_table_entries() {
  SpinLawTables tables{};
  if constexpr (SpinFrictionLaw<L>) tables[0] = friction_table_entry<WithSpin<L>>();
  if constexpr (has_disc_integrals<L>) {
    tables[1] = friction_table_entry<UniformDisc>();
    tables[2] = friction_table_entry<ParaboloidDisc>();
    tables[3] = friction_table_entry<HertzDisc>();
  }
  return tables;
}

}  // namespace bristle
