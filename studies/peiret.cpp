#include "studies/peiret.hpp"

#include <algorithm>

namespace bristle::studies::peiret {

namespace {

constexpr double depth = 1e-3;  // of a compliant contact at rest [m]

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Clock complementarity(double h, ConeShape cone) {
  Clock clock;
  clock.stepper = *find_stepper("complementarity");
  clock.options = {
      .step = h,
      .substeps = 1,
      .method = Method::complementarity,
      .own = {{"cone", cone == ConeShape::box ? 1.0 : 0.0}, {"tolerance", 1e-12}}};
  return clock;
}

Clock adaptive(double rtol) {
  Clock clock;
  clock.stepper = *find_stepper("adaptive");
  clock.options.rtol = rtol;
  return clock;
}

void carry(Motion& motion, double load) {
  motion.settle();
  State& state = motion.state();
  const double h = motion.clock().substep();
  const std::size_t row = at(motion.contact(state).row);
  state.contacts.episode[row] = ++state.episodes;
  state.contacts.impulse[row].normal = h * load;
  state.impulse_time = state.time;
  state.impulse_step = h;
}

Motion begin(const OnPlane& body, const Clock& clock, const Vec3<double>& velocity) {
  const bool rigid = !clock.locates_events();
  const double load = -body.mass * body.gravity.z;
  ModelBuilder builder;
  builder.gravity(body.gravity);
  builder.add_shape({.name = "plane", .shape = Plane{}});
  builder.add_body({.name = "body", .mass = body.mass, .inertia = body.inertia});
  builder.add_joint({.name = "moves", .child = "body", .type = JointType::free});
  builder.add_shape({.name = "body", .body = "body", .shape = Sphere{body.radius}});
  builder.add_contact(
      {.normal = rigid ? LawChoice{}
                       : choose<Hertz>({.stiffness = load / depth, .exponent = 1}),
       .friction = body.friction,
       .rigid = rigid});
  Motion motion(builder, clock);
  State& state = motion.state();
  store(Vec3<double>{0, 0, rigid ? body.radius : body.radius - depth}, state.q.data());
  store(velocity, state.v.data() + 3);
  if (rigid) carry(motion, load);
  return motion;
}

LawChoice bristle(double mu, double stiffness, double damping) {
  if (!(mu > 0)) return choose<Frictionless>();
  return choose<SpringSlider>({.mu = mu, .stiffness = stiffness, .damping = damping});
}

std::optional<Error> too_many_steps(const Values& values) {
  const double steps = values["duration"] / values["h"];
  if (steps <= 1e7) return std::nullopt;
  return Error{"duration/h = " + std::to_string(steps) +
               " steps must be at most 10000000: take a longer h or a shorter duration"};
}

void Track::see(const State& now) {
  time.push_back(now.time);
  position.push_back(load_vec3(now.q.data()));
  velocity.push_back(load_vec3(now.v.data() + 3));
}

Vec3<double> Track::between_steps(const std::vector<Vec3<double>>& values,
                                  double t) const {
  // The end of a run is known to rounding.
  if (time.empty() || t > time.back() * (1 + 1e-9)) {
    return {std::nan(""), std::nan(""), std::nan("")};
  }
  const auto next = std::lower_bound(time.begin(), time.end(), t);
  if (next == time.begin()) return values.front();
  if (next == time.end()) return values.back();
  const auto i = static_cast<std::size_t>(next - time.begin());
  const double share = (t - time[i - 1]) / (time[i] - time[i - 1]);
  return (1 - share) * values[i - 1] + share * values[i];
}

Vec3<double> Track::position_at(double t) const { return between_steps(position, t); }

Vec3<double> Track::velocity_at(double t) const { return between_steps(velocity, t); }

}  // namespace bristle::studies::peiret
