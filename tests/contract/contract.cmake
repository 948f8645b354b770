# The contract tests of laws, for a law outside the library. With a checkout of Bristle at hand:
#   include(<bristle>/tests/contract/contract.cmake)
#   bristle_law_contract(my_contract HEADER my/soft_wall.hpp NORMAL mine::SoftWall)
# makes a program that holds the laws to what every law of the library keeps. HEADER is found by the
# include folders of the target, and defines the laws; it needs GTest and bristle::bristle.

include_guard()
set(BRISTLE_CONTRACT_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# bristle_law_contract(<name> HEADER <file> [NORMAL <law>...] [FRICTION <law>...])
function(bristle_law_contract name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER" "NORMAL;FRICTION")
  set(tests allocations parameters_test registered_laws)
  if(arg_NORMAL)
    list(APPEND tests normal_test normal_lanes_test normal_pass_test)
  endif()
  if(arg_FRICTION)
    list(APPEND tests friction_test friction_step_test friction_lanes_test friction_pass_test)
  endif()
  list(TRANSFORM tests PREPEND ${BRISTLE_CONTRACT_FOLDER}/)
  list(TRANSFORM tests APPEND .cpp)
  add_executable(${name} ${tests})
  list(JOIN arg_NORMAL "," normal)
  list(JOIN arg_FRICTION "," friction)
  target_compile_definitions(${name} PRIVATE BRISTLE_CONTRACT_HEADER="${arg_HEADER}"
    "BRISTLE_CONTRACT_NORMAL=${normal}" "BRISTLE_CONTRACT_FRICTION=${friction}")
  cmake_path(GET BRISTLE_CONTRACT_FOLDER PARENT_PATH tests_folder)
  cmake_path(GET tests_folder PARENT_PATH bristle_folder)
  target_include_directories(${name} PRIVATE ${bristle_folder})
  target_link_libraries(${name} PRIVATE bristle::bristle GTest::gtest_main)
endfunction()
