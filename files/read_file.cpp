#include "files/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bristle::files {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }

 private:
  int file_;
};

/// Opens for reading, without waiting for whoever writes to a pipe.
int open_for_reading(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // NOLINT
}

std::optional<Error> irregular(int file, struct stat& about) {
  if (file < 0) {
    return Error{errno == ENOENT ? "there is no such file" : std::strerror(errno)};
  }
  if (::fstat(file, &about) != 0) return Error{std::strerror(errno)};
  if (!S_ISREG(about.st_mode)) return Error{"is not a regular file"};
  return std::nullopt;
}

}  // namespace

std::optional<Error> unreadable(const std::string& path) {
  const Descriptor file(open_for_reading(path));
  struct stat about{};
  return irregular(file.get(), about);
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const Descriptor file(open_for_reading(path));
  struct stat about{};
  if (const auto error = irregular(file.get(), about)) return *error;
  const auto size = static_cast<std::size_t>(about.st_size);
  const Error too_large{"is larger than " + std::to_string(most >> 20) + " MiB"};
  if (size > most) return too_large;
  // A byte more, to see its end: a file of /proc says that it has none, and one may grow.
  std::string bytes(size + 1, '\0');
  std::size_t done = 0;
  while (true) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
    if (done > most) return too_large;
    if (done == bytes.size()) bytes.resize(std::min(2 * done, most) + 1);
  }
  if (done < size) return Error{"became shorter while it was read"};
  bytes.resize(done);
  return bytes;
}

}  // namespace bristle::files
