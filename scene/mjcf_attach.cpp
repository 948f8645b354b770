#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "scene/mjcf_reading.hpp"

// Models that are put together from others (attach), and copies of what a model holds
// (replicate): both are written out as bodies within frames before anything is read, and
// what refers to them with them.

namespace bristle::scene::mjcf {

namespace {

constexpr int max_models_deep = 10;  // a model in a model in …

/// What an attribute names, as a tag that has such a name; empty: it refers to nothing.
std::string_view kind_of_reference(const Element& e, std::string_view attribute) {
  static const std::map<std::string_view, std::string_view> kinds{
      {"body1", "body"},     {"body2", "body"},          {"body", "body"},
      {"joint", "joint"},    {"joint1", "joint"},        {"joint2", "joint"},
      {"geom", "geom"},      {"jointinparent", "joint"}, {"geom1", "geom"},
      {"geom2", "geom"},     {"site", "site"},           {"site1", "site"},
      {"site2", "site"},     {"sidesite", "site"},       {"refsite", "site"},
      {"cranksite", "site"}, {"slidersite", "site"},     {"tendon", "tendon"},
      {"tendon1", "tendon"}, {"tendon2", "tendon"},      {"actuator", "actuator"},
      {"target", "body"},    {"class", "class"},         {"childclass", "class"},
      {"main", "class"},     {"mesh", "mesh"},           {"material", "material"},
      {"hfield", "hfield"},  {"texture", "texture"}};
  if (attribute == "objname" || attribute == "refname") {
    const std::string_view type = e.value(attribute == "objname" ? "objtype" : "reftype");
    return type == "xbody" ? std::string_view("body") : type;
  }
  const auto found = kinds.find(attribute);
  return found == kinds.end() ? std::string_view{} : found->second;
}

/// Whether a reference is one to something that moves, or to what does something to it:
/// not to an asset or a class.
bool is_of_mechanism(std::string_view kind) {
  return kind == "body" || kind == "joint" || kind == "geom" || kind == "site" ||
         kind == "tendon" || kind == "actuator";
}

bool has(const NamesByKind& names, std::string_view kind, std::string_view name) {
  const auto of_kind = names.find(kind);
  return of_kind != names.end() && of_kind->second.contains(name);
}

void collect_names(const Element& e, NamesByKind& names) {
  if (!e.value("name").empty()) {
    names[e.tag == "freejoint" ? "joint" : e.tag].emplace(e.value("name"));
  }
  for (const Element& c : e.children) collect_names(c, names);
}

/// How many references of an element and of all in it are to these names, and to others.
/// The world is there in every model.
void count_references(const Element& e, const NamesByKind& names, int& to_them,
                      int& to_others) {
  for (const Attribute& a : e.attributes) {
    const std::string_view kind = kind_of_reference(e, a.name);
    if (!is_of_mechanism(kind) || a.value.empty()) continue;
    if (kind == "body" && a.value == world_name) continue;
    ++(has(names, kind, a.value) ? to_them : to_others);
  }
  for (const Element& c : e.children) count_references(c, names, to_them, to_others);
}

std::size_t size_of(const Element& e) {
  std::size_t size = 1;
  for (const Element& c : e.children) size += size_of(c);
  return size;
}

/// A copy's names, and references to them, with its suffix.
void add_suffix(Element& e, const std::string& suffix, const NamesByKind& names) {
  for (Attribute& a : e.attributes) {
    if (a.value.empty()) continue;
    const bool refers = has(names, kind_of_reference(e, a.name), a.value);
    if (a.name == "name" || refers) a.value += suffix;
  }
  for (Element& c : e.children) add_suffix(c, suffix, names);
}

/// All names and references of an attached model with its prefix.
void add_prefix(Element& e, const std::string& prefix) {
  for (Attribute& a : e.attributes) {
    if (a.value.empty() || a.value == world_name) continue;
    const bool refers = !kind_of_reference(e, a.name).empty();
    if (a.name == "name" || refers) a.value.insert(0, prefix);
  }
  for (Element& c : e.children) add_prefix(c, prefix);
}

Element* child_of(Element& e, std::string_view tag) {
  const auto found = std::ranges::find(e.children, tag, &Element::tag);
  return found == e.children.end() ? nullptr : &*found;
}

/// The body of that name among those of an element; nullptr where there is none. Its
/// class becomes the childclass of what it is in, where there is one.
const Element* find_body(const Element& in, std::string_view name,
                         std::string& of_class) {
  for (const Element& c : in.children) {
    if (c.tag == "body" && c.value("name") == name) return &c;
    if (c.tag != "body" && c.tag != "frame") continue;
    std::string inner = of_class;
    if (const Attribute* a = c.find("childclass")) inner = a->value;
    if (const Element* found = find_body(c, name, inner)) {
      of_class = std::move(inner);
      return found;
    }
  }
  return nullptr;
}

void set(Element& e, std::string_view name, std::string value) {
  for (Attribute& a : e.attributes) {
    if (a.name != name) continue;
    a.value = std::move(value);
    return;
  }
  e.attributes.push_back({std::string(name), std::move(value), e.file, e.line});
}

/// What follows from an element of a section that is left out.
Consequence consequence_without(std::string_view tag, std::string_view section) {
  return section == "contact" ? Consequence::contact : consequence_of(tag, section);
}

// What a compiler says of the masses and shapes of a whole model, and what it says where
// it says nothing.
constexpr std::pair<const char*, std::string_view> settings_of_all[] = {
    {"inertiafromgeom", "auto"}, {"inertiagrouprange", "0 5"},
    {"balanceinertia", "false"}, {"boundmass", "0"},
    {"boundinertia", "0"},       {"settotalmass", "-1"},
    {"fitaabb", "false"}};

// Sections whose elements refer to bodies and what is on them; those whose elements
// others refer to come first.
constexpr std::array sections{"tendon", "contact", "equality", "actuator", "sensor"};

}  // namespace

/// The compiler's settings hold for all elements of a model and of what it includes.
void Reading::read_settings(const Element& root, const std::string& path) {
  CompilerSettings settings;
  settings.folder = std::filesystem::path(path).parent_path().string();
  each(root, "compiler", [&](const Element& e) { read_compiler(e, settings); });
  const auto note = [&](const Element& e, const auto& again) -> void {
    settings_.try_emplace(e.file, settings);
    for (const Element& c : e.children) again(c, again);
  };
  note(root, note);
}

const CompilerSettings& Reading::settings(const View& v) const {
  return settings_.at(v.element->file);
}

void Reading::assemble(Element& root, const std::string& path, int depth) {
  read_settings(root, path);
  for (const char* section : {"asset", "tendon", "contact", "equality", "actuator",
                              "sensor", attached_defaults}) {
    if (child_of(root, section) == nullptr) {
      root.children.push_back({section, root.file, root.line});
    }
  }
  for (Element& e : root.children) {
    if (e.tag == "worldbody") write_out(e, root, depth);
  }
}

void Reading::write_out(Element& e, Element& root, int depth) {
  std::vector<Element> all;
  for (Element& c : e.children) {
    write_out(c, root, depth);
    if (c.tag == "attach") {
      attach(c, root, depth, all);
    } else if (c.tag == "replicate") {
      replicate(c, root, all);
    } else {
      all.push_back(std::move(c));
    }
  }
  e.children = std::move(all);
}

void Reading::replicate(const Element& e, Element& root, std::vector<Element>& to) {
  const View v{&e, -1, "replicate"};
  const double count = number(v, "count", 0, Range::positive);
  const double size = static_cast<double>(size_of(e));
  if (e.find("count") == nullptr || count != std::floor(count) ||
      count > static_cast<double>(max_copies) ||
      count * size + static_cast<double>(copied_) >
          static_cast<double>(xml::max_elements)) {
    error(e.place(), {"replicate: it must have a whole count of at most ",
                      std::to_string(max_copies), ", and all copies at most ",
                      std::to_string(xml::max_elements), " elements"});
    return;
  }
  copied_ += static_cast<std::size_t>(count * size);
  const Transform<double> step{orientation(v), vector(v, "offset", {0, 0, 0})};
  const auto copies = static_cast<std::size_t>(count);
  const std::size_t digits = std::to_string(copies - 1).size();
  std::vector<std::string> suffixes;
  for (std::size_t i = 0; i < copies; ++i) {
    suffixes.push_back(fmt::format("{}{:0{}}", e.value("sep"), i, digits));
  }
  NamesByKind names;
  for (const Element& c : e.children) collect_names(c, names);
  Transform<double> here;
  for (const std::string& suffix : suffixes) {
    Element frame{"frame", e.file, e.line};
    frame.children = e.children;
    for (Element& c : frame.children) add_suffix(c, suffix, names);
    const Quaternion<double> q = from_matrix(here.R);
    set(frame, "pos",
        fmt::format("{:.17g} {:.17g} {:.17g}", here.p.x, here.p.y, here.p.z));
    set(frame, "quat",
        fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", q.w, q.x, q.y, q.z));
    if (const Attribute* a = e.find("childclass")) set(frame, a->name, a->value);
    to.push_back(std::move(frame));
    here = here * step;
  }
  for (const char* tag : sections) {
    for (Element& section : root.children) {
      if (section.tag != tag) continue;
      copy_references(section, suffixes, names);
    }
  }
}

/// What refers to something that is copied is there once for each copy.
void Reading::copy_references(Element& section, const std::vector<std::string>& suffixes,
                              NamesByKind& names) {
  std::vector<Element> all;
  for (Element& c : section.children) {
    int to_them = 0, to_others = 0;
    count_references(c, names, to_them, to_others);
    copied_ += to_them == 0 ? 0 : size_of(c) * suffixes.size();
    if (to_them == 0 || copied_ > xml::max_elements) {
      all.push_back(std::move(c));
      continue;
    }
    for (const std::string& suffix : suffixes) {
      Element copy = c;
      add_suffix(copy, suffix, names);
      all.push_back(std::move(copy));
    }
    const std::string kind = section.tag == "tendon" || section.tag == "actuator"
                                 ? section.tag
                                 : std::string(c.tag);
    if (!c.value("name").empty()) names[kind].emplace(c.value("name"));
  }
  section.children = std::move(all);
}

/// The model that an element names, put together itself; nullptr, and the problem, where
/// there is none.
const Element* Reading::model_named(const Element& e, const Element& root, int depth) {
  const Attribute* wanted = e.find("model");
  if (wanted == nullptr) {
    error(e.place(), {"attach: it must have model"});
    return nullptr;
  }
  const Element* found = nullptr;
  each(root, "asset", [&](const Element& asset) {
    each(asset, "model", [&](const Element& m) {
      const std::string_view name = m.value("name");
      if (found != nullptr || (!name.empty() && name != wanted->value)) return;
      const Element* model = load_model(m, depth);
      if (model == nullptr) return;
      if (!name.empty() || model->value("model") == wanted->value) found = model;
    });
  });
  if (found == nullptr) {
    error(wanted->place(), {"attach: model = \"", shown(wanted->value),
                            "\" must be a model among the assets"});
  }
  return found;
}

/// Those of the model that others are attached to hold for all of it: names where one
/// says otherwise.
void Reading::compare_settings(const Element& attached) {
  const auto said = [](const Element& root, const char* name,
                       std::string_view otherwise) {
    std::string_view last = otherwise;
    each(root, "compiler", [&](const Element& e) {
      if (const Attribute* a = e.find(name)) last = a->value;
    });
    return last;
  };
  for (const auto& [name, otherwise] : settings_of_all) {
    if (said(attached, name, otherwise) == said(document_.root, name, otherwise))
      continue;
    unread_.count(words({"compiler ", name, " of an attached model"}));
  }
}

const Element* Reading::load_model(const Element& m, int depth) {
  const Attribute* file = m.find("file");
  if (file == nullptr || file->value.empty()) {
    error(m.place(), {"model: it must have file"});
    return nullptr;
  }
  const std::string path =
      (std::filesystem::path(settings_.at(m.file).folder) / file->value)
          .lexically_normal()
          .string();
  const auto known = models_.find(path);
  if (known != models_.end()) return known->second ? &*known->second : nullptr;
  if (depth >= max_models_deep) {
    error(file->place(), {"model: models must not be within each other more than ",
                          std::to_string(max_models_deep), " deep"});
    return nullptr;
  }
  std::optional<Element>& model = models_[path];  // nothing while it is read
  const auto text = xml::read_file(path, file->place(), "model", problems_);
  Element root;
  if (!text || !xml::parse(*text, path, document_, root, problems_)) return nullptr;
  if (root.tag != "mujoco") {
    error(root.place(), {shown(root.tag), ": an MJCF file must begin with mujoco"});
    return nullptr;
  }
  std::set<std::string> included{path};
  std::swap(included, included_);
  expand(root, 0, path);
  std::swap(included, included_);
  assemble(root, path, depth + 1);
  compare_settings(root);
  model = std::move(root);
  return &*model;
}

void Reading::attach(const Element& e, Element& root, int depth,
                     std::vector<Element>& to) {
  const Element* model = model_named(e, root, depth);
  if (model == nullptr) return;
  const std::string prefix(e.value("prefix"));
  if (prefix.empty()) {
    error(e.place(), {"attach: it must have prefix"});
    return;
  }
  std::string of_class = "main";
  Element frame{"frame", e.file, e.line};
  const Attribute* body = e.find("body");
  for (const Element& c : model->children) {
    if (c.tag != "worldbody") continue;
    const Element* found =
        body == nullptr ? nullptr : find_body(c, body->value, of_class);
    if (found != nullptr) frame.children.push_back(*found);
    if (body != nullptr) continue;
    frame.children.insert(frame.children.end(), c.children.begin(), c.children.end());
  }
  if (body != nullptr && frame.children.empty()) {
    error(body->place(),
          {"attach: body = \"", shown(body->value), "\" must be a body of the model \"",
           shown(e.value("model")), "\""});
    return;
  }
  copied_ += size_of(frame);
  if (copied_ > xml::max_elements) {
    error(e.place(), {"attach: all copies must have at most ",
                      std::to_string(xml::max_elements), " elements"});
    return;
  }
  NamesByKind names;
  collect_names(frame, names);
  for (Element& c : frame.children) add_prefix(c, prefix);
  set(frame, "childclass", prefix + of_class);
  to.push_back(std::move(frame));
  if (!attached_.insert({model, prefix}).second) return;  // its sections are there
  attach_defaults(*model, prefix, *child_of(root, attached_defaults));
  for (const Element& asset : model->children) {
    if (asset.tag != "asset") continue;
    for (const Element& c : asset.children) {
      if (c.tag == "model") continue;
      Element copy = c;
      if (copy.value("name").empty() && !copy.value("file").empty()) {
        set(copy, "name", std::filesystem::path(copy.value("file")).stem().string());
      }
      add_prefix(copy, prefix);
      child_of(root, "asset")->children.push_back(std::move(copy));
    }
  }
  for (const char* tag : sections) {
    for (const Element& section : model->children) {
      if (section.tag == tag)
        attach_section(section, prefix, names, *child_of(root, tag));
    }
  }
  each(*model, "keyframe", [&](const Element& k) {
    for (const Element& c : k.children) unread_.count(c.tag + " of an attached model");
  });
}

/// A model's classes do not take anything from those of the one that it is attached to.
void Reading::attach_defaults(const Element& model, const std::string& prefix,
                              Element& to) {
  Element all{"default", model.file, model.line};
  set(all, "class", "main");
  for (const Element& c : model.children) {
    if (c.tag != "default") continue;
    if (!c.value("class").empty()) set(all, "class", std::string(c.value("class")));
    all.children.insert(all.children.end(), c.children.begin(), c.children.end());
  }
  set(all, "main", "main");
  add_prefix(all, prefix);
  to.children.push_back(std::move(all));
  for (const Element& c : model.children) {
    if (c.tag != attached_defaults) continue;
    for (const Element& inner : c.children) {
      add_prefix(to.children.emplace_back(inner), prefix);
    }
  }
}

/// Elements whose references are all to what was attached, or to the world. What holds to
/// something else as well is named; what has to do with nothing attached is not.
void Reading::attach_section(const Element& section, const std::string& prefix,
                             NamesByKind& names, Element& to) {
  for (const Element& c : section.children) {
    int to_them = 0, to_others = 0;
    count_references(c, names, to_them, to_others);
    if (to_them > 0 && to_others > 0) {
      unread_.count(c.tag + " between what is attached and what is not",
                    consequence_without(c.tag, section.tag));
    }
    if (to_them == 0 || to_others > 0) continue;
    const std::string kind = section.tag == "tendon" || section.tag == "actuator"
                                 ? section.tag
                                 : std::string(c.tag);
    if (!c.value("name").empty()) names[kind].emplace(c.value("name"));
    Element copy = c;
    add_prefix(copy, prefix);
    const bool has_class = section.tag != "sensor" && c.tag != "exclude";
    if (has_class && copy.find("class") == nullptr) set(copy, "class", prefix + "main");
    to.children.push_back(std::move(copy));
  }
}

}  // namespace bristle::scene::mjcf
