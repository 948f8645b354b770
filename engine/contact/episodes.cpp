#include "bristle/contact/episodes.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// k_v W of row i.
double energy_of(const PatchRow& patch, const LawChoice& law,
                 const Columns<const double>& memory, std::size_t i) {
  return normal_law(law).volume(law, memory, i).stiffness * patch.potential;
}

}  // namespace

struct Episodes::Row {
  const LawBlock& laws;
  const RowChange& change;
  std::size_t i;    // among the new rows
  std::size_t was;  // among the old ones; only where existed
  bool existed;
  bool was_closed;
  double old_depth, old_rate;
  const PatchRow* patch;  // under a volumetric law
};

void Episodes::update(const LawBlock& laws, const RowChange& change,
                      const RowMotion& motion, const ContactKey& key) {
  if (change.fate == RowChange::Fate::kept) {
    part(laws, change, key);
    friction_law(laws.friction).touch(laws.friction, friction_memory(), at(change.now));
  }
  const bool existed = change.was >= 0;
  const std::size_t was = existed ? at(change.was) : 0;
  const std::uint32_t episode = existed ? old_.episode[was] : 0;
  Row row{.laws = laws,
          .change = change,
          .i = at(change.now),
          .was = was,
          .existed = existed,
          .was_closed = episode != 0,
          .old_depth = existed ? old_.depth[was] : -1,
          .old_rate = existed ? old_.rate[was] : 0,
          .patch = motion.patch};
  now_.lag[row.i] = 0;
  if (step_.impulses && !key.empty() && change.fate == RowChange::Fate::found &&
      row.patch == nullptr) {
    follow_travel(row, motion.depth);
  } else {
    now_.depth[row.i] = motion.depth;
  }
  const bool was_inside =
      row.was_closed && (row.old_depth > 0 || (step_.impulses && !recovers(row)));
  const std::size_t i = row.i;
  const bool by_patch = step_.impulses && row.patch != nullptr;
  const double in_friction = by_patch ? friction_energy(row.laws, i) : 0;
  const bool closed = closes(row, motion.rate);
  if (row.was_closed && step_.untouched) correct_ledger(row, motion);
  double acceleration = existed ? old_.acceleration[was] : 0;
  if (step_.elapsed > 0) {
    acceleration =
        existed && !row.was_closed ? (motion.rate - row.old_rate) / step_.elapsed : 0;
  }
  now_.episode[i] = episode;
  now_.approach[i] = existed ? old_.approach[was] : 0;
  now_.acceleration[i] = acceleration;
  if (closed && !row.was_closed) {
    begin(row, motion.rate);
  } else if (!closed) {
    end(row, motion.rate);
  }
  if (existed && step_.elapsed > 0 && (closed || row.was_closed)) {
    if (by_patch) {
      regenerate_patch(row, in_friction);
    } else if (step_.impulses) {
      regenerate_exactly(row);
    } else if (change.regenerates) {
      regenerate(row, motion.rate);
    }
  }
  // A point that clipped faces let go of from within takes along what it stored.
  if (event_of(row) == -1 && change.regenerates && now_.depth[i] > 0) {
    lines_.regenerated -= stored(row, now_.depth[i]);
    now_.depth[i] = 0;
  }
  const bool left = now_.episode[i] == 0 && !keeps_what_left(laws);
  if (closed && !(step_.by_events ? row.was_closed : was_inside)) {
    note_event(EventKind::touch, change, key, now_.episode[i], now_.approach[i]);
  } else if (!closed && row.was_closed && (was_inside || left) &&
             change.fate == RowChange::Fate::found) {
    note_event(EventKind::lift_off, change, key, episode, std::abs(motion.rate));
  }
  now_.rate[i] = motion.rate;
  now_.entered[i] = {};
  now_.entered[i].slip = motion.slip;
  if (row.patch == nullptr) return;
  now_.entered[i].approach = row.patch->approach;
  now_.entered[i].turning = row.patch->turning;
  now_.entered[i].spin = row.patch->spin_slip();
}

/// With located events a closed row may be a rounding outside, and only a ground that
/// recovers keeps one that has left; by depths, any row that is outside has left before.
bool Episodes::keeps_what_left(const LawBlock& laws) const {
  return !step_.by_events || normal_law(laws.normal).fields > 0;
}

/// Contacts that the state began with are no events, and what a stepper located it tells
/// itself.
void Episodes::note_event(EventKind kind, const RowChange& change, const ContactKey& key,
                          std::uint32_t episode, double speed) {
  const bool located = change.was >= 0 && at(change.was) < step_.events.size() &&
                       step_.events[at(change.was)] != 0;
  if (!step_.begun || located) return;
  const int joint_row = key.empty() ? change.now : -1;
  lines_.events.push_back({kind, step_.time, key, joint_row, episode, speed});
}

/// With located events a contact stays as it is until one of them says otherwise; or
/// where round-off left it on the wrong side of an event and it moves on.
bool Episodes::closes(const Row& row, double rate) const {
  const double depth = now_.depth[row.i];
  if (step_.impulses && row.existed) {
    // A rigid contact lies at δ = 0 but for rounding: its impulse says whether it is one.
    if (now_.impulse[row.i].normal > 0) return true;
    return !row.laws.rigid && depth > 0;
  }
  if (!step_.by_events) return depth > 0;
  const int event = event_of(row);
  if (event != 0) return event > 0;
  if (!row.existed) return depth > 0;
  if (row.was_closed) return depth > 0 || rate > 0;
  return depth > 0 && rate > 0;
}

int Episodes::event_of(const Row& row) const {
  return row.existed && row.was < step_.events.size() ? step_.events[row.was] : 0;
}

/// The last step's work at the mean velocity, not at that of one of its ends. Only this
/// is what the bodies gave, and without it the ledger of a first-order method is off by
/// h/2 ∫ f dv.
void Episodes::correct_ledger(const Row& row, const RowMotion& motion) {
  const LedgerForces& entered = old_.entered[row.was];
  const double half = 0.5 * step_.elapsed;
  double normal = half * entered.damper * (motion.rate - row.old_rate);
  double rolling = 0;
  if (row.patch != nullptr) {
    normal = half * entered.damper * (row.patch->approach - entered.approach);
    rolling = -half * dot(entered.rolling, row.patch->turning - entered.turning);
  }
  const double friction = -half * dot(entered.friction, motion.slip - entered.slip);
  double spin = 0;
  if (row.patch != nullptr) {
    spin = -half * entered.spin_friction * (row.patch->spin_slip() - entered.spin);
  }
  lines_.normal.damping += normal;
  lines_.rolling += rolling;
  (entered.slipping ? lines_.friction.slip : lines_.friction.damping) += friction;
  (entered.slipping ? lines_.spin : lines_.friction.damping) += spin;
  if (!contact_ledger_) return;
  now_.memory[column(layout_.normal_ledger, now_) + row.i] += normal + rolling;
  const int line = layout_.friction_ledger + (entered.slipping ? 1 : 0);
  now_.memory[column(line, now_) + row.i] += friction + spin;
}

void Episodes::begin(Row& row, double rate) {
  const std::size_t i = row.i;
  now_.episode[i] = ++lines_.begun;
  // Not foreseen, or known exactly.
  if (!row.existed || now_.approach[i] <= 0 || step_.by_events) {
    now_.approach[i] = std::max(rate, 0.0);
    // A complementarity step that closes a contact has stretched its bristles already.
    const bool stretched = row.existed && step_.impulses && now_.impulse[i].normal > 0;
    touch(row.laws, i, now_.approach[i], !stretched);
  }
  if (!row.existed && !step_.first && step_.elapsed > 0) {
    lines_.regenerated += stored(row, now_.depth[i]);
  }
}

/// It is open: what friction still stored is lost, and the touch to come is foreseen. A
/// ground that recovers is not forgotten.
void Episodes::end(Row& row, double rate) {
  const std::size_t i = row.i;
  const LawBlock& laws = row.laws;
  const FrictionLawTable& friction = friction_law(laws.friction);
  if (row.was_closed && friction.fields > 0) {
    // By its own contact time it is open to the last bit; what is left of the depth of
    // the positions would be counted twice.
    const double depth = event_of(row) == -2 ? 0 : now_.depth[i];
    lines_.friction.slip +=
        friction.stored(laws.friction, friction_memory(), i, depth, 0.0);
    friction.touch(laws.friction, friction_memory(), i);
  }
  if (row.was_closed && recovers(row)) return;
  now_.episode[i] = 0;
  now_.approach[i] = foreseen(row, rate);
  if (now_.approach[i] > 0) touch(laws, i, now_.approach[i]);
}

/// Whether the ground still stores something although the body has left it.
bool Episodes::recovers(const Row& row) const {
  if (!row.laws.has_normal_law()) return false;
  const NormalLawTable& normal = normal_law(row.laws.normal);
  return normal.fields > 0 &&
         normal.stored(row.laws.normal, memory_of(now_, layout_.normal), row.i,
                       std::min(now_.depth[row.i], 0.0)) > 0;
}

/// The depth of a contact under impulses goes on from the old one as the step took it
/// along. Where geometry makes it deeper, as when a new point of a body that turns is
/// found inside, nobody has done the work for that: the step to come makes up for the
/// lag.
void Episodes::follow_travel(const Row& row, double depth) {
  const double gone =
      row.existed
          ? row.old_depth + old_.memory[column(MemoryLayout::travel, old_) + row.was]
          : 0;
  now_.depth[row.i] = std::min(depth, std::max(gone, 0.0));
  now_.lag[row.i] = depth - now_.depth[row.i];
}

/// The step went on from the old depth by `travel`; what geometry adds is regenerated.
void Episodes::regenerate_exactly(const Row& row) {
  const double travel = old_.memory[column(MemoryLayout::travel, old_) + row.was];
  lines_.regenerated +=
      stored(row, now_.depth[row.i]) - stored(row, row.old_depth + travel);
}

/// The step left the energy that it thought the patch would store, friction included, in
/// place of a way; the overlap that the bodies came to is another to second order. What
/// friction stores there may be lost already.
void Episodes::regenerate_patch(const Row& row, double in_friction) {
  const double left = old_.memory[column(MemoryLayout::travel, old_) + row.was];
  const Columns<const double> memory = memory_of(now_, layout_.normal);
  lines_.regenerated +=
      energy_of(*row.patch, row.laws.normal, memory, row.i) + in_friction - left;
}

/// What the friction of a new row stores.
double Episodes::friction_energy(const LawBlock& laws, std::size_t i) const {
  return friction_law(laws.friction)
      .stored(laws.friction, memory_of(now_, layout_.friction), i, now_.depth[i], 0.0);
}

/// The depth changes as the surfaces approach, and as the point moves along them. What
/// the second adds: the mean force from the old depth to the new one along it.
void Episodes::regenerate(const Row& row, double rate) {
  const double before = row.old_depth, depth = now_.depth[row.i];
  const double travel = step_.committed
                            ? step_.elapsed * rate
                            : old_.memory[column(MemoryLayout::travel, old_) + row.was];
  const double along = depth - before - travel;
  const double middle = 0.5 * (before + depth);
  const double half = 0.5 * std::max(std::abs(depth - before), 1e-3 * std::abs(along));
  if (!(half > 0)) return;
  const double gained = stored(row, middle + half) - stored(row, middle - half);
  lines_.regenerated += along * gained / (2 * half);
}

/// The rate at which an open contact will touch within the step, or 0.
double Episodes::foreseen(const Row& row, double rate) const {
  const double depth = now_.depth[row.i];
  if (!(rate > 0) || depth + 2 * step_.horizon * rate <= 0) return 0;
  const double wait = std::min(-depth / rate, step_.horizon);
  return std::max(rate + now_.acceleration[row.i] * wait, 0.5 * rate);
}

/// The memory of a new contact.
void Episodes::touch(const LawBlock& laws, std::size_t i, double approach,
                     bool with_friction) {
  if (laws.has_normal_law()) {
    normal_law(laws.normal).touch(laws.normal, approach, normal_memory(), i);
  }
  if (with_friction) {
    friction_law(laws.friction).touch(laws.friction, friction_memory(), i);
  }
}

/// Energy in a new row, if it were at this depth; a patch is as it is.
double Episodes::stored(const Row& row, double depth) const {
  const LawBlock& laws = row.laws;
  const double friction =
      friction_law(laws.friction)
          .stored(laws.friction, memory_of(now_, layout_.friction), row.i, depth, 0.0);
  if (!laws.has_normal_law()) return friction;
  const NormalLawTable& normal = normal_law(laws.normal);
  const Columns<const double> memory = memory_of(now_, layout_.normal);
  if (row.patch != nullptr) {
    return friction + energy_of(*row.patch, laws.normal, memory, row.i);
  }
  return friction + normal.stored(laws.normal, memory, row.i, depth);
}

void Episodes::part(const LawBlock& laws, const RowChange& change,
                    const ContactKey& key) {
  const std::size_t j = at(change.was);
  const FrictionLawTable& friction = friction_law(laws.friction);
  const double depth = old_.depth[j];
  const double lost =
      friction.fields > 0
          ? friction.stored(laws.friction, memory_of(old_, layout_.friction), j, depth,
                            0.0)
          : 0;
  lines_.friction.slip += lost;
  std::uint32_t episode = old_.episode[j];
  const bool carried = step_.impulses && old_.impulse[j].normal > 0;
  if (carried && episode == 0) {  // it came and went within the step
    episode = ++lines_.begun;
    note_event(EventKind::touch, change, key, episode, std::max(old_.rate[j], 0.0));
  }
  if (depth > 0 || carried || !keeps_what_left(laws)) {
    note_event(EventKind::lift_off, change, key, episode, std::abs(old_.rate[j]));
  }
  // What the step still did to it counts.
  const bool travelled = !step_.committed || step_.impulses;
  const double travel =
      travelled ? old_.memory[column(MemoryLayout::travel, old_) + j] : 0;
  if (laws.volumetric) {  // bodies come apart from within a patch by impulses only
    if (step_.impulses && step_.elapsed > 0) lines_.regenerated -= travel - lost;
    return;
  }
  const bool inside = depth > 0 || (step_.impulses && depth + travel > 0);
  if (inside && step_.elapsed > 0 && laws.has_normal_law()) {
    lines_.regenerated -=
        normal_law(laws.normal)
            .stored(laws.normal, memory_of(old_, layout_.normal), j, depth + travel);
  }
}

}  // namespace bristle
