# Installs the headers that engine/public_headers.txt lists, and what they include in turn.
#   ENGINE: the folder of the headers; TARGET: where they go

cmake_policy(VERSION 3.25)

file(STRINGS ${ENGINE}/public_headers.txt to_install REGEX "^[a-z].*\\.hpp$")
set(installed "")
while(to_install)
  list(POP_FRONT to_install header)
  if(NOT header IN_LIST installed)
    list(APPEND installed ${header})
    file(STRINGS ${ENGINE}/${header} includes REGEX "^#include \"bristle/")
    list(TRANSFORM includes REPLACE "^#include \"bristle/([^\"]+)\".*" "\\1")
    list(APPEND to_install ${includes})
    get_filename_component(folder ${header} DIRECTORY)
    file(INSTALL ${ENGINE}/${header} DESTINATION ${TARGET}/${folder})
  endif()
endwhile()
