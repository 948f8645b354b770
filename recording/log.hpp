#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "bristle/core/result.hpp"
#include "recording/bytes.hpp"

// The append log: what a run writes while it goes on, and what is left of it when the
// process is killed.
//
//   file    magic "BRSTLLOG", then frames
//   frame   type u32, length u32, payload, checksum u32 (CRC-32C of all before it)
//
// Frames collect in a buffer that is handed to the operating system (write(2)) when it is
// full, after so many records, or after so long: a process that dies loses what came
// after, a machine that dies also what has not been synchronised. Reading ends at the
// first frame that is incomplete or damaged.

namespace bristle::recording {

enum class RecordType : std::uint32_t {
  header = 1,
  sample = 2,
  event = 3,
  checkpoint = 4,
  end = 5,
};

struct LogOptions {
  std::size_t flush_bytes = std::size_t{1} << 16;  // in the buffer
  int flush_records = 256;
  double flush_interval = 0.2;  // [s]; looked at when a record is added, so that one that
                                // comes alone is handed over at once
  double sync_interval = 0;     // fsync(2) so often [s]; 0: never
};

class LogWriter {
 public:
  /// A new log; one that was there is replaced, and so is a link, never its target.
  static Result<LogWriter> create(const std::string& path, const LogOptions& options);
  /// Goes on with a log from a byte where a frame ends; what follows it is cut off.
  static Result<LogWriter> append(const std::string& path, std::uint64_t from,
                                  const LogOptions& options);

  LogWriter(LogWriter&& other) noexcept;
  LogWriter& operator=(LogWriter&& other) noexcept;
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  ~LogWriter();  // flushes

  /// Room for frames of up to this length: later ones do not allocate.
  void reserve(std::size_t payload);

  /// Where to put the payload of a frame of at most this length; end() completes it.
  /// nullptr after an error.
  std::byte* begin(std::size_t at_most);
  bool end(RecordType type, std::size_t length);
  bool add(RecordType type, std::span<const std::byte> payload);

  /// Hands everything to the operating system. False where that fails: a full disk, a
  /// limit on the size of files (ignore SIGXFSZ to get here). The file then ends with its
  /// last whole frame, and nothing more is written.
  bool flush();
  /// Also to the disk.
  bool sync();

  /// Empty, or why writing came to its end.
  const std::string& error() const { return error_; }
  std::uint64_t written() const { return written_; }  // bytes that the file holds

 private:
  LogWriter(int file, std::string path, const LogOptions& options, std::uint64_t written);
  bool give_up(const char* what, std::size_t handed_over);

  using Clock = std::chrono::steady_clock;

  int file_ = -1;
  std::string path_;
  LogOptions options_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  int records_ = 0;  // in the buffer
  std::uint64_t written_ = 0;
  Clock::time_point flushed_, synced_, added_;  // when that was done last
  std::string error_;
};

/// A frame as it was read; the payload lasts until the next one is.
struct Frame {
  RecordType type;
  std::span<const std::byte> payload;
  std::uint64_t offset;  // of the frame in the file
};

/// How the reading of a log ended.
enum class LogEnd : std::uint8_t {
  open,        // not there yet
  whole,       // with the last byte of a frame
  incomplete,  // within a frame: the writer died, or is about to go on
  damaged,     // at a frame with a wrong checksum
};

class LogReader {
 public:
  static Result<LogReader> open(const std::string& path);
  /// A log in memory, which must outlive it.
  static Result<LogReader> over(std::span<const std::byte> bytes);

  /// The next frame, or nothing where the log ends.
  std::optional<Frame> next();
  /// Goes on at the frame that begins there.
  void seek(std::uint64_t offset);

  LogEnd end() const { return end_; }
  std::uint64_t offset() const { return offset_; }  // of all that was read well
  std::uint64_t size() const { return size_; }      // of the file, when it was opened
  /// "ends within a frame at byte 1234 of 1240", or nothing where it ends well.
  std::string how_it_ended() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  bool read(void* to, std::size_t length);

  std::unique_ptr<std::FILE, Close> file_;
  std::span<const std::byte> bytes_;
  std::uint64_t position_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  LogEnd end_ = LogEnd::open;
  Bytes frame_;
};

}  // namespace bristle::recording
