// The bristle program with one law more.

#include <cstdio>

#include "bristle/contact/register_law.hpp"
#include "cli/program.hpp"
#include "examples/own_law/soft_wall.hpp"

int main(int argc, char** argv) {
  const auto law = bristle::register_law<own_law::SoftWall>();
  if (!law) return std::puts(law.error().c_str()), 2;
  return bristle::cli::run_program(argc, argv);
}
