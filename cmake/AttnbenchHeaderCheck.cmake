# Every header compiles alone: a source that includes nothing else is generated for each and built with the rest. The
# precompiled header would hide standard headers that are missing: scripts/check_std_includes.py finds those.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/apps/*.h ${PROJECT_SOURCE_DIR}/lib/*.h
     ${PROJECT_SOURCE_DIR}/backends/*.h ${PROJECT_SOURCE_DIR}/reference/*.h)
set(checks "")
foreach(header ${headers})
  # "-inl" headers are compiled once for each instruction set, by the source that includes them.
  if(header MATCHES "-inl\\.h$")
    continue()
  endif()
  string(REPLACE "/" "_" stem ${header})
  set(check ${CMAKE_CURRENT_BINARY_DIR}/header_check/${stem}.cpp)
  file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${header}\"\n")
  list(APPEND checks ${check})
endforeach()
add_library(attnbench_header_check OBJECT ${checks})
set_target_properties(attnbench_header_check PROPERTIES UNITY_BUILD OFF)
target_precompile_headers(attnbench_header_check REUSE_FROM attnbench_std_headers)
target_link_libraries(attnbench_header_check PRIVATE attnbench_build_flags CLI11::CLI11
  yaml-cpp::yaml-cpp Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json fccp hwy::hwy OpenMP::OpenMP_CXX
  $<$<BOOL:${ATTNBENCH_BUILD_TESTS}>:GTest::gmock>)
# What test programs have, for the headers in testing/ folders.
target_compile_definitions(attnbench_header_check PRIVATE ATTNBENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
