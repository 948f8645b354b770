#include "bristle/contact/detect.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A pair cannot touch where the balls around its shapes are apart, or a ball and a
/// plane.
bool far_apart(const ModelShape& a, const Transform<double>& pose_a, const ModelShape& b,
               const Transform<double>& pose_b, double margin) {
  const Vec3<double> between = pose_b.p - pose_a.p;
  if (kind_of(a.shape) == ShapeKind::plane) {
    return dot(between, pose_a.R.z) > b.radius + margin;
  }
  if (kind_of(b.shape) == ShapeKind::plane) {
    return -dot(between, pose_b.R.z) > a.radius + margin;
  }
  const double reach = a.radius + b.radius + margin;
  return norm2(between) > reach * reach;  // never for an infinite radius
}

}  // namespace

Detector::Detector(const Model& model, Team& team)
    : model_(&model),
      team_(&team),
      poses_(model.shapes.size()),
      margins_(model.shapes.size()),
      candidates_(model),
      lists_(at(team.size())) {
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    // What stands still is placed once and for all.
    poses_[i] = model.shapes[i].in_link;
  }
  for (List& list : lists_) {
    list.found.resize(at(model.contact_row_capacity));
    if (model.has_patches) list.overlaps.reserve(list.found.size());
  }
}

ContactPoint<double> point_of(const Overlap<double>& o, ShapeKind a,
                              ShapeKind b) noexcept {
  ContactPoint<double> point{.on_a = o.centroid,
                             .on_b = o.centroid,
                             .normal = o.normal,
                             .depth = o.depth,
                             .radius = 0,
                             .patch = Patch::flat,
                             .feature = 0};
  const Vec3<double> across = 2 * o.centroid_depth * o.normal;
  if (a == ShapeKind::plane) point.on_b = o.centroid - across;
  if (b == ShapeKind::plane) point.on_a = o.centroid + across;
  return point;
}

void Detector::place_shapes(const LinkMotion& links) noexcept {
  for (std::size_t i = 0; i < model_->shapes.size(); ++i) {
    const ModelShape& shape = model_->shapes[i];
    if (shape.link == world_link) continue;
    const Transform<double>& pose = links.poses[at(shape.link)];
    poses_[i] = shape.centred ? pose : pose * shape.in_link;
  }
}

/// How far the points of shapes may move: twice as far as the bodies go, so that a
/// contact is known before the step in which it closes; gravity makes them faster
/// meanwhile.
void Detector::spread_margins(const LinkMotion& links, double horizon) noexcept {
  const double reach = 2 * horizon;
  const double gained = norm(model_->tree.gravity()) * reach;
  for (std::size_t i = 0; i < model_->shapes.size(); ++i) {
    const ModelShape& shape = model_->shapes[i];
    if (shape.link == world_link) {
      margins_[i] = 0;
      continue;
    }
    const Motion<double>& m = links.velocities[at(shape.link)];
    const double turning = std::isfinite(shape.reach) ? norm(m.angular) * shape.reach : 0;
    margins_[i] = reach * (norm(m.linear) + turning + gained);
  }
}

/// Room for so many contacts, and as many overlaps where there are any.
bool Detector::make_room(List& list, std::size_t needed) const noexcept {
  if (needed <= list.found.size()) return true;
  if (!model_->rooms_grow || needed > most_contacts_found) return false;
  try {
    list.found.resize(std::max<std::size_t>(needed + needed / 2, 64));
    if (model_->has_patches) list.overlaps.reserve(list.found.size());
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

/// The narrow phase over a share of the candidates.
void Detector::look(List& list, Share share) const noexcept {
  list.count = 0;
  list.overlaps.clear();
  list.status = ContactStatus::ok;
  for (std::size_t k = share.begin; k < share.end; ++k) {
    const ShapePair& pair = candidates_[k];
    const ModelShape& a = model_->shapes[pair.a];
    const ModelShape& b = model_->shapes[pair.b];
    const Transform<double>& pose_a = poses_[pair.a];
    const Transform<double>& pose_b = poses_[pair.b];
    const double margin = margins_[pair.a] + margins_[pair.b];
    if (far_apart(a, pose_a, b, pose_b, margin)) continue;
    const auto number = static_cast<std::uint32_t>(k);
    if (pair.overlap != nullptr) {
      const Overlap<double> overlap = pair.overlap(a.shape, pose_a, b.shape, pose_b);
      if (!(overlap.depth >= -margin)) continue;
      if (!make_room(list, list.count + 1)) {
        list.status = ContactStatus::too_many_contacts;
        return;
      }
      const auto place = static_cast<std::uint32_t>(list.overlaps.size());
      list.overlaps.push_back(overlap);
      list.found[list.count++] = {number, place,
                                  point_of(overlap, kind_of(a.shape), kind_of(b.shape))};
      continue;
    }
    Contacts<double> contacts;
    pair.find(a.shape, pose_a, b.shape, pose_b, margin, contacts);
    if (!make_room(list, list.count + at(contacts.count))) {
      list.status = ContactStatus::too_many_contacts;
      return;
    }
    for (int c = 0; c < contacts.count; ++c) {
      list.found[list.count++] = {number, 0, contacts[c]};
    }
  }
}

const Overlap<double>& Detector::overlap(const FoundContact& contact) const noexcept {
  const auto list = std::find_if(lists_.begin(), lists_.end(), [&](const List& one) {
    const FoundContact* first = one.found.data();
    return std::less_equal<>{}(first, &contact) &&
           std::less<>{}(&contact, first + one.count);
  });
  return list->overlaps[contact.overlap];
}

ContactStatus Detector::list_near(const LinkMotion& links,
                                  std::span<const double> margins,
                                  std::vector<ShapePair>& near) noexcept {
  place_shapes(links);
  std::copy(margins.begin(), margins.end(), margins_.begin());
  const ContactStatus status = candidates_.list(poses_, margins_);
  if (status != ContactStatus::ok) return status;
  near.clear();
  try {
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      const ShapePair& pair = candidates_[k];
      const double margin = margins_[pair.a] + margins_[pair.b];
      if (far_apart(model_->shapes[pair.a], poses_[pair.a], model_->shapes[pair.b],
                    poses_[pair.b], margin)) {
        continue;
      }
      near.push_back(pair);
    }
  } catch (const std::bad_alloc&) {
    return ContactStatus::too_many_pairs;
  }
  return ContactStatus::ok;
}

ContactStatus Detector::detect(const LinkMotion& links, double horizon) noexcept {
  place_shapes(links);
  spread_margins(links, horizon);
  const ContactStatus status = candidates_.list(poses_, margins_);
  if (status != ContactStatus::ok) return status;
  team_->run([&](int member) {
    look(lists_[at(member)], share_of(candidates_.size(), member, team_->size()));
  });
  for (const List& list : lists_) {
    if (list.status != ContactStatus::ok) return list.status;
  }
  return ContactStatus::ok;
}

}  // namespace bristle
