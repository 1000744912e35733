# Run at every build, since a commit does not reconfigure: writes OUTPUT anew only when something changed.
# A source tree without git builds too; its results say "unknown".
execute_process(COMMAND git describe --always --dirty --abbrev=7 --exclude=*
                WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE GIT_SHA RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed OR GIT_SHA STREQUAL "")
  set(GIT_SHA unknown)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
