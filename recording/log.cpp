#include "recording/log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "files/file_out.hpp"
#include "files/read_file.hpp"
#include "recording/crc32c.hpp"

namespace bristle::recording {

namespace {

constexpr char magic[] = {'B', 'R', 'S', 'T', 'L', 'L', 'O', 'G'};
constexpr std::size_t head_bytes = 8;                          // type and length
constexpr std::size_t frame_bytes = head_bytes + 4;            // with the checksum
constexpr std::size_t longest_payload = std::size_t{1} << 30;  // of one frame

std::string reason(const std::string& path, const char* what, int number) {
  std::string text = path;
  text += ": ";
  text += what;
  text += ": ";
  text += std::strerror(number);
  return text;
}

std::uint32_t read_u32(const std::byte* from) {
  std::uint32_t number = 0;
  std::memcpy(&number, from, sizeof number);
  return number;
}

}  // namespace

LogWriter::LogWriter(int file, std::string path, const LogOptions& options,
                     std::uint64_t written)
    : file_(file),
      path_(std::move(path)),
      options_(options),
      written_(written),
      flushed_(Clock::now()),
      synced_(flushed_),
      added_(flushed_) {
  reserve(0);
}

LogWriter::LogWriter(LogWriter&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      options_(other.options_),
      buffer_(std::move(other.buffer_)),
      capacity_(std::exchange(other.capacity_, 0)),
      used_(std::exchange(other.used_, 0)),
      records_(other.records_),
      written_(other.written_),
      flushed_(other.flushed_),
      synced_(other.synced_),
      added_(other.added_),
      error_(std::move(other.error_)) {}

LogWriter& LogWriter::operator=(LogWriter&& other) noexcept {
  LogWriter taken(std::move(other));
  std::swap(file_, taken.file_);
  std::swap(path_, taken.path_);
  std::swap(options_, taken.options_);
  std::swap(buffer_, taken.buffer_);
  std::swap(capacity_, taken.capacity_);
  std::swap(used_, taken.used_);
  std::swap(records_, taken.records_);
  std::swap(written_, taken.written_);
  std::swap(flushed_, taken.flushed_);
  std::swap(synced_, taken.synced_);
  std::swap(added_, taken.added_);
  std::swap(error_, taken.error_);
  return *this;
}

LogWriter::~LogWriter() {
  if (file_ < 0) return;
  flush();
  ::close(file_);
}

Result<LogWriter> LogWriter::create(const std::string& path, const LogOptions& options) {
  const int file = files::open_new(path);
  if (file < 0) return Error{reason(path, "cannot be written", errno)};
  LogWriter log(file, path, options, 0);
  std::memcpy(log.buffer_.get(), magic, sizeof magic);
  log.used_ = sizeof magic;
  if (!log.flush()) return Error{log.error()};
  return log;
}

Result<LogWriter> LogWriter::append(const std::string& path, std::uint64_t from,
                                    const LogOptions& options) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);  // NOLINT
  if (file < 0) return Error{reason(path, "cannot be written", errno)};
  LogWriter log(file, path, options, from);
  if (::ftruncate(file, static_cast<off_t>(from)) != 0 ||
      ::lseek(file, static_cast<off_t>(from), SEEK_SET) < 0) {
    return Error{reason(path, "cannot be written", errno)};
  }
  return log;
}

void LogWriter::reserve(std::size_t payload) {
  const std::size_t room = options_.flush_bytes + payload + frame_bytes;
  if (room <= capacity_) return;
  // Not touched before it is used: room for the fullest sample costs no memory.
  auto larger = std::make_unique_for_overwrite<std::byte[]>(room);
  if (used_ > 0) std::memcpy(larger.get(), buffer_.get(), used_);
  buffer_ = std::move(larger);
  capacity_ = room;
}

std::byte* LogWriter::begin(std::size_t at_most) {
  if (!error_.empty()) return nullptr;
  if (at_most > longest_payload) {
    error_ = path_ + ": a record of more than 1 GiB";
    return nullptr;
  }
  if (used_ + at_most + frame_bytes > capacity_) {
    if (!flush()) return nullptr;
    reserve(at_most);
  }
  return buffer_.get() + used_ + head_bytes;
}

bool LogWriter::end(RecordType type, std::size_t length) {
  std::byte* frame = buffer_.get() + used_;
  const auto head = static_cast<std::uint32_t>(type);
  const auto size = static_cast<std::uint32_t>(length);
  std::memcpy(frame, &head, 4);
  std::memcpy(frame + 4, &size, 4);
  const std::uint32_t check = crc32c({frame, head_bytes + length});
  std::memcpy(frame + head_bytes + length, &check, 4);
  used_ += length + frame_bytes;
  ++records_;
  const Clock::time_point now = Clock::now();
  const auto since = [&](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (options_.sync_interval > 0 && since(synced_) >= options_.sync_interval) {
    return sync();
  }
  // Not later than the interval, if the next record takes as long as this one did.
  const double gap = since(added_);
  added_ = now;
  if (used_ >= options_.flush_bytes || records_ >= options_.flush_records ||
      since(flushed_) + gap >= options_.flush_interval) {
    return flush();
  }
  return true;
}

bool LogWriter::add(RecordType type, std::span<const std::byte> payload) {
  std::byte* to = begin(payload.size());
  if (to == nullptr) return false;
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  return end(type, payload.size());
}

bool LogWriter::flush() {
  if (!error_.empty()) return false;
  std::size_t done = 0;
  while (done < used_) {
    const ssize_t n = ::write(file_, buffer_.get() + done, used_ - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && errno != EINTR) {
      return give_up("cannot be written any further", done);
    }
  }
  written_ += used_;
  used_ = 0;
  records_ = 0;
  flushed_ = Clock::now();
  return true;
}

bool LogWriter::sync() {
  if (!flush()) return false;
  if (::fdatasync(file_) != 0 && errno != EINVAL && errno != EROFS) {
    return give_up("cannot be brought to the disk", 0);
  }
  synced_ = Clock::now();
  return true;
}

/// Cuts the file after the last whole frame among the bytes that were handed over.
bool LogWriter::give_up(const char* what, std::size_t handed_over) {
  error_ = reason(path_, what, errno);
  std::size_t whole = written_ == 0 ? sizeof magic : 0;
  if (whole > handed_over) whole = 0;
  while (whole + frame_bytes <= handed_over) {
    const std::size_t next = whole + frame_bytes + read_u32(buffer_.get() + whole + 4);
    if (next > handed_over) break;
    whole = next;
  }
  written_ += whole;
  used_ = 0;
  if (::ftruncate(file_, static_cast<off_t>(written_)) != 0) {
    // A device, or a disk that takes nothing at all: readers stop at the broken frame.
    return false;
  }
  return false;
}

Result<LogReader> LogReader::open(const std::string& path) {
  LogReader reader;
  if (const auto error = files::unreadable(path)) {
    return Error{path + ": cannot be read: " + error->message};
  }
  reader.file_.reset(std::fopen(path.c_str(), "rbe"));
  struct stat about{};
  if (!reader.file_ || ::fstat(::fileno(reader.file_.get()), &about) != 0) {
    return Error{reason(path, "cannot be read", errno)};
  }
  reader.size_ = static_cast<std::uint64_t>(about.st_size);
  char start[sizeof magic];
  const std::size_t there = std::min<std::uint64_t>(reader.size_, sizeof magic);
  if (!reader.read(start, there) || std::memcmp(start, magic, there) != 0) {
    return Error{path + ": is not a log of Bristle"};
  }
  if (there < sizeof magic) {  // its writer was killed
    return Error{path + ": has no header; nothing was recorded"};
  }
  reader.offset_ = sizeof magic;
  return reader;
}

Result<LogReader> LogReader::over(std::span<const std::byte> bytes) {
  LogReader reader;
  reader.bytes_ = bytes;
  reader.size_ = bytes.size();
  char start[sizeof magic];
  if (!reader.read(start, sizeof start) || std::memcmp(start, magic, sizeof magic) != 0) {
    return Error{"not a log of Bristle"};
  }
  reader.offset_ = sizeof magic;
  return reader;
}

bool LogReader::read(void* to, std::size_t length) {
  if (position_ + length > size_) return false;
  if (file_) {
    if (std::fread(to, 1, length, file_.get()) != length) return false;
  } else {
    std::memcpy(to, bytes_.data() + position_, length);
  }
  position_ += length;
  return true;
}

void LogReader::seek(std::uint64_t offset) {
  position_ = offset_ = offset;
  end_ = LogEnd::open;
  if (file_) ::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET);
}

std::optional<Frame> LogReader::next() {
  if (end_ != LogEnd::open) return std::nullopt;
  if (offset_ >= size_) {
    end_ = LogEnd::whole;
    return std::nullopt;
  }
  std::byte head[head_bytes];
  if (!read(head, sizeof head)) {
    end_ = LogEnd::incomplete;
    return std::nullopt;
  }
  const std::uint32_t length = read_u32(head + 4);
  if (length > longest_payload || length + 4 > size_ - position_) {
    end_ = LogEnd::incomplete;
    return std::nullopt;
  }
  frame_.resize(head_bytes + length + 4);
  std::memcpy(frame_.data(), head, sizeof head);
  if (!read(frame_.data() + head_bytes, length + 4)) {
    end_ = LogEnd::incomplete;
    return std::nullopt;
  }
  const std::span<const std::byte> all(frame_);
  if (crc32c(all.first(head_bytes + length)) !=
      read_u32(frame_.data() + head_bytes + length)) {
    end_ = LogEnd::damaged;
    return std::nullopt;
  }
  const std::uint64_t start = offset_;
  offset_ = position_;
  return Frame{static_cast<RecordType>(read_u32(head)), all.subspan(head_bytes, length),
               start};
}

std::string LogReader::how_it_ended() const {
  if (end_ == LogEnd::open || end_ == LogEnd::whole) return {};
  std::string text =
      end_ == LogEnd::damaged ? "is damaged at byte " : "ends within a record at byte ";
  text += std::to_string(offset_);
  text += " of ";
  text += std::to_string(size_);
  return text;
}

}  // namespace bristle::recording
