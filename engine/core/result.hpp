#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace bristle {

/// What a model is made of.
enum class Element : std::uint8_t {
  none,
  body,
  joint,
  shape,
  contact,
  motor,
  load,
  loop,
  limit,           // of a joint
  joint_friction,  // of a joint
  constraint,      // of velocities
  coupling,        // of joints
};

/// "body", "joint", …; "" for none.
constexpr std::string_view name_of(Element element) noexcept {
  constexpr std::string_view names[] = {
      "",     "body", "joint",       "shape",          "contact",    "motor",
      "load", "loop", "joint limit", "joint friction", "constraint", "coupling"};
  return names[static_cast<std::size_t>(element)];
}

/// What an error is about, for programs that know where that was written.
struct ErrorSubject {
  Element element = Element::none;
  std::string name{};     // as it was given; of limits and friction: the joint's
  std::size_t index = 0;  // which of its kind, in the order in which they were added
  std::string field{};    // of its spec, "mass"; empty: none, or several
};

/// A message for the person who gave the input.
struct Error {
  std::string message;
  ErrorSubject subject{};
};

/// A value, or the reason why there is none. For set-up code; stepping returns plain
/// statuses.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : content_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return content_.index() == 0; }
  const T& operator*() const { return std::get<0>(content_); }
  T& operator*() { return std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }
  T* operator->() { return &std::get<0>(content_); }
  const std::string& error() const { return std::get<1>(content_).message; }
  const ErrorSubject& error_subject() const { return std::get<1>(content_).subject; }

 private:
  std::variant<T, Error> content_;
};

}  // namespace bristle
