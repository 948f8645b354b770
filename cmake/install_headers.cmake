# Installs public headers, and what they include in turn.
#   ROOT: the source tree; TARGET: the folder that programs include bristle/… from
#   FOLDER: engine, the headers of engine/public_headers.txt, to TARGET/bristle; or scene, recording or
#           report, those of cmake/library_headers.txt, to TARGET/bristle/libraries

cmake_policy(VERSION 3.25)

if(FOLDER STREQUAL "engine")
  file(STRINGS ${ROOT}/engine/public_headers.txt to_install REGEX "^[a-z].*\\.hpp$")
  list(TRANSFORM to_install PREPEND "bristle/")
else()
  file(STRINGS ${ROOT}/cmake/library_headers.txt to_install REGEX "^${FOLDER}/.*\\.hpp$")
endif()

set(installed "")
while(to_install)
  list(POP_FRONT to_install header)  # as programs include it
  if(NOT header IN_LIST installed)
    list(APPEND installed ${header})
    if(header MATCHES "^bristle/(.*)")
      set(file ${ROOT}/engine/${CMAKE_MATCH_1})
      set(place ${TARGET}/${header})
    else()
      set(file ${ROOT}/${header})
      set(place ${TARGET}/bristle/libraries/${header})
    endif()
    file(STRINGS ${file} includes REGEX "^#include \"")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND to_install ${includes})
    get_filename_component(folder ${place} DIRECTORY)
    file(INSTALL ${file} DESTINATION ${folder})
  endif()
endwhile()
