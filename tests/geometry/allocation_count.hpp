#pragma once

namespace bristle::test {

/// Calls of operator new in this program so far.
long allocation_count();

}  // namespace bristle::test
