#include "bristle/model/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

#include "bristle/core/pack.hpp"
#include "bristle/laws/choice.hpp"
#include "bristle/model/checks.hpp"

namespace bristle {

namespace {

using Problem = std::optional<std::string>;

constexpr std::size_t few_pairs = 512;     // as many are looked at one by one
constexpr double limit_time = 0.02;        // a joint bounces off its limit in that [s]
constexpr double limit_restitution = 0.2;  // and so
constexpr double presliding_turn = 1e-3;   // of a joint's friction [rad] or [m]
constexpr int lanes = ScalarTraits<NativePack<double>>::lanes;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

int rounded_up(int n) { return (n + lanes - 1) / lanes * lanes; }

using checks::finite;
using checks::number;
using checks::quoted;

bool finite(const Transform<double>& x) {
  return finite(x.p) && finite(x.R.x) && finite(x.R.y) && finite(x.R.z);
}

bool is_identity(const Transform<double>& x) {
  const auto is = [](const Vec3<double>& v, double a, double b, double c) {
    return v.x == a && v.y == b && v.z == c;
  };
  return is(x.R.x, 1, 0, 0) && is(x.R.y, 0, 1, 0) && is(x.R.z, 0, 0, 1) &&
         is(x.p, 0, 0, 0);
}

bool is_rotation(const Mat3<double>& r) {
  constexpr double tolerance = 1e-6;
  return std::abs(dot(r.x, r.x) - 1) < tolerance &&
         std::abs(dot(r.y, r.y) - 1) < tolerance && std::abs(dot(r.x, r.y)) < tolerance &&
         norm2(cross(r.x, r.y) - r.z) < tolerance * tolerance;
}

std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& words) {
  const std::string_view close = nearest(word, words);
  if (close.empty()) return {};
  return "; did you mean " + quoted(close) + "?";
}

/// Distance of a shape's farthest point from a point in its frame.
double reach_of(const Shape& shape, const Transform<double>& pose) {
  // A box around the shape in axes with that point as their origin.
  const Aabb box = bounds(shape, pose);
  const auto far = [](double low, double high) {
    return std::max(std::abs(low), std::abs(high));
  };
  const Vec3<double> corner{far(box.low.x, box.high.x), far(box.low.y, box.high.y),
                            far(box.low.z, box.high.z)};
  return norm(corner);
}

int most_contacts(ShapeKind a, ShapeKind b) {
  const auto simple = [](ShapeKind k) {
    return k != ShapeKind::mesh && k != ShapeKind::height_field && k != ShapeKind::cavity;
  };
  const bool ball = a == ShapeKind::sphere || b == ShapeKind::sphere;
  return ball && simple(a) && simple(b) ? 1 : max_contacts;
}

/// Where the links are with every joint at neutral.
std::vector<Transform<double>> neutral_poses(const Tree& tree) {
  std::vector<Transform<double>> poses(at(tree.link_count()));
  for (int i = 1; i < tree.link_count(); ++i) {
    poses[at(i)] = poses[at(tree.link(i).parent)] * tree.constants()[at(i)].joint;
  }
  return poses;
}

/// The inertia about each velocity's axis of all that it moves, joints at neutral.
std::vector<double> moved_inertia(const Tree& tree) {
  const std::vector<Transform<double>> poses = neutral_poses(tree);
  std::vector<Inertia<double>> composite(poses.size(), Inertia<double>::zero());
  for (int i = 1; i < tree.link_count(); ++i) {
    composite[at(i)] = rotated(poses[at(i)].R, tree.constants()[at(i)].inertia);
  }
  std::vector<double> inertia(at(tree.velocity_count()));
  for (int i = tree.link_count() - 1; i > 0; --i) {
    const Link& link = tree.link(i);
    const Inertia<double>& whole = composite[at(i)];
    for (int k = 0; k < velocity_count(link.type); ++k) {
      // Revolute and prismatic joints move about z; the others in order x, y, z.
      Vec3<double> axis = poses[at(i)].R.z;
      if (velocity_count(link.type) > 1) {
        axis = k % 3 == 0 ? poses[at(i)].R.x
                          : (k % 3 == 1 ? poses[at(i)].R.y : poses[at(i)].R.z);
      }
      inertia[at(link.v + k)] =
          (is_linear(link.type, k) ? whole.mass : dot(axis, whole.rotational * axis)) +
          tree.armature()[at(link.v + k)];
    }
    if (link.parent == world_link) continue;
    const Vec3<double> arm = poses[at(i)].p - poses[at(link.parent)].p;
    composite[at(link.parent)] = composite[at(link.parent)] + shifted_back(whole, arm);
  }
  return inertia;
}

}  // namespace

bool Model::adjacent(int link_a, int link_b) const {
  const auto child_of = [&](int child, int parent) {
    return parent != world_link && child != world_link &&
           tree.link(child).parent == parent && tree.link(child).type != JointType::free;
  };
  const auto closes = [&](const Loop& loop) {
    return loop.kind != LoopKind::distance &&
           std::minmax(loop.link_a, loop.link_b) == std::minmax(link_a, link_b);
  };
  if (child_of(link_a, link_b) || child_of(link_b, link_a)) return true;
  return link_a != world_link && link_b != world_link &&
         std::any_of(loops.begin(), loops.end(), closes);
}

int Model::find_shape(std::string_view name) const {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Model::find_motor(std::string_view name) const {
  for (std::size_t i = 0; i < motors.size(); ++i) {
    if (motors[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Model::find_loop(std::string_view name) const {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

ModelBuilder& ModelBuilder::add_body(BodySpec body) {
  tree_.add_body(std::move(body));
  return *this;
}
ModelBuilder& ModelBuilder::add_joint(JointSpec joint) {
  tree_.add_joint(std::move(joint));
  return *this;
}
ModelBuilder& ModelBuilder::gravity(const Vec3<double>& g) {
  tree_.gravity(g);
  return *this;
}
ModelBuilder& ModelBuilder::add_shape(ShapeSpec shape) {
  shapes_.push_back(std::move(shape));
  return *this;
}
ModelBuilder& ModelBuilder::add_contact(ContactSpec contact) {
  contacts_.push_back(std::move(contact));
  return *this;
}
ModelBuilder& ModelBuilder::add_motor(MotorSpec motor) {
  motors_.push_back(std::move(motor));
  return *this;
}
ModelBuilder& ModelBuilder::add_load(LoadSpec load) {
  loads_.push_back(std::move(load));
  return *this;
}
ModelBuilder& ModelBuilder::add_loop(LoopSpec loop) {
  loops_.push_back(std::move(loop));
  return *this;
}
ModelBuilder& ModelBuilder::set_limits(LimitSpec limits) {
  limits_.push_back(std::move(limits));
  return *this;
}
ModelBuilder& ModelBuilder::set_friction(JointFrictionSpec friction) {
  frictions_.push_back(std::move(friction));
  return *this;
}
ModelBuilder& ModelBuilder::options(const ModelOptions& options) {
  options_ = options;
  return *this;
}

/// The steps of build(), each of which may find a problem.
class ModelAssembly {
 public:
  ModelAssembly(const ModelBuilder& from, Tree tree) : from_(from) {
    model_.tree = std::move(tree);
    model_.contact_books = from.options_.contact_books;
  }

  Result<Model> run() {
    using Step = Problem (ModelAssembly::*)();
    constexpr std::array<Step, 8> steps{
        &ModelAssembly::add_shapes, &ModelAssembly::add_joint_rows,
        &ModelAssembly::add_loops,  &ModelAssembly::add_rules,
        &ModelAssembly::add_pairs,  &ModelAssembly::add_motors,
        &ModelAssembly::add_loads,  &ModelAssembly::add_capacity};
    for (const Step step : steps) {
      if (Problem problem = (this->*step)()) return Error{*std::move(problem)};
    }
    return std::move(model_);
  }

 private:
  Problem add_shapes() {
    std::set<std::string, std::less<>> names;
    for (const ShapeSpec& spec : from_.shapes_) {
      const std::string who = "shape " + quoted(spec.name);
      if (spec.name.empty())
        return "a shape on body " + quoted(spec.body) + " has no name";
      if (!names.insert(spec.name).second) return who + " was added twice";
      int body = -1;
      ModelShape shape{
          spec.name, spec.surface, spec.shape, spec.pose, world_link, -1, 0, 0, 0, false};
      if (spec.body != world_name) {
        const Body* found = model_.tree.find_body(spec.body);
        if (found == nullptr) {
          return who + ": there is no body " + quoted(spec.body) +
                 did_you_mean(spec.body, body_names());
        }
        body = static_cast<int>(found - model_.tree.bodies().data());
        shape.link = found->link;
        shape.in_link = found->in_link * spec.pose;
      }
      if (!finite(spec.pose) || !is_rotation(spec.pose.R)) {
        return who + ": its pose is not a rotation and a point";
      }
      const Result<Shape> fine = checked(spec.shape);
      if (!fine) return who + ": " + fine.error();
      shape.body = body;
      shape.radius = reach_of(spec.shape, Transform<double>{});
      shape.reach = reach_of(spec.shape, shape.in_link);
      shape.centred = is_identity(shape.in_link);
      const auto index = static_cast<std::uint32_t>(model_.shapes.size());
      const ShapeKind kind = kind_of(spec.shape);
      if (kind == ShapeKind::plane) {
        model_.planes.push_back(index);
      } else if (!std::isfinite(shape.radius) || kind == ShapeKind::mesh ||
                 kind == ShapeKind::height_field) {
        model_.large.push_back(index);
      }
      model_.shapes.push_back(std::move(shape));
    }
    return {};
  }

  /// The place of two laws among the blocks, added where they are new.
  int block_of(const LawChoice& normal, const LawChoice& friction) {
    const auto begin = model_.blocks.begin() + model_.joint_blocks;
    const auto found = std::find_if(begin, model_.blocks.end(), [&](const LawBlock& b) {
      return b.normal == normal && b.friction == friction;
    });
    if (found == model_.blocks.end()) {
      model_.blocks.push_back({normal, friction, false});
      return static_cast<int>(model_.blocks.size()) - 1;
    }
    return static_cast<int>(found - model_.blocks.begin());
  }

  Problem check_laws(const std::string& who, const LawChoice* normal,
                     const LawChoice* friction) const {
    if (normal != nullptr) {
      if (*normal == LawChoice{}) return who + ": no normal law was chosen";
      const std::string message = out_of_range(*normal);
      if (!message.empty()) return who + ": " + message;
      if (normal->family != LawFamily::normal) {
        return who + ": " + std::string(entry_of(*normal).info.name) +
               " is a friction law, a normal law is needed";
      }
    }
    if (friction != nullptr) {
      const std::string message = out_of_range(*friction);
      if (!message.empty()) return who + ": " + message;
      if (friction->family != LawFamily::friction) {
        return who + ": " + std::string(entry_of(*friction).info.name) +
               " is a normal law, a friction law is needed";
      }
    }
    return {};
  }

  /// Limits and friction of the joints: blocks of one row per velocity.
  Problem add_joint_rows() {
    const Tree& tree = model_.tree;
    std::map<int, const LimitSpec*> limits;  // by link
    for (const LimitSpec& spec : from_.limits_) {
      const Joint* joint = tree.find_joint(spec.joint);
      if (joint == nullptr || joint->v < 0) return no_joint("limits", spec.joint);
      if (Problem p = check_laws("limits of joint " + quoted(spec.joint), &spec.normal,
                                 nullptr)) {
        return p;
      }
      limits[joint->link] = &spec;
    }
    std::map<int, const JointFrictionSpec*> frictions;
    for (const JointFrictionSpec& spec : from_.frictions_) {
      const Joint* joint = tree.find_joint(spec.joint);
      if (joint == nullptr || joint->v < 0) return no_joint("friction", spec.joint);
      const std::string who = "friction of joint " + quoted(spec.joint);
      if (Problem p = check_laws(who, nullptr, &spec.friction)) return p;
      if (!(spec.load > 0) || !std::isfinite(spec.load)) {
        return who + ": load = " + number(spec.load) + " must be a number > 0";
      }
      frictions[joint->link] = &spec;
    }
    struct Entry {
      LawBlock laws;
      JointRow row;
    };
    std::vector<Entry> entries;
    const std::vector<double> inertia = moved_inertia(tree);
    for (int d = 0; d < tree.velocity_count(); ++d) {
      const Dof& dof = tree.dofs()[at(d)];
      if (dof.q >= 0 && (std::isfinite(dof.lower) || std::isfinite(dof.upper))) {
        const auto own = limits.find(dof.link);
        const double rate = std::numbers::pi / limit_time;
        const LawChoice normal =
            own != limits.end()
                ? own->second->normal
                : choose<GonthierNormal>({.stiffness = inertia[at(d)] * rate * rate,
                                          .exponent = 1,
                                          .restitution = limit_restitution,
                                          .impact_speed_floor = 0.01});
        const LawBlock laws{normal, choose<Frictionless>(), false};
        if (std::isfinite(dof.lower)) {
          entries.push_back({laws, {d, true, -1, dof.lower, 0}});
        }
        if (std::isfinite(dof.upper)) {
          entries.push_back({laws, {d, true, 1, dof.upper, 0}});
        }
      }
      const auto own = frictions.find(dof.link);
      if (own != frictions.end()) {
        entries.push_back({{choose<Hertz>(), own->second->friction, true},
                           {d, false, 1, 0, own->second->load}});
      } else if (dof.friction > 0) {
        const LawChoice friction = choose<SpringSlider>(
            {.mu = 1, .stiffness = dof.friction / presliding_turn, .damping = 0});
        entries.push_back(
            {{choose<Hertz>(), friction, true}, {d, false, 1, 0, dof.friction}});
      }
    }
    // Limits before friction, equal laws together.
    std::vector<bool> done(entries.size());
    for (const bool wants_limit : {true, false}) {
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (done[i] || entries[i].row.is_limit != wants_limit) continue;
        model_.blocks.push_back(entries[i].laws);
        model_.joint_block_rows.push_back(static_cast<int>(model_.joint_rows.size()));
        for (std::size_t j = i; j < entries.size(); ++j) {
          const bool same = entries[j].row.is_limit == wants_limit &&
                            entries[j].laws.normal == entries[i].laws.normal &&
                            entries[j].laws.friction == entries[i].laws.friction;
          if (done[j] || !same) continue;
          done[j] = true;
          model_.joint_rows.push_back(entries[j].row);
        }
      }
    }
    model_.joint_block_rows.push_back(static_cast<int>(model_.joint_rows.size()));
    model_.joint_blocks = static_cast<int>(model_.blocks.size());
    for (const Dof& dof : tree.dofs()) {
      if (dof.damping != 0 || dof.stiffness != 0) model_.has_joint_forces = true;
    }
    return {};
  }

  /// Shapes that the same rules name are one kind; a table says which rule counts.
  Problem add_rules() {
    const auto& rules = from_.contacts_;
    std::vector<bool> by_name_a, by_name_b;  // shape or body, not surface
    for (const ContactSpec& rule : rules) {
      const std::string who = "contact of " + quoted(rule.a) + " with " + quoted(rule.b);
      for (const std::string* name : {&rule.a, &rule.b}) {
        if (Problem p = check_party(who, *name)) return p;
      }
      by_name_a.push_back(names_one(rule.a));
      by_name_b.push_back(names_one(rule.b));
      if (!rule.touches) continue;
      if (Problem p = check_laws(who, &rule.normal, &rule.friction)) return p;
      const double share = rule.share_a.value_or(0);
      if (!between(0, 1).contains(share)) {
        return who + ": share_a = " + number(share) + " must lie in [0, 1]";
      }
    }
    std::map<std::vector<bool>, int> kinds;
    std::vector<std::vector<bool>> signatures;
    for (ModelShape& shape : model_.shapes) {
      std::vector<bool> signature;
      for (const ContactSpec& rule : rules) {
        signature.push_back(matches(shape, rule.a));
        signature.push_back(matches(shape, rule.b));
      }
      const auto [entry, added] =
          kinds.try_emplace(signature, static_cast<int>(kinds.size()));
      if (added) signatures.push_back(signature);
      shape.kind = entry->second;
    }
    model_.kinds = static_cast<int>(signatures.size());
    model_.rules.resize(signatures.size() * signatures.size());
    for (std::size_t i = 0; i < signatures.size(); ++i) {
      for (std::size_t j = 0; j < signatures.size(); ++j) {
        for (std::size_t r = rules.size(); r-- > 0;) {
          const bool forward = signatures[i][2 * r] && signatures[j][2 * r + 1];
          const bool backward = signatures[i][2 * r + 1] && signatures[j][2 * r];
          if (!forward && !backward) continue;
          if (!rules[r].touches) break;
          PairRule& rule = model_.rules[i * signatures.size() + j];
          rule.block = block_of(rules[r].normal, rules[r].friction);
          if (const std::optional<double> share = rules[r].share_a) {
            rule.share_a = forward ? *share : 1 - *share;
          }
          rule.adjacent = by_name_a[r] && by_name_b[r];
          break;
        }
      }
    }
    return {};
  }

  bool may_touch(const ModelShape& a, const ModelShape& b) const {
    const PairRule& rule = model_.rule(a.kind, b.kind);
    return rule.block >= 0 && a.link != b.link &&
           (rule.adjacent || !model_.adjacent(a.link, b.link));
  }

  /// Shapes of one kind of rules and one kind of geometry.
  using Group = std::pair<int, ShapeKind>;

  Problem check_pairs() const {
    std::map<Group, std::vector<const ModelShape*>> groups;
    for (const ModelShape& shape : model_.shapes) {
      groups[{shape.kind, kind_of(shape.shape)}].push_back(&shape);
    }
    for (const auto& [one, first] : groups) {
      for (const auto& [two, second] : groups) {
        if (two < one || model_.rule(one.first, two.first).block < 0) continue;
        const std::string missing = missing_pair_message(one.second, two.second);
        if (missing.empty()) continue;
        for (const ModelShape* a : first) {
          for (const ModelShape* b : second) {
            if (!may_touch(*a, *b)) continue;
            return "shapes " + quoted(a->name) + " and " + quoted(b->name) +
                   " may touch by the rules given, but there is " + missing +
                   "; take another shape, or add a contact rule that keeps them apart";
          }
        }
      }
    }
    return {};
  }

  /// All pairs, or the decision that there are too many to look at one by one.
  Problem add_pairs() {
    if (Problem problem = check_pairs()) return problem;
    const auto& shapes = model_.shapes;
    for (std::size_t i = 0; i < shapes.size() && !model_.broad_phase; ++i) {
      for (std::size_t j = i + 1; j < shapes.size(); ++j) {
        if (!may_touch(shapes[i], shapes[j])) continue;
        if (model_.pairs.size() == few_pairs) {
          model_.broad_phase = true;
          model_.pairs.clear();
          break;
        }
        const PairRule& rule = model_.rule(shapes[i].kind, shapes[j].kind);
        const ShapeKind a = kind_of(shapes[i].shape);
        const ShapeKind b = kind_of(shapes[j].shape);
        model_.pairs.push_back({static_cast<std::uint32_t>(i),
                                static_cast<std::uint32_t>(j), rule.block,
                                share_of(rule, shapes[i].link, shapes[j].link),
                                pair_function<double>(a, b), regenerates(a, b)});
      }
    }
    std::sort(model_.pairs.begin(), model_.pairs.end(),
              [](const ShapePair& x, const ShapePair& y) {
                return std::tie(x.block, x.a, x.b) < std::tie(y.block, y.a, y.b);
              });
    return {};
  }

  static double share_of(const PairRule& rule, int link_a, int link_b) {
    if (rule.share_a >= 0) return rule.share_a;
    return link_a == world_link ? 1 : (link_b == world_link ? 0 : 0.5);
  }

  Problem add_motors() {
    std::set<std::string, std::less<>> names;
    std::set<int> prescribed;
    for (const MotorSpec& spec : from_.motors_) {
      const std::string who = "motor " + quoted(spec.name);
      if (spec.name.empty())
        return "a motor of joint " + quoted(spec.joint) + " has no name";
      if (!names.insert(spec.name).second) return who + " was added twice";
      const Joint* joint = model_.tree.find_joint(spec.joint);
      if (joint == nullptr || joint->v < 0) return no_joint(who, spec.joint);
      const int count = velocity_count(joint->type);
      if (spec.axis < 0 || spec.axis >= count) {
        return who + ": axis = " + std::to_string(spec.axis) + " must lie in [0, " +
               std::to_string(count - 1) + "], a " +
               std::string(joint_type_name(joint->type)) + " joint has " +
               std::to_string(count) + " velocities";
      }
      const Dof& dof = model_.tree.dofs()[at(joint->v + spec.axis)];
      if (spec.kind != MotorKind::torque && dof.q < 0) {
        return who + ": a " + std::string(joint_type_name(joint->type)) +
               " joint has no angles that a position could be asked of; use a torque "
               "motor";
      }
      if (spec.kind == MotorKind::prescribed && count != 1) {
        return who + ": motion is prescribed to revolute and prismatic joints only, " +
               quoted(spec.joint) + " is " + std::string(joint_type_name(joint->type));
      }
      const Signal& s = spec.target;
      if (!std::isfinite(s.offset + s.slope + s.amplitude + s.frequency + s.phase)) {
        return who + ": its target is not made of numbers";
      }
      if (!(spec.kp >= 0) || !(spec.kd >= 0) || !std::isfinite(spec.kp + spec.kd)) {
        return who + ": kp and kd must be numbers >= 0";
      }
      if (spec.kind == MotorKind::prescribed) {
        if (!prescribed.insert(joint->link).second) {
          return who + ": the motion of " + quoted(spec.joint) + " is prescribed twice";
        }
        model_.prescribed.resize(at(model_.tree.link_count()), 0);
        model_.prescribed[at(joint->link)] = 1;
      }
      model_.motors.push_back({spec.name, spec.kind, dof.q, joint->v + spec.axis,
                               joint->link, spec.kp, spec.kd, dof.effort_limit,
                               spec.target});
    }
    return {};
  }

  Problem add_loads() {
    for (const LoadSpec& spec : from_.loads_) {
      const std::string who = "load " + quoted(spec.name);
      const Body* body = model_.tree.find_body(spec.body);
      if (body == nullptr) {
        return who + ": there is no body " + quoted(spec.body) +
               did_you_mean(spec.body, body_names());
      }
      if (!finite(spec.force) || !finite(spec.torque) || !finite(spec.point)) {
        return who + ": force, torque and point must be numbers";
      }
      model_.loads.push_back(
          {spec.name, body->link, body->in_link * spec.point, spec.force, spec.torque});
    }
    return {};
  }

  /// What is wrong with the numbers of a loop.
  static Problem check_loop(const LoopSpec& spec, const std::string& who) {
    struct Entry {
      const char* name;
      double value;
    };
    for (const Entry& e :
         {Entry{"stiffness", spec.stiffness.value_or(0)}, Entry{"damping", spec.damping},
          Entry{"rotational_stiffness", spec.rotational_stiffness.value_or(0)},
          Entry{"rotational_damping", spec.rotational_damping}}) {
      if (!std::isfinite(e.value) || e.value < 0) {
        return who + ": " + e.name + " = " + number(e.value) + " must lie in [0, inf)";
      }
    }
    const bool turns = spec.kind == LoopKind::hinge || spec.kind == LoopKind::weld;
    const bool rotational = spec.rotational_stiffness || spec.rotational_damping > 0;
    if (rotational && !turns) {
      return who + ": rotational stiffness and damping are for hinge and weld, a " +
             (spec.kind == LoopKind::point ? "point" : "distance") + " turns freely";
    }
    if (!spec.stiffness && (spec.damping > 0 || rotational)) {
      return who +
             ": without a stiffness it is rigid and takes neither damping nor "
             "rotational stiffness; give a stiffness as well, or none of them";
    }
    if (spec.stiffness && turns && !spec.rotational_stiffness) {
      return who + ": has a stiffness but no rotational_stiffness; a " +
             (spec.kind == LoopKind::hinge ? "hinge" : "weld") +
             " takes both, or none where it is rigid";
    }
    if (spec.length && spec.kind != LoopKind::distance) {
      return who + ": length is for a distance only";
    }
    if (spec.length && (!std::isfinite(*spec.length) || !(*spec.length > 0))) {
      return who + ": length = " + number(*spec.length) + " must be a number > 0";
    }
    return {};
  }

  Problem add_loops() {
    std::set<std::string, std::less<>> names;
    const std::vector<Transform<double>> poses = neutral_poses(model_.tree);
    for (const LoopSpec& spec : from_.loops_) {
      const std::string who = "loop " + quoted(spec.name);
      if (spec.name.empty()) {
        return "a loop between " + quoted(spec.body_a) + " and " + quoted(spec.body_b) +
               " has no name";
      }
      if (!names.insert(spec.name).second) return who + " was added twice";
      int links[2] = {world_link, world_link};
      Transform<double> frames[2] = {spec.pose_a, spec.pose_b};
      for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
        const std::string& name = end == 0 ? spec.body_a : spec.body_b;
        if (!finite(frames[end]) || !is_rotation(frames[end].R)) {
          return who + (end == 0 ? ": pose_a" : ": pose_b") +
                 " is not a rotation and a point";
        }
        frames[end].R = to_matrix(from_matrix(frames[end].R));  // typed digits
        if (name == world_name) continue;
        const Body* body = model_.tree.find_body(name);
        if (body == nullptr) {
          return who + ": there is no body " + quoted(name) +
                 did_you_mean(name, body_names());
        }
        links[end] = body->link;
        frames[end] = body->in_link * frames[end];
      }
      if (spec.body_a == spec.body_b) {
        return who + ": both ends are on " + quoted(spec.body_a) +
               "; a loop joins two bodies";
      }
      if (links[0] == links[1]) {
        return who + ": " + quoted(spec.body_a) + " and " + quoted(spec.body_b) +
               " are parts of one rigid body already";
      }
      if (Problem problem = check_loop(spec, who)) return problem;
      const double apart =
          norm(poses[at(links[1])] * frames[1].p - poses[at(links[0])] * frames[0].p);
      const double length = spec.length.value_or(apart);
      if (spec.kind == LoopKind::distance && !(length > 0)) {
        return who +
               ": its points coincide with every joint at neutral; give a length, "
               "or take a point";
      }
      constexpr int rows_of[] = {3, 5, 6, 1};
      const bool rigid = !spec.stiffness;
      const int rows = rigid ? rows_of[static_cast<int>(spec.kind)] : 0;
      model_.loops.push_back({.name = spec.name,
                              .kind = spec.kind,
                              .rigid = rigid,
                              .link_a = links[0],
                              .link_b = links[1],
                              .on_a = frames[0],
                              .on_b = frames[1],
                              .length = length,
                              .stiffness = spec.stiffness.value_or(0),
                              .damping = spec.damping,
                              .turn_stiffness = spec.rotational_stiffness.value_or(0),
                              .turn_damping = spec.rotational_damping,
                              .row = model_.loop_rows,
                              .rows = rows,
                              .meeting = meeting_of(links[0], links[1])});
      model_.loop_rows += rows;
      if (!rigid) model_.has_loop_springs = true;
    }
    return {};
  }

  /// The last link on the ways from two links to the world that they share. Parents have
  /// smaller numbers.
  int meeting_of(int a, int b) const {
    while (a != b) (a > b ? a : b) = model_.tree.link(a > b ? a : b).parent;
    return a;
  }

  Problem add_capacity() {
    const int shapes = static_cast<int>(model_.shapes.size());
    int joint_rows = 0;
    for (int b = 0; b < model_.joint_blocks; ++b) {
      joint_rows +=
          rounded_up(model_.joint_block_rows[at(b + 1)] - model_.joint_block_rows[at(b)]);
    }
    const int contact_blocks =
        static_cast<int>(model_.blocks.size()) - model_.joint_blocks;
    int contacts = from_.options_.contact_capacity;
    if (contacts < 0) {
      return "contact_capacity = " + std::to_string(contacts) + " must be >= 0";
    }
    model_.rooms_grow = contacts == 0 && model_.broad_phase;
    if (contacts == 0 && !model_.broad_phase) {
      for (const ShapePair& pair : model_.pairs) {
        contacts += most_contacts(kind_of(model_.shapes[pair.a].shape),
                                  kind_of(model_.shapes[pair.b].shape));
      }
    }
    model_.joint_row_capacity = joint_rows;
    model_.contact_row_capacity = rounded_up(contacts) + lanes * contact_blocks;
    model_.pair_capacity =
        model_.broad_phase
            ? 32 * shapes +
                  shapes * static_cast<int>(model_.planes.size() + model_.large.size())
            : static_cast<int>(model_.pairs.size());
    for (const LawBlock& block : model_.blocks) {
      model_.normal_fields = std::max(
          model_.normal_fields, static_cast<int>(entry_of(block.normal).state.size()));
      model_.friction_fields =
          std::max(model_.friction_fields,
                   static_cast<int>(entry_of(block.friction).state.size()));
    }
    return {};
  }

  std::vector<std::string_view> body_names() const {
    std::vector<std::string_view> names;
    for (const Body& body : model_.tree.bodies()) names.push_back(body.name);
    return names;
  }

  Problem no_joint(const std::string& who, const std::string& name) const {
    std::vector<std::string_view> names;
    for (const Joint& joint : model_.tree.joints()) {
      if (joint.v >= 0) names.push_back(joint.name);
    }
    return who + ": there is no moving joint " + quoted(name) + did_you_mean(name, names);
  }

  std::string_view body_name(const ModelShape& shape) const {
    return shape.body < 0 ? world_name
                          : std::string_view(model_.tree.bodies()[at(shape.body)].name);
  }

  bool matches(const ModelShape& shape, const std::string& name) const {
    return name == "*" || shape.name == name || body_name(shape) == name ||
           (!shape.surface.empty() && shape.surface == name);
  }

  /// Whether a name is that of a shape or a body, not only of a surface.
  bool names_one(const std::string& name) const {
    return std::any_of(model_.shapes.begin(), model_.shapes.end(),
                       [&](const ModelShape& shape) {
                         return shape.name == name || body_name(shape) == name;
                       });
  }

  Problem check_party(const std::string& who, const std::string& name) const {
    std::vector<std::string_view> names;
    for (const ModelShape& shape : model_.shapes) {
      if (matches(shape, name)) return {};
      names.push_back(shape.name);
      names.push_back(body_name(shape));
      if (!shape.surface.empty()) names.push_back(shape.surface);
    }
    if (name == "*") return {};
    return who + ": no shape, no body with a shape and no surface has the name " +
           quoted(name) + did_you_mean(name, names);
  }

  const ModelBuilder& from_;
  Model model_;
};

Result<Model> ModelBuilder::build() const {
  Result<Tree> tree = tree_.build();
  if (!tree) return Error{tree.error()};
  return ModelAssembly(*this, *std::move(tree)).run();
}

}  // namespace bristle
