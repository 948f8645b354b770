// Observers of a run: events as they happen, contacts and the energy ledger at regular
// times. The same under every stepper of the list.

#include <bristle/run.hpp>
#include <bristle/steppers.hpp>
#include <cmath>
#include <cstdio>

namespace {

using namespace bristle;

/// A ball thrown along a floor: it bounces, slips, and rolls in the end.
Result<Model> thrown_ball() {
  ModelBuilder builder;
  builder.add_shape({.name = "floor", .shape = Plane{}});
  builder.add_body(
      {.name = "ball", .mass = 1, .inertia = Sym3<double>::diagonal(4e-3, 4e-3, 4e-3)});
  builder.add_joint({.name = "free", .child = "ball", .type = JointType::free});
  builder.add_shape({.name = "ball", .body = "ball", .shape = Sphere{0.1}});
  builder.add_contact(
      {.normal =
           choose<HuntCrossley>({.stiffness = 1e6, .exponent = 1.5, .dissipation = 0.5}),
       .friction = choose<SpringSlider>({.mu = 0.3, .stiffness = 1e5, .damping = 100})});
  return builder.build();
}

}  // namespace

int main() {
  const Result<Model> model = thrown_ball();
  if (!model) return std::puts(model.error().c_str()), 2;
  bool good = true;
  for (const StepperInfo& info : steppers()) {
    const auto stepper = info.make(*model, {.step = 1e-4, .substeps = 10});
    State state = make_state(*model);
    state.q[2] = 0.15;
    state.v[3] = 1;  // along x
    int touches = 0;
    double deepest = 0;
    RunObserver observer;
    observer.on_event = [&](const State&, const Event& event) {
      if (event.kind == EventKind::touch && ++touches <= 2) {
        std::printf("%s: touch %d at %.4f s with %.3f m/s\n",
                    std::string(info.name).c_str(), touches, event.time, event.speed);
      }
      return true;
    };
    observer.on_sample = [&](const Observation& now) {
      now.contacts().for_each([&](const ContactInfo& contact) {
        deepest = std::max(deepest, contact.depth);
      });
      return true;  // false would end the run
    };
    const RunSummary summary =
        run(*stepper, state, {.end = 1.5, .interval = 1e-3}, observer);
    std::printf(
        "%s: %d touches, deepest sample %.2f mm, speed %.4f m/s, balance error "
        "%.1e\n",
        std::string(info.name).c_str(), touches, 1e3 * deepest, state.v[3],
        summary.audit.relative());
    // A ball that slid and now rolls has 5/7 of its speed.
    good = good && summary.status == StepStatus::ok && touches >= 2 &&
           std::fabs(state.v[3] - 5.0 / 7) < 0.02;
  }
  return good ? 0 : 1;
}
