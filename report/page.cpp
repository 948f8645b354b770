#include "report/page.hpp"

#include <fmt/format.h>

namespace bristle::report {

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<body>{}</body>\n",
      title, body);
}

}  // namespace bristle::report
