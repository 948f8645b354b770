#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "bristle/core/dual.hpp"
#include "bristle/core/fields.hpp"
#include "bristle/core/pack.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/laws/laws.hpp"
#ifdef BRISTLE_CONTRACT_SPIN
#include "bristle/laws/friction/spinning_disc.hpp"
#endif
#ifdef BRISTLE_CONTRACT_HEADER
#include BRISTLE_CONTRACT_HEADER
#endif

// What the contract tests share: the laws as test types, random samples of
// parameters, memory and motion, and ways to look at a law's structs as rows of numbers.
// Nothing here knows a law; what a sample may contain follows from its metadata.

namespace bristle::contract {

// The laws under test as gtest type lists, each test named after its law.

template <class List>
struct AsTypes;
template <class... Laws>
struct AsTypes<LawList<Laws...>> {
  using type = ::testing::Types<Laws...>;
};
#ifdef BRISTLE_CONTRACT_HEADER  // laws outside the library, named by contract.cmake
using TestedNormalLaws = LawList<BRISTLE_CONTRACT_NORMAL>;
using TestedFrictionLaws = LawList<BRISTLE_CONTRACT_FRICTION>;
#elif defined(BRISTLE_CONTRACT_SPIN)  // every friction law in three components
template <class... Laws>
auto with_spin(LawList<Laws...>)
    -> LawList<WithSpin<Laws>..., UniformDisc, ParaboloidDisc, HertzDisc>;
using TestedNormalLaws = LawList<>;
using TestedFrictionLaws = decltype(with_spin(FrictionLaws{}));
#else
using TestedNormalLaws = NormalLaws;
using TestedFrictionLaws = FrictionLaws;
#endif
using NormalTypes = AsTypes<TestedNormalLaws>::type;
using FrictionTypes = AsTypes<TestedFrictionLaws>::type;

struct LawName {
  template <class Law>
  static std::string GetName(int) {
    std::string name(Law::info.name);
    if constexpr (requires { Law::pressure; }) {
      name += '-' + std::string(spin_names[2 + static_cast<std::size_t>(Law::pressure)]);
    }
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};

template <class L>
using ParamsOf = typename L::template Params<double>;
template <class L>
using StateOf = typename L::template State<double>;

/// The motion of a friction law, and its slip: two components, or three with spin.
template <class L, class T = double>
using KinematicsOf = Kinematics<T, slip_components<L>>;
template <class L, class T = double>
using SlipOf = Vec<T, slip_components<L>>;

// The operations of a law, each compiled once per scalar kind and file: laws are inlined
// wherever they are called, and the tests call them often.

template <class L, class... A>
[[gnu::noinline]] auto touch(const A&... a) {
  return L::touch(a...);
}
template <class L, class... A>
[[gnu::noinline]] auto evaluate(const A&... a) {
  return L::evaluate(a...);
}
template <class L, class... A>
[[gnu::noinline]] auto advance(const A&... a) {
  return L::advance(a...);
}
template <class L, class... A>
[[gnu::noinline]] auto linearise(const A&... a) {
  return L::linearise(a...);
}
template <class L, class... A>
[[gnu::noinline]] auto guards(const A&... a) {
  return L::guards(a...);
}
template <class L, class... A>
[[gnu::noinline]] auto spring(const A&... a) {
  return L::spring(a...);
}
template <class L, class... A>
[[gnu::noinline]] auto commit(const A&... a) {
  return L::commit(a...);
}

/// The side of each guard, as Kinematics::held has it.
template <std::size_t n>
std::array<double, n> sides_of(const std::array<double, n>& guards) {
  std::array<double, n> sides{};
  for (std::size_t k = 0; k < n; ++k) {
    sides[k] = guards[k] > 0 ? 1 : guards[k] < 0 ? -1 : 0;
  }
  return sides;
}

/// How often to sample: more with BRISTLE_SOAK in the environment.
inline int samples(int usual) {
  static const bool soak = std::getenv("BRISTLE_SOAK") != nullptr;
  return soak ? 50 * usual : usual;
}

/// Random numbers that are the same with every compiler and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  double sign() { return chance(0.5) ? 1.0 : -1.0; }
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }

 private:
  std::mt19937_64 engine_;
};

// Parameters

template <class L>
constexpr unsigned flag_count() {
  unsigned n = 0;
  for (const auto& field : L::parameters()) n += field.about.is_flag() ? 1 : 0;
  return n;
}

/// Somewhere in a range; by decades where it spans several, now and then at its ends.
inline double draw_in(Random& random, const Range& range) {
  if (random.chance(0.05)) return range.high;
  if (!range.open_low && random.chance(0.1)) return range.low;
  if (range.low >= 0 && range.high > 30 * range.low) {
    const double low = range.low > 0 ? range.low : 1e-9 * std::fmin(1, range.high);
    return std::clamp(random.log_uniform(low, range.high), low, range.high);
  }
  return random.uniform(range.low, range.high);
}

enum class Spread { preset, near, wide };

inline Spread draw_spread(Random& random) {
  constexpr Spread all[]{Spread::preset, Spread::near, Spread::wide};
  return all[random.below(3)];
}

/// Parameters at, around, or far from their defaults; bit i of `flags` is the i-th flag.
template <class L>
ParamsOf<L> draw_params(Random& random, unsigned flags, Spread spread) {
  ParamsOf<L> p = default_params<L>();
  for (const auto& field : L::parameters()) {
    const Parameter& about = field.about;
    double& value = p.*field.member;
    if (about.is_flag()) {
      value = flags & 1U ? 1 : 0;
      flags >>= 1U;
    } else if (about.is_choice()) {
      value = random.below(static_cast<int>(about.choice_count()));
    } else if (spread == Spread::wide) {
      value = draw_in(random, about.range);
    } else if (spread == Spread::near) {
      const double moved = about.preset * std::pow(10.0, random.uniform(-1, 1));
      if (about.range.contains(moved)) value = moved;
    }
  }
  return p;
}

// Motion

/// One contact at one moment. `normal_force` is what a friction law is given.
template <class L, class T = double>
struct Sample {
  typename L::template Params<T> params;
  typename L::template State<T> state;
  KinematicsOf<L, T> kin;
  T normal_force;
  T step;
};

inline double draw_depth(Random& random) {
  const double kind = random.uniform(0, 1);
  if (kind < 0.04) return 0;
  if (kind < 0.12) return -random.log_uniform(1e-12, 0.1);
  if (kind < 0.15) return std::numeric_limits<double>::denorm_min();
  if (kind < 0.18) return random.log_uniform(1e-320, 1e-300);
  if (kind < 0.21) return random.log_uniform(1e-44, 1e-36);  // denormal as a float
  return random.log_uniform(1e-12, 0.1);
}

inline double draw_rate(Random& random) {
  if (random.chance(0.1)) return 0;
  return random.sign() * random.log_uniform(1e-9, 1e2);
}

inline Vec2<double> turned(double length, double angle) {
  return {length * std::cos(angle), length * std::sin(angle)};
}

/// A vector of some length in any direction.
template <class V>
V draw_direction(Random& random, double length) {
  const Vec2<double> in_plane = turned(length, random.uniform(-4, 4));
  if constexpr (std::is_same_v<V, Vec2<double>>) {
    return in_plane;
  } else {
    const Vec2<double> raised = turned(1, random.uniform(-4, 4));
    return {raised.x * in_plane.x, raised.x * in_plane.y, raised.y * length};
  }
}

inline Vec2<double> draw_slip(Random& random) {
  const double kind = random.uniform(0, 1);
  const double angle = random.uniform(-4, 4);
  if (kind < 0.1) return {0, 0};
  if (kind < 0.13) return {random.sign() * 5e-324, random.sign() * 1e-320};
  if (kind < 0.16) return turned(random.log_uniform(1e-44, 1e-36), angle);
  const double speed = random.log_uniform(1e-12, 1e2);
  if (kind < 0.25) return {random.sign() * speed, 0};
  return turned(speed, angle);
}

/// With spin: about as fast as the slip, much slower or faster, or alone, or none.
template <int D>
Vec<double, D> draw_slip_of(Random& random) {
  const Vec2<double> slip = draw_slip(random);
  if constexpr (D == 2) {
    return slip;
  } else {
    const double kind = random.uniform(0, 1);
    const double speed = std::fabs(slip.x) + std::fabs(slip.y);
    const double spin = speed * random.sign() * random.log_uniform(0.1, 10);
    if (kind < 0.5) return {slip.x, slip.y, spin};
    if (kind < 0.6) return {slip.x, slip.y, 0};
    if (kind < 0.75) return {0, 0, slip.x};
    return {slip.x, slip.y, draw_slip(random).x};
  }
}

inline double draw_normal_force(Random& random) {
  if (random.chance(0.1)) return 0;
  return random.log_uniform(1e-6, 1e6);
}

inline double draw_step(Random& random) { return random.log_uniform(1e-7, 1); }

template <int D = 2>
Kinematics<double, D> draw_kinematics(Random& random) {
  const double depth = draw_depth(random), rate = draw_rate(random);
  return Kinematics<double, D>::at(depth, rate, draw_slip_of<D>(random));
}

// Memory

/// Whether fields i and i + 1 of a law's state are the first components of one vector, by
/// their names: …_x and …_y; with spin …_n follows.
template <class L>
bool starts_vector(std::size_t i) {
  const auto fields = L::state();
  if (i + 1 >= fields.size()) return false;
  const std::string_view a = fields[i].name;
  const std::string_view b = fields[i + 1].name;
  return a.ends_with("_x") && b.ends_with("_y") &&
         a.substr(0, a.size() - 2) == b.substr(0, b.size() - 2);
}

/// Moves every vector of a state by f: vector → vector.
template <class L, class T, class S, class F>
S map_vectors(S state, const F& f) {
  constexpr std::size_t n = slip_components<L>;
  for (std::size_t i = 0; i < field_count<S, T>; ++i) {
    if (!starts_vector<L>(i)) continue;
    SlipOf<L, T> v;
    for (std::size_t k = 0; k < n; ++k) field<T>(v, k) = field<T>(state, i + k);
    v = f(v);
    for (std::size_t k = 0; k < n; ++k) field<T>(state, i + k) = field<T>(v, k);
    i += n - 1;
  }
  return state;
}

/// A memory that a contact can have: fresh, or after some steps, or that with its
/// tangential vectors pulled to somewhere around the friction bound.
template <class L>
StateOf<L> draw_friction_state(Random& random, const ParamsOf<L>& p,
                               const KinematicsOf<L>& kin, double normal_force) {
  StateOf<L> state = touch<L>(p);
  // A contact as shallow as this has just been made.
  if (random.chance(0.2) || std::fabs(kin.depth) < 1e-290) return state;
  for (int n = random.below(4); n > 0; --n) {
    const double h = random.log_uniform(1e-5, 1e-1);
    auto moved = draw_kinematics<slip_components<L>>(random);
    moved = KinematicsOf<L>::at(std::fabs(moved.depth), moved.rate, moved.slip);
    state = advance<L>(p, state, moved, draw_normal_force(random), h).state;
  }
  constexpr double longest = 1e-3;  // [m]
  const bool as_reached = random.chance(0.3);
  return map_vectors<L, double>(state, [&](SlipOf<L> v) {
    if (as_reached) return std::fmin(1, longest / norm(v)) * v;
    const auto element = spring<L>(p, state, kin, normal_force);
    double length = random.log_uniform(1e-9, 1e-3);
    if (random.chance(0.7) && element.stiffness > 0 && element.bound > 0) {
      length = element.bound / element.stiffness * random.log_uniform(0.01, 4);
    }
    return draw_direction<SlipOf<L>>(random, std::fmin(length, longest));
  });
}

template <class L>
Sample<L> draw_friction(Random& random, unsigned flags) {
  const auto p = draw_params<L>(random, flags, draw_spread(random));
  const auto kin = draw_kinematics<slip_components<L>>(random);
  const double f_n = draw_normal_force(random);
  return {p, draw_friction_state<L>(random, p, kin, f_n), kin, f_n, draw_step(random)};
}

template <class L>
Sample<L> draw_normal(Random& random, unsigned flags) {
  const auto p = draw_params<L>(random, flags, draw_spread(random));
  const double speed = random.chance(0.05) ? 0 : random.log_uniform(1e-9, 1e2);
  StateOf<L> state = touch<L>(p, speed);
  for (int n = random.below(3); n > 0; --n) {
    const auto moved =
        Kinematics<double>::at(std::fabs(draw_depth(random)), draw_rate(random));
    state = advance<L>(p, state, moved, random.log_uniform(1e-6, 1e-2)).state;
  }
  Kinematics<double> kin = draw_kinematics(random);
  kin.slip = {0, 0};
  // Rates around those of the impact, where the damper is about as strong as the spring.
  if (random.chance(0.5)) kin.rate = random.sign() * speed * random.log_uniform(0.1, 3);
  return {p, state, kin, 0, draw_step(random)};
}

/// The sample in another scalar kind.
template <class T, class L>
Sample<L, T> cast_sample(const Sample<L>& s) {
  const auto as = [](double x) { return T(static_cast<Value<T>>(x)); };
  return {cast_params<L, T, double>(s.params), cast_state<L, T, double>(s.state),
          KinematicsOf<L, T>::at(as(s.kin.depth), as(s.kin.rate),
                                 cast_fields_to<SlipOf<L, T>, T, double>(s.kin.slip)),
          as(s.normal_force), as(s.step)};
}

template <class T, class S>
std::string list(const S& s) {
  std::ostringstream text;
  text.precision(std::numeric_limits<T>::max_digits10);
  for (std::size_t i = 0; i < field_count<S, T>; ++i) {
    text << (i > 0 ? ", " : "") << field<T>(s, i);
  }
  return text.str();
}

template <class L>
std::string describe(const Sample<L>& s) {
  std::ostringstream text;
  text.precision(17);
  text << L::info.name << ": ";
  for (const auto& field : L::parameters()) {
    text << field.about.name << " = " << s.params.*field.member << ", ";
  }
  std::size_t i = 0;
  for (const auto& about : L::state()) {
    text << about.name << " = " << field<double>(s.state, i++) << ", ";
  }
  text << "depth = " << s.kin.depth << ", rate = " << s.kin.rate << ", slip = ("
       << list<double>(s.kin.slip) << "), normal force = " << s.normal_force
       << ", step = " << s.step;
  return text.str();
}

/// Calls body(sample) for samples under every setting of the law's flags, and stops at
/// the first failure.
template <class L, class Draw, class Body>
void for_samples(std::uint64_t seed, int count, const Draw& draw, const Body& body) {
  Random random(seed);
  for (unsigned flags = 0; flags < 1U << flag_count<L>(); ++flags) {
    for (int i = 0; i < samples(count); ++i) {
      const Sample<L> sample = draw(random, flags);
      body(sample);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "at " << describe(sample);
        return;
      }
    }
  }
}
template <class L, class Body>
void for_normal_samples(std::uint64_t seed, int count, const Body& body) {
  for_samples<L>(
      seed, count, [](Random& r, unsigned flags) { return draw_normal<L>(r, flags); },
      body);
}
template <class L, class Body>
void for_friction_samples(std::uint64_t seed, int count, const Body& body) {
  for_samples<L>(
      seed, count, [](Random& r, unsigned flags) { return draw_friction<L>(r, flags); },
      body);
}

// Numbers

template <class N>
bool same_bits(N a, N b) {
  using Bits = std::conditional_t<sizeof(N) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// Same bits in every number of two structs of T; NaN equals NaN.
template <class T, class S>
bool same_fields(const S& a, const S& b) {
  for (std::size_t i = 0; i < field_count<S, T>; ++i) {
    const T x = field<T>(a, i);
    const T y = field<T>(b, i);
    if (!same_bits(x, y) && !(x != x && y != y)) return false;
  }
  return true;
}

template <class T, class S>
bool all_finite(const S& s) {
  for (std::size_t i = 0; i < field_count<S, T>; ++i) {
    if (!std::isfinite(field<T>(s, i))) return false;
  }
  return true;
}

template <class T, class S>
double length(const S& s) {
  double sum = 0;
  for (std::size_t i = 0; i < field_count<S, T>; ++i) {
    sum = std::hypot(sum, static_cast<double>(field<T>(s, i)));
  }
  return sum;
}

/// A dual number of one variable t with the value x and the rate dx/dt.
template <class N>
Dual<N, 1> along(N x, N rate) {
  Dual<N, 1> d;
  d.value = x;
  d.by[0] = rate;
  return d;
}

/// A state moving at a rate, both as given by a law.
template <class L, class N>
typename L::template State<Dual<N, 1>> state_along(
    const typename L::template State<N>& state,
    const typename L::template State<N>& rate) {
  using D = Dual<N, 1>;
  typename L::template State<D> moving = zero_fields<typename L::template State<D>, D>();
  for (std::size_t i = 0; i < field_count<typename L::template State<N>, N>; ++i) {
    field<D>(moving, i) = along(field<N>(state, i), field<N>(rate, i));
  }
  return moving;
}

/// Round-off after a few dozen operations, relative to the largest of them.
template <class N>
inline constexpr double round_off = 4096.0 * std::numeric_limits<N>::epsilon();

/// Below this, squares underflow and a norm loses its digits.
template <class N>
inline const double smallest_norm =
    std::sqrt(static_cast<double>(std::numeric_limits<N>::min()));

// What a set of samples showed, per claim of the metadata.

struct Seen {
  bool tension = false;
  bool source = false;      // parametric > 0
  bool sink = false;        // parametric < 0
  bool unsupplied = false;  // unsupplied ≠ 0
};

/// Checks one sample against a law's passivity, and remembers what occurred under it.
class PassivityCheck {
 public:
  void add(const Passivity& claim, double force, double parametric, double unsupplied) {
    Seen& seen = seen_[index(claim)];
    used_[index(claim)] = true;
    claims_[index(claim)] = claim;
    seen.tension |= force < 0;
    seen.source |= parametric > 0;
    seen.sink |= parametric < 0;
    seen.unsupplied |= unsupplied != 0;
    if (!claim.tension) {
      EXPECT_GE(force, 0) << "tension in a law that has none";
    }
    if (claim.parametric == Parametric::none) {
      EXPECT_EQ(parametric, 0);
    } else if (claim.parametric == Parametric::sink) {
      EXPECT_LE(parametric, 0);
    }
    if (!claim.unsupplied) {
      EXPECT_EQ(unsupplied, 0);
    }
    EXPECT_GE(unsupplied, 0);
  }
  /// What the metadata says may happen must happen somewhere, or it says too much.
  void finish() const {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (!used_[i]) continue;
      EXPECT_EQ(seen_[i].tension, claims_[i].tension);
      EXPECT_EQ(seen_[i].sink, claims_[i].parametric != Parametric::none);
      EXPECT_EQ(seen_[i].source, claims_[i].parametric == Parametric::either);
      EXPECT_EQ(seen_[i].unsupplied, claims_[i].unsupplied);
    }
  }

 private:
  static std::size_t index(const Passivity& p) {
    return static_cast<std::size_t>(p.parametric) * 4 + (p.tension ? 2U : 0U) +
           (p.unsupplied ? 1U : 0U);
  }
  std::array<Seen, 12> seen_{};
  std::array<Passivity, 12> claims_{};
  std::array<bool, 12> used_{};
};

/// f·v, in double.
template <class N, class V>
double work(const V& force, const V& slip) {
  double sum = 0;
  for (std::size_t k = 0; k < field_count<V, N>; ++k) {
    sum += static_cast<double>(field<N>(force, k)) * field<N>(slip, k);
  }
  return sum;
}

/// The ledger of one moment: spent + sources = d(stored)/dt + losses.
template <class N>
void expect_balance(double spent, const Powers<N>& p, double stored_rate, double speed) {
  const double parts[]{spent,
                       static_cast<double>(p.parametric),
                       static_cast<double>(p.unsupplied),
                       -stored_rate,
                       -static_cast<double>(p.damping),
                       -static_cast<double>(p.slip),
                       -static_cast<double>(p.viscous)};
  double sum = 0;
  double size = 0;
  for (const double x : parts) {
    sum += x;
    size += std::fabs(x);
  }
  const double allowed = round_off<N> * size + smallest_norm<N> * (1 + speed);
  EXPECT_LE(std::fabs(sum), allowed)
      << "spent " << spent << ", damping " << p.damping << ", slip " << p.slip
      << ", viscous " << p.viscous << ", parametric " << p.parametric << ", unsupplied "
      << p.unsupplied << ", d(stored)/dt " << stored_rate;
}

/// Losses are losses.
template <class N>
void expect_losses(const Powers<N>& p, double spent, double stored_rate) {
  const double size = std::fabs(spent) + std::fabs(stored_rate);
  for (const N loss : {p.damping, p.slip, p.viscous}) {
    EXPECT_GE(static_cast<double>(loss), -round_off<N> * size)
        << "damping " << p.damping << ", slip " << p.slip << ", viscous " << p.viscous;
  }
}

}  // namespace bristle::contract
