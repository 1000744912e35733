# The CUDA kernels that are compiled, each row a translation unit: they are compiled side by side, because one takes
# minutes. A row names the unit, the header that defines the kernels, and the functions that the header's templates are
# instantiated as. Units of f16, and all instances with e5m2, are left out of a build with ATTNBENCH_KERNELS=ci.
function(kernel_unit unit header)
  set(instances "")
  foreach(instance ${ARGN})
    if(ATTNBENCH_KERNELS STREQUAL "all" OR NOT instance MATCHES "__half|__nv_fp8_e5m2")
      string(APPEND instances "template ${instance};\n")
    endif()
  endforeach()
  if(instances STREQUAL "")
    return()
  endif()
  get_filename_component(folder ${unit} DIRECTORY)
  configure_file(kernel_unit.cu.in ${CMAKE_CURRENT_BINARY_DIR}/kernels/${unit}.cu @ONLY)
  set(kernel_units ${kernel_units} ${CMAKE_CURRENT_BINARY_DIR}/kernels/${unit}.cu PARENT_SCOPE)
endfunction()

foreach(name bf16 f16)
  set(T __nv_bfloat16)
  if(name STREQUAL "f16")
    set(T __half)
  endif()
  # By the type of the cache.
  foreach(kv "" _e4m3 _e5m2)
    set(Kv ${T})
    if(kv)
      set(Kv __nv_fp8${kv})
    endif()
    foreach(row splitkv/kernels|splitkv/kernels.cuh paged_fa/mma|paged_fa/mma_kernel.cuh mla/kernel|mla/kernel.cuh)
      string(REPLACE "|" ";" row ${row})
      list(GET row 0 unit)
      list(GET row 1 header)
      kernel_unit(${unit}_${name}${kv} ${header} "CompiledKernel find_kernel<${T}, ${Kv}>(const Kernel&)")
    endforeach()
    kernel_unit(paged_fa/mma_${name}${kv}_spans paged_fa/mma_kernel.cuh
                "CompiledKernel find_span_kernel<${T}, ${Kv}>(const Kernel&)")
  endforeach()
  kernel_unit(paged_fa/mma_${name}_many_rows paged_fa/mma_kernel.cuh
              "CompiledKernel find_many_rows_kernel<${T}>(const Kernel&)")
  kernel_unit(paged_fa/wgmma_${name} paged_fa/wgmma_kernel.cuh
              "HopperKernel find_hopper_kernel<${T}, false>(const Kernel&)")
  kernel_unit(paged_fa/wgmma_${name}_spans paged_fa/wgmma_kernel.cuh
              "HopperKernel find_hopper_kernel<${T}, true>(const Kernel&)")
endforeach()

set(of_mla "CompiledKernel find_warpgroup_kernel<")
kernel_unit(mla/wgmma_bf16 mla/wgmma_kernel.cuh "${of_mla}__nv_bfloat16, __nv_bfloat16>(const Kernel&)")
kernel_unit(mla/wgmma_bf16_fp8 mla/wgmma_kernel.cuh "${of_mla}__nv_bfloat16, __nv_fp8_e4m3>(const Kernel&)"
            "${of_mla}__nv_bfloat16, ScaledBlocks>(const Kernel&)"
            "${of_mla}__nv_bfloat16, __nv_fp8_e5m2>(const Kernel&)")
kernel_unit(mla/wgmma_f16 mla/wgmma_kernel.cuh "${of_mla}__half, __half>(const Kernel&)"
            "${of_mla}__half, __nv_fp8_e4m3>(const Kernel&)" "${of_mla}__half, __nv_fp8_e5m2>(const Kernel&)")
set(of_mla "CompiledKernel find_fp8_kernel<")
kernel_unit(mla/fp8_bf16 mla/fp8_kernel.cuh "${of_mla}__nv_bfloat16, __nv_fp8_e4m3>()"
            "${of_mla}__nv_bfloat16, ScaledBlocks>()" "${of_mla}__nv_bfloat16, __nv_fp8_e5m2>()")
kernel_unit(mla/fp8_f16 mla/fp8_kernel.cuh "${of_mla}__half, __nv_fp8_e4m3>()"
            "${of_mla}__half, __nv_fp8_e5m2>()")

foreach(rule GatedDelta KimiDelta Linear)
  kernel_unit(gated_delta_net/recurrent_${rule} gated_delta_net/recurrent_kernel.cuh
              "void launch_recurrent<Rule::k${rule}>(const RecurrentParams&, void*)")
endforeach()

set(of_indexer "cuda::CompiledKernel<ScoreStep> find_score_kernel<")
kernel_unit(indexer/wgmma_score indexer/wgmma_kernel.cuh "${of_indexer}1>(int)" "${of_indexer}2>(int)")

# Few kernels take less time than their headers. Those with wgmma stay optimised: ptxas warns of them otherwise.
if(ATTNBENCH_KERNELS STREQUAL "ci")
  set(optimised ${kernel_units})
  list(FILTER optimised INCLUDE REGEX "/wgmma_")
  list(FILTER kernel_units EXCLUDE REGEX "/wgmma_")
  attnbench_unite_kernels(kernel_units few_kernels ${kernel_units})
  set_source_files_properties(${kernel_units} PROPERTIES COMPILE_OPTIONS "${ATTNBENCH_QUICK_KERNELS}")
  list(APPEND kernel_units ${optimised})
endif()
target_sources(attnbench_backends PRIVATE ${kernel_units})
