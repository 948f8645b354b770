#include "bristle/adaptive/guards.hpp"

#include <gtest/gtest.h>

#include "tests/validation/scenes.hpp"

namespace bristle {
namespace {

using validation::add_free;
using validation::ball_inertia;
using validation::built;

/// Two balls under laws of another number of guards each: a ground that recovers has two,
/// Hunt–Crossley one; the clutch has one, regularised Coulomb friction none.
Model two_balls() {
  ModelBuilder builder;
  builder.add_shape({.name = "ground", .shape = Plane{}, .surface = "ground"});
  for (const char* name : {"soft", "hard"}) {
    add_free(builder, name, 1, ball_inertia(1, 0.1), Sphere{0.1}, name);
  }
  builder.add_contact({.a = "ground",
                       .b = "soft",
                       .normal = choose<AzadFeatherstoneRecovery>(),
                       .friction = choose<AzadFeatherstoneClutch>()});
  builder.add_contact({.a = "ground",
                       .b = "hard",
                       .normal = choose<HuntCrossley>(),
                       .friction = choose<Coulomb>()});
  return built(builder);
}

/// A table of two rows in the two last blocks of a model, both in an episode.
struct Rows {
  explicit Rows(const Model& model) : table(model) {
    begin.assign(model.blocks.size() + 1, 2);
    std::fill(begin.begin(), begin.end() - 2, 0);
    *(begin.end() - 2) = 1;
  }
  void lay_out() { table.lay_out(ids, begin); }

  std::vector<RowId> ids{{0, 1, 0, 1}, {0, 2, 0, 2}};
  std::vector<int> begin;
  GuardTable table;
};

/// The row of the ball with the most guards.
std::size_t soft_row(const GuardTable& table) {
  return table.end_of(0) - table.depth_of(0) == 4 ? 0 : 1;
}

TEST(GuardTable, ARowHasItsDepthThenTheGuardsThatItsLawsDeclare) {
  const Model model = two_balls();
  Rows rows(model);
  rows.lay_out();
  const GuardTable& table = rows.table;
  ASSERT_EQ(table.row_count(), 2u);
  EXPECT_EQ(table.count(), 6u);
  const std::size_t soft = soft_row(table), hard = 1 - soft;
  ASSERT_EQ(table.end_of(soft) - table.depth_of(soft), 4u);
  ASSERT_EQ(table.end_of(hard) - table.depth_of(hard), 2u);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t g = table.depth_of(row); g < table.end_of(row); ++g) {
      EXPECT_EQ(table.row_of(g), row);
      EXPECT_EQ(table.is_depth(g), g == table.depth_of(row));
    }
  }
  const std::size_t first = table.depth_of(soft);
  EXPECT_EQ(table.law_of(first + 1), LawFamily::normal);
  EXPECT_EQ(table.law_of(first + 2), LawFamily::normal);
  EXPECT_EQ(table.law_of(first + 3), LawFamily::friction);
}

TEST(GuardTable, AnEventIsOfTheKindThatItsRoleSays) {
  const Model model = two_balls();
  Rows rows(model);
  rows.lay_out();
  GuardTable& table = rows.table;
  const std::size_t first = table.depth_of(soft_row(table));
  std::vector<double> guards(table.count(), 0.0);
  guards[first + 1] = 1;   // presses
  guards[first + 2] = -1;  // has left a ground
  guards[first + 3] = -1;  // sticks
  table.hold(guards);
  EXPECT_EQ(table.side(first + 1), 1);
  EXPECT_EQ(table.side(first + 3), -1);
  EXPECT_EQ(table.note_event(first + 1, 1, 0).kind, EventKind::clamp);
  EXPECT_EQ(table.side(first + 1), -1);
  EXPECT_EQ(table.note_event(first + 2, 1, 0).kind, EventKind::branch);
  const GuardEvent slips = table.note_event(first + 3, 2, 0);
  EXPECT_EQ(slips.kind, EventKind::slip);
  EXPECT_EQ(slips.law, LawFamily::friction);
  EXPECT_EQ(slips.time, 2);
  EXPECT_EQ(table.note_event(first + 3, 3, 0).kind, EventKind::stick);
  EXPECT_EQ(table.note_event(first, 4, 0).kind, EventKind::lift_off);
  EXPECT_FALSE(table.inside(soft_row(table)));
  EXPECT_EQ(table.note_event(first, 5, 0).kind, EventKind::touch);
}

TEST(GuardTable, ALawThatChattersIsLeftFreeUntilItsContactEnds) {
  const Model model = two_balls();
  Rows rows(model);
  rows.lay_out();
  GuardTable& table = rows.table;
  const std::size_t soft = soft_row(table), slip = table.depth_of(soft) + 3;
  std::vector<double> guards(table.count(), 1.0);
  table.hold(guards);
  table.note_event(slip, 1, 1e-3);
  EXPECT_EQ(table.side(slip), -1);
  table.note_event(slip, 1 + 2e-4, 1e-3);  // later than a tenth of the step
  EXPECT_EQ(table.side(slip), 1);
  table.note_event(slip, 1 + 2.5e-4, 1e-3);
  EXPECT_EQ(table.side(slip), 0);
  table.hold(guards);
  EXPECT_EQ(table.side(slip), 0);
  rows.lay_out();
  table.hold(guards);
  EXPECT_EQ(table.side(slip), 0);
  rows.ids[soft].episode = 3;
  rows.lay_out();
  table.hold(guards);
  EXPECT_EQ(table.side(slip), 1);
}

TEST(GuardTable, SidesFollowTheirEpisodeToAnotherRow) {
  const Model model = two_balls();
  Rows rows(model);
  rows.ids = {{0, 1, 0, 1}, {0, 1, 1, 2}, {0, 2, 0, 3}};
  *(rows.begin.end() - 2) = 2;
  *(rows.begin.end() - 1) = 3;
  rows.lay_out();
  std::vector<double> guards(rows.table.count(), 1.0);
  guards[rows.table.depth_of(0) + 1] = -1;
  rows.table.hold(guards);
  std::swap(rows.ids[0], rows.ids[1]);
  rows.lay_out();
  EXPECT_EQ(rows.table.side(rows.table.depth_of(0) + 1), 1);
  EXPECT_EQ(rows.table.side(rows.table.depth_of(1) + 1), -1);
  EXPECT_EQ(rows.table.row_of(rows.table.depth_of(1) + 1), 1u);
  EXPECT_EQ(rows.table.normal_held(0).column(0)[0], 1);
  EXPECT_EQ(rows.table.normal_held(0).column(0)[1], -1);
}

TEST(GuardTable, AnOpenRowHasADepthAndNoSides) {
  const Model model = two_balls();
  Rows rows(model);
  rows.ids[0].episode = rows.ids[1].episode = 0;
  rows.lay_out();
  std::vector<double> guards(rows.table.count(), 1.0);
  rows.table.hold(guards);
  for (std::size_t g = 0; g < rows.table.count(); ++g) {
    EXPECT_EQ(rows.table.side(g), 0);
  }
  EXPECT_EQ(rows.table.note_event(rows.table.depth_of(0), 0, 1).kind, EventKind::touch);
}

}  // namespace
}  // namespace bristle
