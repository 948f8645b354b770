#include "bristle/laws/restitution.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>

#include "bristle/laws/normal/gonthier.hpp"

namespace bristle {

namespace {

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string number(double x, int digits = 6) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x,
                                 std::chars_format::general, digits)
                       .ptr;
  return {text.data(), end};
}

bool is_restitution(double e) { return e > 0 && e <= 1; }
bool is_positive(double x) { return x > 0 && std::isfinite(x); }
bool is_not_negative(double x) { return x >= 0 && std::isfinite(x); }

std::string not_a_restitution(std::string_view name, double e) {
  return concat({name, " = ", number(e), " must lie in (0, 1]"});
}

// The Azad–Featherstone curve

/// With δ = σ², dt = 2σ dη, and mass, stiffness and speed 1, the motion is polynomial:
///   dσ/dη = y,  dy/dη = −2 σ² (σ² + Λ y),
/// and the clamped force ends where σ² + Λ y = 0.
class Bounce {
 public:
  Bounce(double group, bool clamped) : group_(group), clamped_(clamped) {}

  double restitution() {
    for (int steps = 0; steps < 1'000'000; ++steps) {
      expand();
      const double h = step_size();
      if (!ended(h)) {
        const double next_sigma = sum(sigma_, h);
        y_[0] = sum(y_, h);
        sigma_[0] = next_sigma;
        continue;
      }
      double low = 0;
      double high = h;
      for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (ended(middle) ? high : low) = middle;
      }
      return -sum(y_, high);
    }
    return std::numeric_limits<double>::min();  // it crawls back for ever
  }

 private:
  static constexpr std::size_t order = 24;
  using Series = std::array<double, order + 1>;

  void expand() {
    Series square{};  // σ²
    Series inner{};   // σ² + Λ y
    for (std::size_t k = 0; k < order; ++k) {
      for (std::size_t i = 0; i <= k; ++i) square[k] += sigma_[i] * sigma_[k - i];
      inner[k] = square[k] + group_ * y_[k];
      double product = 0;
      for (std::size_t i = 0; i <= k; ++i) product += square[i] * inner[k - i];
      const double n = static_cast<double>(k + 1);
      sigma_[k + 1] = y_[k] / n;
      y_[k + 1] = -2 * product / n;
    }
  }

  /// Where the last terms of both series are lost in the rounding of the first. Five,
  /// because without damping only every fifth term is there.
  double step_size() const {
    double h = 1;
    for (const Series* s : {&sigma_, &y_}) {
      const double scale = std::fmax(std::fabs((*s)[0]), 1e-3);
      for (std::size_t k = order - 4; k <= order; ++k) {
        const double c = std::fabs((*s)[k]);
        if (c > 0) {
          h = std::fmin(h, std::pow(1e-17 * scale / c, 1 / static_cast<double>(k)));
        }
      }
    }
    return h;
  }

  bool ended(double h) const {
    const double y = sum(y_, h);
    if (y >= 0) return false;
    const double sigma = sum(sigma_, h);
    return sigma <= 0 || (clamped_ && sigma * sigma + group_ * y <= 0);
  }

  static double sum(const Series& s, double h) {
    double value = s[order];
    for (std::size_t k = order; k-- > 0;) value = value * h + s[k];
    return value;
  }

  double group_;
  bool clamped_;
  Series sigma_{0};
  Series y_{1};
};

// Root finding

/// A zero of f between a and b, where f has the signs of fa and fb. Regula falsi after
/// Anderson & Björck 1973, with a bisection whenever it stalls. f returns a number, or
/// NaN, which ends the search.
template <class F>
double zero_between(const F& f, double a, double fa, double b, double fb,
                    double small_enough) {
  for (int i = 0; i < 200; ++i) {
    if (std::fabs(fb) <= small_enough) return b;
    const double width = b - a;
    if (std::fabs(width) <= 4e-16 * (std::fabs(a) + std::fabs(b))) return b;
    double x = i % 4 == 3 ? a + 0.5 * width : b - fb * width / (fb - fa);
    const bool inside = std::fmin(a, b) < x && x < std::fmax(a, b);
    if (!inside) x = a + 0.5 * width;
    const double fx = f(x);
    if (std::isnan(fx)) return x;
    if ((fx > 0) != (fb > 0)) {
      a = b;
      fa = fb;
    } else {
      const double ratio = 1 - fx / fb;
      fa *= ratio > 0 ? ratio : 0.5;
    }
    b = x;
    fb = fx;
  }
  return b;
}

}  // namespace

double azad_featherstone_restitution(double group, bool clamped) {
  return Bounce(group, clamped).restitution();
}

double azad_featherstone_group(double restitution, bool clamped) {
  if (restitution >= 1) return 0;
  // In log Λ, where the curve runs between two straight lines.
  const auto excess = [&](double log_group) {
    return azad_featherstone_restitution(std::exp(log_group), clamped) - restitution;
  };
  double weak = std::log(0.5 * (1 - restitution));
  double at_weak = excess(weak);
  while (at_weak < 0) at_weak = excess(weak -= 1);
  double strong = weak + 1;
  double at_strong = excess(strong);
  while (at_strong > 0) {
    weak = strong;
    at_weak = at_strong;
    at_strong = excess(strong += 1);
  }
  return std::exp(
      zero_between(excess, weak, at_weak, strong, at_strong, 1e-15 * restitution));
}

// Restitution as a function of speed

Result<Restitution> Restitution::constant(double e) {
  if (!is_restitution(e)) return Error{not_a_restitution("restitution", e)};
  return Restitution(Kind{Constant{e}});
}

Result<Restitution> Restitution::linear(double alpha, double floor) {
  if (!is_not_negative(alpha)) {
    return Error{concat({"alpha = ", number(alpha), " must be at least 0 s/m"})};
  }
  if (!is_restitution(floor)) return Error{not_a_restitution("floor", floor)};
  return Restitution(Kind{Linear{alpha, floor}});
}

Result<Restitution> Restitution::logarithmic(double e_at_1_m_per_s, double per_decade,
                                             double floor) {
  if (!is_restitution(e_at_1_m_per_s)) {
    return Error{not_a_restitution("restitution at 1 m/s", e_at_1_m_per_s)};
  }
  if (!is_not_negative(per_decade)) {
    return Error{concat({"fall per decade of speed = ", number(per_decade),
                         " must be at least 0: restitution does not rise with speed"})};
  }
  if (!is_restitution(floor)) return Error{not_a_restitution("floor", floor)};
  return Restitution(Kind{Logarithmic{e_at_1_m_per_s, per_decade, floor}});
}

Result<Restitution> Restitution::table(std::vector<double> speeds,
                                       std::vector<double> restitutions) {
  const std::size_t n = speeds.size();
  if (n != restitutions.size()) {
    return Error{concat({"restitution table: ", std::to_string(n), " speeds but ",
                         std::to_string(restitutions.size()), " restitutions"})};
  }
  if (n < 2) return Error{"restitution table: at least two points are needed"};
  for (std::size_t i = 0; i < n; ++i) {
    const std::string where =
        concat({"restitution table, point ", std::to_string(i + 1), ": "});
    if (!is_not_negative(speeds[i])) {
      return Error{concat({where, "speed = ", number(speeds[i]), " must be at least 0"})};
    }
    if (i > 0 && !(speeds[i] > speeds[i - 1])) {
      return Error{concat({where, "speed = ", number(speeds[i]), " must be above ",
                           number(speeds[i - 1]), ", the one before it"})};
    }
    if (!is_restitution(restitutions[i])) {
      return Error{where + not_a_restitution("restitution", restitutions[i])};
    }
  }
  // Slopes at the points: the mean of the neighbouring secants, 0 at an extremum, and
  // pulled back into the circle α² + β² ≤ 9 where a cubic would overshoot.
  std::vector<double> secant(n - 1);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    secant[i] = (restitutions[i + 1] - restitutions[i]) / (speeds[i + 1] - speeds[i]);
  }
  std::vector<double> slope(n);
  slope.front() = secant.front();
  slope.back() = secant.back();
  for (std::size_t i = 1; i + 1 < n; ++i) {
    slope[i] = secant[i - 1] * secant[i] > 0 ? 0.5 * (secant[i - 1] + secant[i]) : 0;
  }
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (secant[i] == 0) {
      slope[i] = slope[i + 1] = 0;
      continue;
    }
    const double reach = std::hypot(slope[i], slope[i + 1]) / std::fabs(secant[i]);
    if (reach > 3) {
      slope[i] *= 3 / reach;
      slope[i + 1] *= 3 / reach;
    }
  }
  return Restitution(Kind{Table{std::move(speeds), std::move(restitutions), slope}});
}

Result<Restitution> Restitution::azad_featherstone(double stiffness, double damping,
                                                   double mass, bool clamped) {
  if (!(stiffness > 0)) {
    return Error{concat({"stiffness = ", number(stiffness), " must be above 0 N/m^1.5"})};
  }
  if (!(damping >= 0)) {
    return Error{
        concat({"damping = ", number(damping), " must be at least 0 N s/m^1.5"})};
  }
  if (!(mass > 0)) return Error{concat({"mass = ", number(mass), " must be above 0 kg"})};
  return Restitution(
      Kind{Curve{damping / (std::pow(mass, 0.4) * std::pow(stiffness, 0.6)), clamped}});
}

double Restitution::Table::at(double speed) const {
  if (!(speed > speeds.front())) return values.front();
  if (speed >= speeds.back()) return values.back();
  const auto right = std::upper_bound(speeds.begin(), speeds.end(), speed);
  const std::size_t i = static_cast<std::size_t>(right - speeds.begin()) - 1;
  const double h = speeds[i + 1] - speeds[i];
  const double t = (speed - speeds[i]) / h;
  const double u = 1 - t;
  return values[i] * (1 + 2 * t) * u * u + slopes[i] * h * t * u * u +
         values[i + 1] * (3 - 2 * t) * t * t - slopes[i + 1] * h * t * t * u;
}

double Restitution::at(double speed) const {
  const double v = std::fabs(speed);
  struct At {
    double v;
    double operator()(const Constant& c) const { return c.e; }
    double operator()(const Linear& l) const {
      return std::fmax(l.floor, 1 - l.alpha * v);
    }
    double operator()(const Logarithmic& l) const {
      if (v == 0) return l.per_decade > 0 ? 1 : l.e_at_1_m_per_s;
      return std::clamp(l.e_at_1_m_per_s - l.per_decade * std::log10(v), l.floor, 1.0);
    }
    double operator()(const Table& t) const { return t.at(v); }
    double operator()(const Curve& c) const {
      return azad_featherstone_restitution(c.group_at_1_m_per_s * std::pow(v, 0.2),
                                           c.clamped);
    }
  };
  return std::visit(At{v}, kind_);
}

// Parameters for a restitution

namespace {

/// A wish: this law, these parameters but one, this restitution.
struct Wish {
  const LawEntry& law;
  std::span<const double> parameters;
  double restitution;
  double mass;
  double speed;
  Punch punch;

  double parameter(std::string_view name) const {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (law.parameters[i].name == name) return parameters[i];
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::size_t tuned() const {
    std::size_t i = 0;
    while (law.parameters[i].name != law.damping_parameter) ++i;
    return i;
  }
  std::vector<double> with(double damping) const {
    std::vector<double> values(parameters.begin(), parameters.end());
    values[tuned()] = damping;
    return values;
  }
  /// What comes back with this damping, or NaN when the impact cannot be followed.
  double returned(double damping) const {
    const auto report = law.impact(with(damping), mass, speed, nullptr, punch);
    return report ? report->restitution : std::numeric_limits<double>::quiet_NaN();
  }
};

std::string problem_of(const Wish& wish) {
  const LawEntry& law = wish.law;
  if (law.impact_function == nullptr) {
    return concat({law.info.name, " is a friction law; restitution needs a normal law"});
  }
  if (wish.parameters.size() != law.parameters.size()) {
    return concat({law.info.name, " has ", std::to_string(law.parameters.size()),
                   " parameters, not ", std::to_string(wish.parameters.size())});
  }
  for (std::size_t i = 0; i < wish.parameters.size(); ++i) {
    std::string problem = out_of_range(law.parameters[i], wish.parameters[i]);
    if (!problem.empty()) return problem;
  }
  if (!is_restitution(wish.restitution))
    return not_a_restitution("restitution", wish.restitution);
  if (!is_positive(wish.mass)) {
    return concat({"mass = ", number(wish.mass), " must be above 0 kg"});
  }
  if (!is_positive(wish.speed)) {
    return concat({"speed = ", number(wish.speed), " must be above 0 m/s"});
  }
  return {};
}

/// ζ of a linear spring and damper that returns e: with the clamp e = exp(−2ζ φ(ζ)), φ =
/// arccos ζ/√(1−ζ²) or arcosh ζ/√(ζ²−1); without, e = exp(−πζ/√(1−ζ²)).
double damping_ratio(double e, bool clamped) {
  const double loss = -std::log(e);
  if (!clamped) return loss / std::hypot(std::numbers::pi, loss);
  const auto excess = [&](double log_ratio) {
    const double z = std::exp(log_ratio);
    const double square = (1 - z) * (1 + z);
    const double root = std::sqrt(std::fabs(square));
    // near ζ = 1 the series of φ: 1 + (1−ζ²)/3 + …
    const double phi =
        root < 1e-4 ? 1 + square / 3 : (square > 0 ? std::acos(z) : std::acosh(z)) / root;
    return 2 * z * phi - loss;
  };
  double low = -40, high = 10;
  for (int i = 0; i < 200 && high - low > 1e-16 * std::fabs(high); ++i) {
    const double middle = 0.5 * (low + high);
    (excess(middle) < 0 ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

/// The damping by formula, or NaN where the law has none. A law without a line here is
/// searched.
double closed_form(const Wish& wish) {
  const std::string_view name = wish.law.info.name;
  const double e = wish.restitution;
  const double V = damping_factor(e) / e;  // a v of k δ^p (1 + a δ̇)
  if (name == "hunt-crossley" || name == "volumetric-dissipation") return V / wish.speed;
  if (name == "kelvin-voigt") {
    return 2 * std::sqrt(wish.parameter("stiffness") * wish.mass) *
           damping_ratio(e, wish.parameter("clamp") != 0);
  }
  if (wish.speed >= wish.parameter("impact_speed_floor")) {
    if (name == "gonthier" || name == "volumetric") return e;
    if (name == "flores") return 8 / (8 + 5 * V);  // V = 8(1−e)/(5e)
    if (name == "lankarani-nikravesh") return std::sqrt(1 - 4 * V / 3);  // V = ¾(1−e²)
  }
  if (name == "azad-featherstone") {
    const double group = azad_featherstone_group(e, wish.parameter("clamp") != 0);
    return group * std::pow(wish.mass, 0.4) * std::pow(wish.parameter("stiffness"), 0.6) /
           std::pow(wish.speed, 0.2);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Result<std::vector<double>> without_damping(const Wish& wish) {
  const auto report =
      wish.law.impact(wish.parameters, wish.mass, wish.speed, nullptr, wish.punch);
  if (!report) return Error{report.error()};
  const double e = report->restitution;
  if (std::fabs(e - wish.restitution) <= 1e-9) {
    return std::vector<double>(wish.parameters.begin(), wish.parameters.end());
  }
  const bool elastic = std::fabs(e - 1) <= 1e-9;
  return Error{
      concat({wish.law.info.name, elastic ? " always returns 1" : " returns ",
              elastic ? "" : number(e), elastic ? "" : " here and has no damping to tune",
              "; it cannot give restitution ", number(wish.restitution)})};
}

Error out_of_reach(const Wish& wish, double least, double most) {
  return Error{concat({wish.law.info.name, " reaches [", number(least), ", ",
                       number(most, 10), "] in this impact; it cannot give restitution ",
                       number(wish.restitution)})};
}

/// From the weak end of the damping parameter to ever stronger damping, until less comes
/// back than is wished; then between the last two.
Result<std::vector<double>> search(const Wish& wish) {
  const Parameter& about = wish.law.parameters[wish.tuned()];
  const double e = wish.restitution;
  const bool is_e = about.name == "restitution";  // the larger, the less damping

  double weak = is_e ? about.range.high : about.range.low;
  double strongest = is_e ? about.range.low : about.range.high;
  if (about.range.open_low || (is_e && strongest == 0)) {  // the search is in logarithms
    (is_e ? strongest : weak) = about.range.low + 1e-12 * about.range.high;
  }
  const double least_damped = wish.returned(weak);
  if (std::isnan(least_damped)) return Error{"the impact could not be followed"};
  if (std::fabs(least_damped - e) <= 1e-13) return wish.with(weak);

  double at_weak = least_damped;
  double strong = is_e ? e : std::fmax(weak, 1e-9);
  bool failed = false;
  for (int i = 0; at_weak > e && i < 200; ++i) {
    strong = is_e ? std::fmax(strong, strongest) : std::fmin(strong, strongest);
    const double at_strong = wish.returned(strong);
    if (std::isnan(at_strong)) {
      // Too strong to follow: half the stride.
      failed = true;
      const double half = std::sqrt(std::fmax(weak, 1e-12 * strong) * strong);
      if (std::fabs(half / strong - 1) < 0.02) break;
      strong = half;
      continue;
    }
    if (at_strong <= e) {
      if (at_strong == e) return wish.with(strong);
      const auto excess = [&](double x) { return wish.returned(std::exp(x)) - e; };
      double from = weak > 0 ? weak : strong;
      double at_from = weak > 0 ? at_weak : at_strong;
      while (at_from < e) at_from = wish.returned(from *= 1e-3);  // weak was 0
      const double found = std::exp(zero_between(excess, std::log(from), at_from - e,
                                                 std::log(strong), at_strong - e, 1e-14));
      return wish.with(std::fmin(std::fmax(found, about.range.low), about.range.high));
    }
    weak = strong;
    at_weak = at_strong;
    if (strong == strongest) break;
    if (is_e) {
      strong *= 0.7;
    } else {
      // The loss grows with the damping; at first in proportion.
      const double loss = least_damped - at_strong;
      const double stride = loss > 1e-9 ? 1.5 * (least_damped - e) / loss : 1e4;
      strong *= failed ? 1.1 : std::fmin(std::fmax(stride, 2.0), 1e4);
    }
  }
  if (at_weak < e) {  // even the weakest damping returns less
    double least = wish.returned(strongest);
    if (std::isnan(least)) least = 0;
    return out_of_reach(wish, least, least_damped);
  }
  return out_of_reach(wish, at_weak, least_damped);
}

}  // namespace

Result<std::vector<double>> search_parameters_for_restitution(
    const LawEntry& law, std::span<const double> parameters, double restitution,
    double mass, double speed, const Punch& punch) {
  const Wish wish{law, parameters, restitution, mass, speed, punch};
  if (std::string problem = problem_of(wish); !problem.empty()) return Error{problem};
  return law.damping_parameter.empty() ? without_damping(wish) : search(wish);
}

Result<std::vector<double>> parameters_for_restitution(const LawEntry& law,
                                                       std::span<const double> parameters,
                                                       double restitution, double mass,
                                                       double speed, const Punch& punch) {
  const Wish wish{law, parameters, restitution, mass, speed, punch};
  if (std::string problem = problem_of(wish); !problem.empty()) return Error{problem};
  if (law.damping_parameter.empty()) return without_damping(wish);
  const double damping = closed_form(wish);
  if (law.parameters[wish.tuned()].range.contains(damping)) return wish.with(damping);
  return search(wish);
}

}  // namespace bristle
