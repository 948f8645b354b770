#include "recording/reader.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>

#include "bristle/adaptive/adaptive.hpp"
#include "recording/hdf5.hpp"
#include "tests/recording/scenes.hpp"

namespace bristle::recording {
namespace {

/// Every law at work, with events and probes, into DIR/recording.log.
void record(const std::string& path, const Model& model, State state, double duration,
            bool finish = true) {
  Result<Recorder> recorder = Recorder::create(path, model,
                                               {.scene = "# a scene\n",
                                                .source = "x.toml",
                                                .probes = {{"one", "m"}, {"a/b", "N"}}});
  ASSERT_TRUE(recorder) << recorder.error();
  Adaptive clock(model, {.rtol = 1e-4});
  Audit audit;
  ASSERT_EQ(clock.settle(state), StepStatus::ok);
  StepObserver observer;
  observer.on_event = [&](const State&, const Event& event) {
    EXPECT_TRUE(recorder->event(event));
  };
  observer.sample_interval = 0.01;
  observer.on_sample = [&](const State& now) {
    audit.observe(make_ledger(clock.system(), now));
    const double probes[] = {now.time, -now.time};
    EXPECT_TRUE(recorder->sample({model, now, clock.system(), audit}, probes));
  };
  ASSERT_EQ(clock.advance_to(state, duration, observer), StepStatus::ok);
  EXPECT_TRUE(recorder->checkpoint(state));
  if (finish) {
    EXPECT_TRUE(recorder->finish({"ok", "{\"steps\": 7}"}));
  }
}

/// Both with the same bits; NaN is equal to itself.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void expect_equal(Reader& one, Reader& two) {
  ASSERT_EQ(one.size(), two.size());
  ASSERT_EQ(one.events().size(), two.events().size());
  for (std::size_t i = 0; i < one.events().size(); ++i) {
    const auto a = std::as_bytes(one.events().subspan(i, 1));
    const auto b = std::as_bytes(two.events().subspan(i, 1));
    EXPECT_TRUE(std::ranges::equal(a, b));
  }
  EXPECT_EQ(encode(one.header()), encode(two.header()));
  EXPECT_EQ(one.complete(), two.complete());
  EXPECT_EQ(one.end().status, two.end().status);
  EXPECT_EQ(one.end().summary, two.end().summary);
  EXPECT_EQ(one.note(), two.note());
  Sample a, b;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_TRUE(one.read(i, a)) << one.error();
    ASSERT_TRUE(two.read(i, b)) << two.error();
    EXPECT_EQ(a.time, b.time);
    EXPECT_TRUE(same_bits(a.bodies, b.bodies));
    EXPECT_TRUE(same_bits(a.q, b.q));
    EXPECT_TRUE(same_bits(a.v, b.v));
    EXPECT_TRUE(same_bits(a.ledger, b.ledger));
    EXPECT_TRUE(same_bits(a.probes, b.probes));
    EXPECT_TRUE(same_bits(a.contacts, b.contacts));
    EXPECT_TRUE(same_bits(a.memory, b.memory));
  }
}

TEST(Reader, TheHdf5FileHoldsTheSameBitsAsTheLog) {
  for (const auto& [model, state] :
       {std::pair(tumbling(), thrown(tumbling())), std::pair(arm(), make_state(arm()))}) {
    const Scratch scratch;
    record(scratch / "recording.log", model, state, 0.5);
    const Result<FoldReport> report =
        fold(scratch / "recording.log", scratch / "recording.h5");
    ASSERT_TRUE(report) << report.error();
    EXPECT_EQ(report->samples, 50u);
    EXPECT_TRUE(report->complete);
    EXPECT_FALSE(std::filesystem::exists(scratch / "recording.h5.part"));
    Result<Reader> log = Reader::open(scratch / "recording.log");
    Result<Reader> hdf5 = Reader::open(scratch / "recording.h5");
    ASSERT_TRUE(log) << log.error();
    ASSERT_TRUE(hdf5) << hdf5.error();
    expect_equal(*log, *hdf5);
    EXPECT_EQ(report->events, log->events().size());
    Result<Reader> folder = Reader::open(scratch.path());
    ASSERT_TRUE(folder) << folder.error();
    EXPECT_EQ(folder->path(), scratch / "recording.h5");
    // From the end to the beginning, too.
    Sample a, b;
    for (std::size_t i = log->size(); i-- > 0;) {
      ASSERT_TRUE(log->read(i, a) && hdf5->read(i, b));
      EXPECT_EQ(a.time, b.time);
    }
    EXPECT_FALSE(log->read(log->size(), a));
    EXPECT_NE(log->error().find("does not exist"), std::string::npos);
  }
}

TEST(Reader, SamplesSayWhatTheStateSays) {
  const Scratch scratch;
  const Model model = tumbling();
  State state = thrown(model);
  Result<Recorder> recorder = Recorder::create(scratch / "recording.log", model, {});
  ASSERT_TRUE(recorder);
  std::vector<State> states;
  std::vector<Ledger> ledgers;
  simulate(model, state,
           SimulateOptions{.clock = {.step = 2e-4}, .duration = 1, .observe_every = 0.01},
           [&](const Observation& now) {
             states.push_back(now.state);
             ledgers.push_back(now.audit.last());
             return recorder->sample(now);
           });
  ASSERT_TRUE(recorder->flush());
  Result<Reader> reader = Reader::open(scratch.path());
  ASSERT_TRUE(reader) << reader.error();
  ASSERT_EQ(reader->size(), states.size());
  EXPECT_FALSE(reader->complete());
  Sample sample;
  Quaternion<double> last = Quaternion<double>::identity();
  std::array<int, 3> seen{};
  for (std::size_t i = 0; i < states.size(); ++i) {
    ASSERT_TRUE(reader->read(i, sample));
    const State& now = states[i];
    EXPECT_EQ(sample.time, now.time);
    EXPECT_EQ(sample.q, now.q);
    EXPECT_EQ(sample.v, now.v);
    EXPECT_EQ(sample.ledger[0], ledgers[i].kinetic);
    EXPECT_EQ(sample.ledger[8], ledgers[i].works.normal.damping);
    EXPECT_EQ(sample.ledger[sample.ledger.size() - 4], ledgers[i].energy());
    // A free body stands where its positions say.
    for (std::size_t b = 0; b < sample.bodies.size(); ++b) {
      const validation::FreePlace place =
          validation::place_of(model, reader->header().bodies[b]);
      EXPECT_NEAR(sample.bodies[b].position.z, now.q[place.q + 2], 1e-15);
      EXPECT_NEAR(sample.bodies[b].velocity.x, now.v[place.v + 3], 1e-15);
      EXPECT_NEAR(sample.bodies[b].angular_velocity.y, now.v[place.v + 1], 1e-14);
      const Quaternion<double> q = load_quaternion(now.q.data() + place.q + 3);
      const Quaternion<double>& r = sample.bodies[b].quaternion;
      EXPECT_NEAR(std::fabs(q.w * r.w + q.x * r.x + q.y * r.y + q.z * r.z), 1, 1e-12);
    }
    const Quaternion<double>& r = sample.bodies[0].quaternion;
    EXPECT_GT(r.w * last.w + r.x * last.x + r.y * last.y + r.z * last.z, 0);
    last = r;
    for (const ContactSample& contact : sample.contacts) {
      ++seen[static_cast<std::size_t>(contact.state)];
      EXPECT_NEAR(norm(contact.normal), 1, 1e-12);
      EXPECT_NEAR(dot(contact.friction, contact.normal), 0, 1e-9);
      EXPECT_NEAR(norm(contact.slip_world), norm(contact.slip), 1e-12);
      // To the tolerance that the steps are solved to.
      EXPECT_LE(norm(contact.friction), 0.6 * contact.normal_force * (1 + 1e-8));
      EXPECT_LT(contact.a, contact.b);
      EXPECT_NE(shape_name(reader->header(), contact.b), "ground");
    }
  }
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
  EXPECT_GT(seen[2], 0);
}

TEST(Reader, AnUnfinishedRunIsReadable) {
  const Scratch scratch;
  const Model model = tumbling();
  record(scratch / "recording.log", model, thrown(model), 0.3, false);
  std::filesystem::resize_file(scratch / "recording.log",
                               std::filesystem::file_size(scratch / "recording.log") - 5);
  Result<Reader> reader = Reader::open(scratch.path());
  ASSERT_TRUE(reader) << reader.error();
  EXPECT_EQ(reader->size(), 30u);
  EXPECT_FALSE(reader->complete());
  EXPECT_NE(reader->note().find("ends within a record"), std::string::npos);
  const Result<FoldReport> report =
      fold(scratch / "recording.log", scratch / "recording.h5");
  ASSERT_TRUE(report) << report.error();
  EXPECT_FALSE(report->complete);
  Result<Reader> hdf5 = Reader::open(scratch / "recording.h5");
  ASSERT_TRUE(hdf5) << hdf5.error();
  expect_equal(*reader, *hdf5);
}

TEST(Reader, SaysWhatItCannotRead) {
  const Scratch scratch;
  const auto message = [](const std::string& path) {
    const Result<Reader> reader = Reader::open(path);
    EXPECT_FALSE(reader);
    return reader ? std::string() : reader.error();
  };
  EXPECT_NE(message(scratch / "nothing").find("no such file"), std::string::npos);
  EXPECT_NE(message(scratch.path()).find("holds no recording"), std::string::npos);
  std::ofstream(scratch / "text.txt") << "hello";
  EXPECT_NE(message(scratch / "text.txt").find("HDF5"), std::string::npos);
  const hid_t other =
      H5Fcreate((scratch / "other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  EXPECT_NE(message(scratch / "other.h5").find("not a recording"), std::string::npos);
  EXPECT_FALSE(fold(scratch / "text.txt", scratch / "out.h5"));
  const Model model = tumbling();
  record(scratch / "recording.log", model, thrown(model), 0.05);
  const Result<FoldReport> nowhere =
      fold(scratch / "recording.log", scratch / "no/such/file.h5");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().find("No such file"), std::string::npos) << nowhere.error();
}

/// In a child, because the limit and the signal are those of a process.
TEST(Reader, AFullDiskLeavesNoHalfFile) {
  const Scratch scratch;
  const Model model = tumbling();
  record(scratch / "recording.log", model, thrown(model), 1);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{40000, 40000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const Result<FoldReport> report =
        fold(scratch / "recording.log", scratch / "recording.h5");
    if (report) ::_exit(1);
    if (report.error().find("File too large") == std::string::npos) ::_exit(2);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(std::filesystem::exists(scratch / "recording.h5"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "recording.h5.part"));
}

/// Without our own reader: what another program finds in the file.
// With tens of thousands of datasets the library would fill a cache of 32 MB as files
// count them: half a gigabyte.
TEST(Hdf5, LittleIsCachedOfAFileThatIsRead) {
  const Scratch scratch;
  const Model model = tumbling();
  record(scratch / "recording.log", model, thrown(model), 0.3);
  ASSERT_TRUE(fold(scratch / "recording.log", scratch / "recording.h5"));
  const Result<Hdf5Source> source = Hdf5Source::open(scratch / "recording.h5");
  ASSERT_TRUE(source) << source.error();
  hid_t file = -1;
  ASSERT_EQ(H5Fget_obj_ids(H5F_OBJ_ALL, H5F_OBJ_FILE, 1, &file), 1);
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  ASSERT_GE(H5Fget_mdc_config(file, &config), 0);
  EXPECT_LE(config.max_size, std::size_t{4} << 20);
}

TEST(Hdf5, LayoutAndUnits) {
  const Scratch scratch;
  const Model model = tumbling();
  record(scratch / "recording.log", model, thrown(model), 0.3);
  ASSERT_TRUE(fold(scratch / "recording.log", scratch / "recording.h5"));
  Result<Reader> log = Reader::open(scratch / "recording.log");
  ASSERT_TRUE(log);
  const hid_t file =
      H5Fopen((scratch / "recording.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto doubles = [&](const char* path, const std::vector<hsize_t>& expected,
                           const std::string& unit) {
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    EXPECT_GE(dataset, 0) << path;
    const hid_t space = H5Dget_space(dataset);
    std::vector<hsize_t> sizes(
        static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    EXPECT_EQ(sizes, expected) << path;
    std::vector<double> numbers(
        static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
    const hid_t attribute = H5Aopen(dataset, "unit", H5P_DEFAULT);
    EXPECT_GE(attribute, 0) << path;
    const hid_t type = H5Aget_type(attribute);
    std::string text(H5Tget_size(type), '\0');
    H5Aread(attribute, type, text.data());
    EXPECT_EQ(text, unit) << path;
    H5Tclose(type);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Dclose(dataset);
    return numbers;
  };
  Sample sample;
  ASSERT_TRUE(log->read(7, sample));
  EXPECT_EQ(doubles("/time", {30}, "s")[7], sample.time);
  const auto position = doubles("/bodies/box/position", {30, 3}, "m");
  EXPECT_EQ(position[23], sample.bodies[1].position.z);
  const auto quaternion = doubles("/bodies/rod/quaternion", {30, 4}, "1");
  EXPECT_EQ(quaternion[28], sample.bodies[2].quaternion.w);
  EXPECT_EQ(doubles("/joints/ball moves/q", {30, 7}, "m, m, m, 1, 1, 1, 1")[49],
            sample.q[0]);
  EXPECT_EQ(doubles("/ledger/kinetic", {30}, "J")[7], sample.ledger[0]);
  EXPECT_EQ(doubles("/probes/a%2Fb", {30}, "N")[7], sample.probes[1]);
  H5Fclose(file);
}

}  // namespace
}  // namespace bristle::recording
