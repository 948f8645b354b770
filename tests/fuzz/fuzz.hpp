#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bristle/model/model.hpp"
#include "scene/parts.hpp"

// What the fuzzers of file readers share. No bytes whatever may crash a reader; what it
// lets through, the builders of models must survive.

namespace bristle::test {

inline void build_model(const scene::Parts& parts) {
  if (parts.bodies.size() > 50 || parts.shapes.size() > 50) return;
  ModelBuilder builder;
  for (const BodySpec& body : parts.bodies) builder.add_body(body);
  for (const JointSpec& joint : parts.joints) builder.add_joint(joint);
  for (const LoopSpec& loop : parts.loops) builder.add_loop(loop);
  for (const ShapeSpec& shape : parts.shapes) builder.add_shape(shape);
  for (const ContactSpec& contact : parts.contacts) builder.add_contact(contact);
  for (const MotorSpec& motor : parts.motors) builder.add_motor(motor);
  if (parts.gravity) builder.gravity(*parts.gravity);
  const Result<Model> model = builder.build();
  static_cast<void>(model);
}

/// Files beside the robot are never there.
inline constexpr const char* nowhere = "/nonexistent/robot";

}  // namespace bristle::test

/// A soak run takes two minutes.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static char longer[] = "-max_total_time=120";
  constexpr std::string_view time = "-max_total_time=";
  for (int i = 1; std::getenv("BRISTLE_SOAK") != nullptr && i < *argc; ++i) {
    if (std::string_view((*argv)[i]).starts_with(time)) (*argv)[i] = longer;
  }
  return 0;
}
