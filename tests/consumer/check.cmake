# Installs the build tree to a scratch prefix, moves it, then builds and runs the consumer, a program for
# each component and every example there, each by itself.
#   cmake -D BUILD=... -D SCRATCH=... -D VERSION=... -D COMPILER=... -D FLAGS=... -D CONFIG=...
#         -D EXAMPLES=... -D PACKAGE_FOLDER=lib/cmake/bristle -D COMPONENTS=... -P check.cmake

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/first --config ${CONFIG})
file(RENAME ${SCRATCH}/first ${SCRATCH}/prefix)

# Nothing installed may point back to the tree it came from.
file(GLOB_RECURSE package ${SCRATCH}/prefix/*.cmake)
foreach(file IN LISTS package)
  file(READ ${file} text)
  foreach(place ${BUILD} ${SCRATCH} ${CMAKE_CURRENT_LIST_DIR})
    string(FIND "${text}" "${place}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${file} names ${place}")
    endif()
  endforeach()
endforeach()
if(NOT package)
  message(FATAL_ERROR "no CMake package was installed")
endif()

function(build_and_run program source)
  step(${CMAKE_COMMAND} -S ${source} -B ${SCRATCH}/build/${program} -G Ninja
       -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF ${ARGN}
       -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=${CONFIG})
  step(${CMAKE_COMMAND} --build ${SCRATCH}/build/${program})
  step(${CMAKE_COMMAND} -E chdir ${SCRATCH}/build/${program} ./${program})
endfunction()
build_and_run(consumer ${CMAKE_CURRENT_LIST_DIR} -DWANTED_VERSION=${VERSION})

# Where a component cannot be had, one sentence says so.
function(expect_refusal component sentence)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/components -B ${SCRATCH}/build/refusal -G Ninja --fresh
            -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
            -DCMAKE_CXX_COMPILER=${COMPILER} -DCOMPONENT=${component}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${sentence}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "find_package(bristle COMPONENTS ${component}) did not say \"${sentence}\" but: ${said}")
  endif()
endfunction()
expect_refusal(colour "there is no component colour of bristle; its components: scene, recording, report")
string(REPLACE "," ";" COMPONENTS "${COMPONENTS}")
foreach(component scene recording report)
  set(installed ${SCRATCH}/prefix/${PACKAGE_FOLDER}/bristle-${component}.cmake)
  if(EXISTS ${installed})
    build_and_run(${component} ${CMAKE_CURRENT_LIST_DIR}/components
                  -DCOMPONENT=${component} -DTARGET_OF_COMPONENT=bristle::${component})
    file(RENAME ${installed} ${installed}.hidden)
    expect_refusal(${component} "the component ${component} of bristle is not installed")
    file(RENAME ${installed}.hidden ${installed})
  elseif(component IN_LIST COMPONENTS)
    message(FATAL_ERROR "the component ${component} was not installed")
  endif()
endforeach()

include(${EXAMPLES}/examples.cmake)
foreach(example IN LISTS examples)
  # Their own speed does not matter: as bristle_compile_lightly() in the tree.
  build_and_run(${example} ${EXAMPLES}/${example} "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
endforeach()
