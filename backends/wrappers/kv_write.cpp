// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/kv_write.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/backend/format_choice.h"
#include "lib/backend/wrapped_backend.h"
#include "lib/base/int_math.h"

namespace attnbench {
namespace {

class WriteThenAttend final : public WrappedPlan {
 public:
  WriteThenAttend(std::unique_ptr<Plan> write, std::unique_ptr<Plan> attention)
      : WrappedPlan(std::move(attention)), write_(std::move(write)) {}

  void run(Stream& stream) override {
    write_->run(stream);
    WrappedPlan::run(stream);
  }
  /// None: the attention's graph lacks the write.
  [[nodiscard]] void* graph() override { return nullptr; }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    return write_->update(batch, stream) && WrappedPlan::update(batch, stream);
  }

 private:
  std::unique_ptr<Plan> write_;
};

class KvWritingBackend final : public WrappedBackend {
 public:
  KvWritingBackend(std::unique_ptr<Backend> attention, PlanKvWrite plan_write)
      : WrappedBackend(std::move(attention)), plan_write_(std::move(plan_write)) {
    own_info().writes_kv = true;
  }

  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    std::vector<KvLayout> layouts = WrappedBackend::formats(problem);
    if (attends(problem.step)) return layouts;
    for (const KvLayout layout : kPoolLayouts) {
      if (std::ranges::find(layouts, layout) == layouts.end()) layouts.push_back(layout);
    }
    return layouts;
  }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (attends(problem.step)) return WrappedBackend::supports(problem);
    Problem readable = problem;
    readable.step = StepPart::kAttention;
    readable.fp8 = {};
    readable.cache = {problem.dtype, problem.cache.layout, problem.cache.page_size,
                      KvScales::kTensor};
    return choose_format(kernels(), readable, {}).support;
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const StepPart step = batch.problem->step;
    if (!writes_kv(step)) return kernels().plan(batch, memory);
    std::unique_ptr<Plan> write = plan_write_(batch, memory);
    if (!attends(step)) return write;
    return std::make_unique<WriteThenAttend>(std::move(write), kernels().plan(batch, memory));
  }

 private:
  PlanKvWrite plan_write_;
};

}  // namespace

std::unique_ptr<Backend> with_kv_write(std::unique_ptr<Backend> attention, PlanKvWrite plan_write) {
  return std::make_unique<KvWritingBackend>(std::move(attention), std::move(plan_write));
}

namespace {

/// A row of k_new, or v_new, on its way into a slot.
class RowWrite {
 public:
  RowWrite(const KvPool& pool, bool is_value, const ConstTensorView& rows, std::int64_t token,
           std::int64_t request, std::int64_t slot, int head)
      : pool_(&pool),
        is_value_(is_value),
        dtype_(rows.dtype),
        dim_(static_cast<int>(rows.shape[2])),
        from_(rows.row(token, head)),
        to_(is_value ? pool.v_row(slot, head) : pool.k_row(slot, head)),
        slot_(slot),
        request_(request),
        head_(head) {}

  void write() const {
    switch (pool_->scales) {
      case KvScales::kTensor:
      case KvScales::kHead:
      case KvScales::kRequest:
        return put(0, dim_,
                   is_value_ ? pool_->shared_v_scale(request_, head_)
                             : pool_->shared_k_scale(request_, head_));
      case KvScales::kToken:
        own_scale() = scale_for(0, dim_);
        return put(0, dim_, own_scale());
      case KvScales::kBlock:
      case KvScales::kGroup:
        return write_blocks();
    }
  }

 private:
  void write_blocks() const {
    const BlockRow& row = pool_->blocks;
    for (int i = 0; i < row.scales(); ++i) {
      const int begin = i * row.block, end = begin + row.block;
      const float scale = scale_for(begin, end);
      pool_->store_block_scale(slot_, i, scale);
      put(begin, end, scale);
    }
    put(row.scaled, dim_, 1);
  }

  /// KvScales::kToken: the row's.
  [[nodiscard]] float& own_scale() const {
    return (is_value_ ? pool_->v_scales : pool_->k_scales)[slot_ * pool_->heads_kv + head_];
  }
  [[nodiscard]] float number(int dim) const {
    const float value = load(dtype_, from_ + dim * size_bytes(dtype_));
    return pool_->scales == KvScales::kGroup ? rounded(DType::kBF16, value) : value;
  }
  [[nodiscard]] float scale_for(int begin, int end) const {
    float amax = 0;
    for (int dim = begin; dim < end; ++dim) amax = std::max(amax, std::fabs(number(dim)));
    return written_scale(pool_->dtype, pool_->scales, amax);
  }

  void put(int begin, int end, float scale) const {
    if (dtype_ == pool_->dtype && scale == 1 && pool_->has_plain_rows()) {
      const std::int64_t size = size_bytes(dtype_);
      std::memcpy(to_ + begin * size, from_ + begin * size,
                  static_cast<std::size_t>((end - begin) * size));
      return;
    }
    for (int dim = begin; dim < end; ++dim) {
      store(pool_->element_dtype(dim),
            is_value_ ? pool_->v_element(to_, dim) : pool_->k_element(to_, dim),
            number(dim) / scale);
    }
  }

  const KvPool* pool_;
  bool is_value_;
  DType dtype_;  ///< of k_new and v_new
  int dim_;
  const std::byte* from_;
  std::byte* to_;
  std::int64_t slot_;
  std::int64_t request_;
  int head_;
};

class PlannedWrite final : public Plan {
 public:
  explicit PlannedWrite(const ForwardBatch& batch) : batch_(&batch) {
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      request_of_.insert(request_of_.end(), to_size(batch.q_len(r)), r);
    }
    request_of_.resize(to_size(batch.q_tokens()), batch.batch_size - 1);  // rows of no request
  }

  void run(Stream&) override {
    write(batch_->tensors.k_new, false);
    if (batch_->problem->layer.shares_row_of_k_and_v()) return;  // V is part of the row
    write(batch_->tensors.v_new, true);
  }

 private:
  void write(const ConstTensorView& rows, bool is_value) const {
    const KvPool& pool = *batch_->token_to_kv_pool;
    const std::int64_t tokens = batch_->q_tokens();
#pragma omp parallel for schedule(static)
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t request = request_of_[to_size(token)];
      const std::int64_t slot = batch_->out_cache_loc[static_cast<std::size_t>(token)];
      for (int head = 0; head < pool.heads_kv; ++head) {
        RowWrite(pool, is_value, rows, token, request, slot, head).write();
      }
    }
  }

  const ForwardBatch* batch_;
  std::vector<std::int64_t> request_of_;  ///< by token
};

}  // namespace

std::unique_ptr<Plan> plan_kv_write_on_cpu(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<PlannedWrite>(batch);
}

}  // namespace attnbench
