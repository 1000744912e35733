# attnbench_room(<name> [DEPENDS <target>...])
#
# Makes the static library attnbench_<name> of the sources in the current folder (and its subfolders
# that have no CMakeLists.txt of their own) and, of the *_test.cpp beside them, the program <name>_test.
#
# With a CUDA compiler its *.cu join the library, and *_gpu_test.cpp become <name>_gpu_test, labelled gpu.
# What only makes sense with CUDA but is plain C++ ends in _cuda.cpp; its counterpart, in _without_cuda.cpp.
function(attnbench_room name)
  cmake_parse_arguments(room "" "" "DEPENDS;TEST_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  set(gpu_tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests EXCLUDE REGEX "_gpu_test\\.cpp$")
  list(FILTER gpu_tests INCLUDE REGEX "_gpu_test\\.cpp$")
  if(ATTNBENCH_HAVE_CUDA)
    file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cu)
    list(FILTER sources EXCLUDE REGEX "_without_cuda\\.cpp$")
    list(APPEND sources ${cuda_sources})
  else()
    set(without_cuda ${sources})
    list(FILTER without_cuda INCLUDE REGEX "_without_cuda\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
    list(APPEND sources ${without_cuda})
  endif()

  if(sources)
    add_library(attnbench_${name} STATIC ${sources})
    target_link_libraries(attnbench_${name} PUBLIC attnbench_build_flags ${room_DEPENDS})
  else()
    add_library(attnbench_${name} INTERFACE)
    target_link_libraries(attnbench_${name} INTERFACE attnbench_build_flags ${room_DEPENDS})
  endif()

  if(ATTNBENCH_BUILD_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE attnbench_${name} ${room_TEST_DEPENDS}
                          GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE
      ATTNBENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ATTNBENCH_PYTHON="${ATTNBENCH_PYTHON}")
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST)
  endif()

  if(ATTNBENCH_BUILD_TESTS AND ATTNBENCH_HAVE_CUDA AND gpu_tests)
    add_executable(${name}_gpu_test ${gpu_tests})
    target_link_libraries(${name}_gpu_test PRIVATE attnbench_${name} ${room_TEST_DEPENDS}
                          GTest::gmock GTest::gtest_main)
    # One at a time: several at once disturb each other's times and each other's count of free memory.
    gtest_discover_tests(${name}_gpu_test DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS gpu RESOURCE_LOCK gpu)
  endif()
endfunction()

# attnbench_embed(<target> <symbol> <file>...)
#
# Embeds text files into <target> as `std::span<const EmbeddedFile> attnbench::<symbol>()`, so that the
# one binary finds its presets wherever it is installed. Declared in lib/base/embedded_file.h.
function(attnbench_embed target symbol)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  list(JOIN ARGN "|" files)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated} -DSYMBOL=${symbol} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
