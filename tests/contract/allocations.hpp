#pragma once

namespace bristle::contract {

/// How often this thread has asked for memory with new, in any form.
long allocations() noexcept;

/// Counts from its construction on.
class AllocationCount {
 public:
  AllocationCount() : start_(allocations()) {}
  long since() const { return allocations() - start_; }

 private:
  long start_;
};

}  // namespace bristle::contract
