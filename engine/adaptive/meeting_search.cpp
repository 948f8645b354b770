#include "bristle/adaptive/meeting_search.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

using detail::at;

// Depth that may be stepped over, of the thinner shape: as accurate as the motion is
// asked for, and at the loosest tolerances a millionth. A tenth of the way costs one
// distance more per meeting. Not below what rounding leaves of a depth.
constexpr double coarsest = 1e-6;
constexpr double roundings = 100;
constexpr double least_thickness = 1e-3;  // where neither shape has one [m]

// Within an explicit step whose error is allowed rates are no larger than twice those
// that its thirteen evaluations met.
constexpr double rate_safety = 2;

// Where a cubic may leave a quaternion shorter than this nothing is known: a bound that
// no pair passes the sieves with.
constexpr double shortest_quaternion = 1e-9;

/// A pair along the dense output, in the frame of the last link that moves both.
struct PairPath {
  LinkPaths& paths;
  const ModelShape& a;
  const ModelShape& b;
  int base;
  double arm_a, arm_b;  // of the shapes on their links [m]

  PairPath(const Tree& tree, LinkPaths& of, const ModelShape& one, const ModelShape& two)
      : paths(of), a(one), b(two), arm_a(norm(a.in_link.p)), arm_b(norm(b.in_link.p)) {
    int i = a.link, j = b.link;
    while (i != j) (i > j ? i : j) = tree.link(i > j ? i : j).parent;
    base = i;
  }
  void at(double place, ShapeMotion& of_a, ShapeMotion& of_b) {
    const auto on_link = [&](const ModelShape& shape, ShapeMotion& m) {
      m = paths.motion(shape.link, base, place);
      if (shape.centred) return;
      m.velocity = shifted(m.velocity, m.pose.R * shape.in_link.p);
      m.pose = m.pose * shape.in_link;
    };
    on_link(a, of_a);
    on_link(b, of_b);
  }
  void bounds(double low, double high, MotionBounds& of_a, MotionBounds& of_b) {
    of_a = paths.bounds(a.link, base, low, high).at(arm_a);
    of_b = paths.bounds(b.link, base, low, high).at(arm_b);
  }
};

}  // namespace

MeetingSearch::MeetingSearch(MotionOde& ode, SwitchingStep& step)
    : ode_(&ode),
      step_(&step),
      paths_(ode.model().tree, step),
      any_pairs_(ode.model().broad_phase || !ode.model().pairs.empty()),
      links_(at(ode.model().tree.link_count())),
      travel_(ode.model().shapes.size()) {
  for (const ModelShape& shape : ode.model().shapes) {
    thicknesses_.push_back(thickness(shape.shape));
  }
}

/// A joint over the whole step by the rates of all evaluations: velocities change by no
/// more than `gained`. In a contact's time they may do so at once.
JointBounds MeetingSearch::joint_bounds_by_rates(const Link& link) const {
  const std::size_t nq = ode_->position_count();
  double turning2 = 0, turning_change2 = 0, moving2 = 0, moving_change2 = 0;
  int lengths = 0;
  for (int k = 0; k < velocity_count(link.type); ++k) {
    const std::size_t v = nq + at(link.v + k);
    const double gained = rate_safety * step_->largest_change(v);
    const double rate = span_ * (std::abs(step_->y()[v]) + gained);
    const double change = span_ * (second_order_ ? gained : 2 * gained);
    const bool moves = is_linear(link.type, k);
    lengths += moves ? 1 : 0;
    (moves ? moving2 : turning2) += rate * rate;
    (moves ? moving_change2 : turning_change2) += change * change;
  }
  JointBounds b;
  b.turning = std::sqrt(turning2);
  b.turning_change = std::sqrt(turning_change2);
  if (link.type == JointType::universal) b.turning_change += turning2;
  b.offset_rate = std::sqrt(moving2);
  b.offset_change = std::sqrt(moving_change2);
  if (!(moving2 > 0)) return b;
  double offset2 = 0;  // of the positions, lengths come first
  for (int k = 0; k < lengths; ++k) offset2 += square(step_->y()[at(link.q + k)]);
  b.offset = std::sqrt(offset2) + b.offset_rate;
  return b;
}

/// The same by the cubics of a step: bounds that are wider than those of LinkPaths, and
/// take no products of polynomials.
JointBounds MeetingSearch::joint_bounds_by_cubics(const Link& link) const {
  JointBounds b;
  double turning2 = 0, turning_change2 = 0, moving2 = 0, moving_change2 = 0, offset2 = 0;
  double swing2 = 0;
  const int quaternion = quaternion_at(link.type);
  for (int k = 0; k < position_count(link.type); ++k) {
    std::array<double, LinkPaths::terms> c;
    step_->polynomial(at(link.q + k), c);
    const double one = std::abs(c[1]), two = std::abs(c[2]), three = std::abs(c[3]);
    const double rate = one + 2 * two + 3 * three, change = 2 * two + 6 * three;
    const bool turns = quaternion >= 0 && k >= quaternion;
    const bool moves = !turns && is_linear(link.type, quaternion > 0 ? 3 + k : k);
    (moves ? moving2 : turning2) += rate * rate;
    (moves ? moving_change2 : turning_change2) += change * change;
    if (turns) swing2 += square(one + two + three);
    if (moves) offset2 += square(std::abs(c[0]) + one + two + three);
  }
  b.offset = std::sqrt(offset2);
  b.offset_rate = std::sqrt(moving2);
  b.offset_change = std::sqrt(moving_change2);
  b.turning = std::sqrt(turning2);
  b.turning_change = std::sqrt(turning_change2);
  if (link.type == JointType::universal) b.turning_change += turning2;
  if (quaternion < 0) return b;
  // ω = 2 Im(Q′Q*)/N², dω = 2 Im(Q″Q*)/N² − 2 ω (Q·Q′)/N², from |Q| = 1 on.
  const double least = std::max(1 - std::sqrt(swing2), shortest_quaternion);
  b.turning *= 2 / least;
  b.turning_change = 2 * b.turning_change / least + b.turning * b.turning;
  return b;
}

/// Every link over the whole step.
void MeetingSearch::bound_links() {
  const bool by_rates = !step_->between_by_cubic();
  second_order_ = !by_rates || !ode_->by_clock();
  span_ = !second_order_ ? step_->largest_change(ode_->t_at())
          : by_rates     ? step_->length()
                         : step_->length() * ode_->pace(step_->y());
  paths_.begin();
  const Tree& tree = ode_->model().tree;
  for (int i = 1; i < tree.link_count(); ++i) {
    const Link& link = tree.link(i);
    links_[at(i)] = links_[at(link.parent)].moved_by(
        by_rates ? joint_bounds_by_rates(link) : joint_bounds_by_cubics(link),
        norm(tree.constants()[at(i)].joint.p));
  }
}

ShapeMotion MeetingSearch::motion_of(const GuardReading& reading, std::uint32_t number,
                                     double pace) const {
  const ModelShape& shape = ode_->model().shapes[number];
  if (shape.link == world_link) return {shape.in_link, Motion<double>::zero()};
  const Transform<double>& pose = reading.poses[at(shape.link)];
  const Motion<double> velocity = pace * reading.velocities[at(shape.link)];
  if (shape.centred) return {pose, velocity};
  return {pose * shape.in_link, shifted(velocity, pose.R * shape.in_link.p)};
}

MotionBounds MeetingSearch::bounds_of(std::uint32_t shape) const {
  const ModelShape& s = ode_->model().shapes[shape];
  return links_[at(s.link)].at(norm(s.in_link.p));
}

/// How far shapes go. True where none goes farther than contacts were looked for.
bool MeetingSearch::bound_shapes(const GuardReading& begin) {
  const Model& model = ode_->model();
  bool within = true;
  for (std::size_t i = 0; i < travel_.size(); ++i) {
    const ModelShape& shape = model.shapes[i];
    travel_[i] = 0;
    if (shape.link == world_link) continue;
    const LinkBounds& link = links_[at(shape.link)];
    // A shape without end is as far as what it touches: its turning is followed.
    const bool finite = std::isfinite(shape.reach);
    const double wobble = finite ? Turning(shape.shape, shape.radius).radius : 0;
    const ShapeMotion m = motion_of(begin, static_cast<std::uint32_t>(i), span_);
    const MotionBounds b = bounds_of(static_cast<std::uint32_t>(i));
    travel_[i] =
        std::min(link.speed + (finite ? link.turning * shape.reach : 0),
                 norm(m.velocity.linear) + 0.5 * b.acceleration +
                     wobble * (norm(m.velocity.angular) + 0.5 * b.turning_change));
    within = within && travel_[i] <= ode_->margin(i);
  }
  return within;
}

SweptPair MeetingSearch::swept(std::uint32_t a, std::uint32_t b) const {
  const ModelShape& one = ode_->model().shapes[a];
  const ModelShape& two = ode_->model().shapes[b];
  double thin = std::min(thicknesses_[a], thicknesses_[b]);
  if (std::isinf(thin)) thin = least_thickness;
  return {&one.shape,
          &two.shape,
          one.radius,
          two.radius,
          pair_function<double>(kind_of(one.shape), kind_of(two.shape)),
          std::max(tolerance_ * thin, least_tolerance_)};
}

/// Whether the gap at the beginning of the step, along its normal, and that at its end
/// leave no time to meet in between.
bool MeetingSearch::stays_apart(const SweptPair& pair, std::uint32_t a, std::uint32_t b,
                                const GuardReading& begin, const GuardReading& end,
                                double to) {
  const MotionBounds of_a = bounds_of(a), of_b = bounds_of(b);
  const double enough = travel_[a] + travel_[b] + pair.tolerance;
  const auto lasts = [&](const GuardReading& reading, double pace) {
    const ShapeMotion one = motion_of(reading, a, pace),
                      two = motion_of(reading, b, pace);
    ++queries_;
    const Clearance clear = clearance(*pair.a, one.pose, *pair.b, two.pose, enough);
    const sweep::Rates rates = sweep::rates_of(pair, clear, one, two, of_a, of_b, 1);
    return sweep::reach_time(std::max(clear.gap + pair.tolerance, 0.0), rates.c, rates.C);
  };
  const double h = step_->length();
  const double from_begin = lasts(begin, h * ode_->pace(step_->y()));
  if (from_begin >= to) return true;
  return from_begin + lasts(end, -h * ode_->pace(step_->end())) >= 1;
}

/// A pair that is at least `apart` at both ends of the step together.
void MeetingSearch::look_at(std::uint32_t a, std::uint32_t b, double apart,
                            const GuardReading& begin, const GuardReading& end, double to,
                            Meeting& first) {
  if (apart > travel_[a] + travel_[b]) return;
  const SweptPair pair = swept(a, b);
  to = std::min(to, first.at);
  if (second_order_ && stays_apart(pair, a, b, begin, end, to)) return;
  const Model& model = ode_->model();
  PairPath path(model.tree, paths_, model.shapes[a], model.shapes[b]);
  followed_dense_ = true;
  const Meeting meeting = first_meeting(pair, path, 0, to, queries_);
  if (meeting.found()) first = meeting;
}

/// Pairs that no contact was looked for between, where shapes go farther than that.
void MeetingSearch::look_farther(const GuardReading& begin, const GuardReading& end,
                                 double to, Meeting& first) {
  if (detector_ == nullptr) {
    team_ = std::make_unique<Team>(1);
    detector_ = std::make_unique<Detector>(ode_->model(), *team_);
  }
  const ContactStatus status =
      detector_->list_near({begin.poses, begin.velocities}, travel_, beyond_);
  if (status != ContactStatus::ok) {
    // Too many pairs to look at, so that nothing is known: half the step, then.
    first = {0, std::min(0.5 * to, first.at)};
    return;
  }
  for (const ShapePair& pair : beyond_) {
    const double looked = ode_->margin(pair.a) + ode_->margin(pair.b);
    if (travel_[pair.a] + travel_[pair.b] <= looked) continue;
    if (ode_->has_rows(pair.a, pair.b)) continue;
    look_at(pair.a, pair.b, 0, begin, end, to, first);
  }
}

Meeting MeetingSearch::first(const GuardReading& begin, const GuardReading& end,
                             double to) {
  Meeting first;
  followed_dense_ = false;
  if (!any_pairs_) return first;
  const std::span<const PairSlice> pairs = ode_->pairs();
  const auto touch = [&](const PairSlice& pair) { return ode_->touches(pair); };
  const Model& model = ode_->model();
  if (!model.broad_phase && pairs.size() == model.pairs.size() &&
      std::all_of(pairs.begin(), pairs.end(), touch)) {
    return first;
  }
  bound_links();
  const bool within = bound_shapes(begin);
  tolerance_ = std::min(step_->rtol(), coarsest);
  least_tolerance_ = roundings * ode_->depth_rounding(step_->y());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (ode_->touches(pairs[p])) continue;
    look_at(pairs[p].a, pairs[p].b, begin.gaps[p] + end.gaps[p], begin, end, to, first);
  }
  if (!within) look_farther(begin, end, to, first);
  return first;
}

}  // namespace bristle
