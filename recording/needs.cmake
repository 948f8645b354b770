# What bristle::recording links.
find_dependency(PkgConfig)
pkg_search_module(BRISTLE_HDF5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
