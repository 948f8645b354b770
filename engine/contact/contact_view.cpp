#include "bristle/contact/contact_view.hpp"

#include <algorithm>
#include <array>

#include "bristle/laws/choice.hpp"

namespace bristle {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

ContactInfo ContactView::operator[](std::size_t row) const {
  int block = 0;
  while (static_cast<int>(row) >= rows().begin[at(block + 1)]) ++block;
  return info(row, block);
}

std::optional<std::size_t> ContactView::find(const ContactKey& key) const {
  const auto begin = rows().key.begin();
  const auto found = std::find(begin, begin + rows().count, key);
  if (found == begin + rows().count) return std::nullopt;
  return static_cast<std::size_t>(found - begin);
}

std::string_view ContactView::body_name(int body) const {
  return body < 0 ? world_name : std::string_view(model_->tree.bodies()[at(body)].name);
}

ContactInfo ContactView::info(std::size_t row, int block) const {
  const ContactPlace& place = pool_->place(row);
  const auto value = [&](std::size_t column) { return pool_->value(column, row); };
  ContactInfo contact{.row = row,
                      .key = rows().key[row],
                      .body_a = -1,
                      .body_b = -1,
                      .block = model_->joint_blocks + block,
                      .episode = rows().episode[row],
                      .phase = ContactPhase::open,
                      .depth = value(RowColumns::depth),
                      .rate = value(RowColumns::rate),
                      .approach = rows().approach[row],
                      .slip = {value(RowColumns::slip_x), value(RowColumns::slip_y)},
                      .slip_world = {},
                      .normal_force = value(RowColumns::normal),
                      .friction = place.frame.to_world(
                          {value(RowColumns::friction_x), value(RowColumns::friction_y)}),
                      .point = place.point,
                      .frame = place.frame};
  contact.slip_world = place.frame.to_world(contact.slip);
  if (!contact.key.empty()) {
    contact.body_a = model_->shapes[contact.key.a].body;
    contact.body_b = model_->shapes[contact.key.b].body;
  }
  contact.phase = phase_of(contact);
  const LawBlock& laws = model_->blocks[at(contact.block)];
  if (laws.volumetric && !contact.key.empty()) add_patch(laws, contact);
  return contact;
}

void ContactView::add_patch(const LawBlock& laws, ContactInfo& contact) const {
  const PatchRow& patch = pool_->patch(contact.row);
  contact.volume = patch.volume;
  contact.area = patch.area;
  if (!(contact.normal_force > 0)) return;
  contact.couple = pool_->couple(contact.row);
  const Columns<const double> memory{
      rows().memory.data() + at(pool_->layout().normal) * rows().capacity(),
      rows().capacity()};
  const VolumeLaw law = normal_law(laws.normal).volume(laws.normal, memory, contact.row);
  contact.tension = patch.tension(law.rolling.by_volume / law.stiffness);
}

ContactPhase ContactView::phase_of(const ContactInfo& contact) const {
  if (contact.episode == 0 || (contact.depth <= 0 && contact.normal_force == 0)) {
    return ContactPhase::open;
  }
  const LawChoice& choice = model_->blocks[at(contact.block)].friction;
  const FrictionLawTable& law = friction_law(choice);
  const auto slips =
      std::find_if(law.guard_list.begin(), law.guard_list.end(),
                   [](const GuardInfo& guard) { return guard.role == GuardRole::slip; });
  if (slips == law.guard_list.end()) {
    return norm(contact.slip) > stick_speed_ ? ContactPhase::slip : ContactPhase::stick;
  }
  std::array<double, max_guards> guards;
  const std::size_t capacity = rows().capacity();
  law.guards(
      choice, {rows().memory.data() + at(pool_->layout().friction) * capacity, capacity},
      contact.row,
      SpinKinematics::at(contact.depth, contact.rate,
                         {contact.slip.x, contact.slip.y, pool_->spin_slip(contact.row)}),
      contact.normal_force, guards.data());
  const auto which = static_cast<std::size_t>(slips - law.guard_list.begin());
  return guards[which] > 0 ? ContactPhase::slip : ContactPhase::stick;
}

double ContactView::stored(const ContactInfo& contact) const {
  const LawBlock& laws = model_->blocks[at(contact.block)];
  const std::size_t capacity = rows().capacity();
  const auto memory = [&](int column) {
    return Columns<const double>{rows().memory.data() + at(column) * capacity, capacity};
  };
  const double friction = friction_law(laws.friction)
                              .stored(laws.friction, memory(pool_->layout().friction),
                                      contact.row, contact.depth, contact.normal_force);
  if (!laws.has_normal_law()) return friction;
  if (laws.volumetric) {
    const VolumeLaw law =
        normal_law(laws.normal)
            .volume(laws.normal, memory(pool_->layout().normal), contact.row);
    return friction + law.stiffness * pool_->patch(contact.row).potential;
  }
  return friction + normal_law(laws.normal)
                        .stored(laws.normal, memory(pool_->layout().normal), contact.row,
                                contact.depth);
}

}  // namespace bristle
