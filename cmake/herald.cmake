# What every target shares: warnings, sanitizers, include root; and the kinds of targets.

add_library(herald_flags INTERFACE)
target_include_directories(herald_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(herald_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror
  -fno-omit-frame-pointer)
target_compile_definitions(herald_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_USE_STD_STRING_VIEW
  HERALD_VERSION="${PROJECT_VERSION}")
target_link_libraries(herald_flags INTERFACE Threads::Threads)
if(HERALD_SANITIZE)
  target_compile_options(herald_flags INTERFACE -fsanitize=${HERALD_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(herald_flags INTERFACE -fsanitize=${HERALD_SANITIZE})
endif()
if(HERALD_FUZZ)
  target_compile_options(herald_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(herald_flags INTERFACE -Wthread-safety)  # runtime/mutex.hpp
  target_link_options(herald_flags INTERFACE -fuse-ld=lld)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12 in optimised coroutine and Boost code; clang's own warnings stay on.
  target_compile_options(herald_flags INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete
    -Wno-missing-field-initializers -Wno-dangling-else)
endif()

if(HERALD_SANITIZE STREQUAL "thread")
  add_library(herald_c11_threads OBJECT tests/sanitizers/c11_threads.cpp)
  target_link_libraries(herald_c11_threads PRIVATE herald_flags)
endif()

# Test cases are not optimised: half the time of their build, with sanitizers a third.
set(herald_test_options -O0)

# herald_library(<room> SOURCES … DEPENDS …): the static library herald_<room>. In unity builds, which most presets are, eight
# sources are compiled as one: what a file has for itself has a name that no other file of its room uses.
function(herald_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(herald_${name} STATIC ${arg_SOURCES})
  target_link_libraries(herald_${name} PUBLIC herald_flags ${arg_DEPENDS})
endfunction()

# herald_program(<name> <sources…>): an executable over every library, at the top of the build folder.
function(herald_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE herald_api herald_api_predictions herald_api_serving herald_serving_batching
    herald_serving_builder herald_serving_onnx herald_serving_model_cache herald_backup herald_snapshots herald_artifact_collector
    herald_embedded_log herald_kafka CLI11::CLI11 tomlplusplus::tomlplusplus)
endfunction()

# herald_test(<name> SOURCES … SEPARATE … DEPENDS … LABELS <kind>): one GoogleTest binary. Sources after SEPARATE are compiled
# by themselves, also in unity builds: they give the same names to what each of them has for itself. Of unit tests, which compute, a
# suite is a ctest case; of others, which wait, each test is, so that they wait beside each other. EACH: also of unit tests. The
# ctest label is <kind>/<folder under test>, so "-L unit" and "-L /events" both choose; the targets tests_<kind> and
# tests_<folder> build what they choose.
function(herald_test name)
  cmake_parse_arguments(arg "EACH" "TIMEOUT" "SOURCES;SEPARATE;DEPENDS;LABELS" ${ARGN})
  list(GET arg_LABELS 0 kind)
  # The folder below tests/<kind>: runtime/http/server. Its tests are built by tests_runtime_http_server.
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/tests/${kind} ${CMAKE_CURRENT_SOURCE_DIR})
  set(alone FALSE)
  if(kind MATCHES "^(broker|faults|bench)$")
    set(alone TRUE)  # they measure or break whole processes: nothing else beside them
  endif()
  set(each TRUE)
  set(places 1)
  if(HERALD_SANITIZE)
    set(places ${herald_slots_of_a_core})  # nothing merely waits
  endif()
  set(timeout 120)
  if(kind STREQUAL "unit")
    set(each ${arg_EACH})
    set(places ${herald_slots_of_a_core})
    set(timeout 600)
  endif()
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()
  add_executable(${name} ${arg_SOURCES} ${arg_SEPARATE})
  if(arg_SEPARATE)
    set_source_files_properties(${arg_SEPARATE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} herald_test_main)
  if(kind MATCHES "^(unit|process)$")
    target_compile_options(${name} PRIVATE ${herald_test_options})
  endif()
  if(TARGET herald_c11_threads)
    target_link_libraries(${name} PRIVATE herald_c11_threads)
  endif()
  if(folder STREQUAL "")
    set(label ${kind})
  else()
    set(label ${kind}/${folder})
    string(REPLACE / _ group ${folder})
    herald_group(tests_${group} ${name})
  endif()
  herald_group(tests_${kind} ${name})
  gtest_cases(${name} EACH ${each} PROPERTIES LABELS ${label} TIMEOUT ${timeout} RUN_SERIAL ${alone} PROCESSORS ${places})
endfunction()

# herald_group(<group> <target>): building the group builds the target.
function(herald_group group target)
  if(NOT TARGET ${group})
    add_custom_target(${group})
  endif()
  add_dependencies(${group} ${target})
endfunction()

# herald_fuzz(<name> DEPENDS …): tests/fuzz/<name>_fuzz.cpp. With HERALD_FUZZ it searches for new inputs
# (tests/fuzz/run); always, a ctest case feeds it the kept inputs of tests/fuzz/corpus/<name>.
function(herald_fuzz name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  add_executable(${name}_fuzz ${name}_fuzz.cpp)
  target_link_libraries(${name}_fuzz PRIVATE ${arg_DEPENDS})
  if(HERALD_FUZZ)
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
    set(once -runs=0)
  else()
    target_sources(${name}_fuzz PRIVATE replay.cpp)
    set(once "")
  endif()
  herald_group(tests_fuzz ${name}_fuzz)
  add_test(NAME fuzz.${name}_takes_every_kept_input
    COMMAND ${name}_fuzz ${once} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  set_tests_properties(fuzz.${name}_takes_every_kept_input PROPERTIES LABELS fuzz TIMEOUT 120
    PROCESSORS ${herald_slots_of_a_core})
endfunction()
