#pragma once

#include "bristle/core/result.hpp"
#include "bristle/model/state.hpp"
#include "recording/bytes.hpp"

// A State as bytes, bit by bit: a run that goes on from them gives the same numbers as
// one that was never interrupted.

namespace bristle::recording {

/// Two models with the same `layout` have states of the same meaning: the same names,
/// joints, shapes and laws. Those with the same `whole` also move alike: the same masses,
/// dimensions, parameters, motors.
struct Fingerprint {
  std::uint64_t layout;
  std::uint64_t whole;
};
Fingerprint fingerprint(const Model& model);

/// Rows, and numbers of a row's memory, that no law uses are left out; nothing reads
/// them.
Bytes serialise(const Model& model, const State& state);
/// The same in place of what `bytes` holds.
void serialise(const Model& model, const Fingerprint& print, const State& state,
               Bytes& bytes);

/// Which models a state may be read for.
enum class Match { whole, layout };

/// The state, or why it is not one of this model.
Result<State> deserialise(std::span<const std::byte> bytes, const Model& model,
                          Match match = Match::whole);

}  // namespace bristle::recording
