#include "cli/appearance.hpp"

#include <map>
#include <set>

namespace bristle::cli {

std::vector<std::string> add_looks(const scene::Scene& scene, recording::RunInfo& to) {
  scene::SeenVisuals seen = scene::read_visuals(scene.visuals, scene.model.tree);
  std::set<int> shown;  // bodies of which something is drawn
  for (scene::SeenVisual& one : seen.visuals) {
    const scene::Visual& visual = *one.visual;
    recording::ShapeInfo info;
    if (visual.shape) {
      info = recording::shape_info(visual.name, one.body, visual.pose, *visual.shape);
    } else {
      info.name = visual.name;
      info.body = one.body;
      info.kind = ShapeKind::mesh;
      info.in_body = visual.pose;
      info.vertices = std::move(one.triangles.vertices);
      info.triangles = std::move(one.triangles.faces);
    }
    info.look.rgba = visual.colour;
    shown.insert(one.body);
    to.visuals.push_back(std::move(info));
  }
  std::map<std::string_view, const scene::ShapeLook*> look_of;
  for (const scene::ShapeLook& look : scene.looks) look_of.try_emplace(look.shape, &look);
  for (const ModelShape& shape : scene.model.shapes) {
    const auto found = look_of.find(shape.name);
    recording::Look look;
    if (found != look_of.end()) {
      look = {.drawn = found->second->drawn, .rgba = found->second->colour};
    }
    if (look.drawn) shown.insert(shape.body);
    to.looks.push_back(look);
  }
  // A body of which nothing is seen, as its meshes are not there, shows what touches.
  for (std::size_t i = 0; i < to.looks.size(); ++i) {
    if (!shown.contains(scene.model.shapes[i].body)) to.looks[i].drawn = true;
  }
  return std::move(seen.notes);
}

}  // namespace bristle::cli
