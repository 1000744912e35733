# Flags of every target of the project, as one INTERFACE target.
add_library(attnbench_build_flags INTERFACE)
target_include_directories(attnbench_build_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(attnbench_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-qual
  -Woverloaded-virtual
  # Designated initialisers name what they set and leave the rest to its default: that is their point.
  -Wno-missing-field-initializers
  # Fixture contents must be the same bits on every machine: no silent fusing of a*b+c.
  -ffp-contract=off)
if(ATTNBENCH_WERROR)
  target_compile_options(attnbench_build_flags INTERFACE -Werror)
endif()
if(ATTNBENCH_NATIVE)
  target_compile_options(attnbench_build_flags INTERFACE -march=native)
endif()
