#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "bristle/complementarity/local_contact.hpp"

// The boxed complementarity problem of a step (Peiret, Kövecses & Font-Llagunes, eq. 4,
// with the velocities eliminated) for the impulses z = hλ of its rows:
//
//   w = A z + b,   A = J M⁻¹ Jᵀ + diag(C),   b = J v_free + r
//
//   l < z < u ⇒ w = 0,   z = l ⇒ w ≥ 0,   z = u ⇒ w ≤ 0
//
// and for a contact, a normal row with k = 1 … 3 tangent rows after it,
//
//   0 ≤ z_n ⟂ w_n ≥ 0,   z_t on the disc |z_t| ≤ R,
//   w_t opposite to z_t where |z_t| = R.
//
// R = μ z_n (coupled bounds), or given (held: the paper's, from the last step or from an
// iteration). The paper bounds the components of z_t one by one; that is ConeShape::box.
// A relaxed row (C > 0) with r = −λ_E⁻/(hK + D) is backward Euler on a spring, and the
// disc is then the radial return of the trial force −(v_t + r)/C.
//
// A is never formed for all rows. It is given by sparse half rows W with
// W Wᵀ = J M⁻¹ Jᵀ (dynamics/inverse_inertia.hpp): those of a contact touch only the
// velocities on the way from its links to the world. y = Wᵀz is kept up to date, so that
// w of a row, and a change of its z, cost its non-zeros.
//
// Rows that share no velocity are apart: `finish` sorts the problem into islands, in the
// order of their first rows, each with rows, half rows and velocities of its own in one
// piece. No function allocates, except to grow beyond what was ever needed before.

namespace bristle {

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Where the radius of a friction disc comes from.
enum class ConeBounds { coupled, held };

/// A contact as it is added. Numbers of the normal come first.
struct ConeRows {
  int tangents = 2;                       // k
  double b[contact_lanes] = {};           // free velocity and r [m/s]
  double compliance[contact_lanes] = {};  // C ≥ 0 [m/(N s)]
  double friction = 0;                    // μ ≥ 0
  double radius = 0;                      // R where bounds are held [N s]
};

/// Rows that are solved together: one with bounds, or a contact. Their half rows lie in
/// quads: four neighbouring velocities, zero where a row does not touch one, with the
/// rows of the unit one after the other.
struct Unit {
  int row;      // the first one, in the island
  int rows;     // 1, or 1 + k
  int quad;     // the first one, in the island
  int quads;    // how many
  int half;     // where their numbers begin, in the island
  int contact;  // in the island; −1: a row with bounds
};

/// One island, all indices its own.
struct Island {
  std::span<const Unit> units;
  std::span<const double> b, compliance, lower, upper;
  std::span<const double> diagonal;  // of A
  std::span<LocalContact> contacts;
  const int* first;      // velocity of each quad
  const double* halves;  // numbers of the quads
  int velocities = 0;    // of y, with what the last quad reads beyond
  double scale = 0;      // free velocity: the largest |b|, or A_ii times a bound beyond 0
  ConeShape shape = ConeShape::isotropic;
  ConeBounds bounds = ConeBounds::coupled;

  int rows() const { return static_cast<int>(b.size()); }
};

class ComplementarityProblem {
 public:
  /// Room for so many rows, each of which touches at most `entries` of the velocities.
  void reserve(int rows, int entries, int velocities);

  /// An empty problem over so many velocities.
  void begin(int velocities, ConeShape shape = ConeShape::isotropic,
             ConeBounds bounds = ConeBounds::coupled);

  /// A row l ≤ z ≤ u: bilateral with infinite bounds. Its half row is given by
  /// velocities in ascending order and one number each. Returns its index.
  int add_row(std::span<const int> velocities, std::span<const double> half, double b,
              double compliance, double lower = -unbounded, double upper = unbounded);

  /// A contact with 1 + k rows, its half rows one after the other over the same
  /// velocities. Returns the index of its normal row; tangents follow.
  int add_contact(std::span<const int> velocities, std::span<const double> halves,
                  const ConeRows& rows);

  /// Finds the islands and lays them out.
  void finish();

  /// Other numbers for what was added; lay_out_again() puts them into the islands. Half
  /// rows and the kinds of rows stay.
  void change_row(int row, double b, double compliance, double lower, double upper);
  void change_contact(int row, const ConeRows& rows);
  void lay_out_again();

  /// R = μ z_n for the next solve: bounds are held from now on.
  void hold_bounds(std::span<const double> z) noexcept;

  int row_count() const noexcept { return static_cast<int>(b_.size()); }
  int contact_count() const noexcept { return static_cast<int>(contacts_.size()); }
  int island_count() const noexcept { return static_cast<int>(parts_.size()); }
  Island island(int i) const noexcept;
  /// Row of the problem of each row of an island.
  std::span<const int> rows_of(int island) const noexcept;
  /// The largest island.
  int most_rows() const noexcept { return most_rows_; }
  int most_velocities() const noexcept { return most_velocities_; }

 private:
  struct Added {
    int row, rows, entry, entries, value, contact;
  };
  struct Part {
    int unit, units, row, rows, contact, contacts, quad, half, velocities;
    double scale;
  };

  int root(int velocity) noexcept;
  int add_unit(std::span<const int> velocities, int rows, int contact);
  void find_islands();
  void number_velocities();
  void lay_out(const Added& unit, const Part& part);
  void lay_out_numbers(const Added& unit, const Unit& laid, const Part& part);
  void find_scale(Part& part) const;
  void lay_out_halves(const Added& unit);

  ConeShape shape_ = ConeShape::isotropic;
  ConeBounds bounds_ = ConeBounds::coupled;

  // As added.
  std::vector<Added> added_;
  std::vector<int> touched_;
  std::vector<double> values_;
  std::vector<double> b_, compliance_, lower_, upper_;
  std::vector<ConeRows> contact_rows_;

  // Islands.
  std::vector<int> parent_;     // of a velocity, or a unit without: union-find
  std::vector<int> island_of_;  // of a root
  std::vector<int> local_;      // a velocity's index in its island
  std::vector<int> part_of_;    // a unit's island
  std::vector<int> order_;      // units by island
  std::vector<Part> parts_;
  int most_rows_ = 0, most_velocities_ = 0;

  // As laid out.
  std::vector<Unit> units_;
  std::vector<int> rows_;
  std::vector<int> first_;
  std::vector<double> halves_;
  std::vector<double> laid_b_, laid_compliance_, laid_lower_, laid_upper_, diagonal_;
  std::vector<double> mobility_;                // the diagonal without C
  mutable std::vector<LocalContact> contacts_;  // solvers prepare them
};

inline constexpr int quad_lanes = 4;
using Quad = Pack<double, quad_lanes>;

namespace detail {

/// The sums of four quads, each (0 + 1) + (2 + 3).
BRISTLE_INLINE ContactLanes sums(Quad a, Quad b, Quad c, Quad d) {
#if defined(__AVX__) && BRISTLE_VECTOR_TYPES
  const __m256d ab = _mm256_hadd_pd((__m256d)a.lanes, (__m256d)b.lanes);
  const __m256d cd = _mm256_hadd_pd((__m256d)c.lanes, (__m256d)d.lanes);
  return ContactLanes((ContactLanes::Lanes)_mm256_add_pd(
      _mm256_blend_pd(ab, cd, 0b1100), _mm256_permute2f128_pd(ab, cd, 0x21)));
#else
  ContactLanes r = 0;
  const Quad* const all[] = {&a, &b, &c, &d};
  for (int i = 0; i < contact_lanes; ++i) {
    const Quad& q = *all[i];
    r.set(i, (q[0] + q[1]) + (q[2] + q[3]));
  }
  return r;
#endif
}

template <int rows>
BRISTLE_INLINE ContactLanes rates_of(const Island& island, const Unit& unit,
                                     const double* y) {
  const int* first = island.first + unit.quad;
  const double* half = island.halves + unit.half;
  Quad sum[contact_lanes] = {0, 0, 0, 0};
  for (int q = 0; q < unit.quads; ++q) {
    const Quad own = Quad::load(y + first[q]);
    for (int i = 0; i < rows; ++i, half += quad_lanes) sum[i] += own * Quad::load(half);
  }
  return sums(sum[0], sum[1], sum[2], sum[3]);
}

template <int rows>
BRISTLE_INLINE void push_by(const Island& island, const Unit& unit,
                            const ContactLanes& dz, double* y) {
  const int* first = island.first + unit.quad;
  const double* half = island.halves + unit.half;
  for (int q = 0; q < unit.quads; ++q) {
    Quad own = Quad::load(y + first[q]);
    for (int i = 0; i < rows; ++i, half += quad_lanes) {
      own += Quad(dz[i]) * Quad::load(half);
    }
    own.store(y + first[q]);
  }
}

}  // namespace detail

/// W y of a unit, zero beyond its rows.
BRISTLE_INLINE ContactLanes rates_of(const Island& island, const Unit& unit,
                                     const double* y) {
  switch (unit.rows) {
    case 1:
      return detail::rates_of<1>(island, unit, y);
    case 2:
      return detail::rates_of<2>(island, unit, y);
    case 3:
      return detail::rates_of<3>(island, unit, y);
    default:
      return detail::rates_of<4>(island, unit, y);
  }
}

/// y += Wᵀ dz of a unit.
BRISTLE_INLINE void push_by(const Island& island, const Unit& unit,
                            const ContactLanes& dz, double* y) {
  switch (unit.rows) {
    case 1:
      return detail::push_by<1>(island, unit, dz, y);
    case 2:
      return detail::push_by<2>(island, unit, dz, y);
    case 3:
      return detail::push_by<3>(island, unit, dz, y);
    default:
      return detail::push_by<4>(island, unit, dz, y);
  }
}

/// y = Wᵀ z of an island.
void momentum(const Island& island, const double* z, double* y) noexcept;

/// w = W y + C z + b of all rows of an island.
void rates(const Island& island, const double* z, const double* y, double* w) noexcept;

/// How far z is from solving an island: the natural map z − P(z − ρ w), ρ = 1/A_ii,
/// times A_ii [m/s]. A disc has one ρ, by its largest A_ii.
struct Residual {
  double largest = 0;
  int row = -1;
};
Residual natural_map(const Island& island, const double* z, const double* w) noexcept;

/// Quantities for solvers of single contacts.
BRISTLE_INLINE void prepare_contacts(const Island& island) {
  for (LocalContact& contact : island.contacts) {
    if (!contact.prepared) prepare(contact);
  }
}

/// Puts z of a unit back into its bounds: radially onto the disc.
void confine(const Island& island, const Unit& unit, double* z) noexcept;

/// The radius of a contact's disc at its normal impulse.
BRISTLE_INLINE double radius_of(const Island& island, const LocalContact& contact,
                                double normal) {
  if (island.bounds == ConeBounds::held) return contact.radius;
  return normal > 0 ? contact.friction * normal : 0;
}

}  // namespace bristle
