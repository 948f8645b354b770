#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/bounce/spec.hpp"
#include "bristle/adaptive/adaptive.hpp"
#include "bristle/laws/choice.hpp"
#ifdef BRISTLE_WITH_SUNDIALS
#include "adapters/sundials/sundials_clock.hpp"
#endif

namespace bristle::bench::bounce {

namespace {

constexpr double radius = 0.01;

Model make_model() {
  ModelBuilder builder;
  builder.gravity({0, 0, -gravity});
  builder.add_shape({.name = "ground", .shape = Plane{}});
  const double inertia = 0.4 * mass * radius * radius;
  builder.add_body({.name = "ball",
                    .mass = mass,
                    .inertia = Sym3<double>::diagonal(inertia, inertia, inertia)});
  builder.add_joint({.name = "falls", .child = "ball", .type = JointType::prismatic});
  builder.add_shape({.name = "skin", .body = "ball", .shape = Sphere{radius}});
  builder.add_contact({.normal = choose<AzadFeatherstone>(
                           {.stiffness = stiffness, .damping = damping, .clamp = 1}),
                       .friction = choose<Frictionless>()});
  Result<Model> model = builder.build();
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    std::exit(1);
  }
  return *std::move(model);
}

/// A run from the start by a clock that was just made.
template <class Clock>
Outcome drop_ball(const Model& model, Clock& clock, double until) {
  Outcome outcome;
  State state = make_state(model);
  state.q[0] = drop + radius;
  const StepStatus status = clock.advance_to(
      state, until, {.on_event = [&](const State& now, const Event& event) {
        if (event.kind == EventKind::touch) outcome.touches.push_back(now.time);
      }});
  const StepCounts counts = clock.counts();
  outcome.time = state.time;
  outcome.height = state.q[0] - radius;
  outcome.steps = counts.steps;
  outcome.evaluations = counts.evaluations;
  outcome.contact_evaluations = counts.contact_evaluations;
  if (status != StepStatus::ok) outcome.trouble = explain(status);
  return outcome;
}

}  // namespace

std::vector<Contestant> ours(const std::vector<double>& tolerances) {
  const auto model = std::make_shared<const Model>(make_model());
  std::vector<Contestant> all;
  for (const bool contact_time : {true, false}) {
    for (const double rtol : tolerances) {
      all.push_back({contact_time ? "Bristle, contact time" : "Bristle, plain time", rtol,
                     [=](double until) {
                       Adaptive clock(*model,
                                      {.rtol = rtol, .contact_time = contact_time});
                       return drop_ball(*model, clock, until);
                     }});
    }
  }
  return all;
}

#ifdef BRISTLE_WITH_SUNDIALS
std::vector<Contestant> sundials(const std::vector<double>& tolerances) {
  struct Method {
    const char* name;
    SundialsMethod method;
    int order;
  };
  const Method methods[] = {{"CVODE, BDF", SundialsMethod::cvode_bdf, 0},
                            {"CVODE, Adams", SundialsMethod::cvode_adams, 0},
                            {"ARKODE, ERK 5", SundialsMethod::arkode_erk, 5},
                            {"ARKODE, ERK 8", SundialsMethod::arkode_erk, 8},
                            {"ARKODE, DIRK 4", SundialsMethod::arkode_dirk, 4}};
  const auto model = std::make_shared<const Model>(make_model());
  std::vector<Contestant> all;
  for (const Method& method : methods) {
    for (const double rtol : tolerances) {
      all.push_back(
          {method.name, rtol, [=](double until) {
             SundialsIntegrator clock(
                 *model, {.rtol = rtol, .method = method.method, .order = method.order});
             Outcome outcome = drop_ball(*model, clock, until);
             if (!clock.error().empty()) outcome.trouble = clock.error();
             return outcome;
           }});
    }
  }
  return all;
}
#else
std::vector<Contestant> sundials(const std::vector<double>&) { return {}; }
#endif

}  // namespace bristle::bench::bounce
