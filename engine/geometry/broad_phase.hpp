#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bristle/geometry/aabb.hpp"

// Which bodies may touch: the pairs of overlapping boxes among many.
//
// Boxes are sorted along a space-filling curve (Morton order, radix sort) and a balanced
// tree of boxes is laid over the sorted row, anew on each call: the work grows with the
// bodies and the pairs among them, whatever the motion. Few boxes, as those of a robot,
// are compared each with each. Nothing is kept between calls, so that the result depends
// on the boxes alone.

namespace bristle {

/// Two of the boxes given to find, first < second.
struct BroadPair {
  std::uint32_t first, second;

  friend bool operator==(const BroadPair&, const BroadPair&) = default;
};

/// A half-space n·x ≤ offset that stands for box `index`.
struct HalfSpace {
  std::uint32_t index;
  Vec3<double> normal;
  double offset;  // [m]
};

/// Whether any corner of a box lies in it.
BRISTLE_INLINE bool reaches(const HalfSpace& h, const Aabb& b) {
  const Vec3<double>& n = h.normal;
  const double lowest = n.x * (n.x > 0 ? b.low.x : b.high.x) +
                        n.y * (n.y > 0 ? b.low.y : b.high.y) +
                        n.z * (n.z > 0 ? b.low.z : b.high.z);
  return lowest <= h.offset;
}

enum class BroadStatus : int {
  ok,
  too_many_boxes,  // more than the capacity: nothing was done
  too_many_pairs,  // the pairs found first are there; found() says how many there are
  bad_box,         // low > high or NaN in box bad_box(): nothing was done
};

class BroadPhase {
 public:
  /// Room for that many boxes and pairs; find() allocates nothing.
  BroadPhase(std::size_t boxes, std::size_t pairs)
      : pair_capacity_(pairs),
        entries_(boxes),
        scratch_(boxes),
        sorted_(boxes + leaf),
        tree_(2 * (boxes / leaf + 2) + 64),
        raw_(pairs),
        pairs_(pairs),
        start_(boxes + 1),
        is_apart_(boxes) {}

  /// Room for more pairs.
  void reserve(std::size_t pairs) {
    raw_.resize(pairs);
    pairs_.resize(pairs);
    pair_capacity_ = pairs;
  }

  /// All pairs of boxes that overlap and that may_touch(first, second) lets through, in
  /// ascending order. Boxes in `large` (static ground, large meshes) and `half_spaces`
  /// (planes: their own box is not used) are kept out of the tree and compared with
  /// every other box; two of them never make a pair.
  template <class Filter>
  BroadStatus find(std::span<const Aabb> boxes, std::span<const std::uint32_t> large,
                   std::span<const HalfSpace> half_spaces, Filter&& may_touch) noexcept {
    found_ = 0;
    kept_ = 0;
    const std::size_t count = boxes.size();
    if (count > is_apart_.size()) return BroadStatus::too_many_boxes;
    std::fill_n(is_apart_.begin(), count, std::uint8_t{0});
    for (const std::uint32_t i : large) is_apart_[i] = 1;
    for (const HalfSpace& h : half_spaces) is_apart_[h.index] = 1;

    // The boxes of the tree, and where their centres lie.
    Vec3<double> low{HUGE_VAL, HUGE_VAL, HUGE_VAL};
    Vec3<double> high = -low;
    std::size_t small = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Aabb& b = boxes[i];
      const bool fine = b.low.x <= b.high.x && b.low.y <= b.high.y && b.low.z <= b.high.z;
      if (!fine && is_apart_[i] == 0) {
        bad_box_ = i;
        return BroadStatus::bad_box;
      }
      if (is_apart_[i] != 0) continue;
      const Vec3<double> c = centre(b);
      low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
      high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
      entries_[small++].index = static_cast<std::uint32_t>(i);
    }
    const bool by_tree = small > few;
    if (by_tree) sort(boxes, small, low, high);
    for (std::size_t k = 0; k < small; ++k) sorted_[k] = boxes[entries_[k].index];
    const auto emit = [&](std::uint32_t i, std::uint32_t j) {
      const std::uint32_t first = std::min(i, j);
      const std::uint32_t second = std::max(i, j);
      if (!may_touch(first, second)) return;
      if (found_ < pair_capacity_) raw_[kept_++] = {first, second};
      ++found_;
    };
    if (by_tree) {
      build(small);
      query(small, emit);
    } else {
      compare(0, small, 0, small, emit);
    }
    for (const std::uint32_t i : large) {
      for (std::size_t k = 0; k < small; ++k) {
        if (overlap(boxes[i], sorted_[k])) emit(i, entries_[k].index);
      }
    }
    for (const HalfSpace& h : half_spaces) {
      for (std::size_t k = 0; k < small; ++k) {
        if (reaches(h, sorted_[k])) emit(h.index, entries_[k].index);
      }
    }
    order(count);
    return found_ > pair_capacity_ ? BroadStatus::too_many_pairs : BroadStatus::ok;
  }
  template <class Filter>
  BroadStatus find(std::span<const Aabb> boxes, Filter&& may_touch) noexcept {
    return find(boxes, {}, {}, may_touch);
  }

  std::span<const BroadPair> pairs() const { return std::span(pairs_).first(kept_); }
  std::size_t found() const { return found_; }
  std::size_t bad_box() const { return bad_box_; }

 private:
  static constexpr std::size_t leaf = 4;  // boxes per leaf of the tree
  static constexpr std::size_t few = 64;  // boxes that do without a tree
  static constexpr int key_bits = 30;
  static constexpr int digit_bits = 10;

  struct Entry {
    std::uint32_t key, index;
  };

  static Vec3<double> centre(const Aabb& b) { return 0.5 * (b.low + b.high); }

  /// Ten bits with two zeros after each.
  static std::uint32_t spread(std::uint32_t x) {
    x = (x | (x << 16)) & 0x030000ffu;
    x = (x | (x << 8)) & 0x0300f00fu;
    x = (x | (x << 4)) & 0x030c30c3u;
    x = (x | (x << 2)) & 0x09249249u;
    return x;
  }

  void sort(std::span<const Aabb> boxes, std::size_t small, const Vec3<double>& low,
            const Vec3<double>& high) noexcept {
    const auto scale = [](double extent) {
      return extent > 0 && std::isfinite(extent) ? 1023.0 / extent : 0.0;
    };
    const Vec3<double> per{scale(high.x - low.x), scale(high.y - low.y),
                           scale(high.z - low.z)};
    const auto cell = [](double x, double start, double factor) {
      const double c = (x - start) * factor;
      return static_cast<std::uint32_t>(c > 0 ? std::min(c, 1023.0) : 0.0);  // NaN: 0
    };
    for (std::size_t k = 0; k < small; ++k) {
      const Vec3<double> c = centre(boxes[entries_[k].index]);
      entries_[k].key = spread(cell(c.x, low.x, per.x)) |
                        (spread(cell(c.y, low.y, per.y)) << 1) |
                        (spread(cell(c.z, low.z, per.z)) << 2);
    }
    constexpr std::uint32_t digits = 1u << digit_bits;
    std::array<std::uint32_t, digits> place{};
    for (int shift = 0; shift < key_bits; shift += digit_bits) {
      place.fill(0);
      const auto digit = [&](const Entry& e) { return (e.key >> shift) & (digits - 1); };
      for (std::size_t k = 0; k < small; ++k) ++place[digit(entries_[k])];
      std::uint32_t sum = 0;
      for (std::uint32_t& p : place) {
        const std::uint32_t here = p;
        p = sum;
        sum += here;
      }
      for (std::size_t k = 0; k < small; ++k) {
        scratch_[place[digit(entries_[k])]++] = entries_[k];
      }
      entries_.swap(scratch_);
    }
  }

  /// Level 0 holds a box per leaf, each level above a box per two below.
  void build(std::size_t small) noexcept {
    levels_ = 0;
    level_start_[0] = 0;
    level_size_[0] = (small + leaf - 1) / leaf;
    for (std::size_t g = 0; g < level_size_[0]; ++g) {
      Aabb all = sorted_[g * leaf];
      for (std::size_t k = g * leaf + 1; k < std::min(small, (g + 1) * leaf); ++k) {
        join(all, sorted_[k]);
      }
      tree_[g] = all;
    }
    levels_ = 1;
    while (level_size_[levels_ - 1] > 1) {
      const std::size_t below = level_start_[levels_ - 1];
      const std::size_t size = level_size_[levels_ - 1];
      level_start_[levels_] = below + size;
      level_size_[levels_] = (size + 1) / 2;
      for (std::size_t g = 0; g < level_size_[levels_]; ++g) {
        Aabb all = tree_[below + 2 * g];
        if (2 * g + 1 < size) join(all, tree_[below + 2 * g + 1]);
        tree_[level_start_[levels_] + g] = all;
      }
      ++levels_;
    }
  }

  static void join(Aabb& a, const Aabb& b) {
    a.low = {std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y),
             std::min(a.low.z, b.low.z)};
    a.high = {std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y),
              std::max(a.high.z, b.high.z)};
  }

  /// The tree against itself, from the top: a node against itself is each child against
  /// itself and one against the other. Work goes with the pairs that are close, not with
  /// the height of the tree.
  template <class Emit>
  void query(std::size_t small, Emit&& emit) noexcept {
    if (small == 0) return;
    struct Task {
      std::uint32_t level, one, two;  // two nodes of one level; equal: a node with itself
    };
    // A task leaves at most four of the level below, so that no level holds more than
    // three besides the present one.
    std::array<Task, 160> stack;
    std::size_t height = 0;
    stack[height++] = {static_cast<std::uint32_t>(levels_ - 1), 0, 0};
    while (height > 0) {
      const Task task = stack[--height];
      if (task.level == 0) {
        compare(task.one * leaf, std::min(small, task.one * leaf + leaf), task.two * leaf,
                std::min(small, task.two * leaf + leaf), emit);
        continue;
      }
      const std::uint32_t below = task.level - 1;
      const Aabb* nodes = tree_.data() + level_start_[below];
      const auto size = static_cast<std::uint32_t>(level_size_[below]);
      for (std::uint32_t i = 2 * task.one; i < std::min(size, 2 * task.one + 2); ++i) {
        const std::uint32_t first = task.one == task.two ? i : 2 * task.two;
        for (std::uint32_t j = first; j < std::min(size, 2 * task.two + 2); ++j) {
          if (i == j || overlap(nodes[i], nodes[j])) stack[height++] = {below, i, j};
        }
      }
    }
  }

  /// The boxes of a range against those of another one, or of the same.
  template <class Emit>
  void compare(std::size_t one, std::size_t end_one, std::size_t two, std::size_t end_two,
               Emit&& emit) noexcept {
    for (std::size_t i = one; i < end_one; ++i) {
      const Aabb box = sorted_[i];
      for (std::size_t j = one == two ? i + 1 : two; j < end_two; ++j) {
        if (overlap(box, sorted_[j])) emit(entries_[i].index, entries_[j].index);
      }
    }
  }

  /// Pairs by first, then second: a counting sort, then short insertion sorts.
  void order(std::size_t count) noexcept {
    std::fill_n(start_.begin(), count + 1, 0u);
    for (std::size_t k = 0; k < kept_; ++k) ++start_[raw_[k].first + 1];
    for (std::size_t i = 1; i <= count; ++i) start_[i] += start_[i - 1];
    for (std::size_t k = 0; k < kept_; ++k) pairs_[start_[raw_[k].first]++] = raw_[k];
    std::size_t begin = 0;
    while (begin < kept_) {
      std::size_t end = begin + 1;
      while (end < kept_ && pairs_[end].first == pairs_[begin].first) ++end;
      std::sort(
          pairs_.begin() + static_cast<std::ptrdiff_t>(begin),
          pairs_.begin() + static_cast<std::ptrdiff_t>(end),
          [](const BroadPair& a, const BroadPair& b) { return a.second < b.second; });
      begin = end;
    }
  }

  std::size_t pair_capacity_;
  std::vector<Entry> entries_, scratch_;
  std::vector<Aabb> sorted_;  // in the order of entries_
  std::vector<Aabb> tree_;
  std::vector<BroadPair> raw_, pairs_;
  std::vector<std::uint32_t> start_;
  std::vector<std::uint8_t> is_apart_;
  std::array<std::size_t, 64> level_start_{}, level_size_{};
  std::size_t levels_ = 0;
  std::size_t found_ = 0;
  std::size_t kept_ = 0;
  std::size_t bad_box_ = 0;
};

}  // namespace bristle
