#include <algorithm>
#include <string>
#include <vector>

#include "bristle/step/method.hpp"

namespace bristle {

namespace {

/// The one list of methods.
std::vector<Method>& list() {
  static std::vector<Method> methods{
      Method(semi_implicit_euler_method),
      Method(ode3_method),
      Method(rk4_method),
      Method(linearly_implicit_euler_method),
      Method(complementarity_method),
  };
  return methods;
}

}  // namespace

std::span<const Method> fixed_methods() { return list(); }

Result<Method> register_method(const MethodInfo& info) {
  for (const Method& known : list()) {
    if (known.info().name == info.name) {
      return Error{"there is already a method '" + std::string(info.name) + "'"};
    }
  }
  list().emplace_back(info);
  return list().back();
}

Result<Method> find_method(std::string_view name) {
  for (const Method& method : list()) {
    if (method.info().name == name) return method;
  }
  std::string text = "there is no method '";
  text += name;
  text += "'; the methods are";
  for (const Method& known : list()) {
    text += ' ';
    text += known.info().name;
  }
  return Error{text};
}

}  // namespace bristle
