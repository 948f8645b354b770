#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <tuple>
#include <vector>

#include "bristle/step/fixed_step.hpp"
#include "tests/adaptive/meetings.hpp"

// Touches and lift-offs that the adaptive integrator locates are those of a run by steps
// of a microsecond, each once: bodies of all shapes that fall, bounce, tumble and slide
// on the ground and against each other. 500 scenes with BRISTLE_SOAK; others with another
// number in BRISTLE_SEED.

namespace bristle::meetings {
namespace {

constexpr double step = 1e-6;      // of the other run [s]
constexpr double unseen = 20e-6;   // flights and touches that are shorter [s]
constexpr double sampled = 1e-3;   // motions are compared [s]
constexpr double agrees = 1e-6;    // of two motions [m], and of quaternions
constexpr double duration = 0.15;  // of a scene [s]

/// When a contact touches and lifts off.
struct Span {
  double begin = 0, end = HUGE_VAL;  // [s]
};
using Contact = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using Spans = std::map<Contact, std::vector<Span>>;

/// A point may have another number when it lifts off than when it touched: episodes say
/// which belong together.
struct Track {
  Spans spans;
  std::map<std::uint32_t, std::pair<Contact, std::size_t>> episodes;
  bool each_once = true;  // an episode has one touch, and one lift-off after it
  std::vector<std::vector<double>> places;

  StepObserver observer() {
    StepObserver watch;
    watch.sample_interval = sampled;
    watch.on_sample = [this](const State& now) { places.push_back(now.q); };
    watch.on_event = [this](const State&, const Event& event) { note(event); };
    return watch;
  }
  void note(const Event& event) {
    const Contact contact{event.contact.a, event.contact.b, event.contact.feature};
    if (event.kind == EventKind::touch) {
      std::vector<Span>& of = spans[contact];
      each_once = each_once &&
                  episodes.emplace(event.episode, std::pair{contact, of.size()}).second;
      of.push_back({event.time});
    } else if (event.kind == EventKind::lift_off) {
      const auto found = episodes.find(event.episode);
      each_once = each_once && found != episodes.end();
      if (found == episodes.end()) return;
      const auto& [touched, number] = found->second;
      double& end = spans[touched][number].end;
      each_once = each_once && end == HUGE_VAL;
      end = event.time;
    }
  }
};

/// Until when two motions are the same [s].
double agreement(const Track& a, const Track& b) {
  const std::size_t count = std::min(a.places.size(), b.places.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < a.places[i].size(); ++k) {
      if (std::abs(a.places[i][k] - b.places[i][k]) > agrees) {
        return sampled * (static_cast<double>(i) - 1);
      }
    }
  }
  return sampled * static_cast<double>(count - 1);
}

/// Without flights and touches that are too short to be seen by both.
std::vector<Span> seen(const std::vector<Span>& all) {
  std::vector<Span> joined;
  for (const Span& span : all) {
    if (!joined.empty() && span.begin - joined.back().end < unseen) {
      joined.back().end = span.end;
    } else {
      joined.push_back(span);
    }
  }
  std::erase_if(joined, [](const Span& s) { return s.end - s.begin < unseen; });
  return joined;
}

/// The latest time up to `until` that is far from all events of both runs [s].
double quiet_time(const Spans& a, const Spans& b, double until) {
  for (bool again = true; again && until > 0;) {
    again = false;
    for (const Spans* spans : {&a, &b}) {
      for (const auto& [contact, of] : *spans) {
        for (const Span& s : of) {
          for (const double time : {s.begin, s.end}) {
            if (std::abs(time - until) >= 2 * unseen) continue;
            until = time - 3 * unseen;
            again = true;
          }
        }
      }
    }
  }
  return until;
}

/// How many touches and lift-offs a contact has until then.
std::pair<int, int> counted(const Spans& spans, const Contact& contact, double until) {
  const auto found = spans.find(contact);
  std::pair<int, int> count{0, 0};
  if (found == spans.end()) return count;
  for (const Span& s : seen(found->second)) {
    count.first += s.begin < until;
    count.second += s.end < until;
  }
  return count;
}

Model random_scene(unsigned seed, State& state) {
  Draw draw(seed);
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const int bodies = 1 + draw.below(3);
  std::vector<Flight> flights;
  double height = 0;
  for (int i = 0; i < bodies; ++i) {
    Flight f{.solid = draw.solid()};
    const double r = f.radius();
    const double mass = 1000 * r * r * r;
    f.p = {draw.between(-0.3, 0.3) * r, draw.between(-0.3, 0.3) * r,
           height + r * (1 + draw.log_between(1e-3, 0.3))};
    height = f.p.z + r;
    f.v = {draw.between(-1, 1), draw.between(-1, 1), draw.between(-2, 0)};
    f.w = draw.log_between(0.3, 30) * draw.direction();
    f.turn = draw.turn();
    flights.push_back(f);
    const std::string name = validation::numbered("body", i);
    validation::add_free(builder, name, mass, validation::ball_inertia(mass, 0.7 * r),
                         f.solid.shape);
  }
  ContactSpec rule;
  rule.normal = choose<GonthierNormal>();
  rule.from_pair = {.stiffness = true,
                    .restitution = draw.between(0.2, 0.95),
                    .impact_speed_floor = true,
                    .friction = draw.between(0, 0.8)};
  builder.add_contact(rule);
  const Model model = validation::built(builder);
  state = make_state(model);
  for (int i = 0; i < bodies; ++i) {
    const Flight& f = flights[static_cast<std::size_t>(i)];
    const std::string name = validation::numbered("body", i);
    validation::put(model, state, name, f.p, f.v, f.w);
    const auto at = static_cast<std::size_t>(validation::place_of(model, name).q);
    const double turn[] = {f.turn.w, f.turn.x, f.turn.y, f.turn.z};
    std::copy(std::begin(turn), std::end(turn), state.q.begin() + at + 3);
  }
  return model;
}

TEST(Events, OfRandomScenesAreThoseOfShortSteps) {
  const unsigned scenes = std::getenv("BRISTLE_SOAK") != nullptr ? 500 : 6;
  const char* text = std::getenv("BRISTLE_SEED");
  const auto first =
      text == nullptr ? 1u : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  int touches = 0, lifts = 0, wrong = 0;
  double compared = 0;
  for (unsigned seed = first; seed - first < scenes; ++seed) {
    State state;
    const Model model = random_scene(seed, state);
    State same = state;
    Track located, stepped;
    Adaptive adaptive(model, {.rtol = 1e-10});
    ASSERT_EQ(adaptive.advance_to(state, duration, located.observer()), StepStatus::ok)
        << "seed " << seed;
    FixedStep fixed(model, {.method = Method::runge_kutta_4, .step = step});
    ASSERT_EQ(fixed.advance_to(same, duration, stepped.observer()), StepStatus::ok)
        << "seed " << seed;
    // Steps that locate no events have none to compare.
    if (adaptive.counts().impulse_steps > 0) continue;
    EXPECT_TRUE(located.each_once) << "seed " << seed;
    const double until =
        quiet_time(located.spans, stepped.spans, agreement(located, stepped));
    compared += std::max(until, 0.0);
    Spans all = located.spans;
    all.insert(stepped.spans.begin(), stepped.spans.end());
    for (const auto& [contact, spans] : all) {
      const auto here = counted(located.spans, contact, until);
      const auto there = counted(stepped.spans, contact, until);
      touches += here.first;
      lifts += here.second;
      if (here == there) continue;
      ++wrong;
      ADD_FAILURE() << "seed " << seed << ", shapes " << std::get<0>(contact) << " and "
                    << std::get<1>(contact) << ", point " << std::get<2>(contact) << ": "
                    << here.first << " touches and " << here.second << " lift-offs, "
                    << there.first << " and " << there.second << " by short steps, until "
                    << until << " s";
    }
  }
  std::printf(
      "%u scenes, %.3g s compared: %d touches, %d lift-offs, %d contacts differ\n",
      scenes, compared, touches, lifts, wrong);
  EXPECT_GT(touches, static_cast<int>(scenes));
}

}  // namespace
}  // namespace bristle::meetings
