#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>

#include "files/file_out.hpp"
#include "recording/columns.hpp"
#include "recording/export.hpp"
#include "recording/text.hpp"

namespace bristle::recording {

using files::FileOut;

std::vector<std::size_t> choose_frames(std::span<const double> times,
                                       const FrameOptions& options) {
  std::vector<std::size_t> frames;
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Half an interval of a millionth is not waited for: samples lie on a grid.
    if (!frames.empty() &&
        times[i] < times[frames.back()] + options.interval * (1 - 1e-6)) {
      continue;
    }
    frames.push_back(i);
  }
  const std::size_t most = std::max<std::size_t>(options.most, 1);
  if (frames.size() > most) {
    const std::size_t stride = (frames.size() + most - 1) / most;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < frames.size(); i += stride) frames[kept++] = frames[i];
    frames.resize(kept);
  }
  return frames;
}

namespace {

/// A field as a table can hold it.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted("\"");
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

/// "ball.position_x [m]", one per number.
std::vector<std::string> heads(const Column& column) {
  std::vector<std::string> units;
  std::size_t begin = 0;
  for (std::size_t comma = column.unit.find(", "); comma != std::string::npos;
       comma = column.unit.find(", ", begin)) {
    units.push_back(column.unit.substr(begin, comma - begin));
    begin = comma + 2;
  }
  units.push_back(column.unit.substr(begin));
  std::vector<std::string> names;
  for (std::size_t k = 0; k < column.width; ++k) {
    std::string name;
    if (!column.owner.empty()) name = text_of(column.owner, ".");
    name += column.name;
    if (k < column.parts.size()) name += text_of("_", column.parts[k]);
    // What laws remember has the unit that the law says.
    const bool known = column.name.find("memory") == std::string::npos;
    if (known) name += text_of(" [", units[std::min(k, units.size() - 1)], "]");
    names.push_back(cell(name));
  }
  return names;
}

struct Table {
  std::unique_ptr<FileOut> file;
  std::vector<const Column*> columns{};
};

/// The numbers of a sample in the order of sample_columns().
void flatten(const Sample& sample, std::vector<double>& to) {
  to.clear();
  to.push_back(sample.time);
  for (const BodySample& body : sample.bodies) {
    double numbers[13];
    std::memcpy(numbers, &body, sizeof body);
    to.insert(to.end(), numbers, numbers + 13);
  }
  for (const auto* list : {&sample.q, &sample.v, &sample.ledger, &sample.probes}) {
    to.insert(to.end(), list->begin(), list->end());
  }
}

void write_contacts(FileOut& file, const Header& header, const Sample& sample,
                    std::span<const std::string> labels) {
  const std::size_t fields = contact_fields(header);
  for (std::size_t i = 0; i < sample.contacts.size(); ++i) {
    const ContactSample& c = sample.contacts[i];
    file.write_number(sample.time);
    for (const std::uint32_t shape : {c.a, c.b}) {
      file.write(",");
      file.write(labels[shape]);
    }
    const LawPair& laws = header.laws[c.laws];
    file.write(text_of(",", c.feature, ",", c.episode, ",", laws.normal.name, ",",
                       laws.friction.name, ",", name_of(c.state)));
    double numbers[17];
    std::memcpy(numbers,
                reinterpret_cast<const char*>(&c) + offsetof(ContactSample, depth),
                sizeof numbers);
    for (const double x : numbers) {
      file.write(",");
      file.write_number(x);
    }
    for (std::size_t k = 0; k < fields; ++k) {
      file.write(",");
      file.write_number(sample.memory[i * fields + k]);
    }
    file.write("\n");
  }
}

}  // namespace

Result<ExportReport> export_csv(Reader& reader, const std::string& folder,
                                const CsvOptions& options) {
  const Header& header = reader.header();
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble) return Error{folder + ": cannot be made: " + trouble.message()};
  const std::vector<Column> columns = sample_columns(header);
  const auto path = [&](const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
  };

  std::vector<Table> tables;
  for (const char* group : {"bodies", "joints", "ledger", "probes"}) {
    const bool begin = tables.empty() || !options.one_table;
    Table made;
    for (const Column& column : columns) {
      if (column.group == group) made.columns.push_back(&column);
    }
    if (made.columns.empty() && !(options.one_table && begin)) continue;
    if (begin) {
      const std::string name = options.one_table ? "samples" : group;
      made.file = std::make_unique<FileOut>(path(text_of(name, ".csv")));
      tables.push_back(std::move(made));
    } else {
      std::vector<const Column*>& all = tables.front().columns;
      all.insert(all.end(), made.columns.begin(), made.columns.end());
    }
  }
  for (Table& table : tables) {
    table.file->write("time [s]");
    for (const Column* column : table.columns) {
      for (const std::string& head : heads(*column))
        table.file->write(text_of(",", head));
    }
    table.file->write("\n");
  }
  FileOut contacts(path("contacts.csv"));
  contacts.write(
      "time [s],shape_a,shape_b,feature,episode,normal_law,friction_law,state");
  for (const Column& column : contact_columns(header)) {
    for (const std::string& head : heads(column)) contacts.write(text_of(",", head));
  }
  contacts.write("\n");
  std::vector<std::string> labels;
  labels.reserve(header.shapes.size());
  for (const ShapeInfo& shape : header.shapes) labels.push_back(cell(shape.name));

  ExportReport report;
  Sample sample;
  std::vector<double> flat;
  for (const std::size_t i : choose_frames(reader.times(), options.frames)) {
    if (!reader.read(i, sample)) return Error{reader.error()};
    ++report.frames;
    flatten(sample, flat);
    for (Table& table : tables) {
      table.file->write_number(sample.time);
      for (const Column* column : table.columns) {
        for (std::size_t k = 0; k < column->width; ++k) {
          table.file->write(",");
          table.file->write_number(flat[column->first + k]);
        }
      }
      table.file->write("\n");
    }
    write_contacts(contacts, header, sample, labels);
  }

  FileOut events(path("events.csv"));
  events.write("time [s],kind,shape_a,shape_b,feature,episode,dof,speed [m/s]\n");
  for (const EventSample& event : reader.events()) {
    events.write_number(event.time);
    events.write(text_of(",", name_of(event.kind), ",", cell(shape_name(header, event.a)),
                         ",", cell(shape_name(header, event.b)), ",", event.feature, ",",
                         event.episode, ","));
    if (event.dof >= 0) events.write(std::to_string(event.dof));
    events.write(",");
    events.write_number(event.speed);
    events.write("\n");
  }

  const auto close = [&](FileOut& file) {
    report.files.push_back(file.path());
    return file.close();
  };
  std::optional<Error> error;
  for (Table& table : tables) {
    if (!error) error = close(*table.file);
  }
  if (!error) error = close(contacts);
  if (!error) error = close(events);
  if (error) return *error;
  report.file_count = report.files.size();
  return report;
}

}  // namespace bristle::recording
