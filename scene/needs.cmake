# What bristle::scene links.
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(tomlplusplus)
find_dependency(PkgConfig)
pkg_check_modules(robot_files REQUIRED IMPORTED_TARGET tinyxml2 urdfdom console_bridge assimp)
