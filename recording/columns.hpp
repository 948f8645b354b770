#pragma once

#include <string>
#include <vector>

#include "recording/sample.hpp"

// A sample seen as a row of numbers, and a contact as another: which of them belong
// together, and what they are called. Every file that people read follows these lists.

namespace bristle::recording {

/// Numbers of a sample that stand next to each other.
struct Column {
  std::string group;  // "bodies", "joints", "ledger", "probes"; "" for the time
  std::string owner;  // the body or joint; "" where the group has none
  std::string name;
  std::string unit;
  std::size_t first;  // in the sample's numbers
  std::size_t width;
  std::vector<std::string> parts{};  // of the name, one per number; empty where it is one
};

/// All numbers of a sample but its contacts: time, bodies, q, v, ledger, probes.
std::vector<Column> sample_columns(const Header& header);
/// How many these are.
std::size_t sample_numbers(const Header& header);

/// The whole numbers that a contact begins with, then its other numbers and memory.
std::vector<Column> contact_words(const Header& header);
std::vector<Column> contact_columns(const Header& header);
std::size_t contact_numbers(const Header& header);

}  // namespace bristle::recording
