#include "cli/fit_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/text.hpp"
#include "identify/friction_model.hpp"
#include "identify/restitution_model.hpp"

namespace bristle::cli {

using identify::Model;
using identify::PatchShape;
using identify::Table;
using identify::Unknown;

namespace {

constexpr std::string_view constant_law = "constant";

/// name=value
struct Setting {
  std::string name, value;
};

Result<Setting> split_setting(const std::string& text, std::string_view option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{fmt::format("{} {}: write it as name=value", option, text)};
  }
  return Setting{text.substr(0, equals), text.substr(equals + 1)};
}

Result<const LawEntry*> law_of_family(const std::string& name, LawFamily family,
                                      std::string_view kind) {
  const auto law = find_law(name);
  if (!law) return Error{law.error()};
  if ((*law)->family == family) return *law;
  std::string list;
  for (const LawEntry* other : laws_of(family)) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", other->info.name);
  }
  return Error{fmt::format("\"{}\" is a {} law; fit {} needs a {} law: {}", name,
                           family == LawFamily::normal ? "friction" : "normal", kind,
                           family == LawFamily::normal ? "normal" : "friction", list)};
}

struct Shape {
  PatchShape kind = PatchShape::none;
  double radius = 0;
  std::string text;
};

Result<Shape> shape_of(const FitWish& wish, const LawEntry& law) {
  if (!law.volumetric) {
    const bool asked = wish.compare.empty() && (!wish.shape.empty() || wish.radius);
    if (!asked) return Shape{};
    return Error{fmt::format(
        "--shape and --radius are of volumetric laws; {} asks for the depth alone",
        law.info.name)};
  }
  Shape shape;
  if (wish.shape == "sphere") {
    shape.kind = PatchShape::sphere;
  } else if (wish.shape == "cylinder") {
    shape.kind = PatchShape::cylinder;
  } else if (wish.shape == "flat") {
    shape.kind = PatchShape::flat;
  } else {
    return Error{fmt::format("--shape {}: {} needs sphere, cylinder or flat", wish.shape,
                             law.info.name)};
  }
  if (!wish.radius || !(*wish.radius > 0 && *wish.radius <= 1e6)) {
    return Error{fmt::format("{} needs --radius, in (0, 1e+06] m", law.info.name)};
  }
  shape.radius = *wish.radius;
  shape.text = fmt::format("{} of radius {:g} m", wish.shape, shape.radius);
  return shape;
}

Result<FitSetup> set_up_force(const FitWish& wish, const Table& table,
                              const std::string& name) {
  const auto law = law_of_family(name, LawFamily::normal, wish.kind);
  if (!law) return Error{law.error()};
  const auto shape = shape_of(wish, **law);
  if (!shape) return Error{shape.error()};
  const auto all = identify::force_data(table);
  if (!all) return Error{all.error()};
  const auto data = identify::windowed(*all, wish.window);
  if (!data) return Error{fmt::format("{}: {}", table.file, data.error())};
  FitSetup setup{
      name, *law,
      std::make_unique<identify::ForceModel>(**law, *data, shape->kind, shape->radius),
      shape->text};
  if (wish.contact_point == "first-force") {
    const auto first = identify::first_force_position(*all);
    if (!first) return Error{fmt::format("{}: {}", table.file, first.error())};
    const int place = setup.model->find("contact_point_m");
    Unknown& point = setup.model->unknowns()[static_cast<std::size_t>(place)];
    point.free = false;
    point.value = *first;
  }
  return setup;
}

Result<FitSetup> set_up_restitution(const FitWish& wish, const Table& table,
                                    const std::string& name) {
  const auto data = identify::restitution_data(table);
  if (!data) return Error{data.error()};
  if (name == constant_law) {
    return FitSetup{name, nullptr,
                    std::make_unique<identify::RestitutionModel>(nullptr, *data), ""};
  }
  const auto law = law_of_family(name, LawFamily::normal, wish.kind);
  if (!law) return Error{law.error()};
  Punch punch;
  std::string about;
  if ((*law)->volumetric) {
    if (wish.shape == "cylinder") {
      return Error{"--shape cylinder: fit restitution knows sphere and flat"};
    }
    const auto shape = shape_of(wish, **law);
    if (!shape) return Error{shape.error()};
    const bool sphere = shape->kind == PatchShape::sphere;
    punch = {sphere ? Punch::Kind::sphere : Punch::Kind::flat, shape->radius};
    about = shape->text;
  }
  return FitSetup{name, *law,
                  std::make_unique<identify::RestitutionModel>(*law, *data, punch),
                  about};
}

Result<FitSetup> set_up_friction(const FitWish& wish, const Table& table,
                                 const std::string& name) {
  const auto law = law_of_family(name, LawFamily::friction, wish.kind);
  if (!law) return Error{law.error()};
  const auto data = identify::friction_data(table);
  if (!data) return Error{data.error()};
  return FitSetup{name, *law,
                  std::make_unique<identify::FrictionModel>(**law, *data, wish.substeps),
                  ""};
}

Result<double> value_of(const Unknown& u, const LawEntry* law, const std::string& text) {
  if (law != nullptr) {
    if (const int place = law->find_parameter(u.name); place >= 0) {
      return parse_value(law->parameters[static_cast<std::size_t>(place)], text);
    }
  }
  const auto value = number_in(text);
  if (!value) return Error{fmt::format("{} = \"{}\" must be a number", u.name, text)};
  const bool inside = u.range.contains(*value);
  if (!inside) {
    return Error{fmt::format("{} = {} must lie in {}{:g}, {:g}] {}", u.name, text,
                             u.range.open_low ? "(" : "[", u.range.low, u.range.high,
                             u.unit)};
  }
  return *value;
}

/// What the wish frees, fixes and where it begins, as far as the model knows the names.
std::string apply_names(const FitWish& wish, FitSetup& setup) {
  std::vector<std::string> freed, fixed;
  const auto find = [&](const std::string& name) -> Unknown* {
    const int place = setup.model->find(name);
    if (place < 0) return nullptr;
    return &setup.model->unknowns()[static_cast<std::size_t>(place)];
  };
  const auto is_flag = [&](const Unknown& u) {
    return u.unit == "flag" || u.unit == "choice";
  };
  for (const std::string& name : split_commas(wish.free)) {
    Unknown* u = find(name);
    if (u == nullptr) continue;
    if (is_flag(*u)) {
      return fmt::format("--free {}: it is a choice; fix it with --set", name);
    }
    u->free = true;
    freed.push_back(name);
  }
  for (const std::string& text : wish.fixed) {
    const auto setting = split_setting(text, "--set");
    if (!setting) return setting.error();
    Unknown* u = find(setting->name);
    if (u == nullptr) continue;
    if (std::find(freed.begin(), freed.end(), setting->name) != freed.end()) {
      return fmt::format(
          "{} is both free (--free) and fixed (--set); --start {}=… says where a free "
          "one begins",
          setting->name, setting->name);
    }
    const auto value = value_of(*u, setup.entry, setting->value);
    if (!value) return fmt::format("{}: {}", setup.law, value.error());
    u->free = false;
    u->value = *value;
    fixed.push_back(setting->name);
  }
  for (const std::string& text : wish.starts_at) {
    const auto setting = split_setting(text, "--start");
    if (!setting) return setting.error();
    Unknown* u = find(setting->name);
    if (u == nullptr) continue;
    if (!u->free) {
      return fmt::format("--start {}: {} is not free; free it with --free", text,
                         setting->name);
    }
    const auto value = value_of(*u, setup.entry, setting->value);
    if (!value) return fmt::format("{}: {}", setup.law, value.error());
    u->value = *value;
    u->given = true;
  }
  Unknown* tilt = find("tilt_deg");
  if (tilt != nullptr && tilt->free && tilt->value == 0) tilt->value = 0.3;
  return {};
}

}  // namespace

std::vector<std::string> split_commas(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::size_t from = 0; from <= list.size();) {
      const std::size_t comma = std::min(list.find(',', from), list.size());
      names.push_back(list.substr(from, comma - from));
      from = comma + 1;
    }
  }
  return names;
}

identify::ColumnNames names_of(const Settings& columns) {
  identify::ColumnNames names;
  for (const std::string& text : columns) {
    const std::size_t equals = std::min(text.find('='), text.size());
    names[text.substr(0, equals)] = text.substr(std::min(equals + 1, text.size()));
  }
  return names;
}

Result<std::vector<std::string>> laws_of_wish(const FitWish& wish) {
  std::vector<std::string> laws;
  if (!wish.law.empty()) laws.push_back(wish.law);
  for (const std::string& law : split_commas(wish.compare)) {
    if (std::find(laws.begin(), laws.end(), law) == laws.end()) laws.push_back(law);
  }
  if (wish.kind == "scene") {
    if (!laws.empty()) {
      return Error{"fit scene takes no law: its parameters are paths of the scene"};
    }
    laws.emplace_back();
  }
  if (laws.empty()) {
    return Error{
        fmt::format("fit {} needs --law; `bristle law list` names them{}", wish.kind,
                    wish.kind == "restitution" ? ", and \"constant\" is one" : "")};
  }
  return laws;
}

Result<Table> read_fit_data(const FitWish& wish) {
  const identify::ColumnNames names = names_of(wish.columns);
  if (wish.kind == "force") {
    return identify::read_table(wish.data, identify::force_columns(), names);
  }
  if (wish.kind == "restitution") {
    return identify::read_table(wish.data, identify::restitution_columns(), names);
  }
  if (wish.kind == "friction") {
    return identify::read_table(wish.data, identify::friction_columns(), names);
  }
  return Error{fmt::format(
      "fit {}: there is no such kind; known: force, restitution, friction, scene",
      wish.kind)};
}

Result<FitSetup> set_up(const FitWish& wish, const Table& table, const std::string& law,
                        std::vector<std::string>& known) {
  auto setup = wish.kind == "force"         ? set_up_force(wish, table, law)
               : wish.kind == "restitution" ? set_up_restitution(wish, table, law)
                                            : set_up_friction(wish, table, law);
  if (!setup) return setup;
  for (const Unknown& u : setup->model->unknowns()) known.push_back(u.name);
  if (std::string problem = apply_names(wish, *setup); !problem.empty()) {
    return Error{std::move(problem)};
  }
  return setup;
}

std::string unknown_name(const FitWish& wish, const std::vector<std::string>& known,
                         const std::string& law) {
  std::vector<std::string> asked = split_commas(wish.free);
  for (const Settings* settings : {&wish.fixed, &wish.starts_at}) {
    for (const std::string& text : *settings)
      asked.push_back(text.substr(0, text.find('=')));
  }
  std::vector<std::string_view> names;
  for (const std::string& name : known) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : asked) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string_view close = nearest(name, names);
    return fmt::format("{}: unknown parameter \"{}\"{} Known: {}", law, name,
                       close.empty() ? "." : fmt::format("; did you mean \"{}\"?", close),
                       fmt::join(names, ", "));
  }
  return {};
}

}  // namespace bristle::cli
