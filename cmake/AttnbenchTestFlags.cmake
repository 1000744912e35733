# Flags of every test program, and the headers that all of them include, compiled once.
add_library(attnbench_test_flags INTERFACE)
# The code under test is compiled as it is delivered; what merely asks and compares need not be.
target_compile_options(attnbench_test_flags INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O0>)
target_compile_definitions(attnbench_test_flags INTERFACE
  ATTNBENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ATTNBENCH_PYTHON="${ATTNBENCH_PYTHON}")
target_link_libraries(attnbench_test_flags INTERFACE attnbench_build_flags GTest::gmock)

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp CONTENT "")
add_library(attnbench_test_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(attnbench_test_headers PRIVATE attnbench_test_flags)
target_precompile_headers(attnbench_test_headers PRIVATE
  <gmock/gmock.h> <gtest/gtest.h> <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <span>
  <sstream> <string> <variant> <vector>)
