#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scene/draft.hpp"
#include "scene/sensor_kinds.hpp"

// Probes: numbers of a run that a scene names, sensors among them.

namespace bristle::scene {

namespace {

/// What probes measure of contacts.
struct ContactQuantity {
  std::string_view name;
  ProbeKind kind;
  const char* unit;
};
constexpr ContactQuantity contact_quantities[] = {
    {"contact_force", ProbeKind::contact_force, "N"},
    {"contact_depth", ProbeKind::contact_depth, "m"},
    {"contact_torque", ProbeKind::contact_torque, "N m"},
    {"contact_volume", ProbeKind::contact_volume, "m^3"}};

const ContactQuantity* contact_quantity(std::string_view name) {
  const auto found = std::ranges::find(contact_quantities, name, &ContactQuantity::name);
  return found == std::end(contact_quantities) ? nullptr : found;
}

#define BRISTLE_PLACED                                                                 \
  "orientation|angular_velocity|acceleration|angular_acceleration|accelerometer|gyro|" \
  "velocimeter|force|torque|touch|range"

/// The keys that some kinds of probes have, and which.
constexpr std::pair<std::string_view, std::string_view> keys_of_kinds[] = {
    {"a", "contact_force|contact_depth|contact_torque|contact_volume"},
    {"b", "contact_force|contact_depth|contact_torque|contact_volume"},
    {"body", "point|velocity|" BRISTLE_PLACED},
    {"point", "point|velocity"},
    {"site", BRISTLE_PLACED},
    {"position", BRISTLE_PLACED},
    {"rotation", BRISTLE_PLACED},
    {"quaternion", BRISTLE_PLACED},
    {"joint", "joint|joint_rate|joint_torque|force|torque"},
    {"component",
     "contact_force|contact_torque|point|velocity|orientation|angular_velocity|"
     "acceleration|angular_acceleration|accelerometer|gyro|velocimeter|force|torque"},
    {"radius", "touch"},
    {"size", "touch"},
    {"reach", "range"},
    {"line", "ledger"}};

#undef BRISTLE_PLACED

/// The shapes of a fixed body, which are the world's in the model.
std::vector<std::uint32_t> shapes_on(const std::string& body, const Model& model,
                                     const Draft& draft) {
  std::vector<std::uint32_t> found;
  const auto names = draft.fixed_shapes.find(body);
  if (names == draft.fixed_shapes.end()) return found;
  for (std::uint32_t i = 0; i < model.shapes.size(); ++i) {
    if (std::ranges::find(names->second, model.shapes[i].name) != names->second.end()) {
      found.push_back(i);
    }
  }
  return found;
}

/// A probe for the component that is asked for, or for each.
void add_sensor_probes(SensorSpec sensor, bool in_figure, Scene& scene,
                       const std::string& component) {
  Probe probe{.name = sensor.name, .kind = ProbeKind::sensor};
  probe.a = static_cast<int>(scene.sensors.size());
  probe.unit = unit_of(sensor.kind);
  probe.in_figure = in_figure;
  const int count = value_count(sensor.kind);
  for (int i = 0; i < count; ++i) {
    const std::string_view name = component_name(sensor.kind, i);
    if (!component.empty() && component != name) continue;
    const bool one = component == name || count == 1;
    probe.component = i + 1;
    probe.name = one ? sensor.name : fmt::format("{}.{}", sensor.name, name);
    scene.probes.push_back(probe);
  }
  if (component == "norm") {
    probe.component = 0;
    probe.name = sensor.name;
    scene.probes.push_back(probe);
  }
  scene.sensors.push_back(std::move(sensor));
}

class ProbeReader {
 public:
  ProbeReader(const Section& at, Draft& draft, Scene& scene)
      : at_(at), draft_(draft), scene_(scene), model_(scene.model) {}

  void read(const std::string& name) {
    for (const auto& [key, kinds] : keys_of_kinds) at_.only("kind", key, kinds);
    const std::string kind = at_.text_or("kind", "energy");
    Probe probe{.name = name, .kind = ProbeKind::energy};
    probe.component = component();
    if (const SensorWord* word = sensor_word_in_scene(kind)) {
      read_sensor(name, *word);
      return;
    }
    if (at_.text_or("component", "") == "w") {
      at_.error("component", "component = \"w\" belongs to orientation");
    }
    if (const ContactQuantity* of_contact = contact_quantity(kind)) {
      probe.kind = of_contact->kind;
      probe.unit = of_contact->unit;
      probe.a = body_of("a", &probe.shapes_a);
      probe.b = body_of("b", &probe.shapes_b);
    } else if (kind == "point" || kind == "velocity") {
      probe.kind = kind == "point" ? ProbeKind::point : ProbeKind::velocity;
      probe.unit = kind == "point" ? "m" : "m/s";
      if (!at_.has("body"))
        at_.error("kind", fmt::format("kind = \"{}\" needs body", kind));
      probe.a = body_of("body", nullptr);
      probe.point = at_.vector("point").value_or(Vec3<double>{0, 0, 0});
    } else if (kind == "joint" || kind == "joint_rate") {
      probe.kind = kind == "joint" ? ProbeKind::joint : ProbeKind::joint_rate;
      probe.unit = kind == "joint" ? "rad or m" : "rad/s or m/s";
      probe.a = joint_of();
    } else {
      probe.kind = kind == "ledger" ? ProbeKind::ledger : ProbeKind::energy;
      probe.unit = "J";
      probe.line = at_.text_or("line", "residual");
    }
    scene_.probes.push_back(probe);
  }

 private:
  int component() const {
    const std::string component = at_.text_or("component", "norm");
    return component == "x"          ? 1
           : component == "y"        ? 2
           : component == "z"        ? 3
           : component == "normal"   ? 4
           : component == "friction" ? 5
                                     : 0;
  }

  int find_body(std::string_view key, const std::string& word) const {
    const auto bodies = model_.tree.bodies();
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].name == word) return static_cast<int>(i);
      known.push_back(bodies[i].name);
    }
    at_.error(key, fmt::format("{} = \"{}\": there is no such body{}", key, word,
                               did_you_mean(word, known)));
    return -1;
  }

  int body_of(std::string_view key, std::vector<std::uint32_t>* shapes) const {
    const auto word = at_.text(key);
    if (!word || *word == "*") return -1;
    if (!draft_.fixed.contains(*word)) return find_body(key, *word);
    if (shapes != nullptr) {
      *shapes = shapes_on(*word, model_, draft_);
      if (shapes->empty()) {
        at_.error(key, fmt::format("{} = \"{}\" has no shape that could be touched", key,
                                   *word));
      }
    } else {
      at_.error(key, fmt::format("{} = \"{}\" is fixed: there is nothing to measure", key,
                                 *word));
    }
    return -1;
  }

  int joint_of() const {
    const auto word = at_.text("joint");
    const auto joints = model_.tree.joints();
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (word && joints[i].name == *word) return static_cast<int>(i);
      known.push_back(joints[i].name);
    }
    at_.error("joint",
              fmt::format("joint = \"{}\": there is no such joint{}", word.value_or(""),
                          did_you_mean(word.value_or(""), known)));
    return -1;
  }

  void read_sensor(const std::string& name, const SensorWord& word) {
    SensorSpec sensor;
    sensor.name = name;
    sensor.kind = word.kind;
    if (!place(word, sensor)) return;
    if (at_.given("radius") && at_.given("size")) {
      at_.error("size", fmt::format("{} and {} must not both be given",
                                    at_.key_of("radius"), at_.key_of("size")));
    }
    if (at_.has("radius")) sensor.zone = Sphere{at_.number_or("radius", 1)};
    if (const auto size = at_.vector("size")) sensor.zone = Box{0.5 * *size};
    sensor.reach = at_.number_or("reach", sensor.reach);
    const Result<Sensors> made = Sensors::make(model_, std::span(&sensor, 1));
    if (!made) {
      const ErrorSubject& subject = made.error_subject();
      at_.error(at_.given(subject.field) ? subject.field : "kind", made.error());
      return;
    }
    add_sensor_probes(std::move(sensor), true, scene_, at_.text_or("component", ""));
    if (at_.text_or("component", "") == "w" && word.kind != SensorKind::orientation) {
      at_.error("component", "component = \"w\" belongs to orientation");
    }
    for (const char* of_contacts : {"normal", "friction"}) {
      if (at_.text_or("component", "") != of_contacts) continue;
      at_.error("component",
                fmt::format("component = \"{}\" belongs to contact_force", of_contacts));
    }
  }

  /// Where it sits; false where something is wrong, which has been said.
  bool place(const SensorWord& word, SensorSpec& sensor) const {
    if (word.kind == SensorKind::joint_torque) {
      const int joint = joint_of();
      if (joint < 0) return false;
      sensor.joint = at_.text_or("joint", "");
      return true;
    }
    if (at_.given("site") + at_.given("body") + at_.given("joint") != 1) {
      const bool through =
          word.kind == SensorKind::force || word.kind == SensorKind::torque;
      at_.error("kind", fmt::format("kind = \"{}\" needs body or site{}, one of them",
                                    word.in_scene, through ? " or joint" : ""));
      return false;
    }
    const Transform<double> own = pose_of(at_).value_or(Transform<double>{});
    if (at_.given("site")) return place_on_site(own, sensor);
    if (at_.given("joint")) {
      const int joint = joint_of();
      if (joint < 0) return false;
      const int body = model_.tree.joints()[static_cast<std::size_t>(joint)].body;
      sensor.body = model_.tree.bodies()[static_cast<std::size_t>(body)].name;
      sensor.pose = own;
      return true;
    }
    const std::string body = at_.text_or("body", "");
    sensor.pose = own;
    if (const auto fixed = draft_.fixed.find(body); fixed != draft_.fixed.end()) {
      if (word.kind == SensorKind::touch || word.kind == SensorKind::force ||
          word.kind == SensorKind::torque) {
        at_.error("body", fmt::format("body = \"{}\" is fixed, a part of the world; "
                                      "contact_force measures what touches it",
                                      body));
        return false;
      }
      sensor.pose = fixed->second * own;
      for (const std::uint32_t shape : shapes_on(body, model_, draft_)) {
        sensor.unseen.push_back(model_.shapes[shape].name);
      }
      return true;
    }
    if (find_body("body", body) < 0) return false;
    sensor.body = body;
    return true;
  }

  bool place_on_site(const Transform<double>& own, SensorSpec& sensor) const {
    const std::string name = at_.text_or("site", "");
    std::vector<std::string_view> known;
    for (const SiteSpec& site : draft_.parts.sites) {
      known.push_back(site.name);
      if (site.name != name) continue;
      sensor.body = site.body;
      sensor.pose = site.pose * own;
      if (sensor.kind == SensorKind::touch) sensor.zone = site.zone;
      return true;
    }
    at_.error("site", fmt::format("site = \"{}\": there is no such site in the scene's "
                                  "MJCF files{}",
                                  name, did_you_mean(name, known)));
    return false;
  }

  const Section& at_;
  Draft& draft_;
  Scene& scene_;
  const Model& model_;
};

}  // namespace

void read_probes(const Section& at, Draft& draft, Scene& scene) {
  Problems& problems = *draft.source.problems;
  const std::size_t before = problems.count();
  std::set<std::string> written, names;
  for (const toml::table* table : at.tables("probes")) {
    const std::string name = (*table)["name"].value_or(std::string("?"));
    const Section of_probe(*table, probe_keys, fmt::format("probe \"{}\"", name),
                           draft.source);
    if (!written.insert(name).second)
      of_probe.error("name", "there is a probe of this name already");
    ProbeReader(of_probe, draft, scene).read(name);
  }
  if (problems.count() != before) return;
  for (const Probe& probe : scene.probes) {
    if (names.insert(probe.name).second) continue;
    at.error("probes", fmt::format("two probes are called \"{}\"", probe.name));
  }
  // Sensors of robots' files; what a scene calls the same comes before them.
  for (SensorSpec sensor : draft.parts.sensors) {
    if (written.contains(sensor.name)) sensor.name += " of the file";
    const Result<Sensors> made = Sensors::make(scene.model, std::span(&sensor, 1));
    if (made) {
      add_sensor_probes(std::move(sensor), false, scene, "");
    } else {
      problems.warning({draft.source.file, 0}, made.error());
    }
  }
}

}  // namespace bristle::scene
