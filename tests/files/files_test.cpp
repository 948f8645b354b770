#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "files/file_out.hpp"
#include "files/guarded.hpp"
#include "files/output_folder.hpp"
#include "files/read_file.hpp"

namespace bristle::files {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "files-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~Files() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string at(const char* name) const { return (folder_ / name).string(); }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static std::string content(const std::string& path) {
    const auto text = read_file(path, 1000);
    return text ? *text : "error: " + text.error();
  }

  fs::path folder_;
};

TEST_F(Files, OnlyRegularFilesOfABoundedSizeAreRead) {
  put(at("file"), "12345");
  EXPECT_EQ(*read_file(at("file"), 5), "12345");
  EXPECT_FALSE(read_file(at("file"), 4));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {at("pipe"), at(""), at("none"), std::string("/dev/zero")}) {
    EXPECT_FALSE(read_file(path, 1000)) << path;
    EXPECT_TRUE(unreadable(path)) << path;
  }
  EXPECT_FALSE(unreadable(at("file")));
  // Whose size the system does not tell.
  EXPECT_NE(read_file("/proc/self/status", 100000)->find("Pid:"), std::string::npos);
  EXPECT_FALSE(read_file("/proc/self/status", 10));
  EXPECT_FALSE(read_file("/proc/self/mem", 1000));  // nothing is at address 0
}

TEST_F(Files, AFileAppearsWhenItIsWhole) {
  put(at("file"), "old");
  {
    FileOut file(at("file"));
    file.write("new");
    EXPECT_EQ(content(at("file")), "old");
    EXPECT_FALSE(file.close());
  }
  EXPECT_EQ(content(at("file")), "new");
  {
    FileOut(at("file")).write("given up");
  }
  EXPECT_EQ(content(at("file")), "new");
  EXPECT_FALSE(fs::exists(at("file.part")));
}

TEST_F(Files, LinksAreReplacedAndNeverFollowed) {
  put(at("precious"), "precious");
  fs::create_symlink(at("precious"), at("file"));
  fs::create_symlink(at("precious"), at("file.part"));
  EXPECT_FALSE(write_file("new", at("file")));
  EXPECT_EQ(content(at("file")), "new");
  EXPECT_EQ(content(at("precious")), "precious");
  EXPECT_FALSE(fs::is_symlink(at("file")));
}

TEST_F(Files, ADeviceStaysWhatItIs) {
  EXPECT_TRUE(write_file(std::string(1 << 20, 'x'), "/dev/full"));
  EXPECT_FALSE(write_file("x", "/dev/null"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, AFolderHasOneWriter) {
  {
    const auto first = OutputFolder::take(at("out/deep"));
    ASSERT_TRUE(first) << first.error();
    EXPECT_EQ(first->taken_over_from(), 0);
    const auto second = OutputFolder::take(at("out/deep"));
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().find("process " + std::to_string(::getpid())),
              std::string::npos)
        << second.error();
  }
  EXPECT_FALSE(fs::exists(at("out/deep/run.lock")));
  EXPECT_TRUE(OutputFolder::take(at("out/deep")));
}

TEST_F(Files, TheFolderOfAKilledProcessIsTakenOver) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = OutputFolder::take(at("out"));
    if (folder) put(folder->inside("x.part"), "half");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(fs::exists(at("out/run.lock")));
  EXPECT_TRUE(fs::exists(at("out/x.part")));
  const auto folder = OutputFolder::take(at("out"));
  ASSERT_TRUE(folder) << folder.error();
  EXPECT_EQ(folder->taken_over_from(), child);
  EXPECT_FALSE(fs::exists(at("out/x.part")));
}

TEST_F(Files, AFolderIsFollowedWhereItGoes) {
  const auto folder = OutputFolder::take(at("out"));
  ASSERT_TRUE(folder);
  fs::rename(at("out"), at("moved"));
  EXPECT_FALSE(write_file("text", folder->inside("file")));
  EXPECT_EQ(content(at("moved/file")), "text");
  EXPECT_FALSE(fs::exists(at("out")));
  EXPECT_EQ(folder->shown("file"), at("out/file"));
  EXPECT_EQ(folder->shown_in(folder->inside("a") + ": no; " + folder->inside("b")),
            at("out/a") + ": no; " + at("out/b"));
}

TEST_F(Files, WorkInAChildComesBackOrSaysWhyNot) {
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(*guarded([&] { return large; }), large);
  EXPECT_EQ(*guarded([] { return std::string(); }), "");
  const auto error = [](const std::function<std::string()>& work,
                        const GuardLimits& limits = {}) {
    const auto answer = guarded(work, limits);
    return answer ? std::string("none") : answer.error();
  };
  EXPECT_EQ(error([]() -> std::string { throw std::runtime_error("a reason"); }),
            "a reason");
  EXPECT_NE(error([]() -> std::string { std::abort(); }).find("damaged"),
            std::string::npos);
  EXPECT_NE(error([]() -> std::string {
              ::raise(SIGSEGV);
              return "";
            }).find("damaged"),
            std::string::npos);
  EXPECT_EQ(error(
                []() -> std::string {
                  for (;;) ::getppid();  // a system call: not optimised away
                },
                {.seconds = 1}),
            "it took too long");
  EXPECT_EQ(error([] { return std::string(100, 'x'); }, {.answer = 50}),
            "it is too large");
}

}  // namespace
}  // namespace bristle::files
