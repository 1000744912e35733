// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cascade/cascade.h"
#include "backends/cpu_flash/cpu_flash.h"
#include "backends/cpu_flash/plan.h"
#include "backends/cudnn/cudnn.h"
#include "backends/gated_delta_net/gated_delta_net.h"
#include "backends/index_builder/index_builder.h"
#include "backends/index_writer/index_writer.h"
#include "backends/indexer/indexer.h"
#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/splitkv/splitkv.h"
#include "backends/topk/topk.h"
#include "backends/torch_native/torch_native.h"
#include "backends/wrappers/kv_write.h"
#include "backends/wrappers/merge_states.h"
#include "backends/wrappers/row_copies.h"
#include "backends/wrappers/upcast_fp8_queries.h"
#include "backends/wrappers/wrappers.h"
#include "lib/base/error.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

#ifdef ATTNBENCH_HAVE_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

/// The steps beside attention that wrappers enqueue, on one kind of device.
struct Steps {
  CopyRows copy_rows = nullptr;
  MergeStates merge_states = nullptr;
  EnqueueUpcast upcast_fp8_queries = nullptr;  ///< null on a CPU, whose kernels read fp8
  PlanKvWrite plan_kv_write;
};

Steps cpu_steps() { return {copy_rows_on_cpu, merge_states_on_cpu, nullptr, plan_kv_write_on_cpu}; }

Steps gpu_steps() {
  if constexpr (kHasCuda) {
    return {copy_rows_on_gpu, merge_states_on_gpu, upcast_fp8_queries_on_gpu, plan_kv_write_on_gpu};
  } else {
    return {};
  }
}

using Kernels = std::unique_ptr<Backend>;
using Wrapper = Kernels (*)(Kernels kernels, const Steps& steps);

// The wrappers of the table.
Kernels slot_items(Kernels kernels, const Steps& steps) {
  return with_item_passes(std::move(kernels), ItemKeys::kBySlot, steps.merge_states);
}
Kernels page_items(Kernels kernels, const Steps& steps) {
  return with_item_passes(std::move(kernels), ItemKeys::kInPages, steps.merge_states);
}
Kernels two_stage(Kernels kernels, const Steps& steps) {
  return with_two_stages(std::move(kernels), steps.merge_states);
}
Kernels ragged_paged(Kernels kernels, const Steps& steps) {
  return with_ragged_keys(std::move(kernels), steps.merge_states);
}
Kernels virtual_batches(Kernels kernels, const Steps&) {
  return with_virtual_batches(std::move(kernels));
}
Kernels padded_heads(Kernels kernels, const Steps& steps) {
  return with_padded_heads(std::move(kernels), steps.copy_rows);
}
Kernels upcast_fp8_queries(Kernels kernels, const Steps& steps) {
  return with_upcast_fp8_queries(std::move(kernels), steps.upcast_fp8_queries);
}
Kernels concat_mla_q(Kernels kernels, const Steps& steps) {
  return with_concat_mla_q(std::move(kernels), steps.copy_rows);
}
Kernels kv_write(Kernels kernels, const Steps& steps) {
  return with_kv_write(std::move(kernels), steps.plan_kv_write);
}

/// A backend of the table: kernels, and what is put around them, innermost first.
struct Row {
  BackendInfo info;        ///< of the kernels
  Registry::Factory make;  ///< the kernels; empty in a build that lacks them
  std::vector<Wrapper> wrappers;
  /// Why the kernels cannot run although there is a device; empty: they can. Null: they can.
  std::string (*absence)() = nullptr;
};

template <class Made, class... Arguments>
Row cpu(std::vector<Wrapper> wrappers, Arguments... arguments) {
  return {Made(arguments...).info(), [=] { return std::make_unique<Made>(arguments...); },
          std::move(wrappers)};
}

/// `info` says the same with and without nvcc.
template <class Made, class... Arguments>
Row gpu(BackendInfo info, std::vector<Wrapper> wrappers, Arguments... arguments) {
  Row row{std::move(info), {}, std::move(wrappers)};
  if constexpr (kHasCuda) row.make = [=] { return std::make_unique<Made>(arguments...); };
  return row;
}

/// cuDNN can be missing where a GPU is not: its headers in the build, its library on the machine.
Row cudnn_row(std::vector<Wrapper> wrappers) {
#ifdef ATTNBENCH_HAVE_CUDNN
  Row row = gpu<cudnn::CudnnBackend>(cudnn::info(), std::move(wrappers));
  row.absence = cudnn::absence;
  return row;
#else
  return {
      cudnn::info(), {}, std::move(wrappers), [] { return std::string(ATTNBENCH_CUDNN_ABSENCE); }};
#endif
}

/// The backends of this program in the order of `attnbench list backends`.
std::vector<Row> table() {
  using cpu_flash::CpuFlashBackend;
  using mla::MlaBackend;
  using paged_fa::PagedFaBackend;
  std::vector<Row> rows;
  const auto add = [&](Row row) { rows.push_back(std::move(row)); };
  add(cpu<torch_native::TorchNativeBackend>({concat_mla_q, kv_write}));
  add(cpu<CpuFlashBackend>({concat_mla_q, kv_write}));
  for (const std::int64_t keys : cpu_flash::kTriedSplitKeys) {
    add(cpu<CpuFlashBackend>({concat_mla_q, kv_write}, keys));
  }
  add(cpu<CpuFlashBackend>({padded_heads, concat_mla_q, kv_write}));
  add(cpu<CpuFlashBackend>({two_stage, kv_write}));
  add(cpu<CpuFlashBackend>({ragged_paged, kv_write}));
  add(cpu<CpuFlashBackend>({virtual_batches, kv_write}));
  for (const Family family : gated_delta_net::kFamilies) {
    add(cpu<gated_delta_net::RecurrentBackend>({}, family));
  }
  add(cpu<index_builder::HostBuilder>({}));
  add(cpu<topk::HostSelector>({}));
  add(cpu<indexer::HostIndexer>({}));
  add(cpu<index_writer::HostWriter>({}));
  add(cpu<index_writer::HostCompressor>({}));

  // Around all that read a cache on a GPU.
  const auto engine = [](std::vector<Wrapper> wrappers) {
    wrappers.insert(wrappers.end(), {upcast_fp8_queries, concat_mla_q, kv_write});
    return wrappers;
  };
  for (const splitkv::SplitRule rule : splitkv::kSplitRules) {
    add(gpu<splitkv::SplitKvBackend>(splitkv::info(rule), engine({slot_items}), rule));
  }
  add(gpu<PagedFaBackend>(paged_fa::info(), engine({page_items})));
  add(gpu<PagedFaBackend>(paged_fa::info(), engine({page_items, two_stage})));
  add(gpu<PagedFaBackend>(paged_fa::info(), engine({page_items, ragged_paged})));
  add(gpu<PagedFaBackend>(paged_fa::info(), engine({page_items, virtual_batches})));
  add(gpu<MlaBackend>(mla::info(), engine({page_items})));
  add(gpu<MlaBackend>(mla::info(), engine({page_items, padded_heads})));
  add(gpu<cascade::CascadeBackend>(cascade::info(), {upcast_fp8_queries}));
  for (const Family family : gated_delta_net::kFamilies) {
    add(gpu<gated_delta_net::GpuBackend>(gated_delta_net::gpu_info(family), {}, family));
  }
  add(gpu<index_builder::GpuBuilder>(index_builder::info_on(DeviceKind::kCuda), {}));
  add(gpu<topk::GpuSelector>(topk::info_on(DeviceKind::kCuda), {}));
  add(gpu<indexer::GpuIndexer>(indexer::info_on(DeviceKind::kCuda), {}));
  for (const StepPart part : {StepPart::kIndexWrite, StepPart::kCompress}) {
    add(gpu<index_writer::GpuWriter>(index_writer::info_on(DeviceKind::kCuda, part), {}, part));
  }
  add(cudnn_row(engine({})));
  return rows;
}

Kernels wrapped(Kernels kernels, const std::vector<Wrapper>& wrappers, const Steps& steps) {
  for (const Wrapper wrap : wrappers) kernels = wrap(std::move(kernels), steps);
  return kernels;
}

/// Kernels that this build or this machine lacks. They say only what they are.
class AbsentKernels final : public Backend {
 public:
  explicit AbsentKernels(BackendInfo info) : info_(std::move(info)) {}
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override {
    return Support::no("it is absent");
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    throw InternalError(info_.name + " is absent");
  }

 private:
  BackendInfo info_;
};

}  // namespace

void register_builtin_backends(Registry& registry) {
  const std::string no_gpu = cuda_absence();
  for (const Row& row : table()) {
    const bool on_cpu = row.info.device == DeviceKind::kCpu;
    std::string absence = on_cpu ? std::string() : no_gpu;
    if (absence.empty() && row.absence != nullptr) absence = row.absence();
    const Steps steps = on_cpu ? cpu_steps() : gpu_steps();
    if (absence.empty()) {
      registry.add([make = row.make, wrappers = row.wrappers, steps] {
        return wrapped(make(), wrappers, steps);
      });
    } else {
      const Kernels absent =
          wrapped(std::make_unique<AbsentKernels>(row.info), row.wrappers, steps);
      registry.add_absent(absent->info(), absence);
    }
  }
}

}  // namespace attnbench
