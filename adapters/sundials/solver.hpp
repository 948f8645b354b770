#pragma once

#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

#include <memory>
#include <span>
#include <string>

#include "adapters/sundials/sundials_clock.hpp"

// CVODE, ERKStep and ARKStep behind one small class. Only this room's own files include
// it: users of the clock need no header of SUNDIALS.

namespace bristle::sundials {

/// What is integrated: y′ = f(t, y), watched by functions that change their sign.
class Problem {
 public:
  virtual ~Problem() = default;
  /// False where f is not a number: SUNDIALS then tries a shorter step.
  virtual bool rates(double t, std::span<const double> y, double* rate) = 0;
  /// Column by column, `rate` being f(t, y).
  virtual bool slopes(double t, std::span<const double> y, std::span<const double> rate,
                      double* const* columns) = 0;
  virtual void watch(double t, std::span<const double> y, double* values) = 0;
  /// The error allowed in each number of a step.
  virtual void allowances(std::span<const double> y, double* allowed) = 0;
};

/// Frees what SUNDIALS made.
struct Free {
  void operator()(SUNContext context) const { SUNContext_Free(&context); }
  void operator()(N_Vector vector) const { N_VDestroy(vector); }
  void operator()(SUNMatrix matrix) const { SUNMatDestroy(matrix); }
  void operator()(SUNLinearSolver solver) const { SUNLinSolFree(solver); }
  void operator()(SUNNonlinearSolver solver) const { SUNNonlinSolFree(solver); }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Free>;

Owned<SUNContext> make_context();

struct Api;  // the functions of one of the three packages

/// Steps a problem of a fixed number of unknowns.
class Solver {
 public:
  Solver(SUNContext context, const SundialsOptions& options, std::size_t size,
         Problem& problem);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  struct Start {
    double time = 0;
    double first_step = 0;           // [s]
    std::span<int> root_directions;  // one per watched function: 1 rises, −1 falls
  };
  /// From y() on, without a past.
  bool restart(const Start& start);
  bool limit(double longest_step, double stop);
  bool aim(std::span<int> root_directions);

  enum class Outcome { step, root, failure };
  /// One step of its own choice, or to the first root in it.
  Outcome step(double until);
  double time() const { return time_; }
  /// Of the next step, as planned [s].
  double next_step() const;
  /// 1 or −1 where that function rose or fell through zero.
  const std::vector<int>& roots() const { return roots_; }

  std::span<double> y();
  /// y at a time within the last step.
  bool interpolate(double time, std::span<double> y);

  /// Steps and failed attempts since the last restart.
  long steps() const;
  long rejected() const;

  int flag() const { return flag_; }  // of the last call; 0 and more are fine
  const std::string& error() const { return error_; }

 private:
  bool good(int flag, const char* what);
  static int rates(double t, N_Vector y, N_Vector rate, void* self);
  static int slopes(double t, N_Vector y, N_Vector rate, SUNMatrix matrix, void* self,
                    N_Vector, N_Vector, N_Vector);
  static int watch(double t, N_Vector y, double* found, void* self);
  static int weights(N_Vector y, N_Vector weight, void* self);
  static void note(int code, const char* module, const char* function, char* message,
                   void* self);

  const Api& api_;
  Problem& problem_;
  std::size_t size_;
  void* memory_ = nullptr;
  Owned<N_Vector> y_, between_;
  Owned<SUNMatrix> matrix_;
  Owned<SUNLinearSolver> linear_;
  Owned<SUNNonlinearSolver> nonlinear_;
  std::vector<int> roots_;
  double time_ = 0;
  int flag_ = 0;
  std::string error_;
};

}  // namespace bristle::sundials
