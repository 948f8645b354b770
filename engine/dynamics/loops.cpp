#include "bristle/dynamics/loops.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bristle {

namespace {

using detail::at;

constexpr double dependent = 1e-10;  // of a row's mobility: 1e-5 rad from another row

/// The two frames of a loop in the world, and how they miss each other.
struct LoopFrames {
  Transform<double> a, b;
  Vec3<double> gap;   // from the origin of a to that of b
  Vec3<double> turn;  // that takes a's axes to b's; of a hinge, its z axis
};

Vec3<double> turn_between(const Vec3<double>& from, const Vec3<double>& to) {
  const Vec3<double> across = cross(from, to);
  const double sine = norm(across);
  if (sine == 0) return {0, 0, 0};
  return (atan2(sine, dot(from, to)) / sine) * across;
}

LoopFrames frames_of(const Loop& loop, const Workspace<double>& ws) {
  LoopFrames frames{ws.poses[at(loop.link_a)] * loop.on_a,
                    ws.poses[at(loop.link_b)] * loop.on_b,
                    {0, 0, 0},
                    {0, 0, 0}};
  frames.gap = frames.b.p - frames.a.p;
  if (loop.kind == LoopKind::hinge) {
    frames.turn = turn_between(frames.a.R.z, frames.b.R.z);
    // Opposite axes: any turn across them.
    if (norm2(frames.turn) == 0 && dot(frames.a.R.z, frames.b.R.z) < 0) {
      frames.turn = 3.14159265358979323846 * frames.a.R.x;
    }
  } else if (loop.kind == LoopKind::weld) {
    frames.turn =
        frames.a.R * rotation_log(from_matrix(transpose_times(frames.a.R, frames.b.R)));
  }
  return frames;
}

JacobianRow<double> turning(const Loop& loop, const Vec3<double>& axis) {
  const Vec3<double> none{0, 0, 0};
  return {loop.link_a, loop.link_b, {-axis, none}, {axis, none}};
}

/// A force on b along the axis at the frame's origin there, and the opposite at that on
/// a.
JacobianRow<double> moving(const Loop& loop, const Workspace<double>& ws,
                           const LoopFrames& frames, const Vec3<double>& axis) {
  return {loop.link_a,
          loop.link_b,
          {-cross(frames.a.p - ws.poses[at(loop.link_a)].p, axis), -axis},
          {cross(frames.b.p - ws.poses[at(loop.link_b)].p, axis), axis}};
}

Vec3<double> unit(const Vec3<double>& v) {
  const double length = norm(v);
  return length > 0 ? (1 / length) * v : Vec3<double>{0, 0, 0};
}

/// The axis that both halves of a hinge turn about, as far as they agree.
Vec3<double> middle_axis(const LoopFrames& frames) {
  const Vec3<double> sum = frames.a.R.z + frames.b.R.z;
  return norm2(sum) > 0 ? unit(sum) : frames.a.R.z;
}

/// The elastic force on b: −k d, or along the gap where a length is kept.
Vec3<double> elastic(const Loop& loop, const LoopFrames& frames) {
  if (loop.kind != LoopKind::distance) return -loop.stiffness * frames.gap;
  return -loop.stiffness * (norm(frames.gap) - loop.length) * unit(frames.gap);
}

SpringRows rows_of(const Loop& loop, const Workspace<double>& ws,
                   const LoopFrames& frames) {
  SpringRows rows;
  const Vec3<double> middle = 0.5 * (frames.a.p + frames.b.p);
  const auto move = [&](const Vec3<double>& axis) {
    const int i = rows.count++;
    rows.row[i] = row_at_point<double>(ws, loop.link_a, loop.link_b, middle, axis);
    rows.stiffness[i] = loop.stiffness;
    rows.damping[i] = loop.damping;
    rows.elastic[i] = dot(axis, elastic(loop, frames));
  };
  const auto turn = [&](const Vec3<double>& axis) {
    const int i = rows.count++;
    rows.row[i] = turning(loop, axis);
    rows.stiffness[i] = loop.turn_stiffness;
    rows.damping[i] = loop.turn_damping;
    rows.elastic[i] = -loop.turn_stiffness * dot(axis, frames.turn);
  };
  if (loop.kind == LoopKind::distance) {
    move(unit(frames.gap));
    return rows;
  }
  const Mat3<double>& axes = frames.a.R;
  for (const Vec3<double>& axis : {axes.x, axes.y, axes.z}) move(axis);
  if (loop.kind == LoopKind::hinge) {
    const Vec3<double> z = middle_axis(frames);
    const Vec3<double> x = unit(axes.x - dot(axes.x, z) * z);
    turn(x);
    turn(cross(z, x));
  } else if (loop.kind == LoopKind::weld) {
    for (const Vec3<double>& axis : {axes.x, axes.y, axes.z}) turn(axis);
  }
  return rows;
}

/// The mobility of a row if every joint axis on the way were along the force. A row whose
/// mobility is small against it counts as one that nothing moves.
double natural_mobility(const Tree& tree, const Workspace<double>& ws, int link,
                        Force<double> f, int meeting) {
  double sum = 0;
  for (int i = link; i != meeting; i = tree.link(i).parent) {
    const Link& above = tree.link(i);
    if (!ws.locked[at(i)]) {
      if (above.type == JointType::free) {
        const Motion<double> half = ws.free[at(above.free)].half_solve(f);
        return sum + norm2(half.angular) + norm2(half.linear);
      }
      detail::over_dofs<true>(above.type, [&]<bool linear>(int k) {
        const DofWork<double>& dof = ws.dofs[at(above.v + k)];
        const Vec3<double>& part = linear ? f.force : f.torque;
        sum += dof.inverse * norm2(part);
        f = f - (dot(dof.axis, part) * dof.inverse) * dof.U;
      });
    }
    f = shifted_back(f, ws.links[at(i)].arm);
  }
  return sum;
}

}  // namespace

LoopWorkspace::LoopWorkspace(const Model& model) : forces(model.loops.size()) {
  if (model.loops.empty()) return;
  const std::size_t m = at(model.loop_rows);
  const std::size_t n = at(model.tree.velocity_count());
  axis.resize(m);
  rows.resize(m);
  error.resize(m);
  lambda.resize(m);
  natural.resize(m);
  relative.resize(m);
  halves.resize(m * n);
  matrix.resize(m * m);
  factor.resize(m * m);
  left.resize(m);
  order.resize(m);
  on_links.resize(at(model.tree.link_count()), Force<double>::zero());
  change.resize(n);
  none.resize(n);
  q.resize(at(model.tree.position_count()));
  q_before = q;
}

SpringRows spring_rows(const Loop& loop, const Workspace<double>& ws) noexcept {
  return rows_of(loop, ws, frames_of(loop, ws));
}

double add_loop_springs(const Model& model, const Workspace<double>& ws,
                        Out<Force<double>> on_links, Out<Force<double>> forces) noexcept {
  double loss = 0;
  for (std::size_t i = 0; i < model.loops.size(); ++i) {
    const Loop& loop = model.loops[i];
    if (loop.rigid) continue;
    const LoopFrames frames = frames_of(loop, ws);
    const SpringRows rows = rows_of(loop, ws, frames);
    Force<double> f{-loop.turn_stiffness * frames.turn, elastic(loop, frames)};
    for (int k = 0; k < rows.count; ++k) {
      const double rate = row_rate(ws, {}, rows.row[k]);
      const double damper = -rows.damping[k] * rate;
      loss -= damper * rate;
      const bool turns = norm2(rows.row[k].on_b.force) == 0;
      Vec3<double>& part = turns ? f.torque : f.force;
      part = part + damper * (turns ? rows.row[k].on_b.torque : rows.row[k].on_b.force);
    }
    const Vec3<double> middle = 0.5 * (frames.a.p + frames.b.p);
    add_force_at<double>(ws, loop.link_b, middle, f.force, on_links);
    add_force_at<double>(ws, loop.link_a, middle, -f.force, on_links);
    on_links[at(loop.link_b)].torque = on_links[at(loop.link_b)].torque + f.torque;
    on_links[at(loop.link_a)].torque = on_links[at(loop.link_a)].torque - f.torque;
    f.torque = f.torque - cross(0.5 * frames.gap, f.force);  // at the frame on b
    forces[i] = {transpose_times(frames.a.R, f.torque),
                 transpose_times(frames.a.R, f.force)};
  }
  return loss;
}

double loop_energy(const Model& model, const Workspace<double>& ws) noexcept {
  double twice = 0;
  for (const Loop& loop : model.loops) {
    if (loop.rigid) continue;
    const LoopFrames frames = frames_of(loop, ws);
    const double far = norm(frames.gap) - loop.length;
    twice += loop.stiffness *
             (loop.kind == LoopKind::distance ? far * far : norm2(frames.gap));
    twice += loop.turn_stiffness * norm2(frames.turn);
  }
  return 0.5 * twice;
}

void loop_errors(const Model& model, const Workspace<double>& ws,
                 LoopWorkspace& loops) noexcept {
  for (const Loop& loop : model.loops) {
    if (!loop.rigid) continue;
    const LoopFrames frames = frames_of(loop, ws);
    double* c = loops.error.data() + loop.row;
    if (loop.kind == LoopKind::distance) {
      c[0] = norm(frames.gap) - loop.length;
      continue;
    }
    store(transpose_times(frames.a.R, frames.gap), c);
    if (loop.kind == LoopKind::point) continue;
    const Vec3<double> turn = transpose_times(frames.a.R, frames.turn);
    c[3] = turn.x;
    c[4] = turn.y;
    if (loop.kind == LoopKind::weld) c[5] = turn.z;
  }
}

void place_loops(const Model& model, const Workspace<double>& ws,
                 LoopWorkspace& loops) noexcept {
  for (const Loop& loop : model.loops) {
    if (!loop.rigid) continue;
    const LoopFrames frames = frames_of(loop, ws);
    const Mat3<double>& axes = frames.a.R;
    const auto row = at(loop.row);
    if (loop.kind == LoopKind::distance) {
      const Vec3<double> along = unit(frames.gap);
      loops.axis[row] = norm2(along) > 0 ? along : axes.x;
      loops.rows[row] = moving(loop, ws, frames, loops.axis[row]);
      continue;
    }
    const Vec3<double> all[3] = {axes.x, axes.y, axes.z};
    for (int k = 0; k < loop.rows; ++k) {
      const auto i = row + at(k);
      loops.axis[i] = all[k % 3];
      loops.rows[i] =
          k < 3 ? moving(loop, ws, frames, loops.axis[i]) : turning(loop, loops.axis[i]);
    }
  }
}

void loop_rates(const Workspace<double>& ws, LoopWorkspace& loops) noexcept {
  for (std::size_t i = 0; i < loops.rows.size(); ++i) {
    loops.error[i] = row_rate(ws, {}, loops.rows[i]);
  }
}

void loop_accelerations(const Model& model, const Workspace<double>& ws,
                        bool joints_respond, LoopWorkspace& loops) noexcept {
  // Of a point of a link; gravity, an acceleration of the world, cancels between two.
  const auto acceleration = [&](int link, const Vec3<double>& point) {
    const LinkWork<double>& work = ws.links[at(link)];
    const Motion<double> a = joints_respond ? work.bias + work.response : work.bias;
    const Vec3<double> w = ws.velocities[at(link)].angular;
    const Vec3<double> r = point - ws.poses[at(link)].p;
    return Motion<double>{a.angular,
                          a.linear + cross(a.angular, r) + cross(w, cross(w, r))};
  };
  for (const Loop& loop : model.loops) {
    if (!loop.rigid) continue;
    const Vec3<double> p_a = ws.poses[at(loop.link_a)] * loop.on_a.p;
    const Vec3<double> p_b = ws.poses[at(loop.link_b)] * loop.on_b.p;
    const Motion<double> a =
        acceleration(loop.link_b, p_b) - acceleration(loop.link_a, p_a);
    const Vec3<double> w_a = ws.velocities[at(loop.link_a)].angular;
    const Vec3<double> w = ws.velocities[at(loop.link_b)].angular - w_a;
    const Vec3<double> u =
        point_velocity(ws, loop.link_b, p_b) - point_velocity(ws, loop.link_a, p_a);
    const auto row = at(loop.row);
    if (loop.kind == LoopKind::distance) {
      const Vec3<double>& n = loops.axis[row];
      const double along = dot(n, u);
      loops.error[row] = dot(n, a.linear) +
                         (norm2(u) - along * along) / std::max(norm(p_b - p_a), 1e-300);
      continue;
    }
    // The axes turn with body a.
    for (int k = 0; k < loop.rows; ++k) {
      const Vec3<double>& axis = loops.axis[row + at(k)];
      loops.error[row + at(k)] = k < 3 ? dot(axis, a.linear) + dot(cross(w_a, axis), u)
                                       : dot(axis, a.angular) + dot(cross(w_a, axis), w);
    }
  }
}

void factorise_loops(const Model& model, const Workspace<double>& ws,
                     LoopWorkspace& loops) noexcept {
  inverse_inertia<double>(model.tree, loops.rows, ws, loops.halves, loops.matrix);
  for (const Loop& loop : model.loops) {
    for (int k = 0; k < loop.rows; ++k) {
      const JacobianRow<double>& row = loops.rows[at(loop.row + k)];
      loops.natural[at(loop.row + k)] =
          natural_mobility(model.tree, ws, row.link_a, row.on_a, loop.meeting) +
          natural_mobility(model.tree, ws, row.link_b, row.on_b, loop.meeting);
    }
  }
  std::iota(loops.order.begin(), loops.order.end(), std::size_t{0});
  loops.rank = loops.order.size();
  pivot_loops(dependent, loops);
}

void pivot_loops(double threshold, LoopWorkspace& loops) noexcept {
  const std::size_t m = loops.rows.size();
  const std::size_t count = loops.rank;  // of rows that are looked at
  std::vector<std::size_t>& order = loops.order;
  // In units in which every row's natural mobility is 1.
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = order[k];
    const double natural = loops.natural[i];
    loops.left[i] = natural > 0 ? loops.matrix[i * m + i] / natural : 0;
  }
  std::size_t rank = 0;
  for (; rank < count; ++rank) {
    std::size_t best = rank;
    for (std::size_t k = rank + 1; k < count; ++k) {
      if (loops.left[order[k]] > loops.left[order[best]]) best = k;
    }
    if (!(loops.left[order[best]] > threshold)) break;
    std::swap(order[rank], order[best]);
    const std::size_t i = order[rank];
    const double* of_i = loops.factor.data() + i * m;
    const double pivot = std::sqrt(loops.left[i]);
    loops.factor[i * m + rank] = pivot;
    for (std::size_t k = rank + 1; k < count; ++k) {
      const std::size_t j = order[k];
      if (!(loops.natural[j] > 0)) continue;
      double* of_j = loops.factor.data() + j * m;
      double x = loops.matrix[j * m + i] / std::sqrt(loops.natural[i] * loops.natural[j]);
      for (std::size_t l = 0; l < rank; ++l) x -= of_j[l] * of_i[l];
      of_j[rank] = x / pivot;
      loops.left[j] -= of_j[rank] * of_j[rank];
    }
  }
  loops.rank = rank;
}

void solve_loops(LoopWorkspace& loops) noexcept {
  const std::size_t m = loops.rows.size();
  const std::vector<std::size_t>& order = loops.order;
  std::fill(loops.lambda.begin(), loops.lambda.end(), 0.0);
  for (std::size_t k = 0; k < loops.rank; ++k) {
    const std::size_t i = order[k];
    double x = -loops.error[i] / std::sqrt(loops.natural[i]);
    for (std::size_t l = 0; l < k; ++l) {
      x -= loops.factor[i * m + l] * loops.lambda[order[l]];
    }
    loops.lambda[i] = x / loops.factor[i * m + k];
  }
  for (std::size_t k = loops.rank; k-- > 0;) {
    const std::size_t i = order[k];
    double x = loops.lambda[i];
    for (std::size_t l = k + 1; l < loops.rank; ++l) {
      x -= loops.factor[order[l] * m + k] * loops.lambda[order[l]];
    }
    loops.lambda[i] = x / loops.factor[i * m + k];
  }
  for (std::size_t k = 0; k < loops.rank; ++k) {
    loops.lambda[order[k]] /= std::sqrt(loops.natural[order[k]]);
  }
}

void push_loops(LoopWorkspace& loops) noexcept {
  std::fill(loops.on_links.begin(), loops.on_links.end(), Force<double>::zero());
  for (std::size_t i = 0; i < loops.rows.size(); ++i) {
    add_row(loops.rows[i], loops.lambda[i], loops.on_links, {});
  }
}

void note_loops(const Model& model, const Workspace<double>& ws,
                LoopWorkspace& loops) noexcept {
  for (std::size_t l = 0; l < model.loops.size(); ++l) {
    const Loop& loop = model.loops[l];
    if (!loop.rigid) continue;
    Force<double> f = Force<double>::zero();
    for (int k = 0; k < loop.rows; ++k) {
      Vec3<double>& part = k < 3 ? f.force : f.torque;
      part = part + loops.lambda[at(loop.row + k)] * loops.axis[at(loop.row + k)];
    }
    const Mat3<double> axes = (ws.poses[at(loop.link_a)] * loop.on_a).R;
    loops.forces[l] = {transpose_times(axes, f.torque), transpose_times(axes, f.force)};
  }
}

}  // namespace bristle
