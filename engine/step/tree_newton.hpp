#pragma once

#include <span>
#include <vector>

#include "bristle/complementarity/dense.hpp"
#include "bristle/dynamics/compliant_dynamics.hpp"
#include "bristle/step/implicit_joints.hpp"
#include "bristle/step/impulse_rows.hpp"
#include "bristle/step/system.hpp"

// A complementarity step whose contacts are all with the world, as those of a robot on
// the ground, without a matrix of its rows: Newton's method on the velocities of the
// trees,
//
//   M (v − v⁻) − h f = Jᵀ z(J v),   z = P(−(J v + r)/C)
//
// with z unit by unit as VelocityNewton has it. Its matrix M + Jᵀ D J, D = −∂z/∂u, is
// that of links which are tied to the world, and the articulated-body algorithm solves it
// in one sweep. Limits and friction of joints and motors at their limits are rows of one
// velocity: D is inertia of the joint's own. Only what is not symmetric in D, the bound
// μ z_n of a contact that slides, is a small dense system in these contacts.
//
// With the contact modes of the last step (open, stick, slip) one such sweep takes the
// place of the step's own forward dynamics, and is exact where these modes and the
// directions of slip stay.

namespace bristle {

/// The rows of a step as they are linearised.
struct TreeRows {
  std::span<ImpulseRow> contacts, joints;
  std::span<const ImplicitJoints::Row> motors;
  double h;
};

class TreeNewton {
 public:
  explicit TreeNewton(const Model& model);

  /// Room for so many contacts and rows of joints and motors.
  void reserve(std::size_t contacts, std::size_t joints);

  /// Takes the rows of a step that are linearised, and numbers them: contacts, joints,
  /// motors. False where a contact is not with the world, a motor drives several joints,
  /// or a row is rigid or too stiff for velocities to tell its impulse.
  bool begin(const System& system, const State& state, const TreeRows& rows);

  /// A in the diagonal, from above: as if no other joint held the links. By rows.
  void find_diagonal(const TreeRows& rows, std::span<double> diagonal) const;

  /// Solves from the velocities v of the tree, and moves them and those of the links. The
  /// first time, other forces over the step (system.on_links, system.tau) are not in v
  /// yet; after that v has them, and the impulses that were found last. False where the
  /// impulses that follow from v and those that v has do not come within `tolerance` of
  /// each other [m/s]: the step is then solved by rows, from its beginning.
  bool solve_first(System& system, const TreeRows& rows, double tolerance,
                   std::span<double> v);
  bool solve_again(System& system, const TreeRows& rows, double tolerance,
                   std::span<double> v);

  /// z and J v by rows.
  void put(const System& system, std::span<const double> v, std::span<double> z,
           std::span<double> u) const;
  double residual() const noexcept { return residual_; }  // [m/s]
  int iterations() const noexcept { return iterations_; }
  std::size_t rows() const noexcept { return rows_of(contacts_.size()) + lines_.size(); }
  /// The first row of a motor.
  std::size_t motors() const noexcept { return first_motor_; }

 private:
  /// D of a contact.
  struct Slopes {
    double normal = 0, across = 0, along = 0;  // of friction: across the slip, along it
    double follows = 0;                        // μ where it slides, else 0
    Vec2<double> direction{0, 0};              // of friction where it slides

    bool alike(const Slopes& other) const {
      return (normal > 0) == (other.normal > 0) && (follows > 0) == (other.follows > 0);
    }
  };
  struct Contact {
    std::size_t row;
    int link;
    double mobility;        // from above [1/kg]
    Force<double> push[3];  // along n, t1, t2
    double z[3];            // that follow from the velocities
    double predicted[3];    // by the last step of Newton's
    Slopes slopes;          // at the velocities
    Slopes used;            // in the factorised matrix
  };

  /// A row of one velocity, u = ± v: z = clamp(start − D u, least, most).
  struct Line {
    std::size_t row;  // of the joints; of motors their number
    bool of_motor;
    std::size_t dof;
    double sign;
    double armature;  // of the joint's own [kg, kg m²]
    double mobility;  // from above
    double start, slope, least, most;
    double z;          // that follows from the velocity
    double predicted;  // by the last step of Newton's
    bool inside;       // its bounds, at the velocity
    double used;       // its slope in the factorised matrix; 0 where it was at a bound
  };

  static std::size_t rows_of(std::size_t contacts) noexcept { return 3 * contacts; }
  static Force<double> dragged(const Contact& contact);
  double normal_rate(const System& system, const Contact& contact) const;
  double mobility_of(const System& system, std::size_t dof) const;
  bool begin_lines(const System& system, const TreeRows& rows);
  void renumber(const TreeRows& rows, Line& line) const;
  void respond(const System& system, const TreeRows& rows, std::span<const double> v);
  double gap(const TreeRows& rows) const noexcept;
  bool solve_on(System& system, const TreeRows& rows, double tolerance,
                std::span<double> v);
  bool same_pattern() const noexcept;
  void find_ties(Workspace<double>& tree);
  bool find_drags(System& system);
  bool follow_bounds(System& system, std::span<double> change);
  void move(System& system, double scale, std::span<const double> change,
            std::span<double> v);

  const Model* model_;
  struct LinkBound {
    Vec3<double> com;
    double inverse_mass, inverse_inertia;
  };
  std::vector<LinkBound> bounds_;
  std::vector<Contact> contacts_;
  std::vector<Line> lines_;
  std::size_t first_motor_ = 0;
  std::vector<Tie<double>> ties_;
  std::vector<double> none_, missing_;  // by velocities
  std::vector<Motion<double>> base_;    // responses of links

  // Of contacts that slide: which, their responses to friction per normal impulse, and
  // the matrix of their normal impulses.
  std::vector<std::size_t> sliding_;
  std::vector<double> drags_;
  std::vector<Motion<double>> link_drags_;
  std::vector<double> matrix_, left_, right_;
  double residual_ = 0;
  int iterations_ = 0;
};

}  // namespace bristle
