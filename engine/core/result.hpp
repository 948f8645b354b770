#pragma once

#include <string>
#include <utility>
#include <variant>

namespace bristle {

/// A message for the person who gave the input.
struct Error {
  std::string message;
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

 private:
  std::variant<T, Error> content_;
};

}  // namespace bristle
