#include "tests/contract/passes.hpp"

namespace bristle::contract {
namespace {

template <class List>
struct First;
template <class Law, class... Rest>
struct First<LawList<Law, Rest...>> {
  using type = Law;
};

TEST(Allocations, AreCounted) {
  const AllocationCount before;
  ::operator delete(::operator new(8));  // a plain call may not be optimised away
  EXPECT_EQ(before.since(), 1);
}

TEST(ContactPasses, CoverEveryBlockAndHandTheNormalForceOn) {
  using Normal = First<NormalLaws>::type;
  using Friction = First<FrictionLaws>::type;
  const auto normal = default_params<Normal>();
  const auto friction = default_params<Friction>();
  Random random(43);
  for (const std::size_t count : {std::size_t{0}, std::size_t{5}, contacts_per_block,
                                  contacts_per_block + 1, 3 * contacts_per_block + 7}) {
    Table<double> table(count, field_count<StateOf<Normal>, double>,
                        field_count<StateOf<Friction>, double>);
    std::vector<Sample<Friction>> contacts;
    for (std::size_t i = 0; i < count; ++i) {
      contacts.push_back(draw_friction<Friction>(random, 0));
      put_motion(table, i, contacts[i].kin);
      put_state(table.columns.normal_next, i, touch<Normal>(normal, 1.0));
      put_state(table.columns.friction_next, i, contacts[i].state);
    }
    LawTotals normal_totals;
    LawTotals friction_totals;
    const AllocationCount allocated;
    contact_passes<Normal, Friction, LedgerDetail::totals, double>(
        normal, friction, table.columns, {0, count}, 1e-3, normal_totals,
        friction_totals);
    EXPECT_EQ(allocated.since(), 0);
    Totals expected_normal;
    Totals expected_friction;
    for (std::size_t i = 0; i < count; ++i) {
      const auto f_n = advance<Normal>(
          normal, touch<Normal>(normal, 1.0),
          Kinematics<double>::at(contacts[i].kin.depth, contacts[i].kin.rate), 1e-3);
      const auto f_t = advance<Friction>(friction, contacts[i].state, contacts[i].kin,
                                         f_n.force, 1e-3);
      EXPECT_TRUE(same_bits(f_n.force, table.columns.normal_force[i]));
      EXPECT_TRUE(same_bits(f_t.force.x, table.columns.friction_x[i]));
      EXPECT_TRUE(same_bits(f_t.force.y, table.columns.friction_y[i]));
      expected_normal.add(f_n);
      expected_friction.add(f_t);
    }
    expected_normal.expect_equal<double>(normal_totals, count);
    expected_friction.expect_equal<double>(friction_totals, count);
  }
}

TEST(ContactPasses, GiveTheSameForcesWithoutALedger) {
  using Normal = First<NormalLaws>::type;
  using Friction = First<FrictionLaws>::type;
  const auto normal = default_params<Normal>();
  const auto friction = default_params<Friction>();
  constexpr std::size_t count = 37;
  const auto run = [&]<LedgerDetail ledger>() {
    Random random(44);
    Table<double> table(count, field_count<StateOf<Normal>, double>,
                        field_count<StateOf<Friction>, double>);
    for (std::size_t i = 0; i < count; ++i) {
      put_motion(table, i, draw_kinematics(random));
      put_state(table.columns.normal_next, i, touch<Normal>(normal, 1.0));
    }
    LawTotals totals;
    contact_passes<Normal, Friction, ledger, double>(normal, friction, table.columns,
                                                     {0, count}, 1e-3, totals, totals);
    if (ledger == LedgerDetail::none) {
      EXPECT_EQ(totals.stored, 0);
    }
    return table.values;
  };
  const auto with = run.template operator()<LedgerDetail::totals>();
  const auto without = run.template operator()<LedgerDetail::none>();
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_TRUE(same_bits(with[i], without[i]));
  }
}

}  // namespace
}  // namespace bristle::contract
