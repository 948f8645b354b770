#include "files/file_out.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

namespace bristle::files {

namespace {

/// A device or a pipe: neither can be replaced by a file that is whole.
bool is_device(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0 &&
         (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode) || S_ISFIFO(about.st_mode));
}

}  // namespace

int open_new(const std::string& path) {
  if (is_device(path)) {
    return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // NOLINT
  }
  struct stat about{};
  if (::lstat(path.c_str(), &about) == 0 && !S_ISDIR(about.st_mode) &&
      ::unlink(path.c_str()) != 0) {
    return -1;
  }
  return ::open(path.c_str(),
                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,  // NOLINT
                0666);
}

FileOut::FileOut(std::string path)
    : path_(std::move(path)), part_(is_device(path_) ? path_ : path_ + ".part") {
  const int file = open_new(part_);
  if (file >= 0) file_ = ::fdopen(file, "wb");
  if (file_ != nullptr) return;
  error_ = errno;
  if (file >= 0) ::close(file);
}

FileOut::~FileOut() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (part_ != path_) ::unlink(part_.c_str());
}

void FileOut::write(const void* from, std::size_t length) {
  if (error_ != 0 || length == 0) return;
  if (std::fwrite(from, 1, length, file_) != length) error_ = errno;
}

void FileOut::write_number(double number) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  write(text.data(), static_cast<std::size_t>(end - text.data()));
}

std::optional<Error> FileOut::close() {
  if (file_ != nullptr) {
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
    if (part_ != path_) {
      if (error_ == 0 && std::rename(part_.c_str(), path_.c_str()) != 0) error_ = errno;
      if (error_ != 0) ::unlink(part_.c_str());
    }
  }
  if (error_ == 0) return std::nullopt;
  return Error{path_ + ": cannot be written: " + std::strerror(error_)};
}

std::optional<Error> make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return std::nullopt;
  return Error{"cannot make the folder " + path + ": " + error.message()};
}

std::optional<Error> write_file(std::string_view bytes, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    if (auto error = make_folders(folder.string())) return error;
  }
  FileOut file(path);
  file.write(bytes);
  return file.close();
}

}  // namespace bristle::files
