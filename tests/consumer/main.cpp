#include <bristle/core/version.hpp>
#include <bristle/laws/catalogue.hpp>
#include <iostream>

int main() {
  std::cout << "bristle " << bristle::version() << " with " << bristle::law_names().size()
            << " laws\n";
  return bristle::law_names().empty() ? 1 : 0;
}
