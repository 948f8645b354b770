#include "scene/xml.hpp"

#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "files/read_file.hpp"

namespace bristle::scene::xml {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Where an element has too many attributes; nothing where none has. tinyxml2 compares
/// each with all others.
std::optional<std::size_t> crowded(std::string_view text) {
  std::size_t at = 0;
  while ((at = text.find('<', at)) != std::string_view::npos) {
    const std::string_view rest = text.substr(at);
    std::string_view end;
    if (rest.starts_with("<!--")) {
      end = "-->";
    } else if (rest.starts_with("<![CDATA[")) {
      end = "]]>";
    } else if (rest.starts_with("<?")) {
      end = "?>";
    } else if (rest.starts_with("<!")) {
      end = ">";
    }
    if (!end.empty()) {
      at = text.find(end, at);
      continue;
    }
    std::size_t values = 0;
    for (++at; at < text.size() && text[at] != '>'; ++at) {
      if (text[at] != '"' && text[at] != '\'') continue;
      if (++values > max_attributes) return at;
      at = text.find(text[at], at + 1);
      if (at == std::string_view::npos) return {};
    }
  }
  return {};
}

int line_of(std::string_view text, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  return static_cast<int>(std::count(text.begin(), end, '\n')) + 1;
}

/// Copies what tinyxml2 found. Its depth is bounded by tinyxml2 itself.
struct Copier {
  const std::string* file;
  std::size_t elements = 0;

  void copy(const tinyxml2::XMLElement& from, Element& to) {
    to.tag = from.Name();
    to.file = file;
    to.line = from.GetLineNum();
    if (++elements > max_elements) return;
    for (const auto* a = from.FirstAttribute(); a != nullptr; a = a->Next()) {
      to.attributes.push_back({a->Name(), a->Value(), file, a->GetLineNum()});
    }
    for (const auto* c = from.FirstChildElement(); c != nullptr;
         c = c->NextSiblingElement()) {
      if (elements > max_elements) return;
      copy(*c, to.children.emplace_back());
    }
  }
};

}  // namespace

const Attribute* Element::find(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

std::string_view Element::value(std::string_view name) const {
  const Attribute* found = find(name);
  return found == nullptr ? std::string_view{} : found->value;
}

const Element* Element::child(std::string_view tag_wanted) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Element& e) { return e.tag == tag_wanted; });
  return found == children.end() ? nullptr : &*found;
}

bool parse(std::string_view text, const std::string& file, Document& document,
           Element& root, Problems& problems) {
  const std::string& name = document.files.emplace_back(file);
  if (text.size() > max_bytes) {
    problems.error({name, 0}, words({"the file must not be larger than ",
                                     std::to_string(max_bytes >> 20), " MiB"}));
    return false;
  }
  while (text.ends_with('\0')) text.remove_suffix(1);
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    problems.error({name, line_of(text, zero)}, "a byte is 0: this is not XML in UTF-8");
    return false;
  }
  if (const auto at = crowded(text)) {
    problems.error({name, line_of(text, *at)},
                   words({"an element must have at most ", std::to_string(max_attributes),
                          " attributes"}));
    return false;
  }
  tinyxml2::XMLDocument xml;
  if (xml.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    std::string reason = xml.ErrorName();  // XML_ERROR_PARSING_ATTRIBUTE and the like
    if (xml.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
      reason = words({"elements are nested deeper than ",
                      std::to_string(TINYXML2_MAX_ELEMENT_DEPTH)});
    } else if (xml.ErrorID() == tinyxml2::XML_ERROR_EMPTY_DOCUMENT) {
      reason = "the file is empty";
    } else if (xml.ErrorID() == tinyxml2::XML_ERROR_MISMATCHED_ELEMENT) {
      reason = "an element is closed by another one's end, or not at all";
    } else if (xml.ErrorID() == tinyxml2::XML_ERROR_PARSING_ATTRIBUTE) {
      reason = "an attribute is not written as name=\"value\", or is given twice";
    }
    problems.error({name, xml.ErrorLineNum()}, "this is not well-formed XML: " + reason);
    return false;
  }
  const tinyxml2::XMLElement* top = xml.RootElement();
  if (top == nullptr) {
    problems.error({name, 1}, "this is not well-formed XML: there is no element");
    return false;
  }
  Copier copier{&name};
  copier.copy(*top, root);
  if (copier.elements > max_elements) {
    problems.error({name, 0}, words({"the file must not have more than ",
                                     std::to_string(max_elements), " elements"}));
    return false;
  }
  return true;
}

std::optional<std::string> read_file(const std::string& path, const FileLine& from,
                                     const std::string& who, Problems& problems) {
  Result<std::string> text = files::read_file(path, max_bytes);
  if (text) return std::move(*text);
  const std::string subject = who.empty() ? std::string() : who + ": ";
  problems.error(from, words({subject, "cannot read ", shown(path), ": ", text.error()}));
  return {};
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::string out;
  for (const char c : text.substr(0, longest)) {
    const auto code = static_cast<unsigned char>(c);
    out += code < 0x20 || code == 0x7f ? ' ' : c;
  }
  if (text.size() > longest) out += "...";
  return out;
}

std::string called(std::string_view tag, std::string_view name) {
  return name.empty() ? std::string(tag) : words({tag, " \"", shown(name), "\""});
}

std::string words(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

std::optional<std::vector<double>> numbers(const Attribute& from, const std::string& who,
                                           std::size_t least, std::size_t most,
                                           Range range, Problems& problems) {
  const auto refuse = [&](std::string_view must) {
    for (const char* left : {"${", "$("}) {
      if (from.value.find(left) == std::string::npos) continue;
      must = "be of numbers: xacro has left this over; run xacro on the file first";
    }
    if (most > 1 && from.value.find(',') != std::string::npos) {
      must = "be numbers with spaces between them, not commas";
    }
    problems.error(from.place(), words({who, ": ", shown(from.name), " = ",
                                        shown(from.value), " must ", must}));
    return std::nullopt;
  };
  std::vector<double> values;
  const char* at = from.value.data();
  const char* const end = at + from.value.size();
  while (true) {
    while (at != end && is_space(*at)) ++at;
    if (at == end) break;
    if (*at == '+' && at + 1 != end && *(at + 1) != '-') ++at;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (next == at || (next != end && !is_space(*next)) || error != std::errc() ||
        !std::isfinite(value)) {
      return refuse(most == 1 ? "be a finite number" : "be finite numbers");
    }
    values.push_back(value);
    at = next;
  }
  if (values.size() < least || values.size() > most) {
    if (most == 1) return refuse("be one number");
    if (least == most) return refuse(words({"be ", std::to_string(least), " numbers"}));
    return refuse(words({"be ", std::to_string(least), " numbers or more"}));
  }
  for (const double x : values) {
    if (range == Range::positive && !(x > 0)) return refuse("be above 0");
    if (range == Range::not_negative && !(x >= 0)) return refuse("not be below 0");
    if (range == Range::size && !(x >= smallest_size && x <= largest_size)) {
      return refuse(x > 0 ? "lie between 1e-9 and 1e9 m" : "be above 0");
    }
    if (!(std::fabs(x) <= largest_number)) return refuse("not lie beyond 1e30");
  }
  return values;
}

double number(const Attribute* from, const std::string& who, double otherwise,
              Range range, Problems& problems) {
  if (from == nullptr) return otherwise;
  const auto values = numbers(*from, who, 1, 1, range, problems);
  return values ? values->front() : otherwise;
}

Vec3<double> vector(const Attribute* from, const std::string& who,
                    const Vec3<double>& otherwise, Problems& problems) {
  if (from == nullptr) return otherwise;
  const auto values = numbers(*from, who, 3, 3, Range::any, problems);
  return values ? Vec3<double>{(*values)[0], (*values)[1], (*values)[2]} : otherwise;
}

void Unread::report(const std::string& file, Problems& problems) const {
  static const std::map<Consequence, std::string_view> then{
      {Consequence::undriven, "not read, so that the joints they drive are not held: "},
      {Consequence::uncoupled, "not read, so that what they hold together is loose: "},
      {Consequence::motion, "not read, so that the motion differs: "},
      {Consequence::contact, "not read, so that contacts differ: "},
      {Consequence::softness,
       "not read, limits and couplings are as hard as by default: "},
      {Consequence::unmeasured, "not read, so that nothing is measured there: "},
      {Consequence::appearance, "not read, so that the appearance differs: "}};
  for (const auto& [consequence, words_of_it] : then) {
    std::string all;
    for (const auto& [what, count] : counts_) {
      if (what.first != consequence) continue;
      if (!all.empty()) all += ", ";
      all += words({shown(what.second), " (", std::to_string(count), ")"});
    }
    if (!all.empty()) problems.warning({file, 0}, words({words_of_it, all}));
  }
}

}  // namespace bristle::scene::xml
