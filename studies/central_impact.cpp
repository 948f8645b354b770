#include "studies/central_impact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bristle::studies {

namespace {

constexpr double forever = 1e9;  // [s]

Motion approaching(const LawChoice& law, double mass, double speed, const Clock& clock) {
  ModelBuilder builder;
  builder.gravity({0, 0, 0});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  builder.add_body({.name = "mass", .mass = mass});
  builder.add_joint({.name = "rail", .child = "mass", .type = JointType::prismatic});
  builder.add_shape({.name = "tip", .body = "mass", .shape = Sphere{0}});
  builder.add_contact({.normal = law, .friction = choose<Frictionless>()});
  Motion motion(builder, clock);
  // Close enough that the time of touch-down is known to rounding.
  const double flight = clock.locates_events() ? 1e-4 : 2.5 * clock.substep();
  motion.state().q[0] = flight * speed;
  motion.state().v[0] = -speed;
  return motion;
}

/// When the contact began and its force ended.
struct Course {
  double touch = 0;
  double release = std::nan("");
  double depth_at_release = 0;
  double peak_time = 0;  // of the largest depth, roughly
};

/// Runs an impact to its end. The largest force and depth are looked for among samples.
Course follow(Motion& motion, bool clamped, const Clock& clock) {
  Course course;
  bool touched = false, over = false;
  ContactNow last{}, before{};
  double last_time = 0, before_time = 0;
  Watch watch;
  watch.on_event = [&](const State& now, const Event& event) {
    if (event.kind == EventKind::touch && !touched) {
      touched = true;
      course.touch = event.time;
    }
    if (!touched || over) return;
    if (event.kind == EventKind::clamp && clamped && clock.locates_events()) {
      const ContactNow contact = motion.contact(now);
      if (contact.rate < 0 && std::isnan(course.release)) {
        course.release = event.time;
        course.depth_at_release = contact.depth;
      }
    }
    if (event.kind == EventKind::lift_off) {
      over = true;
      if (std::isnan(course.release)) course.release = event.time;
    }
  };
  watch.on_step = [&](const State& now) {
    if (touched && !over && clamped && !clock.locates_events() &&
        std::isnan(course.release)) {
      const ContactNow contact = motion.contact(now);
      if (contact.normal <= 0 && contact.rate < 0 && last.normal > 0 &&
          before.normal > last.normal) {
        // where the line through the last two forces meets zero
        const double left =
            last.normal * (last_time - before_time) / (before.normal - last.normal);
        course.release = last_time + std::min(left, now.time - last_time);
        course.depth_at_release =
            last.depth + (course.release - last_time) * 0.5 * (last.rate + contact.rate);
      }
      before = last;
      before_time = last_time;
      last = contact;
      last_time = now.time;
    }
    return !over;
  };
  motion.go(
      clock.locates_events() ? forever : motion.state().time + 1e7 * clock.substep(),
      watch);
  if (motion.trouble().empty() && !over) course.release = std::nan("");
  return course;
}

}  // namespace

CentralImpact central_impact(const LawChoice& law, bool clamped, double mass,
                             double speed, const Clock& clock, Detail detail) {
  CentralImpact impact;
  Motion motion = approaching(law, mass, speed, clock);
  const Course course = follow(motion, clamped, clock);
  impact.trouble = motion.trouble();
  if (impact.trouble.empty() && std::isnan(course.release)) {
    impact.trouble = "the bodies did not separate: the damping is too strong to follow";
  }
  impact.restitution = motion.state().v[0] / speed;
  impact.contact_time = course.release - course.touch;
  impact.depth_at_release = course.depth_at_release;
  if (detail == Detail::restitution_only || !impact.trouble.empty()) return impact;

  // Once more for the loop, and for the largest force and depth.
  const auto begin = [&] { return approaching(law, mass, speed, clock); };
  Motion again = begin();
  const double interval = impact.contact_time / 1000;
  if (clock.locates_events()) again.go(course.touch - interval);
  Watch watch;
  watch.sample_interval = interval;
  watch.on_sample = [&](const State& now) {
    const ContactNow contact = again.contact(now);
    if (contact.depth > 0) impact.force_depth.add(contact.depth, contact.normal);
  };
  again.go(course.release + 1.5 * interval, watch);
  const auto largest = [&](const std::function<double(const ContactNow&)>& value) {
    return largest_of(begin, course.touch, course.release, value, clock).value;
  };
  impact.peak_depth = largest([](const ContactNow& c) { return c.depth; });
  impact.peak_force = largest([](const ContactNow& c) { return c.normal; });
  // Some forces do not begin at zero.
  Motion touching = begin();
  touching.state().q[0] = -1e-12 * impact.peak_depth;
  touching.settle();
  impact.peak_force =
      std::max(impact.peak_force, touching.contact(touching.state()).normal);
  return impact;
}

}  // namespace bristle::studies
