#include "tests/adaptive/meetings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

// No meeting is stepped over: whatever the shapes, their motion and the length of the
// flight.

namespace bristle::meetings {
namespace {

bool soaks() { return std::getenv("BRISTLE_SOAK") != nullptr; }

std::string name_of_pair(const Meeting& m) {
  return std::string(name_of(kind_of(m.a.solid.shape))) + "–" +
         std::string(name_of(kind_of(m.b.solid.shape)));
}

/// The time of the first touch, or infinity.
double first_touch(const Model& model, State& state, double until, double rtol,
                   StepStatus& status, StepCounts& counts) {
  Adaptive clock(model, {.rtol = rtol});
  double touch = HUGE_VAL;
  StepObserver observer;
  observer.on_event = [&](const State&, const Event& event) {
    if (event.kind == EventKind::touch) touch = std::min(touch, event.time);
  };
  observer.on_step = [&](const State&) { return touch == HUGE_VAL; };
  status = clock.advance_to(state, until, observer);
  counts = clock.counts();
  return touch;
}

TEST(Meetings, OfAllPairsOfShapesAreFound) {
  const unsigned cases = soaks() ? 20000 : 600;
  int met = 0, missed = 0;
  std::map<std::string, std::pair<int, int>> of_pair;
  StepCounts all;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    Draw draw(seed);
    const Meeting m = draw.meeting();
    const double depth = 1e-3 * std::min(m.size(), 0.1);
    const double truth = time_of_meeting(m, depth);
    if (std::isnan(truth)) continue;
    const Model model = model_of(m);
    State state = state_of(model, m);
    StepStatus status{};
    StepCounts counts;
    const double touch = first_touch(model, state, m.duration, 1e-6, status, counts);
    all = all + counts;
    EXPECT_EQ(status, StepStatus::ok) << "seed " << seed << ", " << name_of_pair(m);
    if (truth == HUGE_VAL) continue;
    ++met;
    auto& [of, lost] = of_pair[name_of_pair(m)];
    ++of;
    if (touch <= truth) continue;
    ++missed;
    ++lost;
    if (missed <= 20) {
      ADD_FAILURE() << "seed " << seed << ", " << name_of_pair(m) << ", missed at "
                    << truth << " s";
    }
  }
  std::printf("%u drawn, %d meet, %d missed; %llu steps, %llu looks, %llu distances\n",
              cases, met, missed, static_cast<unsigned long long>(all.steps),
              static_cast<unsigned long long>(all.looks),
              static_cast<unsigned long long>(all.distances));
  for (const auto& [name, count] : of_pair) {
    if (count.second > 0)
      std::printf("  %-24s %d of %d\n", name.c_str(), count.second, count.first);
  }
  EXPECT_EQ(missed, 0);
  EXPECT_GT(met, static_cast<int>(cases) / 3);
}

}  // namespace
}  // namespace bristle::meetings
