#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "bristle/core/result.hpp"

namespace bristle::files {

/// A folder that one process writes to: it is made where need be, locked, and followed by
/// its descriptor wherever it is moved to. The lock is the file run.lock in it, locked by
/// flock(2) as long as the process lives, with the process's number and start time
/// inside. What a killed process left, its lock and files that are not whole, is taken
/// over.
class OutputFolder {
 public:
  /// The error names the process that writes to it, where there is one.
  static Result<OutputFolder> take(const std::string& path);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&& other) noexcept;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();  // removes the lock

  /// Where to open a file of that name, wherever the folder is now.
  std::string inside(std::string_view name) const;
  /// The file as people call it.
  std::string shown(std::string_view name) const;
  /// A message about files inside, as people call them.
  std::string shown_in(std::string message) const;
  const std::string& path() const { return path_; }

  /// The process that was killed while it wrote here; 0 where there was none.
  pid_t taken_over_from() const { return taken_over_from_; }

  /// Brings the names of files that were added to the disk.
  void sync() const;

 private:
  OutputFolder() = default;
  std::optional<Error> lock();

  std::string path_;
  std::string access_;  // by its descriptor
  int folder_ = -1;
  int lock_ = -1;
  pid_t taken_over_from_ = 0;
};

}  // namespace bristle::files
