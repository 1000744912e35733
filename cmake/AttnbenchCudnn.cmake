# cuDNN, optional: its headers alone, because libcudnn.so.9 is loaded at run time. They come with some CUDA Toolkits, with
# NVIDIA's Debian packages, and with the Python package nvidia-cudnn-cu13 or -cu12 (nvidia/cudnn/include in the
# environment of the python3 that is first in PATH). CUDNN_INCLUDE_DIR names any other folder that has them.
#
# Sets ATTNBENCH_HAVE_CUDNN; then CUDNN_INCLUDE_DIR, and CUDNN_LIBRARY, where the library lies that belongs to them, or
# else ATTNBENCH_CUDNN_ABSENCE, the words that `attnbench list backends` shows.
option(ATTNBENCH_CUDNN "Build the cudnn backend when cuDNN's headers are there" ON)
set(ATTNBENCH_HAVE_CUDNN OFF)
set(ATTNBENCH_CUDNN_ABSENCE "built with ATTNBENCH_CUDNN=OFF")
if(ATTNBENCH_HAVE_CUDA AND ATTNBENCH_CUDNN)
  find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  # pip names its interpreter, and by PYTHONPATH hides an environment's packages from what it builds: -E ignores that.
  foreach(python ${Python3_EXECUTABLE} python3)
    foreach(option -B -E)
      if(NOT CUDNN_INCLUDE_DIR)
        execute_process(
          COMMAND ${python} ${option} -c
                  "import importlib.util as u; print(*u.find_spec('nvidia.cudnn').submodule_search_locations)"
          OUTPUT_VARIABLE package ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
        find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${package}/include NO_DEFAULT_PATH)
      endif()
    endforeach()
  endforeach()
  set(ATTNBENCH_CUDNN_ABSENCE "built without cuDNN's headers: \
pip install nvidia-cudnn-cu${CUDAToolkit_VERSION_MAJOR}, then configure and build again")
  if(CUDNN_INCLUDE_DIR)
    if(NOT EXISTS ${CUDNN_INCLUDE_DIR}/cudnn_graph.h)
      message(FATAL_ERROR "CUDNN_INCLUDE_DIR is ${CUDNN_INCLUDE_DIR}, where there is no cudnn_graph.h; "
                          "nvidia/cudnn/include of the Python package nvidia-cudnn-cu${CUDAToolkit_VERSION_MAJOR} has it")
    endif()
    file(READ ${CUDNN_INCLUDE_DIR}/cudnn_version.h text)
    string(REGEX MATCH "define CUDNN_MAJOR +([0-9]+)" unused "${text}")
    set(version ${CMAKE_MATCH_1})
    string(REGEX MATCH "define CUDNN_MINOR +([0-9]+)" unused "${text}")
    string(APPEND version .${CMAKE_MATCH_1})
    if(version VERSION_LESS 9.12 OR NOT version VERSION_LESS 10)
      set(ATTNBENCH_CUDNN_ABSENCE "built with the headers of cuDNN ${version}, where 9.12 or a later 9 is needed")
    else()
      set(ATTNBENCH_HAVE_CUDNN ON)
      # Where pip installs the program, attnbench/bin and attnbench/lib stand beside nvidia/cudnn.
      set(CMAKE_INSTALL_RPATH $ORIGIN/../../nvidia/cudnn/lib)
      find_file(CUDNN_LIBRARY libcudnn.so.9 HINTS ${CUDNN_INCLUDE_DIR}/../lib ${CUDNN_INCLUDE_DIR}/../lib64
                ${CUDAToolkit_LIBRARY_DIR})
      if(NOT CUDNN_LIBRARY)
        set(CUDNN_LIBRARY libcudnn.so.9)
      endif()
    endif()
  endif()
endif()
message(STATUS "cuDNN backend: ${ATTNBENCH_HAVE_CUDNN}")
