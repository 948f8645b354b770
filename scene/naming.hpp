#pragma once

#include <set>
#include <string>

#include "scene/parts.hpp"

namespace bristle::scene {

/// The names of one kind of thing that are taken.
class Names {
 public:
  bool take(const std::string& name) { return taken_.insert(name).second; }
  bool has(const std::string& name) const { return taken_.contains(name); }
  /// The name wanted, or the first of name2, name3, … that is not taken.
  std::string fresh(const std::string& wanted) {
    if (take(wanted)) return wanted;
    int& last = last_.try_emplace(wanted, 1).first->second;
    while (true) {
      std::string name = wanted;
      name += std::to_string(++last);
      if (take(name)) return name;
    }
  }

 private:
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int, std::less<>> last_;
};

/// The parts of one file, added to those that are there.
inline void append(Parts&& from, Parts& to) {
  const auto move_all = [](auto& source, auto& target) {
    for (auto& item : source) target.push_back(std::move(item));
  };
  move_all(from.bodies, to.bodies);
  move_all(from.joints, to.joints);
  move_all(from.shapes, to.shapes);
  move_all(from.contacts, to.contacts);
  move_all(from.motors, to.motors);
  move_all(from.loads, to.loads);
  move_all(from.start, to.start);
  if (from.gravity) to.gravity = from.gravity;
}

}  // namespace bristle::scene
