#include "bristle/complementarity/problem.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bristle {

namespace {
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
int count(std::size_t n) { return static_cast<int>(n); }
}  // namespace

void ComplementarityProblem::reserve(int rows, int entries, int velocities) {
  const std::size_t n = at(rows), numbers = n * at(entries);
  added_.reserve(n);
  touched_.reserve(numbers);
  values_.reserve(numbers);
  contact_rows_.reserve(n);
  parent_.reserve(at(velocities));
  island_of_.reserve(at(velocities));
  local_.reserve(at(velocities));
  for (std::vector<int>* list : {&part_of_, &order_, &rows_}) list->reserve(n);
  parts_.reserve(n);
  units_.reserve(n);
  first_.reserve(numbers);
  halves_.reserve(numbers * quad_lanes);
  for (std::vector<double>* list :
       {&b_, &compliance_, &lower_, &upper_, &laid_b_, &laid_compliance_, &laid_lower_,
        &laid_upper_, &diagonal_, &mobility_}) {
    list->reserve(n);
  }
  contacts_.reserve(n);
}

void ComplementarityProblem::begin(int velocities, ConeShape shape, ConeBounds bounds) {
  shape_ = shape;
  bounds_ = bounds;
  added_.clear();
  touched_.clear();
  values_.clear();
  b_.clear();
  compliance_.clear();
  lower_.clear();
  upper_.clear();
  contact_rows_.clear();
  parent_.resize(at(velocities));
  for (int i = 0; i < velocities; ++i) parent_[at(i)] = i;
}

int ComplementarityProblem::add_unit(std::span<const int> velocities, int rows,
                                     int contact) {
  assert(std::is_sorted(velocities.begin(), velocities.end()));
  const int first = row_count();
  added_.push_back({first, rows, count(touched_.size()), count(velocities.size()),
                    count(values_.size()), contact});
  touched_.insert(touched_.end(), velocities.begin(), velocities.end());
  for (const int v : velocities) {
    const int a = root(velocities.front());
    const int b = root(v);
    // The lower index leads, so that the result depends on nothing but the sets.
    parent_[at(std::max(a, b))] = std::min(a, b);
  }
  return first;
}

int ComplementarityProblem::root(int velocity) noexcept {
  while (parent_[at(velocity)] != velocity) {
    parent_[at(velocity)] = parent_[at(parent_[at(velocity)])];
    velocity = parent_[at(velocity)];
  }
  return velocity;
}

int ComplementarityProblem::add_row(std::span<const int> velocities,
                                    std::span<const double> half, double b,
                                    double compliance, double lower, double upper) {
  assert(half.size() == velocities.size() && compliance >= 0 && lower <= upper);
  const int row = add_unit(velocities, 1, -1);
  values_.insert(values_.end(), half.begin(), half.end());
  b_.push_back(b);
  compliance_.push_back(compliance);
  lower_.push_back(lower);
  upper_.push_back(upper);
  return row;
}

int ComplementarityProblem::add_contact(std::span<const int> velocities,
                                        std::span<const double> halves,
                                        const ConeRows& rows) {
  const int n = 1 + rows.tangents;
  assert(rows.tangents >= 1 && rows.tangents <= max_tangents && rows.friction >= 0);
  assert(halves.size() == velocities.size() * at(n));
  const int row = add_unit(velocities, n, count(contact_rows_.size()));
  values_.insert(values_.end(), halves.begin(), halves.end());
  for (int i = 0; i < n; ++i) {
    b_.push_back(rows.b[i]);
    compliance_.push_back(rows.compliance[i]);
    lower_.push_back(i == 0 ? 0 : -unbounded);
    upper_.push_back(unbounded);
  }
  contact_rows_.push_back(rows);
  return row;
}

void ComplementarityProblem::find_islands() {
  parts_.clear();
  part_of_.clear();
  island_of_.assign(parent_.size(), -1);
  for (const Added& unit : added_) {
    int none = -1;  // a unit that nothing moves is an island of its own
    int& island =
        unit.entries > 0 ? island_of_[at(root(touched_[at(unit.entry)]))] : none;
    if (island < 0) {
      island = island_count();
      parts_.push_back({});
    }
    Part& part = parts_[at(island)];
    part_of_.push_back(island);
    ++part.units;
    part.rows += unit.rows;
    part.contacts += unit.contact >= 0 ? 1 : 0;
  }
  // Where each one begins; `order_` gets the units island by island.
  order_.resize(added_.size());
  int unit = 0, row = 0, contact = 0;
  most_rows_ = 0;
  for (Part& part : parts_) {
    part.unit = unit;
    part.row = row;
    part.contact = contact;
    unit += part.units;
    row += part.rows;
    contact += part.contacts;
    most_rows_ = std::max(most_rows_, part.rows);
    part.units = 0;
  }
  for (std::size_t u = 0; u < added_.size(); ++u) {
    Part& part = parts_[at(part_of_[u])];
    order_[at(part.unit + part.units++)] = count(u);
  }
}

/// Velocities of an island keep their order, so that neighbours stay neighbours.
void ComplementarityProblem::number_velocities() {
  local_.resize(parent_.size());
  for (std::size_t v = 0; v < parent_.size(); ++v) {
    const int island = island_of_[at(root(count(v)))];
    local_[v] = island < 0 ? -1 : parts_[at(island)].velocities++;
  }
  most_velocities_ = 0;
  for (Part& part : parts_) {
    part.velocities += quad_lanes - 1;
    most_velocities_ = std::max(most_velocities_, part.velocities);
  }
}

void ComplementarityProblem::lay_out_halves(const Added& unit) {
  const double* from = values_.data() + unit.value;
  for (int e = 0; e < unit.entries;) {
    const int first = local_[at(touched_[at(unit.entry + e)])];
    first_.push_back(first);
    const std::size_t quad = halves_.size();
    halves_.resize(quad + at(unit.rows * quad_lanes), 0.0);
    for (; e < unit.entries; ++e) {
      const int lane = local_[at(touched_[at(unit.entry + e)])] - first;
      if (lane >= quad_lanes) break;
      for (int i = 0; i < unit.rows; ++i) {
        halves_[quad + at(i * quad_lanes + lane)] = from[i * unit.entries + e];
      }
    }
  }
}

void ComplementarityProblem::lay_out(const Added& unit, const Part& part) {
  const int quad = count(first_.size());
  const int half = count(halves_.size());
  lay_out_halves(unit);
  units_.push_back({count(rows_.size()) - part.row, unit.rows, quad - part.quad,
                    count(first_.size()) - quad, half - part.half,
                    unit.contact < 0 ? -1 : count(contacts_.size()) - part.contact});
  for (int i = 0; i < unit.rows; ++i) {
    const std::size_t row = at(unit.row + i);
    rows_.push_back(unit.row + i);
    laid_b_.push_back(b_[row]);
    laid_compliance_.push_back(compliance_[row]);
    laid_lower_.push_back(lower_[row]);
    laid_upper_.push_back(upper_[row]);
  }
  const double* from = values_.data() + unit.value;
  const auto product = [&](int i, int j) {
    double sum = 0;
    for (int e = 0; e < unit.entries; ++e) {
      sum += from[i * unit.entries + e] * from[j * unit.entries + e];
    }
    return sum;
  };
  if (unit.contact < 0) {
    mobility_.push_back(product(0, 0));
    diagonal_.push_back(mobility_.back() + compliance_[at(unit.row)]);
    return;
  }
  const ConeRows& rows = contact_rows_[at(unit.contact)];
  LocalContact contact{};
  contact.tangents = rows.tangents;
  contact.friction = rows.friction;
  contact.radius = rows.radius;
  for (int i = 0; i < unit.rows; ++i) {
    for (int j = 0; j <= i; ++j) {
      contact.mobility[i][j] = contact.mobility[j][i] = product(i, j);
    }
  }
  prepare(contact, rows.compliance);
  diagonal_.insert(diagonal_.end(), contact.diagonal, contact.diagonal + unit.rows);
  for (int i = 0; i < unit.rows; ++i) mobility_.push_back(contact.mobility[i][i]);
  contacts_.push_back(contact);
}

void ComplementarityProblem::finish() {
  find_islands();
  number_velocities();
  units_.clear();
  rows_.clear();
  first_.clear();
  halves_.clear();
  laid_b_.clear();
  laid_compliance_.clear();
  laid_lower_.clear();
  laid_upper_.clear();
  diagonal_.clear();
  mobility_.clear();
  contacts_.clear();
  for (Part& part : parts_) {
    part.quad = count(first_.size());
    part.half = count(halves_.size());
    for (int u = 0; u < part.units; ++u) {
      lay_out(added_[at(order_[at(part.unit + u)])], part);
    }
    find_scale(part);
  }
}

void ComplementarityProblem::find_scale(Part& part) const {
  part.scale = 0;
  for (int i = part.row; i < part.row + part.rows; ++i) {
    const double beyond = std::clamp(0.0, laid_lower_[at(i)], laid_upper_[at(i)]);
    part.scale = std::max(part.scale,
                          std::abs(laid_b_[at(i)]) + diagonal_[at(i)] * std::abs(beyond));
  }
}

void ComplementarityProblem::change_row(int row, double b, double compliance,
                                        double lower, double upper) {
  assert(compliance >= 0 && lower <= upper);
  b_[at(row)] = b;
  compliance_[at(row)] = compliance;
  lower_[at(row)] = lower;
  upper_[at(row)] = upper;
}

void ComplementarityProblem::change_contact(int row, const ConeRows& rows) {
  const auto unit =
      std::partition_point(added_.begin(), added_.end(),
                           [row](const Added& other) { return other.row < row; });
  assert(unit != added_.end() && unit->row == row && unit->rows == 1 + rows.tangents);
  for (int i = 0; i < unit->rows; ++i) {
    b_[at(row + i)] = rows.b[i];
    compliance_[at(row + i)] = rows.compliance[i];
  }
  contact_rows_[at(unit->contact)] = rows;
}

void ComplementarityProblem::lay_out_again() {
  for (Part& part : parts_) {
    for (int u = part.unit; u < part.unit + part.units; ++u) {
      lay_out_numbers(added_[at(order_[at(u)])], units_[at(u)], part);
    }
    find_scale(part);
  }
}

/// Of a unit that is laid out, all that follows from b, C, bounds and friction.
void ComplementarityProblem::lay_out_numbers(const Added& unit, const Unit& laid,
                                             const Part& part) {
  const std::size_t first = at(part.row + laid.row);
  bool same = true;  // C and friction, and what follows from them
  for (int i = 0; i < unit.rows; ++i) {
    const std::size_t row = at(unit.row + i);
    same = same && laid_compliance_[first + at(i)] == compliance_[row];
    laid_b_[first + at(i)] = b_[row];
    diagonal_[first + at(i)] = mobility_[first + at(i)] + compliance_[row];
    laid_compliance_[first + at(i)] = compliance_[row];
    laid_lower_[first + at(i)] = lower_[row];
    laid_upper_[first + at(i)] = upper_[row];
  }
  if (unit.contact < 0) return;
  const ConeRows& rows = contact_rows_[at(unit.contact)];
  LocalContact& contact = contacts_[at(part.contact + laid.contact)];
  contact.radius = rows.radius;
  same = same && contact.friction == rows.friction;
  contact.friction = rows.friction;
  if (!same) prepare(contact, rows.compliance);
  std::copy_n(contact.diagonal, unit.rows,
              diagonal_.begin() + static_cast<std::ptrdiff_t>(first));
}

void ComplementarityProblem::hold_bounds(std::span<const double> z) noexcept {
  bounds_ = ConeBounds::held;
  for (const Part& part : parts_) {
    for (int u = part.unit; u < part.unit + part.units; ++u) {
      const Unit& unit = units_[at(u)];
      if (unit.contact < 0) continue;
      LocalContact& contact = contacts_[at(part.contact + unit.contact)];
      const double normal = z[at(rows_[at(part.row + unit.row)])];
      contact.radius = contact.friction * std::max(normal, 0.0);
    }
  }
}

Island ComplementarityProblem::island(int i) const noexcept {
  const Part& part = parts_[at(i)];
  const auto rows = [&part](const std::vector<double>& all) {
    return std::span(all).subspan(at(part.row), at(part.rows));
  };
  return {.units = std::span(units_).subspan(at(part.unit), at(part.units)),
          .b = rows(laid_b_),
          .compliance = rows(laid_compliance_),
          .lower = rows(laid_lower_),
          .upper = rows(laid_upper_),
          .diagonal = rows(diagonal_),
          .contacts = std::span(contacts_).subspan(at(part.contact), at(part.contacts)),
          .first = first_.data() + part.quad,
          .halves = halves_.data() + part.half,
          .velocities = part.velocities,
          .scale = part.scale,
          .shape = shape_,
          .bounds = bounds_};
}

std::span<const int> ComplementarityProblem::rows_of(int island) const noexcept {
  const Part& part = parts_[at(island)];
  return std::span(rows_).subspan(at(part.row), at(part.rows));
}

void momentum(const Island& island, const double* z, double* y) noexcept {
  std::fill_n(y, island.velocities, 0.0);
  for (const Unit& unit : island.units) {
    ContactLanes own = 0;
    for (int i = 0; i < unit.rows; ++i) own.set(i, z[unit.row + i]);
    push_by(island, unit, own, y);
  }
}

void rates(const Island& island, const double* z, const double* y, double* w) noexcept {
  for (const Unit& unit : island.units) {
    const ContactLanes own = rates_of(island, unit, y);
    for (int i = 0; i < unit.rows; ++i) w[unit.row + i] = own[i];
  }
  for (std::size_t i = 0; i < island.b.size(); ++i) {
    w[i] += island.compliance[i] * z[i] + island.b[i];
  }
}

namespace {

/// Of a row with bounds. Where nothing gives way, ρ is infinite: z must be at the bound
/// that w points away from.
double residual_of_row(double z, double w, double diagonal, double lower, double upper) {
  if (diagonal == 0) return (w > 0 && z > lower) || (w < 0 && z < upper) ? w : 0;
  return diagonal * (z - std::clamp(z - w / diagonal, lower, upper));
}

}  // namespace

void confine(const Island& island, const Unit& unit, double* z) noexcept {
  double& first = z[unit.row];
  first = std::clamp(first, island.lower[at(unit.row)], island.upper[at(unit.row)]);
  if (unit.contact < 0) return;
  const double radius = radius_of(island, island.contacts[at(unit.contact)], first);
  double length2 = 0;
  for (int j = unit.row + 1; j < unit.row + unit.rows; ++j) {
    if (island.shape == ConeShape::box) z[j] = std::clamp(z[j], -radius, radius);
    length2 += z[j] * z[j];
  }
  if (island.shape == ConeShape::box || length2 <= radius * radius) return;
  const double shrink = radius / std::sqrt(length2);
  for (int j = unit.row + 1; j < unit.row + unit.rows; ++j) z[j] *= shrink;
}

Residual natural_map(const Island& island, const double* z, const double* w) noexcept {
  Residual worst;
  const auto note = [&worst](double size, int row) {
    if (std::abs(size) > worst.largest || std::isnan(size)) worst = {std::abs(size), row};
  };
  for (const Unit& unit : island.units) {
    const int n = unit.row;
    const std::size_t i = at(n);
    note(
        residual_of_row(z[n], w[n], island.diagonal[i], island.lower[i], island.upper[i]),
        n);
    if (unit.contact < 0) continue;
    const LocalContact& contact = island.contacts[at(unit.contact)];
    const double radius = radius_of(island, contact, z[n]);
    if (island.shape == ConeShape::box) {
      for (int j = n + 1; j < n + unit.rows; ++j) {
        note(residual_of_row(z[j], w[j], island.diagonal[at(j)], -radius, radius), j);
      }
      continue;
    }
    const double mobility = contact.largest_tangent;
    double trial[max_tangents], length2 = 0;
    for (int j = 0; j < contact.tangents; ++j) {
      trial[j] = z[n + 1 + j] - (mobility > 0 ? w[n + 1 + j] / mobility : 0);
      length2 += trial[j] * trial[j];
    }
    const double length = std::sqrt(length2);
    const double shrink = length > radius ? radius / length : 1;
    double difference2 = 0;
    for (int j = 0; j < contact.tangents; ++j) {
      const double d = z[n + 1 + j] - shrink * trial[j];
      difference2 += d * d;
    }
    note(mobility * std::sqrt(difference2), n + 1);
  }
  return worst;
}

}  // namespace bristle
