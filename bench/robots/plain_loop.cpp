// The articulated-body algorithm (Featherstone 2008, table 7.1) in link coordinates with
// 3×3 blocks, and the contact law in the same loop.

#include <Eigen/Dense>
#include <algorithm>
#include <memory>

#include "bench/robots/driver.hpp"

namespace bristle::bench {

namespace {

using Vector = Eigen::Vector3d;
using Matrix = Eigen::Matrix3d;

Vector vec(const double (&x)[3]) { return {x[0], x[1], x[2]}; }

Matrix crossing(const Vector& a) {
  Matrix m;
  m << 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0;
  return m;
}

/// Angular and linear halves of everything spatial end in _w and _v.
struct Link {
  // given
  int parent, axis;
  Matrix joint_axes;  // in the parent
  Vector place;
  double mass;
  Vector moment;   // mass times centre of mass
  Matrix inertia;  // about the origin
  // of this step
  Matrix E;  // from the parent's axes to its own
  Matrix R;  // from its own axes to the world's
  Vector p;  // origin in the world
  Vector w, v, c_w, c_v;
  Matrix A, B, M;  // articulated inertia [A B; Bᵀ M]
  Vector f_w, f_v;
  Vector U_w, U_v;
  double D, u;
  Vector a_w, a_v;
};

class PlainRobot {
 public:
  explicit PlainRobot(const RobotSpec& robot)
      : spec_(robot),
        floating_(robot.floating),
        links_(robot.links.size()),
        qdd_(links_.size()),
        tau_(links_.size()) {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const LinkSpec& l = spec_.links[i];
      Link& x = links_[i];
      x.parent = l.parent;
      x.axis = l.axis;
      x.joint_axes = Eigen::AngleAxisd(l.roll, Vector::UnitX()).toRotationMatrix();
      x.place = vec(l.place);
      x.mass = l.mass;
      x.moment = l.mass * vec(l.com);
      const Matrix c = crossing(vec(l.com));
      x.inertia = Matrix(vec(l.inertia).asDiagonal()) - l.mass * c * c;
    }
    trunk_inertia_ = vec(spec_.trunk_inertia).asDiagonal();
    reset();
  }

  void reset() {
    q_.clear();
    for (const LinkSpec& l : spec_.links) q_.push_back(l.start);
    qd_.assign(links_.size(), 0.0);
    R_.setIdentity();
    p_ = {0, 0, spec_.trunk_height};
    w_.setZero();
    v_.setZero();
    t_ = 0;
  }

  void step(double h) {
    const std::size_t n = links_.size();
    Matrix A, B, M;  // of the trunk, as in Link
    Vector f_w, f_v, w0 = Vector::Zero(), v0 = Vector::Zero();
    if (floating_) {
      w0 = R_.transpose() * w_;
      v0 = R_.transpose() * v_;
      A = trunk_inertia_;
      B.setZero();
      M = spec_.trunk_mass * Matrix::Identity();
      const Vector h_w = trunk_inertia_ * w0, h_v = spec_.trunk_mass * v0;
      f_w = w0.cross(h_w) + v0.cross(h_v);
      f_v = w0.cross(h_v);
    }

    // Outwards: poses, velocities, motors.
    for (std::size_t i = 0; i < n; ++i) {
      Link& x = links_[i];
      const bool first = x.parent < 0;
      const Link& parent = links_[first ? 0 : static_cast<std::size_t>(x.parent)];
      const double c = std::cos(q_[i]), s = std::sin(q_[i]);
      Matrix turn = Matrix::Identity();
      const int a = (x.axis + 1) % 3, b = (x.axis + 2) % 3;
      turn(a, a) = c;
      turn(b, b) = c;
      turn(a, b) = -s;
      turn(b, a) = s;
      x.E.noalias() = (x.joint_axes * turn).transpose();
      const Vector& w = first ? w0 : parent.w;
      const Vector& v = first ? v0 : parent.v;
      x.w = x.E * w;
      x.v = x.E * (v + w.cross(x.place));
      Vector rate = Vector::Zero();
      rate[x.axis] = qd_[i];
      x.w += rate;
      x.c_w = x.w.cross(rate);
      x.c_v = x.v.cross(rate);
      const Matrix& R = first ? R_ : parent.R;
      x.R.noalias() = R * x.E.transpose();
      x.p = (first ? p_ : parent.p) + R * x.place;
      x.A = x.inertia;
      x.B = crossing(x.moment);
      x.M = x.mass * Matrix::Identity();
      const Vector h_w = x.inertia * x.w + x.moment.cross(x.v);
      const Vector h_v = x.mass * x.v - x.moment.cross(x.w);
      x.f_w = x.w.cross(h_w) + x.v.cross(h_v);
      x.f_v = x.w.cross(h_v);
      const LinkSpec& l = spec_.links[i];
      tau_[i] = l.kp * (reference(spec_, i, t_) - q_[i]) - l.kd * qd_[i];
    }

    // Contacts.
    for (const FootSpec& foot : spec_.feet) {
      Link& x = links_[static_cast<std::size_t>(foot.link)];
      const Vector centre = vec(foot.centre);
      const double depth = spec_.ground + foot.radius - (x.p + x.R * centre)[2];
      if (depth <= 0) continue;
      const Vector point =
          centre - x.R.transpose() * Vector(0, 0, foot.radius - 0.5 * depth);
      const Vector v = x.R * (x.v + x.w.cross(point));
      const double f = std::max(
          0.0, stiffness(foot) * depth * std::sqrt(depth) * (1 - dissipation * v[2]));
      const double g =
          friction * f / std::max(std::sqrt(v[0] * v[0] + v[1] * v[1]), slip_speed);
      const Vector force = x.R.transpose() * Vector(-g * v[0], -g * v[1], f);
      x.f_w -= point.cross(force);
      x.f_v -= force;
    }

    // Inwards: articulated inertias.
    for (std::size_t i = n; i-- > 0;) {
      Link& x = links_[i];
      x.U_w = x.A.col(x.axis);
      x.U_v = x.B.row(x.axis).transpose();
      x.D = x.U_w[x.axis];
      x.u = tau_[i] - x.f_w[x.axis];
      if (x.parent < 0 && !floating_) continue;
      const double inverse = 1 / x.D;
      const Vector k_w = x.U_w * inverse, k_v = x.U_v * inverse;
      Matrix Aa = x.A - k_w * x.U_w.transpose();
      Matrix Ba = x.B - k_w * x.U_v.transpose();
      Matrix Ma = x.M - k_v * x.U_v.transpose();
      Vector g_w = x.f_w + Aa * x.c_w + Ba * x.c_v + k_w * x.u;
      Vector g_v = x.f_v + Ba.transpose() * x.c_w + Ma * x.c_v + k_v * x.u;
      const Matrix Et = x.E.transpose();
      Aa = Et * Aa * x.E;
      Ba = Et * Ba * x.E;
      Ma = Et * Ma * x.E;
      g_v = Et * g_v;
      g_w = Et * g_w + x.place.cross(g_v);
      const Matrix r = crossing(x.place);
      const Matrix rB = r * Ba.transpose();
      const Matrix rM = r * Ma;
      const Matrix A_shifted = Aa + rB + rB.transpose() - rM * r;
      const bool first = x.parent < 0;
      Link& parent = links_[first ? 0 : static_cast<std::size_t>(x.parent)];
      (first ? A : parent.A) += A_shifted;
      (first ? B : parent.B) += Ba + rM;
      (first ? M : parent.M) += Ma;
      (first ? f_w : parent.f_w) += g_w;
      (first ? f_v : parent.f_v) += g_v;
    }

    // Outwards: accelerations, with gravity as one of the world.
    Vector a0_w = Vector::Zero(), a0_v(0, 0, gravity);
    if (floating_) {
      Eigen::Matrix<double, 6, 6> inertia;
      inertia << A, B, B.transpose(), M;
      Eigen::Matrix<double, 6, 1> f;
      f << -f_w, -f_v;
      const Eigen::Matrix<double, 6, 1> a = inertia.llt().solve(f);
      a0_w = a.head<3>();
      a0_v = a.tail<3>();
    }
    for (std::size_t i = 0; i < n; ++i) {
      Link& x = links_[i];
      const bool first = x.parent < 0;
      const Link& parent = links_[first ? 0 : static_cast<std::size_t>(x.parent)];
      const Vector& a_w = first ? a0_w : parent.a_w;
      const Vector& a_v = first ? a0_v : parent.a_v;
      x.a_w = x.E * a_w + x.c_w;
      x.a_v = x.E * (a_v + a_w.cross(x.place)) + x.c_v;
      qdd_[i] = (x.u - x.U_w.dot(x.a_w) - x.U_v.dot(x.a_v)) / x.D;
      x.a_w[x.axis] += qdd_[i];
    }

    // Velocities, then positions with them.
    for (std::size_t i = 0; i < n; ++i) {
      qd_[i] += h * qdd_[i];
      q_[i] += h * qd_[i];
    }
    if (floating_) {
      w_ += h * (R_ * a0_w);
      v_ += h * (R_ * (a0_v + w0.cross(v0)) - Vector(0, 0, gravity));
      p_ += h * v_;
      const Vector d = h * w_;
      const double angle = d.norm();
      if (angle > 1e-14) R_ = Eigen::AngleAxisd(angle, d / angle).toRotationMatrix() * R_;
    }
    t_ += h;
  }

  double time() const { return t_; }

  std::vector<double> positions() const {
    std::vector<double> all;
    if (floating_) {
      const Eigen::Quaterniond turn(R_);
      all = {p_[0], p_[1], p_[2], turn.w(), turn.x(), turn.y(), turn.z()};
    }
    all.insert(all.end(), q_.begin(), q_.end());
    return all;
  }

 private:
  RobotSpec spec_;
  bool floating_;
  std::vector<Link> links_;
  std::vector<double> q_, qd_, qdd_, tau_;
  Matrix trunk_inertia_;
  Matrix R_;          // trunk: axes and origin in the world,
  Vector p_, w_, v_;  // velocities in world axes
  double t_ = 0;
};

}  // namespace

Driver plain_loop(const RobotSpec& robot, int substeps) {
  const auto plain = std::make_shared<PlainRobot>(robot);
  const double h = time_step / substeps;
  return {"plain loop", [plain] { plain->reset(); },
          [plain, h, substeps](int steps) {
            for (int k = 0; k < steps * substeps; ++k) plain->step(h);
          },
          [plain] { return plain->time(); }, [plain] { return plain->positions(); }};
}

}  // namespace bristle::bench
