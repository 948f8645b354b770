#include <array>
#include <numbers>

#include "studies/gonthier2004_pendulum.hpp"
#include "studies/registry.hpp"

namespace bristle::studies {

namespace {

constexpr double degree = std::numbers::pi / 180;

// Two uniform rods of 1 m and 2 kg (Ahmed, Lankarani & Pereira 1999).
constexpr gonthier2004::PendulumLink rod{1, 2, 0.5, 1.0 / 6};

struct Case {
  double phi1, phi2;  // [rad]
};
Case case_of(std::string_view name) {
  return name == "a" ? Case{18 * degree, 12 * degree} : Case{0, 20.7 * degree};
}
constexpr double rate = -1;  // of both joints [rad/s]

/// What the tip feels of the pendulum: inverse mass and velocity, across and along the
/// normal.
struct Tip {
  double tt, tn, nn;  // inverse mass [1/kg]
  double vt, vn;      // vn < 0 in approach [m/s]
  double kinetic;     // of the pendulum [J]
};

Tip tip_of(const Case& at) {
  const auto& [l, m, a, j] = rod;
  const double c2 = std::cos(at.phi2), both = at.phi1 + at.phi2;
  const double m22 = j + m * a * a;
  const double m12 = m22 + m * l * a * c2;
  const double m11 = j + m * a * a + m * l * l + m12 + m * l * a * c2;
  const double det = m11 * m22 - m12 * m12;
  const std::array<double, 2> x{l * (std::cos(at.phi1) + std::cos(both)),
                                l * std::cos(both)};
  const std::array<double, 2> z{l * (std::sin(at.phi1) + std::sin(both)),
                                l * std::sin(both)};
  const auto inverse = [&](const std::array<double, 2>& u,
                           const std::array<double, 2>& v) {
    return (u[0] * (m22 * v[0] - m12 * v[1]) + u[1] * (m11 * v[1] - m12 * v[0])) / det;
  };
  return {inverse(x, x),        inverse(x, z),
          inverse(z, z),        rate * (x[0] + x[1]),
          rate * (z[0] + z[1]), 0.5 * rate * rate * (m11 + 2 * m12 + m22)};
}

/// The share of the kinetic energy that a rigid impact takes: Routh's path through the
/// plane of impulses, Coulomb friction, Poisson's rule.
double rigid_loss(const Tip& tip, double restitution, double mu) {
  double vt = tip.vt, vn = tip.vn, impulse = 0, work = 0;
  double end = HUGE_VAL;  // normal impulse at the end, once compression is over
  for (int phase = 0; phase < 8; ++phase) {
    // The friction of this phase, per normal impulse.
    double friction;
    const double still = 1e-15 * (std::fabs(tip.vt) + std::fabs(tip.vn));
    if (std::fabs(vt) > still) {
      friction = vt > 0 ? -mu : mu;
    } else {
      vt = 0;
      friction = -tip.tn / tip.tt;                                       // sticks,
      if (std::fabs(friction) > mu) friction = friction > 0 ? mu : -mu;  // or slips back
    }
    const double slip_rate = tip.tt * friction + tip.tn;
    const double normal_rate = tip.tn * friction + tip.nn;
    // Up to the end of slip, of compression, or of all.
    double step = end - impulse;
    if (vt * slip_rate < 0) step = std::min(step, -vt / slip_rate);
    const bool compression = end == HUGE_VAL;
    bool turns = false;
    if (compression && normal_rate > 0 && -vn / normal_rate <= step) {
      step = -vn / normal_rate;
      turns = true;
    }
    const double vt_before = vt, vn_before = vn;
    vt += slip_rate * step;
    vn += normal_rate * step;
    if (vt_before * vt < 0) vt = 0;
    work += step * (0.5 * (vn_before + vn) + friction * 0.5 * (vt_before + vt));
    impulse += step;
    if (turns) end = (1 + restitution) * impulse;
    if (!compression && impulse >= end * (1 - 1e-14)) break;
  }
  return 100 * (0 - work) / tip.kinetic;
}

struct Impact {
  double loss = std::nan("");  // per cent
  double residual = 0, scale = 1;
  std::string trouble;
};

Impact compliant(const Values& values, const Case& at, double restitution, double mu,
                 const Clock& clock) {
  const Vec3<double> tip = gonthier2004::pendulum_tip(rod, rod, at.phi1, at.phi2);
  Motion motion = gonthier2004::make_pendulum(
      rod, rod, -tip.z, values["gravity"],
      choose<GonthierNormal>({.stiffness = values["stiffness"],
                              .exponent = 1.5,
                              .restitution = restitution,
                              .impact_speed_floor = 1e-6}),
      choose<GonthierFriction>({.mu_static = mu,
                                .mu_coulomb = mu,
                                .stiffness = values["sigma0"],
                                .damping = values["sigma1"],
                                .viscous = 0,
                                .stribeck_speed = values["v_s"],
                                .dwell_time = values["tau_dw"],
                                .bound = 0}),
      clock);
  motion.state().q = {at.phi1, at.phi2};
  motion.state().v = {rate, rate};
  motion.settle();
  const auto mechanical = [&](const State& now) {
    const Ledger ledger = motion.ledger(now);
    return ledger.kinetic + ledger.gravity + ledger.normal;
  };
  const double before = mechanical(motion.state());
  const double kinetic = motion.ledger(motion.state()).kinetic;
  Impact impact;
  bool over = false;
  Watch watch;
  watch.on_event = [&](const State& now, const Event& event) {
    if (event.kind != EventKind::lift_off || over) return;
    over = true;
    impact.loss = 100 * (before - mechanical(now)) / kinetic;
  };
  watch.on_step = [&](const State&) { return !over; };
  motion.go(1, watch);
  impact.residual = motion.audit().residual();
  impact.scale = motion.audit().scale();
  impact.trouble = motion.trouble();
  if (impact.trouble.empty() && !over) {
    impact.trouble =
        "the tip did not leave the surface within 1 s: raise the restitution";
  }
  return impact;
}

report::Figure draw(const Values& values, const Clock& clock) {
  report::Figure figure{.title = "Energy lost in one impact of a double pendulum",
                        .note =
                            "Gonthier et al. 2004, figs. 22 and 23; dashed: rigid "
                            "bodies, Routh's path with Poisson's rule",
                        .panels = {}};
  for (const char* name : {"a", "b"}) {
    report::Panel panel{.title = name[0] == 'a' ? "Case (a): 18°, 12° (fig. 22)"
                                                : "Case (b): 0°, 20.7° (fig. 23)",
                        .x_label = "coefficient of friction μ",
                        .y_label = "energy lost [%]",
                        .curves = {}};
    const Case at = case_of(name);
    for (const double e : {0.01, 0.5, 1.0}) {
      std::string label("e = ");
      label += std::to_string(e).substr(0, 4);
      report::Curve ours{label, {}, {}}, rigid{label, {}, {}};
      rigid.dashed = true;
      for (int i = 0; i <= 20; ++i) {
        const double mu = i / 20.0;
        ours.x.push_back(mu);
        ours.y.push_back(compliant(values, at, e, mu, clock).loss);
        rigid.x.push_back(mu);
        rigid.y.push_back(rigid_loss(tip_of(at), e, mu));
      }
      panel.curves.push_back(ours);
      panel.curves.push_back(rigid);
    }
    figure.panels.push_back(panel);
  }
  return figure;
}

Result<Outcome> run(Values& values, bool with_figure) {
  const Clock clock = clock_of(values);
  const Case at = case_of(values.choice("case"));
  const double e = values["restitution"], mu = values["mu"];
  const Impact impact = compliant(values, at, e, mu, clock);
  const double rigid = rigid_loss(tip_of(at), e, mu);
  Outcome outcome;
  outcome.trouble = impact.trouble;
  outcome.results = {{"energy_lost_percent", impact.loss},
                     {"energy_lost_rigid_percent", rigid}};
  if (values.as_published()) {
    outcome.checks.push_back({"energy lost [%]", impact.loss, 39.1988,
                              tolerance(clock, 0.02, 39.1988),
                              "independent solution at tight tolerance"});
  }
  const bool contact_as_published =
      values["stiffness"] == 1e9 && values["sigma0"] == 1e5 && values["v_s"] == 0.1;
  if (contact_as_published && (values.choice("case") == "b" || e <= 0.5)) {
    outcome.checks.push_back(
        {"energy lost, against rigid bodies [%]", impact.loss, rigid, 1,
         values.choice("case") == "b"
             ? "§ 4.2: \"match perfectly\""
             : "§ 4.2: \"match perfectly\"; in case (a) within a point for e ≤ 0.5"});
  }
  outcome.checks.push_back(ledger_balances(clock, impact.residual, impact.scale));
  if (with_figure) outcome.figures = {draw(values, clock)};
  return outcome;
}

}  // namespace

Study gonthier2004_pendulum_impact() {
  return {
      .name = "gonthier2004.pendulum-impact",
      .title = "Energy that one impact of a double pendulum takes, compliant and rigid",
      .figures = "figs. 22, 23",
      .about =
          "The benchmark of Ahmed, Lankarani and Pereira: two rods of 1 m, 2 kg, 1/6 kg "
          "m², "
          "relative angles, both joints at −1 rad/s, the surface at the tip's height, "
          "gravity on. Lost is kinetic, potential and normal-spring energy from "
          "touch-down "
          "to separation, over the initial kinetic energy. \"Match perfectly\" holds in "
          "case (b), and within a point in case (a) for e ≤ 0.5.",
      .parameters = with_clock(
          {{"case",
            "",
            "choice",
            choice_of(2),
            0,
            "a: 18°, 12°; b: 0°, 20.7°",
            {"a", "b"}},
           {"restitution", "e", "1", between(1e-3, 1), 0.5, "of the normal law"},
           {"mu", "μ", "1", between(0, 10), 0.3, "friction, μ_S = μ_C"},
           {"stiffness", "k", "N/m^1.5", above(0, 1e15), 1e9, "of f = k δ^{3/2}"},
           {"sigma0", "σ₀", "N/m", between(1e-3, 1e12), 1e5, "bristle stiffness"},
           {"sigma1", "σ₁", "N s/m", between(1e-6, 1e9), std::sqrt(1e5),
            "bristle damping"},
           {"v_s", "v_S", "m/s", between(1e-6, 100), 0.1, "between stick and slip"},
           {"tau_dw", "τ_dw", "s", between(1e-6, 1e6), 0.75, "dwell time constant"},
           {"gravity", "g", "m/s²", between(0, 1e4), 9.81, ""}},
          1e-10, 20),
      .results = {{"energy_lost_percent", "of the initial kinetic energy"},
                  {"energy_lost_rigid_percent",
                   "the same of rigid bodies: Routh's path with Poisson's rule"}},
      .run = run};
}

}  // namespace bristle::studies
