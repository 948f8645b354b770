#include "scene/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "scene/limits.hpp"

namespace bristle::scene {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::optional<double> number_of(std::string_view cell) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool good = error == std::errc{} && end == cell.data() + cell.size() &&
                    std::abs(value) <= largest_number;
  return good ? std::optional(value) : std::nullopt;
}

std::string shortened(std::string_view text) {
  return text.size() > 40 ? std::string(text.substr(0, 37)) + "…" : std::string(text);
}

}  // namespace

std::optional<TableFile> read_table(std::string_view text, const std::string& file,
                                    Problems& problems) {
  const std::size_t before = problems.count();
  TableFile table;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (int number = 1; !text.empty() && !problems.full(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> cells = cells_of(line);
    if (table.names.empty()) {
      if (cells.size() > table_columns) {
        problems.error({file, number},
                       fmt::format("there must be at most {} columns", table_columns));
        return std::nullopt;
      }
      table.names.assign(cells.begin(), cells.end());
      table.columns.resize(cells.size());
      continue;
    }
    if (cells.size() != table.names.size()) {
      problems.error({file, number}, fmt::format("{} numbers in a table of {} columns",
                                                 cells.size(), table.names.size()));
      continue;
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = number_of(cells[i]);
      if (!value) {
        problems.error({file, number},
                       fmt::format("column \"{}\": \"{}\" must be a number",
                                   shortened(table.names[i]), shortened(cells[i])));
      }
      table.columns[i].push_back(value.value_or(0));
    }
  }
  if (problems.count() != before) return std::nullopt;
  return table;
}

}  // namespace bristle::scene
