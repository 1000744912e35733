// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "backends/index_builder/index_builder.h"
#include "lib/base/int_math.h"

namespace attnbench::index_builder {
namespace {

/// Pages: fewer are listed faster than other threads can be started.
constexpr std::int64_t kWorthATeam = 1 << 16;

/// The batch's tensors lie where the host reads them.
class HostPlan final : public Plan {
 public:
  explicit HostPlan(const ForwardBatch& batch) : batch_(&batch) {}

  void run(Stream&) override {
    const IndexOutputs& to = *batch_->index_outputs;
    switch (to.form) {
      case IndexForm::kCsr:
        return build_csr(to.arrays[0].data, to.arrays[1].data);
      case IndexForm::kPageTable:
        return build_page_table(to.arrays[0].data, to.arrays[0].shape[1]);
    }
  }

 private:
  void build_csr(std::int32_t* starts, std::int32_t* pages) const {
    starts[0] = 0;
    for (std::int64_t r = 0; r < batch_->batch_size; ++r) starts[r + 1] = starts[r] + pages_of(r);
#pragma omp parallel for schedule(dynamic) if (starts[batch_->batch_size] > kWorthATeam)
    for (std::int64_t r = 0; r < batch_->batch_size; ++r) list_pages(r, pages + starts[r]);
  }

  void build_page_table(std::int32_t* table, std::int64_t width) const {
#pragma omp parallel for schedule(dynamic) if (batch_->batch_size * width > kWorthATeam)
    for (std::int64_t r = 0; r < batch_->batch_size; ++r) list_pages(r, table + r * width);
  }

  void list_pages(std::int64_t r, std::int32_t* to) const {
    const DeviceBatch& here = device_batch_of(*batch_);
    const std::int32_t* const slots =
        here.req_to_token + here.req_pool_indices[r] * here.req_to_token_stride;
    const std::int64_t page_size = batch_->problem->cache.page_size;
    const std::int32_t pages = pages_of(r);
    for (std::int32_t i = 0; i < pages; ++i) {
      to[i] = static_cast<std::int32_t>(slots[i * page_size] / page_size);
    }
  }

  [[nodiscard]] std::int32_t pages_of(std::int64_t r) const {
    const std::int64_t keys = device_batch_of(*batch_).kv_lens[r];
    return static_cast<std::int32_t>(ceil_div(keys, batch_->problem->cache.page_size));
  }

  const ForwardBatch* batch_;
};

}  // namespace

std::unique_ptr<Plan> HostBuilder::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<HostPlan>(batch);
}

}  // namespace attnbench::index_builder
