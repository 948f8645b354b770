#include "identify/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "bristle/laws/catalogue.hpp"
#include "files/read_file.hpp"
#include "recording/hdf5_columns.hpp"

namespace bristle::identify {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::size_t most_columns = 1000;

struct Unit {
  std::string_view suffix;
  double factor;  // to SI
};

/// The usual one first.
std::span<const Unit> units_of(Quantity quantity) {
  static constexpr Unit length[] = {
      {"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"nm", 1e-9}};
  static constexpr Unit force[] = {{"N", 1}, {"kN", 1e3}, {"mN", 1e-3}, {"uN", 1e-6}};
  static constexpr Unit time[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  static constexpr Unit speed[] = {
      {"m_s", 1}, {"cm_s", 1e-2}, {"mm_s", 1e-3}, {"um_s", 1e-6}};
  switch (quantity) {
    case Quantity::length:
      return length;
    case Quantity::force:
      return force;
    case Quantity::time:
      return time;
    case Quantity::speed:
      return speed;
    case Quantity::number:
    case Quantity::count:
      break;
  }
  return {};
}

std::string all_names(const ColumnWish& wish) {
  std::string text;
  for (const Unit& unit : units_of(wish.quantity)) {
    text += fmt::format("{}{}_{}", text.empty() ? "" : ", ", wish.name, unit.suffix);
  }
  return text.empty() ? std::string(wish.name) : text;
}

/// The factor by which a column of this name is the wish's, if it is.
std::optional<double> factor_of(std::string_view column, const ColumnWish& wish) {
  const auto units = units_of(wish.quantity);
  const bool bare = units.empty() || !wish.dataset.empty();
  if (bare && column == wish.name) return 1.0;
  for (const Unit& unit : units) {
    if (column.size() == wish.name.size() + 1 + unit.suffix.size() &&
        column.starts_with(wish.name) && column[wish.name.size()] == '_' &&
        column.ends_with(unit.suffix)) {
      return unit.factor;
    }
  }
  return std::nullopt;
}

/// Which wish a column of that name meets, in which unit.
struct Match {
  const ColumnWish* wish = nullptr;
  double factor = 1;
};

Match match_of(std::string_view column, std::span<const ColumnWish> wishes) {
  for (const ColumnWish& wish : wishes) {
    if (const auto factor = factor_of(column, wish)) return {&wish, *factor};
  }
  return {};
}

std::string unknown_column(std::string_view column, std::span<const ColumnWish> wishes) {
  for (const ColumnWish& wish : wishes) {
    if (!units_of(wish.quantity).empty() && column.starts_with(wish.name) &&
        (column.size() == wish.name.size() || column[wish.name.size()] == '_')) {
      return fmt::format("column \"{}\": unknown unit; it may be {}", column,
                         all_names(wish));
    }
  }
  std::vector<std::string> names;
  for (const ColumnWish& wish : wishes) names.push_back(usual_name(wish));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view close = nearest(column, views);
  return fmt::format("unknown column \"{}\"{} Known: {}", column,
                     close.empty() ? "." : fmt::format("; did you mean \"{}\"?", close),
                     fmt::join(names, ", "));
}

std::string missing_columns(const std::string& file, std::span<const ColumnWish> wishes,
                            const Table& table, const std::string& there) {
  std::string text;
  for (const ColumnWish& wish : wishes) {
    if (!wish.required || table.has(wish.name)) continue;
    text += fmt::format("{}{}: there is no column {}; the columns are {}",
                        text.empty() ? "" : "\n", file, all_names(wish), there);
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t comma = std::min(line.find(',', from), line.size());
    fields.push_back(trimmed(line.substr(from, comma - from)));
    from = comma + 1;
  }
  return fields;
}

/// A field for a message: not too long, and without what a terminal would act on.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) {
    out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  }
  return text.size() > 40 ? out + "…" : out;
}

/// The name under which a column is looked for, where others stand for it.
std::string_view called(std::string_view header, const ColumnNames& names) {
  for (const auto& [wanted, given] : names) {
    if (given == header) return wanted;
  }
  return header;
}

/// The number of a field, or what it must be.
Result<double> number_of(std::string_view field, const Match& match) {
  double value = 0;
  std::string_view digits = field;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    return Error{"be a number between 1e-308 and 1e308"};
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return Error{"be a number"};
  }
  if (!std::isfinite(value) || !std::isfinite(value * match.factor)) {
    return Error{"be a finite number"};
  }
  if (match.wish->quantity == Quantity::count && value != std::floor(value)) {
    return Error{"be a whole number"};
  }
  return value * match.factor;
}

std::string count_text(std::size_t n) {
  constexpr const char* words[] = {"no", "one", "two", "three", "four", "five", "six"};
  return n < std::size(words) ? words[n] : std::to_string(n);
}

}  // namespace

std::string usual_name(const ColumnWish& wish) {
  const auto units = units_of(wish.quantity);
  return units.empty() ? std::string(wish.name)
                       : fmt::format("{}_{}", wish.name, units.front().suffix);
}

Error Table::wrong(std::size_t row, std::string_view column, double value,
                   std::string_view must) const {
  const std::string place = row < lines.size() ? fmt::format("{}:{}", file, lines[row])
                                               : fmt::format("{}: row {}", file, row + 1);
  return Error{fmt::format("{}: {} = \"{}\" must {}", place, column, value, must)};
}

Result<Table> parse_csv(std::string_view text, const std::string& file,
                        std::span<const ColumnWish> wishes, const ColumnNames& names) {
  Table table{.file = file};
  std::vector<Match> matches;
  std::vector<std::string> headers;
  std::vector<std::vector<double>> columns;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  int line = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view row = text.substr(from, end - from);
    from = end + 1;
    ++line;
    const auto wrong = [&](std::string_view what) {
      return Error{fmt::format("{}:{}: {}", file, line, what)};
    };
    if (trimmed(row).empty() || trimmed(row).front() == '#') continue;
    const std::vector<std::string_view> fields = split(row);
    if (matches.empty()) {
      if (fields.size() > most_columns) return wrong("more than 1000 columns");
      for (const std::string_view field : fields) {
        const std::string header = shown(field);
        const Match match = match_of(called(field, names), wishes);
        if (match.wish == nullptr) {
          return wrong(fmt::format("the header = \"{}\": {}", shown(trimmed(row)),
                                   unknown_column(header, wishes)));
        }
        for (const Match& other : matches) {
          if (other.wish == match.wish) {
            return wrong(fmt::format("two columns are {}", match.wish->name));
          }
        }
        matches.push_back(match);
        headers.push_back(header);
      }
      columns.resize(matches.size());
      continue;
    }
    if (fields.size() != matches.size()) {
      return wrong(fmt::format("the row = \"{}\" must hold {} numbers, as the header",
                               shown(trimmed(row)), count_text(matches.size())));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = number_of(fields[i], matches[i]);
      if (!value) {
        return wrong(fmt::format("{} = \"{}\" must {}", headers[i], shown(fields[i]),
                                 value.error()));
      }
      columns[i].push_back(*value);
    }
    table.lines.push_back(line);
  }
  if (matches.empty()) return Error{fmt::format("{}: the file is empty", file)};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    table.columns.emplace(std::string(matches[i].wish->name), std::move(columns[i]));
  }
  std::string problem =
      missing_columns(file, wishes, table, fmt::format("{}", fmt::join(headers, ", ")));
  if (!problem.empty()) return Error{std::move(problem)};
  if (table.rows() == 0) return Error{fmt::format("{}: there are no rows", file)};
  return table;
}

namespace {

/// As a recording writes a name.
std::string link_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '/' || c == '%') {
      text += c == '/' ? "%2F" : "%25";
    } else {
      text += c;
    }
  }
  return text;
}

/// A recording has a moment twice, up to rounding, where a step and a sample end
/// together: the first one is kept.
void drop_repeats(Table& table) {
  const std::vector<double> time = table["time"];
  std::vector<bool> kept(time.size(), true);
  double last = 0;
  for (std::size_t i = 0; i < time.size(); ++i) {
    kept[i] = i == 0 || std::fabs(time[i] - last) > 1e-14 * std::fabs(last);
    if (kept[i]) last = time[i];
  }
  for (auto& [name, values] : table.columns) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (kept[i]) values[to++] = values[i];
    }
    values.resize(to);
  }
}

/// The datasets that meet the wishes: by the names that stand for them, else by any of
/// the names that a wish may have.
Result<Table> read_hdf5(const std::string& path, std::span<const ColumnWish> wishes,
                        const ColumnNames& names) {
  struct Candidate {
    Match match;
    std::string dataset;
    bool named;
  };
  std::vector<Candidate> candidates;
  std::vector<std::string> paths;
  const auto add = [&](const Match& match, std::string dataset, bool named) {
    paths.push_back(dataset);
    candidates.push_back({match, std::move(dataset), named});
  };
  for (const auto& [wanted, given] : names) {
    const Match match = match_of(wanted, wishes);
    if (match.wish == nullptr) return Error{unknown_column(wanted, wishes)};
    add(match, given, true);
  }
  for (const ColumnWish& wish : wishes) {
    if (units_of(wish.quantity).empty()) {
      add({&wish, 1}, fmt::format("/{}", wish.name), false);
    }
    for (const Unit& unit : units_of(wish.quantity)) {
      add({&wish, unit.factor}, fmt::format("/{}_{}", wish.name, unit.suffix), false);
    }
    if (wish.quantity == Quantity::time) add({&wish, 1}, "/time", false);
    if (!wish.dataset.empty()) {
      add({&wish, 1}, fmt::format("{}/{}", wish.dataset, link_name(wish.name)), false);
    }
  }
  const auto columns = recording::read_hdf5_columns(path, paths);
  if (!columns) return Error{columns.error()};
  Table table{.file = path};
  std::string there;
  bool recorded = false;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& [match, dataset, named] = candidates[i];
    const auto& column = (*columns)[i];
    if (!column) {
      if (named) return Error{fmt::format("{}: there is no dataset {}", path, dataset)};
      continue;
    }
    const std::string name(match.wish->name);
    if (table.has(name)) continue;
    std::vector<double> values = *column;
    for (std::size_t row = 0; row < values.size(); ++row) {
      values[row] *= match.factor;
      const bool whole = match.wish->quantity != Quantity::count ||
                         values[row] == std::floor(values[row]);
      if (std::isfinite(values[row]) && whole) continue;
      return table.wrong(row, dataset, values[row],
                         whole ? "be a finite number" : "be a whole number");
    }
    if (!table.columns.empty() && values.size() != table.rows()) {
      return Error{fmt::format("{}: dataset {} has {} rows, others have {}", path,
                               dataset, values.size(), table.rows())};
    }
    there += fmt::format("{}{}", there.empty() ? "" : ", ", dataset);
    recorded = recorded || dataset == "/time";
    table.columns.emplace(name, std::move(values));
  }
  std::string problem =
      missing_columns(path, wishes, table, there.empty() ? "none of these" : there);
  if (!problem.empty()) {
    return Error{problem + "; name a dataset with --column NAME=/PATH"};
  }
  if (table.rows() == 0) return Error{fmt::format("{}: there are no rows", path)};
  if (recorded) drop_repeats(table);
  return table;
}

}  // namespace

Result<Table> read_table(const std::string& path, std::span<const ColumnWish> wishes,
                         const ColumnNames& names) {
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) {
    return read_hdf5(path, wishes, names);
  }
  const auto text = files::read_file(path, most_bytes);
  if (!text) return Error{fmt::format("{}:1: cannot be read: {}", path, text.error())};
  return parse_csv(*text, path, wishes, names);
}

Result<bool> check_rising(const Table& table, std::string_view column,
                          std::string_view within) {
  const std::vector<double>& x = table[column];
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (!within.empty() && table.has(within) &&
        table[within][i] != table[within][i - 1]) {
      continue;
    }
    if (x[i] > x[i - 1]) continue;
    return table.wrong(i, column, x[i],
                       fmt::format("be above {}, of the row before", x[i - 1]));
  }
  return true;
}

}  // namespace bristle::identify
