#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "bristle/complementarity/solvers.hpp"
#include "studies/peiret.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

using namespace peiret;

constexpr std::size_t legs = 4;
constexpr std::array<Vec2<double>, legs> feet{
    {{0.5, 0.3}, {0.5, -0.3}, {-0.5, 0.3}, {-0.5, -0.3}}};  // from its middle [m]
constexpr double height = 0.7;                              // of the centre of mass [m]
constexpr double x2 = 1, y2 = 0.36;                         // Σx², Σy² [m²]
constexpr int starts = 20;

struct Table {
  double mass, mu, kn, dn, kt, dt, duration;
  Vec2<double> centre;
  Vec3<double> load;  // F_x, F_y [N], M_z [N m]
  double weight() const { return mass * gravity; }
  Table unloaded() const {
    Table same = *this;
    same.load = {0, 0, 0};
    return same;
  }
};

Table table_of(const Values& values) {
  return {.mass = values["mass"],
          .mu = values["mu"],
          .kn = values["kn"],
          .dn = values["dn"],
          .kt = values["kt"],
          .dt = values["dt"],
          .duration = values["duration"],
          .centre = {values["offset_x"], values["offset_y"]},
          .load = {values["load_x"], values["load_y"], values["load_mz"]}};
}

/// n = c₀ + c₁x + c₂y, in equilibrium with the weight and the load, `share` of it.
struct Plane3 {
  double c0, c1, c2;
  double operator()(const Vec2<double>& p) const { return c0 + c1 * p.x + c2 * p.y; }
};
Plane3 plane_of(const Table& table, double share) {
  return {0.25 * table.weight(),
          (table.weight() * table.centre.x + share * height * table.load.x) / x2,
          (table.weight() * table.centre.y + share * height * table.load.y) / y2};
}

Model model_of(const Table& table) {
  ModelBuilder builder;
  builder.gravity({0, 0, -gravity});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  // A plate of 1.2 m × 0.8 m.
  const double about_x = table.mass * 0.8 * 0.8 / 12,
               about_y = table.mass * 1.2 * 1.2 / 12;
  builder.add_body(
      {.name = "table",
       .mass = table.mass,
       .inertia = Sym3<double>::diagonal(about_x, about_y, about_x + about_y)});
  builder.add_joint({.name = "stands", .child = "table", .type = JointType::free});
  for (std::size_t i = 0; i < legs; ++i) {
    ShapeSpec foot{.name = "leg " + std::to_string(i + 1), .body = "table"};
    foot.pose.p = {feet[i].x - table.centre.x, feet[i].y - table.centre.y, -height};
    builder.add_shape(foot);
  }
  builder.add_contact({.normal = choose<KelvinVoigt>(
                           {.stiffness = table.kn, .damping = table.dn, .clamp = 1}),
                       .friction = bristle(table.mu, table.kt, table.dt)});
  // Of a free joint: turns about z, moves along x and y.
  const std::array axes{3, 4, 2};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    builder.add_motor(
        {.name = "load " + std::to_string(i), .joint = "stands", .axis = axes[i]});
  }
  return built(builder);
}

/// The table on its legs, each as deep as its share of the weight wants it.
State placed(const Table& table, const Model& model) {
  const Plane3 n = plane_of(table, 0);
  State state = make_state(model);
  store(Vec3<double>{0, 0, height - n(table.centre) / table.kn}, state.q.data());
  const Quaternion<double> turned =
      rotation_exp(Vec3<double>{-n.c2 / table.kn, n.c1 / table.kn, 0});
  store(turned, state.q.data() + 3);
  return state;
}

/// Normal force and friction on the table, leg by leg.
using Forces = std::array<Vec3<double>, legs>;

Forces forces_of(const State& state) {
  Forces forces{};
  const ContactRows& rows = state.contacts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.count); ++i) {
    if (rows.key[i].empty()) continue;
    const RowImpulse& z = rows.impulse[i];
    const Vec3<double> force =
        z.normal * rows.frame[i].n + rows.frame[i].to_world(z.across);
    forces[rows.key[i].b - 1] = (1 / state.impulse_step) * force;
  }
  return forces;
}

std::array<MotorCommand, 3> commands_at(const Table& table, double t) {
  const double share = std::min(1.0, t / (0.5 * table.duration));
  return {{{.torque = share * table.load.x},
           {.torque = share * table.load.y},
           {.torque = share * table.load.z}}};
}

FixedStepOptions options_of(double h, std::string_view solver) {
  return {.method = Method::complementarity,
          .step = h,
          .complementarity = {.solver = solver, .tolerance = 1e-12}};
}

constexpr std::array components{&Vec3<double>::x, &Vec3<double>::y, &Vec3<double>::z};

/// The largest and the least of forces.
struct Extremes {
  Forces least, largest;

  Extremes() {
    least.fill({HUGE_VAL, HUGE_VAL, HUGE_VAL});
    largest.fill({-HUGE_VAL, -HUGE_VAL, -HUGE_VAL});
  }
  void see(const Forces& forces) {
    for (std::size_t i = 0; i < legs; ++i) {
      for (const auto k : components) {
        least[i].*k = std::min(least[i].*k, forces[i].*k);
        largest[i].*k = std::max(largest[i].*k, forces[i].*k);
      }
    }
  }
  double spread() const {
    double most = 0;
    for (std::size_t i = 0; i < legs; ++i) {
      for (const auto k : components) most = std::max(most, largest[i].*k - least[i].*k);
    }
    return most;
  }
};

/// Of one step from the same state, with impulses guessed at random, under each solver
/// that solves it to the tolerance; not a number where the preset one does not.
double spread_of(const Table& table, const Model& model, const State& state, double h) {
  std::mt19937_64 random(20);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * 0x1p-53 * static_cast<double>(random() >> 11);
  };
  const double size = h * table.weight();
  const auto commands = commands_at(table, table.duration);
  Extremes all;
  bool solved = true;
  for_each_solver(Solvers{}, [&]<class S>() {
    FixedStepOptions options = options_of(h, S::info.name);
    options.complementarity.strict = true;
    FixedStep stepper(model, options);
    for (int start = 0; start < starts; ++start) {
      State next = state;
      for (RowImpulse& z : next.contacts.impulse) {
        z.normal = uniform(0, 2 * size);
        z.across = {uniform(-size, size), uniform(-size, size)};
      }
      if (stepper.step(next, commands) == StepStatus::ok) {
        all.see(forces_of(next));
      } else if (S::info.name == ComplementarityOptions{}.solver) {
        solved = false;
      }
    }
  });
  return solved ? all.spread() : std::nan("");
}

struct Standing {
  Forces forces{};
  double change = 0;  // the largest of a force in the last twentieth of the run [N]
  double spread = std::nan("");
  Series normal[legs], friction[legs];
  std::string trouble;
};

Standing stand(const Table& table, double h) {
  const Model model = model_of(table);
  FixedStep stepper(model, options_of(h, ComplementarityOptions{}.solver));
  State state = placed(table, model);
  Standing found;
  const auto steps = static_cast<long>(std::round(table.duration / h));
  const long shown = std::max(1L, steps / 1000);
  Extremes late;
  for (long k = 1; k <= steps; ++k) {
    const auto commands = commands_at(table, static_cast<double>(k) * h);
    const StepStatus status = stepper.step(state, commands);
    if (status != StepStatus::ok) {
      found.trouble =
          "at t = " + std::to_string(state.time) + " s: " + std::string(explain(status));
      return found;
    }
    const Forces forces = forces_of(state);
    if (20 * k > 19 * steps) late.see(forces);
    if (k % shown != 0) continue;
    for (std::size_t i = 0; i < legs; ++i) {
      found.normal[i].add(state.time, forces[i].z);
      found.friction[i].add(state.time, std::hypot(forces[i].x, forces[i].y));
    }
  }
  found.forces = forces_of(state);
  found.change = late.spread();
  found.spread = spread_of(table, model, state, h);
  return found;
}

/// What the legs share in equilibrium: normals in a plane, and of all frictions the ones
/// of least norm, −F/4 and a turn about the middle.
Forces expected(const Table& table) {
  const Plane3 n = plane_of(table, 1);
  const Vec2<double> c = table.centre;
  const double moment = table.load.z + c.x * table.load.y - c.y * table.load.x;
  const double turn = 0 - moment / (x2 + y2);
  Forces forces;
  for (std::size_t i = 0; i < legs; ++i) {
    forces[i] = {0 - 0.25 * table.load.x - turn * feet[i].y,
                 0 - 0.25 * table.load.y + turn * feet[i].x, n(feet[i])};
  }
  return forces;
}

/// Whether every leg carries something and holds, by a hundredth.
bool holds(const Table& table, const Forces& forces) {
  return std::all_of(forces.begin(), forces.end(), [&](const Vec3<double>& f) {
    return f.z > 0 && std::hypot(f.x, f.y) < 0.99 * table.mu * f.z;
  });
}

/// Where every leg holds and the table has come to rest, bounds play no part.
void check(const Table& table, double h, const Standing& found, Outcome& outcome) {
  const Forces forces = expected(table);
  if (!holds(table, forces) || !holds(table, expected(table.unloaded()))) return;
  if (!(found.change < 1e-5)) return;
  // The residual that a step may have, 1e-14 of its free velocity g h, over C_N.
  const double solved = 1e-14 * gravity * h * (h * table.kn + table.dn);
  outcome.checks.push_back({"largest difference among the starts [N]", found.spread, 0,
                            1e-6 + solved, "C > 0: the answer is unique"});
  // The legs give way: the table tilts by c/kn, which moves the centre of mass by the
  // height of that, and turns by M/(kt Σr²), which turns the load in it.
  const Plane3 n = plane_of(table, 1);
  const double tilt = std::hypot(n.c1, n.c2) / table.kn;
  const double load = std::hypot(table.load.x, table.load.y);
  const double moment = std::fabs(table.load.z) + norm(table.centre) * load;
  const double turn = moment / (table.kt * (x2 + y2));
  const double off_normal =
      height * (table.weight() + load) * (tilt + turn) * (0.5 / x2 + 0.3 / y2);
  const double off_friction = (load + moment) * (tilt + turn) + table.kt * tilt * tilt;
  for (std::size_t i = 0; i < legs; ++i) {
    const std::string leg = " of leg " + std::to_string(i + 1);
    outcome.checks.push_back({"normal force" + leg + " [N]", found.forces[i].z,
                              forces[i].z, 1e-4 + solved + off_normal,
                              "c₀ + c₁x + c₂y in equilibrium"});
    outcome.checks.push_back({"friction along x" + leg + " [N]", found.forces[i].x,
                              forces[i].x, 1e-4 + off_friction,
                              "equilibrium of least norm"});
    outcome.checks.push_back({"friction along y" + leg + " [N]", found.forces[i].y,
                              forces[i].y, 1e-4 + off_friction,
                              "equilibrium of least norm"});
  }
}

/// Largest differences from equilibrium on legs too stiff to tilt the table, loaded.
void check_stiff(const Table& table, double h, Outcome& outcome) {
  Table stiff = table;
  stiff.kn = stiff.kt = 1e9;
  stiff.load = {20, 10, 5};
  const Standing found = stand(stiff, h);
  const Forces forces = expected(stiff);
  double normal = 0, friction = 0;
  for (std::size_t i = 0; i < legs; ++i) {
    const Vec3<double> off = found.forces[i] - forces[i];
    normal = std::max(normal, std::fabs(off.z));
    friction = std::max({friction, std::fabs(off.x), std::fabs(off.y)});
  }
  outcome.checks.push_back({"normal forces off c₀ + c₁x + c₂y, stiff and loaded [N]",
                            normal, 0, 1e-4, "equilibrium"});
  outcome.checks.push_back({"frictions off those of least norm, stiff and loaded [N]",
                            friction, 0, 1e-4, "equilibrium"});
  outcome.checks.push_back({"largest difference among the starts, stiff and loaded [N]",
                            found.spread, 0, 1e-6, "C > 0: the answer is unique"});
}

void draw(const Table& table, double h, const Standing& found, Outcome& outcome) {
  std::vector<report::Curve> normals, frictions;
  for (std::size_t i = 0; i < legs; ++i) {
    const std::string label = "leg " + std::to_string(i + 1);
    normals.push_back({label, found.normal[i].x, found.normal[i].y});
    frictions.push_back({label, found.friction[i].x, found.friction[i].y});
  }
  report::Curve off{"largest difference", {}, {}};
  off.marker = report::Marker::circle;
  for (double kn = 1e5; kn < 2e10; kn *= 10) {
    Table other = table;
    other.kn = kn;
    other.duration = 1;
    const Standing now = stand(other, h);
    const Forces plane = expected(other);
    double largest = 0;
    for (std::size_t i = 0; i < legs; ++i) {
      largest = std::max(largest, std::fabs(now.forces[i].z - plane[i].z));
    }
    off.x.push_back(kn);
    off.y.push_back(largest);
  }
  outcome.figures = {
      {.title = "A table on four legs",
       .note = "Rigid legs leave the forces open; relaxed rows share them uniquely",
       .panels = {{.title = "Normal forces",
                   .x_label = "time [s]",
                   .y_label = "force [N]",
                   .curves = normals},
                  {.title = "Friction",
                   .x_label = "time [s]",
                   .y_label = "force [N]",
                   .curves = frictions},
                  {.title = "Normal forces from c₀ + c₁x + c₂y, after 1 s",
                   .x_label = "stiffness of a leg [N/m]",
                   .y_label = "difference [N]",
                   .curves = {off},
                   .log_x = true,
                   .log_y = true}},
       .columns = 2}};
}

Result<Outcome> run(Values& values, bool with_figure) {
  if (auto problem = too_many_steps(values)) return *problem;
  const Table table = table_of(values);
  const Standing found = stand(table, values["h"]);
  Outcome outcome;
  outcome.trouble = found.trouble;
  constexpr std::array<std::string_view, 3 * legs> names{
      "n1", "n2", "n3", "n4", "t1x", "t1y", "t2x", "t2y", "t3x", "t3y", "t4x", "t4y"};
  for (std::size_t i = 0; i < legs; ++i) {
    outcome.results.push_back({names[i], found.forces[i].z});
  }
  for (std::size_t i = 0; i < legs; ++i) {
    outcome.results.push_back({names[legs + 2 * i], found.forces[i].x});
    outcome.results.push_back({names[legs + 2 * i + 1], found.forces[i].y});
  }
  outcome.results.push_back({"spread_N", found.spread});
  if (!outcome.trouble.empty()) return outcome;
  check(table, values["h"], found, outcome);
  if (values.as_published()) check_stiff(table, values["h"], outcome);
  if (with_figure) draw(table, values["h"], found, outcome);
  return outcome;
}

}  // namespace

Study peiret_table() {
  return {
      .name = "peiret.table",
      .title = "A table on four legs: forces that are unique although legs are redundant",
      .figures = "last paragraph",
      .about =
          "Legs 1 to 4 stand at (±0.5, ±0.3), signs ++, +−, −+, −−, from the table's "
          "middle. The centre of mass lies at the offsets, 0.7 m high; the load acts "
          "there and is ramped up over half the duration. Normals are Kelvin–Voigt, kn "
          "and dn per leg, and the table starts in equilibrium without a load. Four legs "
          "and their friction leave nine forces open for rigid contacts; relaxed rows "
          "have one answer: normal forces in a plane, frictions of least norm. spread_N "
          "is the largest difference of a force among answers of one step from 20 random "
          "guesses, under every solver that solves it.",
      .parameters =
          {{"h", "h", "s", between(1e-6, 1), 1e-3, "step"},
           {"mass", "m", "kg", between(1e-6, 1e9), 20, "of the table"},
           {"offset_x", "", "m", between(-2, 2), 0.1, "of the centre of mass"},
           {"offset_y", "", "m", between(-2, 2), 0.05, "of the centre of mass"},
           {"load_x", "F_x", "N", between(-1e9, 1e9), 0, "at the centre of mass"},
           {"load_y", "F_y", "N", between(-1e9, 1e9), 0, "at the centre of mass"},
           {"load_mz", "M_z", "N m", between(-1e9, 1e9), 0, "about the vertical"},
           {"mu", "μ", "1", between(0, 10), 0.5, "friction coefficient"},
           {"kn", "K_N", "N/m", above(0, 1e12), 1e6, "stiffness of a leg"},
           {"dn", "D_N", "N s/m", between(0, 1e12), 0, "damping of a leg"},
           {"kt", "K_T", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"},
           {"dt", "D_T", "N s/m", between(0, 1e9), 1000, "bristle damping"},
           {"duration", "", "s", above(0, 1e4), 4, "of the run"}},
      .results = {{"n1", "normal force on leg 1, at the end [N]"},
                  {"n2", "on leg 2 [N]"},
                  {"n3", "on leg 3 [N]"},
                  {"n4", "on leg 4 [N]"},
                  {"t1x", "friction on leg 1, at the end [N]"},
                  {"t1y", "on leg 1 [N]"},
                  {"t2x", "on leg 2 [N]"},
                  {"t2y", "on leg 2 [N]"},
                  {"t3x", "on leg 3 [N]"},
                  {"t3y", "on leg 3 [N]"},
                  {"t4x", "on leg 4 [N]"},
                  {"t4y", "on leg 4 [N]"},
                  {"spread_N",
                   "largest difference among answers from random guesses [N]"}},
      .run = run};
}

}  // namespace bristle::studies
