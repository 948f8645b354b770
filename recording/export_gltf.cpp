#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <utility>

#include "files/file_out.hpp"
#include "recording/export.hpp"
#include "recording/surfaces.hpp"
#include "recording/text.hpp"

// glTF 2.0 (Khronos Group, ISO/IEC 12113:2022): a JSON text about a buffer of numbers, in
// one file.

namespace bristle::recording {

using files::FileOut;

namespace {

constexpr int float_type = 5126, unsigned_int_type = 5125;
constexpr int array_buffer = 34962, element_array_buffer = 34963;

/// A text as JSON has it. What is not UTF-8 becomes a question mark.
std::string quoted(std::string_view text) {
  std::string out("\"");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else if (c < 0x80) {
      out += text[i];
    } else {
      const std::size_t more = c >= 0xf0 && c < 0xf5   ? 3
                               : c >= 0xe0 && c < 0xf0 ? 2
                               : c >= 0xc2 && c < 0xe0 ? 1
                                                       : 0;
      std::size_t good = 0;
      while (good < more && i + good + 1 < text.size() &&
             (static_cast<unsigned char>(text[i + good + 1]) & 0xc0) == 0x80) {
        ++good;
      }
      if (more == 0 || good < more) {
        out += '?';
      } else {
        out += text.substr(i, more + 1);
        i += more;
      }
    }
  }
  out += '"';
  return out;
}

/// [1,2,3]
std::string list(std::span<const float> numbers) {
  std::string text("[");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ',';
    text += number_text(numbers[i]);
  }
  text += ']';
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text("[");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += ",\n";
    text += parts[i];
  }
  text += ']';
  return text;
}

/// {"name":"x","mesh":3}; what has no value is left out.
std::string object(
    std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string text("{");
  for (const auto& [name, value] : members) {
    if (value.empty()) continue;
    if (text.size() > 1) text += ',';
    text += text_of('"', name, "\":", value);
  }
  text += '}';
  return text;
}

/// The buffer with its views and accessors.
class Buffer {
 public:
  /// Numbers in groups of `components`; returns the accessor. With bounds where the
  /// specification asks for them.
  std::size_t add(std::span<const float> numbers, std::size_t components, bool bounds,
                  int target = 0) {
    static constexpr const char* types[] = {"", "SCALAR", "", "VEC3", "VEC4"};
    std::string least, most;
    if (bounds) {
      std::vector<float> low(components, std::numeric_limits<float>::infinity());
      std::vector<float> high(components, -std::numeric_limits<float>::infinity());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        low[i % components] = std::min(low[i % components], numbers[i]);
        high[i % components] = std::max(high[i % components], numbers[i]);
      }
      least = list(low);
      most = list(high);
    }
    return accessor(std::as_bytes(numbers), float_type, numbers.size() / components,
                    types[components], target, least, most);
  }
  std::size_t add_indices(std::span<const std::uint32_t> numbers) {
    return accessor(std::as_bytes(numbers), unsigned_int_type, numbers.size(), "SCALAR",
                    element_array_buffer);
  }

  const Bytes& bytes() const { return bytes_; }
  std::string views() const { return joined(views_); }
  std::string accessors() const { return joined(accessors_); }
  bool empty() const { return bytes_.empty(); }

 private:
  std::size_t accessor(std::span<const std::byte> from, int type, std::size_t count,
                       const char* shape, int target, const std::string& least = {},
                       const std::string& most = {}) {
    views_.push_back(object({{"buffer", "0"},
                             {"byteOffset", number_text(bytes_.size())},
                             {"byteLength", number_text(from.size())},
                             {"target", target != 0 ? number_text(target) : ""}}));
    bytes_.insert(bytes_.end(), from.begin(), from.end());  // of four bytes each: aligned
    accessors_.push_back(object({{"bufferView", number_text(views_.size() - 1)},
                                 {"componentType", number_text(type)},
                                 {"count", number_text(count)},
                                 {"type", quoted(shape)},
                                 {"min", least},
                                 {"max", most}}));
    return accessors_.size() - 1;
  }

  Bytes bytes_;
  std::vector<std::string> views_, accessors_;
};

float single(double x) { return static_cast<float>(x); }

std::array<float, 3> translation(const Vec3<double>& v) {
  return {single(v.x), single(v.y), single(v.z)};
}
/// x, y, z, w
std::array<float, 4> rotation(const Quaternion<double>& q) {
  return {single(q.x), single(q.y), single(q.z), single(q.w)};
}

bool finite(const Sample& sample) {
  return std::ranges::all_of(sample.bodies, [](const BodySample& body) {
    double numbers[7];
    std::memcpy(numbers, &body, sizeof numbers);
    return std::ranges::all_of(numbers, [](double x) { return std::fabs(x) < 1e30; });
  });
}

/// Poses of all bodies over the frames.
struct Motion {
  std::vector<float> times;
  std::vector<std::vector<float>> translations, rotations;  // per body
};

std::optional<Error> read_motion(Reader& reader, const FrameOptions& options,
                                 Motion& motion) {
  const std::size_t bodies = reader.header().bodies.size();
  motion.translations.resize(bodies);
  motion.rotations.resize(bodies);
  Sample sample;
  double begin = 0;
  for (const std::size_t i : choose_frames(reader.times(), options)) {
    if (!reader.read(i, sample)) return Error{reader.error()};
    if (!finite(sample) || !std::isfinite(sample.time)) continue;  // it had diverged
    if (motion.times.empty()) begin = sample.time;
    const float time = single(sample.time - begin);
    // Keys must grow, also in single precision.
    if (!motion.times.empty() && !(time > motion.times.back())) continue;
    motion.times.push_back(time);
    for (std::size_t b = 0; b < bodies; ++b) {
      const auto t = translation(sample.bodies[b].position);
      const auto r = rotation(sample.bodies[b].quaternion);
      motion.translations[b].insert(motion.translations[b].end(), t.begin(), t.end());
      motion.rotations[b].insert(motion.rotations[b].end(), r.begin(), r.end());
    }
  }
  return std::nullopt;
}

std::string mesh_text(const std::string& name, const SurfaceMesh& mesh,
                      std::size_t material, Buffer& buffer) {
  std::vector<float> positions, normals;
  std::vector<std::uint32_t> indices;
  for (const Vec3<double>& v : mesh.vertices) {
    const auto x = translation(v);
    positions.insert(positions.end(), x.begin(), x.end());
  }
  for (const Vec3<double>& n : mesh.normals) {
    const auto x = translation(n);
    normals.insert(normals.end(), x.begin(), x.end());
  }
  for (const auto& triangle : mesh.triangles) {
    indices.insert(indices.end(), triangle.begin(), triangle.end());
  }
  const std::string at_positions =
      number_text(buffer.add(positions, 3, true, array_buffer));
  std::string at_normals;
  if (!normals.empty()) {
    at_normals = number_text(buffer.add(normals, 3, false, array_buffer));
  }
  const std::string primitive = object(
      {{"attributes", object({{"POSITION", at_positions}, {"NORMAL", at_normals}})},
       {"indices", number_text(buffer.add_indices(indices))},
       {"material", number_text(material)}});
  return object({{"name", quoted(name)}, {"primitives", joined({primitive})}});
}

/// Colours that are told apart by most people (Okabe & Ito 2008); the world is grey.
std::vector<std::string> materials() {
  const float colours[][3] = {{0.5f, 0.5f, 0.5f},    {0.9f, 0.35f, 0.0f},
                              {0.09f, 0.46f, 0.81f}, {0.0f, 0.34f, 0.17f},
                              {0.87f, 0.77f, 0.06f}, {0.0f, 0.17f, 0.45f},
                              {0.66f, 0.11f, 0.0f},  {0.6f, 0.19f, 0.38f}};
  std::vector<std::string> list;
  for (const auto& c : colours) {
    const float rgba[] = {c[0], c[1], c[2], 1};
    list.push_back(object(
        {{"pbrMetallicRoughness", object({{"baseColorFactor", recording::list(rgba)},
                                          {"metallicFactor", "0.1"},
                                          {"roughnessFactor", "0.7"}})},
         {"doubleSided", "true"}}));
  }
  return list;
}

/// [1,2,3], or nothing: an empty list of children is not allowed.
std::string children_text(const std::vector<std::size_t>& children) {
  std::string text;
  for (const std::size_t child : children) {
    text += text_of(text.empty() ? "[" : ",", child);
  }
  if (!text.empty()) text += ']';
  return text;
}

/// Meshes and nodes of everything that a recording shows: node 0 is the world, then come
/// the bodies, then the shapes.
struct Nodes {
  std::vector<std::string> nodes, meshes;
};

Nodes make_nodes(const Header& header, const Motion& motion,
                 const SurfaceOptions& surfaces, std::size_t colours, Buffer& buffer) {
  Nodes made;
  std::vector<std::size_t> in_world;
  std::vector<std::vector<std::size_t>> on_body(header.bodies.size());
  std::vector<std::string> shape_nodes;
  const std::vector<std::size_t> same = alike(header.shapes);
  // Shapes that look alike and have one colour share a mesh.
  std::map<std::pair<std::size_t, std::size_t>, std::string> known_meshes;
  for (std::size_t s = 0; s < header.shapes.size(); ++s) {
    const ShapeInfo& shape = header.shapes[s];
    const std::size_t node = 1 + header.bodies.size() + shape_nodes.size();
    const std::size_t colour =
        shape.body < 0 ? 0 : 1 + static_cast<std::size_t>(shape.body) % (colours - 1);
    const auto [known, is_new] = known_meshes.try_emplace({same[s], colour});
    std::string& number = known->second;
    if (is_new) {
      const SurfaceMesh mesh = make_surface_mesh(shape, surfaces);
      if (!mesh.triangles.empty()) {
        number = number_text(made.meshes.size());
        made.meshes.push_back(mesh_text(shape.name, mesh, colour, buffer));
      }
    }
    shape_nodes.push_back(
        object({{"name", quoted(shape.name)},
                {"translation", list(translation(shape.in_body.p))},
                {"rotation", list(rotation(from_matrix(shape.in_body.R)))},
                {"mesh", number}}));
    (shape.body < 0 ? in_world : on_body[static_cast<std::size_t>(shape.body)])
        .push_back(node);
  }
  for (std::size_t b = 0; b < header.bodies.size(); ++b) in_world.push_back(1 + b);
  // Our z axis is glTF's y axis.
  made.nodes.push_back(object({{"name", quoted(world_name)},
                               {"rotation", "[-0.70710678,0,0,0.70710678]"},
                               {"children", children_text(in_world)}}));
  for (std::size_t b = 0; b < header.bodies.size(); ++b) {
    made.nodes.push_back(
        object({{"name", quoted(header.bodies[b])},
                {"translation", list(std::span(motion.translations[b]).first(3))},
                {"rotation", list(std::span(motion.rotations[b]).first(4))},
                {"children", children_text(on_body[b])}}));
  }
  made.nodes.insert(made.nodes.end(), shape_nodes.begin(), shape_nodes.end());
  return made;
}

/// The motion of all bodies as one animation; nothing where there is no body.
std::string animation_text(const Motion& motion, Buffer& buffer) {
  if (motion.translations.empty()) return {};
  const std::size_t input = buffer.add(motion.times, 1, true);
  std::vector<std::string> samplers, channels;
  const auto channel = [&](std::size_t body, const char* target, std::size_t output) {
    const std::string on =
        object({{"node", number_text(1 + body)}, {"path", quoted(target)}});
    channels.push_back(
        object({{"sampler", number_text(samplers.size())}, {"target", on}}));
    samplers.push_back(object({{"input", number_text(input)},
                               {"interpolation", quoted("LINEAR")},
                               {"output", number_text(output)}}));
  };
  for (std::size_t b = 0; b < motion.translations.size(); ++b) {
    channel(b, "translation", buffer.add(motion.translations[b], 3, false));
    channel(b, "rotation", buffer.add(motion.rotations[b], 4, false));
  }
  return joined({object({{"name", quoted("recording")},
                         {"channels", joined(channels)},
                         {"samplers", joined(samplers)}})});
}

/// The description and the buffer as one binary file.
std::optional<Error> write_binary(const std::string& path, std::string json,
                                  const Buffer& buffer) {
  while (json.size() % 4 != 0) json += ' ';
  const std::uint64_t total =
      12 + 8 + json.size() + (buffer.empty() ? 0 : 8 + buffer.bytes().size());
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    return Error{path +
                 ": would be larger than the 4 GiB that the format allows; ask for "
                 "fewer frames"};
  }
  Bytes head;
  ByteWriter to(head);
  const auto word = [&](std::uint64_t number) {
    to.put(static_cast<std::uint32_t>(number));
  };
  word(0x46546C67);  // "glTF"
  word(2);
  word(total);
  word(json.size());
  word(0x4E4F534A);  // "JSON"
  FileOut file(path);
  file.write(head);
  file.write(json);
  if (!buffer.empty()) {
    head.clear();
    word(buffer.bytes().size());
    word(0x004E4942);  // "BIN"
    file.write(head);
    file.write(buffer.bytes());
  }
  return file.close();
}

}  // namespace

Result<ExportReport> export_gltf(Reader& reader, const std::string& path,
                                 const GltfOptions& options) {
  const Header& header = reader.header();
  if (reader.size() == 0) return Error{reader.path() + ": holds no sample"};
  Motion motion;
  if (const std::optional<Error> error = read_motion(reader, options.frames, motion)) {
    return *error;
  }
  if (motion.times.empty()) {
    return Error{reader.path() + ": holds no sample with finite positions"};
  }
  Buffer buffer;
  const std::vector<std::string> colours = materials();
  const Nodes made = make_nodes(header, motion, fitted(reader, options.surfaces),
                                colours.size(), buffer);
  const std::string animations = animation_text(motion, buffer);
  const bool drawn = !made.meshes.empty(), filled = !buffer.empty();
  const std::string generator = quoted(text_of("Bristle ", header.bristle));
  std::string json = object(
      {{"asset", object({{"version", quoted("2.0")}, {"generator", generator}})},
       {"scene", "0"},
       {"scenes", R"([{"nodes":[0]}])"},
       {"nodes", joined(made.nodes)},
       {"meshes", drawn ? joined(made.meshes) : ""},
       {"materials", drawn ? joined(colours) : ""},
       {"buffers",
        filled ? joined({object({{"byteLength", number_text(buffer.bytes().size())}})})
               : ""},
       {"bufferViews", filled ? buffer.views() : ""},
       {"accessors", filled ? buffer.accessors() : ""},
       {"animations", animations}});
  if (const std::optional<Error> error = write_binary(path, std::move(json), buffer)) {
    return *error;
  }
  return ExportReport{.files = {path}, .file_count = 1, .frames = motion.times.size()};
}

}  // namespace bristle::recording
