#pragma once

#include "tests/contract/support.hpp"

// Packs: every lane of every operation equals the scalar result, bit for bit.

namespace bristle::contract {

/// Lane i of every number of a struct, set from a struct of plain numbers.
template <class P, class Packed, class Single>
void set_lane(Packed& to, int lane, const Single& from) {
  for (std::size_t i = 0; i < field_count<Packed, P>; ++i) {
    field<P>(to, i).set(lane, field<Value<P>>(from, i));
  }
}

template <class P, class Single, class Packed>
Single get_lane(const Packed& from, int lane) {
  Single to = zero_fields<Single, Value<P>>();
  for (std::size_t i = 0; i < field_count<Packed, P>; ++i) {
    field<Value<P>>(to, i) = field<P>(from, i)[lane];
  }
  return to;
}

/// A pack's worth of samples, one per lane.
template <class L, class P>
struct Lanes {
  using N = Value<P>;
  static constexpr int width = ScalarTraits<P>::lanes;
  std::array<Sample<L>, static_cast<std::size_t>(width)> origin;
  std::array<Sample<L, N>, static_cast<std::size_t>(width)> single;
  Sample<L, P> packed;

  template <class Draw>
  explicit Lanes(const Draw& draw) {
    packed = cast_sample<P>(draw());
    for (int i = 0; i < width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      origin[at] = draw();
      single[at] = cast_sample<N>(origin[at]);
      set_lane<P>(packed.params, i, single[at].params);
      set_lane<P>(packed.state, i, single[at].state);
      packed.kin.depth.set(i, single[at].kin.depth);
      packed.kin.root_depth.set(i, single[at].kin.root_depth);
      packed.kin.rate.set(i, single[at].kin.rate);
      set_lane<P>(packed.kin.slip, i, single[at].kin.slip);
      packed.normal_force.set(i, single[at].normal_force);
      packed.step.set(i, single[at].step);
    }
  }

  /// operation(sample) on all lanes at once and one by one.
  template <class Operation>
  void expect_same(const char* name, const Operation& operation) const {
    const auto together = operation(packed);
    for (int i = 0; i < width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto alone = operation(single[at]);
      const auto lane = get_lane<P, std::remove_const_t<decltype(alone)>>(together, i);
      EXPECT_TRUE(same_fields<N>(alone, lane))
          << name << ", lane " << i << ": " << list<N>(lane) << " in the pack, "
          << list<N>(alone) << " alone, at " << describe(origin[at]);
    }
  }
};

template <class L, class P, class Draw, class Check>
void for_lanes(std::uint64_t seed, const Draw& draw, const Check& check) {
  Random random(seed);
  for (int n = 0; n < samples(300); ++n) {
    const Lanes<L, P> lanes([&] {
      const auto flags = static_cast<unsigned>(random.bits() & 0xFFU);
      return draw(random, flags);
    });
    check(lanes);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace bristle::contract
