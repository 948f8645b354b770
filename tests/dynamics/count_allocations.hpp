#pragma once

namespace bristle::test {

/// How often this program has called operator new so far. A file of its own replaces the
/// operators, so that the compiler does not see through them.
long allocation_count();

}  // namespace bristle::test
