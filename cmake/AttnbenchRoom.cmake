# attnbench_room(<name> [COLD] [MEASURES] [DEPENDS <target>...] [TEST_DEPENDS <target>...] [TEST_SHARDS <n>]
#                [TEST_APART <suite>])
#
# Makes the static library attnbench_<name> of the sources in the current folder (and its subfolders
# that have no CMakeLists.txt of their own) and, of the *_test.cpp beside them, the program <name>_test, which
# ctest runs as TEST_SHARDS processes, and its suite TEST_APART as one more. Sources in folders testing/ become the
# library attnbench_<name>_testing: the room's tests have it, other rooms' tests name it in TEST_DEPENDS, the product
# never has it.
#
# With a CUDA compiler its *.cu join the library, and *_gpu_test.cpp become <name>_gpu_test, labelled gpu.
# What only makes sense with CUDA but is plain C++ ends in _cuda.cpp; its counterpart, in _without_cuda.cpp.
#
# COLD: code that reads and writes text is not worth an optimiser's time (-O1 in a Release build).
# MEASURES: kernels that hold a clock are optimised even where the others are few and need not be fast.
function(attnbench_room name)
  cmake_parse_arguments(room "COLD;MEASURES" "TEST_SHARDS;TEST_APART" "DEPENDS;TEST_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB others CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(other ${others})
    get_filename_component(folder ${other} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  set(tests ${sources})
  set(gpu_tests ${sources})
  set(testing ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$|/testing/")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests EXCLUDE REGEX "_gpu_test\\.cpp$")
  list(FILTER gpu_tests INCLUDE REGEX "_gpu_test\\.cpp$")
  list(FILTER testing INCLUDE REGEX "/testing/")
  list(FILTER testing EXCLUDE REGEX "_test\\.cpp$")
  if(ATTNBENCH_HAVE_CUDA)
    file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cu)
    attnbench_unite_kernels(cuda_sources kernels ${cuda_sources})
    if(NOT room_MEASURES)
      set_source_files_properties(${cuda_sources} PROPERTIES COMPILE_OPTIONS "${ATTNBENCH_QUICK_KERNELS}")
    endif()
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
    attnbench_unite_folders(attnbench_${name} ${sources})
    if(room_COLD)
      target_link_libraries(attnbench_${name} PRIVATE attnbench_cold_flags)
      target_precompile_headers(attnbench_${name} REUSE_FROM attnbench_cold_std_headers)
    else()
      target_precompile_headers(attnbench_${name} REUSE_FROM attnbench_std_headers)
    endif()
  else()
    add_library(attnbench_${name} INTERFACE)
    target_link_libraries(attnbench_${name} INTERFACE attnbench_build_flags ${room_DEPENDS})
  endif()
  if(NOT ATTNBENCH_BUILD_TESTS)
    return()
  endif()

  set(test_depends attnbench_${name} ${room_TEST_DEPENDS})
  if(testing)
    add_library(attnbench_${name}_testing STATIC ${testing})
    target_link_libraries(attnbench_${name}_testing PUBLIC attnbench_${name} PRIVATE attnbench_cold_flags)
    target_precompile_headers(attnbench_${name}_testing REUSE_FROM attnbench_cold_std_headers)
    list(PREPEND test_depends attnbench_${name}_testing)
  endif()
  if(tests)
    attnbench_test_program(${name}_test SOURCES ${tests} DEPENDS ${test_depends} SHARDS ${room_TEST_SHARDS}
                           APART ${room_TEST_APART})
  endif()
  if(ATTNBENCH_HAVE_CUDA AND gpu_tests)
    # One at a time: several at once disturb each other's times and each other's count of free memory.
    attnbench_test_program(${name}_gpu_test SOURCES ${gpu_tests} DEPENDS ${test_depends}
                           PROPERTIES LABELS gpu RESOURCE_LOCK gpu)
  endif()
endfunction()

# attnbench_unite_folders(<target> <source>...)
#
# With CMAKE_UNITY_BUILD the sources of one folder are compiled as one, except those with options of their own: most of
# a source's time goes into headers that its neighbours include as well.
function(attnbench_unite_folders target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" folder ${folder})
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder})
    if(source MATCHES "\\.cu$")  # newer versions of CMake would unite kernels too
      set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# attnbench_unite_kernels(<variable> <name> <source>...)
#
# With CMAKE_UNITY_BUILD and few kernels <variable> becomes one source <name>.cu that includes all of them, because nvcc
# spends four seconds on the headers of each. CMake does so itself only since 3.31. A build that is measured with keeps
# them apart: where a kernel's code lies decides what a cold cache has to fetch.
function(attnbench_unite_kernels variable name)
  set(${variable} ${ARGN} PARENT_SCOPE)
  if(CMAKE_UNITY_BUILD AND ATTNBENCH_KERNELS STREQUAL "ci" AND ARGN)
    list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN ARGN "" text)
    set(united ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu)
    file(CONFIGURE OUTPUT ${united} CONTENT "${text}" @ONLY)
    set(${variable} ${united} PARENT_SCOPE)
  endif()
endfunction()

# attnbench_test_program(<name> SOURCES <file>... DEPENDS <target>... [SHARDS <n>] [APART <suite>]
#                        [PROPERTIES <key> <value>...])
#
# A GoogleTest program. ctest runs it whole, or as <n> processes that share its tests: a process for each test
# takes longer to start than most tests to run. What fails, or is skipped, is printed with its name.
# The suite APART runs as a process of its own: what its tests share takes long, and each shard would make it.
# With CMAKE_UNITY_BUILD it is compiled as one: the headers of tests take longer than they do.
function(attnbench_test_program name)
  cmake_parse_arguments(test "" "SHARDS;APART" "SOURCES;DEPENDS;PROPERTIES" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
  set_property(SOURCE ${test_SOURCES} PROPERTY UNITY_GROUP ${name})
  target_link_libraries(${name} PRIVATE ${test_DEPENDS} attnbench_test_flags GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM attnbench_test_headers)
  if(NOT test_SHARDS)
    set(test_SHARDS 1)
  endif()
  set(filter "")
  if(test_APART)
    add_test(NAME ${name}.${test_APART} COMMAND ${name} --gtest_brief=1 --gtest_filter=${test_APART}.*)
    set(filter --gtest_filter=-${test_APART}.*)
  endif()
  foreach(shard RANGE 1 ${test_SHARDS})
    set(entry ${name})
    if(test_SHARDS GREATER 1)
      set(entry ${name}.${shard}_of_${test_SHARDS})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1 ${filter})
    set_tests_properties(${entry} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${test_SHARDS};GTEST_SHARD_INDEX=${index}" ${test_PROPERTIES})
  endforeach()
endfunction()

# attnbench_embed(<target> <symbol> <file>...)
#
# Embeds text files into <target> as `std::span<const EmbeddedFile> attnbench::<symbol>()`, so that the
# one binary finds its presets wherever it is installed. Declared in lib/base/embedded_file.h. Generated
# when CMake runs, which it does again when a file changes: a command of the target would make its
# sources wait until all libraries below it are built.
function(attnbench_embed target symbol)
  set(entries "")
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "\\.[^.]*$" "" stem ${name})  # NAME_WE would cut llama-3.1-8b at its first dot
    file(READ ${file} text)
    # g++ accepts raw literals of any length; the delimiter keeps quotes and parentheses literal.
    string(APPEND entries "    {\"${stem}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  set(source "// Generated from text files of the source tree.
#include \"lib/base/embedded_file.h\"

namespace attnbench {
std::span<const EmbeddedFile> ${symbol}() {
  static constexpr EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}
}  // namespace attnbench
")
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  set(before "")
  if(EXISTS ${generated})
    file(READ ${generated} before)
  endif()
  if(NOT before STREQUAL source)  # the same text keeps its time: nothing is compiled again
    file(WRITE ${generated} "${source}")
  endif()
  # Every compiler takes literals of this length; clang reminds of the least that the standard asks for.
  set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  target_sources(${target} PRIVATE ${generated})
endfunction()
