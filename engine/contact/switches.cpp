#include "bristle/contact/switches.hpp"

#include <array>
#include <cmath>

namespace bristle {

namespace {

// LawRows::sides: a bit per guard, set where it is positive; the normal law's first, then
// the friction law's, and whether they are known at all.
constexpr std::uint32_t friction_bit = 15, known_bit = 31;
static_assert(max_guards <= friction_bit + 1);

std::uint32_t signs_of(std::span<const double> guards) {
  std::uint32_t bits = 0;
  for (std::size_t k = 0; k < guards.size(); ++k) {
    if (guards[k] > 0) bits |= 1u << k;
  }
  return bits;
}

}  // namespace

void note_switches(LawPool& pool, std::span<const ContactKey> keys, double time,
                   LawRows& rows, std::vector<Event>& events) {
  const LawColumns columns = pool.law_columns(rows.memory);
  pool.for_each_row(rows, columns, [&](const LawRow& row) {
    const std::size_t i = row.i;
    if (rows.episode[i] == 0 || !row.closed()) {
      rows.sides[i] = 0;
      return;
    }
    const Kinematics<double> kin = row.kinematics();
    const auto compare = [&](std::span<const GuardInfo> list, LawFamily law,
                             std::span<const double> guards, std::uint32_t first) {
      const std::uint32_t now = signs_of(guards);
      const std::uint32_t changed = now ^ ((rows.sides[i] >> first) & 0x7fffu);
      const bool known = (rows.sides[i] >> known_bit) != 0;
      for (std::size_t k = 0; known && k < list.size(); ++k) {
        const bool is_switch =
            list[k].role != GuardRole::bound && list[k].role != GuardRole::drift;
        if (!is_switch || ((changed >> k) & 1u) == 0) continue;
        events.push_back({.kind = event_of(list[k].role, ((now >> k) & 1u) != 0),
                          .time = time,
                          .contact = keys.empty() ? ContactKey{} : keys[i],
                          .joint_row = keys.empty() ? static_cast<int>(i) : -1,
                          .episode = rows.episode[i],
                          .speed = std::abs(rows.rate[i]),
                          .law = law});
      }
      return now << first;
    };
    std::array<double, max_guards> guards;
    std::uint32_t sides = 1u << known_bit;
    if (row.laws.has_normal_law()) {
      const NormalLawTable& normal = normal_law(row.laws.normal);
      normal.guards(row.laws.normal, columns.normal_state, i, kin, guards.data());
      sides |= compare(normal.guard_list, LawFamily::normal,
                       std::span(guards).first(normal.guard_list.size()), 0);
    }
    const FrictionLawTable& friction = friction_law(row.laws.friction);
    friction.guards(row.laws.friction, columns.friction_state, i,
                    row.friction_kinematics(), row.normal_force(), guards.data());
    sides |= compare(friction.guard_list, LawFamily::friction,
                     std::span(guards).first(friction.guard_list.size()), friction_bit);
    rows.sides[i] = sides;
  });
}

}  // namespace bristle
