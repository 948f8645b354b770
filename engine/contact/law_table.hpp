#pragma once

#include <span>

#include "bristle/contact/pass.hpp"
#include "bristle/laws/law_choice.hpp"
#include "bristle/laws/normal/volumetric.hpp"

// The laws as functions over columns of contacts, chosen once per block of contacts and
// not per contact. law_table_entry.hpp makes a law's entry, register_law.cpp keeps them.

namespace bristle {

using LawColumns = ContactColumns<double>;

/// Room for the guards of any law.
inline constexpr std::size_t max_guards = 15;

/// A row's motion as friction laws see it: the third component of its slip is r_g ω_n of
/// a contact with spin, and not read otherwise. Kinematics<double> converts to it.
using SpinKinematics = Kinematics<double, 3>;

/// Slopes of a friction step with respect to the slip: ∂f_t/∂v_t over a step h, the
/// memory's response included [N s/m]. Without spin what belongs to it is zero.
struct StepSlopes {
  Vec3<double> by_slip_x;
  Vec3<double> by_slip_y;
  Vec3<double> by_slip_z;
};

/// A volumetric law at one contact: f_K = k_v V, stored k_v W, and its couple.
struct VolumeLaw {
  double stiffness = 0;  // k_v [N/m³]
  RollingDamping<double> rolling{0, 0};
};

struct NormalLawTable {
  using Pass = void (*)(const LawChoice&, const LawColumns&, ContactRange, double h,
                        LawTotals&) noexcept;
  int fields;  // numbers of memory
  LedgerLines lines;
  Pass advance;           // with totals
  Pass advance_columns;   // with a ledger per contact
  Pass evaluate;          // memory's rates, with totals
  Pass evaluate_columns;  // with a ledger per contact
  /// Memory of a new contact, into row i.
  void (*touch)(const LawChoice&, double approach, const Columns<double>& state,
                std::size_t i) noexcept;
  /// Adjusts the memory of accepted states, into LawColumns::normal_next; the energy that
  /// each row releases is added to its entry of `released`.
  void (*commit)(const LawChoice&, const LawColumns&, ContactRange,
                 double* released) noexcept;
  NormalSlopes<double> (*linearise)(const LawChoice&, const Columns<const double>& state,
                                    std::size_t i,
                                    const Kinematics<double>& kin) noexcept;
  double (*stored)(const LawChoice&, const Columns<const double>& state, std::size_t i,
                   double depth) noexcept;
  /// The law's guards, and their values for row i in that order.
  std::span<const GuardInfo> guard_list;
  void (*guards)(const LawChoice&, const Columns<const double>& state, std::size_t i,
                 const Kinematics<double>& kin, double* out) noexcept;
  /// Of a volumetric law; zero of others.
  VolumeLaw (*volume)(const LawChoice&, const Columns<const double>& state,
                      std::size_t i) noexcept;
};

struct FrictionLawTable {
  using Pass = NormalLawTable::Pass;
  int fields;
  LedgerLines lines;
  Pass advance;
  Pass advance_columns;
  Pass evaluate;
  Pass evaluate_columns;
  void (*touch)(const LawChoice&, const Columns<double>& state, std::size_t i) noexcept;
  void (*commit)(const LawChoice&, const LawColumns&, ContactRange,
                 double* released) noexcept;
  /// The fastest rate at which the memory relaxes by itself [1/s].
  double (*memory_rate)(const LawChoice&, const Columns<const double>& state,
                        std::size_t i, const SpinKinematics& kin,
                        double normal_force) noexcept;
  StepSlopes (*slopes)(const LawChoice&, const Columns<const double>& state,
                       std::size_t i, const SpinKinematics& kin, double normal_force,
                       double h) noexcept;
  FrictionSpring<double, 3> (*spring)(const LawChoice&,
                                      const Columns<const double>& state, std::size_t i,
                                      const SpinKinematics& kin,
                                      double normal_force) noexcept;
  /// Force of one row over a step h.
  Vec3<double> (*force)(const LawChoice&, const Columns<const double>& state,
                        std::size_t i, const SpinKinematics& kin, double normal_force,
                        double h) noexcept;
  double (*stored)(const LawChoice&, const Columns<const double>& state, std::size_t i,
                   double depth, double normal_force) noexcept;
  std::span<const GuardInfo> guard_list{};
  void (*guards)(const LawChoice&, const Columns<const double>& state, std::size_t i,
                 const SpinKinematics& kin, double normal_force, double* out) noexcept;
};

/// By the law's index in its family (LawChoice): laws.hpp, then registered laws.
std::span<const NormalLawTable> normal_laws() noexcept;
/// Laws of friction with spin are in tables of their own; where a law has none of that
/// kind (LawEntry::spins), `advance` is null.
std::span<const FrictionLawTable> friction_laws(Spin spin = Spin::none) noexcept;

inline const NormalLawTable& normal_law(const LawChoice& choice) noexcept {
  return normal_laws()[static_cast<std::size_t>(choice.index)];
}
inline const FrictionLawTable& friction_law(const LawChoice& choice) noexcept {
  return friction_laws(choice.spin)[static_cast<std::size_t>(choice.index)];
}

}  // namespace bristle
