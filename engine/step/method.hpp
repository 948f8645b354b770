#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bristle/core/result.hpp"
#include "bristle/step/system.hpp"

// Methods of fixed step: one file each, and a line in the list of methods.cpp. A program
// may register its own before it builds a stepper.

namespace bristle {

struct TimeScales;
struct FixedStepOptions;

/// How well the complementarity problems of steps were solved.
struct SolveCounts {
  std::uint64_t solves = 0;       // linearisations solved, in all steps
  std::uint64_t iterations = 0;   // of the solver
  std::uint64_t unconverged = 0;  // steps that were taken although not solved
  std::uint64_t lowered = 0;  // rigid impacts whose restitution would have made energy
  std::uint64_t jammed = 0;   // steps in which a contact that slid has no sliding answer
  std::uint64_t divided = 0;  // substeps taken in parts, which created energy as a whole
  double residual = 0;        // the worst of all steps [m/s]
  double relative = 0;        // the same, over the step's free velocity

  friend SolveCounts operator+(const SolveCounts& a, const SolveCounts& b) {
    return {a.solves + b.solves,
            a.iterations + b.iterations,
            a.unconverged + b.unconverged,
            a.lowered + b.lowered,
            a.jammed + b.jammed,
            a.divided + b.divided,
            a.residual > b.residual ? a.residual : b.residual,
            a.relative > b.relative ? a.relative : b.relative};
  }
};

/// One step of a method, from an accepted state to the next, with its own memory.
class FixedMethod {
 public:
  virtual ~FixedMethod() = default;
  /// Steps a settled state by h [s]; commands are one per motor. What it leaves behind:
  ///   q, v, time        at the end of the step
  ///   memory of rows    moved on, by the laws (Form::advance) or by their rates; in the
  ///                     second case `committed` is false, and the next settle() lets the
  ///                     laws adjust it
  ///   works             plus those of the step; of laws that advance, the next settle()
  ///                     corrects that to the mean velocity (LawPool::note_forces)
  ///   v_stepped         = v, so that a change by hand is noticed
  ///   impulse, impulse_time, impulse_step    of a method that solves for impulses
  /// Allocates nothing, unless more contacts than ever before have to be remembered.
  virtual StepStatus step(System& system, State& state, double h,
                          Commands commands) noexcept = 0;
  virtual SolveCounts solves() const noexcept { return {}; }
  /// Whether a step from this settled state may create energy, so that it has to be
  /// looked at, and taken again in parts.
  virtual bool may_be_too_long(const System&, double) const noexcept { return false; }
  /// Whether a step from it keeps T + V; else, with gravity taken at its beginning, it
  /// keeps T + V + ½ h f_g·v.
  virtual bool keeps_energy(const System&, double) const noexcept { return false; }
  /// What contacts, limits and friction did to the bodies in the last step [J]; of a
  /// method that solves for impulses.
  virtual double work_of_rows() const noexcept { return 0; }
  /// Warnings so far, with what to do; empty: none.
  virtual std::string advice(const Model&) const { return {}; }
};

/// What a method is, costs and can do.
struct MethodInfo {
  std::string_view name;   // as typed: "rk4"
  std::string_view title;  // as read
  int order;
  int evaluations;        // of all forces, per step
  bool impulses = false;  // it can do rigid contacts
  /// The longest step at which it is stable for these motions [s]; infinite where there
  /// is none.
  double (*stable_step)(const TimeScales& scales) noexcept;
  std::unique_ptr<FixedMethod> (*make)(const System& system,
                                       const FixedStepOptions& options);
};

extern const MethodInfo semi_implicit_euler_method;
extern const MethodInfo ode3_method;
extern const MethodInfo rk4_method;
extern const MethodInfo linearly_implicit_euler_method;
extern const MethodInfo complementarity_method;

/// A method of the list: a plain value.
class Method {
 public:
  static const Method semi_implicit_euler;      // v⁺ = v + h v̇, q⁺ = q ⊕ h v⁺
  static const Method bogacki_shampine;         // the third-order formula of ode3
  static const Method runge_kutta_4;            // the classical one
  static const Method linearly_implicit_euler;  // forces linearised at the beginning
  static const Method complementarity;          // impulses that solve a box or cone

  constexpr explicit Method(const MethodInfo& info) : info_(&info) {}
  const MethodInfo& info() const { return *info_; }
  friend bool operator==(const Method&, const Method&) = default;

 private:
  const MethodInfo* info_;
};

inline constexpr Method Method::semi_implicit_euler{semi_implicit_euler_method};
inline constexpr Method Method::bogacki_shampine{ode3_method};
inline constexpr Method Method::runge_kutta_4{rk4_method};
inline constexpr Method Method::linearly_implicit_euler{linearly_implicit_euler_method};
inline constexpr Method Method::complementarity{complementarity_method};

/// All methods: those of the library, then those registered.
std::span<const Method> fixed_methods();

/// Adds a method to the list; `info` must outlive all use of it. At start-up, before
/// other threads look at the list. An error where the name is taken.
Result<Method> register_method(const MethodInfo& info);

inline std::string_view name_of(Method method) noexcept { return method.info().name; }
/// By name, or a message with the names there are.
Result<Method> find_method(std::string_view name);

}  // namespace bristle
