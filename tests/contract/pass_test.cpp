#include "bristle/contact/pass.hpp"

#include <cmath>
#include <vector>

#include "tests/contract/allocations.hpp"
#include "tests/contract/support.hpp"

// Passes over columns of contacts against one contact after another.

namespace bristle::contract {
namespace {

/// Contacts in columns, with room to see what is written outside the range.
template <class N>
struct Table {
  explicit Table(std::size_t count, std::size_t normal_fields,
                 std::size_t friction_fields)
      : size(count + 16),
        values(size * (7 + normal_fields + friction_fields), N(0)),
        columns{column(0), column(1),         column(2),
                column(3), {column(7), size}, {column(7 + normal_fields), size},
                column(4), column(5),         column(6),
                {column(7), size}, {column(7 + normal_fields), size}} {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  N* column(std::size_t i) { return values.data() + i * size; }

  std::size_t size;
  std::vector<N> values;
  ContactColumns<N> columns;
};

template <class N>
void put_motion(Table<N>& table, std::size_t i, const Kinematics<N>& kin) {
  table.column(0)[i] = kin.depth;
  table.column(1)[i] = kin.rate;
  table.column(2)[i] = kin.slip.x;
  table.column(3)[i] = kin.slip.y;
}

template <class N, class S>
void put_state(const Columns<N>& columns, std::size_t i, const S& state) {
  for (std::size_t f = 0; f < field_count<S, N>; ++f) {
    columns.column(f)[i] = field<N>(state, f);
  }
}
template <class S, class N>
S get_state(const Columns<N>& columns, std::size_t i) {
  S state = zero_fields<S, N>();
  for (std::size_t f = 0; f < field_count<S, N>; ++f) {
    field<N>(state, f) = columns.column(f)[i];
  }
  return state;
}

/// Sums of numbers of one sign or not, and how large they are.
struct Total {
  double sum = 0;
  double size = 0;
  void add(double x) {
    sum += x;
    size += std::fabs(x);
  }
};

struct Totals {
  Total stored, damping, slip, viscous, parametric, unsupplied;

  template <class Step>
  void add(const Step& step) {
    stored.add(step.stored);
    damping.add(step.powers.damping);
    slip.add(step.powers.slip);
    viscous.add(step.powers.viscous);
    parametric.add(step.powers.parametric);
    unsupplied.add(step.powers.unsupplied);
  }
  template <class N>
  void expect_equal(const LawTotals& found, std::size_t count) const {
    const double eps = static_cast<double>(count + 2) * std::numeric_limits<N>::epsilon();
    const auto expect = [eps](const Total& a, double b, const char* line) {
      EXPECT_NEAR(a.sum, b, eps * a.size) << line;
    };
    expect(stored, found.stored, "stored");
    expect(damping, found.powers.damping, "damping");
    expect(slip, found.powers.slip, "slip");
    expect(viscous, found.powers.viscous, "viscous");
    expect(parametric, found.powers.parametric, "parametric");
    expect(unsupplied, found.powers.unsupplied, "unsupplied");
  }
};

/// Ranges that fill packs, leave a rest, start in the middle, or are empty.
template <class N>
std::vector<ContactRange> ranges() {
  std::vector<ContactRange> all;
  const auto width = static_cast<std::size_t>(ScalarTraits<NativePack<N>>::lanes);
  for (std::size_t n = 0; n <= 2 * width + 1; ++n) all.push_back({0, n});
  all.push_back({1, width + 3});
  all.push_back({3, 3});
  return all;
}

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
    normal_pass<L, Books::totals, N>(p, table.columns, range, h, totals);
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

template <class L, class N>
void check_friction_pass() {
  Random random(42);
  for (const ContactRange range : ranges<N>()) {
    const auto p = cast_params<L, N, double>(
        draw_params<L>(random, static_cast<unsigned>(random.below(4)), Spread::near));
    using S = typename L::template State<N>;
    Table<N> table(range.end, 0, field_count<S, N>);
    std::vector<Sample<L, N>> contacts;
    for (std::size_t i = 0; i < table.size; ++i) {
      contacts.push_back(cast_sample<N>(draw_friction<L>(random, 0)));
      put_motion(table, i, contacts[i].kin);
      table.columns.normal_force[i] = contacts[i].normal_force;
      put_state(table.columns.friction_next, i, contacts[i].state);
    }
    const auto h = static_cast<N>(1e-3);
    LawTotals totals;
    const AllocationCount count;
    friction_pass<L, Books::totals, N>(p, table.columns, range, h, totals);
    EXPECT_EQ(count.since(), 0);

    Totals expected;
    for (std::size_t i = 0; i < table.size; ++i) {
      const S state = get_state<S, N>(table.columns.friction_next, i);
      if (i < range.begin || i >= range.end) {
        EXPECT_TRUE(same_bits(table.columns.friction_x[i], N(0)));
        EXPECT_TRUE(same_fields<N>(state, contacts[i].state));
        continue;
      }
      const auto step =
          advance<L>(p, contacts[i].state, contacts[i].kin, contacts[i].normal_force, h);
      EXPECT_TRUE(same_bits(step.force.x, table.columns.friction_x[i]));
      EXPECT_TRUE(same_bits(step.force.y, table.columns.friction_y[i]));
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

template <class L>
class FrictionPass : public ::testing::Test {};
TYPED_TEST_SUITE(FrictionPass, FrictionTypes, LawName);

TYPED_TEST(FrictionPass, EqualsOneContactAfterAnother) {
  check_friction_pass<TypeParam, double>();
  check_friction_pass<TypeParam, float>();
}

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
    contact_passes<Normal, Friction, Books::totals, double>(
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
  const auto run = [&]<Books books>() {
    Random random(44);
    Table<double> table(count, field_count<StateOf<Normal>, double>,
                        field_count<StateOf<Friction>, double>);
    for (std::size_t i = 0; i < count; ++i) {
      put_motion(table, i, draw_kinematics(random));
      put_state(table.columns.normal_next, i, touch<Normal>(normal, 1.0));
    }
    LawTotals totals;
    contact_passes<Normal, Friction, books, double>(normal, friction, table.columns,
                                                    {0, count}, 1e-3, totals, totals);
    if (books == Books::none) {
      EXPECT_EQ(totals.stored, 0);
    }
    return table.values;
  };
  const auto with = run.template operator()<Books::totals>();
  const auto without = run.template operator()<Books::none>();
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_TRUE(same_bits(with[i], without[i]));
  }
}

}  // namespace
}  // namespace bristle::contract
