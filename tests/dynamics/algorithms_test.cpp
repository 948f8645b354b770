// The algorithms against each other, against differences and against closed forms, on
// trees of 1 to 40 bodies with every type of joint.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/dynamics/random_tree.hpp"

namespace bristle {
namespace {

using test::Dice;
using test::on_random_trees;
using test::random_state;
using test::random_tree;
using test::RandomState;
using test::RandomTree;
using test::relative_difference;

std::vector<double> mass_of(const Tree& tree, Workspace<double>& ws) {
  const auto n = static_cast<std::size_t>(tree.velocity_count());
  std::vector<double> m(n * n);
  mass_matrix(tree, ws, m);
  return m;
}

TEST(ForwardDynamics, AgreesWithMassMatrixAndInverseDynamics) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<double> m = mass_of(tree, ws);
        std::vector<double> bias(s.v.size());
        inverse_dynamics(tree, s.v, {}, s.external, ws, bias);
        std::vector<double> rest(s.v.size());
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = s.tau[i] - bias[i];
        ASSERT_TRUE(test::cholesky(m, s.v.size()));
        const std::vector<double> expected = test::cholesky_solve(m, rest);
        std::vector<double> found(s.v.size());
        forward_dynamics(tree, s.v, s.tau, s.external, ws, found);
        EXPECT_LT(relative_difference(found, expected), 1e-10);
      });
}

TEST(ForwardDynamics, IsUndoneByInverseDynamics) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<double> a(s.v.size());
        std::vector<double> tau(s.v.size());
        forward_dynamics(tree, s.v, s.tau, s.external, ws, a);
        inverse_dynamics(tree, s.v, a, s.external, ws, tau);
        std::vector<double> sizes = test::times(mass_of(tree, ws), a);
        const double size = std::max(test::largest(sizes), test::largest(s.tau));
        for (std::size_t i = 0; i < tau.size(); ++i) {
          EXPECT_NEAR(tau[i], s.tau[i], 1e-11 * size);
        }
      });
}

TEST(InverseDynamics, IsUndoneByForwardDynamics) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<double> a(s.v.size());
        std::vector<double> tau(s.v.size());
        inverse_dynamics(tree, s.v, s.acceleration, s.external, ws, tau);
        forward_dynamics(tree, s.v, tau, s.external, ws, a);
        EXPECT_LT(relative_difference(a, s.acceleration), 1e-9);
      });
}

TEST(HybridDynamics, PrescribedJointsMoveAsToldAndTheirForcesAreReturned) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice& dice) {
        std::vector<std::uint8_t> prescribed(static_cast<std::size_t>(tree.link_count()));
        for (std::uint8_t& p : prescribed) p = dice.below(2) == 0 ? 1 : 0;
        std::vector<double> tau = s.tau;
        std::vector<double> a = s.acceleration;
        hybrid_dynamics(tree, s.v, prescribed, s.external, ws, tau, a);
        for (std::size_t i = 0; i < a.size(); ++i) {
          const auto link = static_cast<std::size_t>(tree.dofs()[i].link);
          if (prescribed[link]) {
            EXPECT_EQ(a[i], s.acceleration[i]);
          } else {
            EXPECT_EQ(tau[i], s.tau[i]);
          }
        }
        std::vector<double> needed(tau.size());
        inverse_dynamics(tree, s.v, a, s.external, ws, needed);
        EXPECT_LT(relative_difference(tau, needed), 1e-10);
      });
}

TEST(HybridDynamics, WithoutPrescribedJointsIsForwardDynamicsToTheBit) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<std::uint8_t> none(static_cast<std::size_t>(tree.link_count()), 0);
        std::vector<double> tau = s.tau;
        std::vector<double> a(s.v.size()), b(s.v.size());
        hybrid_dynamics(tree, s.v, none, s.external, ws, tau, a);
        forward_dynamics(tree, s.v, s.tau, s.external, ws, b);
        EXPECT_EQ(a, b);
      });
}

TEST(MassMatrix, IsSymmetricPositiveAndGivesTheKineticEnergy) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<double> m = mass_of(tree, ws);
        const std::size_t n = s.v.size();
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(m[i * n + j], m[j * n + i]);
        }
        const std::vector<double> momentum = test::times(m, s.v);
        double energy = 0;
        for (std::size_t i = 0; i < n; ++i) energy += 0.5 * momentum[i] * s.v[i];
        EXPECT_NEAR(kinetic_energy(tree, s.v, ws), energy, 1e-12 * energy);
        EXPECT_TRUE(test::cholesky(m, n));
      });
}

TEST(MassMatrix, ColumnsAreInverseDynamicsOfUnitAccelerations) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        const std::size_t n = s.v.size();
        const std::vector<double> m = mass_of(tree, ws);
        std::vector<double> bias(n), tau(n);
        inverse_dynamics(tree, s.v, {}, {}, ws, bias);
        const double size = std::max(test::largest(bias), test::largest(m));
        for (std::size_t j = 0; j < n; ++j) {
          std::vector<double> unit(n, 0.0);
          unit[j] = 1;
          inverse_dynamics(tree, s.v, unit, {}, ws, tau);
          for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(tau[i] - bias[i], m[i * n + j], 1e-12 * size);
          }
        }
      });
}

TEST(SolveMass, UndoesTheMassMatrix) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        const std::vector<double> m = mass_of(tree, ws);
        std::vector<double> x(s.v.size());
        factorise(tree, ws);
        solve_mass(tree, s.tau, {}, ws, x);
        EXPECT_LT(relative_difference(test::times(m, x), s.tau), 1e-9);
        // After forward dynamics the factor is there as well, and in place works.
        std::vector<double> y = s.tau;
        std::vector<double> a(s.v.size());
        forward_dynamics(tree, s.v, s.tau, s.external, ws, a);
        solve_mass(tree, y, {}, ws, y);
        EXPECT_EQ(x, y);
      });
}

TEST(SolveMass, WithForcesOnLinksEqualsTheirJointForces) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<double> sum = s.tau;
        add_link_forces(tree, s.external, ws, sum);
        std::vector<double> x(s.v.size()), y(s.v.size());
        factorise(tree, ws);
        solve_mass(tree, s.tau, s.external, ws, x);
        solve_mass(tree, sum, {}, ws, y);
        EXPECT_LT(relative_difference(x, y), 1e-10);
      });
}

TEST(InverseInertia, IsJacobianInverseMassJacobian) {
  on_random_trees([](const Tree& tree, const RandomState& s, Workspace<double>& ws,
                     Dice& dice) {
    const std::size_t n = s.v.size();
    const std::size_t points = 6, m = points + (n > 0 ? 2 : 0);
    std::vector<JacobianRow<double>> rows;
    std::vector<double> jacobians;
    for (std::size_t i = 0; i < points; ++i) {
      const int a = dice.below(tree.link_count());
      const int b = dice.below(tree.link_count());
      const Vec3<double> point = dice.vector(1);
      const Vec3<double> along = dice.vector(1);
      rows.push_back(row_at_point(ws, a, b, point, along));
      std::vector<double> ja(3 * n), jb(3 * n);
      point_jacobian(tree, ws, a, point, ja);
      point_jacobian(tree, ws, b, point, jb);
      for (std::size_t k = 0; k < n; ++k) {
        jacobians.push_back(along.x * (jb[k] - ja[k]) +
                            along.y * (jb[n + k] - ja[n + k]) +
                            along.z * (jb[2 * n + k] - ja[2 * n + k]));
      }
    }
    // Rows of joint velocities, as those of limits.
    while (rows.size() < m) {
      const int dof = dice.below(static_cast<int>(n));
      rows.push_back(row_of_joint<double>(dof, -2.0));
      jacobians.resize(rows.size() * n, 0.0);
      jacobians[(rows.size() - 1) * n + static_cast<std::size_t>(dof)] = -2;
    }
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<double> dense(n);
      dense_row(tree, ws, rows[i], dense);
      for (std::size_t k = 0; k < n; ++k) {
        EXPECT_NEAR(dense[k], jacobians[i * n + k], 1e-12 * (1 + std::fabs(dense[k])));
      }
      EXPECT_NEAR(row_rate<double>(ws, s.v, rows[i]),
                  std::inner_product(dense.begin(), dense.end(), s.v.begin(), 0.0), 1e-9);
    }
    factorise(tree, ws);
    std::vector<double> halves(m * n), found(m * m), expected;
    inverse_inertia(tree, rows, ws, halves, found);
    std::vector<double> mass = mass_of(tree, ws);
    ASSERT_TRUE(test::cholesky(mass, n));
    for (std::size_t i = 0; i < m; ++i) {
      const std::vector<double> row(jacobians.begin() + static_cast<long>(i * n),
                                    jacobians.begin() + static_cast<long>((i + 1) * n));
      const std::vector<double> x = test::cholesky_solve(mass, row);
      for (std::size_t j = 0; j < m; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += jacobians[j * n + k] * x[k];
        expected.push_back(sum);
      }
    }
    if (test::largest(expected) == 0) return;
    EXPECT_LT(relative_difference(found, expected), 1e-10);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) EXPECT_EQ(found[i * m + j], found[j * m + i]);
    }
  });
}

TEST(InverseInertia, LockedJointsDoNotGiveWay) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice& dice) {
        std::vector<std::uint8_t> all(static_cast<std::size_t>(tree.link_count()), 1);
        std::vector<double> tau = s.tau, a = s.acceleration;
        hybrid_dynamics(tree, s.v, all, {}, ws, tau, a);
        const std::vector<JacobianRow<double>> row{
            row_at_point(ws, 0, tree.link_count() - 1, dice.vector(1), dice.vector(1))};
        std::vector<double> halves(s.v.size()), found(1, 1.0);
        inverse_inertia(tree, row, ws, halves, found);
        EXPECT_EQ(found[0], 0);
      });
}

// Derivatives along the motion q ⊕ ε v by dual numbers, against the velocities computed.
using Along = Dual<double, 1>;

struct Moving {
  std::vector<Along> q, v;
};

Moving along(const Tree& tree, const RandomState& s, const std::vector<double>& a) {
  Moving m;
  for (const double x : s.q) m.q.emplace_back(x);
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    Along rate(s.v[i]);
    rate.by[0] = a.empty() ? 0 : a[i];
    m.v.push_back(rate);
  }
  std::vector<Along> constant_v;
  for (const double x : s.v) constant_v.emplace_back(x);
  integrate<Along>(tree, m.q, constant_v, Along::variable(0, 0));
  return m;
}

TEST(Kinematics, VelocitiesAreTheDerivativesOfPoses) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        Moving moving = along(tree, s, {});
        Workspace<Along> duals(tree);
        kinematics(tree, moving.q, moving.v, duals);
        for (std::size_t i = 0; i < ws.poses.size(); ++i) {
          const Motion<double>& m = ws.velocities[i];
          const Transform<Along>& pose = duals.poses[i];
          EXPECT_NEAR(pose.p.x.by[0], m.linear.x, 1e-11);
          EXPECT_NEAR(pose.p.y.by[0], m.linear.y, 1e-11);
          EXPECT_NEAR(pose.p.z.by[0], m.linear.z, 1e-11);
          // Ṙ = (ω×) R, seen on the z axis and on the x axis
          const Vec3<double> z = cross(m.angular, ws.poses[i].R.z);
          const Vec3<double> x = cross(m.angular, ws.poses[i].R.x);
          EXPECT_NEAR(pose.R.z.x.by[0], z.x, 1e-11);
          EXPECT_NEAR(pose.R.z.y.by[0], z.y, 1e-11);
          EXPECT_NEAR(pose.R.z.z.by[0], z.z, 1e-11);
          EXPECT_NEAR(pose.R.x.x.by[0], x.x, 1e-11);
        }
      });
}

TEST(Jacobian, TimesVelocityIsTheVelocityAndColumnsMatchDifferences) {
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice& dice) {
        const std::size_t n = s.v.size();
        const int link = dice.below(tree.link_count());
        const Vec3<double> on_link = dice.vector(0.5);
        const Vec3<double> point = ws.poses[static_cast<std::size_t>(link)] * on_link;
        std::vector<double> rows(6 * n), three(3 * n);
        jacobian(tree, ws, link, point, rows);
        point_jacobian(tree, ws, link, point, three);
        for (std::size_t k = 0; k < 3 * n; ++k) EXPECT_EQ(three[k], rows[3 * n + k]);
        double moved[6] = {};
        for (std::size_t r = 0; r < 6; ++r) {
          for (std::size_t k = 0; k < n; ++k) moved[r] += rows[r * n + k] * s.v[k];
        }
        const Vec3<double> w = ws.velocities[static_cast<std::size_t>(link)].angular;
        const Vec3<double> u = point_velocity(ws, link, point);
        const double expected[6] = {w.x, w.y, w.z, u.x, u.y, u.z};
        for (int r = 0; r < 6; ++r) EXPECT_NEAR(moved[r], expected[r], 1e-11);
        // Columns by central differences of the point itself.
        for (std::size_t k = 0; k < n; ++k) {
          const double h = 1e-5;
          Vec3<double> ends[2];
          for (const int side : {0, 1}) {
            std::vector<double> unit(n, 0.0), q = s.q;
            unit[k] = 1;
            integrate<double>(tree, q, unit, side == 0 ? -h : h);
            Workspace<double> there(tree);
            kinematics(tree, q, s.v, there);
            ends[side] = there.poses[static_cast<std::size_t>(link)] * on_link;
          }
          EXPECT_NEAR((ends[1].x - ends[0].x) / (2 * h), three[k], 1e-8);
          EXPECT_NEAR((ends[1].y - ends[0].y) / (2 * h), three[n + k], 1e-8);
          EXPECT_NEAR((ends[1].z - ends[0].z) / (2 * h), three[2 * n + k], 1e-8);
        }
      });
}

TEST(Energy, ChangesByThePowerOfTheForcesAlone) {
  // d/dt (kinetic + gravity + springs) = τ·v + Σ f·(link velocities) − dampers, exactly.
  on_random_trees(
      [](const Tree& tree, const RandomState& s, Workspace<double>& ws, Dice&) {
        std::vector<double> tau = s.tau;
        const double damped = add_joint_springs<double>(tree, s.q, s.v, tau);
        std::vector<double> a(s.v.size());
        forward_dynamics(tree, s.v, tau, s.external, ws, a);
        double power = -damped;
        for (std::size_t i = 0; i < a.size(); ++i) power += s.tau[i] * s.v[i];
        for (std::size_t i = 1; i < ws.poses.size(); ++i) {
          power += dot(s.external[i], ws.velocities[i]);
        }
        Moving moving = along(tree, s, a);
        Workspace<Along> duals(tree);
        kinematics(tree, moving.q, moving.v, duals);
        const Along kinetic = kinetic_energy(tree, moving.v, duals);
        const Along total =
            kinetic + gravity_energy(tree, duals) + spring_energy<Along>(tree, moving.q);
        EXPECT_NEAR(total.by[0], power, 1e-10 * (std::abs(power) + kinetic.value * 100));
      });
}

TEST(Energy, IsConservedOverTime) {
  // Fourth-order Runge–Kutta in q and v; the drift falls with h⁴ and is small at 1 ms.
  RandomTree random = random_tree(
      77, 8, {std::begin(test::all_joint_types) + 1, std::end(test::all_joint_types)});
  const Tree& tree = random.tree;
  Dice dice(5);
  RandomState s = random_state(dice, tree);
  Workspace<double> ws(tree);
  const std::size_t nq = s.q.size(), nv = s.v.size();
  const auto energy = [&] {
    kinematics(tree, s.q, s.v, ws);
    return kinetic_energy(tree, s.v, ws) + gravity_energy(tree, ws) +
           spring_energy<double>(tree, s.q);
  };
  const auto rate = [&](const std::vector<double>& q, const std::vector<double>& v,
                        std::vector<double>& dq, std::vector<double>& dv) {
    std::vector<double> tau(nv, 0.0);
    const std::vector<double> still(nv, 0.0);
    add_joint_springs<double>(tree, q, still, tau);  // springs without dampers
    position_rates<double>(tree, q, v, dq);
    kinematics(tree, q, v, ws);
    forward_dynamics(tree, v, tau, {}, ws, dv);
  };
  const double before = energy();
  kinematics(tree, s.q, s.v, ws);
  const double kinetic = kinetic_energy(tree, s.v, ws);
  const double h = 2.5e-4;
  for (int step = 0; step < 400; ++step) {
    std::vector<std::vector<double>> dq(4, std::vector<double>(nq)),
        dv(4, std::vector<double>(nv));
    const double fraction[4] = {0, 0.5, 0.5, 1};
    for (std::size_t stage = 0; stage < 4; ++stage) {
      std::vector<double> q = s.q, v = s.v;
      if (stage > 0) {
        for (std::size_t i = 0; i < nq; ++i)
          q[i] += fraction[stage] * h * dq[stage - 1][i];
        for (std::size_t i = 0; i < nv; ++i)
          v[i] += fraction[stage] * h * dv[stage - 1][i];
      }
      rate(q, v, dq[stage], dv[stage]);
    }
    for (std::size_t i = 0; i < nq; ++i) {
      s.q[i] += h / 6 * (dq[0][i] + 2 * dq[1][i] + 2 * dq[2][i] + dq[3][i]);
    }
    for (std::size_t i = 0; i < nv; ++i) {
      s.v[i] += h / 6 * (dv[0][i] + 2 * dv[1][i] + 2 * dv[2][i] + dv[3][i]);
    }
    normalise<double>(tree, s.q);
  }
  EXPECT_NEAR(energy(), before, 1e-8 * kinetic);
}

Tree pendulum(const std::vector<double>& masses, const std::vector<double>& lengths) {
  TreeBuilder builder;
  std::string parent{world_name};
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const std::string name = test::numbered("bob", static_cast<int>(i));
    builder.add_body({.name = name, .mass = masses[i], .com = {0, 0, -lengths[i]}});
    JointSpec joint{.name = test::numbered("hinge", static_cast<int>(i)),
                    .parent = parent,
                    .child = name,
                    .type = JointType::revolute,
                    .axis = {0, 1, 0}};
    if (i > 0) joint.on_parent.p = {0, 0, -lengths[i - 1]};
    builder.add_joint(joint);
    parent = name;
  }
  const Result<Tree> tree = builder.build();
  EXPECT_TRUE(tree) << (tree ? "" : tree.error());
  return *tree;
}

TEST(ClosedForm, PointMassPendulum) {
  const double length = 0.7;
  const Tree tree = pendulum({2.0}, {length});
  Workspace<double> ws(tree);
  for (double angle = -3; angle <= 3; angle += 0.37) {
    const std::vector<double> q{angle}, v{1.3}, tau{0.4};
    std::vector<double> a(1);
    kinematics(tree, q, v, ws);
    forward_dynamics(tree, v, tau, {}, ws, a);
    EXPECT_NEAR(a[0], -9.81 / length * std::sin(angle) + 0.4 / (2.0 * length * length),
                1e-13);
  }
}

TEST(ClosedForm, DoublePendulum) {
  const double m1 = 1.3, m2 = 0.6, l1 = 0.8, l2 = 0.5, g = 9.81;
  const Tree tree = pendulum({m1, m2}, {l1, l2});
  Workspace<double> ws(tree);
  Dice dice(4);
  for (int i = 0; i < 50; ++i) {
    const double a1 = dice.uniform(-3, 3), a2 = dice.uniform(-3, 3);  // from the vertical
    const double w1 = dice.uniform(-4, 4), w2 = dice.uniform(-4, 4);
    // Lagrange's equations for both angles measured from the vertical.
    const double c = std::cos(a1 - a2), s = std::sin(a1 - a2);
    const double m11 = (m1 + m2) * l1 * l1, m12 = m2 * l1 * l2 * c, m22 = m2 * l2 * l2;
    const double f1 = -m2 * l1 * l2 * s * w2 * w2 - (m1 + m2) * g * l1 * std::sin(a1);
    const double f2 = m2 * l1 * l2 * s * w1 * w1 - m2 * g * l2 * std::sin(a2);
    const double det = m11 * m22 - m12 * m12;
    const double e1 = (m22 * f1 - m12 * f2) / det, e2 = (m11 * f2 - m12 * f1) / det;
    const std::vector<double> q{a1, a2 - a1}, v{w1, w2 - w1}, tau{0, 0};
    std::vector<double> a(2);
    kinematics(tree, q, v, ws);
    forward_dynamics(tree, v, tau, {}, ws, a);
    EXPECT_NEAR(a[0], e1, 1e-10);
    EXPECT_NEAR(a[0] + a[1], e2, 1e-10);
  }
}

TEST(ClosedForm, FreeBodyTumblesByEulersEquations) {
  TreeBuilder builder;
  builder.add_body(
      {.name = "top", .mass = 2, .inertia = Sym3<double>::diagonal(0.1, 0.2, 0.25)});
  builder.add_joint({.name = "float", .child = "top", .type = JointType::free});
  const Tree tree = *builder.build();
  Workspace<double> ws(tree);
  const std::vector<double> q{1, 2, 3, 1, 0, 0, 0}, v{1, -2, 3, 0.1, 0.2, 0.3};
  const std::vector<double> tau(6, 0.0);
  std::vector<double> a(6);
  kinematics(tree, q, v, ws);
  forward_dynamics(tree, v, tau, {}, ws, a);
  EXPECT_NEAR(a[0], -(0.25 - 0.2) * -2 * 3 / 0.1, 1e-14);
  EXPECT_NEAR(a[1], -(0.1 - 0.25) * 1 * 3 / 0.2, 1e-14);
  EXPECT_NEAR(a[2], -(0.2 - 0.1) * 1 * -2 / 0.25, 1e-14);
  EXPECT_NEAR(a[3], 0, 1e-15);
  EXPECT_NEAR(a[4], 0, 1e-15);
  EXPECT_NEAR(a[5], -9.81, 1e-14);
}

TEST(Bodies, KeepTheirFramesThroughWeldsAndTurnedAxes) {
  // Poses of bodies by the joint frames as given, with no knowledge of links.
  for (unsigned seed = 50; seed < 60; ++seed) {
    const RandomTree random = random_tree(seed, 12);
    const Tree& tree = random.tree;
    Dice dice(seed);
    const RandomState s = random_state(dice, tree);
    Workspace<double> ws(tree);
    kinematics(tree, s.q, s.v, ws);
    std::vector<Transform<double>> poses;
    for (std::size_t i = 0; i < random.bodies.size(); ++i) {
      const JointSpec& spec = random.joints[i];
      const Joint& joint = *tree.find_joint(spec.name);
      Transform<double> x;
      const double* q = joint.q < 0 ? nullptr : s.q.data() + joint.q;
      if (spec.type == JointType::revolute) {
        const Vec3<double> turn = (*q / norm(spec.axis)) * spec.axis;
        x.R = to_matrix(rotation_exp(turn));
      } else if (spec.type == JointType::prismatic) {
        x.p = (*q / norm(spec.axis)) * spec.axis;
      } else {
        x = joint_transform(spec.type, q);
      }
      Transform<double> parent;
      if (spec.parent != world_name) {
        parent = poses[static_cast<std::size_t>(std::stoi(spec.parent.substr(1)))];
      }
      poses.push_back(parent * spec.on_parent * x * inverse(spec.on_child));
      const Transform<double> found =
          body_pose(ws, *tree.find_body(random.bodies[i].name));
      EXPECT_LT(norm(found.p - poses.back().p), 1e-12);
      EXPECT_LT(norm(found.R.x - poses.back().R.x), 1e-12);
      EXPECT_LT(norm(found.R.y - poses.back().R.y), 1e-12);
    }
  }
}

}  // namespace
}  // namespace bristle
