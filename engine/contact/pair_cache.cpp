#include "bristle/contact/pair_cache.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "bristle/contact/law_table.hpp"

namespace bristle {

namespace {

constexpr int lanes = ScalarTraits<NativePack<double>>::lanes;
constexpr double same_contact = 0.1;  // of the smaller shape: a point that has moved
constexpr int most_rows = 2 * max_contacts;  // of a pair: kept ones may join

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{a} << 32) | b;
}

}  // namespace

std::array<int, max_contacts> match_points(
    const ContactRows& rows, int first, int row_count,
    std::span<const ContactPoint<double>* const> points, const Model& model,
    const LinkMotion& links, std::uint32_t a, std::uint32_t b, double share_a) {
  std::array<int, max_contacts> row_of;
  row_of.fill(-1);
  std::array<bool, most_rows> used{};
  const std::size_t count = std::min(at(row_count), used.size());
  const auto row = [&](std::size_t j) { return at(first) + j; };
  bool complete = true;
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (std::size_t j = 0; j < count && row_of[k] < 0; ++j) {
      if (used[j] || rows.key[row(j)].feature != points[k]->feature) continue;
      used[j] = true;
      row_of[k] = static_cast<int>(j);
    }
    complete = complete && row_of[k] >= 0;
  }
  if (complete) return row_of;
  const ModelShape& shape = model.shapes[a];
  const Transform<double>& pose = links.poses[at(shape.link)];
  const double size = same_contact * std::min(shape.radius, model.shapes[b].radius);
  for (;;) {
    double closest = size * size;
    std::size_t point = 0, best = count;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (row_of[k] >= 0) continue;
      const Vec3<double> anchor =
          transpose_times(pose.R, force_point(share_a, *points[k]) - pose.p);
      for (std::size_t j = 0; j < count; ++j) {
        if (used[j] || rows.episode[row(j)] == 0) continue;
        const double distance = norm2(rows.anchor[row(j)] - anchor);
        if (!(distance < closest)) continue;
        closest = distance;
        point = k;
        best = j;
      }
    }
    if (best == count) return row_of;
    used[best] = true;
    row_of[point] = static_cast<int>(best);
  }
}

PairCache::PairCache(const Model& model)
    : model_(&model), layout_(model), rows_(make_state(model).contacts) {
  places_.resize(rows_.capacity());
  patches_.resize(model.has_patches ? rows_.capacity() : 0);
  changes_.reserve(2 * rows_.capacity());
  rows_.pairs.reserve(rows_.capacity());
}

ContactStatus PairCache::renew(const LinkMotion& links, const Detector& found,
                               const ContactRows& old) noexcept {
  detector_ = &found;
  links_ = links;
  n_ = 0;
  rows_.count = 0;
  rows_.pairs.clear();
  changes_.clear();
  Detector::Cursor cursor(found);
  try {
    rows_.grow(old.capacity(), at(layout_.count));
    rows_.pairs.reserve(rows_.capacity());
    places_.resize(rows_.capacity());
    if (model_->has_patches) patches_.resize(rows_.capacity());
    const int blocks = static_cast<int>(model_->contact_law_blocks().size());
    const auto block_of_next = [&](Detector::Cursor& contacts) {
      const FoundContact* first = contacts.peek();
      return first == nullptr ? blocks
                              : found.candidate(first->pair).block - model_->joint_blocks;
    };
    int next = block_of_next(cursor);
    for (int b = 0; b < blocks; ++b) {
      rows_.begin[at(b)] = n_;
      if (b < next && old.begin[at(b)] == old.begin[at(b + 1)]) continue;
      if (!renew_block(b, old, cursor)) return ContactStatus::too_many_contacts;
      next = block_of_next(cursor);
    }
    rows_.begin[at(blocks)] = n_;
    rows_.count = n_;
  } catch (const std::bad_alloc&) {
    return ContactStatus::too_many_contacts;
  }
  return ContactStatus::ok;
}

/// The pairs of a block in the order of their shapes: old rows and new points meet.
bool PairCache::renew_block(int block, const ContactRows& old, Detector::Cursor& found) {
  constexpr auto none = ~std::uint64_t{0};
  const int of_model = model_->joint_blocks + block;
  int o = old.begin[at(block)];
  const int o_end = old.begin[at(block + 1)];
  const auto old_key_at = [&](int i) {
    return pair_key(old.key[at(i)].a, old.key[at(i)].b);
  };
  for (;;) {
    const FoundContact* next = found.peek();
    if (next != nullptr && detector_->candidate(next->pair).block != of_model) {
      next = nullptr;
    }
    while (o < o_end && old.key[at(o)].empty()) ++o;
    const std::uint64_t new_key = next == nullptr
                                      ? none
                                      : pair_key(detector_->candidate(next->pair).a,
                                                 detector_->candidate(next->pair).b);
    const std::uint64_t old_key = o < o_end ? old_key_at(o) : none;
    if (new_key == none && old_key == none) break;
    // The rows of one pair, old and new.
    const std::uint64_t pair = std::min(new_key, old_key);
    std::array<const FoundContact*, max_contacts> fresh;
    int count = 0;
    const std::uint32_t candidate = next != nullptr ? next->pair : 0;
    while (new_key == pair && next != nullptr && next->pair == candidate) {
      // by feature, so that the order does not depend on how they were found
      int place = count++;
      for (; place > 0 && fresh[at(place - 1)]->at.feature > next->at.feature; --place) {
        fresh[at(place)] = fresh[at(place - 1)];
      }
      fresh[at(place)] = next;
      found.take();
      next = count < max_contacts ? found.peek() : nullptr;
    }
    const int old_first = o;
    while (o < o_end && old_key_at(o) == pair) ++o;
    if (!renew_pair(block, candidate, std::span(fresh).first(at(count)), old, old_first,
                    o)) {
      return false;
    }
  }
  return pad();
}

/// New contact points of a pair take over from old ones.
bool PairCache::renew_pair(int block, std::uint32_t candidate, Fresh fresh,
                           const ContactRows& old, int old_first, int old_end) {
  std::array<bool, most_rows> used{};
  if (!fresh.empty()) {
    const ShapePair& pair = detector_->candidate(candidate);
    std::array<const ContactPoint<double>*, max_contacts> points;
    for (std::size_t k = 0; k < fresh.size(); ++k) points[k] = &fresh[k]->at;
    const std::array<int, max_contacts> row_of = match_points(
        old, old_first, old_end - old_first, std::span(points).first(fresh.size()),
        *model_, links_, pair.a, pair.b, pair.share_a);
    if (!make_room(n_ + static_cast<int>(fresh.size()))) return false;
    rows_.pairs.push_back({pair.a, pair.b, n_, static_cast<int>(fresh.size()),
                           pair.share_a,
                           detector_->margin(pair.a) + detector_->margin(pair.b)});
    for (std::size_t k = 0; k < fresh.size(); ++k) {
      const int was = row_of[k];
      if (was >= 0) used[at(was)] = true;
      renew_row(block, pair, *fresh[k], old, was >= 0 ? old_first + was : -1);
    }
  }
  for (int j = old_first; j < old_end; ++j) {
    if (j - old_first < most_rows && used[at(j - old_first)]) continue;
    if (!give_up(block, old, j)) return false;
  }
  return true;
}

void PairCache::renew_row(int block, const ShapePair& pair, const FoundContact& found,
                          const ContactRows& old, int was) {
  const ContactPoint<double>& contact = found.at;
  const std::size_t i = at(n_);
  const int link_a = model_->shapes[pair.a].link;
  if (was >= 0) {
    const double turn = old.memory[at(MemoryLayout::turn) * old.capacity() + at(was)];
    rows_.frame[i] = carried(old.frame[at(was)], contact.normal, turn);
  } else {
    rows_.frame[i] = frame_from_normal(contact.normal);
  }
  const Vec3<double> point = force_point(pair.share_a, contact);
  const Transform<double>& pose = links_.poses[at(link_a)];
  rows_.key[i] = {pair.a, pair.b, contact.feature};
  rows_.point[i] = point;
  rows_.anchor[i] = transpose_times(pose.R, point - pose.p);
  rows_.depth[i] = contact.depth;
  rows_.sides[i] = was >= 0 ? old.sides[at(was)] : 0;
  rows_.impulse[i] = was >= 0 ? old.impulse[at(was)] : RowImpulse{};
  places_[i] = {rows_.frame[i], point, link_a, model_->shapes[pair.b].link};
  if (pair.overlap != nullptr) {
    patches_[i] = PatchRow::of(detector_->overlap(found), rows_.frame[i], point);
  }
  carry_memory(old, was, n_);
  // A contact that stands alone is where the depth is least, and follows its rate.
  const bool alone = contact.feature == 0 && (was < 0 || old.key[at(was)].feature == 0);
  changes_.push_back(
      {n_, was, block, RowChange::Fate::found, pair.regenerates && !alone});
  ++n_;
}

/// An old row whose point was not found again.
bool PairCache::give_up(int block, const ContactRows& old, int was) {
  // Open, also during the step that led here.
  if (old.episode[at(was)] == 0 && old.impulse[at(was)].normal == 0) return true;
  if (!still_recovers(block, old, was)) {
    changes_.push_back({-1, was, block, RowChange::Fate::lost, false});
    return true;
  }
  // The ground still comes back: the contact is remembered, out of reach.
  if (!make_room(n_ + 1)) return false;
  const std::size_t i = at(n_), j = at(was);
  rows_.key[i] = old.key[j];
  rows_.frame[i] = old.frame[j];
  rows_.point[i] = old.point[j];
  rows_.anchor[i] = old.anchor[j];
  rows_.depth[i] = -1;
  rows_.impulse[i] = {};
  rows_.sides[i] = 0;
  places_[i] = {old.frame[j], old.point[j], world_link, world_link};
  carry_memory(old, was, n_);
  changes_.push_back({n_, was, block, RowChange::Fate::kept, false});
  ++n_;
  return true;
}

bool PairCache::still_recovers(int block, const ContactRows& old, int row) const {
  if (!model_->contact_law_blocks()[at(block)].has_normal_law()) return false;
  const LawChoice& law = model_->contact_law_blocks()[at(block)].normal;
  const NormalLawTable& normal = normal_law(law);
  if (normal.fields == 0 || old.depth[at(row)] > 0) return false;
  const Columns<const double> memory{
      old.memory.data() + at(layout_.normal) * old.capacity(), old.capacity()};
  return normal.stored(law, memory, at(row), -1.0) > 0;
}

void PairCache::carry_memory(const ContactRows& old, int from, int to) {
  for (int k = 0; k < layout_.count; ++k) {
    const bool kept = from >= 0 && k != MemoryLayout::turn && k != MemoryLayout::travel;
    rows_.memory[at(k) * rows_.capacity() + at(to)] =
        kept ? old.memory[at(k) * old.capacity() + at(from)] : 0;
  }
}

/// Room for so many rows; false where the model fixes its size at less.
bool PairCache::make_room(int rows) {
  if (at(rows) <= rows_.capacity()) return true;
  if (!model_->rooms_grow) return false;
  rows_.count = n_;
  const std::size_t more = std::max<std::size_t>(at(rows) + at(rows) / 4, 64);
  rows_.grow((more + lanes - 1) / lanes * lanes, at(layout_.count));
  places_.resize(rows_.capacity());
  if (model_->has_patches) patches_.resize(rows_.capacity());
  return true;
}

/// Fills up to the next multiple of the lanes with rows that do nothing.
bool PairCache::pad() {
  for (; n_ % lanes != 0; ++n_) {
    if (!make_room(n_ + 1)) return false;
    const std::size_t i = at(n_);
    if (!rows_.key[i].empty()) forget(i);
    // What passes over all rows write.
    rows_.entered[i] = {};
    rows_.impulse[i] = {};
    rows_.sides[i] = 0;
    for (int k = 0; k < layout_.count; ++k) {
      rows_.memory[at(k) * rows_.capacity() + i] = 0;
    }
  }
  return true;
}

/// An empty place where a contact was.
void PairCache::forget(std::size_t row) {
  rows_.key[row] = {};
  rows_.episode[row] = 0;
  rows_.depth[row] = -1;
  rows_.rate[row] = rows_.approach[row] = rows_.acceleration[row] = rows_.lag[row] = 0;
  rows_.frame[row] = {};
  rows_.point[row] = rows_.anchor[row] = {};
}

}  // namespace bristle
