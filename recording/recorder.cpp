#include "recording/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bristle::recording {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A recording tells switches by the law that they are of.
RecordedEvent kind_of(const Event& event) {
  if (event.kind == EventKind::touch) return RecordedEvent::touch;
  if (event.kind == EventKind::lift_off) return RecordedEvent::lift_off;
  return event.law == LawFamily::normal ? RecordedEvent::normal : RecordedEvent::friction;
}

constexpr double never = -std::numeric_limits<double>::infinity();

}  // namespace

/// Writes numbers one after the other to where there is room for them.
struct Recorder::Pen {
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
    laws_.push_back(
        {at(normal_law(block.normal).fields), at(friction_law(block.friction).fields)});
  }
  log_.reserve(sample_bytes(header_, at(model.contact_row_capacity)));
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

bool Recorder::sample(const Observation& now, std::span<const double> probes) {
  const State& state = now.state;
  if (state.time <= recorded_until_) return log_.error().empty();
  std::byte* begin = log_.begin(sample_bytes(header_, now.contacts().size()));
  if (begin == nullptr) return false;
  Pen pen{begin};
  pen.write(state.time);
  write_bodies(now, pen);
  pen.write(std::span<const double>(state.q));
  pen.write(std::span<const double>(state.v));
  write_ledger(now.audit, pen);
  for (std::size_t i = 0; i < header_.run.probes.size(); ++i) {
    pen.write(i < probes.size() ? probes[i] : std::nan(""));
  }
  write_contacts({now.model, state, now.system.pools.points, options_.stick_speed}, pen);
  ++samples_;
  return log_.end(RecordType::sample, static_cast<std::size_t>(pen.to - begin));
}

void Recorder::write_bodies(const Observation& now, Pen& pen) {
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
}

void Recorder::write_ledger(const Audit& audit, Pen& pen) {
  const Ledger& ledger = audit.last();
  const double stored[] = {ledger.kinetic,        ledger.gravity,  ledger.springs,
                           ledger.normal,         ledger.friction, ledger.limits,
                           ledger.joint_friction, ledger.loops};
  pen.write(std::span<const double>(stored));
  pen.write(ledger.works);
  const double sums[] = {ledger.energy(), ledger.dissipated(), ledger.supplied(),
                         audit.residual()};
  pen.write(std::span<const double>(sums));
}

void Recorder::write_contacts(const ContactView& contacts, Pen& pen) {
  std::byte* count_at = pen.to;
  std::uint64_t count = 0;
  pen.write(count);
  const MemoryLayout layout(*model_);
  contacts.for_each([&](const ContactInfo& contact) {
    if (contact.episode == 0 && !options_.open_contacts) return;
    pen.write(ContactSample{.a = contact.key.a,
                            .b = contact.key.b,
                            .feature = contact.key.feature,
                            .episode = contact.episode,
                            .laws = static_cast<std::uint32_t>(contact.block),
                            .state = static_cast<ContactState>(contact.phase),
                            .depth = contact.depth,
                            .rate = contact.rate,
                            .slip = contact.slip,
                            .slip_world = contact.slip_world,
                            .normal_force = contact.normal_force,
                            .friction = contact.friction,
                            .point = contact.point,
                            .normal = contact.frame.n});
    const Laws& laws = laws_[at(contact.block)];
    const auto remember = [&](int first, std::size_t used, int columns) {
      for (std::size_t k = 0; k < at(columns); ++k) {
        pen.write(k < used ? contacts.memory(at(first) + k)[contact.row] : 0.0);
      }
    };
    remember(layout.normal, laws.normal_fields, header_.normal_memory);
    remember(layout.friction, laws.friction_fields, header_.friction_memory);
    if (header_.patch_numbers > 0) {
      const double numbers[numbers_of_patch] = {contact.couple.x, contact.couple.y,
                                                contact.couple.z, contact.volume,
                                                contact.area};
      pen.write(std::span<const double>(numbers));
    }
    ++count;
  });
  std::memcpy(count_at, &count, sizeof count);
}

bool Recorder::event(const Event& event) {
  EventSample record{.kind = kind_of(event),
                     .a = event.contact.a,
                     .b = event.contact.b,
                     .feature = event.contact.feature,
                     .episode = event.episode,
                     .dof = -1,
                     .time = event.time,
                     .speed = event.speed};
  if (event.joint_row >= 0) {
    const JointRow* joint = joint_of_row(*model_, at(event.joint_row));
    if (joint != nullptr) record.dof = joint->dof;
    if (joint != nullptr && joint->coupling >= 0) {  // the first joint that moves it
      record.dof = model_->couplings[at(joint->coupling)].joints.front().dof;
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
