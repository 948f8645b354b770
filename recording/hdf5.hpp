#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recording/sample.hpp"

// A recording as an HDF5 file, laid out for people and their tools:
//
//   /time                       [n]
//   /bodies/NAME/position       [n × 3], quaternion [n × 4: w x y z], velocity,
//                               angular_velocity
//   /joints/NAME/q, v           [n × …]
//   /ledger/LINE  /probes/NAME  [n]
//   /contacts/…                 one row per contact and sample: time_index, shape_a,
//                               shape_b, depth, …; those of sample i begin at start[i]
//   /contacts/names, bodies     of the shapes that shape_a and shape_b count
//   /laws/…                     names of the laws and of what they remember
//   /events/…                   time, kind, a, b, …
//   /shapes/…                   name, kind, body
//   /scene, /summary            texts; /header: what Reader needs
//
// Every dataset has an attribute "unit"; the file has bristle_version, created, status,
// complete (1 where the run came to its end), samples. In names, "/" is written %2F. Its
// user block holds a seal (recording/seal.hpp).

namespace bristle::recording {

struct FoldReport {
  std::uint64_t samples = 0;
  std::uint64_t contacts = 0;
  std::uint64_t events = 0;
  bool complete = false;
  std::string note{};  // how the log ended, where it did not end well
};

/// Writes a log as an HDF5 file, of any length in bounded memory. The file appears under
/// its name when it is whole.
Result<FoldReport> fold(const std::string& log_path, const std::string& hdf5_path);

/// The same recording, read back record by record.
class Hdf5Source {
 public:
  /// Only where the file's seal is whole (recording/seal.hpp), or where a child process
  /// came through all of a file that has none.
  static Result<Hdf5Source> open(const std::string& path);
  Hdf5Source(Hdf5Source&&) noexcept;
  Hdf5Source& operator=(Hdf5Source&&) noexcept;
  ~Hdf5Source();

  const Header& header() const;
  const std::vector<double>& times() const;
  const std::vector<EventSample>& events() const;
  const EndRecord& end() const;
  bool complete() const;
  const std::string& note() const;

  /// Sample i as a record of the log, or nothing where the file cannot be read.
  std::span<const std::byte> record(std::size_t i);

 private:
  struct File;
  explicit Hdf5Source(std::unique_ptr<File> file);
  static Result<Hdf5Source> open_trusted(const std::string& path);
  static std::optional<Error> unsafe(const std::string& path);
  std::unique_ptr<File> file_;
};

}  // namespace bristle::recording
