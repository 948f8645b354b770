#pragma once

#include "recording/columns.hpp"
#include "recording/surfaces.hpp"
#include "report/film.hpp"
#include "report/page.hpp"

// What the three-dimensional view of a page needs.

namespace bristle::report {

/// Puts shapes and visuals into `head`, with the surfaces that they share, and the tree
/// of bodies.
void describe_scene(const recording::Header& header,
                    const recording::SurfaceOptions& surfaces, PageData& page,
                    Json& head);

Json column_json(const recording::Column& column);

/// All of a film.
Json film_json(const Film& film, PageData& page);

}  // namespace bristle::report
