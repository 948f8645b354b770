#include "bristle/step/tree_newton.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

using detail::at;

constexpr int most_steps = 12;  // of Newton's, between two questions to the laws
// The matrix is factorised again where a step leaves more than this of the gap.
constexpr double slow = 0.1;
constexpr std::size_t most_sliding = 32;  // contacts
// Rounding of a stiff tie is carried up the tree: D may be so much of what it moves.
constexpr double stiffest = 1e5;
// A contact that slides and is pressed in by its own friction, so that this much of its
// compliance is left, is left to others: Painlevé's cases begin at 0.
constexpr double jams = 0.1;

/// How much a velocity would change per impulse: what bodies and law yield, in series.
double yield(double mobility, double stiffness) {
  return mobility / (1 + mobility * stiffness);
}

}  // namespace

TreeNewton::TreeNewton(const Model& model)
    : model_(&model),
      none_(at(model.tree.velocity_count())),
      missing_(none_.size()),
      base_(at(model.tree.link_count()), Motion<double>::zero()) {
  for (const LinkConstants<double>& link : model.tree.constants()) {
    const Inertia<double>& inertia = link.inertia;
    LinkBound bound{{0, 0, 0}, HUGE_VAL, HUGE_VAL};
    if (inertia.mass > 0) {
      bound.com = (1 / inertia.mass) * inertia.moment;
      bound.inverse_mass = 1 / inertia.mass;
      const Sym3<double> central =
          inertia.rotational - inertia.mass * point_inertia(bound.com);
      // The sum of the inverses of the principal moments.
      const Ldl3<double> factor = Ldl3<double>::of(central);
      bound.inverse_inertia = factor.solve({1, 0, 0}).x + factor.solve({0, 1, 0}).y +
                              factor.solve({0, 0, 1}).z;
    }
    bounds_.push_back(bound);
  }
}

void TreeNewton::reserve(std::size_t contacts, std::size_t joints) {
  contacts_.reserve(contacts);
  lines_.reserve(joints);
  ties_.reserve(3 * contacts);
  sliding_.reserve(contacts);
  const std::size_t slide = std::min(contacts, most_sliding);
  drags_.reserve(slide * none_.size());
  link_drags_.reserve(slide * base_.size());
  matrix_.reserve(slide * slide);
  left_.reserve(slide * slide);
  right_.reserve(slide);
}

bool TreeNewton::begin(const System& system, const State& state, const TreeRows& rows) {
  contacts_.clear();
  iterations_ = 0;
  const PointPool& pool = system.pools.points;
  const Placement place = system.placement(state.q, state.v);
  for (std::size_t i = 0; i < rows.contacts.size(); ++i) {
    ImpulseRow& row = rows.contacts[i];
    if (row.first < 0) continue;
    const ContactPlace& where = pool.place(i);
    const bool a_moves = where.link_a != world_link;
    if (a_moves == (where.link_b != world_link)) return false;
    const int link = a_moves ? where.link_a : where.link_b;
    const LinkBound& bound = bounds_[at(link)];
    const Transform<double>& pose = system.tree.poses[at(link)];
    const double r2 = norm2(where.point - (pose * bound.com));
    const double mobility = bound.inverse_mass + r2 * bound.inverse_inertia;
    const double stiffness = rows.h * std::max(row.slope, row.drag + row.viscous);
    if (row.rigid || row.viscous > 0 || !(mobility * stiffness <= stiffest)) return false;
    JacobianRow<double> jacobian[PointPool::most_rows];
    pool.jacobian(place, i, jacobian);
    Contact contact{};
    contact.row = i;
    contact.link = link;
    contact.mobility = mobility;
    for (std::size_t k = 0; k < 3; ++k) {
      contact.push[k] = a_moves ? jacobian[k].on_a : jacobian[k].on_b;
    }
    row.first = static_cast<int>(rows_of(contacts_.size()));
    contacts_.push_back(contact);
  }
  return begin_lines(system, rows);
}

/// Of a velocity of a joint: as if it alone held the two links.
double TreeNewton::mobility_of(const System& system, std::size_t dof) const {
  const Tree& tree = model_->tree;
  const int child = tree.dofs()[dof].link;
  const Link& link = tree.link(child);
  const Vec3<double>& origin = system.tree.poses[at(child)].p;
  const bool linear = is_linear(link.type, static_cast<int>(dof) - link.v);
  double mobility = 0;
  for (const int side : {child, link.parent}) {
    if (side == world_link) continue;
    const LinkBound& bound = bounds_[at(side)];
    const double r2 = norm2(origin - (system.tree.poses[at(side)] * bound.com));
    mobility +=
        linear ? bound.inverse_mass + r2 * bound.inverse_inertia : bound.inverse_inertia;
  }
  return 1 / (1 / mobility + system.tree.armature[dof]);
}

/// Limits and friction of joints, and motors.
bool TreeNewton::begin_lines(const System& system, const TreeRows& rows) {
  lines_.clear();
  const auto take = [&](std::size_t row, bool of_motor, std::size_t dof, double sign) {
    const Tree& tree = model_->tree;
    if (tree.link(tree.dofs()[dof].link).type == JointType::free) return false;
    Line line{};
    line.row = row;
    line.of_motor = of_motor;
    line.dof = dof;
    line.sign = sign;
    line.armature = system.tree.armature[dof];
    line.mobility = mobility_of(system, dof);
    renumber(rows, line);
    lines_.push_back(line);
    return line.mobility * line.slope <= stiffest;  // false for NaN
  };
  for (std::size_t i = 0; i < rows.joints.size(); ++i) {
    ImpulseRow& row = rows.joints[i];
    if (row.first < 0) continue;
    const JointRow& joint = *system.pools.joints.joint(i);
    if (row.rigid || row.viscous > 0) return false;
    row.first = static_cast<int>(rows_of(contacts_.size()) + lines_.size());
    if (!take(i, false, at(joint.dof), joint.is_limit ? -joint.sign : 1.0)) return false;
  }
  first_motor_ = rows_of(contacts_.size()) + lines_.size();
  for (std::size_t i = 0; i < rows.motors.size(); ++i) {
    if (rows.motors[i].coupling >= 0) return false;
    if (!take(i, true, at(rows.motors[i].dof), 1)) return false;
  }
  return true;
}

/// The numbers of a line as its row is linearised.
void TreeNewton::renumber(const TreeRows& rows, Line& line) const {
  const double h = rows.h;
  if (line.of_motor) {
    const ImplicitJoints::Row& motor = rows.motors[line.row];
    line.start = h * motor.force;
    line.slope = h * motor.slope;
    line.least = h * motor.least;
    line.most = h * motor.largest;
    return;
  }
  const ImpulseRow& row = rows.joints[line.row];
  if (row.drag > 0) {
    line.slope = h * row.drag;
    line.start = h * row.friction.x + line.slope * row.slip.x;
    line.most = h * row.bound;
    line.least = -line.most;
  } else {
    line.slope = h * row.slope;
    line.start = h * row.force + line.slope * (row.lag_speed - row.rate);
    line.least = 0;
    line.most = unbounded;
  }
}

void TreeNewton::find_diagonal(const TreeRows& rows, std::span<double> diagonal) const {
  const double h = rows.h;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const ImpulseRow& row = rows.contacts[contacts_[c].row];
    double* const own = diagonal.data() + rows_of(c);
    own[0] = contacts_[c].mobility + 1 / (h * row.slope);
    own[1] = own[2] = contacts_[c].mobility + (row.drag > 0 ? 1 / (h * row.drag) : 0);
  }
  double* const own = diagonal.data() + rows_of(contacts_.size());
  for (std::size_t l = 0; l < lines_.size(); ++l) {
    own[l] = lines_[l].mobility + 1 / lines_[l].slope;
  }
}

/// z and D at the velocities of the links.
void TreeNewton::respond(const System& system, const TreeRows& rows,
                         std::span<const double> v) {
  const double h = rows.h;
  for (Line& line : lines_) {
    const double trial = line.start - line.slope * (line.sign * v[line.dof]);
    line.z = std::clamp(trial, line.least, line.most);
    line.inside = trial > line.least && trial < line.most;
  }
  for (Contact& contact : contacts_) {
    const ImpulseRow& row = rows.contacts[contact.row];
    const Motion<double>& moves = system.tree.velocities[at(contact.link)];
    const double slope = h * row.slope, drag = h * row.drag;
    const double pressed = row.lag_speed - row.rate - dot(contact.push[0], moves);
    contact.z[0] = std::max(0.0, h * row.force + slope * pressed);
    contact.z[1] = contact.z[2] = 0;
    contact.slopes = {.normal = contact.z[0] > 0 ? slope : 0};
    if (row.tangents == 0 || !(contact.z[0] > 0)) continue;
    const Vec2<double> slip{dot(contact.push[1], moves), dot(contact.push[2], moves)};
    const Vec2<double> trial =
        h * in_plane(row.friction) - drag * (slip - in_plane(row.slip));
    const double radius = row.mu * contact.z[0], length = norm(trial);
    const bool slides = length > radius;
    const double share = slides ? radius / length : 1;
    contact.z[1] = share * trial.x;
    contact.z[2] = share * trial.y;
    contact.slopes.across = share * drag;
    contact.slopes.along = slides ? 0 : drag;
    if (!slides) continue;
    contact.slopes.follows = row.mu;
    contact.slopes.direction = (1 / length) * trial;
  }
}

/// How far the impulses of the velocities are from those that led to them [m/s].
double TreeNewton::gap(const TreeRows& rows) const noexcept {
  const double h = rows.h;
  double worst = 0;
  for (const Line& line : lines_) {
    const double off =
        yield(line.mobility, line.slope) * std::abs(line.z - line.predicted);
    if (std::isnan(off)) return HUGE_VAL;
    worst = std::max(worst, off);
  }
  for (const Contact& contact : contacts_) {
    const ImpulseRow& row = rows.contacts[contact.row];
    const double drag = h * row.drag;
    worst = std::max(worst, yield(contact.mobility, h * row.slope) *
                                std::abs(contact.z[0] - contact.predicted[0]));
    const double across = norm(Vec2<double>{contact.z[1] - contact.predicted[1],
                                            contact.z[2] - contact.predicted[2]});
    worst = std::max(worst, yield(contact.mobility, drag) * across);
    if (std::isnan(across)) return HUGE_VAL;
  }
  return worst;
}

/// Whether the same rows carry and slide as in the factorised matrix.
bool TreeNewton::same_pattern() const noexcept {
  return std::all_of(
             contacts_.begin(), contacts_.end(),
             [](const Contact& contact) { return contact.slopes.alike(contact.used); }) &&
         std::all_of(lines_.begin(), lines_.end(),
                     [](const Line& line) { return line.inside == (line.used > 0); });
}

/// What is symmetric in D; the matrix will have it from now on.
void TreeNewton::find_ties(Workspace<double>& tree) {
  for (const Line& line : lines_) tree.armature[line.dof] = line.armature;
  for (Line& line : lines_) {
    line.used = line.inside ? line.slope : 0;
    tree.armature[line.dof] += line.used;
  }
  ties_.clear();
  sliding_.clear();
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const Slopes& d = contact.used = contact.slopes;
    if (d.normal == 0) continue;
    ties_.push_back({contact.link, contact.push[0], d.normal});
    if (d.along > 0) {
      ties_.push_back({contact.link, contact.push[1], d.along});
      ties_.push_back({contact.link, contact.push[2], d.along});
    } else if (d.follows > 0) {
      sliding_.push_back(c);
      const Force<double> side =
          -d.direction.y * contact.push[1] + d.direction.x * contact.push[2];
      ties_.push_back({contact.link, side, d.across});
    }
  }
}

/// Friction per normal impulse of a contact that slides.
Force<double> TreeNewton::dragged(const Contact& contact) {
  const Vec2<double> f = contact.used.follows * contact.used.direction;
  return f.x * contact.push[1] + f.y * contact.push[2];
}

double TreeNewton::normal_rate(const System& system, const Contact& contact) const {
  return dot(contact.push[0], system.tree.links[at(contact.link)].response);
}

/// The responses to friction per normal impulse, with the matrix that was factorised
/// last, and n·(these) + 1/D_n. The links' responses stay. False where a contact jams.
bool TreeNewton::find_drags(System& system) {
  const std::size_t n = sliding_.size();
  if (n == 0) return true;
  if (n > most_sliding) return false;
  Workspace<double>& tree = system.tree;
  drags_.resize(n * none_.size());
  link_drags_.resize(n * base_.size());
  matrix_.resize(n * n);
  for (std::size_t l = 0; l < base_.size(); ++l) base_[l] = tree.links[l].response;
  for (std::size_t j = 0; j < n; ++j) {
    const Contact& contact = contacts_[sliding_[j]];
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    system.on_links[at(contact.link)] = dragged(contact);
    solve_mass<double>(model_->tree, none_, system.on_links, tree,
                       std::span(drags_).subspan(j * none_.size(), none_.size()));
    for (std::size_t i = 0; i < n; ++i) {
      matrix_[i * n + j] = normal_rate(system, contacts_[sliding_[i]]);
    }
    for (std::size_t l = 0; l < base_.size(); ++l) {
      link_drags_[j * base_.size() + l] = tree.links[l].response;
    }
    double& own = matrix_[j * n + j];
    own += 1 / contact.used.normal;
    if (!(own * contact.used.normal > jams)) return false;
  }
  for (std::size_t l = 0; l < base_.size(); ++l) tree.links[l].response = base_[l];
  return true;
}

/// Friction of contacts that slide follows their normal impulses: M̂ Δ = g − Σ F q with
/// q = D_n n·Δ, F friction per normal impulse. What is known is Δ for F = 0; the links'
/// responses and `change` get Δ.
bool TreeNewton::follow_bounds(System& system, std::span<double> change) {
  const std::size_t n = sliding_.size();
  if (n == 0) return true;
  left_ = matrix_;
  right_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    right_[i] = normal_rate(system, contacts_[sliding_[i]]);
  }
  if (!dense::eliminate(static_cast<int>(n), left_.data(), right_.data())) return false;
  for (std::size_t j = 0; j < n; ++j) {
    const double q = right_[j];
    const double* own = drags_.data() + j * none_.size();
    for (std::size_t k = 0; k < change.size(); ++k) change[k] -= q * own[k];
    const Motion<double>* links = link_drags_.data() + j * base_.size();
    for (std::size_t l = 0; l < base_.size(); ++l) {
      Motion<double>& response = system.tree.links[l].response;
      response = response - q * links[l];
    }
  }
  return true;
}

/// v and the links go on by so much of the response, and impulses with them: ẑ = z − D J
/// Δ.
void TreeNewton::move(System& system, double scale, std::span<const double> change,
                      std::span<double> v) {
  Workspace<double>& tree = system.tree;
  for (std::size_t k = 0; k < v.size(); ++k) v[k] += scale * change[k];
  for (std::size_t l = 0; l < base_.size(); ++l) {
    tree.velocities[l] = tree.velocities[l] + scale * tree.links[l].response;
  }
  for (Contact& contact : contacts_) {
    const Motion<double> moved = scale * tree.links[at(contact.link)].response;
    const Slopes& d = contact.used;
    const double normal = d.normal * dot(contact.push[0], moved);
    const Vec2<double> slip{dot(contact.push[1], moved), dot(contact.push[2], moved)};
    Vec2<double> across = d.across * slip;
    if (d.follows > 0) {
      across = across + (d.follows * normal - dot(across, d.direction)) * d.direction;
    }
    contact.predicted[0] = contact.z[0] - normal;
    contact.predicted[1] = contact.z[1] - across.x;
    contact.predicted[2] = contact.z[2] - across.y;
  }
  for (Line& line : lines_) {
    line.predicted = line.z - line.used * (scale * line.sign * change[line.dof]);
  }
  ++iterations_;
}

bool TreeNewton::solve_first(System& system, const TreeRows& rows, double tolerance,
                             std::span<double> v) {
  respond(system, rows, v);
  find_ties(system.tree);
  for (const Contact& contact : contacts_) {
    Force<double>& on = system.on_links[at(contact.link)];
    for (int k = 0; k < 3; ++k) on = on + (contact.z[k] / rows.h) * contact.push[k];
  }
  for (const Line& line : lines_) {
    system.tau[line.dof] += line.sign * (line.z / rows.h);
  }
  const Tree& tree = model_->tree;
  tied_dynamics<double>(tree, v, system.tau, system.on_links, ties_, system.tree,
                        system.acceleration);
  if (!find_drags(system) || !follow_bounds(system, system.acceleration)) return false;
  move(system, rows.h, system.acceleration, v);
  return solve_on(system, rows, tolerance, v);
}

bool TreeNewton::solve_again(System& system, const TreeRows& rows, double tolerance,
                             std::span<double> v) {
  for (Line& line : lines_) renumber(rows, line);
  return solve_on(system, rows, tolerance, v);
}

bool TreeNewton::solve_on(System& system, const TreeRows& rows, double tolerance,
                          std::span<double> v) {
  for (int step = 0; step < most_steps; ++step) {
    const double before = residual_;
    respond(system, rows, v);
    residual_ = gap(rows);
    if (residual_ <= tolerance) return true;
    if (!same_pattern() || (step > 0 && residual_ > slow * before)) {
      find_ties(system.tree);
      factorise_tied<double>(model_->tree, ties_, system.tree);
      if (!find_drags(system)) return false;
    }
    std::fill(system.on_links.begin(), system.on_links.end(), Force<double>::zero());
    for (const Contact& contact : contacts_) {
      Force<double>& on = system.on_links[at(contact.link)];
      for (int k = 0; k < 3; ++k) {
        on = on + (contact.z[k] - contact.predicted[k]) * contact.push[k];
      }
    }
    if (!lines_.empty()) std::fill(missing_.begin(), missing_.end(), 0.0);
    for (const Line& line : lines_) {
      missing_[line.dof] += line.sign * (line.z - line.predicted);
    }
    solve_mass<double>(model_->tree, missing_, system.on_links, system.tree,
                       system.acceleration);
    if (!follow_bounds(system, system.acceleration)) return false;
    move(system, 1, system.acceleration, v);
  }
  return false;
}

void TreeNewton::put(const System& system, std::span<const double> v, std::span<double> z,
                     std::span<double> u) const {
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Contact& contact = contacts_[c];
    const Motion<double>& moves = system.tree.velocities[at(contact.link)];
    for (std::size_t k = 0; k < 3; ++k) {
      z[rows_of(c) + k] = contact.predicted[k];
      u[rows_of(c) + k] = dot(contact.push[k], moves);
    }
  }
  const std::size_t first = rows_of(contacts_.size());
  for (std::size_t l = 0; l < lines_.size(); ++l) {
    z[first + l] = lines_[l].predicted;
    u[first + l] = lines_[l].sign * v[lines_[l].dof];
  }
}

}  // namespace bristle
