# What bristle::report links.
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(ZLIB)
find_dependency(PkgConfig)
pkg_check_modules(cairo REQUIRED IMPORTED_TARGET cairo)
