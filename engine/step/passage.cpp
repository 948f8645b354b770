#include "bristle/step/passage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bristle/contact/sweep.hpp"

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A pair has gone through where it overlapped by more than this part of the thinner
// one's half-thickness in between; corners that clip each other by less do so. Right
// angles and blunter ones are past each other on twice that way, at least.
constexpr double clipped = 0.1, shortest_way = 0.2;
constexpr std::size_t most_pairs = 64;  // that are reported by name

/// What a shape must move by to be past another one: nothing, of points and surfaces.
double thickness_to_pass(const Shape& shape) {
  const ShapeKind kind = kind_of(shape);
  if (kind == ShapeKind::mesh || kind == ShapeKind::height_field) return 0;
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return sphere->radius;
  return thickness(shape);
}

/// From one pose to another, straight and at one rate.
struct StraightPath {
  Transform<double> a, b;
  Motion<double> of_a, of_b;

  static Motion<double> between(const Transform<double>& from,
                                const Transform<double>& to) {
    const Mat3<double> turn = to.R * transpose(from.R);
    return {rotation_log(from_matrix(turn)), to.p - from.p};
  }
  void at(double place, ShapeMotion& one, ShapeMotion& two) const {
    const auto moved = [&](const Transform<double>& from, const Motion<double>& m) {
      return Transform<double>{to_matrix(rotation_exp(place * m.angular)) * from.R,
                               from.p + place * m.linear};
    };
    one = {moved(a, of_a), of_a};
    two = {moved(b, of_b), of_b};
  }
  void bounds(double, double, MotionBounds& one, MotionBounds& two) const {
    one = {0, norm(of_a.angular), 0};
    two = {0, norm(of_b.angular), 0};
  }
};

std::string number(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", x);
  return buffer;
}

}  // namespace

PassageWatch::PassageWatch(const Model& model)
    : model_(&model), begin_(model.shapes.size()), end_(model.shapes.size()) {
  for (const ModelShape& shape : model.shapes) {
    thickness_.push_back(thickness_to_pass(shape.shape));
    if (thickness_.back() > 0) thinnest_ = std::min(thinnest_, thickness_.back());
  }
  passages_.reserve(most_pairs);
}

/// The half-thickness of the thinner shape of a pair; infinite where nothing can pass.
double PassageWatch::thin(const ShapePair& pair) const noexcept {
  double thinner = HUGE_VAL;
  for (const double t : {thickness_[pair.a], thickness_[pair.b]}) {
    if (std::isinf(t)) return HUGE_VAL;  // solid to infinity
    if (t > 0) thinner = std::min(thinner, t);
  }
  return thinner;
}

/// Whether a pair may come past each other from where it is.
bool PassageWatch::may_pass(const PointPool& points, const ShapePair& pair,
                            const Vec3<double>& between) const noexcept {
  // Contacts were looked for twice as far as shapes go.
  const double reach = points.margin(pair.a) + points.margin(pair.b);
  if (!(0.5 * reach > shortest_way * thin(pair))) return false;
  const double far =
      model_->shapes[pair.a].radius + model_->shapes[pair.b].radius + reach;
  return norm2(between) <= far * far;
}

void PassageWatch::begin(const System& system) noexcept {
  const PointPool& points = system.pools.points;
  double farthest = 0;
  for (std::size_t i = 0; i < thickness_.size(); ++i) {
    farthest = std::max(farthest, points.margin(i));
  }
  // Of two shapes that move both go as far.
  watches_ = farthest > shortest_way * thinnest_;
  if (!watches_) return;
  for (std::size_t i = 0; i < begin_.size(); ++i) {
    const ModelShape& shape = model_->shapes[i];
    begin_[i] = system.tree.poses[at(shape.link)] * shape.in_link;
  }
  const Candidates& pairs = points.candidates();
  watches_ = false;
  for (std::size_t k = 0; k < pairs.size() && !watches_; ++k) {
    const ShapePair& pair = pairs[k];
    watches_ = may_pass(points, pair, begin_[pair.b].p - begin_[pair.a].p);
  }
}

/// Whether a pair that is apart at both ends meets in between; and how far one moves past
/// the other.
bool PassageWatch::passes(const ShapePair& pair, double& way) noexcept {
  const ModelShape& a = model_->shapes[pair.a];
  const ModelShape& b = model_->shapes[pair.b];
  const Transform<double>&from_a = begin_[pair.a], &from_b = begin_[pair.b];
  const Transform<double>&to_a = end_[pair.a], &to_b = end_[pair.b];
  StraightPath path{from_a, from_b, StraightPath::between(from_a, to_a),
                    StraightPath::between(from_b, to_b)};
  const auto turned = [](const ModelShape& shape, const Motion<double>& m) {
    const double radius = Turning(shape.shape, shape.radius).radius;
    return std::isfinite(radius) ? radius * norm(m.angular) : 0;
  };
  way = norm(path.of_a.linear - path.of_b.linear) + turned(a, path.of_a) +
        turned(b, path.of_b);
  const double thinner = thin(pair);
  if (!(way > shortest_way * thinner)) return false;
  const SweptPair swept{&a.shape, &b.shape,  a.radius,
                        b.radius, pair.find, clipped * thinner};
  const auto apart = [&](const Transform<double>& one, const Transform<double>& two) {
    return clearance(a.shape, one, b.shape, two, 0).gap >= 0;
  };
  if (!apart(from_a, from_b) || !apart(to_a, to_b)) return false;
  std::uint64_t queries = 0;
  return first_meeting(swept, path, 0, 1, queries).found();
}

void PassageWatch::note(const ShapePair& pair, double way, double time,
                        double step) noexcept {
  ++count_;
  for (Passage& known : passages_) {
    if (known.a != pair.a || known.b != pair.b) continue;
    ++known.times;
    known.way = std::max(known.way, way);
    return;
  }
  if (passages_.size() == most_pairs) return;
  passages_.push_back(
      {pair.a, pair.b, 1, time, way, thickness_[pair.a] + thickness_[pair.b], step});
}

void PassageWatch::end(System& system, const State& state) noexcept {
  if (!watches_) return;
  renew_kinematics<double>(model_->tree, state.q, state.v, system.tree);
  for (std::size_t i = 0; i < end_.size(); ++i) {
    const ModelShape& shape = model_->shapes[i];
    end_[i] = system.tree.poses[at(shape.link)] * shape.in_link;
  }
  const PointPool& points = system.pools.points;
  const double step = state.time - state.rows_time;
  const Candidates& pairs = points.candidates();
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const ShapePair& pair = pairs[k];
    if (!may_pass(points, pair, begin_[pair.b].p - begin_[pair.a].p)) continue;
    double way = 0;
    if (passes(pair, way)) note(pair, way, state.time, step);
  }
}

std::vector<std::string> PassageWatch::warnings() const {
  std::vector<std::string> all;
  for (const Passage& p : passages_) {
    std::string text = "\"" + model_->shapes[p.a].name + "\" and \"" +
                       model_->shapes[p.b].name + "\" went through each other";
    if (p.times > 1) text += ' ' + std::to_string(p.times) + " times, first";
    text += " at " + number(p.first) + " s: they move by " + number(p.way) +
            " m in a substep of " + number(p.step) + " s";
    if (p.thickness > 0) {
      text += " and are " + number(p.thickness) + " m thick; take substeps below " +
              number(p.step * p.thickness / p.way) + " s";
    }
    text += ", or the adaptive integrator";
    all.push_back(std::move(text));
  }
  return all;
}

}  // namespace bristle
