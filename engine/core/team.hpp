#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace bristle {

/// A few threads that work together on one loop at a time. The caller is one of them; the
/// others wait for the next loop, first spinning, then asleep. Who does what is fixed
/// by the number of pieces alone, so that results do not depend on timing.
class Team {
 public:
  explicit Team(int threads = 1);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  int size() const noexcept { return size_; }

  /// work(member) on every member at once, 0 … size − 1; returns when all are done.
  /// Allocates nothing.
  template <class Work>
  void run(const Work& work) noexcept {
    if (size_ == 1) {
      work(0);
      return;
    }
    run([](const void* context,
           int member) { (*static_cast<const Work*>(context))(member); },
        &work);
  }

 private:
  struct Shared;
  using Function = void (*)(const void* context, int member);
  void run(Function function, const void* context) noexcept;

  int size_;
  std::unique_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

/// The part of [0, count) that a member of a team works on.
struct Share {
  std::size_t begin;
  std::size_t end;
};
inline Share share_of(std::size_t count, int member, int members) noexcept {
  const auto m = static_cast<std::size_t>(member);
  const auto n = static_cast<std::size_t>(members);
  return {count * m / n, count * (m + 1) / n};
}

}  // namespace bristle
