#include "files/output_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "files/file_out.hpp"
#include "files/read_file.hpp"

namespace bristle::files {

namespace {

constexpr const char* lock_name = "run.lock";

/// Who holds a lock: the process's number, and when it started, since numbers come again.
struct Owner {
  long process = 0;
  unsigned long long start = 0;  // clock ticks since the machine started
  std::string since{};
};

/// When a process started; 0 where none of that number lives.
unsigned long long start_of(long process) {
  // "1234 (name) S 1 …": the name may hold anything, so count from its last bracket.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/stat", process);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char text[2048];
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X') return 0;
  constexpr int start_field = 22, next_field = 3;
  for (int i = next_field; at != nullptr && i <= start_field; ++i) {
    at = std::strchr(at + 1, ' ');
  }
  unsigned long long start = 0;
  return at != nullptr && std::sscanf(at, "%llu", &start) == 1 ? start : 0;
}

std::string text_of(const Owner& owner) {
  return "process " + std::to_string(owner.process) + "\nstarted " + owner.since +
         "\nticks " + std::to_string(owner.start) + "\n";
}

Owner owner_in(int lock) {
  char text[256];
  const ssize_t length = ::pread(lock, text, sizeof text - 1, 0);
  if (length <= 0) return {};
  text[length] = '\0';
  Owner owner;
  char since[64] = "";
  if (std::sscanf(text, "process %ld started %63s ticks %llu", &owner.process, since,
                  &owner.start) < 1) {
    return {};
  }
  owner.since = since;
  return owner;
}

Owner this_process() {
  Owner owner{static_cast<long>(::getpid()), 0, ""};
  owner.start = start_of(owner.process);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  owner.since = text;
  return owner;
}

/// The owner, who may be about to write its name.
Owner wait_for_owner(int lock) {
  Owner owner;
  for (int i = 0; i < 100 && (owner = owner_in(lock)).process == 0; ++i) ::usleep(2000);
  return owner;
}

bool is_link_or_file(int folder, const char* name) {
  struct stat about{};
  return ::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
         !S_ISDIR(about.st_mode);
}

/// Files that a killed process had not finished.
void remove_parts(int folder) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // NOLINT
  if (again < 0) return;
  DIR* list = ::fdopendir(again);
  if (list == nullptr) {
    ::close(again);
    return;
  }
  while (const dirent* entry = ::readdir(list)) {
    if (std::string_view(entry->d_name).ends_with(".part") &&
        is_link_or_file(folder, entry->d_name)) {
      ::unlinkat(folder, entry->d_name, 0);
    }
  }
  ::closedir(list);
}

}  // namespace

Result<OutputFolder> OutputFolder::take(const std::string& path) {
  if (auto error = make_folders(path)) return *error;
  OutputFolder folder;
  folder.path_ = path;
  folder.folder_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // NOLINT
  if (folder.folder_ < 0) {
    return Error{"cannot open the folder " + path + ": " + std::strerror(errno)};
  }
  folder.access_ = "/proc/self/fd/" + std::to_string(folder.folder_);
  struct stat about{};
  if (::stat(folder.access_.c_str(), &about) != 0) folder.access_ = path;
  if (auto error = folder.lock()) return *error;
  remove_parts(folder.folder_);
  return folder;
}

std::optional<Error> OutputFolder::lock() {
  const auto refusal = [&](const char* what) {
    return Error{shown(lock_name) + ": " + what + ": " + std::strerror(errno)};
  };
  // Again where the file was removed by its last owner between open and flock.
  constexpr int attempts = 600, while_children_end = 500;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const int file =
        ::openat(folder_, lock_name,
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);  // NOLINT
    if (file < 0 && errno == ELOOP && ::unlinkat(folder_, lock_name, 0) == 0) continue;
    if (file < 0) return refusal("cannot be written");
    const bool locked = ::flock(file, LOCK_EX | LOCK_NB) == 0;
    const bool supported = locked || errno == EWOULDBLOCK;
    const Owner owner = locked ? owner_in(file) : wait_for_owner(file);
    const bool lives = owner.process != 0 && start_of(owner.process) == owner.start;
    if (supported && !locked && owner.process != 0 && !lives &&
        attempt < while_children_end) {
      ::close(file);  // its children hold the lock for a moment after it
      ::usleep(10000);
      continue;
    }
    // Where the system has no such locks, a process that lives holds its file.
    if (supported ? !locked : lives) {
      ::close(file);
      return Error{"the folder " + path_ + " is being written by process " +
                   std::to_string(owner.process) + ", since " + owner.since +
                   "; wait for it, or take another folder"};
    }
    struct stat held{}, named{};
    if (::fstat(file, &held) != 0 ||
        ::fstatat(folder_, lock_name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        held.st_ino != named.st_ino || held.st_dev != named.st_dev) {
      ::close(file);
      continue;
    }
    const std::string text = text_of(this_process());
    if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) !=
                                         static_cast<ssize_t>(text.size())) {
      const Error error = refusal("cannot be written");
      ::unlinkat(folder_, lock_name, 0);
      ::close(file);
      return error;
    }
    taken_over_from_ = static_cast<pid_t>(owner.process);
    lock_ = file;
    return std::nullopt;
  }
  return Error{shown(lock_name) + ": cannot be locked"};
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)),
      access_(std::move(other.access_)),
      folder_(std::exchange(other.folder_, -1)),
      lock_(std::exchange(other.lock_, -1)),
      taken_over_from_(other.taken_over_from_) {}

OutputFolder& OutputFolder::operator=(OutputFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(access_, other.access_);
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  std::swap(taken_over_from_, other.taken_over_from_);
  return *this;
}

OutputFolder::~OutputFolder() {
  if (lock_ >= 0) {
    ::unlinkat(folder_, lock_name, 0);
    ::close(lock_);
  }
  if (folder_ >= 0) ::close(folder_);
}

std::string OutputFolder::inside(std::string_view name) const {
  std::string path = access_;
  path += '/';
  path += name;
  return path;
}

std::string OutputFolder::shown(std::string_view name) const {
  std::string path = path_;
  if (!path.ends_with('/')) path += '/';
  path += name;
  return path;
}

std::string OutputFolder::shown_in(std::string message) const {
  const std::string from = access_ + "/", to = shown("");
  for (std::size_t at = message.find(from); at != std::string::npos;
       at = message.find(from, at + to.size())) {
    message.replace(at, from.size(), to);
  }
  return message;
}

void OutputFolder::sync() const { ::fsync(folder_); }

}  // namespace bristle::files
