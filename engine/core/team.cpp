#include "bristle/core/team.hpp"

#include <cstdint>
#include <utility>

namespace bristle {

struct Team::Shared {
  std::atomic<std::uint32_t> call{0};  // counts loops
  std::atomic<int> busy{0};
  std::atomic<bool> stop{false};
  Function function = nullptr;
  const void* context = nullptr;
};

namespace {

constexpr int attentive = 2000;  // looks before a thread lets others go first

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Team::Team(int threads) : size_(threads < 1 ? 1 : threads) {
  if (size_ == 1) return;
  shared_ = std::make_unique<Shared>();
  for (int member = 1; member < size_; ++member) {
    threads_.emplace_back([shared = shared_.get(), member] {
      std::uint32_t seen = 0;
      for (;;) {
        std::uint32_t now = shared->call.load(std::memory_order_acquire);
        for (int looks = 0; now == seen && looks < attentive; ++looks) {
          pause();
          now = shared->call.load(std::memory_order_acquire);
        }
        if (now == seen) {
          shared->call.wait(seen, std::memory_order_acquire);
          continue;
        }
        seen = now;
        if (shared->stop.load(std::memory_order_relaxed)) return;
        shared->function(shared->context, member);
        shared->busy.fetch_sub(1, std::memory_order_release);
      }
    });
  }
}

Team::Team(Team&&) noexcept = default;

Team& Team::operator=(Team&& other) noexcept {
  std::swap(size_, other.size_);
  std::swap(shared_, other.shared_);
  std::swap(threads_, other.threads_);
  return *this;
}

Team::~Team() {
  if (threads_.empty()) return;
  shared_->stop.store(true, std::memory_order_relaxed);
  shared_->call.fetch_add(1, std::memory_order_release);
  shared_->call.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(Function function, const void* context) noexcept {
  shared_->function = function;
  shared_->context = context;
  shared_->busy.store(size_ - 1, std::memory_order_relaxed);
  shared_->call.fetch_add(1, std::memory_order_release);
  shared_->call.notify_all();
  function(context, 0);
  for (int looks = 0; shared_->busy.load(std::memory_order_acquire) != 0; ++looks) {
    looks < attentive ? pause() : std::this_thread::yield();
  }
}

}  // namespace bristle
