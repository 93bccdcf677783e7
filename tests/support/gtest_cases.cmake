# gtest_cases(<program> EACH <bool> [ALONE <regex>] PROPERTIES <name> <value> …): the tests of a GoogleTest program as cases of
# ctest, which asks the program for them when it starts (gtest_list.cmake). Without EACH a case is a whole suite,
# <program>.<suite>: a process for each of two thousand short tests costs more than the tests. A failure prints its sentence.
# With EACH, and always when ctest is told to choose by names (-R), a case is a single test: <program>.<suite>.<test>. Beside a
# case whose name matches ALONE nothing runs.
function(gtest_cases program)
  cmake_parse_arguments(arg "" "EACH;ALONE" "PROPERTIES" ${ARGN})
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${program}_cases.cmake)
  file(GENERATE OUTPUT ${list} CONTENT "set(program ${program})
set(executable [==[$<TARGET_FILE:${program}>]==])
set(each ${arg_EACH})
set(alone [==[${arg_ALONE}]==])
set(properties [==[${arg_PROPERTIES}]==])
include(${CMAKE_SOURCE_DIR}/tests/support/gtest_list.cmake)
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list})
endfunction()
