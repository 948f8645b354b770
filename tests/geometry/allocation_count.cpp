#include "tests/geometry/allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

// In a file of its own: where the compiler sees both sides it objects to free() of what
// new returned.

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace bristle::test {
long allocation_count() { return allocations; }
}  // namespace bristle::test
