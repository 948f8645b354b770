#include <algorithm>
#include <cmath>

#include "bristle/dynamics/coupling_motion.hpp"
#include "bristle/dynamics/kinematics.hpp"
#include "scene/mjcf_reading.hpp"

// Tendons: sums of joint positions (fixed), and strings over sites, spheres, cylinders
// and pulleys (spatial).

namespace bristle::scene::mjcf {

void Reading::collect_wraps(const Element& e) {
  each(e, "geom", [&](const Element& c) { wrapped_.emplace(c.value("geom")); });
}

/// A geom that a tendon goes around, whether it touches or not.
void Reading::note_wrap(const Placed& at, const View& v, int body,
                        const Transform<double>& base) {
  const std::string name(at.element->value("name"));
  const std::string type(word(v, "type", "sphere"));
  if (type != "sphere" && type != "cylinder") return;
  const std::optional<Form> form = read_form(v, body, true, false);
  if (!form || !form->shape) return;
  WrapRecord wrap{body, base * at.frame * form->pose, PathPart::sphere, 0};
  if (const auto* sphere = std::get_if<Sphere>(&*form->shape)) {
    wrap.radius = sphere->radius;
  } else if (const auto* cylinder = std::get_if<Cylinder>(&*form->shape)) {
    wrap.part = PathPart::cylinder;
    wrap.radius = cylinder->radius;
  }
  wraps_.try_emplace(name, wrap);
}

const SiteRecord* Reading::site_named(const Element& e, const char* attribute,
                                      const std::string& who) {
  const Attribute* name = e.find(attribute);
  if (name == nullptr) {
    error(e.place(), {who, ": ", e.tag, " must have ", attribute});
    return nullptr;
  }
  const auto found = sites_.find(name->value);
  if (found != sites_.end()) return &found->second;
  error(name->place(), {who, ": ", attribute, " = \"", shown(name->value),
                        "\" must be a site of the model"});
  return nullptr;
}

/// The parts of a string; false where one is wrong.
bool Reading::read_path(const Element& e, const std::string& who, CouplingSpec& to) {
  for (const Element& c : e.children) {
    PathSpec part;
    if (c.tag == "site") {
      const SiteRecord* site = site_named(c, "site", who);
      if (site == nullptr) return false;
      part.body = bodies_[static_cast<std::size_t>(site->body)].name;
      part.pose = site->pose;
    } else if (c.tag == "geom") {
      const auto wrap = wraps_.find(c.value("geom"));
      if (wrap == wraps_.end()) {
        error(c.place(), {who, ": geom = \"", shown(c.value("geom")),
                          "\" must be a sphere or a cylinder of the model"});
        return false;
      }
      part.part = wrap->second.part;
      part.body = bodies_[static_cast<std::size_t>(wrap->second.body)].name;
      part.pose = wrap->second.pose;
      part.radius = wrap->second.radius;
      if (c.find("sidesite") != nullptr) {
        const SiteRecord* side = site_named(c, "sidesite", who);
        if (side == nullptr) return false;
        part.side_body = bodies_[static_cast<std::size_t>(side->body)].name;
        part.side = side->pose.p;
      }
    } else if (c.tag == "pulley") {
      part.part = PathPart::pulley;
      part.divisor = xml::number(c.find("divisor"), who, 1, Range::positive, problems_);
    } else {
      continue;
    }
    to.path.push_back(std::move(part));
  }
  return true;
}

/// The terms of a sum; false where one is wrong. Its length where our joints are at 0,
/// and where their springs rest, go to `ref` and `at_rest`.
bool Reading::read_terms(const Element& e, const std::string& who, CouplingSpec& to,
                         double& ref, double& at_rest) {
  for (const Element& c : e.children) {
    if (c.tag != "joint") continue;
    const JointRecord* joint = single_joint(c, "joint", who);
    if (joint == nullptr) return false;
    const double weight = xml::number(c.find("coef"), who, 0, Range::any, problems_);
    if (weight == 0) continue;
    to.terms.push_back({joint->name, weight});
    ref += weight * joint->ref;
    at_rest += weight * (parts.joints[joint->spec].rest + joint->ref);
  }
  return true;
}

void Reading::read_tendon(const Element& e) {
  const View v = view(e, main_class, e.value("name"));
  CouplingSpec coupling;
  double ref = 0, at_rest = 0;
  const bool spatial = e.tag == "spatial";
  const bool fine = spatial ? read_path(e, v.who, coupling)
                            : read_terms(e, v.who, coupling, ref, at_rest);
  if (!fine || (coupling.terms.empty() && coupling.path.empty())) return;
  const std::string name(e.value("name"));
  coupling.name = coupling_names_.fresh(name.empty() ? "tendon" : name);
  if (spatial) {
    if (const auto problem = wrong_path(coupling)) {
      error(e.place(), {v.who, ": ", *problem});
      return;
    }
  }
  coupling.stiffness = number(v, "stiffness", 0, Range::not_negative);
  coupling.damping = number(v, "damping", 0, Range::not_negative);
  coupling.rest = at_rest - ref;
  const auto given = numbers(v, "springlength", 1, 2);
  if (given && given->front() >= 0) {
    coupling.rest = given->front() - ref;
    coupling.slack = std::max(given->back() - given->front(), 0.0);
  } else if (spatial && coupling.stiffness > 0) {
    coupling.rest = length_of(
        coupling, [this](const JointRecord& j) { return parts.joints[j.spec].rest; });
  }
  if (is_limited(v, "limited", "range")) {
    if (const auto range = numbers(v, "range", 2, 2)) {
      if ((*range)[0] > (*range)[1]) {
        const Attribute* a = get(v, "range");
        error(a->place(), {v.who, ": range = ", shown(a->value), " must not fall"});
        return;
      }
      // No string is shorter than nothing.
      if (!spatial || (*range)[0] > 0) coupling.lower = (*range)[0] - ref;
      coupling.upper = (*range)[1] - ref;
    }
  }
  if (!name.empty())
    tendons_.try_emplace(name, TendonRecord{parts.couplings.size(), ref});
  parts.couplings.push_back(std::move(coupling));
}

namespace {

/// What moves, and one coupling.
Result<Model> model_with(const Parts& parts, const CouplingSpec& coupling) {
  ModelBuilder builder;
  for (const BodySpec& body : parts.bodies) builder.add_body(body);
  for (const JointSpec& joint : parts.joints) builder.add_joint(joint);
  CouplingSpec plain;
  plain.name = coupling.name;
  plain.terms = coupling.terms;
  plain.path = coupling.path;
  builder.add_coupling(plain);
  return builder.build();
}

}  // namespace

/// What is wrong with a string, where the rest of the model is right.
std::optional<std::string> Reading::wrong_path(const CouplingSpec& coupling) const {
  const Result<Model> model = model_with(parts, coupling);
  if (model || model.error_subject().element != bristle::Element::coupling) return {};
  const std::string& text = model.error();
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

/// The length of a coupling where hinges and slides are somewhere, others as they begin.
double Reading::length_of(
    const CouplingSpec& coupling,
    const std::function<double(const JointRecord&)>& position) const {
  const Result<Model> model = model_with(parts, coupling);
  if (!model) return 0;  // said when the model is built
  State state = make_state(*model);
  for (const JointRecord& j : joints_) {
    const Joint* joint = model->tree.find_joint(j.name);
    if (joint == nullptr || joint->q < 0) continue;
    if (velocity_count(j.type) == 1) {
      state.q[static_cast<std::size_t>(joint->q)] = position(j);
    } else if (!j.q.empty()) {
      std::copy(j.q.begin(), j.q.end(), state.q.begin() + joint->q);
    }
  }
  Workspace<double> ws(model->tree);
  kinematics<double>(model->tree, state.q, state.v, ws);
  CouplingMotion motion(*model);
  motion.update(ws);
  return motion.value(0, state.q);
}

}  // namespace bristle::scene::mjcf
