# python_tests(<prefix> LABEL <label> TIMEOUT <seconds> ENVIRONMENT <name=value> …): every test of every *.py beside the
# caller is the ctest case <prefix>.<file>.<test>. The files say what their tests are (--list, see herald.run), so a test
# is named once, where it is written, with its marks (see herald.py):
#   alone     nothing runs beside it
#   computes  takes a processor; others wait most of the time
#   kafka     ctest starts the broker that tests share (tests/broker), and the test finds it in HERALD_SHARED_BROKER
#   preloads  left out of a sanitizer's build
function(python_tests prefix)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "ENVIRONMENT" ${ARGN})
  set(support ${CMAKE_SOURCE_DIR}/tests/support)
  set(environment "HERALD_BINARY=$<TARGET_FILE:herald>" "PYTHONPATH=${support}" ${arg_ENVIRONMENT})
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files} ${support}/herald.py)
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${support} PYTHONDONTWRITEBYTECODE=1 ${HERALD_PYTHON} ${file} --list
      OUTPUT_VARIABLE listed ERROR_VARIABLE complaint RESULT_VARIABLE code)
    if(NOT code EQUAL 0 OR listed STREQUAL "")
      message(FATAL_ERROR "${file} --list names no tests (exit code ${code}):\n${complaint}")
    endif()
    string(REGEX REPLACE "\n$" "" listed "${listed}")
    string(REPLACE "\n" ";" listed "${listed}")
    foreach(line ${listed})
      string(REPLACE " " ";" marks "${line}")
      list(POP_FRONT marks name)
      if("preloads" IN_LIST marks AND HERALD_SANITIZE)
        continue()
      endif()
      set(case ${prefix}.${stem}.${name})
      add_test(NAME ${case} COMMAND ${HERALD_PYTHON} ${file} ${name})
      set_tests_properties(${case} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "${environment}")
      if("alone" IN_LIST marks)
        set_tests_properties(${case} PROPERTIES RUN_SERIAL ON)
      elseif("computes" IN_LIST marks OR HERALD_SANITIZE)
        set_tests_properties(${case} PROPERTIES PROCESSORS ${herald_slots_of_a_core})
      endif()
      if("kafka" IN_LIST marks)
        set_tests_properties(${case} PROPERTIES FIXTURES_REQUIRED kafka_shared)
        set_property(TEST ${case} APPEND PROPERTY ENVIRONMENT "HERALD_SHARED_BROKER=${herald_shared_broker}")
      endif()
    endforeach()
  endforeach()
endfunction()
