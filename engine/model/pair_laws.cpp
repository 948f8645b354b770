#include "bristle/model/pair_laws.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "bristle/laws/choice.hpp"
#include "bristle/laws/materials.hpp"
#include "bristle/laws/restitution.hpp"
#include "bristle/model/checks.hpp"
#include "bristle/spatial/frame.hpp"

namespace bristle {

namespace {

using checks::number;
using checks::Problem;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least_gravity = 1;  // below it the reference takes its place [m/s²]
constexpr double least_mass = 1e-6;  // of a link that has none [kg]
constexpr double water = 1000;       // [kg/m³]
constexpr double any_speed = 1;      // where a restitution does not depend on it [m/s]
constexpr double other_speed = 0.1;  // to see whether it does [m/s]
constexpr double same_restitution = 1e-6;

std::span<const double> parameters_of(const LawChoice& law) {
  return std::span(law.parameters).first(entry_of(law).parameters.size());
}

NormalSlopes<double> at_rest(const LawChoice& normal, double depth,
                             const Punch& punch = {}) {
  return entry_of(normal).at_rest(parameters_of(normal), depth, any_speed, punch);
}

double* parameter(LawChoice& law, std::string_view name) {
  const int place = entry_of(law).find_parameter(name);
  return place < 0 ? nullptr : &law.parameters[static_cast<std::size_t>(place)];
}

/// Half of the least extent of the box around a shape; ∞ for planes and points.
double size_of(const Shape& shape) {
  const Aabb box = bounds(shape, Transform<double>{});
  const Vec3<double> half = 0.5 * (box.high - box.low);
  const double size = std::min({half.x, half.y, half.z});
  return std::isfinite(size) && size > 0 ? size : infinite;
}

/// Of spheres, capsules, cylinders and the sharpest end of ellipsoids; all else is flat.
double radius_of(const Shape& shape) {
  switch (kind_of(shape)) {
    case ShapeKind::sphere:
    case ShapeKind::capsule:
    case ShapeKind::ellipsoid:
      return size_of(shape);
    case ShapeKind::cylinder:
      return std::get<Cylinder>(shape).radius;
    default:
      return infinite;
  }
}

Error about(std::string_view field, std::string message) {
  ErrorSubject subject;
  subject.field = field;
  return {std::move(message), std::move(subject)};
}

/// k so that the law carries a load at a depth: forces are proportional to k.
void set_stiffness(LawChoice& normal, double depth, double load,
                   const Punch& punch = {}) {
  double* k = parameter(normal, "stiffness");
  if (k != nullptr) *k *= load / at_rest(normal, depth, punch).static_force;
}

/// k_v of a pair of materials: of a flat face, or of a round one.
double volumetric_stiffness(double modulus, double radius, const PairScale& pair) {
  using std::numbers::pi;
  constexpr double flat = 1.25;  // a lying cylinder has 3/2, a ball 2
  if (pair.growth < flat) return 2 * modulus / (pi * std::sqrt(pair.section / pi));
  const double depth =
      hertz_depth(hertz_stiffness(modulus, radius), pair.mass * pair.gravity);
  return 8 * modulus / (5 * pi * std::sqrt(radius * depth));
}

/// k from the rule's materials or from the pair's rest depth, and the damper with it.
Problem find_stiffness(const PairDefaults& open, const PairScale& pair,
                       LawChoice& normal) {
  const double load = pair.mass * pair.gravity;
  const double* k = parameter(normal, "stiffness");
  if (k == nullptr || (!open.stiffness && open.contact_modulus == 0)) return {};
  const double before = *k;
  if (open.contact_modulus > 0) {
    const double radius = open.contact_radius > 0 ? open.contact_radius : pair.radius;
    if (!std::isfinite(radius)) {
      return about("materials",
                   "materials need radius_m here: nothing that touches has one");
    }
    if (entry_of(normal).volumetric) {
      *parameter(normal, "stiffness") =
          volumetric_stiffness(open.contact_modulus, radius, pair);
      return {};
    }
    const double hertz = hertz_stiffness(open.contact_modulus, radius);
    // Of another exponent: as deep as Hertz under the pair's weight.
    set_stiffness(normal, hertz_depth(hertz, load), load);
    return {};
  }
  set_stiffness(normal, rest_depth_ratio * pair.size, load, punch_of(pair));
  if (double* damping = parameter(normal, "damping");
      damping != nullptr && open.damping) {
    *damping *= *k / before;
  }
  return {};
}

/// k = m ω², c = 2 ζ m ω.
void set_frequency(const PairDefaults& open, const PairScale& pair, LawChoice& normal) {
  if (double* k = parameter(normal, "stiffness")) {
    *k = pair.mass * open.frequency * open.frequency;
  }
  if (double* c = parameter(normal, "damping")) {
    *c = 2 * open.damping_ratio * pair.mass * open.frequency;
  }
}

/// The restitution of a law may depend on how many points share the mass of an impact.
Problem check_faces(const PairScale& pair, const LawEntry& entry,
                    std::span<const double> parameters, double e, double speed) {
  constexpr double corners = 4;
  if (pair.one_point || entry.volumetric) return {};
  const auto shared = entry.impact(parameters, pair.mass / corners, speed, nullptr);
  if (!shared) return about("restitution", shared.error());
  if (std::abs(shared->restitution - e) <= same_restitution) return {};
  return about("restitution", "restitution = " + number(e) + ": under " +
                                  std::string(entry.info.name) +
                                  " it depends on how many points touch: " + number(e) +
                                  " at one point becomes " +
                                  number(1e-3 * std::round(1e3 * shared->restitution)) +
                                  " at four points; set the law's " +
                                  std::string(entry.damping_parameter) +
                                  " instead, or take gonthier, which returns " +
                                  number(e) + " with any number of points");
}

/// The damping that returns the rule's restitution, at any speed unless one is given.
Problem find_damping(const PairDefaults& open, const PairScale& pair, LawChoice& normal) {
  if (open.restitution == 0) return {};
  const LawEntry& entry = entry_of(normal);
  const double e = open.restitution;
  const double speed = open.impact_speed > 0 ? open.impact_speed : any_speed;
  const Punch punch = punch_of(pair);
  const auto tuned = parameters_for_restitution(entry, parameters_of(normal), e,
                                                pair.mass, speed, punch);
  if (!tuned) return about("restitution", tuned.error());
  std::copy(tuned->begin(), tuned->end(), normal.parameters.begin());
  if (entry.type == typeid(GonthierNormal) || entry.type == typeid(Volumetric)) return {};
  if (Problem p = check_faces(pair, entry, *tuned, e, speed)) return p;
  if (open.impact_speed > 0) return {};
  const auto slow = entry.impact(*tuned, pair.mass, other_speed, nullptr, punch);
  if (!slow) return about("restitution", slow.error());
  if (std::abs(slow->restitution - e) <= same_restitution) return {};
  return about("restitution",
               "restitution = " + number(e) + ": under " + std::string(entry.info.name) +
                   " it depends on the speed: " + number(e) + " at 1 m/s becomes " +
                   number(1e-3 * std::round(1e3 * slow->restitution)) +
                   " at 0.1 m/s; give the speed with impact_speed_m_s, set the law's " +
                   std::string(entry.damping_parameter) +
                   " instead, or take gonthier, which returns " + number(e) +
                   " at every speed");
}

/// v_min = V(e)/a₀. A latched damping is inverse to the impact speed.
void find_floor(const PairScale& pair, LawChoice& normal) {
  double* floor = parameter(normal, "impact_speed_floor");
  if (floor == nullptr) return;
  const LawEntry& entry = entry_of(normal);
  const auto place = static_cast<std::size_t>(entry.find_parameter("impact_speed_floor"));
  const Range& range = entry.parameters[place].range;
  *floor = range.low;
  const NormalSlopes<double> slopes =
      at_rest(normal, rest_depth(normal, pair.mass * pair.gravity, punch_of(pair)),
              punch_of(pair));
  const double critical = 2 * std::sqrt(slopes.by_depth * pair.mass);
  *floor = std::clamp(any_speed * slopes.by_rate / critical, range.low, range.high);
}

LawChoice stick_and_slip(double mu, const PairScale& pair, const LawChoice& normal) {
  if (mu == 0) return choose<Frictionless>();
  const Punch punch = punch_of(pair);
  const double depth = rest_depth(normal, pair.mass * pair.gravity, punch);
  const double stiffness = std::clamp(at_rest(normal, depth, punch).by_depth, 1e-3, 1e12);
  return choose<SpringSlider>(
      {.mu = mu,
       .stiffness = stiffness,
       .damping = std::min(std::sqrt(stiffness * pair.mass), 1e9)});
}

}  // namespace

ShapeScale scale_of(const Model& model, const ModelShape& shape) {
  const ShapeKind kind = kind_of(shape.shape);
  ShapeScale scale{
      .size = size_of(shape.shape),
      .radius = radius_of(shape.shape),
      .one_point = kind == ShapeKind::sphere || kind == ShapeKind::ellipsoid};
  if (shape.link != world_link) {
    const double mass =
        model.tree.constants()[static_cast<std::size_t>(shape.link)].inertia.mass;
    scale.mass = shape.apparent_mass > 0 ? shape.apparent_mass
                 : mass > 0              ? mass
                                         : least_mass;
  }
  return scale;
}

void add_section(const Shape& shape, ShapeScale& scale) {
  const auto find = overlap_function<double>(ShapeKind::plane, kind_of(shape));
  if (find == nullptr || !std::isfinite(scale.size)) return;
  const double depth = rest_depth_ratio * scale.size;
  const Aabb box = bounds(shape, Transform<double>{});
  const Vec3<double> low = box.low, high = box.high, half = 0.5 * (high - low);
  const double least = std::min({half.x, half.y, half.z});
  // Its least extent upright, on the side on which it is broader.
  const auto lay = [&](const Vec3<double>& up, double lowest) {
    const Frame<double> frame = frame_from_normal(up);
    const Transform<double> plane{{frame.t1, frame.t2, frame.n}, (lowest + depth) * up};
    const Overlap<double> o = find(Plane{}, plane, shape, Transform<double>{});
    if (!(o.volume > scale.section * depth)) return;
    scale.section = o.volume / depth;
    scale.growth = o.area * depth / o.volume;
  };
  if (half.x == least) {
    lay({1, 0, 0}, low.x);
    lay({-1, 0, 0}, -high.x);
  }
  if (half.y == least) {
    lay({0, 1, 0}, low.y);
    lay({0, -1, 0}, -high.y);
  }
  if (half.z == least) {
    lay({0, 0, 1}, low.z);
    lay({0, 0, -1}, -high.z);
  }
}

Punch punch_of(const PairScale& pair) {
  if (!(pair.section > 0)) return {};
  Punch punch;
  punch.kind = Punch::Kind::power;
  punch.section = pair.section;
  punch.at_depth = rest_depth_ratio * pair.size;
  punch.growth = pair.growth;
  return punch;
}

double substitute_size(double mass) {
  return std::cbrt(mass / (4.0 / 3 * std::numbers::pi * water));
}

PairScale scale_of(const ShapeScale& a, const ShapeScale& b, double gravity) {
  PairScale pair;
  pair.mass = 1 / (1 / a.mass + 1 / b.mass);
  const double size = std::min(a.size, b.size);
  pair.size = std::isfinite(size) ? size : substitute_size(pair.mass);
  const double radius = equivalent_radius(a.radius, b.radius);
  pair.radius = std::isfinite(radius) ? radius : size;
  pair.gravity = gravity >= least_gravity ? gravity : reference_gravity;
  pair.one_point = a.one_point || b.one_point;
  if (a.section > 0 && b.section > 0) {  // two balls: V = π R δ² but for δ/R
    pair.section = std::numbers::pi * pair.radius * rest_depth_ratio * pair.size;
    pair.growth = 2;
  } else if (a.section > 0 || b.section > 0) {
    pair.section = std::max(a.section, b.section);
    pair.growth = a.section > 0 ? a.growth : b.growth;
  }
  return pair;
}

PairScale scale_of(const Model& model, const ModelShape& a, const ModelShape& b) {
  return scale_of(scale_of(model, a), scale_of(model, b), norm(model.tree.gravity()));
}

double rest_depth(const LawChoice& normal, double load, const Punch& punch) {
  // Newton's method in log δ and log f, a straight line for a power law.
  double depth = 1e-4;
  for (int i = 0; i < 60; ++i) {
    const NormalSlopes<double> now = at_rest(normal, depth, punch);
    const double exponent = now.by_depth * depth / now.static_force;
    const double miss = std::log(load / now.static_force);
    depth *= std::exp(miss / exponent);
    if (std::abs(miss) < 1e-14) break;
  }
  return depth;
}

Result<LawPair> laws_of_pair(const ContactSpec& rule, const PairScale& pair) {
  LawPair laws{rule.normal, rule.friction};
  const PairDefaults& open = rule.from_pair;
  if (rule.rigid) {
    // No normal law: the friction is that of a Hertz contact of the pair.
    LawChoice hertz = choose<Hertz>();
    set_stiffness(hertz, rest_depth_ratio * pair.size, pair.mass * pair.gravity);
    if (open.friction >= 0) laws.friction = stick_and_slip(open.friction, pair, hertz);
    return laws;
  }
  if (open.frequency > 0) set_frequency(open, pair, laws.normal);
  if (Problem p = find_stiffness(open, pair, laws.normal)) return *std::move(p);
  if (Problem p = find_damping(open, pair, laws.normal)) return *std::move(p);
  if (open.impact_speed_floor) find_floor(pair, laws.normal);
  if (std::string wrong = out_of_range(laws.normal); !wrong.empty()) {
    return about("normal", wrong + "; give the stiffness of this contact");
  }
  if (open.friction >= 0) {
    laws.friction = stick_and_slip(open.friction, pair, laws.normal);
    laws.friction.spin = rule.friction.spin;
  }
  return laws;
}

}  // namespace bristle
