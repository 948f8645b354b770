#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/sample.hpp"

// A recording, from whichever file there is: the HDF5 file of a run that came to its end,
// or the log of one that did not, or is still going on.

namespace bristle::recording {

inline constexpr std::string_view log_name = "recording.log";
inline constexpr std::string_view hdf5_name = "recording.h5";

class Reader {
 public:
  /// A folder of a run, a log or an HDF5 file. Of a folder the HDF5 file is read, unless
  /// the log is newer.
  static Result<Reader> open(const std::string& path);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  const Header& header() const;
  std::size_t size() const { return times().size(); }  // samples
  std::span<const double> times() const;
  std::span<const EventSample> events() const;

  /// Sample i. False where it cannot be read, and error() says why. Fastest in order.
  bool read(std::size_t i, Sample& to);
  const std::string& error() const;

  /// Whether the run came to its end; then its status and summary.
  bool complete() const;
  const EndRecord& end() const;
  /// Of what is incomplete or damaged: how much was read. Empty where nothing is.
  const std::string& note() const;
  const std::string& path() const;  // of the file that is read

 private:
  struct Source;
  explicit Reader(std::unique_ptr<Source> source);
  std::unique_ptr<Source> source_;
};

}  // namespace bristle::recording
