#include "bristle/contact/candidates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/validation/scenes.hpp"

// What is listed depends on the present poses alone, however long the search was ago.

namespace bristle {
namespace {

using validation::add_free;
using validation::built;
using validation::numbered;

constexpr int bodies = 120;

/// Balls and boxes over a floor, a plane that moves, and a large box at rest.
Model crowd() {
  ModelBuilder builder;
  builder.add_shape({.name = "floor", .shape = Plane{}});
  builder.add_shape({.name = "block",
                     .shape = Box{{1, 1, 0.2}},
                     .pose = {Mat3<double>::identity(), {0, 0, -0.1}}});
  add_free(builder, "wall", 1, Sym3<double>::diagonal(1, 1, 1), Plane{});
  for (int i = 0; i < bodies; ++i) {
    const double size = 0.02 + 0.001 * (i % 40);
    const Shape ball = Sphere{size}, box = Box{{size, 0.5 * size, 2 * size}};
    add_free(builder, numbered("b", i), 1, Sym3<double>::diagonal(1, 1, 1),
             i % 3 == 0 ? box : ball);
  }
  builder.add_contact(
      {.normal = choose<KelvinVoigt>(), .friction = choose<Frictionless>()});
  builder.add_contact({.a = "floor", .b = "wall", .touches = false});
  return built(builder);
}

/// Poses of the shapes, which move by themselves.
class Movement {
 public:
  Movement(const Model& model, double speed) : speed_(speed) {
    std::uniform_real_distribution<double> anywhere(-0.5, 0.5);
    for (const ModelShape& shape : model.shapes) {
      Transform<double> pose = shape.in_link;
      // What a plane that moves reaches has no bound: it is searched for at each step.
      const bool waits = kind_of(shape.shape) == ShapeKind::plane && speed < 1;
      const bool moves = shape.link != world_link && !waits;
      if (moves) pose.p = {anywhere(random_), anywhere(random_), anywhere(random_)};
      poses.push_back(pose);
      moves_.push_back(moves);
      margins.push_back(moves ? 0.002 * speed : 0);
    }
  }
  void step() {
    std::normal_distribution<double> normal;
    const auto way = [&] { return 0.001 * speed_ * normal(random_); };
    for (std::size_t i = 0; i < poses.size(); ++i) {
      if (!moves_[i]) continue;
      const Vec3<double> by{way(), way(), way()};
      poses[i].p = poses[i].p + by;
      margins[i] = 2 * norm(by);
      const bool turns = random_() % 7 == 0;
      if (turns) poses[i].R = poses[i].R * validation::about_x(0.01 * speed_);
    }
  }

  std::vector<Transform<double>> poses;
  std::vector<double> margins;

 private:
  std::mt19937_64 random_{17};
  double speed_;
  std::vector<bool> moves_;
};

void expect_same(const Candidates& kept, const Candidates& fresh) {
  ASSERT_EQ(kept.size(), fresh.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    EXPECT_EQ(kept[k].a, fresh[k].a);
    EXPECT_EQ(kept[k].b, fresh[k].b);
    EXPECT_EQ(kept[k].block, fresh[k].block);
  }
}

class CandidatesAtSpeed : public ::testing::TestWithParam<double> {};

TEST_P(CandidatesAtSpeed, AreThoseOfASearchOfTheirOwn) {
  constexpr std::uint64_t steps = 200;
  const Model model = crowd();
  ASSERT_TRUE(model.broad_phase);
  Candidates kept(model);
  Movement moving(model, GetParam());
  std::size_t most = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    Candidates fresh(model);
    ASSERT_EQ(kept.list(moving.poses, moving.margins), ContactStatus::ok);
    ASSERT_EQ(fresh.list(moving.poses, moving.margins), ContactStatus::ok);
    expect_same(kept, fresh);
    most = std::max(most, kept.size());
    if (HasFatalFailure()) return;
    moving.step();
  }
  EXPECT_GT(most, 50U);
  if (GetParam() < 0.1) {
    EXPECT_LT(kept.searches(), steps / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Speeds, CandidatesAtSpeed,
                         ::testing::Values(0.0, 0.01, 1.0, 10.0, 200.0));

/// Every pair of boxes that overlap, one by one.
TEST(Candidates, AreAllPairsOfOverlappingBoxes) {
  const Model model = crowd();
  Candidates kept(model);
  Movement moving(model, 1);
  for (int step = 0; step < 30; ++step, moving.step()) {
    ASSERT_EQ(kept.list(moving.poses, moving.margins), ContactStatus::ok);
    std::size_t expected = 0;
    for (std::uint32_t i = 0; i < model.shapes.size(); ++i) {
      for (std::uint32_t j = i + 1; j < model.shapes.size(); ++j) {
        const ModelShape &a = model.shapes[i], &b = model.shapes[j];
        if (a.link == b.link) continue;
        const bool one_plane = (kind_of(a.shape) == ShapeKind::plane) !=
                               (kind_of(b.shape) == ShapeKind::plane);
        const bool planes = kind_of(a.shape) == ShapeKind::plane && !one_plane;
        if (planes) continue;
        if (one_plane) {
          const bool first = kind_of(a.shape) == ShapeKind::plane;
          const std::uint32_t p = first ? i : j, o = first ? j : i;
          const Aabb box =
              bounds(model.shapes[o].shape, moving.poses[o], moving.margins[o]);
          const Transform<double>& pose = moving.poses[p];
          expected +=
              reaches({p, pose.R.z, dot(pose.R.z, pose.p) + moving.margins[p]}, box) ? 1
                                                                                     : 0;
        } else {
          expected += overlap(bounds(a.shape, moving.poses[i], moving.margins[i]),
                              bounds(b.shape, moving.poses[j], moving.margins[j]))
                          ? 1
                          : 0;
        }
      }
    }
    EXPECT_EQ(kept.size(), expected);
  }
}

TEST(Candidates, APositionThatIsNoNumberIsToldAndForgotten) {
  const Model model = crowd();
  Candidates kept(model);
  Movement moving(model, 0.01);
  ASSERT_EQ(kept.list(moving.poses, moving.margins), ContactStatus::ok);
  const std::size_t before = kept.size();
  const std::vector<Transform<double>> good = moving.poses;
  moving.poses.back().p.x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(kept.list(moving.poses, moving.margins), ContactStatus::not_finite);
  EXPECT_EQ(kept.list(good, moving.margins), ContactStatus::ok);
  EXPECT_EQ(kept.size(), before);
}

}  // namespace
}  // namespace bristle
