#include "recording/seal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "recording/bytes.hpp"
#include "recording/crc32c.hpp"

namespace bristle::recording {

namespace {

constexpr char magic[] = {'B', 'R', 'S', 'T', 'L', 'H', 'D', 'F'};
constexpr unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t length_at = 8, check_at = 16, own_check_at = 20, seal_bytes = 24;

class File {
 public:
  File(const std::string& path, int flags)
      : file_(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC)) {}  // NOLINT
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }

 private:
  int file_;
};

/// The checksum of all bytes from the seal on; nothing where they cannot be read.
std::optional<std::uint32_t> check_of(int file, std::uint64_t size) {
  constexpr std::size_t at_once = std::size_t{1} << 20;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(at_once);
  std::uint32_t check = 0;
  std::uint64_t at = seal_bytes;
  while (at < size) {
    const std::size_t wanted = std::min<std::uint64_t>(at_once, size - at);
    const ssize_t n = ::pread(file, buffer.get(), wanted, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    check = crc32c({buffer.get(), static_cast<std::size_t>(n)}, check);
    at += static_cast<std::uint64_t>(n);
  }
  return check;
}

using Block = std::array<std::byte, seal_bytes>;

std::uint32_t own_check(const Block& block) {
  return crc32c(std::span(block).first(own_check_at));
}

}  // namespace

std::optional<Error> seal(const std::string& path) {
  const auto trouble = [&] {
    return Error{path + ": cannot be written: " + std::strerror(errno)};
  };
  const File file(path, O_RDWR | O_NOFOLLOW);
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0) return trouble();
  const auto length = static_cast<std::uint64_t>(about.st_size);
  const auto check = check_of(file.get(), length);
  if (!check) return trouble();
  Block block{};
  std::memcpy(block.data(), magic, sizeof magic);
  std::memcpy(block.data() + length_at, &length, sizeof length);
  std::memcpy(block.data() + check_at, &*check, sizeof *check);
  const std::uint32_t own = own_check(block);
  std::memcpy(block.data() + own_check_at, &own, sizeof own);
  if (::pwrite(file.get(), block.data(), block.size(), 0) !=
          static_cast<ssize_t>(block.size()) ||
      ::fsync(file.get()) != 0) {
    return trouble();
  }
  return std::nullopt;
}

Result<Seal> seal_of(const std::string& path) {
  const File file(path, O_RDONLY);
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0) {
    return Error{path + ": cannot be read: " + std::strerror(errno)};
  }
  Block block{};
  if (::pread(file.get(), block.data(), block.size(), 0) !=
      static_cast<ssize_t>(block.size())) {
    return Seal::foreign;
  }
  if (std::memcmp(block.data(), signature, sizeof signature) == 0) return Seal::none;
  const bool marked = std::memcmp(block.data(), magic, sizeof magic) == 0;
  char inner[sizeof signature] = {};
  const bool holds_hdf5 =
      ::pread(file.get(), inner, sizeof inner, static_cast<off_t>(user_block)) ==
          static_cast<ssize_t>(sizeof inner) &&
      std::memcmp(inner, signature, sizeof signature) == 0;
  if (!marked && !holds_hdf5) return Seal::foreign;
  std::uint64_t length = 0;
  std::uint32_t check = 0, own = 0;
  std::memcpy(&length, block.data() + length_at, sizeof length);
  std::memcpy(&check, block.data() + check_at, sizeof check);
  std::memcpy(&own, block.data() + own_check_at, sizeof own);
  if (!marked || own != own_check(block) ||
      length != static_cast<std::uint64_t>(about.st_size)) {
    return Seal::damaged;
  }
  const auto found = check_of(file.get(), length);
  if (!found) return Error{path + ": cannot be read: " + std::strerror(errno)};
  return *found == check ? Seal::whole : Seal::damaged;
}

}  // namespace bristle::recording
