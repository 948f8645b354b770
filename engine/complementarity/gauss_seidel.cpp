#include "bristle/complementarity/gauss_seidel.hpp"

#include <cmath>

namespace bristle {

namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What one sweep has changed.
struct Change {
  ContactLanes largest = 0;  // A_ii |Δz_i| [m/s]
  ContactLanes square = 0;   // Σ A_ii Δz_i²
  int without_answer = 0;
  int several_answers = 0;

  void note(ContactLanes diagonal, ContactLanes dz) {
    const ContactLanes rate = diagonal * dz;
    largest = max(largest, max(rate, -rate));
    square += rate * dz;
  }
  double most() const {
    return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  }
};

/// The impulses of an island: rows as they are, contacts in full lanes, so that each one
/// is read and written at once.
struct Impulses {
  double* rows;
  double* contacts;  // contact_lanes each, zero beyond the tangents
  double* b;         // of the contacts, likewise
};

/// A number in the first lane.
ContactLanes lane(double x) {
  ContactLanes lanes = 0;
  lanes.set(0, x);
  return lanes;
}

/// The next z of a row with bounds. Where nothing gives way, it is at the bound that w
/// points away from, as far as that is finite.
double next_of_row(double z, double w, double diagonal, double lower, double upper) {
  if (diagonal > 0) return std::clamp(z - w / diagonal, lower, upper);
  const double bound = w > 0 ? lower : w < 0 ? upper : z;
  return std::isfinite(bound) ? bound : std::clamp(z, lower, upper);
}

void solve_row(const Island& island, const Unit& unit, const Impulses& z, double* y,
               Change& change) {
  const std::size_t i = at(unit.row);
  double& own = z.rows[i];
  const double w = detail::rates_of<1>(island, unit, y)[0] +
                   (island.compliance[i] * own + island.b[i]);
  const double next =
      next_of_row(own, w, island.diagonal[i], island.lower[i], island.upper[i]);
  const double dz = next - own;
  if (dz == 0) return;
  change.note(lane(island.diagonal[i]), lane(dz));
  detail::push_by<1>(island, unit, lane(dz), y);
  own = next;
}

/// The local problem of an island's kind.
BRISTLE_INLINE int solve_local(const Island& island, const LocalContact& contact,
                               const ContactLanes& q, ContactLanes& z) {
  const bool held = island.bounds == ConeBounds::held;
  if (island.shape == ConeShape::isotropic && !held) return solve_coupled(contact, q, z);
  double rest[contact_lanes], own[contact_lanes];
  q.store(rest);
  z.store(own);
  const int answers = island.shape == ConeShape::box ? solve_box(contact, held, rest, own)
                                                     : solve_held(contact, rest, own);
  z = ContactLanes::load(own);
  return answers;
}

BRISTLE_INLINE void solve_contact(const Island& island, const Unit& unit,
                                  const Impulses& z, double* y, Change& change) {
  const LocalContact& contact = island.contacts[at(unit.contact)];
  const std::size_t first = at(contact_lanes) * at(unit.contact);
  double* const own = z.contacts + first;
  const ContactLanes before = ContactLanes::load(own);
  // q: what w would be without the contact's own impulses. Rates come last, because they
  // wait for the contact before.
  ContactLanes q = ContactLanes::load(z.b + first);
  for (int i = 0; i < contact_lanes; ++i) {
    q -= ContactLanes(own[i]) * ContactLanes::load(contact.mobility[i]);
  }
  q += rates_of(island, unit, y);
  ContactLanes next = before;
  const int answers = solve_local(island, contact, q, next);
  if (answers != 1) ++(answers == 0 ? change.without_answer : change.several_answers);
  const ContactLanes dz = next - before;
  if (!any(dz != ContactLanes(0))) return;
  change.note(ContactLanes::load(contact.diagonal), dz);
  next.store(own);
  push_by(island, unit, dz, y);
}

Change sweep(const Island& island, bool backward, const Impulses& z, double* y) {
  Change change;
  const std::size_t n = island.units.size();
  for (std::size_t k = 0; k < n; ++k) {
    const Unit& unit = island.units[backward ? n - 1 - k : k];
    if (unit.contact < 0) {
      solve_row(island, unit, z, y, change);
    } else {
      solve_contact(island, unit, z, y, change);
    }
  }
  return change;
}

// Sweeps that converge faster than this need no help: 460 random problems took up to 5.7
// times as many sweeps with directions as without, and at most 1.2 times so.
constexpr double slow = 0.7;

/// The conjugate directions, of z and of y alike.
class Directions {
 public:
  Directions(std::size_t rows, std::size_t velocities, Scratch& scratch)
      : rows_(rows),
        velocities_(velocities),
        z_(scratch.numbers(rows)),
        y_(scratch.numbers(velocities)),
        z_before_(scratch.numbers(rows)),
        y_before_(scratch.numbers(velocities)) {}

  /// Before a sweep.
  void start(const double* z, const double* y) {
    std::copy_n(z, rows_, z_before_);
    std::copy_n(y, velocities_, y_before_);
  }
  /// After a sweep.
  void follow(double square, double* z, double* y) {
    const double beta = square / last_;
    const bool useful = beta >= slow && beta <= 1;
    last_ = square;
    advance(rows_, useful ? beta : 0, z_before_, z_, z);
    advance(velocities_, useful ? beta : 0, y_before_, y_, y);
  }

 private:
  /// x += β p, p ← (change of x by the sweep) + β p.
  static void advance(std::size_t n, double beta, const double* before, double* p,
                      double* x) {
    for (std::size_t i = 0; i < n; ++i) {
      const double carried = beta == 0 ? 0 : beta * p[i];
      p[i] = (x[i] - before[i]) + carried;
      x[i] += carried;
    }
  }

  std::size_t rows_, velocities_;
  double *z_, *y_, *z_before_, *y_before_;
  double last_ = 0;
};

constexpr double patience = 1e4;  // of squares

void spread(const Island& island, const double* z, Impulses& to) {
  std::copy_n(z, island.rows(), to.rows);
  std::fill_n(to.contacts, at(contact_lanes) * island.contacts.size(), 0.0);
  std::fill_n(to.b, at(contact_lanes) * island.contacts.size(), 0.0);
  for (const Unit& unit : island.units) {
    if (unit.contact < 0) continue;
    const std::size_t first = at(contact_lanes) * at(unit.contact);
    std::copy_n(z + unit.row, unit.rows, to.contacts + first);
    std::copy_n(island.b.data() + unit.row, unit.rows, to.b + first);
  }
}

void collect(const Island& island, const Impulses& from, double* z) {
  std::copy_n(from.rows, island.rows(), z);
  for (const Unit& unit : island.units) {
    if (unit.contact < 0) continue;
    std::copy_n(from.contacts + at(contact_lanes) * at(unit.contact), unit.rows,
                z + unit.row);
  }
}

}  // namespace

Room GaussSeidel::room(int rows, int velocities, const SolveOptions&) {
  // Lanes are at most twice the rows: a contact of two rows has four.
  return {12 * at(rows) + 3 * at(velocities), 0};
}

IslandReport GaussSeidel::solve(const Island& island, const SolveOptions& options,
                                double* z, Scratch scratch) noexcept {
  prepare_contacts(island);
  const std::size_t lanes = at(contact_lanes) * island.contacts.size();
  const std::size_t impulses = at(island.rows()) + lanes;
  double* const w = scratch.numbers(at(island.rows()));
  double* const y = scratch.numbers(at(island.velocities));
  double* const own = scratch.numbers(impulses);
  Impulses spread_out{own, own + island.rows(), scratch.numbers(lanes)};
  // Where all rows belong to contacts, their lanes are all there is.
  double* const used =
      island.units.size() > island.contacts.size() ? own : own + island.rows();
  Directions directions(at(static_cast<int>(own + impulses - used)),
                        at(island.velocities), scratch);
  bool accelerated = options.accelerated;
  IslandReport report;
  const auto measure = [&] {
    collect(island, spread_out, z);
    momentum(island, z, y);
    rates(island, z, y, w);
    report.residual = natural_map(island, z, w);
    return report.residual.largest <= options.tolerance * island.scale;
  };
  if (island.scale == 0) std::fill_n(z, island.rows(), 0.0);
  spread(island, z, spread_out);
  momentum(island, z, y);
  double least = unbounded;
  for (int k = 0; k < options.iterations && !report.converged; ++k) {
    if (accelerated) directions.start(used, y);
    const Change change = sweep(island, options.symmetric && k % 2 == 1, spread_out, y);
    const double square = sum(change.square);
    ++report.iterations;
    report.without_answer = change.without_answer;
    report.several_answers = change.several_answers;
    const bool last = k + 1 == options.iterations;
    // The local problem of an island with one unit is all there is.
    const bool alone = island.units.size() == 1;
    if (last || alone || change.most() <= options.tolerance * island.scale) {
      report.converged = measure();
    }
    if (report.converged || last) break;
    least = std::min(least, square);
    if (square > patience * least) accelerated = false;
    if (accelerated) directions.follow(square, used, y);
  }
  return report;
}

}  // namespace bristle
