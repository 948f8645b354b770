#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bristle/core/result.hpp"

namespace bristle::files {

/// A new file under a name that may be taken: a regular file or a symbolic link of that
/// name is replaced, never written through; a device is opened as it is. The descriptor,
/// or −1 and errno.
int open_new(const std::string& path);

/// A file that is written from the beginning to the end. It appears under its name when
/// close() found it whole; until then it is NAME.part beside it. Devices are written to
/// as they are.
class FileOut {
 public:
  explicit FileOut(std::string path);
  FileOut(const FileOut&) = delete;
  FileOut& operator=(const FileOut&) = delete;
  ~FileOut();  // what was not closed is removed

  void write(std::string_view text) { write(text.data(), text.size()); }
  void write(std::span<const std::byte> bytes) { write(bytes.data(), bytes.size()); }
  void write_number(double number);
  bool ok() const { return error_ == 0; }
  const std::string& path() const { return path_; }

  /// Why there is no such file, or nothing.
  std::optional<Error> close();

 private:
  void write(const void* from, std::size_t length);

  std::string path_, part_;  // the same for a device
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

/// All bytes at once; the folder is made where need be.
std::optional<Error> write_file(std::string_view bytes, const std::string& path);

/// Folders that a path lacks, or why they cannot be made.
std::optional<Error> make_folders(const std::string& path);

}  // namespace bristle::files
