#include "files/guarded.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

namespace bristle::files {

namespace {

using Clock = std::chrono::steady_clock;

/// What a child sends: how it ended, how long its answer is, and the answer.
struct Head {
  static constexpr std::uint64_t good = 1, bad = 2, too_large = 3;
  std::uint64_t verdict = 0;
  std::uint64_t length = 0;
};

bool write_all(int to, const char* from, std::size_t length) {
  while (length > 0) {
    const ssize_t n = ::write(to, from, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    length -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send(int to, std::uint64_t verdict, std::string_view answer) {
  const Head head{verdict, answer.size()};
  return write_all(to, reinterpret_cast<const char*>(&head), sizeof head) &&
         write_all(to, answer.data(), answer.size());
}

/// The address space of this process [bytes]; 0 where the system does not say.
std::size_t address_space() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long pages = 0;
  const int found = std::fscanf(file, "%lu", &pages);
  std::fclose(file);
  return found == 1 ? pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

[[noreturn]] void be_the_child(const std::function<std::string()>& work, int to,
                               const GuardLimits& limits, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // killed before it was asked for
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (const std::size_t now = address_space(); now > 0 && limits.memory > 0) {
    const rlimit room{now + limits.memory, now + limits.memory};
    ::setrlimit(RLIMIT_AS, &room);
  }
  if (limits.seconds > 0) {
    const auto seconds = static_cast<rlim_t>(limits.seconds);
    const rlimit time{seconds, seconds + 1};
    ::setrlimit(RLIMIT_CPU, &time);
  }
  // What the C library says as it gives up is not for the user.
  const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);  // NOLINT
  if (quiet >= 0) {
    ::dup2(quiet, STDOUT_FILENO);
    ::dup2(quiet, STDERR_FILENO);
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(number, SIG_DFL);
  }
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  bool sent = false;
  try {
    sent = send(to, Head::good, work());
  } catch (const std::bad_alloc&) {
    sent = send(to, Head::too_large, {});
  } catch (const std::exception& error) {
    sent = send(to, Head::bad, error.what());
  } catch (...) {
    sent = send(to, Head::bad, {});
  }
  ::_exit(sent ? 0 : 1);
}

struct Heard {
  std::string text{};  // head and answer
  const char* trouble = nullptr;

  Head head() const {
    Head head;
    if (text.size() >= sizeof head) std::memcpy(&head, text.data(), sizeof head);
    return head;
  }
  bool complete() const {
    return text.size() >= sizeof(Head) && text.size() - sizeof(Head) >= head().length;
  }
};

/// What comes through the pipe until it is complete, the pipe ends, or the time is over.
Heard listen(int from, const GuardLimits& limits) {
  Heard heard;
  const auto end = Clock::now() + std::chrono::seconds(60 * limits.seconds);
  std::string part(std::size_t{1} << 16, '\0');
  while (!heard.complete()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd one{from, POLLIN, 0};
    const int wait = limits.seconds > 0 ? static_cast<int>(left.count()) : -1;
    const int ready = limits.seconds > 0 && wait <= 0 ? 0 : ::poll(&one, 1, wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      heard.trouble = "it took too long";
      return heard;
    }
    const ssize_t n = ::read(from, part.data(), part.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return heard;
    if (heard.text.size() + static_cast<std::size_t>(n) > limits.answer) {
      heard.trouble = "it is too large";
      return heard;
    }
    heard.text.append(part.data(), static_cast<std::size_t>(n));
  }
  return heard;
}

}  // namespace

Result<std::string> guarded(const std::function<std::string()>& work,
                            const GuardLimits& limits) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{std::strerror(errno)};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int number = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return Error{std::strerror(number)};
  }
  if (child == 0) {
    ::close(ends[0]);
    be_the_child(work, ends[1], limits, parent);
  }
  ::close(ends[1]);
  Heard heard;
  try {
    heard = listen(ends[0], limits);
  } catch (...) {  // no memory for the answer: the child must not stay
    heard.trouble = "it is too large";
  }
  ::close(ends[0]);
  if (heard.trouble != nullptr) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (heard.trouble != nullptr) return Error{heard.trouble};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && heard.complete()) {
    const Head head = heard.head();
    heard.text.erase(0, sizeof head);
    if (head.verdict == Head::good) return std::move(heard.text);
    if (head.verdict == Head::too_large) return Error{"it asks for too much memory"};
    return Error{heard.text.empty() ? "it cannot be read" : heard.text};
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    return Error{"it took too long"};
  }
  return Error{"it is damaged: the library that reads it gave up"};
}

}  // namespace bristle::files
