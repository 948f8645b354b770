#include "bristle/contact/point_pool.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "bristle/dynamics/jacobian.hpp"

namespace bristle {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

PointPool::PointPool(const Model& model, Team& team)
    : LawPool(model, model.contact_law_blocks(), team),
      model_(&model),
      detector_(model, team),
      cache_(model) {
  fit_rows(cache_.rows());
}

void PointPool::fit_rows(const ContactRows& rows) {
  fit(rows);
  places_.resize(capacity());
  lost_.resize(capacity());
  unmatched_.resize(capacity());
}

/// How the bodies of a row move where its force acts, and their mean spin about n.
BRISTLE_INLINE RowMotion PointPool::motion_at(const LinkMotion& links, std::size_t i,
                                              double depth, double& spin) const {
  const ContactPlace& place = places_[i];
  const Frame<double>& frame = place.frame;
  const auto velocity = [&](int link) BRISTLE_INLINE_LAMBDA {
    const Motion<double>& m = links.velocities[index(link)];
    if (link == world_link) return m.linear;
    return m.linear + cross(m.angular, place.point - links.poses[index(link)].p);
  };
  const Vec3<double> moving = velocity(place.link_b) - velocity(place.link_a);
  const Vec3<double>& turning_a = links.velocities[index(place.link_a)].angular;
  const Vec3<double>& turning_b = links.velocities[index(place.link_b)].angular;
  spin = 0.5 * dot(turning_a + turning_b, frame.n);
  return {depth, -dot(frame.n, moving), frame.to_tangent(moving)};
}

/// The overlap of a row that moves like that.
void PointPool::meet(const LinkMotion& links, std::size_t i, PatchRow patch,
                     const RowMotion& motion) {
  const ContactPlace& place = places_[i];
  const Vec3<double> turning = links.velocities[index(place.link_b)].angular -
                               links.velocities[index(place.link_a)].angular;
  patch.approach = motion.rate;
  patch.turning = place.frame.to_tangent(turning);
  patch.spin = dot(place.frame.n, turning);
  put_patch(i, patch);
}

ContactStatus PointPool::find(const LinkMotion& links, double horizon,
                              const ContactRows& rows) noexcept {
  ContactStatus status = detector_.detect(links, horizon);
  if (status != ContactStatus::ok) return status;
  status = cache_.renew(links, detector_, rows);
  if (status != ContactStatus::ok) return status;
  try {
    fit_rows(cache_.rows());
  } catch (const std::bad_alloc&) {
    return ContactStatus::too_many_contacts;
  }
  return ContactStatus::ok;
}

void PointPool::accept(const LinkMotion& links, const AcceptedStep& step, State& state,
                       std::vector<Event>& events) noexcept {
  ContactRows& now = cache_.rows();
  places_.swap(cache_.places());
  Episodes episodes(step, layout(), model_->contact_ledger, state.contacts, now,
                    {state.works.normal, state.works.friction, state.works.regenerated,
                     state.works.rolling, state.works.spin, state.episodes, events});
  for (const RowChange& change : cache_.changes()) {
    const LawBlock& laws = blocks()[index(change.block)];
    if (change.fate == RowChange::Fate::lost) {
      episodes.part(laws, change, state.contacts.key[index(change.was)]);
      continue;
    }
    const std::size_t i = index(change.now);
    double spin = 0;
    RowMotion motion{now.depth[i], 0, {0, 0}};
    if (change.fate == RowChange::Fate::found) {
      motion = motion_at(links, i, now.depth[i], spin);
    }
    if (laws.volumetric) {
      meet(links, i, cache_.patch(i), motion);
      const RowMotion seen{motion.depth, patch(i).depth_rate(), motion.slip, &patch(i)};
      episodes.update(laws, change, seen, now.key[i]);
    } else {
      episodes.update(laws, change, motion, now.key[i]);
      if (has_patches()) put_patch(i, {});
    }
    motion.depth = now.depth[i];
    put(i, motion, spin);
    lost_[i] = 0;
  }
  for (std::size_t i = 0; i < index(now.count); ++i) {
    if (now.key[i].empty()) clear(i);
  }
  state.contacts.swap(now);
}

void PointPool::measure(const Placement& at, const ContactRows& rows,
                        std::span<const double> memory, bool open) noexcept {
  const LinkMotion links = at.links();
  detector_.place_shapes(links);
  const double* turns = memory.data() + index(MemoryLayout::turn) * capacity();
  team().run([&](int member) {
    const Share share = share_of(rows.pairs.size(), member, team().size());
    for (std::size_t p = share.begin; p < share.end; ++p) {
      const PairSlice& pair = rows.pairs[p];
      unmatched_[p] = -HUGE_VAL;
      const auto first = rows.episode.begin() + pair.first;
      const auto is_open = [](std::uint32_t episode) { return episode == 0; };
      if (!open && std::all_of(first, first + pair.count, is_open)) continue;
      measure_pair(links, rows, p, turns);
    }
  });
}

void PointPool::measure_pair(const LinkMotion& links, const ContactRows& rows,
                             std::size_t p, const double* turns) noexcept {
  const PairSlice& pair = rows.pairs[p];
  const ModelShape& a = model_->shapes[pair.a];
  const ModelShape& b = model_->shapes[pair.b];
  if (has_patches() && laws_of(rows, index(pair.first)).volumetric) {
    return measure_patch(links, rows, p, turns[index(pair.first)]);
  }
  Contacts<double> found;
  found.radii = false;
  // Wide enough for what was found at the beginning of the step and went on moving.
  const double margin = 2 * pair.margin + 1e-6 * std::min(a.radius, b.radius);
  const auto find = pair_function<double>(kind_of(a.shape), kind_of(b.shape));
  find(a.shape, detector_.pose(pair.a), b.shape, detector_.pose(pair.b), margin, found);
  const auto follow_to = [&](std::size_t i, const ContactPoint<double>& contact) {
    places_[i] = {carried(rows.frame[i], contact.normal, turns[i]),
                  force_point(pair.share_a, contact), a.link, b.link};
    double spin = 0;
    const RowMotion motion = motion_at(links, i, contact.depth, spin);
    put(i, motion, spin);
    lost_[i] = 0;
  };
  if (pair.count == 1 && found.count == 1 &&
      found[0].feature == rows.key[index(pair.first)].feature) {
    follow_to(index(pair.first), found[0]);
    return;
  }
  std::array<const ContactPoint<double>*, max_contacts> points;
  for (int f = 0; f < found.count; ++f) points[index(f)] = &found[f];
  const std::array<int, max_contacts> row_of = match_points(
      rows, pair.first, pair.count, std::span(points).first(index(found.count)), *model_,
      links, pair.a, pair.b, pair.share_a);
  for (int i = pair.first; i < pair.first + pair.count; ++i) {
    lost_[index(i)] = 1;
    const double spin = value(RowColumns::spin, index(i));
    put(index(i), {-1, 0, {0, 0}}, spin);
  }
  for (int f = 0; f < found.count; ++f) {
    if (row_of[index(f)] < 0) {
      unmatched_[p] = std::max(unmatched_[p], found[f].depth);
      continue;
    }
    follow_to(index(pair.first + row_of[index(f)]), found[f]);
  }
}

/// A pair under a volumetric law has one row.
void PointPool::measure_patch(const LinkMotion& links, const ContactRows& rows,
                              std::size_t p, double turn) noexcept {
  const PairSlice& pair = rows.pairs[p];
  const ModelShape& a = model_->shapes[pair.a];
  const ModelShape& b = model_->shapes[pair.b];
  const auto i = index(pair.first);
  const auto find = overlap_function<double>(kind_of(a.shape), kind_of(b.shape));
  const Overlap<double> overlap =
      find(a.shape, detector_.pose(pair.a), b.shape, detector_.pose(pair.b));
  const Vec3<double> point =
      force_point(pair.share_a, point_of(overlap, kind_of(a.shape), kind_of(b.shape)));
  places_[i] = {carried(rows.frame[i], overlap.normal, turn), point, a.link, b.link};
  double spin = 0;
  const RowMotion motion = motion_at(links, i, overlap.depth, spin);
  put(i, motion, spin);
  meet(links, i, PatchRow::of(overlap, places_[i].frame, point), motion);
  lost_[i] = 0;
}

void PointPool::measure_rates(const Placement& at, const ContactRows& rows) noexcept {
  const LinkMotion links = at.links();
  for (std::size_t i = 0; i < index(rows.count); ++i) {
    if (rows.key[i].empty()) continue;
    double spin = 0;
    const RowMotion motion = motion_at(links, i, value(RowColumns::depth, i), spin);
    put(i, motion, spin);
    if (has_patches()) meet(links, i, patch(i), motion);
  }
}

void PointPool::put_turns(const Placement& at, double h,
                          ContactRows& rows) const noexcept {
  const LinkMotion links = at.links();
  double* turns = rows.memory.data() + index(MemoryLayout::turn) * rows.capacity();
  for (std::size_t i = 0; i < index(rows.count); ++i) {
    if (rows.key[i].empty()) continue;
    double spin = 0;
    motion_at(links, i, 0, spin);
    turns[i] = h * spin;
  }
}

/// A couple on B, the opposite on A.
void PointPool::scatter_couple(std::size_t i, const Vec3<double>& couple,
                               const ForceSink& to) const noexcept {
  const ContactPlace& place = places_[i];
  if (place.link_b != world_link) {
    Force<double>& on = to.on_links[index(place.link_b)];
    on.torque = on.torque + couple;
  }
  if (place.link_a != world_link) {
    Force<double>& on = to.on_links[index(place.link_a)];
    on.torque = on.torque - couple;
  }
}

Vec3<double> PointPool::couple(std::size_t i) const {
  const Frame<double>& frame = places_[i].frame;
  return frame.to_world(patch(i).rolling) +
         patch(i).gyration() * spin_friction(i) * frame.n;
}

void PointPool::scatter_row(const Placement& at, std::size_t i, double normal,
                            Vec2<double> across, const ForceSink& to) const noexcept {
  const auto& poses = at.tree.poses;
  const ContactPlace& place = places_[i];
  const Vec3<double> f = normal * place.frame.n + place.frame.to_world(across);
  if (place.link_b != world_link) {
    Force<double>& on = to.on_links[index(place.link_b)];
    on.torque = on.torque + cross(place.point - poses[index(place.link_b)].p, f);
    on.force = on.force + f;
  }
  if (place.link_a != world_link) {
    Force<double>& on = to.on_links[index(place.link_a)];
    on.torque = on.torque - cross(place.point - poses[index(place.link_a)].p, f);
    on.force = on.force - f;
  }
}

void PointPool::scatter(const Placement& at, const ContactRows& rows,
                        const ForceSink& to) const noexcept {
  const double* normal = column(RowColumns::normal).data();
  const double* x = column(RowColumns::friction_x).data();
  const double* y = column(RowColumns::friction_y).data();
  for (std::size_t i = 0; i < index(rows.count); ++i) {
    if (normal[i] == 0 && x[i] == 0 && y[i] == 0) continue;
    scatter_row(at, i, normal[i], {x[i], y[i]}, to);
    if (has_patches()) scatter_couple(i, couple(i), to);
  }
}

int PointPool::jacobian(const Placement& at, std::size_t i,
                        std::span<JacobianRow<double>> out) const noexcept {
  const ContactPlace& place = places_[i];
  const Frame<double>& frame = place.frame;
  const Vec3<double> axes[most_rows] = {frame.n, frame.t1, frame.t2};
  for (std::size_t k = 0; k < most_rows; ++k) {
    out[k] =
        row_at_point<double>(at.tree, place.link_a, place.link_b, place.point, axes[k]);
  }
  return most_rows;
}

Overlap<double> PointPool::displaced(const ContactRows& rows, std::size_t i, double along,
                                     Vec2<double> turned) const noexcept {
  const ContactKey& key = rows.key[i];
  const Shape& a = model_->shapes[key.a].shape;
  const Shape& b = model_->shapes[key.b].shape;
  const ContactPlace& place = places_[i];
  const Mat3<double> by = to_matrix(rotation_exp(place.frame.to_world(turned)));
  Transform<double> pose = detector_.pose(key.b);
  pose.R = by * pose.R;
  pose.p = place.point + by * (pose.p - place.point) + along * place.frame.n;
  return overlap_function<double>(kind_of(a), kind_of(b))(a, detector_.pose(key.a), b,
                                                          pose);
}

void PointPool::foresee_patches(const ContactRows& rows, double ahead) noexcept {
  if (!has_patches()) return;
  const std::span<double> depth = column(RowColumns::depth);
  for (std::size_t b = 0; b < blocks().size(); ++b) {
    if (!blocks()[b].volumetric) continue;
    for (auto i = index(rows.begin[b]); i < index(rows.begin[b + 1]); ++i) {
      if (rows.key[i].empty()) continue;
      const PatchRow& now = patch(i);
      const Overlap<double> overlap =
          displaced(rows, i, -ahead * now.approach, ahead * now.turning);
      PatchRow then = PatchRow::of(overlap, places_[i].frame, places_[i].point);
      then.approach = now.approach;
      then.turning = now.turning;
      then.spin = now.spin;
      put_patch(i, then);
      depth[i] = overlap.depth;
    }
  }
}

/// The row of a couple on B.
JacobianRow<double> PointPool::couple_row(std::size_t i,
                                          const Vec3<double>& axis) const noexcept {
  const ContactPlace& place = places_[i];
  return {place.link_a, place.link_b, {-axis, {0, 0, 0}}, {axis, {0, 0, 0}}};
}

JacobianRow<double> PointPool::spin_row(std::size_t i) const noexcept {
  return couple_row(i, patch(i).gyration() * places_[i].frame.n);
}

std::array<JacobianRow<double>, 3> PointPool::patch_rows(
    const Placement& at, std::size_t i, const PatchAxes& axes) const noexcept {
  const ContactPlace& place = places_[i];
  const Vec3<double> centre = place.point + place.frame.to_world(axes.centre);
  const auto about = [&](Vec2<double> axis) {
    return couple_row(i, place.frame.to_world(axis));
  };
  return {
      row_at_point<double>(at.tree, place.link_a, place.link_b, centre, place.frame.n),
      about(axes.axis[0]), about(axes.axis[1])};
}

int PointPool::dense_jacobian(const Tree& tree, const Placement& at, std::size_t i,
                              std::span<double> out,
                              std::span<double> scratch) const noexcept {
  const std::size_t n = index(tree.velocity_count());
  const ContactPlace& place = places_[i];
  point_jacobian<double>(tree, at.tree, place.link_b, place.point, out);
  point_jacobian<double>(tree, at.tree, place.link_a, place.point, scratch);
  for (std::size_t k = 0; k < n; ++k) {
    const Vec3<double> move{out[k] - scratch[k], out[n + k] - scratch[n + k],
                            out[2 * n + k] - scratch[2 * n + k]};
    if (move.x == 0 && move.y == 0 && move.z == 0) {
      out[k] = out[n + k] = out[2 * n + k] = 0;
      continue;
    }
    const Vec2<double> across = place.frame.to_tangent(move);
    out[k] = dot(place.frame.n, move);
    out[n + k] = across.x;
    out[2 * n + k] = across.y;
  }
  return most_rows;
}

}  // namespace bristle
