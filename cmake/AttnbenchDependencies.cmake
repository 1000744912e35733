# Every dependency comes from a Debian package. A missing one stops here with the name to install.

function(attnbench_need found what package)
  if(NOT ${found})
    message(FATAL_ERROR "${what} was not found. Install it with:  apt-get install ${package}")
  endif()
endfunction()

find_package(CLI11 QUIET)
attnbench_need(CLI11_FOUND "CLI11 (command line)" libcli11-dev)

find_package(yaml-cpp QUIET)
attnbench_need(yaml-cpp_FOUND "yaml-cpp (scenarios)" libyaml-cpp-dev)
if(NOT TARGET yaml-cpp::yaml-cpp)  # yaml-cpp 0.7 exports the target without a namespace
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_package(Eigen3 3.4 QUIET NO_MODULE)
attnbench_need(Eigen3_FOUND "Eigen 3.4 (reference)" libeigen3-dev)

find_package(fmt QUIET)
attnbench_need(fmt_FOUND "fmt (text)" libfmt-dev)

find_package(nlohmann_json QUIET)
attnbench_need(nlohmann_json_FOUND "nlohmann-json (reports)" nlohmann-json3-dev)

# One header, no CMake package: Ben Strasser's Fast C++ CSV Parser.
find_path(FCCP_INCLUDE_DIR csv.h PATH_SUFFIXES libfccp)
attnbench_need(FCCP_INCLUDE_DIR "the Fast C++ CSV Parser (csv.h)" libfccp-dev)
add_library(fccp INTERFACE)
target_include_directories(fccp SYSTEM INTERFACE ${FCCP_INCLUDE_DIR})
# Its file name buffer is cut on purpose; g++ warns in the file that inlines it, system header or not.
target_compile_options(fccp INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-truncation>)

find_package(hwy QUIET)
attnbench_need(hwy_FOUND "Highway (kernels of cpu_flash)" libhwy-dev)

find_package(OpenMP QUIET COMPONENTS CXX)
attnbench_need(OpenMP_CXX_FOUND "OpenMP (loops over rows, cpu_flash)" "libgomp1 (g++) or libomp-dev (clang)")

find_package(Threads REQUIRED)

if(ATTNBENCH_BUILD_MICROBENCH)
  find_package(benchmark QUIET)
  attnbench_need(benchmark_FOUND "Google Benchmark (apps/microbench)" libbenchmark-dev)
endif()

if(ATTNBENCH_BUILD_TESTS)
  find_package(GTest QUIET)
  attnbench_need(GTest_FOUND "GoogleTest (tests)" "libgtest-dev libgmock-dev")
  # Two tests recompute and validate from outside: NumPy recomputes dumped cases, jsonschema checks results.
  # A python3 of pyenv or conda often lacks both, so each candidate is asked.
  foreach(candidate /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import numpy, jsonschema, yaml"
                    RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(missing EQUAL 0)
      set(ATTNBENCH_PYTHON ${candidate})
      break()
    endif()
  endforeach()
  attnbench_need(ATTNBENCH_PYTHON "a Python 3 with numpy, jsonschema and yaml (tests)"
                 "python3-numpy python3-jsonschema python3-yaml")
endif()

# The only optional one: the CUDA Toolkit. Without nvcc there is no GPU device and no CUDA backend; without its
# headers no NVTX ranges. Everything else is complete.
set(ATTNBENCH_HAVE_CUDA OFF)
set(ATTNBENCH_CUDA_ABSENCE "built without CUDA: ATTNBENCH_CUDA=OFF")
if(ATTNBENCH_CUDA)
  set(ATTNBENCH_CUDA_ABSENCE "built without nvcc")
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_NVCC_EXECUTABLE AND CUDAToolkit_VERSION VERSION_LESS 12.4)
    set(ATTNBENCH_CUDA_ABSENCE "built with CUDA ${CUDAToolkit_VERSION}, which is older than 12.4")
  endif()
  if(CUDAToolkit_FOUND)
    # CMake 3.25 calls the NVTX headers CUDA::nvToolsExt, so the header-only target is made here.
    find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
    if(NVTX_INCLUDE_DIR AND NOT TARGET CUDA::nvtx3)
      add_library(CUDA::nvtx3 INTERFACE IMPORTED)
      target_include_directories(CUDA::nvtx3 SYSTEM INTERFACE ${NVTX_INCLUDE_DIR})
      target_link_libraries(CUDA::nvtx3 INTERFACE ${CMAKE_DL_LIBS})
    endif()
  endif()
  if(CUDAToolkit_NVCC_EXECUTABLE AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.4)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
    # Ampere and Hopper as machine code, PTX for whatever comes later. 90a: wgmma and setmaxnreg need the "a".
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90a-real;90-virtual" CACHE STRING "GPU architectures")
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
    set(ATTNBENCH_HAVE_CUDA ON)
  endif()
endif()
message(STATUS "CUDA backends: ${ATTNBENCH_HAVE_CUDA}")
