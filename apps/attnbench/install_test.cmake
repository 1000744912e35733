# Installs BUILD into an empty folder and moves that to PREFIX. With the installed program it expands an installed scenario, by its name, and
# lists the packs, and writes a plug-in, which a project that finds nothing but PREFIX compiles, and runs it; and one in Python.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}_at_first)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}_at_first
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}_at_first ${PREFIX})
if(NOT EXISTS ${PREFIX}/share/doc/attnbench/LICENSE)
  message(FATAL_ERROR "no licence in ${PREFIX}/share/doc/attnbench")
endif()
execute_process(COMMAND ${PREFIX}/bin/attnbench expand quickstart
                WORKING_DIRECTORY ${PREFIX} OUTPUT_VARIABLE cases COMMAND_ERROR_IS_FATAL ANY)
if(NOT cases MATCHES "prefix_hits")
  message(FATAL_ERROR "no case of the quickstart in:\n${cases}")
endif()

# Each name that the list begins a line with is one that other commands take.
execute_process(COMMAND ${PREFIX}/bin/attnbench list scenarios
                WORKING_DIRECTORY ${PREFIX} OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+" names "${listed}")
if(NOT names MATCHES "quickstart")
  message(FATAL_ERROR "no quickstart in:\n${listed}")
endif()
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  if(name MATCHES "/")
    message(FATAL_ERROR "a path where a name is meant: ${name}")
  endif()
  execute_process(COMMAND ${PREFIX}/bin/attnbench list cases ${name}
                  WORKING_DIRECTORY ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

execute_process(COMMAND ${PREFIX}/bin/attnbench list backends --plugin packs --python ${PYTHON}
                WORKING_DIRECTORY ${PREFIX} OUTPUT_VARIABLE backends COMMAND_ERROR_IS_FATAL ANY)
file(GLOB packed RELATIVE ${PREFIX}/share/attnbench/packs ${PREFIX}/share/attnbench/packs/*)
if(NOT backends MATCHES "torch:sdpa_flash_cpu" OR NOT packed MATCHES "torch_tools.py" OR packed MATCHES "_test")
  message(FATAL_ERROR "not the installed packs in:\n${backends}\n${packed}")
endif()

set(project ${PREFIX}/project)
file(MAKE_DIRECTORY ${project})
execute_process(COMMAND ${PREFIX}/bin/attnbench new-plugin mine --c
                WORKING_DIRECTORY ${project} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
if(NOT lines MATCHES " -I ${PREFIX}/include .* run quickstart --plugin ./mine.so --backend mine,cpu_flash")
  message(FATAL_ERROR "not the installed header and scenario in:\n${lines}")
endif()
file(WRITE ${project}/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES C)
find_package(attnbench 0.1 REQUIRED)
add_library(mine MODULE mine.c)
set_target_properties(mine PROPERTIES PREFIX "")
target_link_libraries(mine PRIVATE attnbench::backend m)
]])
file(WRITE ${project}/tiny.yaml [[
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 9}, {mode: extend, q_len: 5, prefix_len: 20}]}
verify: {rows: 8}
]])
foreach(command "-S . -B build -DCMAKE_PREFIX_PATH=${PREFIX}" "--build build")
  separate_arguments(words UNIX_COMMAND "${command}")
  execute_process(COMMAND ${CMAKE_COMMAND} ${words}
                  WORKING_DIRECTORY ${project} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${PREFIX}/bin/attnbench run tiny.yaml --quick --plugin build/mine.so --backend mine
                WORKING_DIRECTORY ${project} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
if(NOT table MATCHES "mine [^\n]*passed")
  message(FATAL_ERROR "mine did not pass:\n${table}")
endif()

execute_process(COMMAND ${PREFIX}/bin/attnbench new-plugin pymine --python
                WORKING_DIRECTORY ${project} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PREFIX}/bin/attnbench run tiny.yaml --quick --plugin pymine.py --python ${PYTHON} --backend pymine
                WORKING_DIRECTORY ${project} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
if(NOT table MATCHES "pymine [^\n]*passed")
  message(FATAL_ERROR "pymine did not pass:\n${table}")
endif()
