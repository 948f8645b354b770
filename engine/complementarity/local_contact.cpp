#include "bristle/complementarity/local_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bristle {

namespace {

constexpr int lanes = contact_lanes;

// A principal mobility below this share of the largest one is rounding.
constexpr double singular = 1e-10;

/// Eigenvalues and eigenvectors by cyclic Jacobi rotations; destroys m.
void diagonalise(int k, double m[max_tangents][max_tangents], TangentAxes& axes) {
  for (int i = 0; i < max_tangents; ++i) {
    for (int j = 0; j < max_tangents; ++j) axes.axis[i][j] = i == j ? 1 : 0;
  }
  const int sweeps = k == 2 ? 1 : 30;  // one rotation is all there is to do in a plane
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    bool turned = false;
    for (int i = 0; i < k; ++i) {
      for (int j = i + 1; j < k; ++j) {
        if (std::abs(m[i][j]) <= 1e-17 * (std::abs(m[i][i]) + std::abs(m[j][j]))) {
          continue;
        }
        turned = true;
        const double half = (m[j][j] - m[i][i]) / (2 * m[i][j]);
        const double t =
            (half < 0 ? -1.0 : 1.0) / (std::abs(half) + std::sqrt(half * half + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        const double s = t * c;
        for (int l = 0; l < k; ++l) {
          const double a = m[l][i], b = m[l][j];
          m[l][i] = c * a - s * b;
          m[l][j] = s * a + c * b;
        }
        for (int l = 0; l < k; ++l) {
          const double a = m[i][l], b = m[j][l];
          m[i][l] = c * a - s * b;
          m[j][l] = s * a + c * b;
          const double u = axes.axis[i][l], v = axes.axis[j][l];
          axes.axis[i][l] = c * u - s * v;
          axes.axis[j][l] = s * u + c * v;
        }
      }
    }
    if (!turned) break;
  }
  for (int i = 0; i < max_tangents; ++i) axes.value[i] = i < k ? m[i][i] : 0;
}

/// `size` is what a mobility of the tangent plane is measured by.
void prepare_axes(int k, double m[max_tangents][max_tangents], double size,
                  TangentAxes& axes) {
  diagonalise(k, m, axes);
  axes.shift = 0;
  for (int i = 0; i < k; ++i) {
    if (axes.value[i] < singular * size) axes.shift = singular * size;
  }
  axes.smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < k; ++i) {
    axes.value[i] = std::max(axes.value[i], 0.0) + axes.shift;
    axes.smallest = std::min(axes.smallest, axes.value[i]);
  }
  axes.inverse_smallest = axes.smallest > 0 ? 1 / axes.smallest : 0;
  axes.round = true;
  for (int i = 0; i < k; ++i) {
    axes.round = axes.round && axes.value[i] <= (1 + 1e-14) * axes.smallest;
  }
  for (int i = 0; i < max_tangents; ++i) {
    const bool bent = i < k && !axes.round;
    axes.bend[i] = bent ? 1 - axes.value[i] / axes.smallest : 0;
    axes.ease[i] = bent ? axes.smallest / axes.value[i] : 1;
    if (!axes.round) continue;
    for (int j = 0; j < max_tangents; ++j) axes.axis[i][j] = i == j ? 1 : 0;
  }
}

/// The zero of F in the axes of a tangent plane.
struct Trial {
  double p[max_tangents];  // in the principal axes
  double pull[max_tangents] = {};
  double bend[max_tangents];
  double target;  // s R′

  /// F and its derivative.
  double value(int k, double x, double& slope) const {
    double length2 = 0, pulled = 0, length2_slope = 0, pulled_slope = 0;
    for (int i = 0; i < k; ++i) {
      const double inverse = 1 / (1 - bend[i] * x);
      const double part = p[i] * inverse;
      const double change = part * bend[i] * inverse;
      length2 += part * part;
      length2_slope += part * change;
      pulled += pull[i] * part;
      pulled_slope += pull[i] * change;
    }
    const double length = std::sqrt(length2);
    slope = (length - pulled) +
            x * ((length > 0 ? length2_slope / length : 0.0) - pulled_slope);
    return x * (length - pulled) - target;
  }
};

/// Where F, negative at 0 and monotone or at least positive at 1, is zero. Newton's
/// method, kept within the interval of the change of sign.
double find_zero(const Trial& trial, int k, double at_one) {
  double low = 0, high = 1;
  double x = trial.target / (at_one + trial.target);  // exact for equal eigenvalues
  for (int i = 0; i < 100; ++i) {
    double slope = 0;
    const double f = trial.value(k, x, slope);
    if (f == 0) return x;
    (f < 0 ? low : high) = x;
    double next = x - f / slope;
    const bool inside = next > low && next < high;
    if (!inside) next = 0.5 * (low + high);
    if (std::abs(next - x) <= 1e-9 * x) return next;  // to rounding: it squares errors
    x = next;
  }
  return x;
}

Trial trial_of(const TangentAxes& axes, int k, const double* p, const double* z_t,
               double radius) {
  Trial trial;
  for (int i = 0; i < k; ++i) {
    double along = 0;
    for (int j = 0; j < k; ++j) {
      along += axes.axis[i][j] * (p[j] - axes.shift * z_t[j]);
    }
    trial.p[i] = along;
    trial.bend[i] = axes.bend[i];
  }
  trial.target = axes.smallest * radius;
  return trial;
}

/// z_t at x.
void tangential(const TangentAxes& axes, const Trial& trial, int k, double x,
                double* z_t) {
  double part[max_tangents];
  for (int i = 0; i < k; ++i) {
    part[i] = -trial.p[i] * x / (axes.smallest * (1 - trial.bend[i] * x));
  }
  for (int j = 0; j < k; ++j) {
    z_t[j] = 0;
    for (int i = 0; i < k; ++i) z_t[j] += axes.axis[i][j] * part[i];
  }
}

/// Onto the disc: what rounding left outside.
void pull_inside(int k, double radius, double* z_t) {
  double length2 = 0;
  for (int j = 0; j < k; ++j) length2 += z_t[j] * z_t[j];
  if (length2 <= radius * radius) return;
  const double scale = radius / std::sqrt(length2);
  for (int j = 0; j < k; ++j) z_t[j] *= scale;
}

double normal_impulse(const LocalContact& c, const double* q, const double* z_t) {
  double w = q[0];
  for (int j = 0; j < c.tangents; ++j) w += c.block[0][1 + j] * z_t[j];
  return -w * c.inverse_normal;
}

/// A polynomial of degree at most 2k.
struct Polynomial {
  static constexpr int most = 2 * max_tangents;
  double c[most + 1] = {};
  int degree = 0;

  double at(double x) const {
    double sum = c[degree];
    for (int i = degree; i-- > 0;) sum = sum * x + c[i];
    return sum;
  }
  Polynomial derivative() const {
    Polynomial d;
    d.degree = std::max(degree - 1, 0);
    for (int i = 1; i <= degree; ++i) d.c[i - 1] = i * c[i];
    return d;
  }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial r;
    r.degree = a.degree + b.degree;
    for (int i = 0; i <= a.degree; ++i) {
      for (int j = 0; j <= b.degree; ++j) r.c[i + j] += a.c[i] * b.c[j];
    }
    return r;
  }
  friend Polynomial operator+(const Polynomial& a, const Polynomial& b) {
    Polynomial r;
    r.degree = std::max(a.degree, b.degree);
    for (int i = 0; i <= r.degree; ++i) r.c[i] = a.c[i] + b.c[i];
    return r;
  }
  friend Polynomial operator*(double k, Polynomial a) {
    for (double& x : a.c) x *= k;
    return a;
  }
};

/// All sign changes in (0, 1): between neighbouring zeros of the derivative there is at
/// most one.
int zeros(const Polynomial& f, double* found) {
  if (f.degree == 0) return 0;
  double ends[Polynomial::most + 2];
  ends[0] = 0;
  int pieces = zeros(f.derivative(), ends + 1) + 1;
  ends[pieces] = 1;
  int count = 0;
  for (int i = 0; i < pieces; ++i) {
    double low = ends[i], high = ends[i + 1];
    const bool rising = f.at(low) < 0;
    if ((f.at(high) < 0) == rising) continue;
    while (true) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      ((f.at(middle) < 0) == rising ? low : high) = middle;
    }
    found[count++] = high;
  }
  return count;
}

/// x² Σ p_i² N_i² − (s R′ D + x Σ a_i p_i N_i)², D = Π d_j, N_i = D/d_i: zero where the
/// cone is reached, from either side of its apex.
Polynomial cone_polynomial(const Trial& t, int k) {
  Polynomial product{{1}, 0}, weighted, squares;
  const Polynomial x{{0, 1}, 1};
  for (int i = 0; i < k; ++i) product = product * Polynomial{{1, -t.bend[i]}, 1};
  for (int i = 0; i < k; ++i) {
    Polynomial others{{1}, 0};
    for (int j = 0; j < k; ++j) {
      if (j != i) others = others * Polynomial{{1, -t.bend[j]}, 1};
    }
    const Polynomial part = x * others;
    weighted = weighted + (t.pull[i] * t.p[i]) * part;
    squares = squares + (t.p[i] * t.p[i]) * (part * part);
  }
  const Polynomial cone = t.target * product + weighted;
  return squares + -1.0 * (cone * cone);
}

/// All answers of a contact whose F need not be monotone.
int solve_among_several(const LocalContact& c, const double* q, const Trial& trial,
                        double at_one, double* z) {
  double x[Polynomial::most + 1];
  int count = zeros(cone_polynomial(trial, c.tangents), x);
  // Only one nappe of the cone has R ≥ 0, that is F = 0 and not its mirror image.
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    double pulled = trial.target;
    for (int j = 0; j < c.tangents; ++j) {
      pulled += x[i] * trial.pull[j] * trial.p[j] / (1 - trial.bend[j] * x[i]);
    }
    if (pulled > 0) x[kept++] = x[i];
  }
  // Sticking, unless it is where sliding ends.
  if (at_one <= 0 && (kept == 0 || x[kept - 1] < 1 - 1e-9)) x[kept++] = 1;
  if (kept == 0 && q[0] < 0) x[kept++] = find_zero(trial, c.tangents, at_one);
  const bool may_open = q[0] >= 0;
  double best[lanes] = {};
  bool found = may_open;
  for (int i = 0; i < kept; ++i) {
    double closed[lanes] = {};
    tangential(c.closed, trial, c.tangents, x[i], closed + 1);
    closed[0] = std::max(normal_impulse(c, q, closed + 1), 0.0);
    if (!found || closed[0] < best[0]) std::copy_n(closed, lanes, best);
    found = true;
  }
  std::copy_n(best, lanes, z);
  pull_inside(c.tangents, c.friction * z[0], z + 1);
  return kept + (may_open ? 1 : 0);
}

/// A contact without friction, or pressed by nothing.
int solve_normal(const LocalContact& c, const double* q, double* z) {
  for (int j = 1; j <= c.tangents; ++j) z[j] = 0;
  z[0] = std::max(-q[0] * c.inverse_normal, 0.0);
  return 1;
}

}  // namespace

void add_compliance(LocalContact& c, const double* compliance) noexcept {
  c.prepared = false;
  for (int i = 0; i < lanes; ++i) {
    for (int j = 0; j < lanes; ++j) c.block[i][j] = c.mobility[i][j];
    if (i <= c.tangents) c.block[i][i] += compliance[i];
    c.diagonal[i] = c.block[i][i];
  }
  c.inverse_normal = c.block[0][0] > 0 ? 1 / c.block[0][0] : 0;
  c.largest_tangent = 0;
  for (int i = 1; i <= c.tangents; ++i) {
    c.largest_tangent = std::max(c.largest_tangent, c.block[i][i]);
  }
}

void prepare(LocalContact& c) noexcept {
  c.prepared = true;
  const int k = c.tangents;
  double plain[max_tangents][max_tangents] = {};
  double schur[max_tangents][max_tangents] = {};
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) {
      plain[i][j] = c.block[1 + i][1 + j];
      schur[i][j] =
          plain[i][j] - c.block[0][1 + i] * c.block[0][1 + j] * c.inverse_normal;
    }
  }
  const double size = c.largest_tangent > 0 ? c.largest_tangent : c.block[0][0];
  prepare_axes(k, plain, size, c.open);
  prepare_axes(k, schur, size, c.closed);
  double pull2 = 0, largest = 0;
  for (int i = 0; i < max_tangents; ++i) {
    c.pull[i] = 0;
    if (i >= k) continue;
    for (int j = 0; j < k; ++j) c.pull[i] += c.closed.axis[i][j] * c.block[0][1 + j];
    c.pull[i] *= c.friction * c.inverse_normal;
    pull2 += c.pull[i] * c.pull[i];
    largest = std::max(largest, c.closed.value[i]);
  }
  const double condition = largest / c.closed.smallest;
  c.one_answer = pull2 * (1 + condition) * (1 + condition) < 4 * condition;
}

int solve_coupled(const LocalContact& c, const double* q, double* z) noexcept {
  if (c.inverse_normal == 0) {
    if (q[0] < 0) return 0;
    std::fill_n(z, 1 + c.tangents, 0.0);
    return 1;
  }
  if (c.friction == 0 || (c.one_answer && q[0] >= 0)) return solve_normal(c, q, z);
  const double unyielding = -q[0] * c.inverse_normal;  // z_n without friction
  double p[max_tangents];
  for (int j = 0; j < c.tangents; ++j) p[j] = q[1 + j] + c.block[0][1 + j] * unyielding;
  Trial trial = trial_of(c.closed, c.tangents, p, z + 1, c.friction * unyielding);
  for (int i = 0; i < c.tangents; ++i) trial.pull[i] = c.pull[i];
  double slope = 0;
  const double at_one = trial.value(c.tangents, 1, slope);
  if (!c.one_answer) return solve_among_several(c, q, trial, at_one, z);
  const double x = at_one <= 0 ? 1 : find_zero(trial, c.tangents, at_one);
  tangential(c.closed, trial, c.tangents, x, z + 1);
  z[0] = std::max(normal_impulse(c, q, z + 1), 0.0);
  pull_inside(c.tangents, c.friction * z[0], z + 1);
  return 1;
}

int solve_held(const LocalContact& c, const double* q, double* z) noexcept {
  const auto solve_tangents = [&](const TangentAxes& axes, const double* p) {
    double slope = 0;
    const Trial trial = trial_of(axes, c.tangents, p, z + 1, c.radius);
    const double at_one = trial.value(c.tangents, 1, slope);
    const double x = at_one <= 0 ? 1 : find_zero(trial, c.tangents, at_one);
    double found[max_tangents];
    tangential(axes, trial, c.tangents, x, found);
    pull_inside(c.tangents, c.radius, found);
    std::copy_n(found, c.tangents, z + 1);
  };
  double start[max_tangents];
  std::copy_n(z + 1, max_tangents, start);
  if (c.inverse_normal == 0 && q[0] < 0) return 0;
  if (!(c.radius > 0)) return solve_normal(c, q, z);
  if (c.inverse_normal > 0) {
    double p[max_tangents];
    for (int j = 0; j < c.tangents; ++j) {
      p[j] = q[1 + j] - c.block[0][1 + j] * (q[0] * c.inverse_normal);
    }
    solve_tangents(c.closed, p);
    z[0] = normal_impulse(c, q, z + 1);
    if (z[0] >= 0) return 1;
    std::copy_n(start, max_tangents, z + 1);
  }
  z[0] = 0;
  solve_tangents(c.open, q + 1);
  return 1;
}

namespace {

/// Solves m x = r by elimination with partial pivoting; false where m is singular.
bool eliminate(int n, double m[lanes][lanes], double* r) {
  for (int i = 0; i < n; ++i) {
    int pivot = i;
    for (int j = i + 1; j < n; ++j) {
      if (std::abs(m[j][i]) > std::abs(m[pivot][i])) pivot = j;
    }
    if (m[pivot][i] == 0) return false;
    for (int j = 0; j < n; ++j) std::swap(m[i][j], m[pivot][j]);
    std::swap(r[i], r[pivot]);
    for (int j = i + 1; j < n; ++j) {
      const double factor = m[j][i] / m[i][i];
      for (int l = i; l < n; ++l) m[j][l] -= factor * m[i][l];
      r[j] -= factor * r[i];
    }
  }
  for (int i = n; i-- > 0;) {
    for (int j = i + 1; j < n; ++j) r[i] -= m[i][j] * r[j];
    r[i] /= m[i][i];
  }
  return true;
}

/// One choice of active bounds: which of −1, 0, 1 each tangent is at, and whether the
/// normal is closed. Returns by how much the answer breaks the conditions [m/s]; infinite
/// where there is none.
double try_box(const LocalContact& c, bool held, const double* q, bool closed,
               const int* side, double* z) {
  const int n = 1 + c.tangents;
  const double mu = held ? 0 : c.friction;
  const double given = held ? c.radius : 0;
  double m[lanes][lanes] = {};
  m[0][0] = 1;
  z[0] = 0;
  for (int i = closed ? 0 : 1; i < n; ++i) {
    const int at = i == 0 ? 0 : side[i - 1];
    for (int j = 0; j < n; ++j) m[i][j] = at == 0 ? c.block[i][j] : (i == j ? 1 : 0);
    if (at != 0) m[i][0] -= at * mu;
    z[i] = at == 0 ? -q[i] : at * given;
  }
  if (!eliminate(n, m, z)) return std::numeric_limits<double>::infinity();
  const double radius = given + mu * z[0];
  double broken = closed ? -z[0] * c.block[0][0] : 0;
  for (int i = 0; i < n; ++i) {
    double w = q[i];
    for (int j = 0; j < n; ++j) w += c.block[i][j] * z[j];
    if (i == 0) {
      if (!closed) broken = std::max(broken, -w);
    } else if (side[i - 1] != 0) {
      broken = std::max(broken, w * side[i - 1]);
    } else {
      broken = std::max(broken, (std::abs(z[i]) - radius) * c.block[i][i]);
    }
  }
  return std::isfinite(broken) ? broken : std::numeric_limits<double>::infinity();
}

}  // namespace

int solve_box(const LocalContact& c, bool held, const double* q, double* z) noexcept {
  if (c.inverse_normal == 0 && q[0] < 0) return 0;
  const int n = 1 + c.tangents;
  double size = 0;
  for (int i = 0; i < n; ++i) size = std::max(size, std::abs(q[i]));
  int choices = 2;
  for (int i = 0; i < c.tangents; ++i) choices *= 3;
  // The first choice that fits, open before closed; the best where rounding lets none.
  double best[lanes] = {};
  double least = std::numeric_limits<double>::infinity();
  int answers = 0;
  for (int choice = 0; choice < choices; ++choice) {
    int side[max_tangents];
    int rest = choice / 2;
    for (int i = 0; i < c.tangents; ++i) {
      side[i] = rest % 3 - 1;
      rest /= 3;
    }
    double candidate[lanes] = {};
    const double broken = try_box(c, held, q, choice % 2 == 1, side, candidate);
    const bool fits = broken <= 1e-12 * size;
    if (fits && answers > 0) {
      double apart = 0;
      for (int i = 0; i < n; ++i) {
        apart = std::max(apart, std::abs(candidate[i] - best[i]) * c.block[i][i]);
      }
      if (apart <= 1e-9 * size) continue;
    }
    if (fits) ++answers;
    const bool better =
        fits ? answers == 1 || candidate[0] < best[0] : answers == 0 && broken < least;
    if (!better) continue;
    least = broken;
    std::copy_n(candidate, lanes, best);
  }
  std::copy_n(best, lanes, z);
  z[0] = std::max(z[0], 0.0);
  return std::max(answers, 1);
}

}  // namespace bristle
