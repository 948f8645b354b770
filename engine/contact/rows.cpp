#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "bristle/contact/contacts.hpp"
#include "bristle/contact/detect.hpp"

namespace bristle {

namespace {

constexpr int lanes = ScalarTraits<NativePack<double>>::lanes;
constexpr double same_contact = 0.1;  // of the smaller shape: a point that has moved

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct RowMotion {
  double rate;
  Vec2<double> slip;
};

/// How the bodies move where the force of a row acts.
BRISTLE_INLINE RowMotion measure(const LinkMotion& links, RowPlace& place) {
  const Frame<double>& frame = place.frame;
  const auto velocity = [&](int link) BRISTLE_INLINE_LAMBDA {
    const Motion<double>& m = links.velocities[at(link)];
    if (link == world_link) return m.linear;
    return m.linear + cross(m.angular, place.point - links.poses[at(link)].p);
  };
  const Vec3<double> moving = velocity(place.link_b) - velocity(place.link_a);
  const Vec3<double>& turning_a = links.velocities[at(place.link_a)].angular;
  const Vec3<double>& turning_b = links.velocities[at(place.link_b)].angular;
  place.spin = 0.5 * dot(turning_a + turning_b, frame.n);
  return {-dot(frame.n, moving), frame.to_tangent(moving)};
}

/// Each body gives its share of the overlap; the force acts between the surfaces.
Vec3<double> point_of(const ShapePair& pair, const ContactPoint<double>& contact) {
  return pair.share_a * contact.on_b + (1 - pair.share_a) * contact.on_a;
}

bool same(const Vec3<double>& a, const Vec3<double>& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// A frame carried to a new normal; untouched where nothing has moved.
BRISTLE_INLINE Frame<double> carried(const Frame<double>& frame,
                                     const Vec3<double>& normal, double turn) {
  if (turn == 0 && same(frame.n, normal)) return frame;
  return transport(frame, normal, turn);
}

/// Which of the rows of a pair go on at the contact points that are found now: those of
/// the same feature; then, of the closed ones, those that are closest on A. The result
/// has a row for each point, or −1, and does not depend on their order.
constexpr int most_rows = 2 * max_contacts;  // kept ones may join
std::array<int, max_contacts> match(std::span<const ContactRow> rows,
                                    std::span<const ContactPoint<double>* const> points,
                                    const Model& model, const LinkMotion& links,
                                    const ShapePair& pair) {
  std::array<int, max_contacts> row_of;
  row_of.fill(-1);
  std::array<bool, most_rows> used{};
  const std::size_t count = std::min(rows.size(), used.size());
  bool complete = true;
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (std::size_t j = 0; j < count && row_of[k] < 0; ++j) {
      if (used[j] || rows[j].feature != points[k]->feature) continue;
      used[j] = true;
      row_of[k] = static_cast<int>(j);
    }
    complete = complete && row_of[k] >= 0;
  }
  if (complete) return row_of;
  const ModelShape& a = model.shapes[pair.a];
  const Transform<double>& pose = links.poses[at(a.link)];
  const double size = same_contact * std::min(a.radius, model.shapes[pair.b].radius);
  for (;;) {
    double closest = size * size;
    std::size_t point = 0, row = count;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (row_of[k] >= 0) continue;
      const Vec3<double> anchor =
          transpose_times(pose.R, point_of(pair, *points[k]) - pose.p);
      for (std::size_t j = 0; j < count; ++j) {
        if (used[j] || rows[j].episode == 0) continue;
        const double distance = norm2(rows[j].anchor - anchor);
        if (!(distance < closest)) continue;
        closest = distance;
        point = k;
        row = j;
      }
    }
    if (row == count) return row_of;
    used[row] = true;
    row_of[point] = static_cast<int>(row);
  }
}

/// Re-makes the rows of a state, block by block.
class Renewal {
 public:
  Renewal(const Model& model, const LinkMotion& links, double horizon, Episodes episodes,
          State& state, ContactWorkspace& ws)
      : model_(model),
        links_(links),
        horizon_(horizon),
        episodes_(episodes),
        state_(state),
        old_(state.contacts),
        now_(ws.next),
        ws_(ws),
        elapsed_(old_.count > 0 ? std::max(0.0, state.time - old_.time) : 0),
        first_(old_.count == 0),
        untouched_(elapsed_ > 0 && state.committed && state.v == state.v_stepped) {}

  ContactStatus run() {
    ws_.groups.clear();
    for (int b = 0; b < model_.joint_blocks; ++b) joint_block(b);
    const auto blocks = static_cast<int>(model_.blocks.size());
    for (int b = model_.joint_blocks; b < blocks; ++b) {
      if (!contact_block(b)) return ContactStatus::too_many_contacts;
    }
    now_.begin[at(blocks)] = n_;
    now_.count = n_;
    now_.time = state_.time;
    std::swap(state_.contacts, ws_.next);
    return ContactStatus::ok;
  }

 private:
  Columns<double> normal_memory(ContactRows& rows) const {
    return {rows.memory.data() + at(ws_.layout.normal) * ws_.capacity, ws_.capacity};
  }
  Columns<double> friction_memory(ContactRows& rows) const {
    return {rows.memory.data() + at(ws_.layout.friction) * ws_.capacity, ws_.capacity};
  }
  double& memory(ContactRows& rows, int column, int row) const {
    return rows.memory[at(column) * ws_.capacity + at(row)];
  }

  void joint_block(int b) {
    now_.begin[at(b)] = n_;
    const int first = model_.joint_block_rows[at(b)];
    const int count = model_.joint_block_rows[at(b + 1)] - first;
    for (int k = 0; k < count; ++k, ++n_) {
      const JointRow& joint = model_.joint_rows[at(first + k)];
      const int was = first_ ? -1 : n_;  // these rows stay where they are
      ContactRow row;
      if (was >= 0) row = old_.rows[at(was)];
      carry_memory(was, n_);
      RowMotion motion{0, {0, 0}};
      if (joint.is_limit) {
        row.depth = joint.sign * (state_.q[at(q_of(joint))] - joint.bound);
        motion.rate = joint.sign * state_.v[at(joint.dof)];
      } else {
        row.depth = 1;
        motion.slip.x = state_.v[at(joint.dof)];
      }
      ws_.places[at(n_)] = {{}, {}, world_link, world_link, 0};
      write(b, n_, was, row, motion, false);
    }
    pad();
  }

  int q_of(const JointRow& joint) const { return model_.tree.dofs()[at(joint.dof)].q; }

  /// The next contact that was found and not yet taken, or nothing.
  const FoundContact* peek() {
    while (list_ < ws_.found.size() && taken_ == ws_.found_count[list_]) {
      ++list_;
      taken_ = 0;
    }
    return list_ < ws_.found.size() ? &ws_.found[list_][taken_] : nullptr;
  }

  bool contact_block(int b) {
    now_.begin[at(b)] = n_;
    int o = first_ ? 0 : old_.begin[at(b)];
    const int o_end = first_ ? 0 : old_.begin[at(b + 1)];
    const auto key = [](std::uint32_t one, std::uint32_t two) {
      return (std::uint64_t{one} << 32) | two;
    };
    constexpr auto none = ~std::uint64_t{0};
    for (;;) {
      const FoundContact* next = peek();
      if (next != nullptr && ws_.candidates[next->pair].block != b) next = nullptr;
      while (o < o_end && old_.rows[at(o)].a == no_shape) ++o;
      const std::uint64_t new_key = next == nullptr ? none
                                                    : key(ws_.candidates[next->pair].a,
                                                          ws_.candidates[next->pair].b);
      const std::uint64_t old_key =
          o < o_end ? key(old_.rows[at(o)].a, old_.rows[at(o)].b) : none;
      if (new_key == none && old_key == none) break;
      // The rows of one pair, old and new.
      const std::uint64_t pair = std::min(new_key, old_key);
      std::array<const FoundContact*, max_contacts> fresh;
      int fresh_count = 0;
      const std::uint32_t candidate = next != nullptr ? next->pair : 0;
      while (new_key == pair && next != nullptr && next->pair == candidate) {
        // by feature, so that the order does not depend on how they were found
        int place = fresh_count++;
        for (; place > 0 && fresh[at(place - 1)]->at.feature > next->at.feature;
             --place) {
          fresh[at(place)] = fresh[at(place - 1)];
        }
        fresh[at(place)] = next;
        ++taken_;
        next = fresh_count < max_contacts ? peek() : nullptr;
      }
      const int old_first = o;
      while (o < o_end && key(old_.rows[at(o)].a, old_.rows[at(o)].b) == pair) ++o;
      if (!renew_pair(b, candidate, std::span(fresh).first(at(fresh_count)), old_first,
                      o)) {
        return false;
      }
    }
    return pad();
  }

  /// New contacts of a pair take over from old ones.
  bool renew_pair(int b, std::uint32_t candidate,
                  std::span<const FoundContact* const> fresh, int old_first,
                  int old_end) {
    std::array<bool, most_rows> used{};
    if (!fresh.empty()) {
      const ShapePair& pair = ws_.candidates[candidate];
      std::array<const ContactPoint<double>*, max_contacts> points;
      for (std::size_t k = 0; k < fresh.size(); ++k) points[k] = &fresh[k]->at;
      const std::array<int, max_contacts> row_of =
          match(std::span(old_.rows).subspan(at(old_first), at(old_end - old_first)),
                std::span(points).first(fresh.size()), model_, links_, pair);
      if (n_ + static_cast<int>(fresh.size()) > static_cast<int>(ws_.capacity)) {
        return false;
      }
      ws_.groups.push_back({candidate, n_, static_cast<int>(fresh.size())});
      for (std::size_t k = 0; k < fresh.size(); ++k) {
        const int was = row_of[k];
        if (was >= 0) used[at(was)] = true;
        renew_row(b, pair, fresh[k]->at, was >= 0 ? old_first + was : -1);
      }
    }
    for (int j = old_first; j < old_end; ++j) {
      if (j - old_first < most_rows && used[at(j - old_first)]) continue;
      if (!give_up(b, j)) return false;
    }
    return true;
  }

  void renew_row(int b, const ShapePair& pair, const ContactPoint<double>& contact,
                 int was) {
    const int link_a = model_.shapes[pair.a].link;
    RowPlace& place = ws_.places[at(n_)];
    place.link_a = link_a;
    place.link_b = model_.shapes[pair.b].link;
    ContactRow row;
    if (was >= 0) {
      row = old_.rows[at(was)];
      row.frame =
          carried(row.frame, contact.normal, memory(old_, MemoryLayout::turn, was));
    } else {
      row.frame = frame_from_normal(contact.normal);
    }
    row.a = pair.a;
    row.b = pair.b;
    row.feature = contact.feature;
    place.frame = row.frame;
    place.point = point_of(pair, contact);
    const RowMotion motion = measure(links_, place);
    const Transform<double>& pose = links_.poses[at(link_a)];
    row.point = place.point;
    row.anchor = transpose_times(pose.R, place.point - pose.p);
    row.depth = contact.depth;
    row.radius = contact.radius;
    carry_memory(was, n_);
    // A contact that stands alone is where the depth is least, and follows its rate.
    const bool alone =
        contact.feature == 0 && (was < 0 || old_.rows[at(was)].feature == 0);
    write(b, n_, was, row, motion, pair.regenerates && !alone);
    ++n_;
  }

  void carry_memory(int from, int to) {
    for (int k = 0; k < ws_.layout.count; ++k) {
      const bool kept = from >= 0 && k != MemoryLayout::turn && k != MemoryLayout::travel;
      memory(now_, k, to) = kept ? memory(old_, k, from) : 0;
    }
  }

  /// The memory of a new contact.
  void touch(const LawBlock& laws, int i, double approach) {
    normal_law(laws.normal).touch(laws.normal, approach, normal_memory(now_), at(i));
    friction_law(laws.friction).touch(laws.friction, friction_memory(now_), at(i));
  }

  /// Energy in a row of the new list, if it were at this depth.
  double stored(const LawBlock& laws, int i, double depth) {
    return normal_law(laws.normal)
               .stored(laws.normal, normal_memory(now_), at(i), depth) +
           friction_law(laws.friction)
               .stored(laws.friction, friction_memory(now_), at(i), depth, 0.0);
  }

  /// Begins, ends or goes on with the row's episode, and puts it into place i.
  void write(int b, int i, int was, ContactRow& row, const RowMotion& motion,
             bool regenerates) {
    const LawBlock& laws = model_.blocks[at(b)];
    const NormalLawTable& normal = normal_law(laws.normal);
    const FrictionLawTable& friction = friction_law(laws.friction);
    const bool was_closed = was >= 0 && row.episode != 0;
    const bool closed = closes(row, was, was_closed, motion.rate);
    if (was_closed && untouched_) correct_books(b, i, row, motion);
    if (elapsed_ > 0) {
      row.acceleration =
          was >= 0 && !was_closed ? (motion.rate - row.rate) / elapsed_ : 0;
    }
    if (closed && !was_closed) {
      row.episode = ++state_.episodes;
      const bool known = episodes_ == Episodes::by_events;
      if (was < 0 || row.approach <= 0 || known) {  // not foreseen, or known exactly
        row.approach = std::max(motion.rate, 0.0);
        touch(laws, i, row.approach);
      }
      if (was < 0 && !first_ && elapsed_ > 0) {
        state_.works.regenerated += stored(laws, i, row.depth);
      }
    } else if (!closed) {
      if (was_closed && friction.fields > 0) {
        // By its own clock it is open to the last bit; what is left of the depth of the
        // positions would be booked twice.
        const double depth = row.event == -2 ? 0 : row.depth;
        state_.works.friction.slip +=
            friction.stored(laws.friction, friction_memory(now_), at(i), depth, 0.0);
        friction.touch(laws.friction, friction_memory(now_), at(i));
      }
      const bool recovers = was_closed && normal.fields > 0 &&
                            normal.stored(laws.normal, normal_memory(now_), at(i),
                                          std::min(row.depth, 0.0)) > 0;
      if (!recovers) {
        row.episode = 0;
        row.approach = foreseen(row, motion.rate);
        if (row.approach > 0) touch(laws, i, row.approach);
      }
    }
    if (regenerates && was >= 0 && elapsed_ > 0 && (closed || was_closed)) {
      // The depth changes as the surfaces approach, and as the point moves along them.
      // What the second adds: the mean force from the old depth to the new one along it.
      const double before = old_.rows[at(was)].depth;
      const double travel = state_.committed ? elapsed_ * motion.rate
                                             : memory(old_, MemoryLayout::travel, was);
      const double along = row.depth - before - travel;
      const double middle = 0.5 * (before + row.depth);
      const double half =
          0.5 * std::max(std::abs(row.depth - before), 1e-3 * std::abs(along));
      if (half > 0) {
        const double gained =
            stored(laws, i, middle + half) - stored(laws, i, middle - half);
        state_.works.regenerated += along * gained / (2 * half);
      }
    }
    row.rate = motion.rate;
    row.slip = motion.slip;
    row.friction = {0, 0};
    row.damper = 0;
    row.event = 0;
    now_.rows[at(i)] = row;
    ws_.lost[at(i)] = 0;
    double* c = ws_.columns.data() + at(i);
    c[RowColumns::depth * ws_.capacity] = row.depth;
    c[RowColumns::rate * ws_.capacity] = motion.rate;
    c[RowColumns::slip_x * ws_.capacity] = motion.slip.x;
    c[RowColumns::slip_y * ws_.capacity] = motion.slip.y;
  }

  /// With located events a contact stays as it is until one of them says otherwise; or
  /// where round-off left it on the wrong side of an event and it moves on.
  bool closes(const ContactRow& row, int was, bool was_closed, double rate) const {
    if (episodes_ == Episodes::by_depth) return row.depth > 0;
    if (row.event != 0) return row.event > 0;
    if (was < 0) return row.depth > 0;
    if (was_closed) return row.depth > 0 || rate > 0;
    return row.depth > 0 && rate > 0;
  }

  /// The last step's work at the mean velocity, not at that of one of its ends. Only
  /// this is what the bodies gave, and without it the books of a first-order method are
  /// off by h/2 ∫ f dv.
  void correct_books(int b, int i, const ContactRow& row, const RowMotion& motion) {
    const double normal = 0.5 * elapsed_ * row.damper * (motion.rate - row.rate);
    const double friction = -0.5 * elapsed_ * dot(row.friction, motion.slip - row.slip);
    const bool joint = b < model_.joint_blocks;
    Works& works = state_.works;
    (joint ? works.limits : works.normal).damping += normal;
    Powers<double>& of_friction = joint ? works.joint_friction : works.friction;
    (row.slipping ? of_friction.slip : of_friction.damping) += friction;
    if (!model_.contact_books) return;
    memory(now_, ws_.layout.normal_books, i) += normal;
    memory(now_, ws_.layout.friction_books + (row.slipping ? 1 : 0), i) += friction;
  }

  /// The rate at which an open contact will touch within the step, or 0.
  double foreseen(const ContactRow& row, double rate) const {
    if (!(rate > 0) || row.depth + 2 * horizon_ * rate <= 0) return 0;
    const double wait = std::min(-row.depth / rate, horizon_);
    return std::max(rate + row.acceleration * wait, 0.5 * rate);
  }

  /// An old row that was not found again.
  bool give_up(int b, int j) {
    const ContactRow& row = old_.rows[at(j)];
    if (row.episode == 0) return true;
    const LawBlock& laws = model_.blocks[at(b)];
    const NormalLawTable& normal = normal_law(laws.normal);
    const FrictionLawTable& friction = friction_law(laws.friction);
    if (friction.fields > 0) {
      state_.works.friction.slip +=
          friction.stored(laws.friction, friction_memory(old_), at(j), row.depth, 0.0);
    }
    // What the step still did to it counts.
    const double travel = state_.committed ? 0 : memory(old_, MemoryLayout::travel, j);
    if (row.depth > 0 && elapsed_ > 0) {
      state_.works.regenerated -=
          normal.stored(laws.normal, normal_memory(old_), at(j), row.depth + travel);
    }
    const bool recovers =
        normal.fields > 0 &&
        normal.stored(laws.normal, normal_memory(old_), at(j), -1.0) > 0;
    if (!recovers || row.depth > 0) return true;
    // The ground still comes back: the contact is remembered, out of reach.
    if (n_ >= static_cast<int>(ws_.capacity)) return false;
    ContactRow kept = row;
    kept.depth = -1;
    carry_memory(j, n_);
    friction.touch(laws.friction, friction_memory(now_), at(n_));
    ws_.places[at(n_)] = {kept.frame, kept.point, world_link, world_link, 0};
    write(b, n_, j, kept, {0, {0, 0}}, false);
    ++n_;
    return true;
  }

  /// Fills up to the next multiple of the lanes with rows that do nothing.
  bool pad() {
    for (; n_ % lanes != 0; ++n_) {
      if (n_ >= static_cast<int>(ws_.capacity)) return false;
      now_.rows[at(n_)] = ContactRow{};
      for (int k = 0; k < ws_.layout.count; ++k) memory(now_, k, n_) = 0;
      ws_.places[at(n_)] = {{}, {}, world_link, world_link, 0};
      double* c = ws_.columns.data() + at(n_);
      for (std::size_t k = 0; k < RowColumns::count; ++k) c[k * ws_.capacity] = 0;
      c[RowColumns::depth * ws_.capacity] = -1;
    }
    return true;
  }

  const Model& model_;
  const LinkMotion& links_;
  double horizon_;
  Episodes episodes_;
  State& state_;
  ContactRows& old_;
  ContactRows& now_;
  ContactWorkspace& ws_;
  double elapsed_;  // since the rows were last made [s]
  bool first_;      // never made before
  bool untouched_;  // a step of one order led here, and nobody changed the velocities
  int n_ = 0;       // rows made
  std::size_t list_ = 0;
  std::size_t taken_ = 0;  // contacts of that list
};

}  // namespace

ContactStatus find_contacts(const Model& model, const LinkMotion& links, double horizon,
                            Episodes episodes, State& state,
                            ContactWorkspace& ws) noexcept {
  ContactStatus status = detect(model, links, horizon, ws);
  if (status != ContactStatus::ok) return status;
  const Works works = state.works;
  const std::uint32_t begun = state.episodes;
  status = Renewal(model, links, horizon, episodes, state, ws).run();
  if (status != ContactStatus::ok) {
    state.works = works;
    state.episodes = begun;
  }
  return status;
}

void follow_contacts(const Model& model, std::span<const double> q,
                     std::span<const double> v, const LinkMotion& links,
                     const ContactRows& contacts, std::span<const double> memory,
                     bool open, ContactWorkspace& ws) noexcept {
  place_shapes(model, links, ws);
  const auto put = [&](int i, double depth, const RowMotion& motion) {
    double* c = ws.columns.data() + at(i);
    c[RowColumns::depth * ws.capacity] = depth;
    c[RowColumns::rate * ws.capacity] = motion.rate;
    c[RowColumns::slip_x * ws.capacity] = motion.slip.x;
    c[RowColumns::slip_y * ws.capacity] = motion.slip.y;
  };
  for (int b = 0; b < model.joint_blocks; ++b) {
    const int first = model.joint_block_rows[at(b)];
    const int count = model.joint_block_rows[at(b + 1)] - first;
    for (int k = 0; k < count; ++k) {
      const JointRow& joint = model.joint_rows[at(first + k)];
      const double rate = v[at(joint.dof)];
      if (joint.is_limit) {
        const double position = q[at(model.tree.dofs()[at(joint.dof)].q)];
        put(contacts.begin[at(b)] + k, joint.sign * (position - joint.bound),
            {joint.sign * rate, {0, 0}});
      } else {
        put(contacts.begin[at(b)] + k, 1, {0, {rate, 0}});
      }
    }
  }
  const double* turns = memory.data() + at(MemoryLayout::turn) * ws.capacity;
  const auto follow = [&](int member) {
    const Share share = share_of(ws.groups.size(), member, ws.team.size());
    for (std::size_t g = share.begin; g < share.end; ++g) {
      PairGroup& group = ws.groups[g];
      group.stranger = -HUGE_VAL;
      const auto is_open = [](const ContactRow& row) { return row.episode == 0; };
      const auto first = contacts.rows.begin() + group.first;
      if (!open && std::all_of(first, first + group.count, is_open)) continue;
      const ShapePair& pair = ws.candidates[group.pair];
      const ModelShape& a = model.shapes[pair.a];
      const ModelShape& b = model.shapes[pair.b];
      Contacts<double> found;
      found.radii = false;
      // Wide enough for what was found at the beginning of the step and went on moving.
      const double margin = 2 * (ws.margins[pair.a] + ws.margins[pair.b]) +
                            1e-6 * std::min(a.radius, b.radius);
      pair.find(a.shape, ws.shape_poses[pair.a], b.shape, ws.shape_poses[pair.b], margin,
                found);
      const auto follow_to = [&](int i, const ContactPoint<double>& contact) {
        RowPlace& place = ws.places[at(i)];
        place.frame = carried(contacts.rows[at(i)].frame, contact.normal, turns[i]);
        place.point = point_of(pair, contact);
        put(i, contact.depth, measure(links, place));
      };
      if (group.count == 1 && found.count == 1 &&
          found[0].feature == contacts.rows[at(group.first)].feature) {
        ws.lost[at(group.first)] = 0;
        follow_to(group.first, found[0]);
        continue;
      }
      std::array<const ContactPoint<double>*, max_contacts> points;
      for (int f = 0; f < found.count; ++f) points[at(f)] = &found[f];
      const std::array<int, max_contacts> row_of =
          match(std::span(contacts.rows).subspan(at(group.first), at(group.count)),
                std::span(points).first(at(found.count)), model, links, pair);
      for (int i = group.first; i < group.first + group.count; ++i) {
        ws.lost[at(i)] = 1;
        put(i, -1, {0, {0, 0}});
      }
      for (int f = 0; f < found.count; ++f) {
        const int i = group.first + row_of[at(f)];
        if (row_of[at(f)] < 0) {
          group.stranger = std::max(group.stranger, found[f].depth);
          continue;
        }
        ws.lost[at(i)] = 0;
        follow_to(i, found[f]);
      }
    }
  };
  ws.team.run(follow);
}

void measure_again(const Model& model, std::span<const double> v, const LinkMotion& links,
                   const ContactRows& contacts, ContactWorkspace& ws) noexcept {
  double* rate = ws.columns.data() + RowColumns::rate * ws.capacity;
  double* slip_x = ws.columns.data() + RowColumns::slip_x * ws.capacity;
  double* slip_y = ws.columns.data() + RowColumns::slip_y * ws.capacity;
  const auto begin = at(contacts.begin[at(model.joint_blocks)]);
  for (std::size_t i = 0; i < begin; ++i) {
    const JointRow& joint = joint_row(model, contacts, i);
    if (joint.is_limit) {
      rate[i] = joint.sign * v[at(joint.dof)];
    } else {
      slip_x[i] = v[at(joint.dof)];
    }
  }
  for (std::size_t i = begin; i < at(contacts.count); ++i) {
    if (contacts.rows[i].a == no_shape) continue;
    const RowMotion motion = measure(links, ws.places[i]);
    rate[i] = motion.rate;
    slip_x[i] = motion.slip.x;
    slip_y[i] = motion.slip.y;
  }
}

const JointRow& joint_row(const Model& model, const ContactRows& contacts,
                          std::size_t row) noexcept {
  int b = 0;
  while (at(contacts.begin[at(b + 1)]) <= row) ++b;
  const int k = static_cast<int>(row) - contacts.begin[at(b)];
  return model.joint_rows[at(std::min(model.joint_block_rows[at(b)] + k,
                                      model.joint_block_rows[at(b + 1)] - 1))];
}

}  // namespace bristle
