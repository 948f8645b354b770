#pragma once

// The loops that one would write by hand for one law each: struct of arrays, double, no
// abstraction. Compiled twice, once with the compiler's vectoriser and once without.

namespace bench {

template <bool vectorised>
struct Plain {
  /// f = k δ^{3/2} (1 + a δ̇)₊
  static void hunt_crossley(int n, const double* depth, const double* rate, double* force,
                            double k, double a);

  /// Azad & Featherstone's normal force and clutch, explicit Euler in the deformation u.
  static void azad_featherstone(int n, const double* depth, const double* rate,
                                const double* slip_x, const double* slip_y, double* u_x,
                                double* u_y, double* normal, double* f_x, double* f_y,
                                double k, double lambda, double k_t, double d_t,
                                double mu, double h);

  /// Gonthier's seven-parameter friction, semi-implicit in z and s_dw.
  static void gonthier(int n, const double* normal, const double* slip_x,
                       const double* slip_y, double* z_x, double* z_y, double* dwell,
                       double* f_x, double* f_y, double s0, double s1, double s2,
                       double mu_c, double mu_s, double v_s, double tau_dw, double h);
};

}  // namespace bench
