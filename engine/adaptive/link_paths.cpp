#include "bristle/adaptive/link_paths.hpp"

#include <cmath>

namespace bristle {

namespace {

using detail::at;
using Wide = Polynomial<2 * LinkPaths::terms>;
using Narrow = Polynomial<LinkPaths::terms>;

// A quaternion that may be far shorter than 1 on a stretch says nothing about turning: no
// bound, but a number, and a shorter stretch is needed.
constexpr double least_norm2 = 0.25, no_bound = 1e100;
// Bounds on turning that hold for the whole step serve for stretches of more than this
// part of it, and where |ω| changes by less than this part of itself.
constexpr double much_of_step = 0.25, steady_change = 0.25;

void add_product(double factor, const Narrow& a, const Narrow& b, Wide& to) {
  for (std::size_t i = 0; i < LinkPaths::terms; ++i) {
    if (a.c[i] == 0) continue;
    for (std::size_t j = 0; j < LinkPaths::terms; ++j) {
      to.c[i + j] += factor * a.c[i] * b.c[j];
    }
  }
}

/// 2 Im(a b*)
std::array<Wide, 3> imaginary(const Narrow* a, const Narrow* b) {
  std::array<Wide, 3> im;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    add_product(2, a[1 + i], b[0], im[i]);
    add_product(-2, a[0], b[1 + i], im[i]);
    add_product(-2, a[1 + j], b[1 + k], im[i]);
    add_product(2, a[1 + k], b[1 + j], im[i]);
  }
  return im;
}

double largest(const std::array<Wide, 3>& v, double low, double stretch) {
  double sum = 0;
  for (const Wide& p : v) {
    const double x = p.from(low).largest(stretch);
    sum += x * x;
  }
  return std::sqrt(sum);
}

/// A joint's own motion in F, from positions and their slopes.
struct JointMotion {
  Transform<double> pose;
  Motion<double> velocity;
};
JointMotion joint_motion(JointType type, const double* q, const double* slope) {
  JointMotion m{joint_transform(type, q), Motion<double>::zero()};
  switch (type) {
    case JointType::fixed:
      break;
    case JointType::revolute:
      m.velocity.angular.z = slope[0];
      break;
    case JointType::prismatic:
      m.velocity.linear.z = slope[0];
      break;
    case JointType::universal:
      m.velocity.angular = Vec3<double>{slope[0], 0, 0} + slope[1] * m.pose.R.y;
      break;
    case JointType::planar:
      m.velocity.angular.z = slope[2];
      m.velocity.linear = {slope[0], slope[1], 0};
      break;
    case JointType::spherical:
    case JointType::free: {
      const int first = quaternion_at(type);
      const Quaternion<double> turn = load_quaternion(q + first);
      const Quaternion<double> rate = load_quaternion(slope + first) * conjugate(turn);
      m.velocity.angular = (2 / norm2(turn)) * Vec3<double>{rate.x, rate.y, rate.z};
      if (type == JointType::free) m.velocity.linear = load_vec3(slope);
      break;
    }
  }
  return m;
}

}  // namespace

LinkBounds LinkBounds::moved_by(const JointBounds& joint, double arm) const {
  const double far = arm + joint.offset;
  return {
      .speed = speed + turning * far + joint.offset_rate,
      .acceleration = acceleration + (turning_change + turning * turning) * far +
                      2 * turning * joint.offset_rate + joint.offset_change,
      .turning = turning + joint.turning,
      .turning_change = turning_change + turning * joint.turning + joint.turning_change};
}

MotionBounds LinkBounds::at(double distance) const {
  return {acceleration + (turning_change + turning * turning) * distance, turning,
          turning_change};
}

LinkPaths::LinkPaths(const Tree& tree, SwitchingStep& step)
    : tree_(&tree), step_(&step), paths_(at(tree.link_count())) {
  int turns = 0;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (quaternion_at(tree.links()[i].type) >= 0) paths_[i].turn = turns++;
  }
  turns_.resize(at(turns));
}

void LinkPaths::begin() {
  for (Path& path : paths_) path.known = false;
}

const LinkPaths::Path& LinkPaths::path(int number) {
  Path& path = paths_[at(number)];
  if (path.known) return path;
  path.known = true;
  const Link& link = tree_->link(number);
  for (std::size_t k = 0; k < at(position_count(link.type)); ++k) {
    step_->polynomial(at(link.q) + k, path.q[k].c);
  }
  if (path.turn < 0) return path;
  const Narrow* q = path.q.data() + quaternion_at(link.type);
  std::array<Narrow, 4> first, second;
  Turn& turn = turns_[at(path.turn)];
  turn.norm2 = {};
  for (std::size_t k = 0; k < 4; ++k) {
    first[k] = q[k].derivative();
    second[k] = first[k].derivative();
    add_product(1, q[k], q[k], turn.norm2);
  }
  turn.turning = imaginary(first.data(), q);
  turn.change = imaginary(second.data(), q);
  const TurnBounds most = turn_bounds(turn, 0, 1);
  turn.most = most.turning;
  turn.most_change = most.change;
  return path;
}

void LinkPaths::list_chain(int link, int base) {
  chain_.clear();
  for (; link != base; link = tree_->link(link).parent) chain_.push_back(link);
}

ShapeMotion LinkPaths::motion(int number, int base, double place) {
  list_chain(number, base);
  ShapeMotion m{{}, Motion<double>::zero()};
  for (std::size_t i = chain_.size(); i-- > 0;) {
    const Link& link = tree_->link(chain_[i]);
    const Path& of = path(chain_[i]);
    std::array<double, 7> q{}, slope{};
    for (std::size_t k = 0; k < at(position_count(link.type)); ++k) {
      q[k] = of.q[k].value(place);
      slope[k] = of.q[k].slope(place);
    }
    const JointMotion joint = joint_motion(link.type, q.data(), slope.data());
    const Transform<double> frame = m.pose * tree_->constants()[at(chain_[i])].joint;
    const Transform<double> pose = frame * joint.pose;
    m.velocity = shifted(m.velocity, pose.p - m.pose.p);
    m.velocity.angular = m.velocity.angular + frame.R * joint.velocity.angular;
    m.velocity.linear = m.velocity.linear + frame.R * joint.velocity.linear;
    m.pose = pose;
  }
  return m;
}

LinkPaths::TurnBounds LinkPaths::turn_bounds(const Turn& turn, double low,
                                             double stretch) {
  const Wide n = turn.norm2.from(low);
  const double least = n.c[0] - n.swing(stretch);
  if (!(least > least_norm2)) return {no_bound, no_bound};
  const double turning = largest(turn.turning, low, stretch) / least;
  const double change = largest(turn.change, low, stretch);
  return {turning, (change + turning * n.derivative().largest(stretch)) / least};
}

JointBounds LinkPaths::joint_bounds(int number, double low, double high) {
  const Path& of = path(number);
  const double stretch = high - low;
  const JointType type = tree_->link(number).type;
  JointBounds b;
  struct Part {
    double value, rate, change;
  };
  const auto part = [&](std::size_t k) -> Part {
    const Narrow p = of.q[k].from(low);
    const Narrow d = p.derivative();
    return {p.largest(stretch), d.largest(stretch), d.derivative().largest(stretch)};
  };
  const auto move = [&](std::size_t count) {
    Part sum{0, 0, 0};
    for (std::size_t k = 0; k < count; ++k) {
      const Part p = part(k);
      sum.value += p.value * p.value;
      sum.rate += p.rate * p.rate;
      sum.change += p.change * p.change;
    }
    b.offset = std::sqrt(sum.value);
    b.offset_rate = std::sqrt(sum.rate);
    b.offset_change = std::sqrt(sum.change);
  };
  switch (type) {
    case JointType::fixed:
      break;
    case JointType::revolute: {
      const Part p = part(0);
      b.turning = p.rate;
      b.turning_change = p.change;
      break;
    }
    case JointType::prismatic:
      move(1);
      break;
    case JointType::universal: {
      const Part one = part(0), two = part(1);
      b.turning = std::sqrt(one.rate * one.rate + two.rate * two.rate);
      b.turning_change = one.change + two.change + one.rate * two.rate;
      break;
    }
    case JointType::planar: {
      const Part p = part(2);
      b.turning = p.rate;
      b.turning_change = p.change;
      move(2);
      break;
    }
    case JointType::free:
      move(3);
      [[fallthrough]];
    case JointType::spherical: {
      // Where the turn is steady, what holds for the whole step is as good.
      const Turn& turn = turns_[at(of.turn)];
      const bool steady = turn.most_change < steady_change * turn.most;
      const TurnBounds most = steady || stretch > much_of_step
                                  ? TurnBounds{turn.most, turn.most_change}
                                  : turn_bounds(turn, low, stretch);
      b.turning = most.turning;
      b.turning_change = most.change;
      break;
    }
  }
  return b;
}

LinkBounds LinkPaths::bounds(int number, int base, double low, double high) {
  list_chain(number, base);
  LinkBounds bounds;
  for (std::size_t i = chain_.size(); i-- > 0;) {
    bounds = bounds.moved_by(joint_bounds(chain_[i], low, high),
                             norm(tree_->constants()[at(chain_[i])].joint.p));
  }
  return bounds;
}

}  // namespace bristle
