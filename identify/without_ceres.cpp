#include "identify/least_squares.hpp"

namespace bristle::identify {

bool can_minimise() { return false; }

Minimum minimise(const LeastSquares&, std::vector<double> start, int, Precision) {
  return {.x = std::move(start), .failed = true, .reason = std::string(no_ceres)};
}

}  // namespace bristle::identify
