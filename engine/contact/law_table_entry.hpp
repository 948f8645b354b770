#pragma once

#include <algorithm>
#include <array>

#include "bristle/contact/law_table.hpp"
#include "bristle/core/dual.hpp"
#include "bristle/laws/choice.hpp"

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

inline Kinematics<double> row_kinematics(const LawColumns& c, std::size_t i) {
  return Kinematics<double>::at(c.depth[i], c.rate[i], {c.slip_x[i], c.slip_y[i]});
}

template <NormalLaw L, Books books, Form form>
void run_normal(const LawChoice& choice, const LawColumns& columns, ContactRange range,
                double h, LawTotals& totals) noexcept {
  normal_pass<L, books, double, form>(params_of<L>(choice), columns, range, h, totals);
}

template <FrictionLaw L, Books books, Form form>
void run_friction(const LawChoice& choice, const LawColumns& columns, ContactRange range,
                  double h, LawTotals& totals) noexcept {
  friction_pass<L, books, double, form>(params_of<L>(choice), columns, range, h, totals);
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
      Kinematics<double> kin = row_kinematics(columns, i);
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
                     Kinematics<double>::at(depth, 0.0), normal_force)
      .stored;
}

template <FrictionLaw L>
StepSlopes step_slopes(const LawChoice& choice, const Columns<const double>& state,
                       std::size_t i, const Kinematics<double>& kin, double normal_force,
                       double h) noexcept {
  using D = Dual<double, 2>;
  const Kinematics<D> moving{D(kin.depth),
                             D(kin.root_depth),
                             D(kin.rate),
                             {D::variable(kin.slip.x, 0), D::variable(kin.slip.y, 1)}};
  const auto step = L::advance(cast_params<L, D, double>(params_of<L>(choice)),
                               cast_state<L, D, double>(load_row<L>(state, i)), moving,
                               D(normal_force), D(h));
  return {{step.force.x.by[0], step.force.y.by[0]},
          {step.force.x.by[1], step.force.y.by[1]}};
}

/// The largest row sum of |∂ż/∂z|, a bound of its eigenvalues.
template <FrictionLaw L>
double memory_rate(const LawChoice& choice, const Columns<const double>& state,
                   std::size_t i, const Kinematics<double>& kin,
                   double normal_force) noexcept {
  constexpr std::size_t n = L::state().size();
  if constexpr (n == 0) {
    return 0;
  } else {
    using D = Dual<double, static_cast<int>(n)>;
    auto memory = cast_state<L, D, double>(load_row<L>(state, i));
    for (std::size_t k = 0; k < n; ++k) field<D>(memory, k).by[k] = 1;
    const Kinematics<D> moving{
        D(kin.depth), D(kin.root_depth), D(kin.rate), {D(kin.slip.x), D(kin.slip.y)}};
    const auto now = L::evaluate(cast_params<L, D, double>(params_of<L>(choice)), memory,
                                 moving, D(normal_force));
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
FrictionSpring<double> spring_of(const LawChoice& choice,
                                 const Columns<const double>& state, std::size_t i,
                                 const Kinematics<double>& kin,
                                 double normal_force) noexcept {
  return L::spring(params_of<L>(choice), load_row<L>(state, i), kin, normal_force);
}

template <FrictionLaw L>
Vec2<double> step_force(const LawChoice& choice, const Columns<const double>& state,
                        std::size_t i, const Kinematics<double>& kin, double normal_force,
                        double h) noexcept {
  return L::advance(params_of<L>(choice), load_row<L>(state, i), kin, normal_force, h)
      .force;
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
                     std::size_t i, const Kinematics<double>& kin, double normal_force,
                     double* out) noexcept {
  const auto now =
      L::guards(params_of<L>(choice), load_row<L>(state, i), kin, normal_force);
  std::copy(now.begin(), now.end(), out);
}

}  // namespace detail

template <NormalLaw L>
constexpr NormalLawTable normal_table_entry() {
  using namespace detail;
  return {static_cast<int>(L::state().size()),
          L::lines,
          &run_normal<L, Books::totals, Form::advance>,
          &run_normal<L, Books::columns, Form::advance>,
          &run_normal<L, Books::totals, Form::evaluate>,
          &run_normal<L, Books::columns, Form::evaluate>,
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
          &run_friction<L, Books::totals, Form::advance>,
          &run_friction<L, Books::columns, Form::advance>,
          &run_friction<L, Books::totals, Form::evaluate>,
          &run_friction<L, Books::columns, Form::evaluate>,
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

}  // namespace bristle
