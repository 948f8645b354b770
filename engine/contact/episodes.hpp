#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bristle/contact/event.hpp"
#include "bristle/contact/law_pool.hpp"
#include "bristle/contact/pair_cache.hpp"

// The life of a contact as its laws see it: open → touch (an episode begins, the approach
// speed is latched) → lasting → open; with the entries in the ledger that belong to it.

namespace bristle {

/// The events a stepper has located at the state being settled, per row as the state
/// had them before: 1 it touches, −1 it leaves, 0 it stays as it is; −2 it leaves where
/// its contact time says δ = 0. Empty: no events.
struct LocatedEvents {
  std::span<const std::int8_t> contacts{};
  std::span<const std::int8_t> joints{};
};

/// From one accepted state to the next.
struct AcceptedStep {
  double horizon;  // how far ahead contacts are predicted [s]
  double elapsed;  // since the rows were last made; 0 the first time [s]
  double time;     // of the state now [s]
  bool begun;      // it has been settled before: a new contact is an event
  bool first;      // no rows were made before
  bool untouched;  // the laws advanced over the step, and v was not set by hand after
  bool committed;  // the memory was adjusted at its beginning already
  bool by_events;  // contacts close and open where events say so, not by depth
  bool impulses;   // the step solved for impulses: a row with one is closed
  std::span<const std::int8_t> events;  // per old row; may be empty
};

/// Brings the episodes of a pool's rows up to date.
class Episodes {
 public:
  /// Lines of the ledger that the rows write to.
  struct Lines {
    Powers<double>& normal;
    Powers<double>& friction;
    double& regenerated;
    double& rolling;
    double& spin;
    std::uint32_t& begun;  // number of the last episode
    std::vector<Event>& events;
  };

  /// `old` and `now` may be the same rows, where none of them moves.
  Episodes(const AcceptedStep& step, const MemoryLayout& layout, bool contact_ledger,
           const LawRows& old, LawRows& now, Lines lines)
      : step_(step),
        layout_(layout),
        contact_ledger_(contact_ledger),
        old_(old),
        now_(now),
        lines_(lines) {}

  /// A row that was found, or that is kept because its ground recovers. Its
  /// memory is in place.
  void update(const LawBlock& laws, const RowChange& change, const RowMotion& motion,
              const ContactKey& key);
  /// A row whose point has vanished: the energy that its laws still stored.
  void part(const LawBlock& laws, const RowChange& change, const ContactKey& key);

 private:
  struct Row;  // the current row
  bool keeps_what_left(const LawBlock& laws) const;
  bool closes(const Row& row, double rate) const;
  void correct_ledger(const Row& row, const RowMotion& motion);
  bool recovers(const Row& row) const;
  void begin(Row& row, double rate);
  void end(Row& row, double rate);
  void regenerate(const Row& row, double rate);
  void regenerate_exactly(const Row& row);
  void regenerate_patch(const Row& row, double in_friction);
  double friction_energy(const LawBlock& laws, std::size_t i) const;
  void follow_travel(const Row& row, double depth);
  double foreseen(const Row& row, double rate) const;
  void touch(const LawBlock& laws, std::size_t i, double approach,
             bool with_friction = true);
  double stored(const Row& row, double depth) const;
  int event_of(const Row& row) const;
  void note_event(EventKind kind, const RowChange& change, const ContactKey& key,
                  std::uint32_t episode, double speed);

  Columns<double> normal_memory() {
    return {now_.memory.data() + column(layout_.normal, now_), now_.capacity()};
  }
  Columns<double> friction_memory() {
    return {now_.memory.data() + column(layout_.friction, now_), now_.capacity()};
  }
  static std::size_t column(int k, const LawRows& rows) {
    return static_cast<std::size_t>(k) * rows.capacity();
  }
  Columns<const double> memory_of(const LawRows& rows, int k) const {
    return {rows.memory.data() + column(k, rows), rows.capacity()};
  }

  const AcceptedStep& step_;
  const MemoryLayout& layout_;
  bool contact_ledger_;
  const LawRows& old_;
  LawRows& now_;
  Lines lines_;
};

}  // namespace bristle
