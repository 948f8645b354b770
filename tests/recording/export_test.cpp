#include "recording/export.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "bristle/adaptive/adaptive.hpp"
#include "tests/recording/scenes.hpp"

// What the exports refuse, and events. files_test.py reads what they write.

namespace bristle::recording {
namespace {

TEST(Frames, AreChosenByIntervalAndNumber) {
  std::vector<double> times;
  for (int i = 0; i <= 100; ++i) times.push_back(0.01 * i);
  EXPECT_EQ(choose_frames(times, {.interval = 0}).size(), 101u);
  const auto tenth = choose_frames(times, {.interval = 0.1});
  ASSERT_EQ(tenth.size(), 11u);
  for (std::size_t k = 0; k < tenth.size(); ++k) EXPECT_EQ(tenth[k], 10 * k);
  EXPECT_LE(choose_frames(times, {.interval = 0, .most = 7}).size(), 7u);
  EXPECT_EQ(choose_frames(times, {.interval = 1e9}).size(), 1u);
  EXPECT_TRUE(choose_frames({}, {}).empty());
}

class Exports : public ::testing::Test {
 protected:
  Reader recorded(int samples) {
    const Model model = tumbling();
    State state = thrown(model);
    Result<Recorder> recorder =
        Recorder::create(scratch_ / "recording.log", model, {.source = "x"});
    EXPECT_TRUE(recorder);
    int count = 0;
    if (samples > 0) {
      simulate(model, state,
               SimulateOptions{.clock = {}, .duration = 1, .observe_every = 0.01},
               [&](const Observation& now) {
                 recorder->sample(now);
                 return ++count < samples;
               });
    }
    EXPECT_TRUE(recorder->flush());
    Result<Reader> reader = Reader::open(scratch_.path());
    EXPECT_TRUE(reader) << reader.error();
    return std::move(*reader);
  }
  Scratch scratch_;
};

TEST_F(Exports, NothingRecordedIsSaid) {
  Reader reader = recorded(0);
  const Result<ExportReport> gltf = export_gltf(reader, scratch_ / "x.glb");
  ASSERT_FALSE(gltf);
  EXPECT_NE(gltf.error().find("holds no sample"), std::string::npos) << gltf.error();
  EXPECT_FALSE(export_vtk(reader, scratch_ / "vtk"));
  EXPECT_TRUE(export_csv(reader, scratch_ / "csv"));  // tables with a head only
}

TEST_F(Exports, OneSampleIsEnough) {
  Reader reader = recorded(1);
  EXPECT_TRUE(export_gltf(reader, scratch_ / "x.glb"));
  EXPECT_TRUE(export_vtk(reader, scratch_ / "vtk"));
  const Result<ExportReport> csv = export_csv(reader, scratch_ / "csv");
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->frames, 1u);
  EXPECT_EQ(csv->file_count, 5u);  // no probes
}

TEST_F(Exports, WhereNothingCanBeWrittenIsSaid) {
  Reader reader = recorded(3);
  std::ofstream(scratch_ / "file") << "in the way";
  for (const auto& result :
       {export_csv(reader, scratch_ / "file/csv"),
        export_vtk(reader, scratch_ / "file/v"),
        export_gltf(reader, scratch_ / "file/x.glb"),
        export_gltf(reader, scratch_ / "none/x.glb"), export_gltf(reader, "/dev/full")}) {
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().find("cannot be"), std::string::npos) << result.error();
  }
}

TEST_F(Exports, TablesReadBackAsTheSameBits) {
  Reader reader = recorded(30);
  ASSERT_TRUE(export_csv(reader, scratch_ / "csv"));
  std::ifstream file(scratch_ / "csv/bodies.csv");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line.substr(0, 30), "time [s],ball.position_x [m],b");
  Sample sample;
  for (std::size_t i = 0; i < reader.size(); ++i) {
    ASSERT_TRUE(std::getline(file, line));
    ASSERT_TRUE(reader.read(i, sample));
    std::istringstream cells(line);
    std::string cell;
    std::vector<double> numbers;
    while (std::getline(cells, cell, ',')) numbers.push_back(std::stod(cell));
    ASSERT_EQ(numbers.size(), 1 + 13 * sample.bodies.size());
    EXPECT_EQ(numbers[0], sample.time);
    EXPECT_EQ(numbers[1], sample.bodies[0].position.x);
    EXPECT_EQ(numbers.back(), sample.bodies.back().angular_velocity.z);
  }
}

TEST(Events, SayWhatTouchedAndHowFast) {
  const Scratch scratch;
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}});
  add_free(builder, "ball", 1, ball_inertia(1, 0.1), Sphere{0.1});
  builder.add_contact({.normal = choose<GonthierNormal>({.stiffness = 1e6,
                                                         .exponent = 1.5,
                                                         .restitution = 0.5,
                                                         .impact_speed_floor = 1e-3}),
                       .friction = choose<Frictionless>()});
  const Model model = built(builder);
  State state = make_state(model);
  put(model, state, "ball", {0, 0, 0.6});
  Result<Recorder> recorder = Recorder::create(scratch / "recording.log", model, {});
  ASSERT_TRUE(recorder);
  Adaptive clock(model, {.rtol = 1e-9});
  StepObserver observer;
  observer.on_event = [&](const State&, const Event& event) {
    EXPECT_TRUE(recorder->event(event));
  };
  ASSERT_EQ(clock.advance_to(state, 0.7, observer), StepStatus::ok);
  ASSERT_TRUE(recorder->finish({"ok", "{}"}));
  Result<Reader> reader = Reader::open(scratch.path());
  ASSERT_TRUE(reader) << reader.error();
  std::vector<EventSample> touches, leaves;
  for (const EventSample& event : reader->events()) {
    EXPECT_EQ(shape_name(reader->header(), event.a), "ground");
    EXPECT_EQ(shape_name(reader->header(), event.b), "ball");
    EXPECT_EQ(body_name(reader->header(), event.a), "world");
    EXPECT_EQ(event.dof, -1);
    if (event.kind == RecordedEvent::touch) touches.push_back(event);
    if (event.kind == RecordedEvent::lift_off) leaves.push_back(event);
  }
  ASSERT_GE(touches.size(), 2u);
  ASSERT_GE(leaves.size(), 1u);
  const double speed = std::sqrt(2 * 9.81 * 0.5);  // of a fall by 0.5 m
  EXPECT_NEAR(touches[0].speed, speed, 1e-9);
  EXPECT_NEAR(touches[0].time, speed / 9.81, 1e-9);
  // Gravity acts meanwhile.
  const double lost = 9.81 * (leaves[0].time - touches[0].time);
  EXPECT_LT(leaves[0].speed, 0.5 * speed);
  EXPECT_GT(leaves[0].speed, 0.5 * speed - lost);
  EXPECT_NEAR(touches[1].speed, leaves[0].speed, 1e-8);
  EXPECT_EQ(touches[0].episode, 1u);
  EXPECT_EQ(touches[1].episode, 2u);
}

}  // namespace
}  // namespace bristle::recording
