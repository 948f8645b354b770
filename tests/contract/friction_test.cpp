#include "tests/contract/allocations.hpp"
#include "tests/contract/derivative.hpp"
#include "tests/contract/support.hpp"

// Every registered friction law, at one moment.

namespace bristle::contract {
namespace {

template <class L>
class FrictionContract : public ::testing::Test {};
TYPED_TEST_SUITE(FrictionContract, FrictionTypes, LawName);

/// Whether squares of a slip underflow.
template <class L>
bool digits_are_lost(const SlipOf<L>& slip) {
  double sum = 0;
  for (std::size_t k = 0; k < slip_components<L>; ++k) {
    sum += std::fabs(field<double>(slip, k));
  }
  return sum > 0 && sum < 1e-100;
}

/// Whether a vector that is remembered is so short that its length is lost.
template <class L, class N>
bool squares_underflow(const typename L::template State<N>& state) {
  bool lost = false;
  map_vectors<L, N>(state, [&lost](SlipOf<L, N> v) {
    const double size = length<N>(v);
    lost = lost || (size > 0 && size < smallest_norm<N>);
    return v;
  });
  return lost;
}

/// d(stored)/dt along the motion, by dual numbers.
template <class L, class N>
double stored_rate(const Sample<L, N>& s, const typename L::template State<N>& rate) {
  using D = Dual<N, 1>;
  const auto kin =
      KinematicsOf<L, D>::at(along(s.kin.depth, s.kin.rate), along(s.kin.rate, N(0)),
                             cast_fields_to<SlipOf<L, D>, D, N>(s.kin.slip));
  return evaluate<L>(cast_params<L, D, N>(s.params), state_along<L, N>(s.state, rate),
                     kin, along(s.normal_force, N(0)))
      .stored.by[0];
}

template <class L, class N>
void check_ledger(const Sample<L>& sample) {
  const Sample<L, N> s = cast_sample<N>(sample);
  if (squares_underflow<L, N>(s.state)) return;
  const auto f = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
  const double stored = stored_rate(s, f.rate);
  const double spent = -work<N>(f.force, s.kin.slip);
  expect_balance(spent, f.powers, stored, length<N>(s.kin.slip) + length<N>(f.rate));
  expect_losses(f.powers, spent, stored);
}

TYPED_TEST(FrictionContract, PowerIsSpentStoredOrLost) {
  for_friction_samples<TypeParam>(1, 2000, [](const Sample<TypeParam>& s) {
    check_ledger<TypeParam, double>(s);
    check_ledger<TypeParam, float>(s);
  });
}

TYPED_TEST(FrictionContract, SourcesOccurWhereTheMetadataSays) {
  PassivityCheck moment;
  PassivityCheck stepwise;
  for_friction_samples<TypeParam>(2, 4000, [&](const Sample<TypeParam>& s) {
    const Passivity claim = TypeParam::passivity(s.params);
    EXPECT_FALSE(claim.tension);
    const auto f = evaluate<TypeParam>(s.params, s.state, s.kin, s.normal_force);
    moment.add(claim, 0, f.powers.parametric, f.powers.unsupplied);
    const auto step =
        advance<TypeParam>(s.params, s.state, s.kin, s.normal_force, s.step);
    stepwise.add(claim, 0, step.powers.parametric, step.powers.unsupplied);
  });
  moment.finish();
  stepwise.finish();
}

/// An integrator holds a law on the sides that its guards say, in their order: nothing
/// changes by that at an accepted state, but where rounding decides on which side a point
/// is.
TYPED_TEST(FrictionContract, HeldOnItsOwnSidesALawIsAsWhenFree) {
  using L = TypeParam;
  for_friction_samples<L>(6, 1000, [](Sample<L> s) {
    s.state = commit<L>(s.params, s.state, s.kin, s.normal_force).state;
    for (std::size_t k = 0; k < field_count<StateOf<L>, double>; ++k) {
      field<double>(s.state, k) += 0.0;  // no −0
    }
    const auto now = guards<L>(s.params, s.state, s.kin, s.normal_force);
    const auto free = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
    const auto sides = sides_of(now);
    s.kin.held = sides.data();
    const auto held = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
    if (list<double>(held) == list<double>(free)) return;
    s.kin.held = nullptr;
    bool on_a_switch = false;
    for (const double part : {1 - 1e-8, 1 + 1e-8}) {
      const auto near = guards<L>(s.params, s.state, s.kin, part * s.normal_force);
      for (std::size_t k = 0; k < now.size(); ++k) {
        on_a_switch = on_a_switch || near[k] * now[k] <= 0;
      }
    }
    EXPECT_TRUE(on_a_switch) << list<double>(held) << " and free " << list<double>(free);
  });
}

/// A closed contact whose law is held on its bound, which is guard number `bound`.
template <class L>
struct OnBound {
  static constexpr std::size_t bound = guard_of<L>(GuardRole::bound);
  explicit OnBound(const Sample<L>& sample) : s(sample) {
    s.kin = KinematicsOf<L>::at(std::fabs(s.kin.depth), s.kin.rate, s.kin.slip);
    sides = sides_of(guards<L>(s.params, s.state, s.kin, s.normal_force));
    in_force = sides[bound] != 0 && s.kin.depth > 0 && s.normal_force > 0;
    sides[bound] = 1;
    s.kin.held = sides.data();
  }
  OnBound(const OnBound&) = delete;

  Sample<L> s;
  std::array<double, L::guard_list().size()> sides{};
  bool in_force = false;
};

/// On its bound a law does not see how long its memory is; the length stays, and commit
/// puts the memory there. What the bodies spend is slip or another line.
TYPED_TEST(FrictionContract, HeldOnItsBoundALawKeepsItsMemoryThere) {
  using L = TypeParam;
  if constexpr (OnBound<L>::bound < L::guard_list().size()) {
    int seen = 0;
    for_friction_samples<L>(10, 2000, [&](const Sample<L>& sample) {
      OnBound<L> held(sample);
      Sample<L>& s = held.s;
      if (!held.in_force || !(norm(s.state.z) > 1e-30)) return;
      const double slip = norm(s.kin.slip);
      if (digits_are_lost<L>(s.kin.slip)) return;
      const auto there = commit<L>(s.params, s.state, s.kin, s.normal_force).state;
      const double reach = norm(there.z);
      if (!(reach > 1e-9)) return;
      ++seen;
      const auto now = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
      const auto same = evaluate<L>(s.params, there, s.kin, s.normal_force);
      auto unheld = s.kin;
      unheld.held = nullptr;
      const auto free = evaluate<L>(s.params, there, unheld, s.normal_force);
      const auto element = spring<L>(s.params, there, s.kin, s.normal_force);
      const double size = norm(element.elastic_force) +
                          (element.damping + element.viscous) * slip + element.bound;
      // Rates of which only the part across is left: of slip and of relaxing bristles.
      const double rate =
          slip + norm(free.rate.z) + (element.damping > 0 ? size / element.damping : 0);
      EXPECT_LE(norm(now.force - same.force), 1e-12 * (size + element.damping * rate));
      const double length = norm(s.state.z);
      EXPECT_LE(std::fabs(dot(s.state.z, now.rate.z)),
                1e-12 * length * (length / reach) * rate);
      // The memory turns as the deflection does.
      EXPECT_LE(norm(reach / length * now.rate.z - same.rate.z), 1e-11 * rate);
      const double spent = -dot(now.force, s.kin.slip);
      const double losses = dissipated(now.powers) - sources(now.powers);
      // Under hardly any load the force is a share of the spring's, whose power cancels.
      const double spring_power = element.stiffness * reach * rate;
      EXPECT_NEAR(spent, losses,
                  1e-11 * (size * rate + spring_power + std::fabs(now.powers.damping) +
                           std::fabs(now.powers.slip) + now.powers.unsupplied));
      const auto again = commit<L>(s.params, there, s.kin, s.normal_force);
      EXPECT_LE(norm(again.state.z - there.z), 1e-15 * reach);
    });
    EXPECT_GT(seen, samples(20));
  }
}

TYPED_TEST(FrictionContract, AnOpenContactExertsNothing) {
  for_friction_samples<TypeParam>(3, 500, [](Sample<TypeParam> s) {
    s.kin = KinematicsOf<TypeParam>::at(-std::fabs(s.kin.depth), s.kin.rate, s.kin.slip);
    const auto f = evaluate<TypeParam>(s.params, s.state, s.kin, s.normal_force);
    EXPECT_EQ(norm(f.force), 0);
    EXPECT_EQ(length<double>(f.rate), 0) << "an open contact's memory stands still";
    const auto step =
        advance<TypeParam>(s.params, s.state, s.kin, s.normal_force, s.step);
    EXPECT_EQ(norm(step.force), 0);
    EXPECT_EQ(norm(linearise<TypeParam>(s.params, s.state, s.kin, s.normal_force).force),
              0);
  });
}

template <class L, class N>
void check_finite(const Sample<L>& sample) {
  const Sample<L, N> s = cast_sample<N>(sample);
  const auto evaluated = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
  EXPECT_TRUE(all_finite<N>(evaluated)) << list<N>(evaluated);
  const auto slopes = linearise<L>(s.params, s.state, s.kin, s.normal_force);
  const auto element = spring<L>(s.params, s.state, s.kin, s.normal_force);
  EXPECT_TRUE(all_finite<N>(element)) << list<N>(element);
  EXPECT_TRUE(all_finite<N>(slopes.force)) << list<N>(slopes);
  // The slope by depth grows without bound towards δ = 0, as that of √δ does, and that of
  // a direction as what it is the direction of vanishes.
  const bool is_double = sizeof(N) == 8;
  const double pull = length<N>(element.elastic_force) +
                      static_cast<double>(element.damping) * length<N>(s.kin.slip);
  const bool singular =
      (s.kin.depth > N(0) && s.kin.depth < N(is_double ? 1e-200 : 1e-20)) ||
      (pull > 0 && pull < (is_double ? 1e-140 : 1e-15));
  EXPECT_TRUE(singular || all_finite<N>(slopes)) << list<N>(slopes);
  const auto switches = guards<L>(s.params, s.state, s.kin, s.normal_force);
  EXPECT_TRUE(all_finite<N>(switches)) << list<N>(switches);
  const auto kept = commit<L>(s.params, s.state, s.kin, s.normal_force);
  EXPECT_TRUE(all_finite<N>(kept)) << list<N>(kept);
  // The square of a locked force over a step of 1e6 s is beyond float's range.
  for (const double h : {1e-9, 1e-3, 1.0, sizeof(N) == 8 ? 1e6 : 1.0}) {
    const auto step =
        advance<L>(s.params, s.state, s.kin, s.normal_force, static_cast<N>(h));
    EXPECT_TRUE(all_finite<N>(step)) << list<N>(step) << " with h = " << h;
  }
}

TYPED_TEST(FrictionContract, OutputIsFiniteOverTheWholeRangeOfParameters) {
  for_friction_samples<TypeParam>(4, 2000, [](const Sample<TypeParam>& s) {
    check_finite<TypeParam, double>(s);
    check_finite<TypeParam, float>(s);
  });
}

/// Force, stored energy and the rate of the memory.
template <class L, class T>
struct Outputs {
  SlipOf<L, T> force;
  T stored;
  [[no_unique_address]] typename L::template State<T> rate;
};

template <class L, class T, std::size_t n>
Outputs<L, T> outputs(const std::array<T, n>& x) {
  typename L::template Params<T> params;
  typename L::template State<T> state;
  constexpr std::size_t components = slip_components<L>;
  unpack<L>(x, 3 + components, params, state);
  SlipOf<L, T> slip;
  for (std::size_t k = 0; k < components; ++k) field<T>(slip, k) = x[2 + k];
  const auto r = evaluate<L>(params, state, KinematicsOf<L, T>::at(x[0], x[1], slip),
                             x[2 + components]);
  return {r.force, r.stored, r.rate};
}

/// What round-off may do to the outputs: forces of the size of the bound and of the
/// spring's cancel in them, and rates of memory that relaxes as fast as the element can.
template <class L>
Outputs<L, double> resolution(const Sample<L>& s) {
  const auto element = spring<L>(s.params, s.state, s.kin, s.normal_force);
  const auto f = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
  const double force = element.bound + norm(element.elastic_force);
  const double rate = element.damping > 0 ? force / element.damping : 0;
  constexpr double eps = 8 * std::numeric_limits<double>::epsilon();
  auto rough = zero_fields<Outputs<L, double>, double>();
  for (std::size_t k = 0; k < field_count<Outputs<L, double>, double>; ++k) {
    field<double>(rough, k) =
        k < slip_components<L>   ? eps * force
        : k > slip_components<L> ? std::fmax(0x1p-37 * length<double>(f.rate), eps * rate)
                                 : 0;
  }
  return rough;
}

TYPED_TEST(FrictionContract, DerivativesAgreeWithDifferences) {
  using L = TypeParam;
  constexpr std::size_t components = slip_components<L>, moving = 3 + components;
  constexpr std::size_t n =
      moving + field_count<ParamsOf<L>, double> + field_count<StateOf<L>, double>;
  std::vector<std::string> motion{"depth", "rate", "slip x", "slip y"};
  if (components == 3) motion.emplace_back("spin");
  motion.emplace_back("normal force");
  Coverage duals(input_names<L>(motion));
  Coverage slopes(motion);
  const auto f = []<class T>(const std::array<T, n>& x) { return outputs<L>(x); };
  for_friction_samples<L>(5, 300, [&](const Sample<L>& s) {
    if (!(s.kin.depth > 1e-30)) return;  // the slope of √δ is infinite at 0
    if (digits_are_lost<L>(s.kin.slip)) return;
    // A point on a switch has the slope of one side.
    for (const double guard : guards<L>(s.params, s.state, s.kin, s.normal_force)) {
      if (guard == 0) return;
    }
    std::array<double, n> x{s.kin.depth, s.kin.rate};
    for (std::size_t k = 0; k < components; ++k) x[2 + k] = field<double>(s.kin.slip, k);
    x[2 + components] = s.normal_force;
    pack_up<L>(x, moving, s.params, s.state);
    const Outputs<L, double> rough = resolution(s);
    expect_derivatives(f, x, rough, duals);

    const auto slope = linearise<L>(s.params, s.state, s.kin, s.normal_force);
    std::vector<SlipOf<L>> by{slope.by_depth, slope.by_rate};
    by.insert(by.end(), slope.by_slip.begin(), slope.by_slip.end());
    by.push_back(slope.by_normal_force);
    EXPECT_EQ(norm(slope.force - f(x).force), 0);
    for (std::size_t i = 0; i < moving; ++i) {
      for (std::size_t k = 0; k < components; ++k) {
        const auto moved = [&](double step) {
          auto at = x;
          at[i] += step;
          return field<double>(f(at).force, k);
        };
        slopes.count(i, expect_derivative(difference(moved, x[i], rough.force.x),
                                          field<double>(by[i], k), norm(by[i]),
                                          "linearise by " + motion[i]));
      }
    }
  });
  duals.expect_at_least(0.3);
  slopes.expect_at_least(0.3);
}

TYPED_TEST(FrictionContract, SwappingTheBodiesOrMirroringTurnsEverythingAround) {
  using L = TypeParam;
  const auto check = [](const Sample<L>& s, Vec3<double> m) {
    const auto flip = [m](SlipOf<L> v) {
      for (std::size_t k = 0; k < slip_components<L>; ++k) {
        field<double>(v, k) *= field<double>(m, k);
      }
      return v;
    };
    Sample<L> other = s;
    other.kin.slip = flip(s.kin.slip);
    other.state = map_vectors<L, double>(s.state, flip);
    const auto expect_flipped = [&](const auto& a, const auto& b, const auto& state_a,
                                    const auto& state_b) {
      EXPECT_EQ(norm(flip(a.force) - b.force), 0);
      EXPECT_EQ(a.stored, b.stored);
      EXPECT_EQ(dissipated(a.powers), dissipated(b.powers));
      EXPECT_EQ(sources(a.powers), sources(b.powers));
      const auto turned_state = map_vectors<L, double>(state_a, flip);
      for (std::size_t i = 0; i < field_count<StateOf<L>, double>; ++i) {
        EXPECT_EQ(field<double>(turned_state, i), field<double>(state_b, i));
      }
    };
    const auto f = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
    const auto g = evaluate<L>(s.params, other.state, other.kin, s.normal_force);
    expect_flipped(f, g, f.rate, g.rate);
    const auto a = advance<L>(s.params, s.state, s.kin, s.normal_force, s.step);
    const auto b = advance<L>(s.params, other.state, other.kin, s.normal_force, s.step);
    expect_flipped(a, b, a.state, b.state);
  };
  for_friction_samples<L>(6, 1000, [&](const Sample<L>& s) {
    check(s, {-1, -1, -1});  // A and B swapped
    check(s, {-1, 1, 1});
    if (slip_components<L> == 3) check(s, {1, 1, -1});
  });
}

/// How far the outputs move when the tangential vectors change by a few units in the last
/// place: what a comparison of two directions can ask for.
template <class L>
Outputs<L, double> sensitivity(Random& random, const Sample<L>& s) {
  const auto jitter = [&random](SlipOf<L> v) {
    const double size = 4 * std::numeric_limits<double>::epsilon() * norm(v);
    return v + draw_direction<SlipOf<L>>(random, size);
  };
  const auto of = [&s](const auto& state, const auto& kin) {
    const auto f = evaluate<L>(s.params, state, kin, s.normal_force);
    return Outputs<L, double>{f.force, f.stored, f.rate};
  };
  const auto here = of(s.state, s.kin);
  auto most = zero_fields<Outputs<L, double>, double>();
  for (int n = 0; n < 8; ++n) {
    auto kin = s.kin;
    kin.slip = jitter(kin.slip);
    const auto there = of(map_vectors<L, double>(s.state, jitter), kin);
    for (std::size_t k = 0; k < field_count<Outputs<L, double>, double>; ++k) {
      field<double>(most, k) =
          std::fmax(field<double>(most, k),
                    std::fabs(field<double>(there, k) - field<double>(here, k)));
    }
  }
  return most;
}

TYPED_TEST(FrictionContract, NoDirectionInTheTangentPlaneIsSpecial) {
  using L = TypeParam;
  Random random(7);
  for_friction_samples<L>(8, 1000, [&random](const Sample<L>& s) {
    if (s.kin.depth > 0 && s.kin.depth < 1e-290) return;  // digits are lost already
    const double angle = random.uniform(-4, 4);
    const auto turn = [c = std::cos(angle), d = std::sin(angle)](SlipOf<L> v) {
      SlipOf<L> r = v;  // the third component is about the axis of this turn
      r.x = c * v.x - d * v.y;
      r.y = d * v.x + c * v.y;
      return r;
    };
    auto kin = s.kin;
    kin.slip = turn(kin.slip);
    const auto f = evaluate<L>(s.params, s.state, s.kin, s.normal_force);
    const auto g =
        evaluate<L>(s.params, map_vectors<L, double>(s.state, turn), kin, s.normal_force);
    const Outputs<L, double> expected{turn(f.force), f.stored,
                                      map_vectors<L, double>(f.rate, turn)};
    const Outputs<L, double> found{g.force, g.stored, g.rate};
    const Outputs<L, double> moved = sensitivity(random, s);
    for (std::size_t k = 0; k < field_count<Outputs<L, double>, double>; ++k) {
      // Components mix in a turn: they are compared with the whole vector.
      constexpr std::size_t energy = slip_components<L>;
      const double size = k < energy   ? norm(f.force)
                          : k > energy ? length<double>(f.rate)
                                       : f.stored;
      const double shift = k == energy ? moved.stored : length<double>(moved);
      EXPECT_NEAR(field<double>(found, k), field<double>(expected, k),
                  1e-12 * size + 64 * shift + smallest_norm<double>)
          << "output " << k << ", turned by " << angle;
    }
  });
}

TYPED_TEST(FrictionContract, NothingIsAllocated) {
  using L = TypeParam;
  Random random(9);
  const Sample<L> s = draw_friction<L>(random, 0);
  const AllocationCount count;
  const auto touched = L::touch(s.params);
  const auto f = L::evaluate(s.params, s.state, s.kin, s.normal_force);
  const auto step = L::advance(s.params, touched, s.kin, s.normal_force, s.step);
  const auto slopes = L::linearise(s.params, s.state, s.kin, s.normal_force);
  const auto element = L::spring(s.params, s.state, s.kin, s.normal_force);
  const auto switches = L::guards(s.params, s.state, s.kin, s.normal_force);
  const auto kept = L::commit(s.params, s.state, s.kin, s.normal_force);
  EXPECT_EQ(count.since(), 0);
  EXPECT_EQ(norm(f.force - slopes.force), 0);
  EXPECT_EQ(switches.size(), L::guard_list().size());
  EXPECT_GE(step.stored + kept.released + element.bound, 0);
}

}  // namespace
}  // namespace bristle::contract
