// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/padded_heads.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/graph_padding.h"

namespace attnbench {
namespace {

Problem of_all_heads(Problem problem) {
  problem.layer.heads_q = kPaddedHeads;
  return problem;
}

/// Of a tensor with kPaddedHeads heads in the place of its own, up to where another may begin.
template <class View>
std::int64_t padded_bytes(const View& like) {
  constexpr std::int64_t kAlignment = 256;  // what memory of a Device has
  return round_up(like.shape[0] * kPaddedHeads * like.shape[2] * size_bytes(like.dtype),
                  kAlignment);
}

class PaddedHeadsPlan final : public Plan {
 public:
  PaddedHeadsPlan(Backend& kernels, const ForwardBatch& batch, CopyRows copy, PlanMemory& memory)
      : problem_(of_all_heads(*batch.problem)), copy_(copy), memory_(memory) {
    const AttentionTensors& own = batch.tensors;
    std::byte* at = memory.reserve(
        to_size(padded_bytes(own.q) + padded_bytes(own.out) + padded_bytes(own.lse)));
    const auto next = [&](const auto& like) {
      const TensorView view =
          TensorView::dense(at, like.dtype, like.shape[0], kPaddedHeads, like.shape[2]);
      at += padded_bytes(like);
      return view;
    };
    q_ = next(own.q);
    out_ = next(own.out);
    lse_ = next(own.lse);
    in_ = token_rows(own.q, q_, own.q.shape[1]);
    results_ = {token_rows(out_, own.out, own.out.shape[1]),
                token_rows(lse_, own.lse, own.lse.shape[1])};
    const std::int64_t tokens = real_tokens(batch);
    if (problem_.recorded) {
      std::byte* const to = tokens_in(memory);
      memory.device().copy_from_host(to, &tokens, sizeof tokens);
      for (RowCopy& result : results_) {
        result.real_rows = static_cast<const std::int64_t*>(static_cast<const void*>(to));
      }
    } else {
      for (RowCopy& result : results_) result.rows = tokens;
    }
    set_step(batch);
    plan_ = kernels.plan(step_, memory.part(0));  // which may have parts of its own
  }

  void run(Stream& stream) override {
    copy_({&in_, 1}, stream);
    plan_->run(stream);
    copy_(results_, stream);
  }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    set_step(batch);
    const std::int64_t tokens = real_tokens(batch);
    memory_.device().enqueue_copy_from_host(stream, tokens_in(memory_), &tokens, sizeof tokens);
    return plan_->update(step_, stream);
  }
  [[nodiscard]] std::string kernel() const override { return plan_->kernel(); }

 private:
  /// How many of a recorded step's tokens are no padding's.
  static std::byte* tokens_in(PlanMemory& memory) {
    return memory.reserve_indices("padded_heads_tokens", sizeof(std::int64_t));
  }
  /// Of each token the first `heads` heads, which lie side by side in both tensors.
  template <class From>
  static RowCopy token_rows(const From& from, const TensorView& to, std::int64_t heads) {
    const std::int64_t element = size_bytes(to.dtype);
    return {from.data,
            to.data,
            from.stride[0] * element,
            to.stride[0] * element,
            heads * to.shape[2] * element,
            to.shape[0]};
  }

  void set_step(const ForwardBatch& batch) {
    step_ = batch;
    step_.problem = &problem_;
    step_.tensors.q = q_.read_only();
    step_.tensors.out = out_;
    step_.tensors.lse = lse_;
  }

  Problem problem_;
  CopyRows copy_;
  PlanMemory& memory_;
  TensorView q_, out_, lse_;
  RowCopy in_;
  std::array<RowCopy, 2> results_;
  ForwardBatch step_;  ///< which the plan reads
  std::unique_ptr<Plan> plan_;
};

class PaddedHeadsBackend final : public Backend {
 public:
  PaddedHeadsBackend(std::unique_ptr<Backend> kernels, CopyRows copy)
      : kernels_(std::move(kernels)), copy_(copy), info_(with_padded_heads(kernels_->info())) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (!problem.layer.shares_row_of_k_and_v()) {
      return Support::no("latent attention alone has its query heads padded");
    }
    if (problem.layer.heads_q >= kPaddedHeads) {
      return Support::no(
          fmt::format("{} query heads need no padding to {}", problem.layer.heads_q, kPaddedHeads));
    }
    if (problem.fp8.q_scales == QScales::kToken) {
      return Support::no("no scales by token: there are none of the heads that are added");
    }
    return kernels_->supports(of_all_heads(problem));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return kernels_->formats(of_all_heads(problem));
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return kernels_->numerics(of_all_heads(problem));
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (batch.batch_size == 0) return kernels_->plan(batch, memory);
    return std::make_unique<PaddedHeadsPlan>(*kernels_, batch, copy_, memory);
  }

 private:
  std::unique_ptr<Backend> kernels_;
  CopyRows copy_;
  BackendInfo info_;
};

}  // namespace

BackendInfo with_padded_heads(BackendInfo kernels) {
  kernels.description = fmt::format(
      "{} with queries padded to {} heads, as kernels for whole models "
      "want them of a rank",
      kernels.name, kPaddedHeads);
  kernels.name += ":padded_heads";
  kernels.by_default = false;
  return kernels;
}

std::unique_ptr<Backend> with_padded_heads(std::unique_ptr<Backend> kernels, CopyRows copy) {
  return std::make_unique<PaddedHeadsBackend>(std::move(kernels), copy);
}

}  // namespace attnbench
