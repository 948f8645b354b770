// MuJoCo as an oracle. Its conventions, and how ours are written in them:
//
// - A joint belongs to the child body, with anchor and axis in that body's axes: the
//   origin of our M, and an axis of M. Several joints of a body act one after the other.
// - universal = two hinges, planar = two slides and a hinge, free = three slides and a
//   ball (its own free joint exists for children of the world only).
// - A ball's quaternion turns the body's frame, not M's: (w, R_BM vec). Its velocity is
// in
//   the axes of the body: R_BM R(q)ᵀ ω. All other velocities are ours.
// - Forces on bodies act at the centre of mass.

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "bristle/model/joint.hpp"
#include "tests/dynamics/oracle.hpp"

namespace bristle::test {

namespace {

using V = Vec3<double>;
using M = Mat3<double>;

V vec(const double* x) { return load_vec3(x); }
M mat(const double (&r)[3][3]) {
  return {{r[0][0], r[1][0], r[2][0]},
          {r[0][1], r[1][1], r[2][1]},
          {r[0][2], r[1][2], r[2][2]}};
}
Transform<double> frame(const OracleFrame& f) { return {mat(f.R), vec(f.p)}; }

std::string text(const V& v) {
  std::ostringstream out;
  out.precision(17);
  out << v.x << ' ' << v.y << ' ' << v.z;
  return out.str();
}

std::string text(const Quaternion<double>& q) {
  std::ostringstream out;
  out.precision(17);
  out << q.w << ' ' << q.x << ' ' << q.y << ' ' << q.z;
  return out.str();
}

struct Principal {
  double moments[3];
  M axes;
};

/// By Jacobi's rotations, to the last digits. (MuJoCo's own reduction of a full inertia
/// stops at 1e-12 of it, which a chain of forty bodies shows.)
Principal principal(const double (&inertia)[3][3]) {
  double a[3][3];
  double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  // columns
  std::copy(&inertia[0][0], &inertia[0][0] + 9, &a[0][0]);
  for (int sweep = 0; sweep < 20; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t =
            (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; ++k) {  // A ← A J, E ← E J
          const double ap = a[k][p], ep = e[k][p];
          a[k][p] = c * ap - s * a[k][q];
          a[k][q] = s * ap + c * a[k][q];
          e[k][p] = c * ep - s * e[k][q];
          e[k][q] = s * ep + c * e[k][q];
        }
        for (int k = 0; k < 3; ++k) {  // A ← Jᵀ A
          const double ap = a[p][k];
          a[p][k] = c * ap - s * a[q][k];
          a[q][k] = s * ap + c * a[q][k];
        }
        a[p][q] = a[q][p] = 0;
      }
    }
  }
  M axes = mat(e);
  if (dot(axes.x, cross(axes.y, axes.z)) < 0) axes.z = -axes.z;
  return {{a[0][0], a[1][1], a[2][2]}, axes};
}

/// The elements of one body with all that hangs from it.
void write_body(std::ostringstream& out, const OracleProblem& problem, int i) {
  const OracleBody& b = problem.bodies[static_cast<std::size_t>(i)];
  const Transform<double> on_child = frame(b.on_child);
  const Transform<double> at_zero = frame(b.on_parent) * inverse(on_child);
  const Principal inertia = principal(b.inertia);
  out << "<body name='b" << i << "' pos='" << text(at_zero.p) << "' quat='"
      << text(from_matrix(at_zero.R)) << "'><inertial pos='" << text(vec(b.com))
      << "' quat='" << text(from_matrix(inertia.axes)) << "' mass='" << b.mass
      << "' diaginertia='" << inertia.moments[0] << ' ' << inertia.moments[1] << ' '
      << inertia.moments[2] << "'/>";
  const auto joint = [&](const char* type, const V& axis) {
    out << "<joint type='" << type << "' pos='" << text(on_child.p) << "' armature='"
        << b.armature << "'";
    if (std::strcmp(type, "ball") != 0)
      out << " axis='" << text(on_child.R * axis) << "'";
    out << "/>";
  };
  const V x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  switch (static_cast<JointType>(b.type)) {
    case JointType::fixed:
      break;
    case JointType::revolute:
      joint("hinge", vec(b.axis));
      break;
    case JointType::prismatic:
      joint("slide", vec(b.axis));
      break;
    case JointType::universal:
      joint("hinge", x);
      joint("hinge", y);
      break;
    case JointType::spherical:
      joint("ball", z);
      break;
    case JointType::planar:
      joint("slide", x);
      joint("slide", y);
      joint("hinge", z);
      break;
    case JointType::free:
      joint("slide", x);
      joint("slide", y);
      joint("slide", z);
      joint("ball", z);
      break;
  }
  for (std::size_t k = 0; k < problem.bodies.size(); ++k) {
    if (problem.bodies[k].parent == i) write_body(out, problem, static_cast<int>(k));
  }
  out << "</body>";
}

std::string to_xml(const OracleProblem& problem) {
  std::ostringstream out;
  out.precision(17);
  out << "<mujoco><compiler angle='radian' inertiafromgeom='false'/><option gravity='"
      << text(vec(problem.gravity)) << "'/><worldbody>";
  for (std::size_t k = 0; k < problem.bodies.size(); ++k) {
    if (problem.bodies[k].parent < 0) write_body(out, problem, static_cast<int>(k));
  }
  out << "</worldbody></mujoco>";
  return out.str();
}

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

Model load(const std::string& xml) {
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "tree.xml", static_cast<int>(xml.size()));
  std::memcpy(files->filedata[0], xml.data(), xml.size());
  char message[1000] = "";
  Model model(mj_loadXML("tree.xml", files.get(), message, sizeof message),
              &mj_deleteModel);
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(message);
  return model;
}

int number_of(const mjModel& model, std::size_t body) {
  std::string name("b");
  name += std::to_string(body);
  return mj_name2id(&model, mjOBJ_BODY, name.c_str());
}

/// One velocity of ours as its column in theirs: theirs = G ours, G orthonormal.
struct Column {
  int first = 0;
  int count = 1;
  double x[3] = {1, 0, 0};
};

}  // namespace

OracleAnswer ask_mujoco(const OracleProblem& problem) {
  const Model model = load(to_xml(problem));
  const Data data(mj_makeData(model.get()), &mj_deleteData);
  const mjModel& m = *model;
  mjData& d = *data;
  const std::size_t n = problem.v.size();
  if (static_cast<std::size_t>(m.nv) != n) throw std::runtime_error("other velocities");

  // Positions, and the columns of G.
  std::vector<Column> columns(n);
  for (std::size_t i = 0; i < problem.bodies.size(); ++i) {
    const OracleBody& b = problem.bodies[i];
    const auto type = static_cast<JointType>(b.type);
    if (type == JointType::fixed) continue;
    const int body = number_of(m, i);
    const int joint = m.body_jntadr[body];
    int q = m.jnt_qposadr[joint];
    int v = m.jnt_dofadr[joint];
    const int quaternion = quaternion_at(type);
    const int plain = quaternion < 0 ? position_count(type) : quaternion;
    const int plain_at = quaternion < 0 ? 0 : 3;  // in our velocities
    for (int k = 0; k < plain; ++k) {
      d.qpos[q++] = problem.q[static_cast<std::size_t>(b.q + k)];
      columns[static_cast<std::size_t>(b.v + plain_at + k)].first = v++;
    }
    if (quaternion < 0) continue;
    const Quaternion<double> turn = load_quaternion(problem.q.data() + b.q + quaternion);
    const M to_body = mat(b.on_child.R);
    const V part = to_body * V{turn.x, turn.y, turn.z};
    store(Quaternion<double>{turn.w, part.x, part.y, part.z}, d.qpos + q);
    const M g = to_body * transpose(to_matrix(turn));
    const V axes[3] = {g.x, g.y, g.z};
    for (int k = 0; k < 3; ++k) {
      Column& column = columns[static_cast<std::size_t>(b.v + k)];
      column.first = v;
      column.count = 3;
      store(axes[k], column.x);
    }
  }
  const auto to_theirs = [&](const std::vector<double>& ours, mjtNum* theirs) {
    std::fill(theirs, theirs + n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (int k = 0; k < columns[i].count; ++k) {
        theirs[columns[i].first + k] += columns[i].x[k] * ours[i];
      }
    }
  };
  const auto to_ours = [&](const mjtNum* theirs) {
    std::vector<double> ours(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (int k = 0; k < columns[i].count; ++k) {
        ours[i] += columns[i].x[k] * theirs[columns[i].first + k];
      }
    }
    return ours;
  };

  to_theirs(problem.v, d.qvel);
  to_theirs(problem.tau, d.qfrc_applied);
  mj_forward(&m, &d);  // places the bodies
  for (std::size_t i = 0; i < problem.bodies.size(); ++i) {
    const OracleBody& b = problem.bodies[i];
    const int body = number_of(m, i);
    const V arm = vec(d.xipos + 3 * body) - vec(d.xpos + 3 * body);
    store(vec(b.force), d.xfrc_applied + 6 * body);
    store(vec(b.torque) - cross(arm, vec(b.force)), d.xfrc_applied + 6 * body + 3);
  }
  mj_forward(&m, &d);

  OracleAnswer answer;
  answer.bias = to_ours(d.qfrc_bias);
  answer.acceleration = to_ours(d.qacc);
  std::vector<mjtNum> full(n * n);
  mj_fullM(&m, full.data(), d.qM);
  std::vector<std::vector<double>> rows;  // M G
  for (std::size_t i = 0; i < n; ++i) rows.push_back(to_ours(full.data() + i * n));
  answer.mass_matrix.resize(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<mjtNum> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = rows[i][j];
    const std::vector<double> ours = to_ours(column.data());
    for (std::size_t i = 0; i < n; ++i) answer.mass_matrix[i * n + j] = ours[i];
  }
  return answer;
}

}  // namespace bristle::test
