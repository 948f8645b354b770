#include "recording/reader.hpp"

#include <filesystem>
#include <utility>

#include "files/read_file.hpp"
#include "recording/hdf5.hpp"
#include "recording/log.hpp"

namespace bristle::recording {

namespace fs = std::filesystem;

struct Reader::Source {
  std::string path{};
  std::string error{};
  std::unique_ptr<Hdf5Source> hdf5{};  // or
  std::unique_ptr<LogReader> log{};

  // Of a log.
  Header header{};
  std::vector<double> times{};
  std::vector<std::uint64_t> offsets{};
  std::vector<EventSample> events{};
  EndRecord end{};
  bool complete = false;
  std::string note{};

  std::optional<Error> scan();
};

/// Where the samples of a log are.
std::optional<Error> Reader::Source::scan() {
  std::optional<Frame> frame = log->next();
  if (!frame || frame->type != RecordType::header) {
    return Error{path + ": has no header; nothing was recorded"};
  }
  Result<Header> found = decode_header(frame->payload);
  if (!found) return Error{path + ": " + found.error()};
  header = std::move(*found);
  while ((frame = log->next())) {
    if (frame->type == RecordType::sample) {
      times.push_back(ByteReader(frame->payload).get<double>());
      offsets.push_back(frame->offset);
    } else if (frame->type == RecordType::event) {
      EventSample event{};
      if (decode_event(frame->payload, event)) events.push_back(event);
    } else if (frame->type == RecordType::end) {
      complete = decode_end(frame->payload, end);
    }
  }
  note = log->how_it_ended();
  return std::nullopt;
}

Reader::Reader(std::unique_ptr<Source> source) : source_(std::move(source)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::string& path) {
  std::error_code ignored;
  std::string file = path;
  if (fs::is_directory(path, ignored)) {
    const fs::path hdf5 = fs::path(path) / hdf5_name;
    const fs::path log = fs::path(path) / log_name;
    const bool has_hdf5 = fs::exists(hdf5, ignored);
    const bool has_log = fs::exists(log, ignored);
    if (!has_hdf5 && !has_log) {
      return Error{path +
                   ": holds no recording (neither recording.h5 nor "
                   "recording.log)"};
    }
    const bool log_is_newer =
        has_hdf5 && has_log &&
        fs::last_write_time(log, ignored) > fs::last_write_time(hdf5, ignored);
    file = has_hdf5 && !log_is_newer ? hdf5 : log;
  } else if (!fs::exists(path, ignored)) {
    return Error{path + ": there is no such file or folder"};
  }
  if (const auto error = files::unreadable(file)) {
    return Error{file + ": " + error->message};
  }
  auto source = std::make_unique<Source>();
  source->path = file;
  Result<LogReader> log = LogReader::open(file);
  if (log) {
    source->log = std::make_unique<LogReader>(std::move(*log));
    const std::optional<Error> error = source->scan();
    if (error) return *error;
    return Reader(std::move(source));
  }
  if (fs::path(file).extension() == ".log") return Error{log.error()};
  Result<Hdf5Source> hdf5 = Hdf5Source::open(file);
  if (!hdf5) return Error{hdf5.error()};
  source->hdf5 = std::make_unique<Hdf5Source>(std::move(*hdf5));
  return Reader(std::move(source));
}

const Header& Reader::header() const {
  return source_->hdf5 ? source_->hdf5->header() : source_->header;
}
std::span<const double> Reader::times() const {
  return source_->hdf5 ? source_->hdf5->times() : source_->times;
}
std::span<const EventSample> Reader::events() const {
  return source_->hdf5 ? source_->hdf5->events() : source_->events;
}
bool Reader::complete() const {
  return source_->hdf5 ? source_->hdf5->complete() : source_->complete;
}
const EndRecord& Reader::end() const {
  return source_->hdf5 ? source_->hdf5->end() : source_->end;
}
const std::string& Reader::note() const {
  return source_->hdf5 ? source_->hdf5->note() : source_->note;
}
const std::string& Reader::error() const { return source_->error; }
const std::string& Reader::path() const { return source_->path; }

bool Reader::read(std::size_t i, Sample& to) {
  const auto fail = [&](const char* why) {
    source_->error = source_->path;
    source_->error += ": sample ";
    source_->error += std::to_string(i);
    source_->error += ' ';
    source_->error += why;
    return false;
  };
  if (i >= size()) return fail("does not exist");
  std::span<const std::byte> record;
  if (source_->hdf5) {
    record = source_->hdf5->record(i);
  } else {
    LogReader& log = *source_->log;
    if (log.offset() != source_->offsets[i]) log.seek(source_->offsets[i]);
    // Events and checkpoints lie between samples that are read in order.
    const std::optional<Frame> frame = log.next();
    if (frame && frame->type == RecordType::sample) record = frame->payload;
  }
  if (!decode_sample(header(), record, to)) return fail("cannot be read");
  return true;
}

}  // namespace bristle::recording
