#include "scene/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "bristle/laws/choice.hpp"
#include "bristle/model/pair_laws.hpp"
#include "bristle/step/ledger.hpp"

namespace bristle::scene {

namespace {

constexpr double rounding = 1e-9;  // of typed lengths and angles [m] or [rad]

void find_overlaps(const Model& model, const ContactRows& contacts, StartReport& report) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(contacts.count); ++i) {
    const ContactKey& key = contacts.key[i];
    const double depth = contacts.depth[i];
    if (key.empty() || !(depth > rounding)) continue;
    auto& overlaps = report.overlaps;
    if (!overlaps.empty() && overlaps.back().a == key.a && overlaps.back().b == key.b) {
      overlaps.back().depth = std::max(overlaps.back().depth, depth);
      continue;
    }
    const ModelShape& a = model.shapes[key.a];
    const ModelShape& b = model.shapes[key.b];
    ShapeScale of_a = scale_of(model, a), of_b = scale_of(model, b);
    add_section(a.shape, of_a);
    add_section(b.shape, of_b);
    const PairScale pair = scale_of(of_a, of_b, norm(model.tree.gravity()));
    const LawBlock& laws =
        model.blocks[static_cast<std::size_t>(model.rule(a.kind, b.kind).block)];
    const double rest =
        laws.rigid ? rest_depth_ratio * pair.size
                   : rest_depth(laws.normal, pair.mass * pair.gravity, punch_of(pair));
    overlaps.push_back({key.a, key.b, depth, rest});
  }
}

void find_limits(const Model& model, const State& start, StartReport& report) {
  for (const JointRow& row : model.joint_rows) {
    if (!row.is_limit || row.coupling >= 0) continue;
    const auto joints = model.tree.joints();
    const auto joint = std::find_if(joints.begin(), joints.end(), [&](const Joint& j) {
      return j.v >= 0 && row.dof >= j.v && row.dof < j.v + velocity_count(j.type);
    });
    if (joint == joints.end()) continue;
    const int k = row.dof - joint->v;
    const double q = start.q[static_cast<std::size_t>(joint->q + k)];
    const double beyond = row.sign * (q - row.bound);
    if (!(beyond > rounding)) continue;
    report.limits.push_back({static_cast<int>(joint - joints.begin()),
                             is_linear(joint->type, k), row.sign > 0, beyond});
  }
}

/// Rows of couplings under the law of limits; the others are springs with slack, which
/// may be stretched.
void find_coupling_limits(const Model& model, const State& start, StartReport& report) {
  if (model.couplings.empty()) return;
  Workspace<double> ws(model.tree);
  kinematics<double>(model.tree, start.q, start.v, ws);
  CouplingMotion motion(model);
  motion.update(ws);
  const int spring = choose<KelvinVoigt>().index;
  for (std::size_t b = 0; b < static_cast<std::size_t>(model.joint_blocks); ++b) {
    if (model.blocks[b].normal.index == spring) continue;
    for (int i = model.joint_block_rows[b]; i < model.joint_block_rows[b + 1]; ++i) {
      const JointRow& row = model.joint_rows[static_cast<std::size_t>(i)];
      if (row.coupling < 0) continue;
      const auto coupling = static_cast<std::size_t>(row.coupling);
      const double beyond = row.sign * (motion.value(coupling, start.q) - row.bound);
      if (!(beyond > rounding)) continue;
      report.limits.push_back({-1, !model.couplings[coupling].path.empty(), row.sign > 0,
                               beyond, row.coupling});
    }
  }
}

}  // namespace

std::string text_of(const StartLimit& limit, const Model& model) {
  const char* which = limit.upper ? "above its upper limit" : "below its lower limit";
  if (limit.coupling >= 0) {
    return fmt::format("\"{}\" by {:.3g} {} {}",
                       model.couplings[static_cast<std::size_t>(limit.coupling)].name,
                       limit.beyond, limit.linear ? "m" : "m or rad", which);
  }
  const Joint& joint = model.tree.joints()[static_cast<std::size_t>(limit.joint)];
  const std::string amount =
      limit.linear ? fmt::format("{:.3g} m", limit.beyond)
                   : fmt::format("{:.3g}°", limit.beyond * 180 / std::numbers::pi);
  return fmt::format("\"{}\" by {} {}", joint.name, amount, which);
}

StartReport inspect_start(const Model& model, State start) {
  StartReport report;
  find_limits(model, start, report);
  find_coupling_limits(model, start, report);
  System system(model);
  const StepStatus status = settle(system, rounding, start);
  report.crowded =
      status == StepStatus::too_many_pairs || status == StepStatus::too_many_contacts;
  if (status != StepStatus::ok) return report;
  find_overlaps(model, start.contacts, report);
  const Ledger ledger = make_ledger(system, start);
  report.contact_energy = ledger.normal;
  report.limit_energy = ledger.limits;
  return report;
}

}  // namespace bristle::scene
