# Read by ctest, see gtest_cases.cmake: adds the cases of `executable`, of which it keeps a list beside it while both are the same.

if(NOT EXISTS "${executable}")
  add_test(${program}_NOT_BUILT ${program}_NOT_BUILT)
  return()
endif()

# ctest -R chooses among the sentences.
file(READ /proc/self/cmdline words HEX)
if(words MATCHES "00(2d52|2d2d74657374732d7265676578)")  # -R, --tests-regex
  set(each TRUE)
endif()

set(kept ${executable}.tests)
if(NOT EXISTS "${kept}" OR NOT "${kept}" IS_NEWER_THAN "${executable}")
  execute_process(COMMAND "${executable}" --gtest_list_tests OUTPUT_VARIABLE tests RESULT_VARIABLE code TIMEOUT 60)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${executable} --gtest_list_tests: exit code ${code}: ${tests}")
  endif()
  file(WRITE "${kept}.${code}" "${tests}")
  file(RENAME "${kept}.${code}" "${kept}")
endif()

macro(add_case name filter)
  add_test("${name}" "${executable}" "--gtest_filter=${filter}")
  set_tests_properties("${name}" PROPERTIES SKIP_RETURN_CODE 77 ${properties})
  if(alone AND "${name}" MATCHES "${alone}")
    set_tests_properties("${name}" PROPERTIES RUN_SERIAL TRUE)
  endif()
endmacro()

# A line is a suite and a dot, or a test behind two spaces; what a parameter is stands behind a #.
file(STRINGS "${kept}" lines)
foreach(line IN LISTS lines)
  string(REGEX REPLACE " *#.*" "" name "${line}")
  if(line MATCHES "^  ")
    string(STRIP "${name}" name)
    if(each)
      add_case("${program}.${suite}.${name}" "${suite}.${name}")
    endif()
  elseif(name MATCHES "^([^ ]+)\\.$")
    set(suite "${CMAKE_MATCH_1}")
    if(NOT each)
      add_case("${program}.${suite}" "${suite}.*")
    endif()
  endif()
endforeach()
