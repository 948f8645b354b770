#pragma once

#include "report/figure.hpp"
#include "report/page.hpp"

namespace bristle::report {

/// A figure for a page. Of lines with many points those are left out that lie on a line
/// between others, as far as can be seen when the page shows a tenth of the panel.
Json figure_json(const Figure& figure, PageData& page);

}  // namespace bristle::report
