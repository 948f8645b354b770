#include "bristle/dynamics/dynamics.hpp"

namespace bristle {

BRISTLE_DYNAMICS_FOR(template, double)

}  // namespace bristle
