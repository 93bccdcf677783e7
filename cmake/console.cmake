# HERALD_CONSOLE: whether the program has the console, the pages at `/`. It is bundled by esbuild from api/console/web and Debian's
# packages of React, which deploy/dependencies unpacks to build/console-libraries.
find_program(HERALD_ESBUILD esbuild)
find_path(HERALD_CONSOLE_LIBRARIES react-dom/package.json HINTS ${CMAKE_SOURCE_DIR}/build/console-libraries/usr/share/nodejs
  PATHS /usr/share/nodejs NO_DEFAULT_PATH)
if(HERALD_ESBUILD AND HERALD_CONSOLE_LIBRARIES)
  option(HERALD_CONSOLE "with the console" ON)
else()
  set(HERALD_CONSOLE OFF)
  message(STATUS "No esbuild or no React: without the console (deploy/dependencies run brings both)")
endif()
