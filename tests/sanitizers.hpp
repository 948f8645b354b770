#pragma once

// Sanitizers look for other faults than wrong numbers, and are ten times slower: under
// them a test of many cases takes some, since the release tests take all.

namespace bristle::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool under_sanitizers = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool under_sanitizers = true;
#else
inline constexpr bool under_sanitizers = false;
#endif
#else
inline constexpr bool under_sanitizers = false;
#endif

/// How many of so many cases to take.
constexpr int some_of(int cases, int under_a_sanitizer) {
  return under_sanitizers ? under_a_sanitizer : cases;
}

}  // namespace bristle::test
