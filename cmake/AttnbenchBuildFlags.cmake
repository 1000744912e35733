# Flags of every target of the project, as one INTERFACE target.
add_library(attnbench_build_flags INTERFACE)
target_include_directories(attnbench_build_flags INTERFACE ${PROJECT_SOURCE_DIR})

set(cxx_flags
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-qual
  -Woverloaded-virtual
  # Designated initialisers name what they set and leave the rest to its default: that is their point.
  -Wno-missing-field-initializers
  # A library that a Python process loads has all of it. Programs are compiled like libraries, not with -fPIE as CMake's
  # own variable for it would, since they share precompiled headers with them.
  -fPIC
  # g++ collects its garbage when it has 128 MB: a tenth of a build's time, for memory that is free again a second later.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>
  # Fixture contents must be the same bits on every machine: no silent fusing of a*b+c.
  -ffp-contract=off)
# CMake 3.25 does not know that nvcc speaks C++20, so the flag is spelt out. Contents share their constexpr
# formulas with the host; source lines serve the profilers.
set(cuda_flags -std=c++20 --expt-relaxed-constexpr -lineinfo -Xcompiler=-Wall,-Wextra,-fPIC
  # "pointless comparison" and "never referenced" of if-constexpr branches: noise in templates.
  -diag-suppress=186,177)
if(ATTNBENCH_WERROR)
  list(APPEND cxx_flags -Werror)
  list(APPEND cuda_flags -Werror=all-warnings)
endif()
# One baseline for everything, so that reference, fixtures and verdicts do not depend on the processor that
# compiled them. lib/base/cpu_baseline.cpp refuses older ones. Kernels choose more at run time.
set(ATTNBENCH_BASELINE "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(ATTNBENCH_BASELINE -march=x86-64-v3)
endif()
list(APPEND cxx_flags ${ATTNBENCH_BASELINE})
target_compile_options(attnbench_build_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${cxx_flags}>" "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_flags}>")
if(ATTNBENCH_HAVE_CUDA)
  target_compile_definitions(attnbench_build_flags INTERFACE ATTNBENCH_HAVE_CUDA=1)
  target_link_libraries(attnbench_build_flags INTERFACE CUDA::cudart_static)
endif()
