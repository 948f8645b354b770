#pragma once

#include "bristle/contact/workspace.hpp"

namespace bristle {

/// Puts the shapes of moving links where their links are.
void place_shapes(const Model& model, const LinkMotion& links,
                  ContactWorkspace& ws) noexcept;

/// Broad and narrow phase: fills ws.found with the contacts that exist or may come to
/// exist within `horizon` [s], by block, then pair.
ContactStatus detect(const Model& model, const LinkMotion& links, double horizon,
                     ContactWorkspace& ws) noexcept;

}  // namespace bristle
