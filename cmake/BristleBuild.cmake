# What every target of this project shares: language, warnings, architecture.

include(CheckCXXCompilerFlag)
include(CheckCXXSourceRuns)

# bristle_architecture(<variable>): the -march option for BRISTLE_ARCH, or nothing.
function(bristle_architecture result)
  set(option "")
  if(BRISTLE_ARCH STREQUAL "auto")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND NOT CMAKE_CROSSCOMPILING)
      set(CMAKE_REQUIRED_QUIET ON)
      check_cxx_compiler_flag(-march=x86-64-v3 BRISTLE_COMPILER_KNOWS_V3)
      check_cxx_source_runs([[
        int main() {
          __builtin_cpu_init();
          const bool runs_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
          return runs_v3 ? 0 : 1;
        }]] BRISTLE_MACHINE_RUNS_V3)
      if(BRISTLE_COMPILER_KNOWS_V3 AND BRISTLE_MACHINE_RUNS_V3)
        set(option -march=x86-64-v3)
      endif()
    endif()
  elseif(BRISTLE_ARCH AND NOT BRISTLE_ARCH STREQUAL "none")
    set(option -march=${BRISTLE_ARCH})
  endif()
  set(${result} "${option}" PARENT_SCOPE)
endfunction()

# bristle_own_code(<target>): our language level, warnings and release flags. They stay private,
# so a program that uses the library keeps its own.
function(bristle_own_code target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wconversion -Wshadow
    $<$<BOOL:${BRISTLE_WERROR}>:-Werror>
    $<$<CONFIG:Release>:-fno-math-errno -fno-trapping-math>)
endfunction()

# bristle_precompile(<target> <header>...): headers that most of its files include. They still
# include them themselves: without BRISTLE_PRECOMPILE it is as if this were not there.
function(bristle_precompile target)
  if(BRISTLE_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# bristle_compile_lightly(<target>): for code whose own speed does not matter, because the work is
# done in the library. Two thirds of the time to compile, or half; no bit of the results differs.
function(bristle_compile_lightly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
endfunction()

# bristle_install_library(<component> <target>... [NEEDS <file>]): libraries beside the engine as a component
# of the package, with the headers of cmake/library_headers.txt. <file> finds what they link.
function(bristle_install_library component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NEEDS" "")
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bristle)
  install(TARGETS ${arg_UNPARSED_ARGUMENTS} EXPORT bristle-${component})
  install(EXPORT bristle-${component} NAMESPACE bristle:: DESTINATION ${package_dir})
  if(arg_NEEDS)
    install(FILES ${arg_NEEDS} RENAME bristle-${component}-needs.cmake DESTINATION ${package_dir})
  endif()
  install(CODE "
    set(ROOT \"${PROJECT_SOURCE_DIR}\")
    set(FOLDER ${component})
    set(TARGET \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake\")")
endfunction()

# bristle_library_headers(<target>): they are included by their folder, "scene/scene.hpp"; an installed
# copy has them under include/bristle/libraries/.
function(bristle_library_headers target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/bristle/libraries>)
endfunction()
