#pragma once

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include "bristle/core/scalar.hpp"

// N numbers in one SIMD register. Every operation is the IEEE operation of each lane, so
// that a lane holds bit for bit what the scalar code computes. Built on the vector types
// of GCC and Clang; plain arrays elsewhere (CUDA).

namespace bristle {

namespace detail {

/// Square roots of a whole register, where the compiler has no portable word for them.
template <class T, class Lanes>
BRISTLE_INLINE Lanes sqrt_lanes(Lanes x) {
#if defined(__SSE2__) && !defined(__CUDACC__)
  constexpr bool is_double = sizeof(T) == 8;
  if constexpr (sizeof(Lanes) == 16) {
    if constexpr (is_double) return (Lanes)_mm_sqrt_pd((__m128d)x);
    if constexpr (!is_double) return (Lanes)_mm_sqrt_ps((__m128)x);
  }
#if defined(__AVX__)
  if constexpr (sizeof(Lanes) == 32) {
    if constexpr (is_double) return (Lanes)_mm256_sqrt_pd((__m256d)x);
    if constexpr (!is_double) return (Lanes)_mm256_sqrt_ps((__m256)x);
  }
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(Lanes) == 64) {
    if constexpr (is_double) return (Lanes)_mm512_sqrt_pd((__m512d)x);
    if constexpr (!is_double) return (Lanes)_mm512_sqrt_ps((__m512)x);
  }
#endif
#endif
  for (unsigned i = 0; i < sizeof(Lanes) / sizeof(T); ++i) x[i] = bristle::sqrt(x[i]);
  return x;
}

/// a > b ? a : b and a < b ? a : b, each in one instruction.
template <bool greater, class T, class Lanes>
BRISTLE_INLINE Lanes extreme_lanes(Lanes a, Lanes b) {
#if defined(__AVX__) && !defined(__CUDACC__)
  constexpr bool is_double = sizeof(T) == 8;
  if constexpr (sizeof(Lanes) == 32 && is_double) {
    return (Lanes)(greater ? _mm256_max_pd((__m256d)a, (__m256d)b)
                           : _mm256_min_pd((__m256d)a, (__m256d)b));
  }
  if constexpr (sizeof(Lanes) == 32 && !is_double) {
    return (Lanes)(greater ? _mm256_max_ps((__m256)a, (__m256)b)
                           : _mm256_min_ps((__m256)a, (__m256)b));
  }
#endif
  for (unsigned i = 0; i < sizeof(Lanes) / sizeof(T); ++i) {
    a[i] = (greater ? a[i] > b[i] : a[i] < b[i]) ? a[i] : b[i];
  }
  return a;
}

/// Whether any bit of a whole register is set.
template <class Lanes>
BRISTLE_INLINE bool any_bit(const Lanes& x) {
#if defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (sizeof(Lanes) == 32) return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#endif
#if defined(__SSE4_1__) && !defined(__CUDACC__)
  if constexpr (sizeof(Lanes) == 16) return !_mm_testz_si128((__m128i)x, (__m128i)x);
#endif
  auto bits = x[0];
  for (unsigned i = 1; i < sizeof(Lanes) / sizeof(bits); ++i) bits |= x[i];
  return bits != 0;
}

}  // namespace detail

template <PlainScalar T, int N>
struct PackMask {
  using Int = typename FloatBits<T>::Int;
#if BRISTLE_VECTOR_TYPES
  typedef Int Lanes __attribute__((vector_size(N * sizeof(Int))));
#else
  struct Lanes {
    Int at[N];
    BRISTLE_HOST_DEVICE Int& operator[](int i) { return at[i]; }
    BRISTLE_HOST_DEVICE const Int& operator[](int i) const { return at[i]; }
  };
#endif
  Lanes lanes;  // all bits set where true

  BRISTLE_INLINE bool operator[](int i) const { return lanes[i] != 0; }
  explicit operator bool() const =
      delete;  // not `if (mask)`: select(mask, a, b), any(mask)

#if BRISTLE_VECTOR_TYPES
  BRISTLE_INLINE friend PackMask operator&&(PackMask a, PackMask b) {
    return {a.lanes & b.lanes};
  }
  BRISTLE_INLINE friend PackMask operator||(PackMask a, PackMask b) {
    return {a.lanes | b.lanes};
  }
  BRISTLE_INLINE friend PackMask operator!(PackMask a) { return {~a.lanes}; }
#else
#define BRISTLE_LANES(expression)              \
  PackMask r;                                  \
  for (int i = 0; i < N; ++i) {                \
    r.lanes[i] = static_cast<Int>(expression); \
  }                                            \
  return r
  BRISTLE_INLINE friend PackMask operator&&(PackMask a, PackMask b) {
    BRISTLE_LANES(a.lanes[i] & b.lanes[i]);
  }
  BRISTLE_INLINE friend PackMask operator||(PackMask a, PackMask b) {
    BRISTLE_LANES(a.lanes[i] | b.lanes[i]);
  }
  BRISTLE_INLINE friend PackMask operator!(PackMask a) { BRISTLE_LANES(~a.lanes[i]); }
#undef BRISTLE_LANES
#endif

  BRISTLE_INLINE friend bool any(PackMask m) { return detail::any_bit(m.lanes); }
  BRISTLE_INLINE friend bool all(PackMask m) { return !any(!m); }
};

template <PlainScalar T, int N>
struct Pack {
#if BRISTLE_VECTOR_TYPES
  typedef T Lanes __attribute__((vector_size(N * sizeof(T))));
  typedef T Unaligned
      __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
#else
  struct Lanes {
    T at[N];
    BRISTLE_HOST_DEVICE T& operator[](int i) { return at[i]; }
    BRISTLE_HOST_DEVICE const T& operator[](int i) const { return at[i]; }
  };
#endif
  Lanes lanes;

  Pack() = default;
  BRISTLE_INLINE explicit Pack(Lanes x) : lanes(x) {}

  /// The same number in every lane.
  template <Arithmetic U>
  BRISTLE_INLINE Pack(U x) {  // NOLINT(google-explicit-constructor): `2 * x` must read so
#if BRISTLE_VECTOR_TYPES
    lanes = static_cast<T>(x) - Lanes{};  // x − 0 is x, also for −0
#else
    for (int i = 0; i < N; ++i) lanes[i] = static_cast<T>(x);
#endif
  }

  BRISTLE_INLINE static Pack load(const T* from) {
#if BRISTLE_VECTOR_TYPES
    return Pack(*reinterpret_cast<const Unaligned*>(from));
#else
    Pack p;
    for (int i = 0; i < N; ++i) p.lanes[i] = from[i];
    return p;
#endif
  }
  BRISTLE_INLINE void store(T* to) const {
#if BRISTLE_VECTOR_TYPES
    *reinterpret_cast<Unaligned*>(to) = lanes;
#else
    for (int i = 0; i < N; ++i) to[i] = lanes[i];
#endif
  }

  BRISTLE_INLINE T operator[](int i) const { return lanes[i]; }
  BRISTLE_INLINE void set(int i, T x) { lanes[i] = x; }

#if BRISTLE_VECTOR_TYPES
#define BRISTLE_PACK_BINARY(op)                            \
  BRISTLE_INLINE friend Pack operator op(Pack a, Pack b) { \
    return Pack(a.lanes op b.lanes);                       \
  }                                                        \
  BRISTLE_INLINE Pack& operator op##=(Pack b) { return *this = *this op b; }
#define BRISTLE_PACK_COMPARE(op)                                     \
  BRISTLE_INLINE friend PackMask<T, N> operator op(Pack a, Pack b) { \
    return {a.lanes op b.lanes};                                     \
  }
  BRISTLE_INLINE friend Pack operator-(Pack a) { return Pack(-a.lanes); }
  BRISTLE_INLINE friend Pack select(PackMask<T, N> m, Pack a, Pack b) {
    return Pack(m.lanes ? a.lanes : b.lanes);
  }
#else
#define BRISTLE_PACK_BINARY(op)                                        \
  BRISTLE_INLINE friend Pack operator op(Pack a, Pack b) {             \
    for (int i = 0; i < N; ++i) a.lanes[i] = a.lanes[i] op b.lanes[i]; \
    return a;                                                          \
  }                                                                    \
  BRISTLE_INLINE Pack& operator op##=(Pack b) { return *this = *this op b; }
#define BRISTLE_PACK_COMPARE(op)                                                \
  BRISTLE_INLINE friend PackMask<T, N> operator op(Pack a, Pack b) {            \
    PackMask<T, N> m;                                                           \
    for (int i = 0; i < N; ++i) m.lanes[i] = a.lanes[i] op b.lanes[i] ? -1 : 0; \
    return m;                                                                   \
  }
  BRISTLE_INLINE friend Pack operator-(Pack a) {
    for (int i = 0; i < N; ++i) a.lanes[i] = -a.lanes[i];
    return a;
  }
  BRISTLE_INLINE friend Pack select(PackMask<T, N> m, Pack a, Pack b) {
    for (int i = 0; i < N; ++i) a.lanes[i] = m[i] ? a.lanes[i] : b.lanes[i];
    return a;
  }
#endif
  BRISTLE_PACK_BINARY(+)
  BRISTLE_PACK_BINARY(-)
  BRISTLE_PACK_BINARY(*)
  BRISTLE_PACK_BINARY(/)
  BRISTLE_PACK_COMPARE(<)
  BRISTLE_PACK_COMPARE(>)
  BRISTLE_PACK_COMPARE(<=)
  BRISTLE_PACK_COMPARE(>=)
  BRISTLE_PACK_COMPARE(==)
  BRISTLE_PACK_COMPARE(!=)
#undef BRISTLE_PACK_BINARY
#undef BRISTLE_PACK_COMPARE

  BRISTLE_INLINE friend Pack sqrt(Pack x) { return Pack(detail::sqrt_lanes<T>(x.lanes)); }

  BRISTLE_INLINE friend Pack max(Pack a, Pack b) {
    return Pack(detail::extreme_lanes<true, T>(a.lanes, b.lanes));
  }
  BRISTLE_INLINE friend Pack min(Pack a, Pack b) {
    return Pack(detail::extreme_lanes<false, T>(a.lanes, b.lanes));
  }

  /// √max(x, 0).
  BRISTLE_INLINE friend Pack root(Pack x) { return sqrt(max(x, Pack(0))); }

  /// The sum of the lanes, first to last.
  BRISTLE_INLINE friend T sum(Pack x) {
    T s = x.lanes[0];
    for (int i = 1; i < N; ++i) s += x.lanes[i];
    return s;
  }

  /// 2^k for integer-valued k; see two_to(T).
  BRISTLE_INLINE friend Pack two_to(Pack k) {
#if BRISTLE_VECTOR_TYPES
    using B = FloatBits<T>;
    typedef std::make_unsigned_t<typename B::Int> Bits
        __attribute__((vector_size(N * sizeof(T))));
    Bits bits = std::bit_cast<Bits>((k + Pack(B::round_magic)).lanes);
    bits = (bits + static_cast<std::make_unsigned_t<typename B::Int>>(B::bias))
           << B::mantissa_bits;
    return Pack(std::bit_cast<Lanes>(bits));
#else
    for (int i = 0; i < N; ++i) k.lanes[i] = bristle::two_to(k.lanes[i]);
    return k;
#endif
  }

  /// Mantissa and exponent; see split(T).
  BRISTLE_INLINE friend Split<Pack> split(Pack x) {
    Split<Pack> r;
    for (int i = 0; i < N; ++i) {
      const Split<T> lane = bristle::split(x.lanes[i]);
      r.mantissa.lanes[i] = lane.mantissa;
      r.exponent.lanes[i] = lane.exponent;
    }
    return r;
  }
};

template <PlainScalar T, int N>
struct ScalarTraits<Pack<T, N>> {
  using value_type = T;
  using mask_type = PackMask<T, N>;
  static constexpr int lanes = N;
};

/// Bytes in the widest vector register that this translation unit is compiled for.
#if defined(__AVX512F__)
inline constexpr int native_vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int native_vector_bytes = 32;
#else
inline constexpr int native_vector_bytes = 16;
#endif

template <PlainScalar T>
using NativePack = Pack<T, native_vector_bytes / static_cast<int>(sizeof(T))>;

}  // namespace bristle
