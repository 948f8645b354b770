#include "recording/hdf5.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "files/file_out.hpp"
#include "files/guarded.hpp"
#include "files/read_file.hpp"
#include "recording/columns.hpp"
#include "recording/log.hpp"
#include "recording/seal.hpp"

namespace bristle::recording {

namespace {

/// An object of the library, closed when it goes.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }
  bool close() {
    if (id_ < 0) return true;
    return closer_(std::exchange(id_, -1)) >= 0;
  }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Closer closer_ = nullptr;
};

/// The library says by itself what is wrong, on standard error. While this exists, it
/// tells us instead, and the first thing that it says is kept: later calls forget it.
class Listening {
 public:
  Listening() {
    // At the end of a program it would write again to files that could not be written.
    [[maybe_unused]] static const herr_t stays = H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, hear, this);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

  /// The innermost message about the first error.
  std::string complaint() const {
    std::string text = first_;
    // "file write failed: time = …, errno = 28, error message = 'No space …', buf = …"
    constexpr std::string_view label = "error message = '";
    const std::size_t begin = text.find(label);
    if (begin != std::string::npos) {
      text.erase(0, begin + label.size());
      text.erase(std::min(text.find('\''), text.size()));
    }
    return text;
  }

 private:
  static herr_t hear(hid_t stack, void* self) {
    std::string& first = static_cast<Listening*>(self)->first_;
    if (!first.empty()) return 0;
    const auto keep = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
      if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
      return 0;
    };
    H5Ewalk2(stack, H5E_WALK_DOWNWARD, keep, &first);
    return 0;
  }

  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
  std::string first_;
};

Error trouble(const std::string& path, const char* what, const Listening& library) {
  std::string text = path;
  text += ": ";
  text += what;
  const std::string why = library.complaint();
  if (!why.empty()) {
    text += ": ";
    text += why;
  }
  return Error{text};
}

/// A name as a link can have it.
std::string link_name(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '/') {
      text += "%2F";
    } else if (c == '%') {
      text += "%25";
    } else if (c == '\0') {
      text += "%00";
    } else {
      text += c;
    }
  }
  if (text == "." || text == "..") text.replace(0, 1, "%2E");
  return text.empty() ? "%" : text;
}

std::string path_of(const Column& column) {
  std::string path;
  for (const std::string* part : {&column.group, &column.owner, &column.name}) {
    if (part->empty()) continue;
    path += '/';
    path += link_name(*part);
  }
  return path;
}

Handle text_type(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), length == 0 ? 1 : length);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  return type;
}

bool put_attribute(hid_t object, const char* name, std::string_view text) {
  const Handle type = text_type(text.size());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  return attribute && H5Awrite(attribute.id(), type.id(), padded.data()) >= 0;
}

bool put_attribute(hid_t object, const char* name, std::int64_t number) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(object, name, H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  return attribute && H5Awrite(attribute.id(), H5T_NATIVE_INT64, &number) >= 0;
}

bool put_attribute(hid_t object, const char* name, std::span<const double> numbers) {
  const hsize_t count = numbers.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle attribute(
      H5Acreate2(object, name, H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  return attribute && H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, numbers.data()) >= 0;
}

/// A list of texts.
bool put_texts(hid_t file, const std::string& path,
               const std::vector<std::string>& texts) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  const hsize_t count = texts.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  const Handle dataset(H5Dcreate2(file, path.c_str(), type.id(), space.id(), links.id(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
  if (!dataset) return false;
  put_attribute(dataset.id(), "unit", "1");
  if (texts.empty()) return true;
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  static_cast<const void*>(pointers.data())) >= 0;
}

/// Bytes, or one text; of any length, as an attribute is not.
bool put_bytes(hid_t file, const char* path, std::span<const std::byte> bytes,
               bool is_text) {
  Handle type, space;
  if (is_text) {
    type = text_type(bytes.size());
    space = Handle(H5Screate(H5S_SCALAR), H5Sclose);
  } else {
    const hsize_t count = bytes.size();
    type = Handle(H5Tcopy(H5T_STD_U8LE), H5Tclose);
    space = Handle(H5Screate_simple(1, &count, nullptr), H5Sclose);
  }
  const Handle dataset(H5Dcreate2(file, path, type.id(), space.id(), H5P_DEFAULT,
                                  H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
  if (!dataset) return false;
  put_attribute(dataset.id(), "unit", "1");
  const std::byte nothing{};
  return H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  bytes.empty() ? &nothing : bytes.data()) >= 0;
}

bool put_text(hid_t file, const char* path, std::string_view text) {
  return put_bytes(file, path, std::as_bytes(std::span(text)), true);
}

/// How files are opened. The library keeps what it knows about datasets in a cache of at
/// most 32 MB as files count them, which is half a gigabyte of memory: with tens of
/// thousands of datasets it all goes there, to be used once.
Handle small_cache() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (H5Pget_mdc_config(access.id(), &config) < 0) return access;
  config.set_initial_size = true;
  config.initial_size = config.min_size = config.max_size = std::size_t{2} << 20;
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(access.id(), &config);
  return access;
}

/// An open dataset takes about 30 kB: of more than these, each is opened only while it is
/// read or written.
constexpr std::size_t most_open = 2048;

/// A dataset that grows row by row; rows collect until there is a chunk of them. With
/// `stays_open` false it is closed in between.
class Growing {
 public:
  Growing(hid_t file, const std::string& path, std::string_view unit, hid_t stored,
          hid_t native, std::size_t width, bool is_list, std::size_t chunk,
          bool stays_open = true)
      : file_(file),
        path_(stays_open ? std::string() : path),
        native_(native),
        width_(width),
        rank_(is_list ? 1 : 2),
        chunk_(chunk) {
    const hsize_t now[] = {0, width};
    const hsize_t most[] = {H5S_UNLIMITED, width};
    const hsize_t chunks[] = {chunk, width};
    const Handle space(H5Screate_simple(rank_, now, most), H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(how.id(), rank_, chunks);
    H5Pset_shuffle(how.id());
    H5Pset_deflate(how.id(), 1);  // shuffled doubles hardly shrink further
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    const Handle access = unbuffered();
    dataset_ = Handle(H5Dcreate2(file, path.c_str(), stored, space.id(), links.id(),
                                 how.id(), access.id()),
                      H5Dclose);
    ok_ = bool(dataset_) && put_attribute(dataset_.id(), "unit", unit);
    size_ = H5Tget_size(native_);
    buffer_.resize(size_ * width_ * chunk_);
  }

  bool ok() const { return ok_; }
  hid_t id() const { return dataset_.id(); }
  std::uint64_t rows() const { return written_ + rows_; }

  bool add(const void* row) {
    std::memcpy(buffer_.data() + rows_ * width_ * size_, row, width_ * size_);
    return ++rows_ < chunk_ || flush();
  }
  template <Number T>
  bool add_number(T number) {
    return add(&number);
  }
  bool flush() {
    if (rows_ == 0 || !ok_) return ok_;
    if (!dataset_) {
      const Handle access = unbuffered();
      dataset_ = Handle(H5Dopen2(file_, path_.c_str(), access.id()), H5Dclose);
      if (!dataset_) return ok_ = false;
    }
    const hsize_t total[] = {written_ + rows_, width_};
    const hsize_t begin[] = {written_, 0};
    const hsize_t count[] = {rows_, width_};
    ok_ = H5Dset_extent(dataset_.id(), total) >= 0;
    const Handle memory(H5Screate_simple(rank_, count, nullptr), H5Sclose);
    const Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    ok_ = ok_ && H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin, nullptr, count,
                                     nullptr) >= 0;
    ok_ = ok_ && H5Dwrite(dataset_.id(), native_, memory.id(), space.id(), H5P_DEFAULT,
                          buffer_.data()) >= 0;
    written_ += rows_;
    rows_ = 0;
    return rest();
  }
  /// Closes it where it does not stay open.
  bool rest() {
    if (!path_.empty() && dataset_) ok_ = dataset_.close() && ok_;
    return ok_;
  }
  bool close() { return flush() && (!dataset_ || dataset_.close()); }

 private:
  /// Chunks are written whole and never again: they need no room while they wait.
  static Handle unbuffered() {
    Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.id(), 1, 0, 1);
    return access;
  }

  Handle dataset_;
  hid_t file_;
  std::string path_;  // empty: it stays open
  hid_t native_;
  std::size_t width_;
  int rank_;
  std::size_t chunk_;
  std::size_t size_ = 0;
  Bytes buffer_;
  std::size_t rows_ = 0;
  hsize_t written_ = 0;
  bool ok_ = false;
};

/// Rows that are compressed at once: many, but not more than fit into some megabytes.
std::size_t rows_per_chunk(std::size_t row_bytes) {
  return std::clamp<std::size_t>(
      (std::size_t{8} << 20) / std::max<std::size_t>(row_bytes, 1), 16, 2048);
}

class Folding {
 public:
  Folding(const Header& header, hid_t file)
      : header_(header),
        file_(file),
        columns_(sample_columns(header)),
        words_(contact_words(header)),
        numbers_(contact_columns(header)) {
    const std::size_t chunk = rows_per_chunk(sample_bytes(header, 0));
    for (const Column& column : columns_) {
      samples_.push_back(doubles(column, chunk));
      if (!column.owner.empty()) {
        name_group("/" + column.group + "/" + link_name(column.owner), column.owner);
      }
    }
    start_ = list("/contacts/start", "1", H5T_STD_I64LE, H5T_NATIVE_INT64, chunk);
    const std::size_t rows =
        rows_per_chunk(sizeof(double) * (contact_numbers(header) + 4));
    index_ = list("/contacts/time_index", "1", H5T_STD_I64LE, H5T_NATIVE_INT64, rows);
    for (const Column& column : words_) {
      contact_words_.push_back(
          list(path_of(column), "1", H5T_STD_U32LE, H5T_NATIVE_UINT32, rows));
    }
    for (const Column& column : numbers_) {
      contact_numbers_.push_back(doubles(column, rows));
    }
    const std::size_t few = 256;
    event_time_ = list("/events/time", "s", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, few);
    event_speed_ = list("/events/speed", "m/s", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, few);
    event_dof_ = list("/events/dof", "1", H5T_STD_I32LE, H5T_NATIVE_INT32, few);
    for (const char* name : {"kind", "a", "b", "feature", "episode"}) {
      event_words_.push_back(list(std::string("/events/") + name, "1", H5T_STD_U32LE,
                                  H5T_NATIVE_UINT32, few));
    }
    if (ok_) describe();
  }

  bool ok() const { return ok_; }
  std::uint64_t samples() const { return start_->rows(); }
  std::uint64_t contacts() const { return index_->rows(); }
  std::uint64_t events() const { return event_time_->rows(); }

  /// A record that decode_sample() took.
  bool sample(std::span<const std::byte> record) {
    const auto number = static_cast<std::int64_t>(samples());
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      ok_ = ok_ && samples_[k]->add(record.data() + sizeof(double) * columns_[k].first);
    }
    ok_ = ok_ && start_->add_number(static_cast<std::int64_t>(contacts()));
    std::span<const std::byte> rest =
        record.subspan(sizeof(double) * (sample_numbers(header_) + 1));
    const std::size_t each =
        sizeof(std::uint32_t) * words_.size() + sizeof(double) * contact_numbers(header_);
    for (; ok_ && rest.size() >= each; rest = rest.subspan(each)) {
      ok_ = index_->add_number(number);
      for (std::size_t k = 0; k < words_.size(); ++k) {
        ok_ = ok_ && contact_words_[k]->add(rest.data() + sizeof(std::uint32_t) * k);
      }
      const std::byte* doubles = rest.data() + sizeof(std::uint32_t) * words_.size();
      for (std::size_t k = 0; k < numbers_.size(); ++k) {
        ok_ =
            ok_ && contact_numbers_[k]->add(doubles + sizeof(double) * numbers_[k].first);
      }
    }
    return ok_;
  }

  bool event(const EventSample& event) {
    const std::uint32_t words[] = {static_cast<std::uint32_t>(event.kind), event.a,
                                   event.b, event.feature, event.episode};
    ok_ = ok_ && event_time_->add_number(event.time) &&
          event_speed_->add_number(event.speed) && event_dof_->add_number(event.dof);
    for (std::size_t k = 0; k < event_words_.size(); ++k) {
      ok_ = ok_ && event_words_[k]->add_number(words[k]);
    }
    return ok_;
  }

  bool finish(const EndRecord& end, bool complete, const std::string& note) {
    if (!ok_) return false;
    ok_ = put_attribute(file_, "status", end.status) &&
          put_attribute(file_, "complete", std::int64_t{complete ? 1 : 0}) &&
          put_attribute(file_, "samples", static_cast<std::int64_t>(samples())) &&
          put_attribute(file_, "note", note) && put_text(file_, "/summary", end.summary);
    for (auto* list : {&samples_, &contact_words_, &contact_numbers_, &event_words_}) {
      for (auto& dataset : *list) ok_ = dataset->close() && ok_;
    }
    for (auto* one : {&start_, &index_, &event_time_, &event_speed_, &event_dof_}) {
      ok_ = (*one)->close() && ok_;
    }
    return ok_;
  }

 private:
  using Dataset = std::unique_ptr<Growing>;

  Dataset list(const std::string& path, std::string_view unit, hid_t stored, hid_t native,
               std::size_t chunk) {
    auto made =
        std::make_unique<Growing>(file_, path, unit, stored, native, 1, true, chunk);
    ok_ = ok_ && made->ok();
    return made;
  }
  Dataset doubles(const Column& column, std::size_t chunk) {
    auto made = std::make_unique<Growing>(file_, path_of(column), column.unit,
                                          H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, column.width,
                                          column.width == 1 && column.parts.empty(),
                                          chunk, columns_.size() <= most_open);
    ok_ = ok_ && made->ok();
    if (made->ok() && !column.parts.empty()) {
      std::string parts;
      for (const std::string& part : column.parts) {
        if (!parts.empty()) parts += ' ';
        parts += part;
      }
      put_attribute(made->id(), "columns", parts);
    }
    ok_ = ok_ && made->rest();
    return made;
  }
  void name_group(const std::string& path, const std::string& name) {
    if (path == named_) return;
    named_ = path;
    const Handle group(H5Gopen2(file_, path.c_str(), H5P_DEFAULT), H5Gclose);
    ok_ = ok_ && group && put_attribute(group.id(), "name", name);
  }

  void describe() {
    const RunInfo& run = header_.run;
    ok_ = put_attribute(file_, "bristle_version", header_.bristle) &&
          put_attribute(file_, "format_version", std::int64_t{format_version}) &&
          put_attribute(file_, "created", header_.created) &&
          put_attribute(file_, "source", run.source) &&
          put_text(file_, "/scene", run.scene);
    const double gravity[] = {header_.gravity.x, header_.gravity.y, header_.gravity.z};
    ok_ = ok_ && put_attribute(file_, "gravity", std::span<const double>(gravity));
    // An attribute has room for 64 KiB.
    if (run.scene.size() < 60000) ok_ = ok_ && put_attribute(file_, "scene", run.scene);
    const Bytes header = encode(header_);
    ok_ = ok_ && put_bytes(file_, "/header", header, false);

    std::vector<std::string> names, bodies, kinds, surfaces;
    for (std::uint32_t i = 0; i < header_.shapes.size(); ++i) {
      const ShapeInfo& shape = header_.shapes[i];
      names.push_back(shape.name);
      bodies.emplace_back(body_name(header_, i));
      kinds.emplace_back(name_of(shape.kind));
      surfaces.push_back(shape.surface);
    }
    ok_ = ok_ && put_texts(file_, "/contacts/names", names) &&
          put_texts(file_, "/contacts/bodies", bodies) &&
          put_texts(file_, "/shapes/name", names) &&
          put_texts(file_, "/shapes/body", bodies) &&
          put_texts(file_, "/shapes/kind", kinds) &&
          put_texts(file_, "/shapes/surface", surfaces);
    std::vector<std::string> normal, friction, normal_memory, friction_memory;
    const auto memory_of = [](const LawRecord& law) {
      std::string text;
      for (const Quantity& q : law.memory) {
        if (!text.empty()) text += ", ";
        text += q.name + " [" + q.unit + "]";
      }
      return text;
    };
    for (const LawPair& laws : header_.laws) {
      normal.push_back(laws.normal.name);
      friction.push_back(laws.friction.name);
      normal_memory.push_back(memory_of(laws.normal));
      friction_memory.push_back(memory_of(laws.friction));
    }
    ok_ = ok_ && put_texts(file_, "/laws/normal", normal) &&
          put_texts(file_, "/laws/friction", friction) &&
          put_texts(file_, "/laws/normal_memory", normal_memory) &&
          put_texts(file_, "/laws/friction_memory", friction_memory);
    ok_ = ok_ && put_texts(file_, "/contacts/states", {"open", "stick", "slip"}) &&
          put_texts(file_, "/events/kinds", {"touch", "lift-off", "normal", "friction"});
  }

  const Header& header_;
  hid_t file_;
  std::vector<Column> columns_, words_, numbers_;
  std::vector<Dataset> samples_, contact_words_, contact_numbers_, event_words_;
  Dataset start_, index_, event_time_, event_speed_, event_dof_;
  std::string named_;
  bool ok_ = true;
};

}  // namespace

Result<FoldReport> fold(const std::string& log_path, const std::string& hdf5_path) {
  Result<LogReader> log = LogReader::open(log_path);
  if (!log) return Error{log.error()};
  std::optional<Frame> frame = log->next();
  if (!frame || frame->type != RecordType::header) {
    return Error{log_path + ": has no header; nothing was recorded"};
  }
  const Result<Header> header = decode_header(frame->payload);
  if (!header) return Error{log_path + ": " + header.error()};

  const Listening library;
  const std::string temporary = hdf5_path + ".part";
  if (const int fresh = files::open_new(temporary); fresh >= 0) {
    ::close(fresh);
  } else {
    return Error{hdf5_path + ": cannot be written: " + std::strerror(errno)};
  }
  const Handle how(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(how.id(), user_block);
  Handle file(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, how.id(), small_cache().id()),
              H5Fclose);
  if (!file) {
    ::unlink(temporary.c_str());
    return trouble(hdf5_path, "cannot be written", library);
  }
  FoldReport report;
  EndRecord end;
  Sample sample;
  EventSample event{};
  std::optional<Error> error;
  {
    Folding folding(*header, file.id());
    while (folding.ok() && (frame = log->next())) {
      if (frame->type == RecordType::sample) {
        if (!decode_sample(*header, frame->payload, sample)) {
          report.note = "a sample does not fit the header";
          break;
        }
        folding.sample(frame->payload);
      } else if (frame->type == RecordType::event) {
        if (decode_event(frame->payload, event)) folding.event(event);
      } else if (frame->type == RecordType::end) {
        report.complete = decode_end(frame->payload, end);
      }
    }
    if (report.note.empty()) report.note = log->how_it_ended();
    report.samples = folding.samples();
    report.contacts = folding.contacts();
    report.events = folding.events();
    if (!folding.finish(end, report.complete, report.note)) {
      error = trouble(hdf5_path, "cannot be written", library);
    }
  }
  // The library may say that something went wrong and go on all the same.
  if ((!file.close() || !library.complaint().empty()) && !error) {
    error = trouble(hdf5_path, "cannot be written", library);
  }
  if (!error) error = seal(temporary);
  if (!error && std::rename(temporary.c_str(), hdf5_path.c_str()) != 0) {
    error = Error{hdf5_path + ": cannot be written: " + std::strerror(errno)};
  }
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return *error;
  }
  return report;
}

struct Hdf5Source::File {
  Handle file;
  Header header{};
  std::vector<double> times{};
  std::vector<EventSample> events{};
  EndRecord end{};
  bool complete = false;
  std::string note{};
  std::vector<std::int64_t> start{};  // of the contacts of each sample, and the end
  std::vector<Column> columns{}, words{}, numbers{};
  std::vector<Handle> column_sets{}, word_sets{}, number_sets{};

  // A block of samples that was read at once.
  std::size_t block_rows = 1;
  std::size_t block = static_cast<std::size_t>(-1);
  std::vector<double> flat{};               // samples × numbers
  std::vector<std::uint32_t> flat_words{};  // contacts × words
  std::vector<double> flat_numbers{};       // contacts × numbers
  std::vector<double> buffer{};
  std::vector<std::uint32_t> word_buffer{};
  Bytes record{};

  Handle open(const std::string& path) const {
    return {H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), H5Dclose};
  }
  /// The columns of samples: kept open, or opened to be read.
  bool read_column(std::size_t k, hsize_t first, hsize_t rows, double* to) const {
    const std::size_t width = columns[k].width;
    if (!column_sets.empty()) {
      return read_rows(column_sets[k], H5T_NATIVE_DOUBLE, width, first, rows, to);
    }
    const Handle dataset = open(path_of(columns[k]));
    return dataset && read_rows(dataset, H5T_NATIVE_DOUBLE, width, first, rows, to);
  }
  static hsize_t rows_of(const Handle& dataset, std::size_t width) {
    if (!dataset) return 0;
    const Handle space(H5Dget_space(dataset.id()), H5Sclose);
    hsize_t sizes[2] = {0, 1};
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank < 1 || rank > 2) return 0;
    H5Sget_simple_extent_dims(space.id(), sizes, nullptr);
    return (rank == 2 ? sizes[1] : 1) == width ? sizes[0] : 0;
  }
  template <class T>
  bool read_all(const std::string& path, hid_t native, std::vector<T>& to) const {
    const Handle dataset = open(path);
    if (!dataset) return false;
    to.resize(rows_of(dataset, 1));
    return to.empty() ||
           H5Dread(dataset.id(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, to.data()) >= 0;
  }
  bool read_rows(const Handle& dataset, hid_t native, std::size_t width, hsize_t first,
                 hsize_t rows, void* to) const {
    if (rows == 0) return true;
    const Handle space(H5Dget_space(dataset.id()), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank < 1 || rank > 2) return false;
    const hsize_t begin[] = {first, 0};
    const hsize_t count[] = {rows, width};
    const Handle memory(H5Screate_simple(rank, count, nullptr), H5Sclose);
    return H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin, nullptr, count,
                               nullptr) >= 0 &&
           H5Dread(dataset.id(), native, memory.id(), space.id(), H5P_DEFAULT, to) >= 0;
  }
  std::string text_attribute(const char* name) const {
    const Handle attribute(H5Aopen(file.id(), name, H5P_DEFAULT), H5Aclose);
    if (!attribute) return {};
    const Handle type(H5Aget_type(attribute.id()), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0) {
      return {};
    }
    std::string text(H5Tget_size(type.id()), '\0');
    if (H5Aread(attribute.id(), type.id(), text.data()) < 0) return {};
    text.erase(std::min(text.find('\0'), text.size()));
    return text;
  }
  std::string text_dataset(const char* name) const {
    const Handle dataset = open(name);
    if (!dataset) return {};
    const Handle type(H5Dget_type(dataset.id()), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0) {
      return {};
    }
    std::string text(H5Tget_size(type.id()), '\0');
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) <
        0) {
      return {};
    }
    text.erase(std::min(text.find('\0'), text.size()));
    return text;
  }

  bool read_events();
  bool load(std::size_t wanted);
};

bool Hdf5Source::File::read_events() {
  std::vector<double> time, speed;
  std::vector<std::int32_t> dof;
  std::vector<std::uint32_t> kind, a, b, feature, episode;
  const bool ok = read_all("/events/time", H5T_NATIVE_DOUBLE, time) &&
                  read_all("/events/speed", H5T_NATIVE_DOUBLE, speed) &&
                  read_all("/events/dof", H5T_NATIVE_INT32, dof) &&
                  read_all("/events/kind", H5T_NATIVE_UINT32, kind) &&
                  read_all("/events/a", H5T_NATIVE_UINT32, a) &&
                  read_all("/events/b", H5T_NATIVE_UINT32, b) &&
                  read_all("/events/feature", H5T_NATIVE_UINT32, feature) &&
                  read_all("/events/episode", H5T_NATIVE_UINT32, episode);
  if (!ok) return false;
  for (const std::size_t size : {speed.size(), dof.size(), kind.size(), a.size(),
                                 b.size(), feature.size(), episode.size()}) {
    if (size != time.size()) return false;
  }
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (kind[i] > static_cast<std::uint32_t>(RecordedEvent::friction)) return false;
    events.push_back({static_cast<RecordedEvent>(kind[i]), a[i], b[i], feature[i],
                      episode[i], dof[i], time[i], speed[i]});
  }
  return true;
}

/// Reads the block of samples that a sample is in.
bool Hdf5Source::File::load(std::size_t wanted) {
  const std::size_t first = wanted * block_rows;
  const std::size_t rows = std::min(block_rows, times.size() - first);
  const std::size_t numbers_of_sample = sample_numbers(header);
  flat.assign(rows * numbers_of_sample, 0.0);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const Column& column = columns[k];
    buffer.resize(rows * column.width);
    if (!read_column(k, first, rows, buffer.data())) return false;
    for (std::size_t i = 0; i < rows; ++i) {
      std::copy_n(buffer.data() + i * column.width, column.width,
                  flat.data() + i * numbers_of_sample + column.first);
    }
  }
  const auto contact_first = static_cast<std::size_t>(start[first]);
  const std::size_t contacts =
      static_cast<std::size_t>(start[first + rows]) - contact_first;
  flat_words.resize(contacts * words.size());
  word_buffer.resize(contacts);
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (!read_rows(word_sets[k], H5T_NATIVE_UINT32, 1, contact_first, contacts,
                   word_buffer.data())) {
      return false;
    }
    for (std::size_t i = 0; i < contacts; ++i) {
      flat_words[i * words.size() + k] = word_buffer[i];
    }
  }
  const std::size_t each = contact_numbers(header);
  flat_numbers.resize(contacts * each);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const Column& column = numbers[k];
    buffer.resize(contacts * column.width);
    if (!read_rows(number_sets[k], H5T_NATIVE_DOUBLE, column.width, contact_first,
                   contacts, buffer.data())) {
      return false;
    }
    for (std::size_t i = 0; i < contacts; ++i) {
      std::copy_n(buffer.data() + i * column.width, column.width,
                  flat_numbers.data() + i * each + column.first);
    }
  }
  block = wanted;
  return true;
}

Hdf5Source::Hdf5Source(std::unique_ptr<File> file) : file_(std::move(file)) {}
Hdf5Source::Hdf5Source(Hdf5Source&&) noexcept = default;
Hdf5Source& Hdf5Source::operator=(Hdf5Source&&) noexcept = default;
Hdf5Source::~Hdf5Source() = default;

const Header& Hdf5Source::header() const { return file_->header; }
const std::vector<double>& Hdf5Source::times() const { return file_->times; }
const std::vector<EventSample>& Hdf5Source::events() const { return file_->events; }
const EndRecord& Hdf5Source::end() const { return file_->end; }
bool Hdf5Source::complete() const { return file_->complete; }
const std::string& Hdf5Source::note() const { return file_->note; }

Result<Hdf5Source> Hdf5Source::open(const std::string& path) {
  if (const auto error = files::unreadable(path)) {
    return Error{path + ": " + error->message};
  }
  const Result<Seal> seal = seal_of(path);
  if (!seal) return Error{seal.error()};
  if (*seal == Seal::damaged) {
    return Error{path +
                 ": is damaged, or was changed by another program: its bytes are "
                 "not those that were written"};
  }
  if (*seal == Seal::foreign) return Error{path + ": is neither a log nor an HDF5 file"};
  if (*seal == Seal::none) {
    if (const auto error = unsafe(path)) return *error;
  }
  return open_trusted(path);
}

Result<Hdf5Source> Hdf5Source::open_trusted(const std::string& path) {
  const Listening library;
  auto made = std::make_unique<File>();
  File& f = *made;
  f.file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, small_cache().id()), H5Fclose);
  if (!f.file) return trouble(path, "cannot be read as HDF5", library);
  std::vector<std::uint8_t> header_bytes;
  if (!f.read_all("/header", H5T_NATIVE_UINT8, header_bytes)) {
    return Error{path + ": is not a recording of Bristle (it has no /header)"};
  }
  Result<Header> header = decode_header(std::as_bytes(std::span(header_bytes)));
  if (!header) return Error{path + ": " + header.error()};
  f.header = std::move(*header);
  if (!f.read_all("/time", H5T_NATIVE_DOUBLE, f.times) ||
      !f.read_all("/contacts/start", H5T_NATIVE_INT64, f.start) || !f.read_events() ||
      f.start.size() != f.times.size()) {
    return Error{path + ": is damaged"};
  }
  const auto open_all = [&](const std::vector<Column>& columns, std::vector<Handle>& sets,
                            hsize_t rows) {
    for (const Column& column : columns) {
      Handle dataset = f.open(path_of(column));
      if (!dataset || File::rows_of(dataset, column.width) != rows) return false;
      if (columns.size() <= most_open) sets.push_back(std::move(dataset));
    }
    return true;
  };
  f.columns = sample_columns(f.header);
  f.words = contact_words(f.header);
  f.numbers = contact_columns(f.header);
  const hsize_t contacts = File::rows_of(f.open("/contacts/time_index"), 1);
  bool fine = open_all(f.columns, f.column_sets, f.times.size()) &&
              open_all(f.words, f.word_sets, contacts) &&
              open_all(f.numbers, f.number_sets, contacts);
  f.start.push_back(static_cast<std::int64_t>(contacts));
  std::int64_t last = 0;
  for (const std::int64_t start : f.start) {
    fine = fine && start >= last;
    last = start;
  }
  if (!fine) return Error{path + ": is damaged"};
  f.block_rows = rows_per_chunk(sample_bytes(f.header, 0));
  f.end.status = f.text_attribute("status");
  f.end.summary = f.text_dataset("/summary");
  f.note = f.text_attribute("note");
  std::int64_t complete = 0;
  const Handle attribute(H5Aopen(f.file.id(), "complete", H5P_DEFAULT), H5Aclose);
  if (attribute) H5Aread(attribute.id(), H5T_NATIVE_INT64, &complete);
  f.complete = complete == 1;
  return Hdf5Source(std::move(made));
}

/// Why a file that nobody vouches for must not be read here: a child process reads all of
/// it first.
std::optional<Error> Hdf5Source::unsafe(const std::string& path) {
  const Result<std::string> answer = files::guarded([&] {
    Result<Hdf5Source> source = open_trusted(path);
    if (!source) return source.error();
    for (std::size_t i = 0; i < source->times().size(); ++i) {
      // What cannot be read within the child's limits must not be tried beyond them.
      if (source->record(i).empty()) {
        return path + ": is damaged: sample " + std::to_string(i) + " cannot be read";
      }
    }
    return std::string();
  });
  if (!answer) return Error{path + ": cannot be read: " + answer.error()};
  if (!answer->empty()) return Error{*answer};
  return std::nullopt;
}

std::span<const std::byte> Hdf5Source::record(std::size_t i) {
  File& f = *file_;
  if (i >= f.times.size()) return {};
  const Listening library;
  if (f.block != i / f.block_rows && !f.load(i / f.block_rows)) return {};
  const std::size_t first = f.block * f.block_rows;
  const std::size_t numbers = sample_numbers(f.header);
  f.record.clear();
  ByteWriter to(f.record);
  to.put_doubles(std::span(f.flat).subspan((i - first) * numbers, numbers));
  const auto begin = static_cast<std::size_t>(f.start[i] - f.start[first]);
  const auto end = static_cast<std::size_t>(f.start[i + 1] - f.start[first]);
  to.put(static_cast<std::uint64_t>(end - begin));
  const std::size_t each = contact_numbers(f.header);
  for (std::size_t k = begin; k < end; ++k) {
    for (std::size_t w = 0; w < f.words.size(); ++w) {
      to.put(f.flat_words[k * f.words.size() + w]);
    }
    to.put_doubles(std::span(f.flat_numbers).subspan(k * each, each));
  }
  return f.record;
}

}  // namespace bristle::recording
