#include "recording/sample.hpp"

namespace bristle::recording {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::size_t contact_bytes(const Header& header) {
  return sizeof(ContactSample) + sizeof(double) * contact_fields(header);
}

}  // namespace

std::size_t sample_bytes(const Header& header, std::size_t contacts) {
  return sizeof(double) + sizeof(BodySample) * header.bodies.size() +
         sizeof(double) * (at(header.positions) + at(header.velocities) +
                           header.ledger.size() + header.run.probes.size()) +
         sizeof(std::uint64_t) + contacts * contact_bytes(header);
}

bool decode_sample(const Header& header, std::span<const std::byte> bytes, Sample& to) {
  if (bytes.size() < sample_bytes(header, 0)) return false;
  ByteReader from(bytes);
  to.time = from.get<double>();
  const auto copy = [&](void* into, std::size_t length) {
    const std::span<const std::byte> part = from.get_bytes(length);
    if (!part.empty()) std::memcpy(into, part.data(), part.size());
  };
  to.bodies.resize(header.bodies.size());
  copy(to.bodies.data(), to.bodies.size() * sizeof(BodySample));
  const auto numbers = [&](std::vector<double>& into, std::size_t count) {
    into.resize(count);
    from.get_doubles(into);
  };
  numbers(to.q, at(header.positions));
  numbers(to.v, at(header.velocities));
  numbers(to.ledger, header.ledger.size());
  numbers(to.probes, header.run.probes.size());
  const auto count = from.get<std::uint64_t>();
  const std::size_t each = contact_bytes(header);
  if (count > from.left() / each || from.left() != count * each) return false;
  const std::size_t fields = contact_fields(header);
  to.contacts.resize(count);
  to.memory.resize(count * fields);
  for (std::size_t i = 0; i < count; ++i) {
    ContactSample& contact = to.contacts[i];
    copy(&contact, sizeof contact);
    if (contact.laws >= header.laws.size() || contact.state > ContactState::slip ||
        contact.a >= header.shapes.size() || contact.b >= header.shapes.size()) {
      return false;
    }
    from.get_doubles(std::span(to.memory).subspan(i * fields, fields));
  }
  return from.ok();
}

bool decode_event(std::span<const std::byte> bytes, EventSample& to) {
  if (bytes.size() != sizeof to) return false;
  std::memcpy(&to, bytes.data(), sizeof to);
  return to.kind <= RecordedEvent::friction;
}

Bytes encode(const EndRecord& end) {
  Bytes bytes;
  ByteWriter to(bytes);
  to.put_text(end.status);
  to.put_text(end.summary);
  return bytes;
}

bool decode_end(std::span<const std::byte> bytes, EndRecord& to) {
  ByteReader from(bytes);
  to.status = from.get_text();
  to.summary = from.get_text();
  return from.ok() && from.left() == 0;
}

}  // namespace bristle::recording
