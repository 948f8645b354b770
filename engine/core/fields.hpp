#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "bristle/core/scalar.hpp"

// A law's parameters and state are structs of T and Vec2<T>, nothing else: they can be
// read as a flat row of T. Integrators, recordings and pools of contacts use them so.

namespace bristle {

/// How many T a struct S<T> holds.
template <class S, class T>
inline constexpr std::size_t field_count = std::is_empty_v<S> ? 0 : sizeof(S) / sizeof(T);

/// Field i of a struct of T. (Reading through a pointer to its first T, not by bit_cast:
/// GCC then keeps structs of packs in registers.)
template <class T, class S>
BRISTLE_INLINE T& field(S& s, std::size_t i) {
  static_assert(std::is_trivially_copyable_v<S>);
  static_assert(sizeof(S) < sizeof(T) || sizeof(S) % sizeof(T) == 0);
  return reinterpret_cast<T*>(&s)[i];
}
template <class T, class S>
BRISTLE_INLINE const T& field(const S& s, std::size_t i) {
  static_assert(std::is_trivially_copyable_v<S>);
  static_assert(sizeof(S) < sizeof(T) || sizeof(S) % sizeof(T) == 0);
  return reinterpret_cast<const T*>(&s)[i];
}

template <class T, class S>
BRISTLE_INLINE std::array<T, field_count<S, T>> to_fields(const S& s) {
  std::array<T, field_count<S, T>> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = field<T>(s, i);
  return fields;
}

template <class S, class T, std::size_t n>
BRISTLE_INLINE S from_fields(const std::array<T, n>& fields) {
  static_assert(n == field_count<S, T>);
  S s;
  for (std::size_t i = 0; i < n; ++i) field<T>(s, i) = fields[i];
  return s;
}

/// The same struct in another scalar kind: S<double> → S<Pack>, S<Dual>, S<float>.
template <class R, Scalar To, Scalar From, class S>
BRISTLE_INLINE R cast_fields_to(const S& s) {
  static_assert(field_count<R, To> == field_count<S, From>);
  R to;
  for (std::size_t i = 0; i < field_count<R, To>; ++i) {
    if constexpr (PlainScalar<From>) {
      field<To>(to, i) = To(static_cast<Value<To>>(field<From>(s, i)));
    } else {
      field<To>(to, i) = To(field<From>(s, i));
    }
  }
  return to;
}
template <template <class> class S, Scalar To, Scalar From>
BRISTLE_INLINE S<To> cast_fields(const S<From>& s) {
  return cast_fields_to<S<To>, To, From>(s);
}

/// All fields zero.
template <class S, Scalar T>
BRISTLE_INLINE S zero_fields() {
  S s;
  for (std::size_t i = 0; i < field_count<S, T>; ++i) field<T>(s, i) = T(0);
  return s;
}

}  // namespace bristle
