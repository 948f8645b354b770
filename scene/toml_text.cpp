#include "scene/toml_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "scene/limits.hpp"

namespace bristle::scene {

namespace {

/// Walks through the text once, with the depth that each open bracket began at.
class DepthScan {
 public:
  explicit DepthScan(std::string_view text) : text_(text) {}

  std::optional<int> deepest_line() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      ++at_;
      if (c == '\n') {
        ++line_;
        if (open_.empty()) begin_statement();
      } else if (c == '.') {
        ++dots_;
      } else if (c == '[' && in_key_ && open_.empty()) {
        header_ = true;
      } else if (c == '=') {
        in_key_ = false;
      } else if (c == '[' || c == '{') {
        open_.push_back(depth() + 1);
        dots_ = 0;
        in_key_ = c == '{';
      } else if ((c == ']' || c == '}') && !open_.empty()) {
        open_.pop_back();
        dots_ = 0;
      } else if (c == ',') {
        dots_ = 0;
      }
      if (depth() > scene_depth) return line_;
    }
    return std::nullopt;
  }

 private:
  /// Of what stands here: the table of the last header, brackets, and the dots of a key.
  std::size_t depth() const {
    return dots_ + (open_.empty() ? (header_ ? 0 : table_) : open_.back());
  }

  void begin_statement() {
    if (header_) table_ = dots_ + 1;
    header_ = false;
    in_key_ = true;
    dots_ = 0;
  }

  void skip_string(char quote) {
    const bool long_one = text_.substr(at_, 3) == std::string(3, quote);
    at_ += long_one ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        if (!long_one) return;  // not closed; toml++ says so
        ++line_;
      } else if (text_[at_] == '\\' && quote == '"') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++line_;
        ++at_;
      } else if (!long_one && text_[at_] == quote) {
        ++at_;
        return;
      } else if (long_one && text_.substr(at_, 3) == std::string(3, quote)) {
        at_ += 3;
        while (at_ < text_.size() && text_[at_] == quote) ++at_;  // up to two more
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<std::size_t> open_;  // depth inside each bracket of a value
  std::size_t table_ = 0;          // of the last header
  std::size_t dots_ = 0;           // of the key that is being read
  bool header_ = false, in_key_ = true;
};

}  // namespace

std::optional<int> too_deep(std::string_view text) {
  return DepthScan(text).deepest_line();
}

std::optional<double> number_in(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
  if (const auto* number = node.as_floating_point()) return number->get();
  return std::nullopt;
}

std::optional<toml::table> parse_toml(const std::string& text, const std::string& file,
                                      Problems& problems) {
  if (const auto line = too_deep(text)) {
    problems.error({file, *line}, fmt::format("tables and lists must not lie more than "
                                              "{} deep in each other",
                                              scene_depth));
    return std::nullopt;
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    problems.error({file, static_cast<int>(error.source().begin.line)},
                   std::string(error.description()));
    return std::nullopt;
  }
}

}  // namespace bristle::scene
