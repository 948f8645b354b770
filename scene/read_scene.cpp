#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numbers>
#include <sstream>

#include "bristle/step/loops.hpp"
#include "files/read_file.hpp"
#include "scene/draft.hpp"
#include "scene/path.hpp"
#include "scene/robot_rules.hpp"
#include "scene/robot_scene.hpp"
#include "scene/start.hpp"
#include "scene/toml_text.hpp"

namespace bristle::scene {

namespace {

/// Adds what an included file says: lists grow, single values of the scene itself win.
void merge(toml::table& into, const toml::table& from) {
  for (const auto& [key, node] : from) {
    toml::node* own = into.get(key.str());
    if (own == nullptr) {
      into.insert(key, node);
    } else if (own->is_table() && node.is_table()) {
      merge(*own->as_table(), *node.as_table());
    } else if (own->is_array() && node.is_array()) {
      toml::array both = *node.as_array();
      for (const toml::node& one : *own->as_array()) both.push_back(one);
      *own->as_array() = std::move(both);
    }
  }
}

/// Files that a scene includes, and those that they include.
class Includes {
 public:
  explicit Includes(Problems& problems) : problems_(problems) {}

  void add_to(toml::table& table, const std::string& file) {
    const toml::node* include = table.get("include");
    if (include == nullptr) return;
    std::vector<Name> names;
    if (const toml::array* list = include->as_array()) {
      for (const toml::node& one : *list) take(one, file, names);
    } else {
      take(*include, file, names);
    }
    open_.push_back(identity(file));
    for (const Name& name : names) {
      if (!add(table, file, name)) break;
    }
    open_.pop_back();
  }

 private:
  struct Name {
    std::string text;
    int line;
  };

  static std::string identity(const std::string& file) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(file, ignored).string();
  }

  void take(const toml::node& node, const std::string& file, std::vector<Name>& names) {
    const int line = static_cast<int>(node.source().begin.line);
    if (const auto name = node.value<std::string>(); name && node.is_string()) {
      names.push_back({*name, line});
    } else {
      problems_.error({file, line}, "include must be a file's name, or a list of them");
    }
  }

  /// False where further files are not worth a look.
  bool add(toml::table& table, const std::string& file, const Name& name) {
    const auto refuse = [&](const std::string& why) {
      problems_.error({file, name.line},
                      fmt::format("include = \"{}\": {}", name.text, why));
    };
    const std::size_t slash = file.find_last_of('/');
    const std::string folder =
        slash == std::string::npos ? "" : file.substr(0, slash + 1);
    const std::string path = name.text.starts_with('/') ? name.text : folder + name.text;
    if (std::ranges::find(open_, identity(path)) != open_.end()) {
      refuse("a file must not include itself, nor what includes it");
      return true;
    }
    if (open_.size() > include_depth) {
      refuse(fmt::format("files include each other more than {} deep", include_depth));
      return false;
    }
    if (++count_ > include_files) {
      refuse(fmt::format("there must not be more than {} files in all", include_files));
      return false;
    }
    const auto text = files::read_file(path, scene_bytes);
    if (!text) {
      refuse(fmt::format("cannot read {}: {}", path, text.error()));
      return true;
    }
    if (auto other = parse_toml(*text, path, problems_)) {
      add_to(*other, path);
      other->erase("include");
      merge(table, *other);
    }
    return true;
  }

  Problems& problems_;
  std::vector<std::string> open_;  // the files that are being read, one in another
  std::size_t count_ = 0;
};

/// The value of a setting as x: TOML or, where it is none, a text. Its source is the
/// setting, which messages about it name.
toml::table value_of_setting(const std::string& text, const std::string& label) {
  const auto parsed = [&](const std::string& value) {
    toml::table table;
    try {
      table = toml::parse("x = " + value, label);
    } catch (const toml::parse_error&) {
      table.clear();
    }
    return table;
  };
  toml::table table = parsed(text);
  if (table.size() == 1) return table;
  std::ostringstream quoted;
  quoted << toml::value<std::string>(text);
  table = parsed(quoted.str());
  if (table.size() == 1) return table;
  table.clear();  // a text that is not UTF-8
  table.insert("x", text);
  return table;
}

void apply_setting(toml::table& table, const std::string& setting, Problems& problems) {
  const std::string label =
      std::string(setting_prefix) +
      (setting.size() > 100 ? setting.substr(0, 100) + "…" : setting);
  const FileLine place{label, 0};
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.error(place, "write it as key=value, e.g. clock.duration_s=2");
    return;
  }
  std::vector<std::string> path;
  std::stringstream words(setting.substr(0, equals));
  for (std::string word; std::getline(words, word, '.');) path.push_back(word);
  if (setting[equals - 1] == '.' || std::ranges::count(path, "") > 0) {
    problems.error(place, "a key must not have an empty part between its dots");
    return;
  }
  if (path.size() > scene_depth) {
    problems.error(place,
                   fmt::format("a key must not lie more than {} deep", scene_depth));
    return;
  }
  if (path.front() == "include") {
    problems.error(place,
                   "files are included before settings are applied; write include into "
                   "the scene");
    return;
  }
  const std::string text = setting.substr(equals + 1);
  if (too_deep("x = " + text)) {
    problems.error(place, fmt::format("tables and lists must not lie more than {} deep "
                                      "in each other",
                                      scene_depth));
    return;
  }
  toml::table value = value_of_setting(text, label);
  toml::node* at = &table;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    toml::node* next = step_into(*at, path[i]);
    if (next == nullptr && at->is_table()) {
      at->as_table()->insert(path[i], toml::table{});
      next = at->as_table()->get(path[i]);
    }
    if (next == nullptr) {
      problems.error(place, fmt::format("there is no \"{}\" in {}", path[i],
                                        i == 0 ? "the scene" : path[i - 1]));
      return;
    }
    at = next;
  }
  if (!at->is_table()) {
    problems.error(place, fmt::format("\"{}\" is no table", path[path.size() - 2]));
    return;
  }
  at->as_table()->insert_or_assign(path.back(), std::move(*value.get("x")));
}

constexpr std::size_t most_listed = 20;

/// What overlaps by more than bodies at rest do, unless that is allowed; and which joints
/// and couplings begin beyond their limits.
void check_start(const Model& model, const State& start, const Draft& draft,
                 Problems& problems) {
  const StartReport report = inspect_start(model, start);
  if (report.crowded) {
    problems.error(
        {draft.source.file, 0},
        "bodies lie in one another at the start: shapes are close to more than "
        "100 others on average; move them apart");
  }
  std::size_t deep = 0;
  for (const StartOverlap& overlap : report.overlaps) {
    if (overlap.rests() || ++deep > most_listed) continue;
    const ModelShape& a = model.shapes[overlap.a];
    const ModelShape& b = model.shapes[overlap.b];
    // Of a body in the world the other one is to move.
    const int body = b.body >= 0 ? b.body : a.body;
    const auto found = body >= 0
                           ? draft.body_places.find(
                                 model.tree.bodies()[static_cast<std::size_t>(body)].name)
                           : draft.body_places.end();
    const FileLine place =
        found != draft.body_places.end() ? found->second : FileLine{draft.source.file, 0};
    const std::string what = fmt::format(
        "\"{}\" and \"{}\" overlap by {:.3g} m at the start, and their rest depth "
        "is {:.3g} m",
        a.name, b.name, overlap.depth, overlap.rest_depth);
    if (draft.allow_overlap) {
      problems.warning(place, what);
    } else {
      problems.error(place,
                     what + "; move them apart, or set allow_initial_overlap = true");
    }
  }
  if (deep > most_listed) {
    const std::string more = fmt::format("and {} more that overlap", deep - most_listed);
    if (draft.allow_overlap) {
      problems.warning({draft.source.file, 0}, more);
    } else {
      problems.error({draft.source.file, 0}, more);
    }
  }
  if (deep > 0 && draft.allow_overlap) {
    problems.warning({draft.source.file, 0},
                     fmt::format("overlaps store {:.3g} J at the start, which set bodies "
                                 "in motion",
                                 report.contact_energy));
  }
  std::string beyond;
  for (std::size_t i = 0; i < std::min(report.limits.size(), most_listed); ++i) {
    beyond += (i > 0 ? ", " : "") + text_of(report.limits[i], model);
  }
  if (report.limits.size() > most_listed) {
    beyond += fmt::format(" and {} more", report.limits.size() - most_listed);
  }
  if (!beyond.empty()) {
    const auto of_couplings = static_cast<std::size_t>(std::ranges::count_if(
        report.limits, [](const StartLimit& limit) { return limit.coupling >= 0; }));
    const char* who = of_couplings == 0                      ? "joints"
                      : of_couplings == report.limits.size() ? "couplings"
                                                             : "joints and couplings";
    problems.warning({draft.source.file, 0},
                     fmt::format("{} start beyond their limits, which store {:.3g} J: {}",
                                 who, report.limit_energy, beyond));
  }
}

std::string opening(const LoopGap& gap) {
  std::string text;
  if (gap.distance > 0) text = fmt::format("{:.3g} m", gap.distance);
  if (gap.angle > 0) {
    if (!text.empty()) text += " and ";
    text += fmt::format("{:.3g}°", gap.angle * 180 / std::numbers::pi);
  }
  return text;
}

/// Joints move until rigid loops are closed. One that was open by more than typed digits
/// explain is worth a word, and one that cannot be closed is an error.
void close_loops(const Model& model, State& start, const Draft& draft,
                 Problems& problems) {
  if (model.loop_rows == 0) return;
  for (const Motor& motor : model.motors) {
    if (motor.kind != MotorKind::prescribed) continue;
    start.q[static_cast<std::size_t>(motor.q)] = motor.target.value(0);
    start.v[static_cast<std::size_t>(motor.v)] = motor.target.rate(0);
  }
  System system(model);
  State closed = start;
  const bool can = settle_loops(system, closed) == StepStatus::ok;
  kinematics<double>(model.tree, start.q, start.v, system.tree);
  for (const Loop& loop : model.loops) {
    const LoopGap gap = loop_gap(system, loop);
    const double size = norm(loop.on_a.p) + norm(loop.on_b.p) + loop.length;
    if (gap.distance <= 1e-3 * size && gap.angle <= 1e-3) continue;
    const std::string who = fmt::format("loop \"{}\"", loop.name);
    const FileLine place = draft.place_of({.element = Element::loop, .name = loop.name});
    if (can) {
      problems.warning(place, fmt::format("{}: it is open by {} at the start; joints "
                                          "move to close it",
                                          who, opening(gap)));
    } else {
      problems.error(place, fmt::format("{}: it is open by {} at the start and cannot be "
                                        "closed; bring its ends together, or give it a "
                                        "stiffness_N_m",
                                        who, opening(gap)));
    }
  }
  if (can) {
    start.q = closed.q;
    start.v = closed.v;
  } else if (!problems.any()) {
    problems.error({draft.source.file, 0},
                   "loops that contradict each other cannot be closed");
  }
}

/// A fixed step that fits the run: not longer, and not so short that it does not move
/// time.
void check_step(const Section& at, const ClockSpec& clock) {
  const double step = clock.options.step, duration = clock.duration;
  const std::string given =
      at.has("step")
          ? shown(at.key_of("step"), *at.node("step"))
          : fmt::format("step_s = {:g} (which is used when it is left out)", step);
  if (step > duration) {
    at.error("step", fmt::format("{} must not be longer than the run, which takes "
                                 "duration_s = {:g}",
                                 given, duration));
  } else if (duration / step > most_steps) {
    at.error("step", fmt::format("{} makes {:.3g} steps of the run; there must be at "
                                 "most {:g}",
                                 given, duration / step, most_steps));
  }
}

/// As many samples and checkpoints as a disk may hold. Intervals beyond the run are made
/// twice as long as the run.
void check_intervals(const Section& at, double duration, RecordSpec& record) {
  const auto check = [&](std::string_view key, double interval, const char* what) {
    if (!(interval > 0) || duration / interval <= most_samples) return;
    const std::string given = at.has(key) ? shown(at.key_of(key), *at.node(key))
                                          : fmt::format(
                                                "{} = {:g} s (which is used when "
                                                "it is left out)",
                                                key, interval);
    at.error(key, fmt::format("{} makes {:.3g} {} of a run of {:g} s; there must be at "
                              "most {:g}",
                              given, duration / interval, what, duration, most_samples));
  };
  if (record.every == Sampling::interval) check("every", record.interval, "samples");
  check("checkpoint", record.checkpoint, "checkpoints");
  record.interval = std::min(record.interval, 2 * duration);
  record.checkpoint = std::min(record.checkpoint, 2 * duration);
}

/// Rigid contacts and constraints of velocities, under an integrator without impulses.
void check_impulses(const ClockSpec& clock, const Draft& draft, Problems& problems) {
  if (clock.stepper->fixed_step && clock.options.method.info().impulses) return;
  const auto refuse = [&](const ErrorSubject& subject, std::string_view what,
                          std::string_view otherwise) {
    problems.error(
        draft.place_of(subject),
        fmt::format("{} needs an integrator that solves for impulses, and kind = "
                    "\"{}\" does not: take kind = \"complementarity\", or {}",
                    what, clock.stepper->name, otherwise));
  };
  for (std::size_t i = 0; i < draft.parts.contacts.size(); ++i) {
    if (!draft.parts.contacts[i].rigid) continue;
    refuse({Element::contact, "", i, "normal"}, "normal = \"rigid\"",
           "give the contact a normal law");
    return;
  }
  if (draft.parts.constraints.empty()) return;
  const std::string& name = draft.parts.constraints.front().name;
  refuse({Element::constraint, name, 0, "type"}, fmt::format("constraint \"{}\"", name),
         "leave it out");
}

Result<Model> build_model(const Parts& parts) {
  ModelBuilder builder;
  if (parts.gravity) builder.gravity(*parts.gravity);
  for (const BodySpec& body : parts.bodies) builder.add_body(body);
  for (const JointSpec& joint : parts.joints) builder.add_joint(joint);
  for (const LoopSpec& loop : parts.loops) builder.add_loop(loop);
  for (const ConstraintSpec& constraint : parts.constraints) {
    builder.add_constraint(constraint);
  }
  for (const CouplingSpec& coupling : parts.couplings) builder.add_coupling(coupling);
  for (const ShapeSpec& shape : parts.shapes) builder.add_shape(shape);
  for (const ContactSpec& contact : parts.contacts) builder.add_contact(contact);
  for (const MotorSpec& motor : parts.motors) builder.add_motor(motor);
  for (const LoadSpec& load : parts.loads) builder.add_load(load);
  return builder.build();
}

State start_of(const Model& model, const Parts& parts) {
  State state = make_state(model);
  for (const InitialJoint& start : parts.start) {
    const Joint* joint = model.tree.find_joint(start.joint);
    if (joint == nullptr) continue;
    std::copy(start.q.begin(), start.q.end(), state.q.begin() + joint->q);
    std::copy(start.v.begin(), start.v.end(), state.v.begin() + joint->v);
  }
  return state;
}

std::optional<Scene> compile(const Section& at, Draft& draft, Scene scene) {
  Problems& problems = *draft.source.problems;
  add_holding_motors(draft);
  Result<Model> model = build_model(draft.parts);
  if (model && !draft.robots.empty()) {
    find_apparent_masses(*model, draft);
    model = build_model(draft.parts);
  }
  if (model && !draft.robots.empty() &&
      keep_robots_apart(*model, start_of(*model, draft.parts), draft)) {
    model = build_model(draft.parts);
  }
  if (!model) {
    problems.error(draft.place_of(model.error_subject()), model.error());
    return std::nullopt;
  }
  scene.model = std::move(*model);
  scene.geometry = draft.parts.geometry;
  scene.geometry->forget_files();
  scene.looks = std::move(draft.parts.looks);
  scene.visuals = std::move(draft.parts.visuals);
  scene.start = start_of(scene.model, draft.parts);
  read_probes(at, draft, scene);
  close_loops(scene.model, scene.start, draft, problems);
  check_start(scene.model, scene.start, draft, problems);
  if (problems.any()) return std::nullopt;
  for (const Problem& warning : problems.warnings()) {
    scene.warnings.push_back(warning.text());
  }
  return scene;
}

/// The step when it is left out [s]. Methods that solve for impulses are as stable with
/// longer ones, and their ledger is exact as long as no joints make the mass matrix
/// change.
double usual_step(const Section& scene, const ClockSpec& clock) {
  const bool impulses = clock.stepper->fixed_step && clock.options.method.info().impulses;
  const bool linked = scene.has("joints") || scene.has("robots");
  return impulses && !linked ? 2e-3 : StepperOptions{}.step;
}

/// Whether a stepper reads a key of the clock.
bool takes(const StepperInfo& stepper, std::string_view key) {
  if (key == "kind" || key == "duration") return true;
  if (key == "rtol") return !stepper.fixed_step;
  if (key == "method") return stepper.fixed_step && !stepper.method;
  if (key == "most_substeps") return stepper.fixed_step && !stepper.method;
  if (key == "step" || key == "substeps" || key == "threads") return stepper.fixed_step;
  return std::any_of(stepper.parameters.begin(), stepper.parameters.end(),
                     [&](const Parameter& own) { return own.name == key; });
}

void warn_of_unused_keys(const Section& clock, const StepperInfo& stepper) {
  for (const Key& key : clock.keys()) {
    if (!clock.has(key.name) || takes(stepper, key.name)) continue;
    clock.warning(
        key.name,
        fmt::format("{} is ignored: kind = \"{}\" does not use it",
                    shown(clock.key_of(key.name), *clock.node(key.name)), stepper.name));
  }
}

}  // namespace

ClockSpec read_clock(const Section& scene, Draft& draft) {
  ClockSpec clock;
  const toml::table* table = scene.table("clock");
  if (table == nullptr) return clock;
  const std::vector<Key> keys = clock_keys();
  const Section at(*table, keys, "clock", draft.source);
  if (const auto found = find_stepper(at.text_or("kind", clock.stepper->name))) {
    clock.stepper = *found;
  }
  StepperOptions& options = clock.options;
  clock.duration = at.number_or("duration", clock.duration);
  options.rtol = at.number_or("rtol", options.rtol);
  clock.substeps_chosen = at.has("substeps");
  options.substeps = static_cast<int>(at.number_or("substeps", options.substeps));
  options.most_substeps =
      static_cast<int>(at.number_or("most_substeps", options.most_substeps));
  options.threads = static_cast<int>(at.number_or("threads", options.threads));
  if (const auto method = find_method(at.text_or("method", name_of(options.method)))) {
    options.method = *method;
  }
  if (clock.stepper->method) options.method = *clock.stepper->method;
  options.step = at.number_or("step", usual_step(scene, clock));
  const bool follows = clock.stepper->fixed_step && !options.method.info().impulses;
  if (follows && !clock.substeps_chosen) options.substeps = 0;
  warn_of_unused_keys(at, *clock.stepper);
  if (clock.stepper->fixed_step) check_step(at, clock);
  for (const Parameter& own : clock.stepper->parameters) {
    double value = own.preset;
    if (own.is_flag()) {
      value = at.flag(own.name, own.preset != 0) ? 1 : 0;
    } else if (own.is_choice()) {
      const auto chosen = parse_value(
          own, at.text_or(own.name, own.choices[static_cast<std::size_t>(own.preset)]));
      if (chosen) value = *chosen;
    } else {
      value = at.number_or(own.name, own.preset);
    }
    options.own.emplace_back(own.name, value);
  }
  return clock;
}

RecordSpec read_record(const Section& scene, double duration, Draft& draft) {
  RecordSpec record;
  static const toml::table nothing;
  const toml::table* table = scene.table("record");
  const Section at(table != nullptr ? *table : nothing, record_keys, "record",
                   draft.source);
  const std::string every = at.text_or("every", "10 ms");
  if (every == "step") {
    record.every = Sampling::step;
  } else if (every == "event") {
    record.every = Sampling::event;
  } else if (const auto interval = parse_time(every)) {
    record.interval = *interval;
  } else {
    at.error("every", fmt::format("every = \"{}\" must be a time such as \"1 ms\", or "
                                  "\"step\", or \"event\"",
                                  every));
  }
  record.steps = at.flag("steps");
  if (record.steps && record.every == Sampling::event) {
    at.error("steps", "steps = true goes with a time in every, not with \"event\"");
  }
  record.checkpoint = at.number_or("checkpoint", 0);
  check_intervals(at, duration, record);
  return record;
}

namespace {

std::optional<Scene> read_scene_with(const std::string& text, const std::string& file,
                                     const std::vector<std::string>& settings,
                                     const std::shared_ptr<Geometry>& geometry,
                                     Problems& problems) {
  auto table = parse_toml(text, file, problems);
  if (!table) return std::nullopt;
  Includes(problems).add_to(*table, file);
  table->erase("include");  // what the files say is there now, also in what is recorded
  for (const std::string& setting : settings) apply_setting(*table, setting, problems);
  if (problems.any()) return std::nullopt;

  Draft draft;
  draft.source = {file, &problems};
  draft.parts.geometry = geometry;
  const std::vector<Key> clock = clock_keys();
  const std::vector<Key> keys = scene_keys(clock);
  const Section at(*table, keys, "scene", draft.source);
  Scene scene{};
  scene.file = file;
  scene.title = at.text_or("title", "");
  scene.about = at.text_or("about", "");
  std::ostringstream whole;
  whole << *table;
  scene.text = whole.str();
  draft.allow_overlap = at.flag("allow_initial_overlap");
  scene.clock = read_clock(at, draft);
  scene.record = read_record(at, scene.clock.duration, draft);
  read_materials(at, draft);
  read_robots(at, draft);
  // The scene's own gravity comes before that of a robot's file.
  if (const toml::table* gravity = at.table("gravity")) {
    draft.parts.gravity =
        Section(*gravity, gravity_keys, "gravity", draft.source).vector("vector");
  }
  read_bodies(at, draft);
  read_joints(at, draft);
  read_loops(at, draft);
  read_constraints(at, draft);
  read_contacts(at, draft);
  read_motors(at, draft);
  read_loads(at, draft);
  if (draft.parts.bodies.empty() && !problems.any()) {
    problems.error({file, 0}, "there is no body; add [[bodies]] or [[robots]]");
  }
  check_impulses(scene.clock, draft, problems);
  if (problems.any()) return std::nullopt;
  return compile(at, draft, std::move(scene));
}

}  // namespace

std::optional<Scene> read_scene_text(const std::string& text, const std::string& file,
                                     const std::vector<std::string>& settings,
                                     Problems& problems) {
  return read_scene_with(text, file, settings, std::make_shared<Geometry>(), problems);
}

std::optional<Scene> read_scene(const std::string& file,
                                const std::vector<std::string>& settings,
                                Problems& problems) {
  const auto text = files::read_file(file, scene_bytes);
  if (!text) {
    problems.error({file, 0}, fmt::format("cannot read this file: {}", text.error()));
    return std::nullopt;
  }
  const auto geometry = std::make_shared<Geometry>();
  if (robot_format(*text) == RobotFormat::none) {
    return read_scene_with(*text, file, settings, geometry, problems);
  }
  const std::string name = std::filesystem::path(file).filename().string();
  const auto scene = robot_scene(*text, file, name, geometry, problems);
  if (!scene) return std::nullopt;
  return read_scene_with(*scene, file, settings, geometry, problems);
}

}  // namespace bristle::scene
