#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

// n³ equal balls (radius 5 mm, 2500 kg/m³) that have fallen into a box of side 12 mm · n
// and come to rest; what touches, to 10 µm, are the contacts of one rigid step from rest.
// Settled by a plain soft-sphere loop: Hertz springs with dampers, Coulomb friction
// regularised by a damper. Lengths in m, masses in balls.

namespace bristle::bench {

struct PileContact {
  int a, b;                      // b = −1: a wall
  std::array<double, 3> normal;  // from b to a
};

struct Pile {
  static constexpr double radius = 0.005;
  std::vector<std::array<double, 3>> centres;
  std::vector<PileContact> contacts;
};

class PileMaker {
 public:
  explicit PileMaker(int n) : side_(0.012 * n) {
    std::mt19937_64 engine(12345);
    const auto chance = [&engine] {
      return static_cast<double>(engine() >> 11) * 0x1p-52 - 1;
    };
    for (int i = 0; i < n * n * n; ++i) {
      x_.push_back({0.012 * (i % n + 0.5) + 9e-4 * chance(),
                    0.012 * (i / n % n + 0.5) + 9e-4 * chance(),
                    0.012 * (i / n / n + 0.5) + 9e-4 * chance()});
      v_.push_back({0.2 * chance(), 0.2 * chance(), -0.3});
    }
    spin_.resize(x_.size());
  }

  Pile settled(int steps) {
    for (int k = 0; k < steps; ++k) step(5e-5);
    Pile pile;
    pile.centres = x_;
    over_pairs(1e-5, [&](int a, int b, const Vector& normal, double) {
      pile.contacts.push_back({a, b, normal});
    });
    return pile;
  }

 private:
  using Vector = std::array<double, 3>;
  static constexpr double skin = 1e-3;
  // Per ball mass: E* = 1e7 Pa on 1.309 g.
  static constexpr double stiffness = 1.3333e7 / 1.309e-3;

  /// f(a, b, normal from b to a, overlap) for everything closer than `reach`.
  template <class F>
  void over_pairs(double reach, F f) {
    if (moved_since_listed()) list_neighbours();
    for (const auto& [a, b] : near_) {
      Vector d;
      double d2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = x_[at(a)][k] - x_[at(b)][k];
        d2 += d[k] * d[k];
      }
      const double limit = 2 * Pile::radius + reach;
      if (d2 >= limit * limit) continue;
      const double distance = std::sqrt(d2);
      for (double& c : d) c /= distance;
      f(a, b, d, 2 * Pile::radius - distance);
    }
    for (int a = 0; a < count(); ++a) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (const double sign : {1.0, -1.0}) {
          if (k == 2 && sign < 0) continue;  // open above
          const double gap =
              (sign > 0 ? x_[at(a)][k] : side_ - x_[at(a)][k]) - Pile::radius;
          if (gap >= reach) continue;
          Vector normal{};
          normal[k] = sign;
          f(a, -1, normal, -gap);
        }
      }
    }
  }

  void step(double h) {
    for (Vector& v : v_) v[2] -= 9.81 * h;
    over_pairs(0, [&](int a, int b, const Vector& n, double depth) {
      const double share = b < 0 ? 1 : 0.5;  // of a ball's mass that moves
      const double root = std::sqrt(Pile::radius * share * depth);
      Vector u, spin;
      double approach = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        u[k] = v_[at(a)][k] - (b < 0 ? 0 : v_[at(b)][k]);
        spin[k] = spin_[at(a)][k] + (b < 0 ? 0 : spin_[at(b)][k]);
        approach -= u[k] * n[k];
      }
      const double force =
          std::max(0.0, root * (stiffness * depth + 2e6 * share * approach));
      Vector slip = u;
      const Vector turning = cross(n, spin);  // velocity of the contact point, −r n × ω
      double slip2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        slip[k] += approach * n[k] + Pile::radius * turning[k];
        slip2 += slip[k] * slip[k];
      }
      const double speed = std::sqrt(slip2);
      const double damping = 0.1 * share / h;
      const double friction = speed > 0 ? std::min(damping, 0.5 * force / speed) : 0;
      Vector push, torque = cross(n, slip);
      for (std::size_t k = 0; k < 3; ++k) {
        push[k] = h * (force * n[k] - friction * slip[k]);
        v_[at(a)][k] += push[k];
        if (b >= 0) v_[at(b)][k] -= push[k];
        const double spun = h * friction * 2.5 / Pile::radius * torque[k];
        spin_[at(a)][k] += spun;
        if (b >= 0) spin_[at(b)][k] += spun;
      }
    });
    for (std::size_t i = 0; i < x_.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) x_[i][k] += h * v_[i][k];
    }
  }

  bool moved_since_listed() const {
    if (listed_.empty()) return true;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      double d2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        d2 += (x_[i][k] - listed_[i][k]) * (x_[i][k] - listed_[i][k]);
      }
      if (d2 > 0.25 * skin * skin) return true;
    }
    return false;
  }
  void list_neighbours() {
    listed_ = x_;
    near_.clear();
    const double limit = 2 * Pile::radius + skin + 1e-5;
    for (int i = 0; i < count(); ++i) {
      for (int j = i + 1; j < count(); ++j) {
        double d2 = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          d2 += (x_[at(i)][k] - x_[at(j)][k]) * (x_[at(i)][k] - x_[at(j)][k]);
        }
        if (d2 < limit * limit) near_.push_back({i, j});
      }
    }
  }

  static Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0]};
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int count() const { return static_cast<int>(x_.size()); }

  double side_;
  std::vector<Vector> x_, v_, spin_, listed_;
  std::vector<std::array<int, 2>> near_;
};

}  // namespace bristle::bench
