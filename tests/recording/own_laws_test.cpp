#include "tests/contact/own_laws.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "recording/reader.hpp"
#include "tests/recording/scenes.hpp"

// Recordings under laws that one program registers and another does not, or in another
// order. Each program is a child process: a law cannot be taken back.

namespace bristle::recording {
namespace {

/// What work() returns in a child process; its exit status must be 0.
template <class T, class Work>
T in_child(const Work& work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const T value = work();
    const bool sent = ::write(ends[1], &value, sizeof value) == sizeof value;
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  T value{};
  EXPECT_EQ(::read(ends[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
  ::close(ends[0]);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return value;
}

template <class... Laws>
void register_all() {
  if (!(register_law<Laws>() && ...)) std::abort();
}

Model ball_under(const LawChoice& normal) {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = normal});
  return built(builder);
}

TEST(OwnLaws, AFingerprintNamesTheLawAndNotItsIndex) {
  const auto first = in_child<Fingerprint>([] {
    register_all<own::Spring, own::OtherSpring>();
    return fingerprint(ball_under(choose<own::Spring>()));
  });
  const auto second = in_child<Fingerprint>([] {
    register_all<own::OtherSpring, own::Spring>();
    return fingerprint(ball_under(choose<own::Spring>()));
  });
  const auto other = in_child<Fingerprint>([] {
    register_all<own::OtherSpring>();  // at the index that Spring has in the first
    return fingerprint(ball_under(choose<own::OtherSpring>()));
  });
  EXPECT_EQ(first.layout, second.layout);
  EXPECT_EQ(first.whole, second.whole);
  EXPECT_NE(first.layout, other.layout);
}

TEST(OwnLaws, ARecordingUnderAnUnknownLawIsReadButNotResumed) {
  const Scratch scratch;
  const std::string path = scratch / "own.log";
  const bool recorded = in_child<bool>([&path] {
    register_all<own::Spring>();
    const Model model = ball_under(choose<own::Spring>());
    State state = make_state(model);
    state.q[2] = 0.1;
    Result<Recorder> recorder = Recorder::create(path, model, {});
    if (!recorder) return false;
    simulate(model, state, SimulateOptions{.clock = {}, .duration = 0.1},
             [&](const Observation& now) { return recorder->sample(now); });
    return recorder->checkpoint(state);
  });
  ASSERT_TRUE(recorded);
  const Model model = ball_under(choose<HuntCrossley>());
  const Result<Recorder> resumed = Recorder::resume(path, model, 0.1);
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error(), path +
                                 ": was made with the law \"own-spring\", which this "
                                 "program has not registered");
  const Result<Checkpoint> last = last_checkpoint(path);
  ASSERT_TRUE(last) << last.error();
  EXPECT_FALSE(deserialise(last->state, model));
  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error();
  EXPECT_EQ(reader->header().laws.at(0).normal.name, "own-spring");
}

}  // namespace
}  // namespace bristle::recording
