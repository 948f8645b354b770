#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <type_traits>

namespace bristle::core_test {

template <class N>
using BitsOf = std::conditional_t<sizeof(N) == 8, std::uint64_t, std::uint32_t>;

/// How often to sample: more with BRISTLE_SOAK in the environment.
inline int samples(int usual) {
  static const bool soak = std::getenv("BRISTLE_SOAK") != nullptr;
  return soak ? 50 * usual : usual;
}

/// Any number there is: random bits, and often a special value.
template <class N>
N any_number(std::mt19937_64& random) {
  using L = std::numeric_limits<N>;
  const N special[]{N(0),           N(-0.0),   N(1),     N(-1),           L::infinity(),
                    L::min(),       -L::min(), L::max(), L::denorm_min(), -L::infinity(),
                    L::quiet_NaN(), -L::max(), N(0.5)};
  if (random() % 4 == 0) return special[random() % std::size(special)];
  return std::bit_cast<N>(static_cast<BitsOf<N>>(random()));
}

inline double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

template <class N>
bool same_bits_or_nan(N a, N b) {
  return std::bit_cast<BitsOf<N>>(a) == std::bit_cast<BitsOf<N>>(b) || (a != a && b != b);
}

/// The distance of x from an exact value, in units in the last place of that value.
template <class N>
double ulps(N x, long double exact) {
  using L = std::numeric_limits<N>;
  if (static_cast<long double>(x) == exact) return 0;
  int exponent = 0;
  std::frexp(exact, &exponent);                    // |exact| in [2^(e-1), 2^e)
  const int lowest = L::min_exponent - L::digits;  // exponent of the least subnormal
  const long double unit = std::ldexp(1.0L, std::max(exponent - L::digits, lowest));
  return static_cast<double>(std::fabs((static_cast<long double>(x) - exact) / unit));
}

}  // namespace bristle::core_test
