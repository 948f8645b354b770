#include "tests/contract/allocations.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace {
thread_local long count = 0;

void* take(std::size_t size, std::size_t alignment) {
  ++count;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// The nothrow and array forms of the library call these.
void* operator new(std::size_t size) {
  return take(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace bristle::contract {

long allocations() noexcept { return count; }

namespace {

TEST(Allocations, AreCounted) {
  const AllocationCount before;
  const auto number = std::make_unique<double>(1);
  EXPECT_EQ(before.since(), 1);
  EXPECT_EQ(*number, 1);
}

}  // namespace
}  // namespace bristle::contract
