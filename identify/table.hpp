#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bristle/core/result.hpp"

// Measurements from a file: columns of numbers with their units, from CSV or HDF5.

namespace bristle::identify {

/// What a column measures; its name ends in a unit: position_um, force_kN.
enum class Quantity {
  number,  // no unit
  count,   // no unit, whole
  length,
  force,
  time,
  speed,
};

struct ColumnWish {
  std::string_view name;  // without the unit
  Quantity quantity;
  bool required = false;
  /// The group of the datasets in an HDF5 file that hold it in SI units under its name
  /// alone, as a recording has its probes; a header may then leave out the unit too.
  std::string_view dataset = {};
};

/// Names of columns that stand for others: of the header of a CSV file, paths of datasets
/// in an HDF5 file. {"force_N", "/probes/force on the ball"}
using ColumnNames = std::map<std::string, std::string, std::less<>>;

/// Columns in SI units, all of one length.
struct Table {
  std::string file;
  std::map<std::string, std::vector<double>, std::less<>> columns{};
  std::vector<int> lines{};  // of the rows, in a CSV file

  bool has(std::string_view name) const { return columns.find(name) != columns.end(); }
  const std::vector<double>& operator[](std::string_view name) const {
    return columns.find(name)->second;
  }
  std::size_t rows() const {
    return columns.empty() ? 0 : columns.begin()->second.size();
  }
  /// "data.csv:12: force_N = "-1" must be at least 0", or "data.h5: row 12: …".
  Error wrong(std::size_t row, std::string_view column, double value,
              std::string_view must) const;
};

/// The columns that are wished for, as far as they are there. Other columns of a CSV file
/// are errors, those of an HDF5 file are left alone. Every number is finite.
Result<Table> read_table(const std::string& path, std::span<const ColumnWish> wishes,
                         const ColumnNames& names = {});

/// The same from the text of a CSV file of that name.
Result<Table> parse_csv(std::string_view text, const std::string& file,
                        std::span<const ColumnWish> wishes, const ColumnNames& names);

/// An error where a column does not rise, in each run of equal values of `within`.
Result<bool> check_rising(const Table& table, std::string_view column,
                          std::string_view within = {});

/// "position_m" of position: the name with the usual unit.
std::string usual_name(const ColumnWish& wish);

}  // namespace bristle::identify
