#include "bristle/adaptive/guards.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A law that switches twice within this part of a step has no side that lasts for one:
// locating every switch would cost a step each. A tenth, since a step grows at most
// eightfold (adaptive.cpp). Measured: 0.01 to 1 are within 0.1 % of the evaluations.
constexpr double chatter = 0.1;

}  // namespace

GuardTable::GuardTable(const Model& model) : model_(&model), first_{0} {
  for (const LawBlock& laws : model.blocks) {
    normal_guards_ = std::max(normal_guards_, normal_law(laws.normal).guard_list.size());
    friction_guards_ =
        std::max(friction_guards_, friction_law(laws.friction).guard_list.size());
    for (const GuardInfo& guard : friction_law(laws.friction).guard_list) {
      has_bounds_ = has_bounds_ || guard.role == GuardRole::bound;
    }
  }
}

bool GuardTable::on_bound(std::size_t row) const {
  for (std::size_t g = first_[row] + 1; g < first_[row + 1]; ++g) {
    if (is_bound(g) && side(g) > 0) return true;
  }
  return false;
}

void GuardTable::lay_out(std::span<const RowId> rows, std::span<const int> begin) {
  std::swap(rows_, rows_before_);
  std::swap(first_, first_before_);
  std::swap(guards_, guards_before_);
  rows_.assign(rows.begin(), rows.end());
  begin_.assign(begin.begin(), begin.end());
  normal_held_.assign(normal_guards_ * rows_.size(), 0);
  friction_held_.assign(friction_guards_ * rows_.size(), 0);
  first_.clear();
  guards_.clear();
  for (std::size_t b = 0; b < model_->blocks.size(); ++b) {
    const LawBlock& laws = model_->blocks[b];
    for (auto i = at(begin_[b]); i < at(begin_[b + 1]); ++i) {
      const auto add = [&](LawFamily law, GuardRole role, double side) {
        guards_.push_back(
            {static_cast<std::uint32_t>(i), law, role, false, side, -HUGE_VAL});
      };
      first_.push_back(guards_.size());
      add(LawFamily::normal, GuardRole::branch, rows_[i].acts() ? 1 : 0);
      if (!rows_[i].acts()) continue;
      for (const GuardInfo& guard : normal_law(laws.normal).guard_list) {
        add(LawFamily::normal, guard.role, 0);
      }
      for (const GuardInfo& guard : friction_law(laws.friction).guard_list) {
        add(LawFamily::friction, guard.role, 0);
      }
    }
  }
  first_.push_back(guards_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].acts()) continue;
    const auto was =
        std::find_if(rows_before_.begin(), rows_before_.end(),
                     [&](const RowId& row) { return row.episode == rows_[i].episode; });
    if (was == rows_before_.end()) continue;
    std::size_t from =
        first_before_[static_cast<std::size_t>(was - rows_before_.begin())];
    for (std::size_t g = first_[i]; g < first_[i + 1]; ++g, ++from) {
      guards_[g] = guards_before_[from];
      guards_[g].row = static_cast<std::uint32_t>(i);
    }
  }
  publish_sides();
}

void GuardTable::evaluate(const LawColumns& joints, const LawColumns& contacts,
                          std::span<const double> depths, Vector& guards) const {
  guards.assign(guards_.size(), 0);
  for (std::size_t b = 0; b < model_->blocks.size(); ++b) {
    const LawBlock& laws = model_->blocks[b];
    const NormalLawTable& normal = normal_law(laws.normal);
    const FrictionLawTable& friction = friction_law(laws.friction);
    const bool joint = static_cast<int>(b) < model_->joint_blocks;
    const LawColumns& c = joint ? joints : contacts;
    const std::size_t first = joint ? 0 : at(begin_[at(model_->joint_blocks)]);
    for (auto row = at(begin_[b]); row < at(begin_[b + 1]); ++row) {
      double* to = guards.data() + first_[row];
      *to++ = depths[row];
      if (!rows_[row].acts()) continue;
      const std::size_t i = row - first;
      auto kin =
          Kinematics<double>::at(c.depth[i], c.rate[i], {c.slip_x[i], c.slip_y[i]});
      SpinKinematics seen = kin;
      if (laws.spins()) seen.slip.z = c.slip_z[i];
      PatchMotion<double> patch;
      if (laws.volumetric) {
        patch = load_patch(c, i);
        kin.patch = &patch;
        seen.rate = c.patch.column(patch_motions)[i];
      }
      normal.guards(laws.normal, c.normal_state, i, kin, to);
      to += normal.guard_list.size();
      std::array<double, max_guards> sides;
      if (locates_bounds_) {
        const Guard* guard = guards_.data() + (to - guards.data());
        for (std::size_t k = 0; k < friction.guard_list.size(); ++k) {
          sides[k] = guard[k].side;
        }
        seen.held = sides.data();
      }
      friction.guards(laws.friction, c.friction_state, i, seen, c.normal_force[i], to);
    }
  }
}

bool GuardTable::hold(std::span<const double> guards, std::span<const double> slopes) {
  bool changed = false, begins_on_bound = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].acts()) continue;
    for (std::size_t g = first_[i] + 1; g < first_[i + 1]; ++g) {
      if (guards_[g].side != 0 || guards_[g].chatters) continue;
      if (guards_[g].role == GuardRole::drift) continue;
      const bool bound = guards_[g].role == GuardRole::bound;
      if (bound && !locates_bounds_) continue;
      const bool by_slope = bound && guards[g] == 0 && !slopes.empty();
      const double sign = by_slope ? slopes[g] : guards[g];
      if (sign == 0) continue;
      guards_[g].side = sign > 0 ? 1 : -1;
      begins_on_bound = begins_on_bound || (by_slope && sign > 0);
      changed = true;
    }
  }
  if (changed) publish_sides();
  return begins_on_bound;
}

GuardEvent GuardTable::note_event(std::size_t guard, double time, double step) {
  Guard& g = guards_[guard];
  GuardEvent event{EventKind::touch, static_cast<int>(g.row), time, g.law};
  if (is_depth(guard)) {
    const bool touches = !rows_[g.row].acts() || g.side < 0;
    if (!touches) event.kind = EventKind::lift_off;
    g.side = touches ? 1 : -1;
    return event;
  }
  event.kind = event_of(event_role(g), g.side < 0);
  g.chatters = g.role != GuardRole::bound && time - g.switched <= chatter * step;
  g.side = g.chatters ? 0 : -g.side;
  g.switched = time;
  publish_sides();
  return event;
}

/// A spring that reaches its bound slips, where its law calls something slip.
GuardRole GuardTable::event_role(const Guard& guard) const {
  if (guard.role != GuardRole::bound) return guard.role;
  const std::size_t row = guard.row;
  for (std::size_t g = first_[row] + 1; g < first_[row + 1]; ++g) {
    if (guards_[g].law == guard.law && guards_[g].role == GuardRole::slip) {
      return GuardRole::slip;
    }
  }
  return guard.role;
}

void GuardTable::publish_sides() {
  any_on_bound_ = false;
  for (std::size_t b = 0; b < model_->blocks.size(); ++b) {
    const LawBlock& laws = model_->blocks[b];
    const std::size_t normal = normal_law(laws.normal).guard_list.size();
    const std::size_t friction = friction_law(laws.friction).guard_list.size();
    for (auto i = at(begin_[b]); i < at(begin_[b + 1]); ++i) {
      if (!rows_[i].acts()) continue;
      const Guard* of_row = guards_.data() + first_[i] + 1;
      for (std::size_t k = 0; k < normal; ++k) {
        normal_held_[k * rows_.size() + i] = of_row++->side;
      }
      for (std::size_t k = 0; k < friction; ++k) {
        const Guard& guard = *of_row++;
        friction_held_[k * rows_.size() + i] = guard.side;
        if (guard.role == GuardRole::bound && guard.side > 0) any_on_bound_ = true;
      }
    }
  }
}

}  // namespace bristle
