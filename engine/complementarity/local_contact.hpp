#pragma once

#include "bristle/core/pack.hpp"

// The problem of one contact, all others held: a normal impulse z_n and k tangential
// ones z_t, with w = A z + q,
//
//   0 ≤ z_n ⟂ w_n ≥ 0,   |z_t| ≤ R,   w_t = −γ z_t,   γ ≥ 0,   γ (R − |z_t|) = 0,
//
// R = μ z_n (coupled) or given (held). A is the contact's own block, symmetric and
// positive. Closed contacts have w_n = 0, so that with S = A_TT − A_TN A_NT/A_NN and
// p = q_T − A_TN q_N/A_NN, both in the principal axes of S (eigenvalues s_i, smallest s),
//
//   z_t = −(S + γ)⁻¹ p,   z_n = −(q_N + A_NT z_t)/A_NN.
//
// x = s/(s + γ) runs from 0 (slides freely) to 1 (sticks). Writing d_i = 1 − (1 − s_i/s)
// x and a = μ A_NT/A_NN, the cone is reached where
//
//   F(x) = x (√Σ(p_i/d_i)² − Σ a_i p_i/d_i) − s R′ = 0,   R′ = −μ q_N/A_NN, or R.
//
// F is monotone, and the contact has one solution, whenever |a| < 2√κ/(1 + κ), κ the
// condition of S (Kantorovich's inequality; |a| < 1 for equal eigenvalues). Otherwise all
// zeros are found, as those of a polynomial of degree 2k (Bonnefon & Daviet 2011, the
// "quartic formulation", for k = 2). An answer always exists where A_NN > 0: q_N ≥ 0 is
// solved by z = 0; for q_N < 0, F(0) < 0, and either F(1) ≤ 0, which sticks, or F has a
// zero. Painlevé's cases are those with several answers (q_N ≥ 0: open, and a pair of
// closed ones); the one of least normal impulse is taken, from any start.

namespace bristle {

inline constexpr int max_tangents = 3;
inline constexpr int contact_lanes = 1 + max_tangents;

/// The shape of the bound on z_t: |z_t| ≤ R, or |z_ti| ≤ R as printed by Peiret,
/// Kövecses & Font-Llagunes, which grants √2 R obliquely: a negative control.
enum class ConeShape { isotropic, box };

/// A symmetric matrix of the tangent plane by its principal axes.
struct TangentAxes {
  double axis[max_tangents][max_tangents];  // axis[i]: the i-th, in the contact's axes
  double value[max_tangents];               // eigenvalues s_i, `shift` included
  double bend[max_tangents];                // 1 − s_i/s ≤ 0
  double ease[max_tangents];                // s/s_i
  double smallest;                          // s
  double inverse_smallest;
  double shift;  // added to a singular matrix; the answer then stays near the last one
  bool round;    // all eigenvalues are equal; the axes are then the contact's
};

/// What a contact needs to solve its own problem: A once per layout, the rest where a
/// solver asks for it. Everything is zero beyond the k tangents.
struct LocalContact {
  int tangents = 2;       // k
  bool prepared = false;  // one_answer, pull, closed and open are known
  bool one_answer;        // coupled bounds have one answer, whatever q
  double friction = 0;    // μ
  double inverse_normal;  // 1/A_NN; 0 where nothing gives way
  double mobility[contact_lanes][contact_lanes];  // A without C
  double diagonal[contact_lanes];                 // of A
  double pull[max_tangents];                      // a in the axes of S
  TangentAxes closed;                             // of S
  TangentAxes open;                               // of A_TT
  double block[contact_lanes][contact_lanes];     // A
  double radius = 0;                              // R where bounds are held [N s]
  double largest_tangent;                         // of the diagonal of A_TT
};

/// Fills in A and its diagonal from mobility and C.
void add_compliance(LocalContact& contact, const double* compliance) noexcept;
/// Fills in everything else that follows from them, tangents and friction.
void prepare(LocalContact& contact) noexcept;

/// Solves a contact, q and z having contact_lanes numbers; z holds its last impulses and
/// gets the new ones. Returns the number of answers: 0 where nothing gives way to a
/// contact that closes (z stays).
int solve_coupled(const LocalContact& contact, const double* q, double* z) noexcept;
int solve_held(const LocalContact& contact, const double* q, double* z) noexcept;
int solve_box(const LocalContact& contact, bool held, const double* q,
              double* z) noexcept;

using ContactLanes = Pack<double, contact_lanes>;

namespace detail {

/// Coupled bounds where no iteration is needed: the contact opens, sticks, or slides on
/// a round plane, one with equal eigenvalues. False where it does something else.
template <int k, bool round>
BRISTLE_INLINE bool solve_at_once(const LocalContact& c, const double* q,
                                  ContactLanes& z) {
  if (q[0] >= 0) {
    z = 0;
    return true;
  }
  const TangentAxes& axes = c.closed;
  const double unyielding = -q[0] * c.inverse_normal;  // z_n without friction
  double p[k], part[k], length2 = 0, pulled = 0;
  for (int j = 0; j < k; ++j) p[j] = q[1 + j] + c.block[0][1 + j] * unyielding;
  for (int i = 0; i < k; ++i) {
    part[i] = p[i];
    if constexpr (!round) {
      part[i] = 0;
      for (int j = 0; j < k; ++j) part[i] += axes.axis[i][j] * p[j];
      part[i] *= axes.ease[i];
    }
    length2 += part[i] * part[i];
    pulled += c.pull[i] * part[i];
  }
  const double target = axes.smallest * c.friction * unyielding;
  const double reach = target + pulled;
  double scale = -axes.inverse_smallest;
  const bool sticks = reach >= 0 && length2 <= reach * reach;
  if (!sticks) {
    if (!round) return false;
    scale = -(c.friction * unyielding) / (bristle::sqrt(length2) - pulled);
  }
  double t[max_tangents] = {}, w = q[0];
  for (int j = 0; j < k; ++j) {
    t[j] = part[j];
    if constexpr (!round) {
      t[j] = 0;
      for (int i = 0; i < k; ++i) t[j] += axes.axis[i][j] * part[i];
    }
    t[j] *= scale;
    w += c.block[0][1 + j] * t[j];
  }
  z.set(0, max(-w * c.inverse_normal, 0.0));
  for (int j = 0; j < max_tangents; ++j) z.set(1 + j, t[j]);
  return true;
}

template <int k>
BRISTLE_INLINE bool solve_at_once(const LocalContact& c, const double* q,
                                  ContactLanes& z) {
  if (!c.one_answer || c.closed.shift > 0) return false;
  return c.closed.round ? solve_at_once<k, true>(c, q, z)
                        : solve_at_once<k, false>(c, q, z);
}

}  // namespace detail

/// As above, at once where that is possible.
BRISTLE_INLINE int solve_coupled(const LocalContact& c, const ContactLanes& q,
                                 ContactLanes& z) {
  double own[contact_lanes];
  q.store(own);
  const bool done = c.tangents == 2   ? detail::solve_at_once<2>(c, own, z)
                    : c.tangents == 1 ? detail::solve_at_once<1>(c, own, z)
                                      : detail::solve_at_once<3>(c, own, z);
  if (done) return 1;
  double last[contact_lanes];
  z.store(last);
  const int answers = solve_coupled(c, own, last);
  z = ContactLanes::load(last);
  return answers;
}

}  // namespace bristle
