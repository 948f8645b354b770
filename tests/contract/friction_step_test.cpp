#include <functional>

#include "tests/contract/support.hpp"

// Every registered friction law over steps: ledger, order, stability, commit.

namespace bristle::contract {
namespace {

template <class L>
class FrictionSteps : public ::testing::Test {};
TYPED_TEST_SUITE(FrictionSteps, FrictionTypes, LawName);

template <class L, class N>
void check_step(const Sample<L>& sample) {
  const Sample<L, N> s = cast_sample<N>(sample);
  const auto step = advance<L>(s.params, s.state, s.kin, s.normal_force, s.step);
  const auto before =
      KinematicsOf<L, N>::at(s.kin.depth - s.step * s.kin.rate, s.kin.rate);
  const double old_energy = evaluate<L>(s.params, s.state, before, s.normal_force).stored;
  const double new_energy =
      evaluate<L>(s.params, step.state, s.kin, s.normal_force).stored;
  EXPECT_NEAR(step.stored, new_energy, round_off<N> * new_energy);
  const double h = s.step;
  const double spent = -work<N>(step.force, s.kin.slip);
  const Powers<N>& p = step.powers;
  const double parts[]{h * spent,   h * p.parametric, h * p.unsupplied, old_energy,
                       -new_energy, -(h * p.damping), -(h * p.slip),    -(h * p.viscous)};
  double sum = 0;
  double size = 0;
  for (const double x : parts) {
    sum += x;
    size += std::fabs(x);
  }
  // The clutch or bristle may slip faster than the bodies while it relaxes.
  const double speed =
      length<N>(s.kin.slip) + (length<N>(s.state) + length<N>(step.state)) / h;
  EXPECT_LE(std::fabs(sum), round_off<N> * size + smallest_norm<N> * h * (1 + speed))
      << "h spent " << h * spent << ", damping " << h * p.damping << ", slip "
      << h * p.slip << ", viscous " << h * p.viscous << ", parametric "
      << h * p.parametric << ", unsupplied " << h * p.unsupplied << ", stored "
      << old_energy << " -> " << new_energy;
  expect_losses(p, spent, (std::fabs(old_energy) + std::fabs(new_energy)) / h);
}

TYPED_TEST(FrictionSteps, WorkIsStoredOrLostOverEveryStep) {
  for_friction_samples<TypeParam>(11, 2000, [](const Sample<TypeParam>& s) {
    check_step<TypeParam, double>(s);
    check_step<TypeParam, float>(s);
  });
}

// A prescribed, smooth motion of a closed contact.
struct Motion {
  double duration;
  double depth, load, amplitude;

  template <int D>
  Kinematics<double, D> at(double t) const {
    const double w = 2 * M_PI / duration;
    const double d = depth * (1 + 0.5 * std::sin(1.3 * w * t));
    const double rate = depth * 0.5 * 1.3 * w * std::cos(1.3 * w * t);
    Vec<double, D> slip = Kinematics<double, D>::no_slip();
    slip.x = amplitude * w * std::cos(1.5 * w * t);
    slip.y = 0.4 * amplitude * w * std::sin(w * t);
    if constexpr (D == 3) slip.z = 0.7 * amplitude * w * std::cos(0.9 * w * t);
    return Kinematics<double, D>::at(d, rate, slip);
  }
  double normal_force(double t) const {
    return load * (1 + 0.3 * std::cos(0.8 * 2 * M_PI / duration * t));
  }
};

/// Force and memory at equally spaced times.
template <class L>
struct History {
  std::vector<SlipOf<L>> force;
  std::vector<StateOf<L>> state;
};

/// `evaluate` under Runge and Kutta's fourth-order method, `commit` after every step.
template <class L>
History<L> integrated(const ParamsOf<L>& p, const Motion& motion, int steps, int keep) {
  using S = StateOf<L>;
  const auto moved = [](const S& s, double h, const S& rate) {
    S r = s;
    for (std::size_t i = 0; i < field_count<S, double>; ++i) {
      field<double>(r, i) += h * field<double>(rate, i);
    }
    return r;
  };
  const auto f = [&](const S& s, double t) {
    return evaluate<L>(p, s, motion.template at<slip_components<L>>(t),
                       motion.normal_force(t));
  };
  History<L> history;
  S s = touch<L>(p);
  const double h = motion.duration / steps;
  for (int n = 0; n < steps; ++n) {
    const double t = n * h;
    const S k1 = f(s, t).rate;
    const S k2 = f(moved(s, h / 2, k1), t + h / 2).rate;
    const S k3 = f(moved(s, h / 2, k2), t + h / 2).rate;
    const S k4 = f(moved(s, h, k3), t + h).rate;
    s = moved(moved(moved(moved(s, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
    s = commit<L>(p, s, motion.template at<slip_components<L>>(t + h),
                  motion.normal_force(t + h))
            .state;
    if ((n + 1) % (steps / keep) != 0) continue;
    history.force.push_back(f(s, t + h).force);
    history.state.push_back(s);
  }
  return history;
}

template <class L>
History<L> advanced(const ParamsOf<L>& p, const Motion& motion, int steps, int keep) {
  History<L> history;
  StateOf<L> s = touch<L>(p);
  const double h = motion.duration / steps;
  for (int n = 1; n <= steps; ++n) {
    const auto step = advance<L>(p, s, motion.template at<slip_components<L>>(n * h),
                                 motion.normal_force(n * h), h);
    s = step.state;
    if (n % (steps / keep) != 0) continue;
    history.force.push_back(step.force);
    history.state.push_back(s);
  }
  return history;
}

struct Gap {
  double force, state, size;
};

template <class L>
Gap mean_gap(const History<L>& a, const History<L>& b) {
  Gap gap{0, 0, 0};
  for (std::size_t i = 0; i < a.force.size(); ++i) {
    gap.force += norm(a.force[i] - b.force[i]);
    gap.size += norm(b.force[i]);
    for (std::size_t k = 0; k < field_count<StateOf<L>, double>; ++k) {
      gap.state += std::fabs(field<double>(a.state[i], k) - field<double>(b.state[i], k));
    }
  }
  return gap;
}

/// Defaults with the flags set, but `bound` off: it is a projection on accepted steps and
/// no part of `evaluate`.
template <class L>
ParamsOf<L> unbounded_defaults(unsigned flags) {
  ParamsOf<L> p = default_params<L>();
  for (const auto& field : L::parameters()) {
    if (!field.about.is_flag()) continue;
    p.*field.member = flags & 1U ? 1 : 0;
    flags >>= 1U;
    if (field.about.name == "bound") p.*field.member = 0;
  }
  return p;
}

TYPED_TEST(FrictionSteps, AdvanceConvergesToTheIntegratedRates) {
  using L = TypeParam;
  constexpr int keep = 100;
  for (unsigned flags = 0; flags < 1U << flag_count<L>(); ++flags) {
    const ParamsOf<L> p = unbounded_defaults<L>(flags);
    Motion motion{1, 1e-4, 10, 0};
    const auto element =
        spring<L>(p, touch<L>(p), motion.template at<slip_components<L>>(0), motion.load);
    // Long against the element's own time constant.
    if (element.stiffness > 0 && element.damping > 0) {
      motion.duration = 20 * element.damping / element.stiffness;
    }
    const double reach = element.stiffness > 0 ? element.bound / element.stiffness : 1e-3;
    for (const double stroke : {0.1, 3.0, 100.0, 1000.0}) {
      motion.amplitude = stroke * reach;
      SCOPED_TRACE("flags " + std::to_string(flags) + ", stroke " +
                   std::to_string(stroke));
      const History<L> exact = integrated<L>(p, motion, 51200, keep);
      if (!(L::lines.damping || L::lines.slip || L::lines.viscous)) {
        for (const SlipOf<L>& force : exact.force) EXPECT_EQ(norm(force), 0);
        continue;
      }
      // The reference is itself of first order where the rate jumps.
      const Gap doubt = mean_gap(integrated<L>(p, motion, 25600, keep), exact);
      const Gap coarse = mean_gap(advanced<L>(p, motion, 3200, keep), exact);
      const Gap fine = mean_gap(advanced<L>(p, motion, 6400, keep), exact);
      EXPECT_GT(coarse.size, 0);
      EXPECT_LT(fine.force, 0.02 * fine.size);
      EXPECT_TRUE(fine.force < 0.6 * coarse.force + doubt.force ||
                  fine.force < 1e-9 * fine.size)
          << coarse.force << " -> " << fine.force << " of " << fine.size;
      EXPECT_LE(fine.state, 0.6 * coarse.state + doubt.state + 1e-12);
    }
  }
}

TYPED_TEST(FrictionSteps, AdvanceIsStableForAnyStep) {
  using L = TypeParam;
  Random random(12);
  for_friction_samples<L>(13, 100, [&random](const Sample<L>& s) {
    const auto kin = KinematicsOf<L>::at(std::fabs(s.kin.depth), s.kin.rate, s.kin.slip);
    const double h = random.log_uniform(1e-9, 1e6);
    StateOf<L> state = s.state;
    for (int n = 0; n < 30; ++n) {
      const auto step = advance<L>(s.params, state, kin, s.normal_force, h);
      ASSERT_TRUE(all_finite<double>(step)) << list<double>(step) << " with h = " << h;
      // What the element exerts at the step's two ends, and its bound, limit the force of
      // the step: the implicit step lies between them, whatever its length.
      const auto at_start = evaluate<L>(s.params, state, kin, s.normal_force);
      const auto at_end = evaluate<L>(s.params, step.state, kin, s.normal_force);
      const auto element = spring<L>(s.params, step.state, kin, s.normal_force);
      const double limit = norm(at_start.force) + norm(at_end.force) + element.bound +
                           element.viscous * norm(kin.slip);
      EXPECT_LE(norm(step.force), 2 * limit + smallest_norm<double>) << "h = " << h;
      state = step.state;
    }
  });
}

template <class L, class N>
void check_commit(const Sample<L>& sample) {
  const Sample<L, N> s = cast_sample<N>(sample);
  const auto kept = commit<L>(s.params, s.state, s.kin, s.normal_force);
  const auto stored = [&](const typename L::template State<N>& state) {
    return static_cast<double>(
        evaluate<L>(s.params, state, s.kin, s.normal_force).stored);
  };
  const double before = stored(s.state);
  const double after = stored(kept.state);
  EXPECT_LE(after, before * (1 + round_off<N>));
  EXPECT_GE(kept.released, 0);
  EXPECT_NEAR(kept.released, before - after, round_off<N> * before);

  const auto again = commit<L>(s.params, kept.state, s.kin, s.normal_force);
  EXPECT_NEAR(again.released, 0, round_off<N> * after + smallest_norm<N>);
  for (std::size_t i = 0; i < field_count<typename L::template State<N>, N>; ++i) {
    const double once = field<N>(kept.state, i);
    EXPECT_NEAR(field<N>(again.state, i), once,
                round_off<N> * std::fabs(once) + smallest_norm<N>);
  }
  if (!(s.kin.depth > N(0))) {
    EXPECT_EQ(length<N>(kept.state), 0);
  }
}

TYPED_TEST(FrictionSteps, CommitForgetsButNeverAddsEnergy) {
  for_friction_samples<TypeParam>(14, 2000, [](const Sample<TypeParam>& s) {
    check_commit<TypeParam, double>(s);
    check_commit<TypeParam, float>(s);
  });
}

TYPED_TEST(FrictionSteps, AContactThatOpensEndsWithoutMemory) {
  using L = TypeParam;
  for_friction_samples<L>(15, 500, [](const Sample<L>& s) {
    const auto kin = KinematicsOf<L>::at(-std::fabs(s.kin.depth), s.kin.rate, s.kin.slip);
    const auto step = advance<L>(s.params, s.state, kin, s.normal_force, s.step);
    EXPECT_EQ(length<double>(step.state), 0);
    EXPECT_EQ(step.stored, 0);
  });
}

}  // namespace
}  // namespace bristle::contract
