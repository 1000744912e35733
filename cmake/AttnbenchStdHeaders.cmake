# The standard headers that nearly every source includes, compiled once: a third of the time of most sources.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/std_headers.cpp CONTENT "")
add_library(attnbench_std_headers OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/std_headers.cpp)
target_link_libraries(attnbench_std_headers PRIVATE attnbench_build_flags fmt::fmt)
target_precompile_headers(attnbench_std_headers PRIVATE
  <fmt/format.h> <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <span> <sstream> <string>
  <variant> <vector>)
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  # Targets that share a precompiled header need the same flags, and ccache needs the preprocessor to name it.
  target_link_libraries(attnbench_build_flags INTERFACE OpenMP::OpenMP_CXX)
  target_compile_options(attnbench_build_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
