#include "scene/collada.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "scene/limits.hpp"
#include "scene/xml.hpp"

namespace bristle::scene {

namespace {

using xml::Element;
using xml::shown;
using xml::words;

/// Follows nodes and instances of nodes as an importer would.
class Nodes {
 public:
  explicit Nodes(const Element& root) { name(root); }

  /// All nodes that lie in no other node.
  void follow_all(const Element& e) {
    for (const Element& c : e.children) {
      if (!wrong_.empty()) return;
      if (c.tag == "node") {
        total_ += follow(c, 1).size;
        if (total_ > mesh_instances) too_many();
      } else {
        follow_all(c);
      }
    }
  }

  const std::string& wrong() const { return wrong_; }

 private:
  struct Extent {
    std::size_t depth = 0;  // of nodes below and with it
    std::size_t size = 0;   // nodes, each as often as it is named
    bool open = false;      // being followed
  };

  /// What an instance is of, in the same file.
  static std::string_view target_of(const Element& instance) {
    std::string_view url = instance.value("url");
    if (url.starts_with('#')) url.remove_prefix(1);
    return url;
  }

  /// An importer would leave it out without a word.
  void missing(const Element& instance) {
    if (!wrong_.empty()) return;
    wrong_ = words({shown(instance.tag), " is of \"", shown(instance.value("url")),
                    "\", which is not in this file"});
  }

  /// Nodes by what they may be called by, and geometries by their ids.
  void name(const Element& e) {
    if (e.tag == "geometry") geometries_.insert(std::string(e.value("id")));
    if (e.tag == "node") {
      for (const char* key : {"id", "sid", "name"}) {
        if (!e.value(key).empty()) named_[std::string(e.value(key))].push_back(&e);
      }
    }
    for (const Element& c : e.children) name(c);
  }

  void too_many() {
    wrong_ = words({"there are more than ", std::to_string(mesh_instances),
                    " nodes once all instances are made"});
  }

  Extent follow(const Element& node, std::size_t depth) {
    if (!wrong_.empty()) return {};
    const auto [entry, fresh] = extents_.try_emplace(&node);
    Extent& here = entry->second;
    if (!fresh && here.open) {
      wrong_ = words({xml::called("node", node.value("id")), " contains itself"});
      return {};
    }
    if (fresh) {
      here.open = true;
      Extent sum{0, 1, false};
      add_children(node, depth, sum);
      here = {sum.depth + 1, std::min(sum.size, mesh_instances + 1), false};
    }
    if (wrong_.empty() && depth + here.depth > mesh_depth + 1) {
      wrong_ = words(
          {"nodes lie more than ", std::to_string(mesh_depth), " deep in each other"});
    }
    if (wrong_.empty() && here.size > mesh_instances) too_many();
    return here;
  }

  void add_children(const Element& node, std::size_t depth, Extent& sum) {
    const auto add = [&](const Element& child) {
      if (depth >= mesh_depth) {
        wrong_ = words(
            {"nodes lie more than ", std::to_string(mesh_depth), " deep in each other"});
        return;
      }
      const Extent one = follow(child, depth + 1);
      sum.depth = std::max(sum.depth, one.depth);
      sum.size += one.size;
    };
    for (const Element& c : node.children) {
      if (c.tag == "node") add(c);
      if (c.tag == "instance_geometry" && !geometries_.contains(target_of(c))) missing(c);
      if (c.tag != "instance_node") continue;
      const auto found = named_.find(target_of(c));
      if (found == named_.end()) {
        missing(c);
        continue;
      }
      for (const Element* target : found->second) {
        if (wrong_.empty()) add(*target);
      }
    }
  }

  std::map<std::string, std::vector<const Element*>, std::less<>> named_;
  std::set<std::string, std::less<>> geometries_;
  std::map<const Element*, Extent> extents_;
  std::size_t total_ = 0;
  std::string wrong_;
};

}  // namespace

std::optional<std::string> unsound_collada(const std::string& text) {
  Problems problems;
  xml::Document document;
  if (!xml::parse(text, "", document, document.root, problems)) {
    return problems.errors().front().message;
  }
  Nodes nodes(document.root);
  nodes.follow_all(document.root);
  if (nodes.wrong().empty()) return std::nullopt;
  return nodes.wrong();
}

}  // namespace bristle::scene
