# Licences of the libraries whose code is in what is installed, or lies beside it in a wheel, as Debian keeps them; and the
# one text that is long enough for them to point to. Elsewhere than on Debian they are not installed.
set(documented libcli11-dev libeigen3-dev libfccp-dev libfmt-dev libhwy-dev libyaml-cpp-dev nlohmann-json3-dev)
set(openmp libgomp1)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  file(GLOB openmp RELATIVE /usr/share/doc /usr/share/doc/libomp5*)
endif()
foreach(package ${documented} ${openmp})
  install(FILES /usr/share/doc/${package}/copyright DESTINATION share/doc/attnbench/licences RENAME ${package}.txt OPTIONAL)
endforeach()
install(FILES /usr/share/common-licenses/GPL-3 DESTINATION share/doc/attnbench/licences OPTIONAL)
