#include "bristle/contact/candidates.hpp"

#include <algorithm>
#include <new>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A wider box reaches beyond the box by what the shape moves in that many times the
// horizon, within these parts of the box's longest side. Measured on 8000 touching
// spheres, semi-implicit Euler with 10 µs: the list holds for 100 and more steps, with 4
// % more pairs.
constexpr double margins_ahead = 16, least_part = 0.02, most_part = 0.1;

// Where a list held for fewer calls than this, the next ones are of the boxes themselves:
// a wider search takes up to half longer.
constexpr int worth_it = 3, narrow_searches = 8;

double longest_side(const Aabb& box) {
  const Vec3<double> side = box.high - box.low;
  return std::max({side.x, side.y, side.z});
}

bool inside(const Aabb& box, const Aabb& of) {
  return of.low.x <= box.low.x && of.low.y <= box.low.y && of.low.z <= box.low.z &&
         box.high.x <= of.high.x && box.high.y <= of.high.y && box.high.z <= of.high.z;
}

}  // namespace

Candidates::Candidates(const Model& model)
    : model_(&model),
      boxes_(model.broad_phase ? model.shapes.size() : 0),
      wide_(boxes_.size()),
      half_space_of_(boxes_.size(), -1),
      broad_(boxes_.size(), model.broad_phase ? at(model.pair_capacity) : 0),
      block_counts_(model.blocks.size() + 1) {
  if (!model.broad_phase) {
    known_ = model.pairs;
    size_ = known_.size();
    return;
  }
  for (const std::uint32_t plane : model.planes) {
    half_space_of_[plane] = static_cast<int>(half_spaces_.size());
    half_spaces_.push_back({plane, {0, 0, 1}, 0});
  }
  wide_half_spaces_ = half_spaces_;
  if (!model.rooms_grow) {
    known_.resize(at(model.pair_capacity));
    chosen_.resize(at(model.pair_capacity));
  }
}

void Candidates::place(std::span<const Transform<double>> poses,
                       std::span<const double> margins) noexcept {
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    boxes_[i] = bounds(model_->shapes[i].shape, poses[i], margins[i]);
  }
  for (HalfSpace& h : half_spaces_) {
    const Transform<double>& pose = poses[h.index];
    h.normal = pose.R.z;
    h.offset = dot(pose.R.z, pose.p) + margins[h.index];
  }
}

/// Whether each box lies in the wider one that was searched.
bool Candidates::within_wide() const noexcept {
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    if (half_space_of_[i] < 0 && !inside(boxes_[i], wide_[i])) return false;
  }
  for (std::size_t i = 0; i < half_spaces_.size(); ++i) {
    const HalfSpace &h = half_spaces_[i], &wide = wide_half_spaces_[i];
    if (norm2(h.normal - wide.normal) > 0 || !(h.offset <= wide.offset)) return false;
  }
  return true;
}

void Candidates::widen(std::span<const double> margins) noexcept {
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const bool moves = model_->shapes[i].link != world_link;
    const double side = longest_side(boxes_[i]);
    const double by = moves ? std::clamp(margins_ahead * margins[i], least_part * side,
                                         most_part * side)
                            : 0;
    wide_[i] = boxes_[i].grown(by);
  }
  std::copy(half_spaces_.begin(), half_spaces_.end(), wide_half_spaces_.begin());
}

/// Pairs of overlapping boxes; where rooms grow, with as much room as they need.
ContactStatus Candidates::search(std::span<const Aabb> boxes,
                                 std::span<const HalfSpace> half_spaces) noexcept {
  const auto& shapes = model_->shapes;
  const auto may_touch = [&](std::uint32_t i, std::uint32_t j) {
    const ModelShape& a = shapes[i];
    const ModelShape& b = shapes[j];
    const PairRule& rule = model_->rule(a.kind, b.kind);
    return rule.block >= 0 && a.link != b.link &&
           (rule.adjacent || !model_->adjacent(a.link, b.link));
  };
  ++searches_;
  try {
    BroadStatus status = broad_.find(boxes, model_->large, half_spaces, may_touch);
    const std::size_t most =
        std::max(few_pairs, most_pairs_factor * at(model_->pair_capacity));
    if (status == BroadStatus::too_many_pairs && model_->rooms_grow &&
        broad_.found() <= most) {
      broad_.reserve(broad_.found() + broad_.found() / 2);
      status = broad_.find(boxes, model_->large, half_spaces, may_touch);
    }
    if (status == BroadStatus::too_many_pairs) return ContactStatus::too_many_pairs;
    if (status != BroadStatus::ok) return ContactStatus::not_finite;
    const std::size_t count = broad_.pairs().size();
    if (known_.size() < count) known_.resize(count + count / 4);
    if (is_wide_ && chosen_.size() < count) chosen_.resize(known_.size());
    known_count_ = count;
  } catch (const std::bad_alloc&) {
    return ContactStatus::too_many_pairs;
  }
  sort_by_block();
  return ContactStatus::ok;
}

/// Among wider boxes where the last of these paid, and where there is room for their
/// pairs.
ContactStatus Candidates::search(std::span<const double> margins) noexcept {
  if (is_wide_ && uses_ < worth_it) narrow_left_ = narrow_searches;
  uses_ = 0;
  is_wide_ = narrow_left_ == 0;
  if (is_wide_) {
    widen(margins);
    const ContactStatus status = search(wide_, wide_half_spaces_);
    if (status != ContactStatus::too_many_pairs) return status;
    narrow_left_ = narrow_searches;
    is_wide_ = false;
  }
  narrow_left_ = std::max(0, narrow_left_ - 1);
  return search(boxes_, half_spaces_);
}

/// By block: a counting sort that keeps the order of pairs.
void Candidates::sort_by_block() noexcept {
  const auto& shapes = model_->shapes;
  const auto pairs = broad_.pairs();
  std::fill(block_counts_.begin(), block_counts_.end(), 0u);
  for (const BroadPair& p : pairs) {
    const int block = model_->rule(shapes[p.first].kind, shapes[p.second].kind).block;
    ++block_counts_[at(block + 1)];
  }
  for (std::size_t b = 1; b < block_counts_.size(); ++b) {
    block_counts_[b] += block_counts_[b - 1];
  }
  for (const BroadPair& p : pairs) {
    const ShapePair pair = model_->pair(p.first, p.second);
    known_[block_counts_[at(pair.block)]++] = pair;
  }
}

/// Whether the boxes themselves overlap, as the broad phase asks it.
bool Candidates::close(const ShapePair& pair) const noexcept {
  if (const int h = half_space_of_[pair.a]; h >= 0) {
    return reaches(half_spaces_[at(h)], boxes_[pair.b]);
  }
  if (const int h = half_space_of_[pair.b]; h >= 0) {
    return reaches(half_spaces_[at(h)], boxes_[pair.a]);
  }
  return overlap(boxes_[pair.a], boxes_[pair.b]);
}

void Candidates::choose() noexcept {
  size_ = 0;
  for (std::size_t k = 0; k < known_count_; ++k) {
    chosen_[size_] = static_cast<std::uint32_t>(k);
    size_ += close(known_[k]) ? 1U : 0U;
  }
}

ContactStatus Candidates::list(std::span<const Transform<double>> poses,
                               std::span<const double> margins) noexcept {
  if (!model_->broad_phase) return ContactStatus::ok;
  place(poses, margins);
  if (!is_wide_ || !within_wide()) {
    const ContactStatus status = search(margins);
    if (status != ContactStatus::ok) {
      is_wide_ = false;
      return status;
    }
  }
  ++uses_;
  listed_ = !is_wide_;
  size_ = known_count_;
  if (is_wide_) choose();
  return ContactStatus::ok;
}

}  // namespace bristle
