#pragma once

#include <optional>
#include <string_view>

#include "bristle/contact/pools.hpp"

// Contacts for observers, recorders and programs: names and numbers, read
// only. Depths, slips and forces are those that the pools measured and computed last.

namespace bristle {

/// Open: no episode is under way, or a ground that still recovers is not in contact (no
/// depth and no force). Else it slips where its friction law says so, and where the law
/// has no such guard, if it slips faster than the view's stick speed.
enum class ContactPhase : std::uint8_t { open, stick, slip };

/// One contact point. Shape a < shape b, the normal points from A into B, slip is that of
/// B on A, and forces are those on B; vectors are in world axes unless said.
struct ContactInfo {
  std::size_t row;  // in State::contacts
  ContactKey key;
  int body_a, body_b;     // in Tree::bodies(); −1: the world
  int block;              // its laws, in Model::blocks
  std::uint32_t episode;  // its number since the start of the run; 0 while open
  ContactPhase phase;
  double depth;             // [m]
  double rate;              // [m/s]
  double approach;          // rate at touch-down, also foreseen [m/s]
  Vec2<double> slip;        // in the contact's frame [m/s]
  Vec3<double> slip_world;  // [m/s]
  double normal_force;      // [N]
  Vec3<double> friction;    // [N]
  Vec3<double> point;       // where the force acts [m]
  Frame<double> frame;      // its n is the normal
  // Under a volumetric law:
  Vec3<double> couple{0, 0, 0};  // on B, beside the force [N m]
  double volume = 0;             // [m³]
  double area = 0;               // of the section [m²]
  double tension = 0;            // above 1 it pulls somewhere: a |ω_t| R/(1 + a v_cn)

  /// The whole force on B [N].
  Vec3<double> force() const { return normal_force * frame.n + friction; }
};

class ContactView {
 public:
  /// `stick_speed` [m/s] decides where a law has no guard for slip.
  ContactView(const Model& model, const State& state, const PointPool& pool,
              double stick_speed = 1e-3)
      : model_(&model), state_(&state), pool_(&pool), stick_speed_(stick_speed) {}

  /// Places for contacts, empty ones included.
  std::size_t size() const { return static_cast<std::size_t>(rows().count); }
  bool empty(std::size_t row) const { return rows().key[row].empty(); }
  ContactInfo operator[](std::size_t row) const;
  /// The row of a contact, where it has one.
  std::optional<std::size_t> find(const ContactKey& key) const;

  /// work(contact) for every contact point, those that are only close included.
  template <class Work>
  void for_each(const Work& work) const {
    int block = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      while (static_cast<int>(i) >= rows().begin[static_cast<std::size_t>(block) + 1]) {
        ++block;
      }
      if (!empty(i)) work(info(i, block));
    }
  }

  std::string_view shape_name(std::uint32_t shape) const {
    return model_->shapes[shape].name;
  }
  std::string_view body_name(int body) const;
  /// What the laws of a contact remember.
  std::span<const double> memory(std::size_t column) const {
    return std::span(rows().memory).subspan(column * rows().capacity(), size());
  }
  /// Energy stored in its normal and its friction law [J].
  double stored(const ContactInfo& contact) const;

 private:
  const ContactRows& rows() const { return state_->contacts; }
  ContactInfo info(std::size_t row, int block) const;
  ContactPhase phase_of(const ContactInfo& contact) const;
  void add_patch(const LawBlock& laws, ContactInfo& contact) const;

  const Model* model_;
  const State* state_;
  const PointPool* pool_;
  double stick_speed_;
};

}  // namespace bristle
