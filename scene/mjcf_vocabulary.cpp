#include "scene/mjcf_vocabulary.hpp"

#include <map>
#include <set>

#include "scene/mjcf_reading.hpp"

namespace bristle::scene::mjcf {

namespace {

using Words = std::set<std::string_view>;
using xml::Consequence;

/// The attributes that are read, by element.
const std::map<std::string_view, Words>& vocabulary() {
  static const Words orientation{"quat", "euler", "axisangle", "xyaxes", "zaxis"};
  static const auto with = [](Words own) {
    own.insert(orientation.begin(), orientation.end());
    return own;
  };
  static const Words common{"name",         "class",         "joint",       "tendon",
                            "gear",         "ctrlrange",     "ctrllimited", "forcerange",
                            "forcelimited", "jointinparent", "site",        "refsite"};
  static const auto driving = [](Words own) {
    own.insert(common.begin(), common.end());
    return own;
  };
  static const Words loop{"name",  "class", "active", "body1",  "body2",
                          "site1", "site2", "anchor", "relpose"};
  static const Words on_site{"name", "site"};
  static const Words on_frame{"name", "objtype", "objname", "reftype", "refname"};
  static const std::map<std::string_view, Words> all{
      {"mujoco", {"model"}},
      {"compiler",
       {"angle", "coordinate", "meshdir", "assetdir", "eulerseq", "autolimits",
        "inertiafromgeom", "inertiagrouprange", "balanceinertia", "boundmass",
        "boundinertia", "settotalmass", "fitaabb"}},
      {"option", {"gravity", "timestep"}},
      {"default", {"class", "main"}},
      {"worldbody", {"name"}},
      {"body", with({"name", "pos", "childclass", "gravcomp", "mocap"})},
      {"frame", with({"name", "pos", "childclass"})},
      {"inertial", with({"pos", "mass", "diaginertia", "fullinertia"})},
      {"joint",
       {"name",
        "class",
        "type",
        "pos",
        "axis",
        "range",
        "limited",
        "damping",
        "stiffness",
        "springref",
        "armature",
        "frictionloss",
        "ref",
        "actuatorfrcrange",
        "actuatorfrclimited",
        "springdamper",
        "joint",
        "coef",
        "joint1",
        "joint2",
        "polycoef",
        "active",
        "solref",
        "solimp"}},
      {"freejoint", {"name"}},
      {"site", with({"name", "class", "pos", "type", "size", "site"})},
      {"geom", with({"name",   "class",    "type",     "pos",      "size",
                     "fromto", "mass",     "density",  "contype",  "conaffinity",
                     "mesh",   "group",    "friction", "condim",   "priority",
                     "solref", "solimp",   "fitscale", "margin",   "gap",
                     "rgba",   "material", "geom",     "sidesite", "hfield"})},
      {"pulley", {"divisor"}},
      {"material", {"name", "class", "rgba"}},
      {"asset", {}},
      {"model", {"name", "file"}},
      {"hfield", {"name", "file", "size", "nrow", "ncol", "elevation"}},
      {"mesh",
       {"name", "class", "file", "scale", "vertex", "face", "refpos", "refquat",
        "inertia"}},
      {"contact", {}},
      {"exclude", {"name", "body1", "body2"}},
      {"pair",
       {"name", "class", "geom1", "geom2", "friction", "condim", "solref", "solimp"}},
      {"equality", {"class", "solref", "solimp"}},
      {"connect", loop},
      {"weld", loop},
      {"tendon",
       {"stiffness", "damping", "springlength", "name", "class", "tendon1", "tendon2",
        "polycoef", "active", "solref", "solimp", "limited", "range"}},
      {"fixed",
       {"name", "class", "stiffness", "damping", "springlength", "limited", "range"}},
      {"spatial",
       {"name", "class", "stiffness", "damping", "springlength", "limited", "range"}},
      {"actuator", {}},
      {"general", driving({"gaintype", "biastype", "dyntype", "gainprm", "biasprm",
                           "dynprm", "actrange", "actlimited"})},
      {"motor", driving({})},
      {"position", driving({"kp", "kv", "dampratio", "timeconst", "inheritrange"})},
      {"intvelocity",
       driving({"kp", "kv", "dampratio", "inheritrange", "actrange", "actlimited"})},
      {"velocity", driving({"kv"})},
      {"damper", driving({"kv"})},
      {"cylinder", driving({"timeconst", "area", "diameter", "bias"})},
      {"sensor", {}},
      {"touch", on_site},
      {"accelerometer", on_site},
      {"velocimeter", on_site},
      {"gyro", on_site},
      {"force", on_site},
      {"torque", on_site},
      {"rangefinder", {"name", "site", "cutoff"}},
      {"jointpos", {"name", "joint"}},
      {"jointvel", {"name", "joint"}},
      {"jointactuatorfrc", {"name", "joint"}},
      {"framepos", on_frame},
      {"framequat", on_frame},
      {"framelinvel", on_frame},
      {"frameangvel", on_frame},
      {"frameangacc", on_frame},
      {"framelinacc", on_frame},
      {"tendonpos", {"name", "tendon"}},
      {"tendonvel", {"name", "tendon"}},
      {"actuatorfrc", {"name", "actuator"}},
      {"keyframe", {}},
      {"key", {"name", "qpos", "qvel", "ctrl", "act"}},
  };
  return all;
}

const Words& actuators() {
  static const Words all{"general",  "motor",  "position",    "velocity", "damper",
                         "cylinder", "muscle", "intvelocity", "adhesion", "plugin"};
  return all;
}

}  // namespace

bool belongs(std::string_view tag, std::string_view parent) {
  static const Words driving{"general", "motor",    "position",   "velocity",
                             "damper",  "cylinder", "intvelocity"};
  static const Words carried{"body", "inertial", "joint", "freejoint",
                             "geom", "site",     "frame"};
  static const std::map<std::string_view, Words> all{
      {"mujoco",
       {"compiler", "option", "default", "worldbody", "asset", "contact", "equality",
        "tendon", "actuator", "sensor", "keyframe", attached_defaults}},
      {attached_defaults, {"default"}},
      {"default",
       {"default", "joint", "geom", "mesh", "material", "site", "tendon", "equality",
        "pair", "general", "motor", "position", "velocity", "damper", "cylinder",
        "intvelocity"}},
      {"worldbody", {"body", "geom", "site", "frame"}},
      {"body", carried},
      {"frame", carried},
      {"asset", {"mesh", "hfield", "material", "model"}},
      {"contact", {"exclude", "pair"}},
      {"equality", {"connect", "weld", "joint", "tendon"}},
      {"tendon", {"fixed", "spatial"}},
      {"fixed", {"joint"}},
      {"spatial", {"site", "geom", "pulley"}},
      {"actuator", driving},
      {"sensor",
       {"touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "rangefinder",
        "jointpos", "jointvel", "jointactuatorfrc", "framepos", "framequat",
        "framelinvel", "frameangvel", "frameangacc", "framelinacc", "tendonpos",
        "tendonvel", "actuatorfrc"}},
      {"keyframe", {"key"}},
  };
  const auto found = all.find(parent);
  return found != all.end() && found->second.contains(tag);
}

bool is_read(std::string_view tag, std::string_view attribute) {
  const auto known = vocabulary().find(tag);
  return known != vocabulary().end() && known->second.contains(attribute);
}

Consequence consequence_of(std::string_view tag, std::string_view parent) {
  static const Words looks{"visual",  "statistic", "camera",    "light",
                           "texture", "skin",      "custom",    "size",
                           "model",   "rgba",      "composite", "layer"};
  if (looks.contains(tag)) return Consequence::appearance;
  if (tag == "sensor" || parent == "sensor") return Consequence::unmeasured;
  if (parent == "actuator") return Consequence::undriven;
  if (parent == "tendon" || parent == "equality") return Consequence::uncoupled;
  if (tag == "flex") return Consequence::contact;
  if (parent == "default" && actuators().contains(tag)) return Consequence::undriven;
  if (parent == "option" || parent == "site") return Consequence::nothing;
  return Consequence::motion;
}

Consequence consequence_of_attribute(std::string_view tag, std::string_view attribute) {
  static const Words looks{"group",        "width",        "texturedir",   "texcoord",
                           "user",         "shellinertia", "content_type", "maxhullvert",
                           "smoothnormal", "normal",       "inertia",      "name",
                           "time"};
  if (tag == "site" || tag == "key" || tag == "material") return Consequence::appearance;
  // Noise and the like of a sensor.
  if (belongs(tag, "sensor")) return Consequence::unmeasured;
  if (tag == "compiler") {
    return attribute == "fusestatic" || attribute == "strippath" ||
                   attribute == "coordinate"
               ? Consequence::motion
               : Consequence::nothing;
  }
  // Of its own solver and integrator; ours are chosen in the scene.
  static const Words of_motion{"density", "viscosity", "wind", "magnetic"};
  if (tag == "option") {
    return of_motion.contains(attribute) ? Consequence::motion : Consequence::nothing;
  }
  static const Words contact{"margin",    "gap",      "solmix",    "fluidshape",
                             "fluidcoef", "adhesion", "surfacevel"};
  if (tag == "mesh" && attribute != "inertia") return Consequence::appearance;
  if (looks.contains(attribute) && !(tag == "mesh")) return Consequence::appearance;
  if ((tag == "geom" || tag == "pair") && contact.contains(attribute)) {
    return Consequence::contact;
  }
  static const Words soft{"solref",         "solimp",     "solreflimit", "solimplimit",
                          "solreffriction", "solreffix",  "solimpfix",   "margin",
                          "lengthrange",    "cranklength"};
  if (soft.contains(attribute)) return Consequence::softness;
  return Consequence::motion;
}

std::string_view family(std::string_view tag) {
  if (tag == "fixed" || tag == "spatial") return "tendon";
  return actuators().contains(tag) ? std::string_view("actuator") : tag;
}

}  // namespace bristle::scene::mjcf
