#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "bristle/run.hpp"
#include "recording/log.hpp"
#include "recording/sample.hpp"
#include "recording/state_bytes.hpp"

// Writes a run down while it goes on: an observer of run().
//
//   auto recorder = Recorder::create("out/recording.log", model, {.scene = text});
//   simulate(model, state, options, [&](const Observation& now) {
//     return recorder->sample(now, probes);
//   });
//   recorder->finish({"ok", summary});
//
// Nothing allocates per sample or event, and memory does not grow with the time that is
// simulated. Where writing fails, the functions return false and error() says why; what
// was recorded before stays readable.

namespace bristle::recording {

struct RecorderOptions {
  LogOptions log{};
  double stick_speed = 1e-3;  // of laws without a guard for slip (ContactState) [m/s]
  bool open_contacts = true;  // record those that are about to touch, too
};

class Recorder {
 public:
  /// A new log at `path`. The model must outlive the recorder.
  static Result<Recorder> create(const std::string& path, const Model& model, RunInfo run,
                                 const RecorderOptions& options = {});
  /// Goes on with the log of a run that was interrupted; the model must be the same, and
  /// so must the probes. What comes after `from` [s] is cut off, and a sample that is
  /// there already is not written again.
  static Result<Recorder> resume(const std::string& path, const Model& model, double from,
                                 const RecorderOptions& options = {});

  /// The observation as it is; `probes` as many as RunInfo names.
  bool sample(const Observation& now, std::span<const double> probes = {});
  bool event(const Event& event);
  /// A state to go on from, and what else the caller needs for that. It is handed to the
  /// operating system at once.
  bool checkpoint(const State& state, std::span<const std::byte> extra = {});
  /// The end of the run; synchronises with the disk.
  bool finish(const EndRecord& end);

  bool flush() { return log_.flush(); }
  const std::string& error() const { return log_.error(); }
  const Header& header() const { return header_; }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t bytes() const { return log_.written(); }

 private:
  struct Pen;  // writes to the log
  struct BodyPlace {
    std::size_t link;
    bool moved;  // its frame is not that of the link
    Transform<double> in_link;
  };
  struct Laws {
    std::size_t normal_fields, friction_fields;
  };

  Recorder(LogWriter log, const Model& model, Header header,
           const RecorderOptions& options);
  void write_bodies(const Observation& now, Pen& pen);
  static void write_ledger(const Audit& audit, Pen& pen);
  void write_contacts(const ContactView& contacts, Pen& pen);

  LogWriter log_;
  const Model* model_;
  Header header_;
  RecorderOptions options_;
  Fingerprint print_;
  std::vector<BodyPlace> bodies_;
  std::vector<Quaternion<double>> last_;  // of bodies, for the sign
  std::vector<Laws> laws_;
  std::vector<double> guards_;  // of one contact's friction law
  Bytes scratch_;
  std::uint64_t samples_ = 0;
  double recorded_until_ = -std::numeric_limits<double>::infinity();  // before resume()
};

/// What a checkpoint of a log holds.
struct Checkpoint {
  double time = 0;  // [s]
  Bytes state{};    // for deserialise()
  Bytes extra{};
};
/// The last checkpoint of a log, or the last one not after `until`; an error where there
/// is none.
Result<Checkpoint> last_checkpoint(const std::string& log_path, double until = 1e300);

}  // namespace bristle::recording
