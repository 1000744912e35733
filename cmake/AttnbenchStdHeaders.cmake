# The standard headers that nearly every source includes, compiled once for each set of flags: a third of the time of
# most sources.
add_library(attnbench_cold_flags INTERFACE)
target_compile_options(attnbench_cold_flags INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/std_headers.cpp CONTENT "")
foreach(headers attnbench_std_headers attnbench_cold_std_headers)
  add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/std_headers.cpp)
  target_link_libraries(${headers} PRIVATE attnbench_build_flags fmt::fmt)
  target_precompile_headers(${headers} PRIVATE
    <fmt/format.h> <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <span> <sstream> <string>
    <variant> <vector>)
endforeach()
target_link_libraries(attnbench_cold_std_headers PRIVATE attnbench_cold_flags)
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  # Targets that share a precompiled header need the same flags, and ccache needs the preprocessor to name it.
  target_link_libraries(attnbench_build_flags INTERFACE OpenMP::OpenMP_CXX)
  target_compile_options(attnbench_build_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
