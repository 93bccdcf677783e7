# HERALD_ONNX: whether ONNX Runtime's headers are there, so that Herald can run ONNX models. Its library is never linked: it is
# loaded when Herald starts, or found missing then. deploy/onnxruntime brings both to build/onnxruntime.
find_path(HERALD_ONNX_INCLUDE onnxruntime/onnxruntime_c_api.h HINTS ${CMAKE_SOURCE_DIR}/build/onnxruntime/include)
if(HERALD_ONNX_INCLUDE)
  set(HERALD_ONNX ON)
  add_library(onnxruntime_headers INTERFACE)
  target_include_directories(onnxruntime_headers SYSTEM INTERFACE ${HERALD_ONNX_INCLUDE})
else()
  set(HERALD_ONNX OFF)
  message(STATUS "No headers of ONNX Runtime: without the runtime 'onnx' (deploy/onnxruntime brings them)")
endif()
