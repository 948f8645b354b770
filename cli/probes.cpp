#include "cli/probes.hpp"

#include <algorithm>
#include <cmath>

namespace bristle::cli {

namespace {

using scene::Probe;
using scene::ProbeKind;

double component_of(const Vec3<double>& v, int component) {
  switch (component) {
    case 1:
      return v.x;
    case 2:
      return v.y;
    case 3:
      return v.z;
    default:
      return norm(v);
  }
}

double component_of(std::span<const double> values, const Probe& probe) {
  if (probe.component > 0) return values[static_cast<std::size_t>(probe.component) - 1];
  return norm(Vec3<double>{values[0], values[1], values[2]});
}

/// Whether a probe asks for a shape: by the shapes of a fixed body, or by a body, −1 for
/// any.
bool matches(int body, const std::vector<std::uint32_t>& shapes, const Model& model,
             std::uint32_t shape) {
  if (!shapes.empty()) return std::ranges::find(shapes, shape) != shapes.end();
  return body < 0 || body == model.shapes[shape].body;
}

/// All contacts between two bodies: the sum of their forces, couples or volumes on the
/// second, or the largest depth.
double contact_value(const Probe& probe, const Observation& now) {
  Vec3<double> force{0, 0, 0}, couple{0, 0, 0};
  double normal = 0, friction = 0, depth = 0, volume = 0;
  now.contacts().for_each([&](const ContactInfo& contact) {
    const auto is_a = [&](std::uint32_t shape) {
      return matches(probe.a, probe.shapes_a, now.model, shape);
    };
    const auto is_b = [&](std::uint32_t shape) {
      return matches(probe.b, probe.shapes_b, now.model, shape);
    };
    const bool straight = is_a(contact.key.a) && is_b(contact.key.b);
    const bool swapped = is_a(contact.key.b) && is_b(contact.key.a);
    if (!straight && !swapped) return;
    const Vec3<double> one = contact.force();
    force = straight ? force + one : force - one;
    couple = straight ? couple + contact.couple : couple - contact.couple;
    volume += contact.volume;
    normal += contact.normal_force;
    friction += norm(contact.friction);
    depth = std::max(depth, contact.depth);
  });
  if (probe.kind == ProbeKind::contact_depth) return depth;
  if (probe.kind == ProbeKind::contact_volume) return volume;
  if (probe.kind == ProbeKind::contact_torque) {
    return component_of(couple, probe.component);
  }
  if (probe.component == 4) return normal;
  if (probe.component == 5) return friction;
  return component_of(force, probe.component);
}

double ledger_line(const std::string& line, const Audit& audit) {
  const Ledger& ledger = audit.last();
  if (line == "kinetic") return ledger.kinetic;
  if (line == "gravity") return ledger.gravity;
  if (line == "stored") return ledger.stored();
  if (line == "dissipated") return ledger.dissipated();
  if (line == "supplied") return ledger.supplied();
  if (line == "unsupplied") return audit.unsupplied();
  return audit.residual();
}

}  // namespace

bool is_size(const Probe& probe) {
  switch (probe.kind) {
    case ProbeKind::contact_depth:
    case ProbeKind::contact_volume:
      return true;
    case ProbeKind::contact_torque:
    case ProbeKind::contact_force:
    case ProbeKind::point:
    case ProbeKind::velocity:
      return probe.component < 1 || probe.component > 3;
    case ProbeKind::sensor:
      return probe.component == 0;
    default:
      return false;
  }
}

ProbeMeter::ProbeMeter(const scene::Scene& scene) : probes_(&scene.probes) {
  if (scene.sensors.empty()) return;
  Result<Sensors> made = Sensors::make(scene.model, scene.sensors);
  if (made) sensors_ = std::move(*made);  // the scene was read with them
}

void ProbeMeter::measure(const Observation& now, std::vector<double>& values,
                         bool sensors) {
  values.clear();
  if (sensors && sensors_) sensors_->measure(now.system, now.state);
  for (const Probe& probe : *probes_) {
    const auto which = static_cast<std::size_t>(std::max(probe.a, 0));
    double value = 0;
    switch (probe.kind) {
      case ProbeKind::contact_force:
      case ProbeKind::contact_depth:
      case ProbeKind::contact_torque:
      case ProbeKind::contact_volume:
        value = contact_value(probe, now);
        break;
      case ProbeKind::point:
      case ProbeKind::velocity: {
        const Body& body = now.model.tree.bodies()[which];
        const auto link = static_cast<std::size_t>(body.link);
        const LinkMotion links = now.system.links();
        const Vec3<double> at = links.poses[link] * (body.in_link * probe.point);
        if (probe.kind == ProbeKind::point) {
          value = component_of(at, probe.component);
        } else {
          const bristle::Motion<double>& motion = links.velocities[link];
          value = component_of(
              motion.linear + cross(motion.angular, at - links.poses[link].p),
              probe.component);
        }
        break;
      }
      case ProbeKind::joint:
      case ProbeKind::joint_rate: {
        const Joint& joint = now.model.tree.joints()[which];
        if (joint.q < 0) break;
        value = probe.kind == ProbeKind::joint
                    ? now.state.q[static_cast<std::size_t>(joint.q)]
                    : now.state.v[static_cast<std::size_t>(joint.v)];
        break;
      }
      case ProbeKind::ledger:
        value = ledger_line(probe.line, now.audit);
        break;
      case ProbeKind::energy:
        value = now.audit.last().energy();
        break;
      case ProbeKind::sensor:
        if (sensors && sensors_) value = component_of((*sensors_)[which], probe);
        break;
    }
    values.push_back(value);
  }
}

}  // namespace bristle::cli
