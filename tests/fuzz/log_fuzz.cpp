// Whatever reads recordings: logs, headers, samples, states.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "recording/crc32c.hpp"
#include "recording/export.hpp"
#include "recording/hdf5.hpp"
#include "recording/log.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/recording/scenes.hpp"

namespace bristle::recording {
namespace {

/// Bytes as they are.
void read_log(std::span<const std::byte> bytes) {
  Result<LogReader> reader = LogReader::over(bytes);
  if (!reader) return;
  while (reader->next()) {
  }
  if (reader->offset() > bytes.size()) std::abort();
}

/// Frames with the right checksum around payloads of any kind: what the checksum would
/// hide otherwise. Header first, with some of its bytes changed.
void read_recording(std::span<const std::byte> bytes, const Bytes& good_header,
                    const Bytes& good_sample) {
  static const Scratch scratch;
  static const std::string path = scratch / "recording.log";
  const auto next = [&] {
    if (bytes.empty()) return 0u;
    const auto value = static_cast<unsigned>(bytes.front());
    bytes = bytes.subspan(1);
    return value;
  };
  const auto changed = [&](Bytes payload) {
    const unsigned changes = next() % 8;
    for (unsigned i = 0; i < changes && !payload.empty(); ++i) {
      const std::size_t at = (next() << 16 | next() << 8 | next()) % payload.size();
      payload[at] = static_cast<std::byte>(next());
    }
    if (next() % 8 == 0) payload.resize(payload.size() - next() % (payload.size() + 1));
    return payload;
  };
  {
    Result<LogWriter> log = LogWriter::create(path, {});
    if (!log) std::abort();
    log->add(RecordType::header, changed(good_header));
    while (!bytes.empty()) {
      const unsigned kind = next() % 6;
      if (kind < 3) {
        log->add(RecordType::sample, changed(good_sample));
      } else {
        const std::size_t length = std::min<std::size_t>(next(), bytes.size());
        log->add(static_cast<RecordType>(kind), bytes.first(length));
        bytes = bytes.subspan(length);
      }
    }
  }
  Result<Reader> reader = Reader::open(path);
  if (!reader) return;
  Sample sample;
  for (std::size_t i = 0; i < reader->size(); ++i) {
    if (!reader->read(i, sample) && reader->error().empty()) std::abort();
  }
  if (reader->size() > 0) {
    const Result<ExportReport> gltf = export_gltf(*reader, scratch / "x.glb");
    if (!gltf && gltf.error().empty()) std::abort();
  }
}

/// A state with the right checksum.
void read_state(std::span<const std::byte> bytes, const Model& model,
                const Bytes& good_state) {
  Bytes state = good_state;
  state.resize(state.size() - 4);
  while (bytes.size() >= 3) {
    const std::size_t at =
        24 + (static_cast<unsigned>(bytes[0]) << 8 | static_cast<unsigned>(bytes[1])) %
                 (state.size() - 24);
    state[at] = bytes[2];
    bytes = bytes.subspan(3);
  }
  ByteWriter(state).put(crc32c(state));
  const Result<State> result = deserialise(state, model);
  if (result && serialise(model, *result).empty()) std::abort();
}

struct Good {
  Model model = tumbling();
  Bytes header, sample, state;

  Good() {
    const Scratch scratch;
    State now = thrown(model);
    Result<Recorder> recorder =
        Recorder::create(scratch / "log", model, {.probes = {{"p", "m"}}});
    simulate(model, now,
             SimulateOptions{.clock = {}, .duration = 0.4, .observe_every = 0.4},
             [&](const Observation& seen) { return recorder->sample(seen); });
    recorder->flush();
    state = serialise(model, now);
    Result<LogReader> reader = LogReader::open(scratch / "log");
    while (const std::optional<Frame> frame = reader->next()) {
      (frame->type == RecordType::header ? header : sample)
          .assign(frame->payload.begin(), frame->payload.end());
    }
  }
};

}  // namespace
}  // namespace bristle::recording

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bristle::recording;  // NOLINT(google-build-using-namespace)
  static const Good good;
  if (size == 0) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 4) {
    case 0:
      read_log(bytes);
      break;
    case 1:
      static_cast<void>(decode_header(bytes));
      break;
    case 2:
      read_recording(bytes, good.header, good.sample);
      break;
    default:
      read_state(bytes, good.model, good.state);
  }
  return 0;
}
