#include "tests/contract/allocations.hpp"
#include "tests/contract/derivative.hpp"
#include "tests/contract/support.hpp"

// Every registered normal law, at one moment.

namespace bristle::contract {
namespace {

template <class L>
class NormalContract : public ::testing::Test {};
TYPED_TEST_SUITE(NormalContract, NormalTypes, LawName);

/// d(stored)/dt along the motion, by dual numbers.
template <class L, class N>
double stored_rate(const Sample<L, N>& s, const typename L::template State<N>& rate) {
  using D = Dual<N, 1>;
  const auto kin =
      Kinematics<D>::at(along(s.kin.depth, s.kin.rate), along(s.kin.rate, N(0)));
  return evaluate<L>(cast_params<L, D, N>(s.params), state_along<L, N>(s.state, rate),
                     kin)
      .stored.by[0];
}

template <class L, class N>
void check_ledger(const Sample<L>& sample) {
  const Sample<L, N> s = cast_sample<N>(sample);
  const auto f = evaluate<L>(s.params, s.state, s.kin);
  const double stored = stored_rate(s, f.rate);
  const double spent = static_cast<double>(f.force) * static_cast<double>(s.kin.rate);
  expect_balance(spent, f.powers, stored, std::fabs(static_cast<double>(s.kin.rate)));
  expect_losses(f.powers, spent, stored);
}

TYPED_TEST(NormalContract, PowerIsSpentStoredOrLost) {
  for_normal_samples<TypeParam>(1, 2000, [](const Sample<TypeParam>& s) {
    check_ledger<TypeParam, double>(s);
    check_ledger<TypeParam, float>(s);
  });
}

TYPED_TEST(NormalContract, TensionAndSourcesOccurWhereTheMetadataSays) {
  PassivityCheck check;
  for_normal_samples<TypeParam>(2, 4000, [&check](const Sample<TypeParam>& s) {
    const auto f = evaluate<TypeParam>(s.params, s.state, s.kin);
    check.add(TypeParam::passivity(s.params), f.force, f.powers.parametric,
              f.powers.unsupplied);
  });
  check.finish();
}

/// An integrator holds a law on the sides that its guards say, in their order: nothing
/// changes by that.
TYPED_TEST(NormalContract, HeldOnItsOwnSidesALawIsAsWhenFree) {
  for_normal_samples<TypeParam>(6, 1000, [](Sample<TypeParam> s) {
    const auto free = evaluate<TypeParam>(s.params, s.state, s.kin);
    const auto sides = sides_of(guards<TypeParam>(s.params, s.state, s.kin));
    s.kin.held = sides.data();
    const auto held = evaluate<TypeParam>(s.params, s.state, s.kin);
    EXPECT_EQ(list<double>(held), list<double>(free));
  });
}

TYPED_TEST(NormalContract, AnOpenContactExertsNothingAndLosesNothing) {
  for_normal_samples<TypeParam>(3, 500, [](Sample<TypeParam> s) {
    s.kin = Kinematics<double>::at(-std::fabs(s.kin.depth), s.kin.rate);
    const auto f = evaluate<TypeParam>(s.params, s.state, s.kin);
    EXPECT_EQ(f.force, 0);
    EXPECT_EQ(advance<TypeParam>(s.params, s.state, s.kin, s.step).force, 0);
    EXPECT_EQ(linearise<TypeParam>(s.params, s.state, s.kin).force, 0);
  });
}

template <class L, class N>
void check_finite(const Sample<L>& sample) {
  const Sample<L, N> s = cast_sample<N>(sample);
  const auto evaluated = evaluate<L>(s.params, s.state, s.kin);
  EXPECT_TRUE(all_finite<N>(evaluated)) << list<N>(evaluated);
  const auto slopes = linearise<L>(s.params, s.state, s.kin);
  EXPECT_TRUE(all_finite<N>(slopes)) << list<N>(slopes);
  const auto guard_values = guards<L>(s.params, s.state, s.kin);
  EXPECT_TRUE(all_finite<N>(guard_values)) << list<N>(guard_values);
  const auto touched = touch<L>(s.params, s.kin.rate);
  EXPECT_TRUE(all_finite<N>(touched)) << list<N>(touched);
  for (const double h : {1e-9, 1e-3, 1.0, 1e6}) {
    const auto step = advance<L>(s.params, s.state, s.kin, static_cast<N>(h));
    EXPECT_TRUE(all_finite<N>(step)) << list<N>(step) << " with h = " << h;
  }
}

TYPED_TEST(NormalContract, OutputIsFiniteOverTheWholeRangeOfParameters) {
  for_normal_samples<TypeParam>(4, 2000, [](const Sample<TypeParam>& s) {
    check_finite<TypeParam, double>(s);
    check_finite<TypeParam, float>(s);
  });
}

/// Force, stored energy and the rate of the memory.
template <class L, class T>
struct Outputs {
  T force, stored;
  [[no_unique_address]] typename L::template State<T> rate;
};

TYPED_TEST(NormalContract, DualDerivativesAgreeWithDifferences) {
  using L = TypeParam;
  constexpr std::size_t n =
      2 + field_count<ParamsOf<L>, double> + field_count<StateOf<L>, double>;
  Coverage coverage(input_names<L>({"depth", "rate"}));
  const auto f = []<class T>(const std::array<T, n>& x) {
    typename L::template Params<T> params;
    typename L::template State<T> state;
    unpack<L>(x, 2, params, state);
    const auto r = evaluate<L>(params, state, Kinematics<T>::at(x[0], x[1]));
    return Outputs<L, T>{r.force, r.stored, r.rate};
  };
  for_normal_samples<L>(5, 200, [&](const Sample<L>& s) {
    if (!(s.kin.depth > 1e-30)) return;  // the slope of √δ is infinite at 0
    std::array<double, n> x{s.kin.depth, s.kin.rate};
    pack_up<L>(x, 2, s.params, s.state);
    expect_derivatives(f, x, zero_fields<Outputs<L, double>, double>(), coverage);
  });
  coverage.expect_at_least(0.5);
}

TYPED_TEST(NormalContract, LinearisationAgreesWithDuals) {
  using D = Dual<double, 1>;
  for_normal_samples<TypeParam>(6, 2000, [](const Sample<TypeParam>& s) {
    using L = TypeParam;
    const auto slopes = linearise<L>(s.params, s.state, s.kin);
    const auto at = [&s](double depth_seed, double rate_seed, double rate) {
      const auto kin =
          Kinematics<D>::at(along(s.kin.depth, depth_seed), along(rate, rate_seed));
      return evaluate<L>(cast_params<L, D, double>(s.params),
                         cast_state<L, D, double>(s.state), kin)
          .force;
    };
    const D by_depth = at(1, 0, s.kin.rate);
    const D by_rate = at(0, 1, s.kin.rate);
    const D at_rest = at(1, 0, 0);
    EXPECT_EQ(slopes.force, by_depth.value);
    EXPECT_EQ(slopes.static_force, at_rest.value);
    // Where f itself underflows, the chain rule has nothing left to start from.
    if (std::fabs(at_rest.value) < 1e-290) return;
    // The slopes of spring and damper may cancel: compare with their size.
    const double size = std::fabs(by_depth.by[0]) + std::fabs(at_rest.by[0]);
    EXPECT_NEAR(slopes.by_depth, by_depth.by[0], 1e-12 * size);
    EXPECT_NEAR(slopes.by_rate, by_rate.by[0], 1e-12 * std::fabs(by_rate.by[0]));
  });
}

TYPED_TEST(NormalContract, AStepWithoutLengthIsTheMoment) {
  for_normal_samples<TypeParam>(7, 500, [](const Sample<TypeParam>& s) {
    const auto f = evaluate<TypeParam>(s.params, s.state, s.kin);
    const auto step = advance<TypeParam>(s.params, s.state, s.kin, 1e-30);
    EXPECT_NEAR(step.force, f.force, 1e-9 * std::fabs(f.force));
    EXPECT_NEAR(step.stored, f.stored, 1e-9 * std::fabs(f.stored));
  });
}

TYPED_TEST(NormalContract, NothingIsAllocated) {
  using L = TypeParam;
  Random random(8);
  const Sample<L> s = draw_normal<L>(random, 0);
  const AllocationCount count;
  const auto touched = touch<L>(s.params, s.kin.rate);
  const auto f = evaluate<L>(s.params, s.state, s.kin);
  const auto step = advance<L>(s.params, touched, s.kin, s.step);
  const auto slopes = linearise<L>(s.params, s.state, s.kin);
  const auto guard_values = guards<L>(s.params, s.state, s.kin);
  EXPECT_EQ(count.since(), 0);
  EXPECT_EQ(f.force, slopes.force);
  EXPECT_EQ(guard_values.size(), L::guard_list().size());
  EXPECT_EQ(step.force, step.force);
}

}  // namespace
}  // namespace bristle::contract
