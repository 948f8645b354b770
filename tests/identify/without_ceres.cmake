# Set-up on a machine without Ceres:
#   cmake -DSOURCE=… -DBUILD=… -P without_ceres.cmake
# It goes on without the fit and says so, unless the fit is asked for.

function(configure expected text)
  file(REMOVE_RECURSE ${BUILD})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -DBRISTLE_BUILD_TESTS=OFF -DBRISTLE_BUILD_REPORTS=OFF ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  file(REMOVE_RECURSE ${BUILD})
  if(expected STREQUAL "good" AND NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: it does not set up:\n${out}")
  endif()
  if(expected STREQUAL "bad" AND status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: it sets up:\n${out}")
  endif()
  string(REGEX REPLACE "[ \n]+" " " out "${out}")  # CMake wraps its messages
  string(FIND "${out}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${ARGN}: it does not say \"${text}\":\n${out}")
  endif()
endfunction()

configure(good "bristle fit is off: Ceres (libceres-dev)" -DCMAKE_DISABLE_FIND_PACKAGE_Ceres=ON)
configure(good "bristle fit is off" -DBRISTLE_BUILD_FIT=OFF)
configure(bad "install libceres-dev" -DBRISTLE_BUILD_FIT=ON -DCMAKE_DISABLE_FIND_PACKAGE_Ceres=ON)
