#pragma once

// What the compiler at hand offers. Everything a law needs is callable from host code,
// from CUDA device code and from WebAssembly; this header is the only place that knows
// which.

#if defined(__CUDACC__)
#define BRISTLE_HOST_DEVICE __host__ __device__
#else
#define BRISTLE_HOST_DEVICE
#endif

// Small arithmetic helpers must vanish into the loop that calls them, also at -O1.
#if defined(__CUDACC__)
#define BRISTLE_INLINE BRISTLE_HOST_DEVICE __forceinline__
#else
#define BRISTLE_INLINE [[gnu::always_inline]] inline
#endif

// The same for a lambda: written between its parameters and its body.
#if defined(__CUDACC__)
#define BRISTLE_INLINE_LAMBDA
#else
#define BRISTLE_INLINE_LAMBDA __attribute__((always_inline))
#endif

// GCC and Clang vector types; a pack falls back to plain arrays without them.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(__CUDACC__)
#define BRISTLE_VECTOR_TYPES 1
#else
#define BRISTLE_VECTOR_TYPES 0
#endif
