#include "cli/run_summary.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bristle/core/version.hpp"

namespace bristle::cli {

namespace {

using scene::Scene;

Json ledger_json(const RunReport& report) {
  const Ledger& ledger = report.audit.last();
  return {{"kinetic_J", ledger.kinetic},
          {"gravity_J", ledger.gravity},
          {"stored_J", ledger.stored()},
          {"dissipated_J", ledger.dissipated()},
          {"supplied_J", ledger.supplied()},
          {"residual_J", report.audit.residual()},
          {"scale_J", report.audit.scale()},
          {"relative_residual", report.audit.relative()},
          {"unsupplied_J", report.audit.unsupplied()},
          {"relative_unsupplied", report.audit.relative_unsupplied()}};
}

/// Quantiles, and a histogram: where a bin begins, how many ticks.
void add_times(const std::string& name, const StepTimes& times, Json& json) {
  json[name + "_us"] = {{"median", 1e6 * times.quantile(0.5)},
                        {"p99", 1e6 * times.quantile(0.99)},
                        {"longest", 1e6 * times.longest()}};
  Json bins = Json::array();
  for (int i = 0; i < StepTimes::bins; ++i) {
    const std::uint64_t count = times.counts()[static_cast<std::size_t>(i)];
    if (count > 0) bins.push_back({1e6 * StepTimes::bin_start(i), count});
  }
  json[name + "_histogram_us"] = bins;
}

std::string times_text(const StepTimes& times) {
  return fmt::format("{:.2f} µs (median), {:.2f} µs (99 %), {:.2f} µs at most",
                     1e6 * times.quantile(0.5), 1e6 * times.quantile(0.99),
                     1e6 * times.longest());
}

void find_not_finite(const Json& json, const std::string& name,
                     std::vector<std::string>& found) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) found.push_back(name);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    find_not_finite(value, name.empty() ? key : name + "." + key, found);
  }
}

}  // namespace

const char* ending_text(Ending ending) {
  switch (ending) {
    case Ending::finished:
      return "finished";
    case Ending::interrupted:
      return "interrupted";
    case Ending::cannot_go_on:
      return "cannot go on";
    case Ending::cannot_write:
      return "cannot write";
  }
  return "";
}

Json summary_json(const Scene& scene, const RunReport& report) {
  Json json{
      {"scene", scene.file},
      {"title", scene.title},
      {"about", scene.about},
      {"version", version()},
      {"status", ending_text(report.ending)},
      {"clock", scene.clock.stepper->name},
      {"simulated_s", report.simulated},
      {"elapsed_s", report.elapsed},
      {"realtime_factor", report.elapsed > 0 ? report.simulated / report.elapsed : 0.0},
      {"steps", report.steps},
      {"evaluations", report.evaluations},
      {"events", report.events},
      {"touches", report.touches},
      {"ledger", ledger_json(report)},
      {"warnings", report.warnings}};
  if (scene.clock.stepper->fixed_step) {
    add_times("step_time", report.times, json);
    const Deadlines& deadlines = report.deadlines;
    json["missed_deadlines"] = report.missed;
    json["passages"] = report.passages;
    if (deadlines.begun_late.count() > 0) {
      add_times("wake_up_latency", deadlines.begun_late, json);
      json["missed_own"] = deadlines.late_by_us.count();
      json["missed_system"] = deadlines.late_by_system.count();
      add_times("missed_own", deadlines.late_by_us, json);
      add_times("missed_system", deadlines.late_by_system, json);
    }
  }
  if (!scene.clock.stepper->fixed_step) json["impulse_steps"] = report.impulse_steps;
  if (scene.model.has_patches) {
    json["patches"] = {{"pulled_locally", report.tension.contacts},
                       {"largest_tension_index", report.tension.largest}};
  }
  if (const SolveCounts& solves = report.solves; solves.solves > 0) {
    const auto per_step = [&](std::uint64_t count) {
      const std::uint64_t steps =
          report.impulse_steps > 0 ? report.impulse_steps : report.steps;
      return steps > 0 ? static_cast<double>(count) / static_cast<double>(steps) : 0.0;
    };
    json["solver"] = {{"solves_per_step", per_step(solves.solves)},
                      {"iterations_per_step", per_step(solves.iterations)},
                      {"worst_residual_m_s", solves.residual},
                      {"worst_relative_residual", solves.relative},
                      {"steps_not_converged", solves.unconverged},
                      {"lowered_restitutions", solves.lowered},
                      {"jammed_steps", solves.jammed},
                      {"steps_in_parts", solves.divided}};
  }
  Json probes = Json::object();
  for (std::size_t i = 0; i < report.probes.size(); ++i) {
    const ProbeRange& range = report.probes[i];
    probes[scene.probes[i].name] = {{"last", range.last},
                                    {"least", range.least},
                                    {"largest", range.largest},
                                    {"unit", scene.probes[i].unit}};
  }
  json["probes"] = probes;
  if (!report.trouble.empty()) json["trouble"] = report.trouble;
  return json;
}

std::vector<std::string> not_finite(const Json& summary) {
  std::vector<std::string> found;
  find_not_finite(summary, "", found);
  return found;
}

void print_summary(const Scene& scene, const RunReport& report, bool realtime) {
  const double pace = report.elapsed > 0 ? report.simulated / report.elapsed : 0;
  fmt::print("{}: {:.6g} s simulated in {:.3g} s, {:.3g} × real time\n",
             printable(scene.title.empty() ? scene.file : scene.title), report.simulated,
             report.elapsed, pace);
  fmt::print("{} steps, {} force evaluations, {} events ({} touches)\n", report.steps,
             report.evaluations, report.events, report.touches);
  if (report.impulse_steps > 0) {
    fmt::print(
        "{} complementarity steps, with too many contacts to locate each event; events "
        "are reported at the end of the step\n",
        report.impulse_steps);
  }
  const Ledger& ledger = report.audit.last();
  fmt::print(
      "energy [J]: kinetic {:.6g}, gravity {:.6g}, stored {:.6g}, dissipated {:.6g}, "
      "supplied {:.6g}\n",
      ledger.kinetic, ledger.gravity, ledger.stored(), ledger.dissipated(),
      ledger.supplied());
  fmt::print("balance error: {:.2g} J, {:.2g} of the energy scale\n",
             report.audit.residual(), report.audit.relative());
  if (const SolveCounts& solves = report.solves; solves.solves > 0 && report.steps > 0) {
    const auto steps = static_cast<double>(report.impulse_steps > 0 ? report.impulse_steps
                                                                    : report.steps);
    fmt::print(
        "solved {:.2g} times a step with {:.2g} iterations; worst residual {:.2g} m/s, "
        "{:.2g} of the free velocity; {} steps not converged, {} taken in parts\n",
        static_cast<double>(solves.solves) / steps,
        static_cast<double>(solves.iterations) / steps, solves.residual, solves.relative,
        solves.unconverged, solves.divided);
  }
  if (report.tension.contacts > 0) {
    fmt::print(
        "{} volumetric contacts turned so fast that the pressure was negative in part "
        "of the patch: a |ω_t| R up to {:.3g}, and the law holds up to 1 (see its "
        "page)\n",
        report.tension.contacts, report.tension.largest);
  }
  const bool fixed_impulses =
      scene.clock.stepper->fixed_step && scene.clock.options.method.info().impulses;
  if (fixed_impulses || report.impulse_steps > 0) {
    const double damped = ledger.works.numerical;
    const double scale = report.audit.scale();
    fmt::print("damped by the steps themselves: {:.2g} J, {:.2g} of the energy scale\n",
               damped, scale > 0 ? damped / scale : 0.0);
  }
  if (report.audit.unsupplied() > 0) {
    fmt::print(
        "created by laws that are not passive (unsupplied): {:.2g} J, {:.2g} of the "
        "energy scale\n",
        report.audit.unsupplied(), report.audit.relative_unsupplied());
  }
  if (scene.clock.stepper->fixed_step) {
    fmt::print("a step took {}\n", times_text(report.times));
    const Deadlines& deadlines = report.deadlines;
    if (deadlines.begun_late.count() > 0) {
      fmt::print("steps began {} after they were due\n",
                 times_text(deadlines.begun_late));
    }
    if (realtime) {
      fmt::print(
          "{} of {} missed their deadline: {} by their own time, {} by the system\n",
          report.missed, report.steps, deadlines.late_by_us.count(),
          deadlines.late_by_system.count());
    }
  }
}

}  // namespace bristle::cli
