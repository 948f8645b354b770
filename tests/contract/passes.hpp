#pragma once

#include <cmath>
#include <vector>

#include "bristle/contact/pass.hpp"
#include "tests/contract/allocations.hpp"
#include "tests/contract/support.hpp"

// Passes over columns of contacts against one contact after another.

namespace bristle::contract {

/// Contacts in columns, with room to see what is written outside the range.
template <class N>
struct Table {
  explicit Table(std::size_t count, std::size_t normal_fields,
                 std::size_t friction_fields)
      : size(count + 16),
        values(size * (9 + normal_fields + friction_fields), N(0)),
        columns{column(0),
                column(1),
                column(2),
                column(3),
                {column(9), size},
                {column(9 + normal_fields), size},
                column(4),
                column(5),
                column(6),
                {column(9), size},
                {column(9 + normal_fields), size}} {
    columns.slip_z = column(7);
    columns.friction_z = column(8);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  N* column(std::size_t i) { return values.data() + i * size; }

  std::size_t size;
  std::vector<N> values;
  ContactColumns<N> columns;
};

template <class N, int D>
void put_motion(Table<N>& table, std::size_t i, const Kinematics<N, D>& kin) {
  table.column(0)[i] = kin.depth;
  table.column(1)[i] = kin.rate;
  table.column(2)[i] = kin.slip.x;
  table.column(3)[i] = kin.slip.y;
  if constexpr (D == 3) table.column(7)[i] = kin.slip.z;
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

}  // namespace bristle::contract
