#pragma once

namespace bristle::cli {

/// The `bristle` program: its exit status. A program that registers laws of its own
/// (bristle/contact/register_law.hpp) and then calls this has all commands with them.
int run_program(int argc, char** argv);

}  // namespace bristle::cli
