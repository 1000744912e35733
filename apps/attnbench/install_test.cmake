# Installs BUILD into an empty PREFIX and expands an installed scenario, by its name, with the installed program.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PREFIX}/bin/attnbench expand quickstart
                WORKING_DIRECTORY ${PREFIX} OUTPUT_VARIABLE cases COMMAND_ERROR_IS_FATAL ANY)
if(NOT cases MATCHES "prefix_hits")
  message(FATAL_ERROR "no case of the quickstart in:\n${cases}")
endif()
