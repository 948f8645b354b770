#include "adapters/sundials/solver.hpp"

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <cmath>
#include <new>

namespace bristle::sundials {

using RatesFunction = int (*)(double, N_Vector, N_Vector, void*);

/// The packages name and order the same things alike, but for how they begin.
struct Api {
  int (*reinit)(void*, RatesFunction, double, N_Vector);
  void (*free)(void**);
  int (*evolve)(void*, double, N_Vector, double*, int);
  int (*weights)(void*, int (*)(N_Vector, N_Vector, void*));
  int (*error_handler)(void*, void (*)(int, const char*, const char*, char*, void*),
                       void*);
  int (*user_data)(void*, void*);
  int (*root_init)(void*, int, int (*)(double, N_Vector, double*, void*));
  int (*root_direction)(void*, int*);
  int (*root_info)(void*, int*);
  int (*no_root_warning)(void*);
  int (*init_step)(void*, double);
  int (*max_step)(void*, double);
  int (*stop_time)(void*, double);
  int (*most_error_failures)(void*, int);
  int (*interpolate)(void*, double, int, N_Vector);
  int (*current_step)(void*, double*);
  int (*steps)(void*, long*);
  int (*error_failures)(void*, long*);
  int (*solve_failures)(void*, long*);
  char* (*flag_name)(long);
};

namespace {

constexpr Api cvode{
    [](void* m, RatesFunction, double t, N_Vector y) { return CVodeReInit(m, t, y); },
    CVodeFree,
    CVode,
    CVodeWFtolerances,
    CVodeSetErrHandlerFn,
    CVodeSetUserData,
    CVodeRootInit,
    CVodeSetRootDirection,
    CVodeGetRootInfo,
    CVodeSetNoInactiveRootWarn,
    CVodeSetInitStep,
    CVodeSetMaxStep,
    CVodeSetStopTime,
    CVodeSetMaxErrTestFails,
    CVodeGetDky,
    CVodeGetCurrentStep,
    CVodeGetNumSteps,
    CVodeGetNumErrTestFails,
    CVodeGetNumStepSolveFails,
    CVodeGetReturnFlagName};

constexpr Api erkstep{ERKStepReInit,
                      ERKStepFree,
                      ERKStepEvolve,
                      ERKStepWFtolerances,
                      ERKStepSetErrHandlerFn,
                      ERKStepSetUserData,
                      ERKStepRootInit,
                      ERKStepSetRootDirection,
                      ERKStepGetRootInfo,
                      ERKStepSetNoInactiveRootWarn,
                      ERKStepSetInitStep,
                      ERKStepSetMaxStep,
                      ERKStepSetStopTime,
                      ERKStepSetMaxErrTestFails,
                      ERKStepGetDky,
                      ERKStepGetCurrentStep,
                      ERKStepGetNumSteps,
                      ERKStepGetNumErrTestFails,
                      [](void*, long* count) {
                        *count = 0;  // it solves nothing
                        return 0;
                      },
                      ERKStepGetReturnFlagName};

constexpr Api arkstep{[](void* m, RatesFunction f, double t, N_Vector y) {
                        return ARKStepReInit(m, nullptr, f, t, y);
                      },
                      ARKStepFree,
                      ARKStepEvolve,
                      ARKStepWFtolerances,
                      ARKStepSetErrHandlerFn,
                      ARKStepSetUserData,
                      ARKStepRootInit,
                      ARKStepSetRootDirection,
                      ARKStepGetRootInfo,
                      ARKStepSetNoInactiveRootWarn,
                      ARKStepSetInitStep,
                      ARKStepSetMaxStep,
                      ARKStepSetStopTime,
                      ARKStepSetMaxErrTestFails,
                      ARKStepGetDky,
                      ARKStepGetCurrentStep,
                      ARKStepGetNumSteps,
                      ARKStepGetNumErrTestFails,
                      ARKStepGetNumStepSolveFails,
                      ARKStepGetReturnFlagName};

const Api& api_of(SundialsMethod method) {
  switch (method) {
    case SundialsMethod::arkode_erk:
      return erkstep;
    case SundialsMethod::arkode_dirk:
      return arkstep;
    default:
      return cvode;
  }
}

// All three packages return these alike (cvode.h, arkode.h).
static_assert(CV_ROOT_RETURN == ARK_ROOT_RETURN && CV_ONE_STEP == ARK_ONE_STEP);

// Steps begin at contacts whose stiffness nobody can know: more attempts than usual.
constexpr int most_failures = 40;

std::span<const double> values(N_Vector y) {
  return {N_VGetArrayPointer(y), static_cast<std::size_t>(N_VGetLength(y))};
}

template <class Pointer>
Pointer made(Pointer pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

Owned<SUNContext> make_context() {
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  return Owned<SUNContext>(made(context));
}

Solver::Solver(SUNContext context, const SundialsOptions& options, std::size_t size,
               Problem& problem)
    : api_(api_of(options.method)),
      problem_(problem),
      size_(size),
      y_(made(N_VNew_Serial(static_cast<sunindextype>(size), context))),
      between_(made(N_VClone(y_.get()))) {
  N_VConst(0, y_.get());
  const int order = options.order;
  const bool newton = options.method == SundialsMethod::cvode_bdf ||
                      options.method == SundialsMethod::arkode_dirk;
  if (newton) {
    const auto n = static_cast<sunindextype>(size);
    matrix_.reset(made(SUNDenseMatrix(n, n, context)));
    linear_.reset(made(SUNLinSol_Dense(y_.get(), matrix_.get(), context)));
  }
  const auto begin = [&](void* memory) {
    memory_ = made(memory);
    good(api_.error_handler(memory_, note, this), "error handler");
    good(api_.user_data(memory_, this), "user data");
  };
  switch (options.method) {
    case SundialsMethod::cvode_bdf:
    case SundialsMethod::cvode_adams:
      begin(CVodeCreate(newton ? CV_BDF : CV_ADAMS, context));
      good(CVodeInit(memory_, rates, 0, y_.get()), "CVodeInit");
      if (order > 0) good(CVodeSetMaxOrd(memory_, order), "CVodeSetMaxOrd");
      good(CVodeSetMaxConvFails(memory_, most_failures), "CVodeSetMaxConvFails");
      good(CVodeSetMaxHnilWarns(memory_, -1), "CVodeSetMaxHnilWarns");
      if (newton) {
        good(CVodeSetLinearSolver(memory_, linear_.get(), matrix_.get()),
             "CVodeSetLinearSolver");
        good(CVodeSetJacFn(memory_, slopes), "CVodeSetJacFn");
        // Contacts at rest oscillate faster than orders 3 … 5 bear.
        good(CVodeSetStabLimDet(memory_, SUNTRUE), "CVodeSetStabLimDet");
      } else {
        nonlinear_.reset(made(SUNNonlinSol_FixedPoint(y_.get(), 0, context)));
        good(CVodeSetNonlinearSolver(memory_, nonlinear_.get()),
             "CVodeSetNonlinearSolver");
      }
      break;
    case SundialsMethod::arkode_erk:
      begin(ERKStepCreate(rates, 0, y_.get(), context));
      good(ERKStepSetOrder(memory_, order > 0 ? order : 5), "ERKStepSetOrder");
      good(ERKStepSetMaxHnilWarns(memory_, -1), "ERKStepSetMaxHnilWarns");
      break;
    case SundialsMethod::arkode_dirk:
      begin(ARKStepCreate(nullptr, rates, 0, y_.get(), context));
      good(ARKStepSetOrder(memory_, order > 0 ? order : 4), "ARKStepSetOrder");
      good(ARKStepSetMaxHnilWarns(memory_, -1), "ARKStepSetMaxHnilWarns");
      good(ARKStepSetMaxConvFails(memory_, most_failures), "ARKStepSetMaxConvFails");
      good(ARKStepSetLinearSolver(memory_, linear_.get(), matrix_.get()),
           "ARKStepSetLinearSolver");
      good(ARKStepSetJacFn(memory_, slopes), "ARKStepSetJacFn");
      break;
  }
  good(api_.weights(memory_, weights), "tolerances");
  good(api_.most_error_failures(memory_, most_failures), "most error test failures");
  good(api_.no_root_warning(memory_), "no warning of inactive roots");
}

Solver::~Solver() { api_.free(&memory_); }

bool Solver::good(int flag, const char* what) {
  if (flag >= 0) return true;
  flag_ = flag;
  if (error_.empty()) error_ = what;
  return false;
}

bool Solver::restart(const Start& start) {
  error_.clear();
  flag_ = 0;
  time_ = start.time;
  const auto count = static_cast<int>(start.root_directions.size());
  roots_.assign(start.root_directions.size(), 0);
  return good(api_.reinit(memory_, rates, start.time, y_.get()), "reinit") &&
         good(api_.root_init(memory_, count, watch), "root functions") &&
         (count == 0 || good(api_.root_direction(memory_, start.root_directions.data()),
                             "root directions")) &&
         good(api_.init_step(memory_, start.first_step), "first step");
}

bool Solver::aim(std::span<int> root_directions) {
  return root_directions.empty() ||
         good(api_.root_direction(memory_, root_directions.data()), "root directions");
}

bool Solver::limit(double longest_step, double stop) {
  const double longest = std::isfinite(longest_step) ? longest_step : 0;  // 0: none
  return good(api_.max_step(memory_, longest), "longest step") &&
         good(api_.stop_time(memory_, stop), "stop time");
}

Solver::Outcome Solver::step(double until) {
  const int flag = api_.evolve(memory_, until, y_.get(), &time_, CV_ONE_STEP);
  flag_ = flag;
  if (flag < 0) {
    const std::unique_ptr<char, decltype(&std::free)> name(api_.flag_name(flag),
                                                           &std::free);
    if (error_.empty()) error_ = name.get();
    return Outcome::failure;
  }
  if (flag != CV_ROOT_RETURN) return Outcome::step;
  good(api_.root_info(memory_, roots_.data()), "roots");
  return Outcome::root;
}

double Solver::next_step() const {
  double length = 0;
  api_.current_step(memory_, &length);
  return length;
}

std::span<double> Solver::y() { return {N_VGetArrayPointer(y_.get()), size_}; }

bool Solver::interpolate(double time, std::span<double> y) {
  if (!good(api_.interpolate(memory_, time, 0, between_.get()), "interpolation")) {
    return false;
  }
  const std::span<const double> found = values(between_.get());
  std::copy(found.begin(), found.end(), y.begin());
  return true;
}

long Solver::steps() const {
  long count = 0;
  api_.steps(memory_, &count);
  return count;
}

long Solver::rejected() const {
  long errors = 0, solves = 0;
  api_.error_failures(memory_, &errors);
  api_.solve_failures(memory_, &solves);
  return errors + solves;
}

int Solver::rates(double t, N_Vector y, N_Vector rate, void* self) {
  // 1: it may recover with a shorter step.
  Problem& problem = static_cast<Solver*>(self)->problem_;
  return problem.rates(t, values(y), N_VGetArrayPointer(rate)) ? 0 : 1;
}

int Solver::slopes(double t, N_Vector y, N_Vector rate, SUNMatrix matrix, void* self,
                   N_Vector, N_Vector, N_Vector) {
  Problem& problem = static_cast<Solver*>(self)->problem_;
  return problem.slopes(t, values(y), values(rate), SM_COLS_D(matrix)) ? 0 : 1;
}

int Solver::watch(double t, N_Vector y, double* found, void* self) {
  static_cast<Solver*>(self)->problem_.watch(t, values(y), found);
  return 0;
}

/// SUNDIALS takes the root of the mean square; with √n it is at least the largest.
int Solver::weights(N_Vector y, N_Vector weight, void* self) {
  auto* solver = static_cast<Solver*>(self);
  double* to = N_VGetArrayPointer(weight);
  solver->problem_.allowances(values(y), to);
  const double root = std::sqrt(static_cast<double>(solver->size_));
  for (std::size_t i = 0; i < solver->size_; ++i) to[i] = root / to[i];
  return 0;
}

void Solver::note(int code, const char* module, const char* function, char* message,
                  void* self) {
  std::string& error = static_cast<Solver*>(self)->error_;
  error = code >= CV_WARNING ? "warning: " : "";
  error.append(module).append(" ").append(function).append(": ").append(message);
}

}  // namespace bristle::sundials
