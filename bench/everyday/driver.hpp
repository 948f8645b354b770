#pragma once

#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace bristle::bench {

/// What one run of an everyday scene came to; goes through a pipe.
struct Everyday {
  int exit = 3;         // as of `bristle run`
  bool stands = false;  // nothing but settling is expected
  double cpu = 0;       // of the stepping [s]
  double balance = 0;   // largest balance error, over the energy scale
  double rise = 0;      // largest energy above the start, over the energy scale
  double speed = 0;     // largest of a body's reference point at the end [m/s]
  unsigned long steps = 0;
  char trouble[200] = "";
};

inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Everyday bristle_everyday(const std::filesystem::path& scene,
                          const std::vector<std::string>& settings);
Everyday mujoco_everyday(const std::filesystem::path& file);

}  // namespace bristle::bench
