#include "bench/laws/plain_loops.hpp"

#include <cmath>

#define IN const double* __restrict__
#define OUT double* __restrict__

// BRISTLE_VECTORISED is 1 or 0: which of the two this compilation makes.

namespace bench {

template <bool v>
void Plain<v>::hunt_crossley(int n, IN depth, IN rate, OUT force, double k, double a) {
  for (int i = 0; i < n; i++) {
    const double z = depth[i] > 0 ? depth[i] : 0;
    const double f = k * z * std::sqrt(z) * (1 + a * rate[i]);
    force[i] = f > 0 ? f : 0;
  }
}

template <bool v>
void Plain<v>::azad_featherstone(int n, IN depth, IN rate, IN slip_x, IN slip_y, OUT u_x,
                                 OUT u_y, OUT normal, OUT f_x, OUT f_y, double k,
                                 double lambda, double k_t, double d_t, double mu,
                                 double h) {
  for (int i = 0; i < n; i++) {
    const double z = depth[i] > 0 ? depth[i] : 0;
    const double s = std::sqrt(z);
    double f = s * (k * z + lambda * rate[i]);
    f = f > 0 ? f : 0;
    const double stiffness = k_t * s;
    const double damping = d_t * s + 1e-300;
    double a_x = -stiffness * u_x[i] - damping * slip_x[i];
    double a_y = -stiffness * u_y[i] - damping * slip_y[i];
    const double m2 = a_x * a_x + a_y * a_y;
    const double limit = mu * f;
    const double scale = m2 > limit * limit ? limit / std::sqrt(m2 + 1e-300) : 1.0;
    a_x *= scale;
    a_y *= scale;
    normal[i] = f;
    f_x[i] = a_x;
    f_y[i] = a_y;
    const double n_x = u_x[i] - h * (a_x + stiffness * u_x[i]) / damping;
    const double n_y = u_y[i] - h * (a_y + stiffness * u_y[i]) / damping;
    const bool closed = z > 0;
    u_x[i] = closed ? n_x : 0;
    u_y[i] = closed ? n_y : 0;
  }
}

template <bool v>
void Plain<v>::gonthier(int n, IN normal, IN slip_x, IN slip_y, OUT z_x, OUT z_y,
                        OUT dwell, OUT f_x, OUT f_y, double s0, double s1, double s2,
                        double mu_c, double mu_s, double v_s, double tau_dw, double h) {
  const double per_vs2 = 1 / (v_s * v_s);
  const double tau_br = s1 / s0;
  const double eps2 = 1e-12;
  for (int i = 0; i < n; i++) {
    const double v2 = slip_x[i] * slip_x[i] + slip_y[i] * slip_y[i];
    const double b = std::exp(-v2 * per_vs2);
    const double tau = b > dwell[i] ? tau_dw : tau_br;
    const double s = (dwell[i] + h / tau * b) / (1 + h / tau);
    const double f_c = normal[i] * mu_c;
    const double f_m = normal[i] * (mu_c + (mu_s - mu_c) * s);
    const double per_v = 1 / std::sqrt(v2 + eps2);
    const double d_x = slip_x[i] * per_v;
    const double d_y = slip_y[i] * per_v;
    const double g = (1 - b) / tau_br;
    const double den = 1 / (1 + h * g);
    double n_x = (z_x[i] + h * (b * slip_x[i] + (1 - b) * f_c * d_x / s1)) * den;
    double n_y = (z_y[i] + h * (b * slip_y[i] + (1 - b) * f_c * d_y / s1)) * den;
    const double rate_x = (n_x - z_x[i]) / h;
    const double rate_y = (n_y - z_y[i]) / h;
    const double z2 = s0 * s0 * (n_x * n_x + n_y * n_y);
    const double scale = z2 > f_m * f_m ? f_m / std::sqrt(z2) : 1.0;
    n_x *= scale;
    n_y *= scale;
    f_x[i] = -(s0 * n_x + s1 * rate_x + s2 * slip_x[i]);
    f_y[i] = -(s0 * n_y + s1 * rate_y + s2 * slip_y[i]);
    z_x[i] = n_x;
    z_y[i] = n_y;
    dwell[i] = s;
  }
}

template struct Plain<BRISTLE_VECTORISED>;

}  // namespace bench
