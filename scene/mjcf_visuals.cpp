#include <algorithm>
#include <filesystem>

#include "scene/mjcf_reading.hpp"

// What is only seen of an MJCF file: geoms that touch nothing, colours, materials.

namespace bristle::scene::mjcf {

namespace {

constexpr double last_group = 2;  // that MuJoCo draws by default

}  // namespace

void Reading::read_material(const Element& e) {
  const std::string name(e.value("name"));
  const View v = view(e, main_class, name);
  const bool textured = get(v, "texture") != nullptr;
  const auto colour = colour_of(v);
  if (colour || !textured)
    materials_.try_emplace(name, colour.value_or(Colour{1, 1, 1, 1}));
}

std::optional<Colour> Reading::colour_of(const View& v) {
  const auto given = numbers(v, "rgba", 4, 4);
  if (!given) return {};
  Colour colour{};
  for (std::size_t k = 0; k < 4; ++k) {
    colour[k] = static_cast<float>(std::clamp((*given)[k], 0.0, 1.0));
  }
  return colour;
}

std::optional<Colour> Reading::colour_of_geom(const View& v) {
  if (const auto own = colour_of(v)) return own;
  const auto material = materials_.find(word(v, "material", ""));
  if (material == materials_.end()) return {};
  return material->second;
}

void Reading::see_shape(const View& v, int body, const std::string& shape) {
  const std::optional<Colour> colour = colour_of_geom(v);
  const bool drawn =
      number(v, "group", 0, Range::any) <= last_group && (!colour || (*colour)[3] > 0);
  if (drawn) seen_.insert(body);
  parts.looks.push_back({.shape = shape, .drawn = drawn, .colour = colour});
  looks_of_.push_back(body);
}

void Reading::see_geom(const Placed& at, const View& v, int body,
                       const Transform<double>& base, const Form* form) {
  const std::optional<Colour> colour = colour_of_geom(v);
  const bool invisible = colour && (*colour)[3] == 0;
  if (invisible || number(v, "group", 0, Range::any) > last_group) return;
  Visual visual{.name = std::string(v.element->value("name")),
                .body = bodies_[static_cast<std::size_t>(body)].name,
                .colour = colour};
  const std::string_view type = word(v, "type", "sphere");
  const Attribute* name = get(v, "mesh");
  std::optional<Form> read;
  if (type == "mesh" && name != nullptr) {
    const auto found = mesh_of_.find(name->value);
    if (found == mesh_of_.end() || found->second >= assets_.size()) return;
    visual.mesh = seen_mesh(assets_[found->second]);
    if (!visual.mesh) return;
    visual.pose = base * at.frame * (form != nullptr ? form->pose : pose(v));
  } else {
    if (name != nullptr || type == "plane" || type == "hfield" || type == "sdf") return;
    if (form == nullptr) {
      read = read_form(v, body, true, false);
      if (!read || !read->shape) return;
      form = &*read;
    }
    visual.shape = form->shape;
    visual.pose = base * at.frame * form->pose;
  }
  seen_.insert(body);
  parts.visuals.push_back(std::move(visual));
}

/// The file of a mesh, which is read when it is drawn; nothing for one without.
std::optional<SeenMesh> Reading::seen_mesh(const MeshAsset& asset) {
  const View& v = asset.view;
  const Attribute* file = v.element->find("file");
  if (file == nullptr || file->value.empty()) return {};
  SeenMesh mesh{.path = (std::filesystem::path(asset.folder) / file->value).string()};
  mesh.scale = vector(v, "scale", {1, 1, 1});
  mesh.away = vector(v, "refpos", {0, 0, 0});
  if (const auto q = numbers(v, "refquat", 4, 4)) {
    const Quaternion<double> given{(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
    if (norm2(given) > 1e-18) mesh.turned = to_matrix(given);
  }
  return mesh;
}

/// A body of which nothing is seen shows what touches.
void Reading::show_the_unseen() {
  for (std::size_t i = 0; i < parts.looks.size(); ++i) {
    ShapeLook& look = parts.looks[i];
    const bool invisible = look.colour && (*look.colour)[3] == 0;
    if (!look.drawn && !invisible && !seen_.contains(looks_of_[i])) look.drawn = true;
  }
}

}  // namespace bristle::scene::mjcf
