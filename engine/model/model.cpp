#include "bristle/model/model.hpp"

#include <algorithm>
#include <utility>

#include "bristle/model/assembly.hpp"

namespace bristle {

namespace {

/// The place of a name in a list; −1 when there is none.
template <class Item>
int index_of(const std::vector<Item>& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const Item& item) { return item.name == name; });
  return found == items.end() ? -1 : static_cast<int>(found - items.begin());
}

}  // namespace

bool Model::adjacent(int link_a, int link_b) const {
  const auto child_of = [&](int child, int parent) {
    return parent != world_link && child != world_link &&
           tree.link(child).parent == parent && tree.link(child).type != JointType::free;
  };
  const auto closes = [&](const Loop& loop) {
    return loop.kind != LoopKind::distance &&
           std::minmax(loop.link_a, loop.link_b) == std::minmax(link_a, link_b);
  };
  if (child_of(link_a, link_b) || child_of(link_b, link_a)) return true;
  return link_a != world_link && link_b != world_link &&
         std::any_of(loops.begin(), loops.end(), closes);
}

int Model::find_shape(std::string_view name) const { return index_of(shapes, name); }

int Model::find_motor(std::string_view name) const { return index_of(motors, name); }

int Model::find_loop(std::string_view name) const { return index_of(loops, name); }

int Model::find_coupling(std::string_view name) const {
  return index_of(couplings, name);
}

ModelBuilder& ModelBuilder::add_body(BodySpec body) {
  tree_.add_body(std::move(body));
  return *this;
}
ModelBuilder& ModelBuilder::add_joint(JointSpec joint) {
  tree_.add_joint(std::move(joint));
  return *this;
}
ModelBuilder& ModelBuilder::gravity(const Vec3<double>& g) {
  tree_.gravity(g);
  return *this;
}
ModelBuilder& ModelBuilder::add_shape(ShapeSpec shape) {
  shapes_.push_back(std::move(shape));
  return *this;
}
ModelBuilder& ModelBuilder::add_contact(ContactSpec contact) {
  contacts_.push_back(std::move(contact));
  return *this;
}
ModelBuilder& ModelBuilder::add_motor(MotorSpec motor) {
  motors_.push_back(std::move(motor));
  return *this;
}
ModelBuilder& ModelBuilder::add_load(LoadSpec load) {
  loads_.push_back(std::move(load));
  return *this;
}
ModelBuilder& ModelBuilder::add_loop(LoopSpec loop) {
  loops_.push_back(std::move(loop));
  return *this;
}

ModelBuilder& ModelBuilder::add_constraint(ConstraintSpec constraint) {
  constraints_.push_back(std::move(constraint));
  return *this;
}
ModelBuilder& ModelBuilder::add_coupling(CouplingSpec coupling) {
  couplings_.push_back(std::move(coupling));
  return *this;
}
ModelBuilder& ModelBuilder::set_limits(LimitSpec limits) {
  limits_.push_back(std::move(limits));
  return *this;
}
ModelBuilder& ModelBuilder::set_friction(JointFrictionSpec friction) {
  frictions_.push_back(std::move(friction));
  return *this;
}
ModelBuilder& ModelBuilder::options(const ModelOptions& options) {
  options_ = options;
  return *this;
}

Result<Model> ModelBuilder::build() const {
  Result<Tree> tree = tree_.build();
  if (!tree) return Error{tree.error(), tree.error_subject()};
  Model model;
  model.tree = *std::move(tree);
  model.contact_ledger = options_.contact_ledger;
  using namespace assembly;
  if (Problem p = add_shapes(shapes_, model)) return *std::move(p);
  if (Problem p = add_couplings(couplings_, model)) return *std::move(p);
  if (Problem p = add_joint_rows(limits_, frictions_, couplings_, model)) {
    return *std::move(p);
  }
  if (Problem p = add_loops(loops_, model)) return *std::move(p);
  if (Problem p = add_constraints(constraints_, model)) return *std::move(p);
  if (Problem p = add_rules(contacts_, model)) return *std::move(p);
  if (Problem p = add_pairs(model)) return *std::move(p);
  if (Problem p = add_motors(motors_, model)) return *std::move(p);
  if (Problem p = add_loads(loads_, model)) return *std::move(p);
  if (Problem p = add_capacity(options_, model)) return *std::move(p);
  return model;
}

}  // namespace bristle
