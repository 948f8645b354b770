#include "recording/log.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <random>

#include "recording/crc32c.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/recording/scenes.hpp"

namespace bristle::recording {
namespace {

Bytes contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A short run with an event and a checkpoint.
void record(const std::string& path, double duration, const LogOptions& options = {}) {
  const Model model = tumbling();
  State state = thrown(model);
  Result<Recorder> recorder = Recorder::create(
      path, model, {.scene = "a = 1\n", .source = "drop.toml", .probes = {{"p", "N"}}},
      {.log = options});
  ASSERT_TRUE(recorder) << recorder.error();
  double probe = 0;
  simulate(model, state,
           SimulateOptions{.clock = {}, .duration = duration, .observe_every = 0.01},
           [&](const Observation& now) {
             probe += 1;
             return recorder->sample(now, std::span(&probe, 1));
           });
  EXPECT_TRUE(recorder->event({EventKind::touch, state.time, state.contacts.key[0]}));
  EXPECT_TRUE(recorder->checkpoint(state));
  EXPECT_TRUE(recorder->finish({"ok", "{}"}));
}

struct Content {
  std::size_t samples = 0, events = 0, checkpoints = 0;
  bool header = false, end = false;
  LogEnd how = LogEnd::open;
  std::uint64_t good = 0;
};

Content walk(LogReader& reader) {
  Content content;
  Header header;
  Sample sample;
  while (const std::optional<Frame> frame = reader.next()) {
    switch (frame->type) {
      case RecordType::header: {
        Result<Header> found = decode_header(frame->payload);
        EXPECT_TRUE(found) << found.error();
        if (found) header = *found;
        content.header = true;
        break;
      }
      case RecordType::sample:
        EXPECT_TRUE(decode_sample(header, frame->payload, sample));
        ++content.samples;
        break;
      case RecordType::event:
        ++content.events;
        break;
      case RecordType::checkpoint:
        ++content.checkpoints;
        break;
      case RecordType::end:
        content.end = true;
        break;
    }
  }
  content.how = reader.end();
  content.good = reader.offset();
  return content;
}

TEST(Crc32c, KnownValues) {
  const auto of = [](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    EXPECT_EQ(crc32c(bytes), detail::crc32c_by_table(bytes));
    return crc32c(bytes);
  };
  EXPECT_EQ(of("123456789"), 0xe3069283u);  // RFC 3720, B.4, and the usual check value
  EXPECT_EQ(of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(of(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Log, WhatIsWrittenIsRead) {
  const Scratch scratch;
  record(scratch / "recording.log", 0.1);
  Result<LogReader> reader = LogReader::open(scratch / "recording.log");
  ASSERT_TRUE(reader) << reader.error();
  const Content content = walk(*reader);
  EXPECT_TRUE(content.header && content.end);
  EXPECT_EQ(content.samples, 11u);
  EXPECT_EQ(content.events, 1u);
  EXPECT_EQ(content.checkpoints, 1u);
  EXPECT_EQ(content.how, LogEnd::whole);
  EXPECT_EQ(reader->how_it_ended(), "");
}

TEST(Log, EveryPrefixIsReadable) {
  const Scratch scratch;
  record(scratch / "recording.log", 0.03);
  const Bytes bytes = contents(scratch / "recording.log");
  std::uint64_t good = 0;
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    // A copy of its own, so that a sanitizer sees a read beyond the end.
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<long>(length));
    Result<LogReader> reader = LogReader::over(prefix);
    if (length < 8) {
      EXPECT_FALSE(reader);
      continue;
    }
    ASSERT_TRUE(reader);
    const Content content = walk(*reader);
    EXPECT_GE(content.good, good);
    EXPECT_LE(content.good, length);
    good = content.good;
    EXPECT_EQ(content.how == LogEnd::whole, content.good == length);
    if (content.how != LogEnd::whole) {
      EXPECT_NE(reader->how_it_ended().find(std::to_string(length)), std::string::npos);
    }
  }
  EXPECT_EQ(good, bytes.size());
}

TEST(Log, DamageEndsIt) {
  const Scratch scratch;
  record(scratch / "recording.log", 0.03);
  const Bytes bytes = contents(scratch / "recording.log");
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    Bytes wrong = bytes;
    const std::size_t at = 8 + random() % (bytes.size() - 8);
    wrong[at] ^= static_cast<std::byte>(1 + random() % 255);
    Result<LogReader> reader = LogReader::over(wrong);
    ASSERT_TRUE(reader);
    const Content content = walk(*reader);
    EXPECT_NE(content.how, LogEnd::whole);
    EXPECT_LE(content.good, at);
  }
}

TEST(Log, OtherFilesAreRefused) {
  const Scratch scratch;
  EXPECT_NE(LogReader::open(scratch / "none").error().find("no such file"),
            std::string::npos);
  EXPECT_NE(LogReader::open(scratch.path()).error().find("not a"), std::string::npos);
  std::ofstream(scratch / "text") << "hello, world";
  EXPECT_NE(LogReader::open(scratch / "text").error().find("not a log"),
            std::string::npos);
  std::ofstream(scratch / "empty") << "";
  EXPECT_FALSE(LogReader::open(scratch / "empty"));
  const Result<LogWriter> nowhere = LogWriter::create(scratch / "no/such/log", {});
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().find("No such file"), std::string::npos);
}

/// The child records until it is killed; the parent reads what is left.
TEST(Log, WhatWasFlushedSurvivesAKill) {
  const Scratch scratch;
  std::mt19937 random(11);
  std::size_t most = 0;
  // What the child has handed over so far, seen from here.
  void* shared = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* handed_over = new (shared) std::atomic<std::uint64_t>(0);
  for (int round = 0; round < 12; ++round) {
    const std::string path = scratch / "recording.log";
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    handed_over->store(0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Model model = tumbling();
      State state = thrown(model);
      Result<Recorder> recorder = Recorder::create(
          path, model, {}, {.log = {.flush_records = 8, .flush_interval = 0.01}});
      if (!recorder) ::_exit(1);
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) {
        simulate(model, state,
                 SimulateOptions{.clock = {}, .duration = 1, .observe_every = 0.001},
                 [&](const Observation& now) {
                   recorder->sample(now);
                   handed_over->store(recorder->bytes());
                   if (recorder->samples() % 50 == 0) recorder->checkpoint(now.state);
                   return true;
                 });
      }
    }
    char x = 0;
    ASSERT_EQ(::read(ready[0], &x, 1), 1);
    ::usleep(static_cast<useconds_t>(random() % 40000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    ASSERT_TRUE(WIFSIGNALED(status));
    Result<LogReader> reader = LogReader::open(path);
    ASSERT_TRUE(reader) << reader.error();
    const Content content = walk(*reader);
    EXPECT_TRUE(content.header);
    EXPECT_FALSE(content.end);
    EXPECT_NE(content.how, LogEnd::damaged);
    EXPECT_GE(content.good, handed_over->load());
    most = std::max(most, content.samples);
    if (content.checkpoints == 0) continue;
    const Result<Checkpoint> last = last_checkpoint(path);
    ASSERT_TRUE(last) << last.error();
    const Result<State> state = deserialise(last->state, tumbling());
    ASSERT_TRUE(state) << state.error();
    EXPECT_EQ(state->time, last->time);
  }
  EXPECT_GT(most, 0u);
  ::munmap(shared, sizeof(std::uint64_t));
}

/// In a child, because the limit and the signal are those of a process.
TEST(Log, AFullDiskIsReportedAndTheLogStaysWhole) {
  for (const rlim_t limit : {20000u, 33333u, 100001u}) {
    const Scratch scratch;
    const std::string path = scratch / "recording.log";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit small{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &small);
      const Model model = tumbling();
      State state = thrown(model);
      Result<Recorder> recorder =
          Recorder::create(path, model, {}, {.log = {.flush_bytes = 7000}});
      if (!recorder) ::_exit(1);
      const RunSummary summary =
          simulate(model, state,
                   SimulateOptions{.clock = {}, .duration = 2, .observe_every = 0.001},
                   [&](const Observation& now) { return recorder->sample(now); });
      if (summary.simulated > 1.9) ::_exit(2);
      if (recorder->error().find("File too large") == std::string::npos) ::_exit(3);
      if (recorder->checkpoint(state) || recorder->finish({"ok", "{}"})) ::_exit(4);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    Result<LogReader> reader = LogReader::open(path);
    ASSERT_TRUE(reader) << reader.error();
    const Content content = walk(*reader);
    EXPECT_EQ(content.how, LogEnd::whole);  // the partial frame was cut off
    EXPECT_GT(content.samples, 5u);
    EXPECT_GT(content.good, limit - 3000);
  }
}

TEST(Log, ADeviceThatTakesNothing) {
  const Result<LogWriter> full = LogWriter::create("/dev/full", {});
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().find("No space left"), std::string::npos) << full.error();
}

TEST(Log, SamplesDoNotAllocate) {
  const Scratch scratch;
  const Model model = tumbling();
  State state = thrown(model);
  Result<Recorder> recorder =
      Recorder::create(scratch / "recording.log", model, {.probes = {{"p", "1"}}});
  ASSERT_TRUE(recorder);
  const double probe = 3;
  long during = 0;
  simulate(
      model, state, SimulateOptions{.clock = {}, .duration = 1, .observe_every = 0.001},
      [&](const Observation& now) {
        const contract::AllocationCount count;
        bool fine = recorder->sample(now, std::span(&probe, 1));
        fine = fine &&
               recorder->event({EventKind::touch, state.time, state.contacts.key[0]});
        during += count.since();
        return fine;
      });
  EXPECT_EQ(during, 0);
  EXPECT_EQ(recorder->samples(), 1001u);
}

TEST(Log, ARunIsResumedFromItsCheckpoint) {
  const Scratch scratch;
  const Model model = tumbling();
  const auto observe = [](Recorder& recorder) {
    return [&recorder](const Observation& now) { return recorder.sample(now); };
  };
  const SimulateOptions half{.clock = {}, .duration = 0.3, .observe_every = 0.01};
  {
    State state = thrown(model);
    Result<Recorder> recorder = Recorder::create(scratch / "whole.log", model, {});
    ASSERT_TRUE(recorder);
    simulate(model, state, half, observe(*recorder));
    recorder->checkpoint(state);
    simulate(model, state, half, [&](const Observation& now) {
      return now.state.time < 0.3005 || recorder->sample(now);
    });
  }
  std::filesystem::copy_file(scratch / "whole.log", scratch / "resumed.log");
  {
    const Result<Checkpoint> last = last_checkpoint(scratch / "resumed.log");
    ASSERT_TRUE(last) << last.error();
    Result<State> state = deserialise(last->state, model);
    ASSERT_TRUE(state) << state.error();
    Result<Recorder> recorder =
        Recorder::resume(scratch / "resumed.log", model, last->time);
    ASSERT_TRUE(recorder) << recorder.error();
    EXPECT_EQ(recorder->samples(), 31u);
    simulate(model, *state, half, observe(*recorder));
  }
  EXPECT_EQ(contents(scratch / "whole.log"), contents(scratch / "resumed.log"));
  EXPECT_FALSE(Recorder::resume(scratch / "resumed.log", arm(), 1));
}

TEST(Header, SurvivesBitByBit) {
  const Model model = every_law();
  const Header header =
      make_header(model, {.scene = "text", .source = "x.toml", .probes = {{"a", "m"}}});
  const Bytes bytes = encode(header);
  const Result<Header> again = decode_header(bytes);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(encode(*again), bytes);
  EXPECT_EQ(again->laws, header.laws);
  EXPECT_EQ(again->ledger.size(), 8 + work_lines + 4);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(decode_header(std::span(bytes).first(length))) << length;
  }
}

/// The header with its looks, as version 2 has them.
Header seen() {
  const Model model = every_law();
  RunInfo run{.scene = "text", .source = "x.toml", .probes = {{"a", "m"}}};
  run.looks.assign(model.shapes.size(), {});
  run.looks[0] = {.drawn = false, .rgba = std::array{1.0F, 0.5F, 0.0F, 1.0F}};
  ShapeInfo visual = shape_info("lamp", 0, {}, Sphere{0.1});
  visual.look.rgba = std::array{0.0F, 1.0F, 0.0F, 0.25F};
  run.visuals.push_back(visual);
  visual.kind = ShapeKind::mesh;
  visual.numbers.clear();
  visual.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  visual.triangles = {{0, 1, 2}};
  run.visuals.push_back(visual);
  return make_header(model, std::move(run));
}

TEST(Header, HoldsHowThingsLook) {
  const Header header = seen();
  const Result<Header> again = decode_header(encode(header));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(encode(*again), encode(header));
  EXPECT_FALSE(again->shapes[0].look.drawn);
  EXPECT_EQ(again->shapes[0].look.rgba, (std::array{1.0F, 0.5F, 0.0F, 1.0F}));
  EXPECT_TRUE(again->shapes[1].look.drawn);
  EXPECT_FALSE(again->shapes[1].look.rgba);
  ASSERT_EQ(again->visuals.size(), 2u);
  EXPECT_EQ(again->visuals[0].kind, ShapeKind::sphere);
  EXPECT_EQ(again->visuals[1].triangles.size(), 1u);
  EXPECT_EQ(again->visuals[1].look.rgba, (std::array{0.0F, 1.0F, 0.0F, 0.25F}));
  EXPECT_TRUE(again->run.visuals.empty());
  const Bytes bytes = encode(header);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(decode_header(std::span(bytes).first(length))) << length;
  }
}

TEST(Header, LeavesOutVisualsThatAreTooMany) {
  const Model model = every_law();
  RunInfo run{.scene = "", .source = "", .probes = {}};
  ShapeInfo visual;
  visual.body = 0;
  visual.kind = ShapeKind::mesh;
  visual.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  visual.triangles.assign(most_visual_triangles / 2, {0, 1, 2});
  run.visuals.assign(3, visual);
  EXPECT_EQ(make_header(model, std::move(run)).visuals.size(), 2u);
}

TEST(Header, VersionOneIsReadAndLaterOnesAreRefused) {
  const Model model = tumbling();
  const Header header =
      make_header(model, {.scene = "text", .source = "x.toml", .probes = {}});
  ASSERT_TRUE(header.visuals.empty());
  ASSERT_EQ(header.patch_numbers, 0);
  Bytes bytes = encode(header);
  // Version 1 ended before the number of a patch, the tree, anchors and looks.
  bytes.resize(bytes.size() -
               (4 + 4 + 36 * header.tree.size() + 4 + 28 * header.anchors.size() +
                20 * header.shapes.size() + 4));
  bytes[0] = std::byte{1};
  const Result<Header> old = decode_header(bytes);
  ASSERT_TRUE(old) << old.error();
  EXPECT_EQ(old->shapes.size(), header.shapes.size());
  EXPECT_EQ(old->bodies, header.bodies);
  EXPECT_TRUE(old->tree.empty());
  EXPECT_EQ(old->ledger, header.ledger);
  bytes[0] = std::byte{3};
  const Result<Header> later = decode_header(bytes);
  ASSERT_FALSE(later);
  EXPECT_EQ(
      later.error(),
      "was written in version 3 of the format; this program reads versions up to 2");
}

TEST(Header, KnowsTheTree) {
  const Model model = arm();
  const Header header = make_header(model, {.scene = "", .source = "", .probes = {}});
  ASSERT_EQ(header.tree.size(), header.bodies.size());
  double mass = 0;
  for (const BodyInfo& body : header.tree) mass += body.mass;
  double all = 0;
  for (const LinkConstants<double>& link : model.tree.constants())
    all += link.inertia.mass;
  EXPECT_NEAR(mass, all, 1e-12 * all);
  // A body that hangs from itself is refused.
  Header wrong = header;
  wrong.tree.back().parent = static_cast<int>(wrong.tree.size()) - 1;
  EXPECT_FALSE(decode_header(encode(wrong)));
  wrong = header;
  wrong.anchors.push_back({static_cast<int>(header.bodies.size()), {0, 0, 0}});
  EXPECT_FALSE(decode_header(encode(wrong)));
}

}  // namespace
}  // namespace bristle::recording
