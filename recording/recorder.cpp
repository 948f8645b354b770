#include "recording/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bristle/laws/choice.hpp"

namespace bristle::recording {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr double never = -std::numeric_limits<double>::infinity();

/// Writes numbers one after the other to where there is room for them.
struct Pen {
  std::byte* to;

  template <class T>
  void write(const T& value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  }
  void write(std::span<const double> numbers) {
    if (numbers.empty()) return;
    std::memcpy(to, numbers.data(), numbers.size_bytes());
    to += numbers.size_bytes();
  }
};

}  // namespace

Recorder::Recorder(LogWriter log, const Model& model, Header header,
                   const RecorderOptions& options)
    : log_(std::move(log)),
      model_(&model),
      header_(std::move(header)),
      options_(options),
      print_{header_.layout, header_.model} {
  const Mat3<double> level = Mat3<double>::identity();
  const auto same = [](const Vec3<double>& a, const Vec3<double>& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  for (const Body& body : model.tree.bodies()) {
    const Transform<double>& x = body.in_link;
    const bool moved = !(same(x.R.x, level.x) && same(x.R.y, level.y) &&
                         same(x.R.z, level.z) && same(x.p, {0, 0, 0}));
    bodies_.push_back({at(body.link), moved, x});
    last_.push_back(Quaternion<double>::identity());
  }
  for (const LawBlock& block : model.blocks) {
    const LawEntry& law = entry_of(block.friction);
    laws_.push_back({!law.guards.empty() && law.guards.front() == "slip",
                     at(normal_law(block.normal).fields),
                     at(friction_law(block.friction).fields)});
  }
  log_.reserve(sample_bytes(header_, at(model.row_capacity)));
}

Result<Recorder> Recorder::create(const std::string& path, const Model& model,
                                  RunInfo run, const RecorderOptions& options) {
  Result<LogWriter> log = LogWriter::create(path, options.log);
  if (!log) return Error{log.error()};
  Recorder recorder(std::move(*log), model, make_header(model, std::move(run)), options);
  recorder.log_.add(RecordType::header, encode(recorder.header_));
  if (!recorder.log_.flush()) return Error{recorder.error()};
  return recorder;
}

Result<Recorder> Recorder::resume(const std::string& path, const Model& model,
                                  double from, const RecorderOptions& options) {
  std::uint64_t keep = 0;
  std::uint64_t samples = 0;
  double last = never;
  Sample sample;  // the last one
  Result<Header> header = Error{path + ": has no header"};
  {
    Result<LogReader> reader = LogReader::open(path);
    if (!reader) return Error{reader.error()};
    while (const std::optional<Frame> frame = reader->next()) {
      if (frame->type == RecordType::header) {
        header = decode_header(frame->payload);
        if (!header) return Error{path + ": " + header.error()};
      } else {
        if (frame->type == RecordType::end) break;
        ByteReader payload(frame->payload);
        EventSample event{};
        if (frame->type == RecordType::event && decode_event(frame->payload, event)) {
          if (event.time > from) break;
        } else if (payload.get<double>() > from) {  // of samples and checkpoints
          break;
        }
        if (frame->type == RecordType::sample) {
          ++samples;
          last = ByteReader(frame->payload).get<double>();
          if (header) decode_sample(*header, frame->payload, sample);
        }
      }
      keep = reader->offset();
    }
  }
  if (!header) return Error{header.error()};
  for (const LawPair& laws : header->laws) {
    for (const std::string& law : {laws.normal.name, laws.friction.name}) {
      if (find_law(law)) continue;
      std::string text = path;
      text += ": was made with the law \"" + law +
              "\", which this program has not registered";
      return Error{text};
    }
  }
  if (header->model != fingerprint(model).whole) {
    return Error{path + ": is the recording of another model"};
  }
  Result<LogWriter> log = LogWriter::append(path, keep, options.log);
  if (!log) return Error{log.error()};
  Recorder recorder(std::move(*log), model, std::move(*header), options);
  recorder.samples_ = samples;
  recorder.recorded_until_ = last;
  // Quaternions go on with the same sign.
  for (std::size_t i = 0; i < std::min(sample.bodies.size(), recorder.last_.size());
       ++i) {
    recorder.last_[i] = sample.bodies[i].quaternion;
  }
  return recorder;
}

ContactState Recorder::state_of(const Observation& now, std::size_t row,
                                std::size_t block, const ContactSample& contact) const {
  if (contact.episode == 0 || (contact.depth <= 0 && contact.normal_force == 0)) {
    return ContactState::open;
  }
  if (laws_[block].says_slip) {
    const LawChoice& choice = model_->blocks[block].friction;
    const std::size_t capacity = now.state.contacts.rows.size();
    const std::size_t first = at(now.system.contacts.layout.friction) * capacity;
    // A view that could write; guards only read.
    auto* memory = const_cast<double*>(now.state.contacts.memory.data());
    NormalLawTable::Guards guards{};
    friction_law(choice).guards(
        choice, {memory + first, capacity}, row,
        Kinematics<double>::at(contact.depth, contact.rate, contact.slip),
        contact.normal_force, guards);
    return guards[0] > 0 ? ContactState::slip : ContactState::stick;
  }
  return norm(contact.slip) > options_.stick_speed ? ContactState::slip
                                                   : ContactState::stick;
}

bool Recorder::sample(const Observation& now, std::span<const double> probes) {
  const State& state = now.state;
  if (state.time <= recorded_until_) return log_.error().empty();
  const ContactWorkspace& ws = now.system.contacts;
  const ContactRows& contacts = state.contacts;
  const std::size_t first = at(contacts.begin[at(model_->joint_blocks)]);
  const std::size_t rows = at(contacts.count) - std::min(first, at(contacts.count));
  std::byte* begin = log_.begin(sample_bytes(header_, rows));
  if (begin == nullptr) return false;
  Pen pen{begin};
  pen.write(state.time);

  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyPlace& place = bodies_[i];
    const Transform<double>& link = now.system.tree.poses[place.link];
    Motion<double> motion = now.system.tree.velocities[place.link];
    BodySample body;
    if (place.moved) {
      const Vec3<double> arm = link.R * place.in_link.p;
      motion = shifted(motion, arm);
      body.position = link.p + arm;
      body.quaternion = from_matrix(link.R * place.in_link.R);
    } else {
      body.position = link.p;
      body.quaternion = from_matrix(link.R);
    }
    Quaternion<double>& q = body.quaternion;
    const Quaternion<double>& last = last_[i];
    if (q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0) {
      q = {-q.w, -q.x, -q.y, -q.z};
    }
    last_[i] = q;
    body.velocity = motion.linear;
    body.angular_velocity = motion.angular;
    pen.write(body);
  }
  pen.write(std::span<const double>(state.q));
  pen.write(std::span<const double>(state.v));

  const Ledger& ledger = now.audit.last();
  const double stored[] = {ledger.kinetic,        ledger.gravity,  ledger.springs,
                           ledger.normal,         ledger.friction, ledger.limits,
                           ledger.joint_friction, ledger.loops};
  pen.write(std::span<const double>(stored));
  pen.write(ledger.works);
  const double sums[] = {ledger.energy(), ledger.dissipated(), ledger.supplied(),
                         now.audit.residual()};
  pen.write(std::span<const double>(sums));
  for (std::size_t i = 0; i < header_.run.probes.size(); ++i) {
    pen.write(i < probes.size() ? probes[i] : std::nan(""));
  }

  std::byte* count_at = pen.to;
  std::uint64_t count = 0;
  pen.write(count);
  const std::size_t capacity = ws.capacity;
  std::size_t block = at(model_->joint_blocks);
  for (std::size_t i = first; i < at(contacts.count); ++i) {
    while (i >= at(contacts.begin[block + 1])) ++block;
    const ContactRow& row = contacts.rows[i];
    if (row.a == no_shape) continue;
    if (row.episode == 0 && !options_.open_contacts) continue;
    const auto column = [&](std::size_t k) { return ws.columns[k * capacity + i]; };
    const RowPlace& place = ws.places[i];
    ContactSample contact;
    contact.a = row.a;
    contact.b = row.b;
    contact.feature = row.feature;
    contact.episode = row.episode;
    contact.laws = static_cast<std::uint32_t>(block);
    contact.depth = column(RowColumns::depth);
    contact.rate = column(RowColumns::rate);
    contact.slip = {column(RowColumns::slip_x), column(RowColumns::slip_y)};
    contact.slip_world = place.frame.to_world(contact.slip);
    contact.normal_force = column(RowColumns::normal);
    contact.friction = place.frame.to_world(
        {column(RowColumns::friction_x), column(RowColumns::friction_y)});
    contact.point = place.point;
    contact.normal = place.frame.n;
    contact.state = state_of(now, i, block, contact);
    pen.write(contact);
    const auto remember = [&](int from, std::size_t used, int columns) {
      const double* memory = contacts.memory.data() + at(from) * capacity + i;
      for (std::size_t k = 0; k < at(columns); ++k) {
        pen.write(k < used ? memory[k * capacity] : 0.0);
      }
    };
    remember(ws.layout.normal, laws_[block].normal_fields, header_.normal_memory);
    remember(ws.layout.friction, laws_[block].friction_fields, header_.friction_memory);
    ++count;
  }
  std::memcpy(count_at, &count, sizeof count);
  ++samples_;
  return log_.end(RecordType::sample, static_cast<std::size_t>(pen.to - begin));
}

bool Recorder::event(const State& state, const Event& event) {
  EventSample record{.kind = static_cast<RecordedEvent>(event.kind),
                     .a = no_shape,
                     .b = no_shape,
                     .feature = 0,
                     .episode = 0,
                     .dof = -1,
                     .time = event.time,
                     .speed = 0};
  const ContactRows& contacts = state.contacts;
  if (event.row >= 0 && event.row < contacts.count) {
    const ContactRow& row = contacts.rows[at(event.row)];
    record.a = row.a;
    record.b = row.b;
    record.feature = row.feature;
    record.episode = row.episode;
    record.speed = event.kind == EventKind::touch ? row.approach : std::fabs(row.rate);
    if (event.row < contacts.begin[at(model_->joint_blocks)]) {
      record.dof = joint_row(*model_, contacts, at(event.row)).dof;
    }
  }
  return log_.add(RecordType::event, std::as_bytes(std::span(&record, 1)));
}

bool Recorder::checkpoint(const State& state, std::span<const std::byte> extra) {
  serialise(*model_, print_, state, scratch_);
  const std::uint64_t length = scratch_.size();
  const std::size_t total = 2 * sizeof(double) + scratch_.size() + extra.size();
  std::byte* begin = log_.begin(total);
  if (begin == nullptr) return false;
  Pen pen{begin};
  pen.write(state.time);
  pen.write(length);
  std::memcpy(pen.to, scratch_.data(), scratch_.size());
  if (!extra.empty()) {
    std::memcpy(pen.to + scratch_.size(), extra.data(), extra.size());
  }
  return log_.end(RecordType::checkpoint, total) && log_.flush();
}

bool Recorder::finish(const EndRecord& end) {
  return log_.add(RecordType::end, encode(end)) && log_.sync();
}

Result<Checkpoint> last_checkpoint(const std::string& log_path, double until) {
  Result<LogReader> reader = LogReader::open(log_path);
  if (!reader) return Error{reader.error()};
  Checkpoint checkpoint;
  bool found = false;
  while (const std::optional<Frame> frame = reader->next()) {
    if (frame->type != RecordType::checkpoint) continue;
    ByteReader from(frame->payload);
    const auto time = from.get<double>();
    const auto length = from.get<std::uint64_t>();
    if (!from.ok() || length > from.left() || time > until) continue;
    const std::span<const std::byte> state = from.get_bytes(length);
    const std::span<const std::byte> extra = from.get_bytes(from.left());
    checkpoint = {time, Bytes(state.begin(), state.end()),
                  Bytes(extra.begin(), extra.end())};
    found = true;
  }
  if (!found) return Error{log_path + ": has no checkpoint"};
  return checkpoint;
}

}  // namespace bristle::recording
