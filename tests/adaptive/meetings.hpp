#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bristle/adaptive/adaptive.hpp"
#include "tests/geometry/common.hpp"
#include "tests/validation/scenes.hpp"

// Two bodies that meet in flight, at random, and when they do: the motion of both in
// closed form (centres) and by steps of a fiftieth of a radian (Euler's equations), in
// steps that no point of them moves farther in than the bodies are apart.

namespace bristle::meetings {

using V = Vec3<double>;

/// A shape with the least of its half-thicknesses; infinite for what has none.
struct Solid {
  Shape shape;
  double size;
};

inline const std::vector<ConvexHull>& hulls() {
  static const std::vector<ConvexHull> all = [] {
    std::vector<ConvexHull> made;
    for (unsigned seed = 1; seed <= 8; ++seed) {
      const double s = 0.02 * std::pow(1.5, seed);
      made.push_back(*make_hull(test::random_cloud(seed, 6 + 4 * static_cast<int>(seed),
                                                   {s, 0.7 * s, 0.5 * s})));
    }
    return made;
  }();
  return all;
}

/// A closed mesh of a rounded block and a wavy ground, for spheres to fall on.
inline const TriangleMesh& block_mesh() {
  static const TriangleMesh mesh = [] {
    const ConvexHull hull = *make_hull(test::random_cloud(21, 40, {0.3, 0.3, 0.1}));
    std::vector<std::array<std::uint32_t, 3>> triangles;
    for (std::uint32_t f = 0; f < hull.face_count(); ++f) {
      const auto face = hull.face(f);
      for (std::size_t k = 2; k < face.size(); ++k) {
        triangles.push_back({face[0], face[k - 1], face[k]});
      }
    }
    return *make_mesh(hull.vertices, triangles);
  }();
  return mesh;
}
inline const HeightField& waves() {
  static const HeightField field = [] {
    std::vector<double> heights;
    for (int row = 0; row < 30; ++row) {
      for (int column = 0; column < 30; ++column) {
        heights.push_back(0.05 * std::sin(0.7 * column) * std::cos(0.5 * row));
      }
    }
    return *make_height_field(30, 30, 0.1, 0.1, heights);
  }();
  return field;
}

/// A body: what it is, and how it begins. Without mass it stands still.
struct Flight {
  Solid solid;
  double mass = 0;
  V inertia{0, 0, 0};  // about the axes of the shape
  V p{0, 0, 0}, v{0, 0, 0}, w{0, 0, 0};
  Quaternion<double> turn = Quaternion<double>::identity();

  double radius() const {
    const Aabb box = bounds(solid.shape, Transform<double>{});
    return norm(V{std::max(-box.low.x, box.high.x), std::max(-box.low.y, box.high.y),
                  std::max(-box.low.z, box.high.z)});
  }
};

struct Encounter {
  Flight a, b;
  V gravity{0, 0, 0};
  double duration = 0;
  /// Of the smaller body: what a meeting must be deeper than to count here.
  double size() const { return std::min(a.solid.size, b.solid.size); }
};

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  double between(double low, double high) { return random_.uniform(low, high); }
  double log_between(double low, double high) {
    return std::exp(random_.uniform(std::log(low), std::log(high)));
  }
  int below(int n) { return random_.below(n); }
  bool chance(double p) { return random_.uniform(0, 1) < p; }
  V direction() { return random_.direction(); }

  /// A convex body; some boxes and cylinders are thin plates.
  Solid solid() {
    const double s = log_between(0.01, 0.3);
    const auto part = [&] { return s * between(0.4, 1); };
    const double thin = chance(0.3) ? log_between(0.01, 0.3) : 1;
    switch (below(6)) {
      case 0:
        return {Sphere{s}, s};
      case 1: {
        const V half{part(), part(), thin * part()};
        return {Box{half}, std::min({half.x, half.y, half.z})};
      }
      case 2: {
        const Cylinder c{part(), thin * part()};
        return {c, std::min(c.radius, c.half_length)};
      }
      case 3: {
        const Capsule c{thin * part(), part()};
        return {c, c.radius};
      }
      case 4: {
        const V semi{part(), part(), std::max(thin, 0.2) * part()};
        return {Ellipsoid{semi}, std::min({semi.x, semi.y, semi.z})};
      }
      default: {
        const ConvexHull& hull = hulls()[static_cast<std::size_t>(below(8))];
        return {Convex{&hull}, 0.3 * hull.size};
      }
    }
  }

  Quaternion<double> turn() { return rotation_exp(between(-3, 3) * direction()); }

  /// A body that is at the origin, or near it, after a time.
  Flight flight(const Solid& solid, const V& velocity, const V& gravity, double time) {
    Flight f{.solid = solid};
    const double r = std::max(f.radius(), 1e-3);
    f.mass = 1000 * r * r * r;
    const double i = 0.2 * f.mass * r * r;
    f.inertia = {i, i * between(0.8, 1), i * between(0.6, 1)};
    if (std::holds_alternative<Sphere>(solid.shape)) f.inertia = {i, i, i};
    f.turn = turn();
    if (chance(0.6)) {
      // A few hundred radians at most: then phases still agree with the integrator's.
      f.w = std::min(log_between(0.3, 1000), 300 / time) * direction();
    }
    f.v = velocity - time * gravity;
    f.p = -time * velocity + (0.5 * time * time) * gravity;
    return f;
  }

  Encounter meeting() {
    Encounter m;
    const double speed = log_between(0.3, 300);
    if (chance(0.5)) m.gravity = {0, 0, -9.81};
    V d = direction();
    const int other = below(10);
    Solid one = solid();
    if (other == 0) {  // a standing plane
      m.a = {.solid = {Plane{}, HUGE_VAL}};
    } else if (other == 1) {  // a ball and a triangulated surface
      one = {Sphere{log_between(0.01, 0.3)}, 0};
      one.size = std::get<Sphere>(one.shape).radius;
      // From above, all the way: a ground has no sides, and no bottom to come in by.
      d = unit(0.5 * d - V{0, 0, 1});
      m.gravity = {0, 0, 0};
      m.a = {.solid = chance(0.5) ? Solid{Mesh{&block_mesh()}, 0.05}
                                  : Solid{Terrain{&waves()}, HUGE_VAL}};
    } else if (other == 2) {  // a point and a body
      one = {Sphere{0}, HUGE_VAL};
      m.a = {.solid = solid()};
    } else {
      m.a = {.solid = solid()};
    }
    const bool infinite = other == 0;
    const bool ground = kind_of(m.a.solid.shape) == ShapeKind::height_field;
    const double reach_a = infinite ? 0.1 : ground ? 0.5 : m.a.radius();
    Flight probe{.solid = one};
    const double reach = reach_a + probe.radius();
    const double time = (reach + log_between(0.05, 100)) / speed;
    const bool stands = other < 2 || chance(0.3);
    if (stands) {
      m.a.turn = other < 2 ? Quaternion<double>::identity() : turn();
      m.b = flight(one, speed * d, m.gravity, time);
      if (other < 2) {  // from above
        m.b.v.z -=
            m.b.v.z + time * m.gravity.z > 0 ? 2 * (m.b.v.z + time * m.gravity.z) : 0;
        m.b.p = -time * (m.b.v + time * m.gravity) + (0.5 * time * time) * m.gravity;
      }
    } else {
      const double share = between(0, 1);
      m.a = flight(m.a.solid, (-share * speed) * d, m.gravity, time);
      m.b = flight(one, ((1 - share) * speed) * d, m.gravity, time);
    }
    // Off the line of centres: head-on, or grazing.
    const double aside = chance(0.5) ? 0.3 * between(0, 1) : between(0.5, 1.05);
    m.b.p = m.b.p + (aside * reach_a) * test::V(unit(cross(d, direction())));
    m.duration = 1.2 * time + 2 * reach / speed;
    return m;
  }

 private:
  static V unit(const V& x) { return (1 / std::max(norm(x), 1e-9)) * x; }
  test::Random random_;
};

/// A body on its way, turning by Euler's equations.
class Path {
 public:
  Path(const Flight& flight, const V& gravity) : f_(flight), g_(gravity), turn_(f_.turn) {
    if (f_.mass == 0) return;
    const Mat3<double> r = to_matrix(turn_);
    w_ = transpose_times(r, f_.w);
  }

  void advance(double dt) {
    time_ += dt;
    const double speed = norm(w_);
    if (speed == 0) return;
    const int parts = static_cast<int>(std::ceil(50 * speed * dt));
    for (int k = 0; k < parts; ++k) step(dt / parts);
  }
  Transform<double> pose() const {
    if (f_.mass == 0) return {to_matrix(turn_), f_.p};
    return {to_matrix(turn_), f_.p + time_ * f_.v + (0.5 * time_ * time_) * g_};
  }
  /// Of its points, at most, from now on for a time.
  double speed(double radius, double soon) const {
    if (f_.mass == 0) return 0;
    const double turning = std::holds_alternative<Sphere>(f_.solid.shape) ? 0 : radius;
    return norm(f_.v + time_ * g_) + soon * norm(g_) + 1.5 * norm(w_) * turning;
  }

 private:
  V rate(const V& w) const {
    const V& i = f_.inertia;
    return {(i.y - i.z) / i.x * w.y * w.z, (i.z - i.x) / i.y * w.z * w.x,
            (i.x - i.y) / i.z * w.x * w.y};
  }
  /// Runge–Kutta 4 of ω in body axes, and of q̇ = ½ q (0, ω).
  void step(double h) {
    const auto moved = [](const Quaternion<double>& q, double s,
                          const Quaternion<double>& by) {
      return Quaternion<double>{q.w + s * by.w, q.x + s * by.x, q.y + s * by.y,
                                q.z + s * by.z};
    };
    const auto turning = [](const Quaternion<double>& q, const V& w) {
      return q * Quaternion<double>{0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
    };
    const V a1 = rate(w_), w2 = w_ + (0.5 * h) * a1;
    const auto q1 = turning(turn_, w_);
    const V a2 = rate(w2), w3 = w_ + (0.5 * h) * a2;
    const auto q2 = turning(moved(turn_, 0.5 * h, q1), w2);
    const V a3 = rate(w3), w4 = w_ + h * a3;
    const auto q3 = turning(moved(turn_, 0.5 * h, q2), w3);
    const V a4 = rate(w4);
    const auto q4 = turning(moved(turn_, h, q3), w4);
    w_ = w_ + (h / 6) * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    auto q = moved(turn_, h / 6, q1);
    q = moved(q, h / 3, q2);
    q = moved(q, h / 3, q3);
    turn_ = normalised(moved(q, h / 6, q4));
  }

  const Flight& f_;
  V g_;
  Quaternion<double> turn_;
  V w_{0, 0, 0};  // in body axes
  double time_ = 0;
};

/// Where two bodies are first deeper in each other than `depth`; infinite: never. NaN
/// where they begin so.
inline double time_of_meeting(const Encounter& m, double depth) {
  Path a(m.a, m.gravity), b(m.b, m.gravity);
  const double radius_a = m.a.mass == 0 ? 0 : m.a.radius(), radius_b = m.b.radius();
  double t = 0;
  for (bool first = true; t < m.duration; first = false) {
    const auto found =
        test::contacts(m.a.solid.shape, a.pose(), m.b.solid.shape, b.pose());
    const double now = found.count > 0 ? test::deepest(found).depth : -1e-3;
    if (first && now > -depth) return std::nan("");
    if (now > depth) return t;
    const double soon = 0.2 * m.duration;
    const double speed = a.speed(radius_a, soon) + b.speed(radius_b, soon) + 1e-9;
    const double dt = std::min(std::max(-now, 0.5 * depth) / speed, soon);
    a.advance(dt);
    b.advance(dt);
    t += dt;
  }
  return HUGE_VAL;
}

/// The model of both, and the state that they begin with.
inline Model model_of(const Encounter& m) {
  ModelBuilder builder;
  builder.gravity(m.gravity);
  const auto add = [&](const Flight& f, const std::string& name) {
    if (f.mass == 0) {
      builder.add_shape(
          {.name = name, .shape = f.solid.shape, .pose = {to_matrix(f.turn), f.p}});
    } else {
      validation::add_free(builder, name, f.mass,
                           Sym3<double>::diagonal(f.inertia.x, f.inertia.y, f.inertia.z),
                           f.solid.shape);
    }
  };
  add(m.a, "a");
  add(m.b, "b");
  const double stiffness = 1e6 * std::pow(m.b.mass / 1e-3, 2.0 / 3);
  builder.add_contact({.normal = choose<Hertz>({.stiffness = stiffness, .exponent = 1.5}),
                       .friction = choose<Frictionless>()});
  return validation::built(builder);
}

inline State state_of(const Model& model, const Encounter& m) {
  State state = make_state(model);
  const auto put = [&](const Flight& f, const std::string& name) {
    if (f.mass == 0) return;
    validation::put(model, state, name, f.p, f.v, f.w);
    store(f.turn, state.q.data() + validation::place_of(model, name).q + 3);
  };
  put(m.a, "a");
  put(m.b, "b");
  return state;
}

}  // namespace bristle::meetings
