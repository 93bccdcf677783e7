# What every target shares: warnings, sanitizers, include root; and the three kinds of targets.

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
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(herald_flags INTERFACE -fuse-ld=lld)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12 in optimised coroutine and Boost code; clang's own warnings stay on.
  target_compile_options(herald_flags INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
endif()

# herald_library(<folder> SOURCES … DEPENDS …): the static library herald_<folder>.
function(herald_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(herald_${name} STATIC ${arg_SOURCES})
  target_link_libraries(herald_${name} PUBLIC herald_flags ${arg_DEPENDS})
endfunction()

# herald_program(<name> <sources…>): an executable over every library.
function(herald_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE herald_api CLI11::CLI11 tomlplusplus::tomlplusplus)
endfunction()

# herald_test(<name> SOURCES … DEPENDS … LABELS …): one GoogleTest binary, each case a ctest case.
function(herald_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}."
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
