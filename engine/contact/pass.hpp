#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "bristle/core/fields.hpp"
#include "bristle/core/pack.hpp"
#include "bristle/laws/law.hpp"

// Laws over many contacts. The contacts of one law and one pair of materials sit
// together, as columns of numbers; each pass walks the columns a pack at a time:
//
//   normal pass     kinematics, memory            → f_n
//   friction pass   kinematics, memory, f_n       → f_t
//
// so that N normal laws and M friction laws need N + M loops and not N·M. A range of
// contacts small enough for the first-level cache goes through all passes before the next
// one.

namespace bristle {

/// Columns of equal length, one per number of a struct; `stride` apart. N may be const.
template <class N>
struct Columns {
  N* data = nullptr;
  std::size_t stride = 0;

  BRISTLE_INLINE N* column(std::size_t field) const { return data + field * stride; }
  operator Columns<const N>() const
    requires(!std::is_const_v<N>)
  {
    return {data, stride};
  }
};

/// Contacts `begin` … `end` of the columns.
struct ContactRange {
  std::size_t begin;
  std::size_t end;
};

/// Contacts that fit into the first-level cache with all their columns.
inline constexpr std::size_t contacts_per_block = 256;

/// The columns of a set of contacts under one normal and one friction law.
template <PlainScalar N>
struct ContactColumns {
  const N* depth;
  const N* rate;
  const N* slip_x;
  const N* slip_y;
  Columns<const N> normal_state;
  Columns<const N> friction_state;
  N* normal_force;
  N* friction_x;
  N* friction_y;

  // Where the memory of the next step, or its rate, is written; may be the state itself.
  Columns<N> normal_next;
  Columns<N> friction_next;
  // √δ for Form::evaluate, with a sign where it is the variable itself; computed where
  // empty.
  const N* root_depth = nullptr;
  // The sides that the laws are held on (Kinematics::held), a column per guard, for
  // Form::evaluate; free where empty.
  Columns<const N> normal_held{};
  Columns<const N> friction_held{};
  // Stored energy and the five powers of each contact, for LedgerDetail::columns.
  Columns<N> normal_ledger{};
  Columns<N> friction_ledger{};
  // PatchMotion of each contact, for volumetric laws: V, W, A and dV/dt.
  Columns<const N> patch{};
  // Of friction in three components, else null: r_g ω_n and the third force. Where there
  // is room for it, LedgerDetail::columns also notes what of the slip's loss is due to
  // spin.
  const N* slip_z = nullptr;
  N* friction_z = nullptr;
  N* spin_loss = nullptr;  // [W]
};

/// What a pass records about energy.
enum class LedgerDetail { none, totals, columns };

/// What a pass computes: a step of length h, or the force and the memory's rate.
enum class Form { advance, evaluate };

/// The columns of LedgerDetail::columns: stored energy [J], then the powers in their
/// order [W].
inline constexpr std::size_t book_columns = 6;

/// Sums over contacts [J, W].
struct LawTotals {
  double stored = 0;
  Powers<double> powers{};
  double spin = 0;  // the part of powers.slip lost by spinning
};

namespace detail {

template <class T>
BRISTLE_INLINE T load(const Value<T>* from) {
  if constexpr (PlainScalar<T>) {
    return *from;
  } else {
    return T::load(from);
  }
}

template <class T>
BRISTLE_INLINE void store(const T& x, Value<T>* to) {
  if constexpr (PlainScalar<T>) {
    *to = x;
  } else {
    x.store(to);
  }
}

template <class S, class T>
BRISTLE_INLINE S load_fields(const Columns<const Value<T>>& columns, std::size_t i) {
  S s;
  for (std::size_t f = 0; f < field_count<S, T>; ++f) {
    field<T>(s, f) = load<T>(columns.column(f) + i);
  }
  return s;
}

template <class T, class S>
BRISTLE_INLINE void store_fields(const S& s, const Columns<Value<T>>& columns,
                                 std::size_t i) {
  for (std::size_t f = 0; f < field_count<S, T>; ++f) {
    store(field<T>(s, f), columns.column(f) + i);
  }
}

template <class T>
BRISTLE_INLINE void store_ledger(const T& stored, const Powers<T>& p,
                                 const Columns<Value<T>>& to, std::size_t i) {
  store(stored, to.column(0) + i);
  store(p.damping, to.column(1) + i);
  store(p.slip, to.column(2) + i);
  store(p.viscous, to.column(3) + i);
  store(p.parametric, to.column(4) + i);
  store(p.unsupplied, to.column(5) + i);
}

/// The sides that a law is held on, one per guard: a member of a loop's step, where
/// Kinematics::held may point to.
template <class L, class T>
struct HeldSides {
  static constexpr std::size_t count = L::guard_list().size();
  std::array<T, count> sides;

  BRISTLE_INLINE const T* load_from(const Columns<const Value<T>>& held, std::size_t i) {
    for (std::size_t k = 0; k < count; ++k) {
      sides[k] = held.data != nullptr ? load<T>(held.column(k) + i) : T(0);
    }
    return sides.data();
  }
};

/// The sum of all lanes.
template <class T>
BRISTLE_INLINE double total_of(const T& x) {
  if constexpr (PlainScalar<T>) {
    return static_cast<double>(x);
  } else {
    return static_cast<double>(sum(x));
  }
}

/// Running sums of the lines that a law writes, in the lanes of T.
template <class T, LedgerLines lines>
struct Sums {
  T stored = T(0);
  Powers<T> powers{T(0), T(0), T(0), T(0), T(0)};

  BRISTLE_INLINE void add(const T& energy, const Powers<T>& p) {
    stored += energy;
    if constexpr (lines.damping) powers.damping += p.damping;
    if constexpr (lines.slip) powers.slip += p.slip;
    if constexpr (lines.viscous) powers.viscous += p.viscous;
    if constexpr (lines.parametric) powers.parametric += p.parametric;
    if constexpr (lines.unsupplied) powers.unsupplied += p.unsupplied;
  }
  BRISTLE_INLINE void into(LawTotals& totals) const {
    totals.stored += total_of(stored);
    totals.powers.damping += total_of(powers.damping);
    totals.powers.slip += total_of(powers.slip);
    totals.powers.viscous += total_of(powers.viscous);
    totals.powers.parametric += total_of(powers.parametric);
    totals.powers.unsupplied += total_of(powers.unsupplied);
  }
};

// The loops take T at a time from contact i on and return where they stopped. √δ is
// computed once: a normal loop leaves it in `roots` for the friction loop, where one
// follows. Locals that are structs are not const: GCC 12 keeps const structs in memory.

enum class Roots { alone, shared };

/// Memory for one block of contacts between its loops.
template <PlainScalar N>
struct Scratch {
  static constexpr std::size_t max_prepared = 4;
  alignas(64) std::array<N, contacts_per_block> roots;
  alignas(64) std::array<N, max_prepared * contacts_per_block> prepared;

  Columns<N> prepared_columns() { return {prepared.data(), contacts_per_block}; }
};

/// A friction law may split off what depends on its kinematics alone. In a loop of its
/// own it leaves a shorter chain of operations to the main loop, and both run faster.
template <class L>
concept Prepares = requires { typename L::template Prepared<double>; };

template <NormalLaw L, Form form, class T>
BRISTLE_INLINE auto normal_step(const typename L::template Params<T>& p,
                                const typename L::template State<T>& state,
                                const Kinematics<T>& kin, [[maybe_unused]] const T& h) {
  if constexpr (form == Form::advance) {
    return L::advance(p, state, kin, h);
  } else {
    auto now = L::evaluate(p, state, kin);
    return NormalStep<T, typename L::template State<T>>{now.force, now.stored, now.powers,
                                                        now.rate};
  }
}

template <NormalLaw L, LedgerDetail ledger, Form form, class T, Roots how, class N>
BRISTLE_INLINE std::size_t normal_loop(const typename L::template Params<N>& params,
                                       const ContactColumns<N>& c, std::size_t i,
                                       std::size_t end, N h, [[maybe_unused]] N* roots,
                                       LawTotals& totals) {
  constexpr auto width = static_cast<std::size_t>(ScalarTraits<T>::lanes);
  auto p = cast_params<L, T, N>(params);
  Sums<T, L::lines> sums;
  for (; end - i >= width; i += width) {
    T depth = load<T>(c.depth + i);
    Kinematics<T> kin{depth, root(depth), load<T>(c.rate + i), {T(0), T(0)}};
    [[maybe_unused]] PatchMotion<T> patch;
    if constexpr (volumetric_law<L>) {
      if (c.patch.data != nullptr) {
        patch = load_fields<PatchMotion<T>, T>(c.patch, i);
        kin.patch = &patch;
      }
    }
    [[maybe_unused]] HeldSides<L, T> held;
    if constexpr (form == Form::evaluate) {
      kin.held = held.load_from(c.normal_held, i);
      if (c.root_depth != nullptr) kin.root_depth = load<T>(c.root_depth + i);
    }
    auto state = load_fields<typename L::template State<T>, T>(c.normal_state, i);
    auto step = normal_step<L, form, T>(p, state, kin, T(h));
    if constexpr (how == Roots::shared) {
      store(kin.root_depth, roots);
      roots += width;
    }
    store(step.force, c.normal_force + i);
    store_fields<T>(step.state, c.normal_next, i);
    if constexpr (ledger == LedgerDetail::totals) sums.add(step.stored, step.powers);
    if constexpr (ledger == LedgerDetail::columns) {
      store_ledger(step.stored, step.powers, c.normal_ledger, i);
    }
  }
  if constexpr (ledger == LedgerDetail::totals) sums.into(totals);
  return i;
}

template <class T, int D, Roots how, class N>
BRISTLE_INLINE Kinematics<T, D> load_kinematics(const ContactColumns<N>& c, std::size_t i,
                                                [[maybe_unused]] const N* root_at) {
  T depth = load<T>(c.depth + i);
  T root_depth;
  if constexpr (how == Roots::shared) {
    root_depth = load<T>(root_at);
  } else {
    root_depth = root(depth);
  }
  T rate = load<T>(c.rate + i), x = load<T>(c.slip_x + i), y = load<T>(c.slip_y + i);
  if constexpr (D == 2) {
    return {depth, root_depth, rate, {x, y}};
  } else {
    return {depth, root_depth, rate, {x, y, load<T>(c.slip_z + i)}};
  }
}

/// What of the slip's loss is due to the third component: its part of the work of the
/// friction force.
template <class T>
BRISTLE_INLINE T spin_loss(const Vec3<T>& force, const Vec3<T>& slip, const T& loss) {
  const T spin = abs(force.z * slip.z);
  const T all = spin + abs(force.x * slip.x + force.y * slip.y);
  return loss * (spin / select(all > T(0), all, T(1)));
}

/// `offset` is where contact i sits in the scratch memory.
template <FrictionLaw L, class T, Roots how, class N>
BRISTLE_INLINE std::size_t prepare_loop(const typename L::template Params<N>& params,
                                        const ContactColumns<N>& c, std::size_t i,
                                        std::size_t end, Scratch<N>& scratch,
                                        std::size_t offset) {
  using Prepared = typename L::template Prepared<T>;
  static_assert(field_count<Prepared, T> <= Scratch<N>::max_prepared);
  constexpr auto width = static_cast<std::size_t>(ScalarTraits<T>::lanes);
  auto p = cast_params<L, T, N>(params);
  for (; end - i >= width; i += width, offset += width) {
    Prepared prepared = L::prepare(p, load_kinematics<T, slip_components<L>, how>(
                                          c, i, scratch.roots.data() + offset));
    store_fields<T>(prepared, scratch.prepared_columns(), offset);
  }
  return i;
}

template <FrictionLaw L, LedgerDetail ledger, Form form, class T, Roots how, class N>
BRISTLE_INLINE std::size_t friction_loop(const typename L::template Params<N>& params,
                                         const ContactColumns<N>& c, std::size_t i,
                                         std::size_t end, N h, Scratch<N>& scratch,
                                         std::size_t offset, LawTotals& totals) {
  using State = typename L::template State<T>;
  constexpr auto width = static_cast<std::size_t>(ScalarTraits<T>::lanes);
  auto p = cast_params<L, T, N>(params);
  constexpr int D = slip_components<L>;
  Sums<T, L::lines> sums;
  [[maybe_unused]] T spin_sum = T(0);
  for (; end - i >= width; i += width, offset += width) {
    Kinematics<T, D> kin =
        load_kinematics<T, D, how>(c, i, scratch.roots.data() + offset);
    State state = load_fields<State, T>(c.friction_state, i);
    T normal_force = load<T>(c.normal_force + i);
    FrictionStep<T, State, D> step;
    [[maybe_unused]] HeldSides<L, T> held;
    if constexpr (form == Form::evaluate) {
      kin.held = held.load_from(c.friction_held, i);
      if (c.root_depth != nullptr) kin.root_depth = load<T>(c.root_depth + i);
      auto now = L::evaluate(p, state, kin, normal_force);
      step = {now.force, now.stored, now.powers, now.rate};
    } else if constexpr (Prepares<L>) {
      step = L::advance(p, state, kin, normal_force, T(h),
                        load_fields<typename L::template Prepared<T>, T>(
                            scratch.prepared_columns(), offset));
    } else {
      step = L::advance(p, state, kin, normal_force, T(h));
    }
    store(step.force.x, c.friction_x + i);
    store(step.force.y, c.friction_y + i);
    if constexpr (D == 3) {
      store(step.force.z, c.friction_z + i);
      if constexpr (ledger == LedgerDetail::totals) {
        spin_sum += spin_loss(step.force, kin.slip, step.powers.slip);
      }
      if constexpr (ledger == LedgerDetail::columns) {
        if (c.spin_loss != nullptr) {
          store(spin_loss(step.force, kin.slip, step.powers.slip), c.spin_loss + i);
        }
      }
    }
    store_fields<T>(step.state, c.friction_next, i);
    if constexpr (ledger == LedgerDetail::totals) sums.add(step.stored, step.powers);
    if constexpr (ledger == LedgerDetail::columns) {
      store_ledger(step.stored, step.powers, c.friction_ledger, i);
    }
  }
  if constexpr (ledger == LedgerDetail::totals) sums.into(totals);
  if constexpr (ledger == LedgerDetail::totals && D == 3)
    totals.spin += total_of(spin_sum);
  return i;
}

// Packs first, then what is left one by one.

template <NormalLaw L, LedgerDetail ledger, Form form, Roots how, PlainScalar N>
BRISTLE_INLINE void normal_block(const typename L::template Params<N>& params,
                                 const ContactColumns<N>& c, ContactRange range, N h,
                                 N* roots, LawTotals& totals) {
  const std::size_t rest = normal_loop<L, ledger, form, NativePack<N>, how>(
      params, c, range.begin, range.end, h, roots, totals);
  normal_loop<L, ledger, form, N, how>(
      params, c, rest, range.end, h,
      how == Roots::shared ? roots + (rest - range.begin) : roots, totals);
}

template <FrictionLaw L, LedgerDetail ledger, Form form, Roots how, PlainScalar N>
BRISTLE_INLINE void friction_block(const typename L::template Params<N>& params,
                                   const ContactColumns<N>& c, ContactRange range, N h,
                                   Scratch<N>& scratch, LawTotals& totals) {
  if constexpr (Prepares<L> && form == Form::advance) {
    const std::size_t rest = prepare_loop<L, NativePack<N>, how>(params, c, range.begin,
                                                                 range.end, scratch, 0);
    prepare_loop<L, N, how>(params, c, rest, range.end, scratch, rest - range.begin);
  }
  const std::size_t rest = friction_loop<L, ledger, form, NativePack<N>, how>(
      params, c, range.begin, range.end, h, scratch, 0, totals);
  friction_loop<L, ledger, form, N, how>(params, c, rest, range.end, h, scratch,
                                         rest - range.begin, totals);
}

/// Calls work(block) for pieces of a range that fit the first-level cache.
template <class Work>
BRISTLE_INLINE void for_each_block(ContactRange range, const Work& work) {
  for (std::size_t begin = range.begin; begin < range.end; begin += contacts_per_block) {
    const std::size_t left = range.end - begin;
    work(ContactRange{begin,
                      begin + (left < contacts_per_block ? left : contacts_per_block)});
  }
}

}  // namespace detail

/// The normal force of each contact of the range, and its memory a step h later. With a
/// ledger, adds what the contacts store and dissipate to `totals`.
template <NormalLaw L, LedgerDetail ledger, PlainScalar N, Form form = Form::advance>
void normal_pass(const typename L::template Params<N>& params, const ContactColumns<N>& c,
                 ContactRange range, N h, LawTotals& totals) noexcept {
  detail::normal_block<L, ledger, form, detail::Roots::alone, N>(params, c, range, h,
                                                                 nullptr, totals);
}

/// The friction of each contact of the range, given its normal force; as above.
template <FrictionLaw L, LedgerDetail ledger, PlainScalar N, Form form = Form::advance>
void friction_pass(const typename L::template Params<N>& params,
                   const ContactColumns<N>& c, ContactRange range, N h,
                   LawTotals& totals) noexcept {
  detail::Scratch<N> scratch;
  detail::for_each_block(range, [&](ContactRange block) BRISTLE_INLINE_LAMBDA {
    detail::friction_block<L, ledger, form, detail::Roots::alone, N>(params, c, block, h,
                                                                     scratch, totals);
  });
}

/// Both passes over a range, block by block.
template <NormalLaw Normal, FrictionLaw Friction, LedgerDetail ledger, PlainScalar N>
void contact_passes(const typename Normal::template Params<N>& normal,
                    const typename Friction::template Params<N>& friction,
                    const ContactColumns<N>& c, ContactRange range, N h,
                    LawTotals& normal_totals, LawTotals& friction_totals) noexcept {
  using detail::Roots;
  detail::Scratch<N> scratch;
  detail::for_each_block(range, [&](ContactRange block) BRISTLE_INLINE_LAMBDA {
    detail::normal_block<Normal, ledger, Form::advance, Roots::shared, N>(
        normal, c, block, h, scratch.roots.data(), normal_totals);
    detail::friction_block<Friction, ledger, Form::advance, Roots::shared, N>(
        friction, c, block, h, scratch, friction_totals);
  });
}

}  // namespace bristle
