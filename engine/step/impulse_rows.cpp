#include "bristle/step/impulse_rows.hpp"

#include <algorithm>
#include <cmath>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr double softest = 1e-20;        // of lines [N s/m]: they carry nothing
constexpr double impact_speed = 1e-2;    // below it, rigid contacts do not rebound [m/s]
constexpr double most_trend = 0.2;       // of a force that goes on as it changes
constexpr double any_load = 1e30;        // a load under which nothing slips [N]
constexpr double inside = 1;             // the depth of contacts without one [m]
constexpr double barely_inside = 1e-18;  // of contacts that carry all the same [m]

/// Of the tangents of a contact, in a list by rows of the problem.
Vec3<double> tangents_in(std::span<const double> list, std::size_t first, int tangents) {
  return {list[first + 1], tangents > 1 ? list[first + 2] : 0,
          tangents > 2 ? list[first + 3] : 0};
}

Vec3<double> slip_of(const ImpulseRow& row, std::span<const double> u) {
  if (row.first < 0) return row.free_slip;
  const auto first = at(row.first);
  if (row.tangents == 0) return {u[first], 0, 0};
  return tangents_in(u, first, row.tangents);
}

/// The impulse of friction that its bound holds.
Vec3<double> inside_bound(const ImpulseRow& row, std::span<const double> z) {
  const auto first = at(row.first);
  if (row.tangents == 0) return {z[first], 0, 0};
  return tangents_in(z, first, row.tangents);
}

/// How much a row's velocity would change per impulse that law and solution differ by,
/// were it solved again: what the bodies yield and what the law yields, 1/stiffness, in
/// series.
double yield(double mobility, double stiffness) {
  return mobility > 0 ? mobility / (1 + mobility * stiffness) : 0;
}

/// A direction across a force: along the surface, if it is not due to spin alone.
Vec3<double> across_of(const Vec3<double>& force) {
  const double length = std::hypot(force.x, force.y);
  if (!(length > 0)) return {1, 0, 0};
  return (1 / length) * Vec3<double>{-force.y, force.x, 0};
}

double slope_of(const NormalSlopes<double>& slopes, double h) {
  return h * std::max(0.0, slopes.by_depth) + std::max(0.0, slopes.by_rate);
}

/// The columns of memory, as far as there are rows.
void copy_memory(const LawRows& rows, const std::vector<double>& from,
                 std::vector<double>& to) {
  const std::size_t capacity = rows.capacity();
  if (capacity == 0) return;
  for (std::size_t column = 0; column < from.size(); column += capacity) {
    std::copy_n(from.data() + column, rows.count, to.data() + column);
  }
}

/// Under which the law has the strength of the step's beginning.
double load_at(const LawRow& law, const ImpulseRow& row, const SpinKinematics& kin) {
  const double bound = law.spring(kin, row.load).bound;
  return bound > 0 ? row.load * (row.start_mu * row.load / bound) : row.load;
}

}  // namespace

Vec3<double> across(const ImpulseRow& row, std::span<const double> z) noexcept {
  Vec3<double> sum{0, 0, 0};
  if (row.first < 0) return sum;
  const auto first = at(row.first);
  if (row.tangents > 0) {
    sum = tangents_in(z, first, row.tangents);
  } else if (row.drag > 0) {
    sum = {z[first], 0, 0};
  }
  if (row.damper >= 0) {
    sum.x += z[at(row.damper)];
    if (row.tangents > 1) sum.y += z[at(row.damper) + 1];
    if (row.tangents > 2) sum.z += z[at(row.damper) + 2];
  }
  return sum;
}

void ImpulseRows::begin(LawPool& pool, const LawRows& rows) {
  rows_.reserve(rows.capacity());
  rows_.resize(at(rows.count));
  memory_.resize(rows.memory.size());
  copy_memory(rows, rows.memory, memory_);
  loads_.resize(rows.capacity());
  const LawColumns c = pool.law_columns(rows.memory);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    ImpulseRow& row = rows_[i];
    row.first = -1;
    row.joins = false;
    row.depth = c.depth[i];
    row.lag = rows.lag[i];
    row.start_rate = c.rate[i];
    row.start_slip = {c.slip_x[i], c.slip_y[i], pool.spin_slip(i)};
  }
}

void ImpulseRows::restore(LawRows& rows) const noexcept {
  copy_memory(rows, memory_, rows.memory);
}

void ImpulseRows::begin(const PointPool& pool, const ContactRows& rows) {
  patches_.clear();
  points_ = &pool;
  contacts_ = &rows;
  if (!pool.has_patches()) return;
  patches_.resize(at(rows.count));
  for (std::size_t b = 0; b < pool.blocks().size(); ++b) {
    const LawBlock& laws = pool.blocks()[b];
    if (!laws.volumetric) continue;
    const Columns<const double> memory{
        rows.memory.data() + at(pool.layout().normal) * rows.capacity(), rows.capacity()};
    for (auto i = at(rows.begin[b]); i < at(rows.begin[b + 1]); ++i) {
      if (rows.key[i].empty()) continue;
      const VolumeLaw law = normal_law(laws.normal).volume(laws.normal, memory, i);
      const PatchRow& patch = pool.patch(i);
      patches_[i].begin(patch, pool.value(RowColumns::depth, i),
                        law.stiffness * patch.potential);
    }
  }
}

void ImpulseRows::put_back_patches(LawPool& pool) noexcept {
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    if (patches_[i].is_patch()) pool.put_patch(i, patches_[i].start());
  }
}

/// v_N⁺ ≥ −e v_N⁻ where it closes fast, else v_N⁺ ≥ −gap/h; what has sunk in returns at a
/// bounded speed.
void ImpulseRows::linearise_rigid(const LawRow& law, bool was_open, ImpulseRow& row,
                                  double h) noexcept {
  const double gap = -(row.depth + row.lag);
  row.rigid = true;
  row.closes = was_open && gap < h * row.free_rate;
  if (row.closes && row.start_rate > impact_speed) {
    row.restitution = law.laws.restitution;
    row.least = row.restitution * row.start_rate;
  } else {
    row.least = std::min(-gap / h, return_speed);
  }
}

/// The line at the rate at which the law pushes as it did in the last step. Powers of the
/// depth are found at once; false where some evaluations do not find it.
bool ImpulseRows::linearise_at_load(const LawRow& law, ImpulseRow& row, double h,
                                    double load) noexcept {
  double depth = row.depth + h * row.start_rate;
  if (!(depth > 0)) depth = std::max(std::abs(row.depth), 1e-12);
  for (int k = 0; k < 5; ++k) {
    const double rate = (depth - row.depth) / h;
    const NormalSlopes<double> f = law.normal_slopes(Kinematics<double>::at(depth, rate));
    const double slope = slope_of(f, h);
    if (!(f.force > 0) || !(slope > 0)) return false;
    if (std::abs(f.force - load) <= 1e-2 * load) {
      row.rate = rate;
      row.force = f.force;
      row.slope = slope;
      return true;
    }
    const double power = depth * slope / (h * f.force);
    depth *= std::pow(load / f.force, 1 / std::max(power, 1.0));
  }
  return false;
}

/// The line where the last rate leads, which follows a force that grows or falls; false
/// where the law would not push there about as it did, as stiff ones that settle do not.
bool ImpulseRows::linearise_at_rate(const LawRow& law, ImpulseRow& row, double h,
                                    double load) noexcept {
  const double depth = row.depth + h * row.start_rate;
  if (!(row.depth > 0) || !(depth > 0)) return false;
  const NormalSlopes<double> f =
      law.normal_slopes(Kinematics<double>::at(depth, row.start_rate));
  const double slope = slope_of(f, h);
  if (!(std::abs(f.force - load) < most_trend * load) || !(slope > 0)) return false;
  row.rate = row.start_rate;
  row.force = f.force;
  row.slope = slope;
  return true;
}

void ImpulseRows::linearise_row(const LawRow& law, ImpulseRow& row, double h,
                                double load) noexcept {
  row.first = 0;  // it takes part; the problem will say where
  double depth = std::max(row.depth, 0.0);
  if (law.laws.has_normal_law()) {
    const double touches = -row.depth / h;  // the rate that ends at δ = 0
    const auto jumps = [&] {
      return row.depth <= 0 &&
             law.normal_slopes(Kinematics<double>::at(-1e-9 * row.depth, touches)).force >
                 1e-6 * load;
    };
    if (load > 0 && linearise_at_rate(law, row, h, load)) {
      depth = row.depth + h * row.rate;
      load = row.force;
    } else if (load > 0 && !jumps() && linearise_at_load(law, row, h, load)) {
      depth = row.depth + h * row.rate;
    } else if (row.depth > 0) {
      // Where the last rate leads, or as the paper has it, standing still.
      row.rate = row.start_rate;
      auto kin = Kinematics<double>::at(row.depth + h * row.rate, row.rate);
      NormalSlopes<double> f = law.normal_slopes(kin);
      if (!(kin.depth > 0) || !(f.force > 0)) {
        row.rate = 0;
        kin = Kinematics<double>::at(row.depth, 0);
        f = law.normal_slopes(kin);
      }
      row.force = f.force;
      row.slope = slope_of(f, h);
    } else {
      depth = row.depth + h * row.free_rate;
      if (!(depth > 0)) depth = std::max(-row.depth, 1e-12);
      const double rate = touches + depth / h;
      const double end = law.normal_slopes(Kinematics<double>::at(depth, rate)).force;
      row.jump = law.normal_slopes(Kinematics<double>::at(1e-9 * depth, touches)).force;
      row.rate = touches;
      row.force = 0;
      row.slope = std::max(0.0, end - row.jump) / (rate - touches);
    }
    row.slope = std::max(row.slope, softest);
    if (!(load > 0)) load = row.force;
  }
  linearise_friction(law, row, h, load, depth);
}

void ImpulseRows::linearise_friction(const LawRow& law, ImpulseRow& row, double h,
                                     double load, double depth) noexcept {
  if (law.laws.given_load) load = law.normal_force();
  if (!(load > 0)) load = 1;  // friction is proportional to it
  if (law.laws.rigid) depth = inside;
  const auto kin =
      SpinKinematics::at(law.laws.given_load ? inside : depth, 0, row.start_slip);
  const FrictionSpring<double, 3> f = law.spring(kin, load);
  row.drag = h * f.stiffness + f.damping;
  row.viscous = f.viscous;
  row.bound = f.bound;
  row.mu = row.start_mu = f.bound / load;
  row.slip = {0, 0, 0};
  row.friction = f.elastic_force;
  if (!(row.drag > 0) || !(row.mu > 0)) row.drag = row.mu = 0;
  row.tangents = law.laws.given_load || row.drag == 0 ? 0 : law.laws.spins() ? 3 : 2;
  row.elastic = row.drag > 0 && f.stiffness > 0;
  row.start_drag = row.drag;
  row.start_friction = row.friction;
  row.start_bound = row.bound;
}

/// Where the last rates lead while it presses there, else standing still, else where the
/// free motion leads.
void ImpulseRows::linearise_patch(const LawRow& law, PatchLine& line, ImpulseRow& row,
                                  double h) noexcept {
  const PatchRates free = PatchLine::rates_of(points_->patch(law.i));
  const double speed =
      std::max(std::abs(points_->depth_rate(law.i)), std::abs(line.start().depth_rate()));
  line.rolling = -1;
  line.free = points_->patch(law.i);
  row.free_rate = -free.along;
  if (!row.joins && row.depth <= -2 * h * speed - 1e-12) return;
  row.first = 0;
  PatchRates at = line.start_depth() > 0 ? line.start_rates() : free;
  PatchResponse there = respond(law, *points_, *contacts_, line.start(), at, h);
  if (!(there.force > 0) && line.start_depth() > 0) {
    at = {};
    there = respond(law, *points_, *contacts_, line.start(), at, h);
  }
  line.linearise(at, there);
  row.free_rate = -line.rates(free)[0];
  row.rate = -line.rate[0];
  row.force = line.force[0];
  row.slope = std::max(line.slope[0], softest);
  linearise_friction(law, row, h, there.force, std::max(there.depth, 0.0));
}

ImpulseRows::Line ImpulseRows::line(const LawBlock& laws, const ImpulseRow& row,
                                    double h) const noexcept {
  if (laws.given_load) {
    return {row.free_slip.x - row.slip.x - row.friction.x / row.drag, 1 / (h * row.drag),
            -h * row.bound, h * row.bound};
  }
  const ConeRows rows = cone_rows(row, h);
  return {rows.b[0], rows.compliance[0], 0, unbounded};
}

ConeRows ImpulseRows::cone_rows(const ImpulseRow& row, double h) const noexcept {
  ConeRows rows;
  rows.tangents = row.tangents;
  if (row.rigid) {
    rows.b[0] = -row.free_rate - row.least;
  } else {
    rows.compliance[0] = 1 / (h * row.slope);
    rows.b[0] = -row.free_rate + row.rate - row.force / row.slope;
  }
  rows.friction = row.mu;
  if (row.tangents == 0) return rows;
  rows.b[1] = row.free_slip.x;
  rows.b[2] = row.free_slip.y;
  rows.b[3] = row.free_slip.z;
  if (row.impact) return rows;
  rows.compliance[1] = rows.compliance[2] = rows.compliance[3] = 1 / (h * row.drag);
  rows.b[1] -= row.slip.x + row.friction.x / row.drag;
  rows.b[2] -= row.slip.y + row.friction.y / row.drag;
  rows.b[3] -= row.slip.z + row.friction.z / row.drag;
  return rows;
}

ImpulseRows::Line ImpulseRows::rolling_line(std::size_t i, int axis,
                                            double h) const noexcept {
  const PatchLine& line = patches_[i];
  const auto k = at(axis) + 1;
  const double free = line.rates(PatchLine::rates_of(line.free))[k];
  const double slope = std::max(line.slope[k], softest);
  return {free - line.rate[k] - line.force[k] / slope, 1 / (h * slope), -h * line.bound,
          h * line.bound};
}

ImpulseRows::Line ImpulseRows::damper_line(const ImpulseRow& row, int component,
                                           double h) const noexcept {
  const double most = row.undamped ? 0 : unbounded;
  const double slip = field<double>(row.free_slip, at(component));
  return {slip, 1 / (h * row.viscous), -most, most};
}

void ImpulseRows::put_motion(LawPool& pool, const LawRows& rows,
                             std::span<const double> u, std::span<const double> z,
                             std::span<const double> loads, double h,
                             ConeShape cone) noexcept {
  const LawColumns c = pool.law_columns(memory_);
  const auto depth = pool.column(RowColumns::depth);
  const auto rate = pool.column(RowColumns::rate);
  const auto slip_x = pool.column(RowColumns::slip_x);
  const auto slip_y = pool.column(RowColumns::slip_y);
  pool.for_each_row(rows, c, [&](const LawRow& law) {
    const std::size_t i = law.i;
    ImpulseRow& row = rows_[i];
    if (law.laws.given_load) {
      loads_[i] = c.normal_force[i];
      if (row.first >= 0) slip_x[i] = u[at(row.first)];
      return;
    }
    if (row.first < 0) {
      loads_[i] = 0;
      depth[i] = std::min(row.depth, 0.0);
      return;
    }
    const double normal = z[at(row.first)] / h;
    if (PatchLine* patch = patch_line(i); patch != nullptr) {
      put_patch(pool, law, *patch, row, u, z, h);
      row.load = loads[at(row.first)] / h;
      loads_[i] = row.load;
      if (row.tangents == 0 || !(row.load > 0)) return;
      loads_[i] =
          load_at(law, row, SpinKinematics::at(depth[i], rate[i], slip_of(row, u)));
      return;
    }
    Vec3<double> slip = row.impact ? Vec3<double>{0, 0, 0} : slip_of(row, u);
    double load = loads[at(row.first)] / h;
    if (cone == ConeShape::box && row.tangents > 0 && !row.impact && row.mu > 0) {
      const Vec3<double> force = (1 / h) * inside_bound(row, z);
      if (norm(force) >= (1 - 1e-9) * row.mu * load) {
        slip = row.slip + (1 / row.drag) * (row.friction - force);
        load = (1 - 1e-12) * norm(force) / row.mu;
      }
    }
    rate[i] = row.lag_speed - u[at(row.first)];
    slip_x[i] = slip.x;
    slip_y[i] = slip.y;
    depth[i] = row.rigid ? (normal > 0 ? inside : -inside) : row.depth + h * rate[i];
    // What carries is closed, also where its depth is zero to rounding.
    if (normal > 0) depth[i] = std::max(depth[i], barely_inside);
    row.load = load;
    loads_[i] = row.impact ? any_load : load;
    if (row.impact || row.tangents == 0 || !(load > 0)) return;
    loads_[i] = load_at(law, row, SpinKinematics::at(depth[i], rate[i], slip));
  });
}

/// The overlap that the solution leads to.
void ImpulseRows::put_patch(LawPool& pool, const LawRow& law, PatchLine& line,
                            const ImpulseRow& row, std::span<const double> u,
                            std::span<const double> z, double h) noexcept {
  const auto first = at(row.first);
  std::array<double, 3> own = line.rates(PatchLine::rates_of(line.free));
  own[0] = u[first];
  if (line.rolling >= 0) {
    own[1] = u[at(line.rolling)];
    own[2] = u[at(line.rolling) + 1];
  }
  line.solved = line.rates_from(own);
  line.found = respond(law, *points_, *contacts_, line.start(), line.solved, h);
  const std::size_t i = law.i;
  const PatchRow& patch = line.found.patch;
  const Vec3<double> slip = slip_of(row, u);
  const bool carries = z[first] > 0;
  const double depth =
      carries ? std::max(line.found.depth, barely_inside) : line.found.depth;
  pool.column(RowColumns::depth)[i] = depth;
  pool.column(RowColumns::rate)[i] = patch.approach_at(patch.centroid);
  pool.column(RowColumns::slip_x)[i] = slip.x;
  pool.column(RowColumns::slip_y)[i] = slip.y;
  pool.put_patch(i, patch);
  // Friction that follows the depth gets the way from the depth at the step's beginning.
  pool.put_depth_rate(i, (depth - line.start_depth()) / h);
  // By the radius of gyration that the row of J has.
  if (law.laws.spins()) pool.put_spin_slip(i, slip.z);
}

LawSums ImpulseRows::advance(LawPool& pool, LawRows& rows, double h) noexcept {
  return pool.forces(rows, memory_, rows.memory,
                     {.form = Form::advance, .h = h, .loads = loads_.data()});
}

/// A line through the solution that was found, as steep as the law is there. Where the
/// law is not smooth, at its clamp, the chord from the last solution is steeper and keeps
/// the next one from going too far.
void ImpulseRows::improve_normal(const LawRow& law, ImpulseRow& row, double found,
                                 double rate, bool worse, double h) noexcept {
  double slope = row.slope;
  if (found > 0) {
    slope = slope_of(law.normal_slopes(law.kinematics()), h);
    if (worse && row.solved_before && rate != row.last_rate) {
      slope = std::max(slope, (found - row.last_force) / (rate - row.last_rate));
    }
  }
  row.last_rate = rate;
  row.last_force = found;
  row.solved_before = true;
  row.rate = rate;
  row.force = found;
  row.slope = std::max(slope, softest);
}

/// The line that the step began with, once, where the law lies near it or near its bound:
/// that of a bristle is exact, and lines through its corners are not.
bool ImpulseRows::begin_again(ImpulseRow& row, Vec3<double> own,
                              Vec3<double> slip) noexcept {
  if (row.began_again) return false;
  const double normal = row.load;
  const double bound = normal > 0 ? row.start_mu * normal : row.start_bound;
  Vec3<double> line = row.start_friction - row.start_drag * slip;
  const double length = norm(line);
  const bool slides = length > bound;
  if (slides) line = (bound / length) * line;
  if (norm(line - own) > 0.05 * bound) return false;
  row.slip = {0, 0, 0};
  row.drag = row.start_drag;
  row.friction = row.start_friction;
  row.bound = slides ? norm(own) : row.start_bound;
  row.mu = slides && normal > 0 ? norm(own) / normal : row.start_mu;
  row.began_again = true;
  return true;
}

/// How much less the law pushes along d where the slip along it is larger by `step`, per
/// slip: of what its bound holds [N s/m].
double ImpulseRows::slope_along(const LawRow& law, const ImpulseRow& row,
                                Vec3<double> own, Vec3<double> d, double step,
                                double h) const noexcept {
  SpinKinematics kin = law.friction_kinematics();
  kin.slip = kin.slip + step * d;
  const double load = law.laws.given_load ? loads_[law.i] : load_at(law, row, kin);
  const Vec3<double> there =
      law.friction_step_force(kin, load, h) + row.viscous * kin.slip;
  return dot(own - there, d) / step;
}

/// Where it slides, the law's own strength and direction: the trial force is twice as
/// long as the bound, and turns with the slip as the law's force does.
bool ImpulseRows::slide_on(const LawRow& law, ImpulseRow& row, Vec3<double> own,
                           double off, double h) noexcept {
  const Vec3<double> slip = law.friction_kinematics().slip;
  const double speed = norm(slip), strength = norm(own);
  if (!(speed > 0) || !(strength > 0)) return false;
  double turns = strength / speed;
  if (row.tangents > 1) {
    const Vec3<double> aside = across_of(own);
    const double found = slope_along(law, row, own, aside, off, h);
    if (found > 1e-3 * turns) turns = found;
  }
  row.slip = slip;
  row.friction = 2.0 * own;
  row.drag = 2 * turns;
  row.bound = strength;
  if (row.load > 0) row.mu = strength / row.load;
  return true;
}

/// Where it sticks, the chord of the law towards where the next solution is expected: the
/// slip changes along what law and solution differ by, `missing`, by `off` [m/s]. Where
/// that has led further away, a steeper line through the best point of the law so far:
/// it leads less far. A law that falls with slip gets a line that is soft against the
/// `resistance` of the bodies, 1/(h A) [N s/m].
void ImpulseRows::hold_on(const LawRow& law, ImpulseRow& row, Vec3<double> own,
                          Vec3<double> missing, double off, double resistance,
                          double h) noexcept {
  const double apart = norm(missing);
  if (row.best_apart > 0 && apart > 2 * row.best_apart && row.failures < 2) {
    ++row.failures;
    row.drag *= 4;
    own = row.best_friction;
    row.slip = row.best_slip;
  } else {
    const double slope = slope_along(law, row, own, (1 / apart) * missing, off, h);
    row.drag = row.steepness = std::max(slope, 1e-2 * resistance);
    row.failures = 0;
    row.best_apart = apart;
    row.best_slip = row.slip = law.friction_kinematics().slip;
    row.best_friction = own;
  }
  row.friction = own;
  row.bound = std::max(row.bound, norm(own));
  if (row.load > 0) row.mu = std::max(row.mu, norm(own) / row.load);
}

/// The lines again where the solution leads, if the law disagrees there; by how much
/// [m/s].
double ImpulseRows::improve_patch(PatchLine& line, ImpulseRow& row,
                                  std::span<const double> z,
                                  std::span<const double> diagonal, double h,
                                  double tolerance) noexcept {
  const PatchResponse& found = line.found;
  const std::array<double, 3> forces = line.forces(found.force, found.couple);
  const double reach = found.patch.gyration();
  double off = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (k > 0 && line.rolling < 0) break;
    const std::size_t place = k == 0 ? at(row.first) : at(line.rolling) + k - 1;
    const double slope = std::max(line.slope[k], softest);
    const double by_row = yield(diagonal[place] - 1 / (h * slope), h * slope) *
                          std::abs(h * forces[k] - z[place]);
    off = std::max(off, k == 0 ? by_row : reach * by_row);
  }
  if (off <= tolerance) return off;
  const bool worse = row.last_normal_off > 0 && off > 0.5 * row.last_normal_off;
  row.last_normal_off = off;
  const std::array<double, 3> before = line.slope;
  line.linearise_again(line.solved, found);
  if (!(found.force > 0)) line.slope = before;
  // Where that did not help, a chord that leads less far.
  const double rate = -line.rate[0];
  if (worse && row.solved_before && rate != row.last_rate) {
    line.slope[0] =
        std::max(line.slope[0], (found.force - row.last_force) / (rate - row.last_rate));
  }
  row.last_rate = rate;
  row.last_force = found.force;
  row.solved_before = true;
  row.rate = rate;
  row.force = found.force;
  row.slope = std::max(line.slope[0], softest);
  return off;
}

ImpulseRows::Disagreement ImpulseRows::improve(LawPool& pool, const LawRows& rows,
                                               std::span<const double> z,
                                               std::span<const double> diagonal, double h,
                                               double tolerance,
                                               ConeShape cone) noexcept {
  const LawColumns c = pool.law_columns(memory_);
  Disagreement worst;
  const auto note = [&worst](double off, std::size_t i) {
    if (off > worst.speed) worst = {off, static_cast<int>(i)};
  };
  pool.for_each_row(rows, c, [&](const LawRow& law) {
    const std::size_t i = law.i;
    ImpulseRow& row = rows_[i];
    if (row.first < 0) return;
    const auto first = at(row.first);
    if (PatchLine* patch = patch_line(i); patch != nullptr) {
      note(improve_patch(*patch, row, z, diagonal, h, tolerance), i);
    } else if (law.laws.has_normal_law()) {
      const double found = std::max(0.0, c.normal_force[i] - row.jump);
      const double off = yield(diagonal[first] - 1 / (h * row.slope), h * row.slope) *
                         std::abs(h * found - z[first]);
      note(off, i);
      if (off > tolerance) {
        const bool worse = row.last_normal_off > 0 && off > 0.5 * row.last_normal_off;
        row.last_normal_off = off;
        improve_normal(law, row, found, c.rate[i], worse, h);
      }
    }
    if (row.drag == 0 || row.impact) return;
    const double bound = h * (law.laws.given_load ? row.bound : row.mu * row.load);
    const bool slides = norm(inside_bound(row, z)) >= (1 - 1e-9) * bound;
    if (cone == ConeShape::box && row.tangents > 0 && slides) return;
    // Bounds of the last step may let friction outlast the contact.
    if (row.tangents > 0 && !(z[first] > 0) && row.load > 0) return;
    const std::size_t of = law.laws.given_load ? first : first + 1;
    const Vec3<double> found{c.friction_x[i], c.friction_y[i], pool.spin_friction(i)};
    const Vec3<double> missing = h * found - across(row, z);
    const double mobility = diagonal[of] - 1 / (h * row.drag);
    const double off =
        yield(mobility, h * (row.steepness > 0 ? row.steepness : row.drag)) *
        norm(missing);
    note(off, i);
    if (off <= tolerance) return;
    // Viscous friction ends with the contact.
    const bool open = row.tangents > 0 && !(row.load > 0);
    if (row.damper >= 0 && row.undamped != open && row.switched < 3) {
      row.undamped = open;
      ++row.switched;
      if (open) return;
    }
    const bool worse = row.last_off > 0 && off > row.last_off;
    row.last_off = off;
    const Vec3<double> slip = law.friction_kinematics().slip;
    const Vec3<double> own = found + row.viscous * slip;
    if (worse && begin_again(row, own, slip)) return;
    if (slides && !worse && slide_on(law, row, own, off, h)) return;
    hold_on(law, row, own, missing, off, 1 / (h * mobility), h);
  });
  return worst;
}

/// What the impulses did, less what the law counts, is the damper's; what the overlap
/// that the step thinks of would store is compared with the law's elastic force at the
/// end. Returns that energy.
double ImpulseRows::finish_patch(const LawRow& law, const PatchLine& line,
                                 const ImpulseRow& row, std::span<const double> u,
                                 std::span<const double> z, double h,
                                 ImpulseLedger& ledger) noexcept {
  double supplied = -z[at(row.first)] * u[at(row.first)];
  for (std::size_t k = 0; line.rolling >= 0 && k < 2; ++k) {
    supplied -= z[at(line.rolling) + k] * u[at(line.rolling) + k];
  }
  const PatchRow& patch = line.found.patch;
  const double approach = patch.approach_at(patch.centroid);
  const double stiffness = law.volume_law().stiffness;
  const double force = law.columns.normal_force[law.i];
  ledger.normal_damping +=
      supplied - h * (force * approach + points_->patch(law.i).rolling_power);
  const double stored = stiffness * patch.potential;
  ledger.numerical +=
      h * stiffness * patch.volume * approach - (stored - line.start_energy());
  return stored;
}

/// The same of a point's normal row, with its rate at the end and the force that the law
/// has there.
void ImpulseRows::finish_point(const LawRow& law, const LawRow& as_it_was,
                               const ImpulseRow& row, double normal, double force,
                               double rate, double h, ImpulseLedger& ledger) noexcept {
  if (row.rigid) {
    // At the mean velocity an impact loses what it loses; what has sunk in and
    // returns is lifted by nobody.
    const double lost = 0.5 * normal * (row.start_rate + rate);
    if (row.closes) {
      ledger.normal_damping += lost;
      ledger.numerical -= 0.5 * normal * (row.start_rate - rate);
    } else {
      ledger.regenerated -= normal * rate;
    }
  } else {
    ledger.normal_damping += (normal - h * force) * rate;
    const double deep = row.depth + h * rate;
    const double elastic =
        law.normal_slopes(Kinematics<double>::at(deep, rate)).static_force;
    const double gained = law.normal_energy(std::max(deep, 0.0)) -
                          as_it_was.normal_energy(std::max(row.depth, 0.0));
    ledger.numerical += elastic * h * rate - gained;
    ledger.regenerated += normal * row.lag_speed;
  }
}
ImpulseLedger ImpulseRows::finish(LawPool& pool, LawRows& rows, std::span<const double> u,
                                  std::span<const double> z, double h) noexcept {
  ImpulseLedger ledger;
  const LawColumns before = pool.law_columns(memory_);
  const LawColumns after = pool.law_columns(rows.memory);
  const auto normal_force = pool.column(RowColumns::normal);
  const auto friction_x = pool.column(RowColumns::friction_x);
  const auto friction_y = pool.column(RowColumns::friction_y);
  double* travel = rows.memory.data() + at(MemoryLayout::travel) * rows.capacity();
  pool.for_each_row(rows, after, [&](const LawRow& law) {
    const std::size_t i = law.i;
    const ImpulseRow& row = rows_[i];
    rows.impulse[i] = {};
    travel[i] = 0;
    const PatchLine* patch = patch_line(i);
    const auto friction_energy = [&](double depth) {
      return law.friction_energy(std::max(depth, 0.0), 0);
    };
    if (patch != nullptr) {
      travel[i] = patch->start_energy() + friction_energy(row.depth);
    }
    if (row.first < 0) return;
    const auto first = at(row.first);
    const LawRow as_it_was{law.laws, before, i};
    const double rate = after.rate[i];
    const Vec3<double> slip = slip_of(row, u);
    const Vec3<double> pushed = across(row, z);
    rows.impulse[i].across = in_plane(pushed);
    rows.impulse[i].spin = pushed.z;
    if (patch != nullptr) {
      rows.impulse[i].normal = z[first];
      travel[i] = finish_patch(law, *patch, row, u, z, h, ledger) +
                  friction_energy(after.depth[i]);
      normal_force[i] = z[first] / h;
    } else if (!law.laws.given_load) {
      const double normal = z[first];
      rows.impulse[i].normal = normal;
      travel[i] = h * rate;
      finish_point(law, as_it_was, row, normal, after.normal_force[i], rate, h, ledger);
      normal_force[i] = normal / h;
    }
    const Vec3<double> of_law{after.friction_x[i], after.friction_y[i],
                              pool.spin_friction(i)};
    if (row.impact) {
      ledger.friction_slip -= 0.5 * dot(pushed, slip + row.start_slip);
      ledger.numerical -= 0.5 * dot(pushed, slip - row.start_slip);
    } else if (row.drag > 0) {
      const Vec3<double> seen = law.friction_kinematics().slip;  // by the law
      ledger.friction_slip -=
          dot(pushed - h * of_law, slip) + h * dot(of_law, slip - seen);
    }
    if (row.elastic && !row.impact) {
      // ½K|Δs|² of backward Euler, which the law counts to its damper.
      const SpinKinematics kin = law.friction_kinematics();
      const FrictionSpring<double, 3> now = law.spring(kin, loads_[i]);
      const Vec3<double> change =
          now.elastic_force - as_it_was.spring(kin, loads_[i]).elastic_force;
      if (now.stiffness > 0) ledger.stretched += norm2(change) / (2 * now.stiffness);
    }
    friction_x[i] = pushed.x / h;
    friction_y[i] = pushed.y / h;
    pool.put_spin_friction(i, pushed.z / h);
  });
  return ledger;
}

}  // namespace bristle
