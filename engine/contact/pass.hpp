#pragma once

#include <array>
#include <cstddef>

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

/// Columns of equal length, one per number of a struct; `stride` apart.
template <PlainScalar N>
struct Columns {
  N* data = nullptr;
  std::size_t stride = 0;

  BRISTLE_INLINE N* column(std::size_t field) const { return data + field * stride; }
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
  Columns<N> normal_state;
  Columns<N> friction_state;
  N* normal_force;
  N* friction_x;
  N* friction_y;
};

/// Sums over contacts [J, W].
struct LawTotals {
  double stored = 0;
  Powers<double> powers{};
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
BRISTLE_INLINE S load_fields(const Columns<Value<T>>& columns, std::size_t i) {
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

/// Running sums in the lanes of T.
template <class T>
struct Sums {
  T stored = T(0);
  Powers<T> powers{T(0), T(0), T(0), T(0), T(0)};

  BRISTLE_INLINE void add(const T& energy, const Powers<T>& p) {
    stored += energy;
    powers.damping += p.damping;
    powers.slip += p.slip;
    powers.viscous += p.viscous;
    powers.parametric += p.parametric;
    powers.unsupplied += p.unsupplied;
  }
  BRISTLE_INLINE void into(LawTotals& totals) const {
    const auto lanes = [](const T& x) {
      if constexpr (PlainScalar<T>) {
        return static_cast<double>(x);
      } else {
        return static_cast<double>(sum(x));
      }
    };
    totals.stored += lanes(stored);
    totals.powers.damping += lanes(powers.damping);
    totals.powers.slip += lanes(powers.slip);
    totals.powers.viscous += lanes(powers.viscous);
    totals.powers.parametric += lanes(powers.parametric);
    totals.powers.unsupplied += lanes(powers.unsupplied);
  }
};

/// Calls body.operator()<T>(i) with packs, then with single contacts for what is left.
template <class N, class Body>
BRISTLE_INLINE void for_each_pack(ContactRange range, const Body& body) {
  using P = NativePack<N>;
  constexpr std::size_t width = static_cast<std::size_t>(ScalarTraits<P>::lanes);
  std::size_t i = range.begin;
  for (; i + width <= range.end; i += width) body.template operator()<P>(i);
  for (; i < range.end; ++i) body.template operator()<N>(i);
}

template <class T, class N>
BRISTLE_INLINE Kinematics<T> load_kinematics(const ContactColumns<N>& c, std::size_t i) {
  return Kinematics<T>::at(load<T>(c.depth + i), load<T>(c.rate + i),
                           {load<T>(c.slip_x + i), load<T>(c.slip_y + i)});
}

template <class T, class N>
BRISTLE_INLINE Kinematics<T> load_approach(const ContactColumns<N>& c, std::size_t i) {
  return Kinematics<T>::at(load<T>(c.depth + i), load<T>(c.rate + i));
}

}  // namespace detail

/// The normal force of each contact of the range, and its memory a step h later. With a
/// ledger, adds what the contacts store and dissipate to `totals`.
template <NormalLaw L, bool ledger, PlainScalar N>
void normal_pass(const typename L::template Params<N>& params, const ContactColumns<N>& c,
                 ContactRange range, N h, LawTotals& totals) noexcept {
  using P = NativePack<N>;
  detail::Sums<P> packs;
  detail::Sums<N> rest;
  detail::for_each_pack<N>(range, [&]<class T>(std::size_t i) BRISTLE_INLINE_LAMBDA {
    const auto step = L::advance(
        cast_params<L, T, N>(params),
        detail::load_fields<typename L::template State<T>, T>(c.normal_state, i),
        detail::load_approach<T>(c, i), T(h));
    detail::store(step.force, c.normal_force + i);
    detail::store_fields<T>(step.state, c.normal_state, i);
    if constexpr (ledger) {
      if constexpr (std::is_same_v<T, N>) {
        rest.add(step.stored, step.powers);
      } else {
        packs.add(step.stored, step.powers);
      }
    }
  });
  if constexpr (ledger) {
    packs.into(totals);
    rest.into(totals);
  }
}

/// The friction of each contact of the range, given its normal force; as above.
template <FrictionLaw L, bool ledger, PlainScalar N>
void friction_pass(const typename L::template Params<N>& params,
                   const ContactColumns<N>& c, ContactRange range, N h,
                   LawTotals& totals) noexcept {
  using P = NativePack<N>;
  detail::Sums<P> packs;
  detail::Sums<N> rest;
  detail::for_each_pack<N>(range, [&]<class T>(std::size_t i) BRISTLE_INLINE_LAMBDA {
    const auto step = L::advance(
        cast_params<L, T, N>(params),
        detail::load_fields<typename L::template State<T>, T>(c.friction_state, i),
        detail::load_kinematics<T>(c, i), detail::load<T>(c.normal_force + i), T(h));
    detail::store(step.force.x, c.friction_x + i);
    detail::store(step.force.y, c.friction_y + i);
    detail::store_fields<T>(step.state, c.friction_state, i);
    if constexpr (ledger) {
      if constexpr (std::is_same_v<T, N>) {
        rest.add(step.stored, step.powers);
      } else {
        packs.add(step.stored, step.powers);
      }
    }
  });
  if constexpr (ledger) {
    packs.into(totals);
    rest.into(totals);
  }
}

/// Both passes over all contacts, block by block.
template <NormalLaw Normal, FrictionLaw Friction, bool ledger, PlainScalar N>
void contact_passes(const typename Normal::template Params<N>& normal,
                    const typename Friction::template Params<N>& friction,
                    const ContactColumns<N>& c, std::size_t count, N h,
                    LawTotals& normal_totals, LawTotals& friction_totals) noexcept {
  for (std::size_t begin = 0; begin < count; begin += contacts_per_block) {
    const ContactRange block{
        begin, begin + contacts_per_block < count ? begin + contacts_per_block : count};
    normal_pass<Normal, ledger, N>(normal, c, block, h, normal_totals);
    friction_pass<Friction, ledger, N>(friction, c, block, h, friction_totals);
  }
}

}  // namespace bristle
