# Every header compiles alone: one generated source per header, built with the rest.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/apps/*.h ${PROJECT_SOURCE_DIR}/lib/*.h
     ${PROJECT_SOURCE_DIR}/backends/*.h ${PROJECT_SOURCE_DIR}/reference/*.h)
set(checks "")
foreach(header ${headers})
  string(REPLACE "/" "_" stem ${header})
  set(check ${CMAKE_CURRENT_BINARY_DIR}/header_check/${stem}.cpp)
  file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${header}\"\n")
  list(APPEND checks ${check})
endforeach()
add_library(attnbench_header_check OBJECT ${checks})
target_link_libraries(attnbench_header_check PRIVATE attnbench_build_flags CLI11::CLI11
  yaml-cpp::yaml-cpp Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json fccp OpenMP::OpenMP_CXX
  $<$<BOOL:${ATTNBENCH_BUILD_TESTS}>:GTest::gmock>)
