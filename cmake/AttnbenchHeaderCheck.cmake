# Every header compiles alone. One that has a source of its name is the first that this source includes
# (scripts/check_layering.py sees to that), which proves it; for the others a source is generated and built with
# the rest. No precompiled header here or in the rooms' own sources: it would hide what is missing.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/apps/*.h ${PROJECT_SOURCE_DIR}/lib/*.h
     ${PROJECT_SOURCE_DIR}/backends/*.h ${PROJECT_SOURCE_DIR}/reference/*.h)
set(checks "")
foreach(header ${headers})
  string(REGEX REPLACE "\\.h$" ".cpp" own_source ${header})
  # "-inl" headers are compiled once for each instruction set, by the source that includes them.
  if(EXISTS ${PROJECT_SOURCE_DIR}/${own_source} OR header MATCHES "-inl\\.h$")
    continue()
  endif()
  string(REPLACE "/" "_" stem ${header})
  set(check ${CMAKE_CURRENT_BINARY_DIR}/header_check/${stem}.cpp)
  file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${header}\"\n")
  list(APPEND checks ${check})
endforeach()
add_library(attnbench_header_check OBJECT ${checks})
target_compile_options(attnbench_header_check PRIVATE -O0)
target_link_libraries(attnbench_header_check PRIVATE attnbench_build_flags CLI11::CLI11
  yaml-cpp::yaml-cpp Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json fccp hwy::hwy OpenMP::OpenMP_CXX
  $<$<BOOL:${ATTNBENCH_BUILD_TESTS}>:GTest::gmock>)
