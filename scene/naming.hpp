#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "scene/parts.hpp"

namespace bristle::scene {

/// The names of one kind of thing that are taken.
class Names {
 public:
  bool take(const std::string& name) { return taken_.insert(name).second; }
  bool has(const std::string& name) const { return taken_.contains(name); }
  /// Reserves a name.
  void reserve(const std::string& name) { reserved_.insert(name); }
  bool is_reserved(const std::string& name) const { return reserved_.contains(name); }
  /// The name wanted, or the first of name2, name3, … that is neither used nor reserved.
  std::string fresh(const std::string& wanted) {
    if (!is_reserved(wanted) && take(wanted)) return wanted;
    int& last = last_.try_emplace(wanted, 1).first->second;
    while (true) {
      std::string name = wanted;
      name += std::to_string(++last);
      if (!is_reserved(name) && take(name)) return name;
    }
  }
  /// The name that a file gives, or another one where it is taken.
  std::string take_or_else(const std::string& given) {
    return take(given) ? given : fresh(given);
  }

 private:
  std::set<std::string, std::less<>> taken_, reserved_;
  std::map<std::string, int, std::less<>> last_;
};

/// The parts of one file, added to those that are there.
inline void append(Parts&& from, Parts& to) {
  const auto move_all = [](auto& source, auto& target) {
    for (auto& item : source) target.push_back(std::move(item));
  };
  move_all(from.bodies, to.bodies);
  move_all(from.joints, to.joints);
  move_all(from.loops, to.loops);
  move_all(from.constraints, to.constraints);
  move_all(from.shapes, to.shapes);
  move_all(from.couplings, to.couplings);
  move_all(from.touch_rules, to.touch_rules);
  move_all(from.contacts, to.contacts);
  move_all(from.soft_rules, to.soft_rules);
  move_all(from.keys, to.keys);
  move_all(from.keyframes, to.keyframes);
  move_all(from.motors, to.motors);
  move_all(from.loads, to.loads);
  move_all(from.sites, to.sites);
  move_all(from.sensors, to.sensors);
  move_all(from.start, to.start);
  move_all(from.looks, to.looks);
  move_all(from.visuals, to.visuals);
  if (to.title.empty()) to.title = std::move(from.title);
  if (from.gravity) to.gravity = from.gravity;
  if (from.timestep) to.timestep = from.timestep;
}

}  // namespace bristle::scene
