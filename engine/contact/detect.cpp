#include "bristle/contact/detect.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A pair cannot touch where the balls around its shapes are apart.
bool far_apart(const ModelShape& a, const Transform<double>& pose_a, const ModelShape& b,
               const Transform<double>& pose_b, double margin) {
  const double reach = a.radius + b.radius + margin;
  return norm2(pose_b.p - pose_a.p) > reach * reach;  // never for an infinite radius
}

/// Pairs of overlapping boxes, sorted by block: a counting sort that keeps their order.
ContactStatus find_candidates(const Model& model, ContactWorkspace& ws) {
  const auto& shapes = model.shapes;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ws.boxes[i] = bounds(shapes[i].shape, ws.shape_poses[i], ws.margins[i]);
  }
  for (HalfSpace& h : ws.half_spaces) {
    const Transform<double>& pose = ws.shape_poses[h.index];
    h.normal = pose.R.z;
    h.offset = dot(pose.R.z, pose.p) + ws.margins[h.index];
  }
  const auto may_touch = [&](std::uint32_t i, std::uint32_t j) {
    const ModelShape& a = shapes[i];
    const ModelShape& b = shapes[j];
    const PairRule& rule = model.rule(a.kind, b.kind);
    return rule.block >= 0 && a.link != b.link &&
           (rule.adjacent || !model.adjacent(a.link, b.link));
  };
  const BroadStatus status =
      ws.broad.find(ws.boxes, model.large, ws.half_spaces, may_touch);
  if (status == BroadStatus::too_many_pairs) return ContactStatus::too_many_pairs;
  if (status != BroadStatus::ok) return ContactStatus::not_finite;
  const auto pairs = ws.broad.pairs();
  std::fill(ws.block_counts.begin(), ws.block_counts.end(), 0u);
  for (const BroadPair& p : pairs) {
    ++ws.block_counts[at(model.rule(shapes[p.first].kind, shapes[p.second].kind).block +
                         1)];
  }
  for (std::size_t b = 1; b < ws.block_counts.size(); ++b) {
    ws.block_counts[b] += ws.block_counts[b - 1];
  }
  for (const BroadPair& p : pairs) {
    const ModelShape& a = shapes[p.first];
    const ModelShape& b = shapes[p.second];
    const PairRule& rule = model.rule(a.kind, b.kind);
    const ShapeKind kind_a = kind_of(a.shape);
    const ShapeKind kind_b = kind_of(b.shape);
    const double share =
        rule.share_a >= 0 ? rule.share_a
                          : (a.link == world_link ? 1 : (b.link == world_link ? 0 : 0.5));
    ws.candidates[ws.block_counts[at(rule.block)]++] = {
        p.first,
        p.second,
        rule.block,
        share,
        pair_function<double>(kind_a, kind_b),
        regenerates(kind_a, kind_b)};
  }
  return ContactStatus::ok;
}

}  // namespace

void place_shapes(const Model& model, const LinkMotion& links,
                  ContactWorkspace& ws) noexcept {
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    const ModelShape& shape = model.shapes[i];
    if (shape.link == world_link) continue;
    const Transform<double>& pose = links.poses[at(shape.link)];
    ws.shape_poses[i] = shape.centred ? pose : pose * shape.in_link;
  }
}

ContactStatus detect(const Model& model, const LinkMotion& links, double horizon,
                     ContactWorkspace& ws) noexcept {
  place_shapes(model, links, ws);
  // Twice as far as the bodies go, so that a contact is known before the step in which it
  // closes; gravity makes them faster meanwhile.
  const double reach = 2 * horizon;
  const double gained = norm(model.tree.gravity()) * reach;
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    const ModelShape& shape = model.shapes[i];
    if (shape.link == world_link) {
      ws.margins[i] = 0;
      continue;
    }
    const Motion<double>& m = links.velocities[at(shape.link)];
    const double turning = std::isfinite(shape.reach) ? norm(m.angular) * shape.reach : 0;
    ws.margins[i] = reach * (norm(m.linear) + turning + gained);
  }
  std::size_t count = model.pairs.size();
  if (model.broad_phase) {
    const ContactStatus status = find_candidates(model, ws);
    if (status != ContactStatus::ok) return status;
    count = ws.broad.pairs().size();
  }
  const int members = ws.team.size();
  const auto look = [&](int member) {
    std::vector<FoundContact>& list = ws.found[at(member)];
    std::size_t n = 0;
    bool full = false;
    const Share share = share_of(count, member, members);
    for (std::size_t k = share.begin; k < share.end; ++k) {
      const ShapePair& pair = ws.candidates[k];
      const ModelShape& a = model.shapes[pair.a];
      const ModelShape& b = model.shapes[pair.b];
      const Transform<double>& pose_a = ws.shape_poses[pair.a];
      const Transform<double>& pose_b = ws.shape_poses[pair.b];
      const double margin = ws.margins[pair.a] + ws.margins[pair.b];
      if (far_apart(a, pose_a, b, pose_b, margin)) continue;
      Contacts<double> contacts;
      pair.find(a.shape, pose_a, b.shape, pose_b, margin, contacts);
      for (int c = 0; c < contacts.count; ++c) {
        if (n == list.size()) {
          full = true;
          break;
        }
        list[n++] = {static_cast<std::uint32_t>(k), contacts[c]};
      }
    }
    ws.found_count[at(member)] = n;
    ws.overflow[at(member)] = full ? 1 : 0;
  };
  ws.team.run(look);
  for (int m = 0; m < members; ++m) {
    if (ws.overflow[at(m)] != 0) return ContactStatus::too_many_contacts;
  }
  return ContactStatus::ok;
}

}  // namespace bristle
