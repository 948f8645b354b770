#include "tests/contract/passes.hpp"

namespace bristle::contract {
namespace {

template <class L, class N>
void check_normal_pass() {
  Random random(41);
  for (const ContactRange range : ranges<N>()) {
    const auto p = cast_params<L, N, double>(
        draw_params<L>(random, static_cast<unsigned>(random.below(4)), Spread::near));
    using S = typename L::template State<N>;
    Table<N> table(range.end, field_count<S, N>, 0);
    std::vector<Sample<L, N>> contacts;
    for (std::size_t i = 0; i < table.size; ++i) {
      contacts.push_back(cast_sample<N>(draw_normal<L>(random, 0)));
      put_motion(table, i, contacts[i].kin);
      put_state(table.columns.normal_next, i, contacts[i].state);
    }
    const auto h = static_cast<N>(1e-3);
    LawTotals totals;
    const AllocationCount count;
    normal_pass<L, LedgerDetail::totals, N>(p, table.columns, range, h, totals);
    EXPECT_EQ(count.since(), 0);

    Totals expected;
    for (std::size_t i = 0; i < table.size; ++i) {
      const S state = get_state<S, N>(table.columns.normal_next, i);
      if (i < range.begin || i >= range.end) {
        EXPECT_TRUE(same_bits(table.columns.normal_force[i], N(0)));
        EXPECT_TRUE(same_fields<N>(state, contacts[i].state));
        continue;
      }
      const auto step = advance<L>(p, contacts[i].state, contacts[i].kin, h);
      EXPECT_TRUE(same_bits(step.force, table.columns.normal_force[i]));
      EXPECT_TRUE(same_fields<N>(step.state, state));
      expected.add(step);
    }
    expected.expect_equal<N>(totals, range.end - range.begin);
  }
}

template <class L>
class NormalPass : public ::testing::Test {};
TYPED_TEST_SUITE(NormalPass, NormalTypes, LawName);

TYPED_TEST(NormalPass, EqualsOneContactAfterAnother) {
  check_normal_pass<TypeParam, double>();
  check_normal_pass<TypeParam, float>();
}

}  // namespace
}  // namespace bristle::contract
