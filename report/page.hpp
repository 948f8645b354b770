#pragma once

#include <string>
#include <string_view>

namespace bristle::report {

// A self-contained HTML page.
[[nodiscard]] std::string page(std::string_view title, std::string_view body);

}  // namespace bristle::report
