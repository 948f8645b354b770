#include "report/page.hpp"

// The bytes of the page that web/ was built to, taken in by the assembler.

#ifdef BRISTLE_WEB_PAGE

asm(R"(
  .section .rodata
  .global bristle_web_page
  .global bristle_web_page_end
bristle_web_page:
  .incbin ")" BRISTLE_WEB_PAGE R"("
bristle_web_page_end:
  .byte 0
  .previous
)");

extern "C" {
extern const char bristle_web_page[];
extern const char bristle_web_page_end[];
}

namespace bristle::report {
std::string_view empty_page() { return {bristle_web_page, bristle_web_page_end}; }
}  // namespace bristle::report

#else

namespace bristle::report {
std::string_view empty_page() { return {}; }
}  // namespace bristle::report

#endif
