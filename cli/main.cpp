#include "cli/program.hpp"

int main(int argc, char** argv) { return bristle::cli::run_program(argc, argv); }
