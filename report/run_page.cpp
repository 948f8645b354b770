#include "report/run_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <vector>

#include "bristle/model/state.hpp"
#include "report/film_page.hpp"

namespace bristle::report {

namespace {

using recording::Column;
using recording::ContactSample;
using recording::ContactState;
using recording::EventSample;
using recording::Header;
using recording::Reader;
using recording::RecordedEvent;
using recording::Sample;

/// The events of a page, by number.
enum class PageEvent : std::uint8_t { touch, lift_off, clamp, stick, slip, friction };

constexpr std::array event_names{"touch", "lift-off", "clamp",
                                 "stick", "slip",     "friction"};
constexpr std::size_t most_events = 20'000;
constexpr std::size_t least_samples = 100, most_samples = 20'000;

/// A contact of a pair of shapes, whatever its episode.
struct ContactKey {
  std::uint32_t a, b, feature;
  auto operator<=>(const ContactKey&) const = default;
};

ContactKey key_of(const ContactSample& c) { return {c.a, c.b, c.feature}; }
constexpr std::uint32_t no_contact = 0xffffffff;

struct ShownEvent {
  double time;
  PageEvent kind;
  std::uint32_t contact;  // number of its key; no_contact for one of a joint
  std::int32_t dof;
  double speed;
};

/// Results of one pass over the whole recording.
struct Survey {
  std::map<ContactKey, std::uint32_t> numbers;
  std::vector<ContactKey> keys;
  std::vector<std::uint32_t> laws;  // of each key
  std::vector<float> force;         // of all contacts together, per sample
  std::vector<std::size_t> count;   // of contacts, per sample
  std::size_t contacts = 0;         // in all samples
  std::vector<ShownEvent> events;
  std::size_t event_count = 0;  // with those that are too many to show

  std::uint32_t number(const ContactKey& key) {
    if (key.a == no_shape || key.b == no_shape) return no_contact;
    const auto [at, is_new] =
        numbers.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
    if (is_new) {
      keys.push_back(key);
      laws.push_back(0);
    }
    return at->second;
  }
  /// A sample says the laws of a contact, an event does not.
  std::uint32_t number(const ContactSample& contact) {
    const std::uint32_t place = number(key_of(contact));
    if (place != no_contact) laws[place] = contact.laws;
    return place;
  }
  void add(const ShownEvent& event) {
    ++event_count;
    if (events.size() < most_events) events.push_back(event);
  }
};

bool touching(ContactState state) { return state != ContactState::open; }

PageEvent switched_to(ContactState state) {
  return state == ContactState::slip ? PageEvent::slip : PageEvent::stick;
}

/// Events as they were located; a switch of the friction law is named by what the next
/// sample shows, where that differs from the one before. Without located lift-offs and
/// switches, which a fixed-step integrator does not look for, they are taken from sample
/// to sample.
class EventReader {
 public:
  EventReader(std::span<const EventSample> events, Survey& to)
      : events_(events),
        to_(to),
        located_(std::ranges::any_of(events, [](const EventSample& e) {
          return e.kind != RecordedEvent::touch;
        })) {}

  void see(const Sample& sample) {
    for (; next_ < events_.size() && events_[next_].time <= sample.time; ++next_) {
      take(events_[next_], sample);
    }
    compare(sample);
  }
  /// Events after the last sample.
  void finish() {
    for (; next_ < events_.size(); ++next_) take(events_[next_], {});
  }

 private:
  void take(const EventSample& event, const Sample& sample) {
    const ContactKey key{event.a, event.b, event.feature};
    PageEvent kind = PageEvent::touch;
    if (event.kind == RecordedEvent::lift_off) kind = PageEvent::lift_off;
    if (event.kind == RecordedEvent::normal) kind = PageEvent::clamp;
    if (event.kind == RecordedEvent::friction) {
      kind = PageEvent::friction;
      const auto before = before_.find(key);
      for (const ContactSample& c : sample.contacts) {
        if (key_of(c) != key || !touching(c.state)) continue;
        if (before == before_.end() || before->second != c.state) {
          kind = switched_to(c.state);
        }
      }
    }
    to_.add({event.time, kind, event.dof < 0 ? to_.number(key) : no_contact, event.dof,
             event.speed});
  }

  void compare(const Sample& sample) {
    now_.clear();
    for (const ContactSample& c : sample.contacts) {
      if (!touching(c.state)) continue;
      now_[key_of(c)] = c.state;
      const auto before = before_.find(key_of(c));
      if (located_ || before == before_.end() || before->second == c.state) continue;
      to_.add({sample.time, switched_to(c.state), to_.number(key_of(c)), -1,
               norm(c.slip_world)});
    }
    for (const auto& [key, state] : before_) {
      if (located_ || now_.contains(key)) continue;
      to_.add({sample.time, PageEvent::lift_off, to_.number(key), -1, std::nan("")});
    }
    std::swap(before_, now_);
  }

  std::span<const EventSample> events_;
  Survey& to_;
  bool located_;
  std::size_t next_ = 0;
  std::map<ContactKey, ContactState> before_, now_;
};

std::optional<Error> survey(Reader& reader, Survey& to) {
  EventReader events(reader.events(), to);
  Sample sample;
  for (std::size_t i = 0; i < reader.size(); ++i) {
    if (!reader.read(i, sample)) return Error{reader.error()};
    double force = 0;
    for (const ContactSample& c : sample.contacts) {
      force += c.normal_force;
      to.number(c);
    }
    to.force.push_back(static_cast<float>(force));
    to.count.push_back(sample.contacts.size());
    to.contacts += sample.contacts.size();
    events.see(sample);
  }
  events.finish();
  return std::nullopt;
}

/// At most `most` samples: the first of equally many in a row, the one with the largest
/// contact force among them, and the last of all.
std::vector<std::size_t> choose_samples(std::span<const float> force, std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t n = force.size();
  if (n <= most) {
    for (std::size_t i = 0; i < n; ++i) chosen.push_back(i);
    return chosen;
  }
  const std::size_t groups = most / 2;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = g * n / groups, to = (g + 1) * n / groups;
    const auto first = force.begin() + static_cast<std::ptrdiff_t>(from);
    const auto peak =
        std::max_element(first, first + static_cast<std::ptrdiff_t>(to - from));
    chosen.push_back(from);
    const auto at = static_cast<std::size_t>(peak - force.begin());
    if (at != from) chosen.push_back(at);
  }
  if (chosen.back() != n - 1) chosen.push_back(n - 1);
  return chosen;
}

Json list_of(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

Json law_json(const recording::LawRecord& law) {
  Json parameters = Json::array(), memory = Json::array();
  for (std::size_t i = 0; i < law.parameters.size() && i < law.values.size(); ++i) {
    parameters.push_back({{"name", law.parameters[i].name},
                          {"unit", law.parameters[i].unit},
                          {"value", law.values[i]}});
  }
  for (const recording::Quantity& m : law.memory) {
    memory.push_back({{"name", m.name}, {"unit", m.unit}});
  }
  return {{"name", law.name}, {"parameters", parameters}, {"memory", memory}};
}

/// The numbers of the chosen samples, each quantity in one piece.
std::optional<Error> describe_samples(Reader& reader, Survey& seen,
                                      const std::vector<std::size_t>& chosen,
                                      PageData& page, Json& head) {
  const Header& header = reader.header();
  const std::size_t n = chosen.size(), width = recording::sample_numbers(header) - 1;
  std::vector<double> times;
  std::vector<float> values(n * width);
  std::size_t contacts = 0;
  for (const std::size_t i : chosen) contacts += seen.count[i];
  const std::size_t contact_width = recording::contact_numbers(header);
  std::vector<std::uint32_t> start{0}, key, episode;
  std::vector<std::uint8_t> state;
  key.reserve(contacts);
  episode.reserve(contacts);
  state.reserve(contacts);
  std::vector<float> of_contacts(contacts * contact_width);
  Sample sample;
  for (std::size_t i = 0; i < n; ++i) {
    if (!reader.read(chosen[i], sample)) return Error{reader.error()};
    times.push_back(sample.time);
    std::size_t column = 0;
    const auto put = [&](double x) { values[column++ * n + i] = static_cast<float>(x); };
    for (const recording::BodySample& b : sample.bodies) {
      const auto* numbers = reinterpret_cast<const double*>(&b);
      std::for_each(numbers, numbers + sizeof b / sizeof(double), put);
    }
    for (const auto* list : {&sample.q, &sample.v, &sample.ledger, &sample.probes}) {
      std::ranges::for_each(*list, put);
    }
    const std::size_t memory = contact_width - 17;
    for (std::size_t c = 0; c < sample.contacts.size(); ++c) {
      const ContactSample& contact = sample.contacts[c];
      float* const to = of_contacts.data() + key.size();  // then a column further each
      key.push_back(seen.number(contact));
      episode.push_back(contact.episode);
      state.push_back(static_cast<std::uint8_t>(contact.state));
      const double* numbers = &contact.depth;
      for (std::size_t k = 0; k < 17; ++k) {
        to[k * contacts] = static_cast<float>(numbers[k]);
      }
      for (std::size_t k = 0; k < memory; ++k) {
        to[(17 + k) * contacts] = static_cast<float>(sample.memory[c * memory + k]);
      }
    }
    start.push_back(static_cast<std::uint32_t>(key.size()));
  }
  head["samples"] = {{"recorded", reader.size()}, {"shown", n}};
  head["time"] = page.add(times);
  head["columns"] = Json::array();
  for (Column column : recording::sample_columns(header)) {
    if (column.group.empty()) continue;  // the time
    --column.first;
    head["columns"].push_back(column_json(column));
  }
  head["values"] = page.add(values);
  Json columns = Json::array();
  for (const Column& column : recording::contact_columns(header)) {
    columns.push_back(column_json(column));
  }
  Json keys = Json::array();
  for (std::size_t k = 0; k < seen.keys.size(); ++k) {
    const ContactKey& contact = seen.keys[k];
    keys.push_back({{"a", recording::shape_name(header, contact.a)},
                    {"b", recording::shape_name(header, contact.b)},
                    {"body_a", recording::body_name(header, contact.a)},
                    {"body_b", recording::body_name(header, contact.b)},
                    {"feature", contact.feature},
                    {"laws", seen.laws[k]}});
  }
  head["contacts"] = {{"keys", keys},
                      {"columns", columns},
                      {"normal_memory", header.normal_memory},
                      {"start", page.add(start)},
                      {"key", page.add(key)},
                      {"episode", page.add(episode)},
                      {"state", page.add(state)},
                      {"values", page.add(of_contacts)}};
  return std::nullopt;
}

void describe_events(const Survey& seen, const Header& header, PageData& page,
                     Json& head) {
  std::vector<double> time;
  std::vector<float> speed;
  std::vector<std::uint8_t> kind;
  std::vector<std::uint32_t> contact;
  Json joints = Json::object();  // names of those that are of joints
  for (std::size_t i = 0; i < seen.events.size(); ++i) {
    const ShownEvent& event = seen.events[i];
    time.push_back(event.time);
    speed.push_back(static_cast<float>(event.speed));
    kind.push_back(static_cast<std::uint8_t>(event.kind));
    contact.push_back(event.contact);
    if (event.dof < 0) continue;
    for (const recording::JointInfo& joint : header.joints) {
      if (event.dof >= joint.v && event.dof < joint.v + joint.velocities) {
        joints[std::to_string(i)] = joint.name;
      }
    }
  }
  head["events"] = {{"count", seen.event_count},
                    {"kinds", event_names},
                    {"time", page.add(time)},
                    {"kind", page.add(kind)},
                    {"contact", page.add(contact)},
                    {"speed", page.add(speed)},
                    {"joints", joints}};
}

/// What a run is called beside another one: its folder.
std::string name_of_run(const Reader& reader) {
  const std::filesystem::path path(reader.path());
  const std::string folder = path.parent_path().filename().string();
  return folder.empty() ? path.stem().string() : folder;
}

/// All of a run in about so many bytes.
std::optional<Error> describe_run(Reader& reader, std::size_t bytes, PageData& page,
                                  Json& head) {
  if (reader.size() == 0) return Error{reader.path() + ": holds no sample"};
  const Header& header = reader.header();
  Survey seen;
  if (auto error = survey(reader, seen)) return error;
  const std::size_t per_contact =
      sizeof(float) * (recording::contact_numbers(header) + 3);
  const std::size_t per_sample = sizeof(float) * recording::sample_numbers(header) +
                                 per_contact * seen.contacts / reader.size();
  const std::size_t most = std::clamp(bytes / per_sample, least_samples, most_samples);

  const Json summary = Json::parse(reader.end().summary, nullptr, false);
  const auto from_summary = [&](const char* key) {
    return summary.is_object() ? summary.value(key, std::string()) : std::string();
  };
  std::string title = from_summary("title");
  if (title.empty()) title = header.run.source;
  head = {{"kind", "run"},
          {"title", title},
          {"name", name_of_run(reader)},
          {"about", from_summary("about")},
          {"source", header.run.source},
          {"scene", header.run.scene},
          {"created", header.created},
          {"version", header.bristle},
          {"complete", reader.complete()},
          {"status", reader.end().status},
          {"note", reader.note()},
          {"gravity", list_of(header.gravity)},
          {"bodies", header.bodies},
          {"summary", summary.is_object() ? summary : Json::object()}};
  head["laws"] = Json::array();
  for (const recording::LawPair& pair : header.laws) {
    head["laws"].push_back(
        {{"normal", law_json(pair.normal)}, {"friction", law_json(pair.friction)}});
  }
  // Many shapes are small on the screen, and fewer corners will do.
  const int around = header.shapes.size() > 30 ? 16 : 24;
  describe_scene(header, recording::fitted(reader, {.around = around}), page, head);
  if (auto error =
          describe_samples(reader, seen, choose_samples(seen.force, most), page, head)) {
    return error;
  }
  describe_events(seen, header, page, head);
  return std::nullopt;
}

}  // namespace

std::optional<Error> write_run_page(Reader& reader, const std::string& path,
                                    const RunPageOptions& options) {
  if (empty_page().empty()) return Error{std::string(no_pages)};
  PageData page;
  const std::size_t bytes = options.with != nullptr ? options.bytes / 2 : options.bytes;
  Json head, other;
  if (auto error = describe_run(reader, bytes, page, head)) return error;
  if (options.with != nullptr) {
    if (auto error = describe_run(*options.with, bytes, page, other)) return error;
    head["other"] = std::move(other);
  }
  const std::string title = head["title"];
  page.head = std::move(head);
  return write_page(page, title, path);
}

}  // namespace bristle::report
