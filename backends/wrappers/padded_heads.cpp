// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "backends/wrappers/rewritten_step.h"
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

constexpr std::int64_t kSinkBytes = kPaddedHeads * static_cast<std::int64_t>(sizeof(float));

class PaddedHeadsPlan final : public RewrittenStep {
 public:
  PaddedHeadsPlan(Backend& kernels, const ForwardBatch& batch, CopyRows copy, PlanMemory& memory)
      : RewrittenStep(of_all_heads(*batch.problem)), copy_(copy), memory_(memory) {
    const AttentionTensors& own = batch.tensors;
    std::byte* at = memory.reserve(
        to_size(kSinkBytes + padded_bytes(own.q) + padded_bytes(own.out) + padded_bytes(own.lse)));
    if (own.sinks != nullptr) {  // those of the heads that are added may be anything
      sinks_ = reinterpret_cast<float*>(at);
      const std::int64_t bytes = own.q.shape[1] * static_cast<std::int64_t>(sizeof(float));
      in_.push_back({reinterpret_cast<const std::byte*>(own.sinks), at, bytes, bytes, bytes, 1});
    }
    at += kSinkBytes;
    const auto next = [&](const auto& like) {
      const TensorView view =
          TensorView::dense(at, like.dtype, like.shape[0], kPaddedHeads, like.shape[2]);
      at += padded_bytes(like);
      return view;
    };
    q_ = next(own.q);
    out_ = next(own.out);
    lse_ = next(own.lse);
    in_.push_back(token_rows(own.q, q_, own.q.shape[1]));
    results_ = {token_rows(out_, own.out, own.out.shape[1]),
                token_rows(lse_, own.lse, own.lse.shape[1])};
    const std::int64_t tokens = real_tokens(batch);
    if (problem().recorded) {
      std::byte* const to = tokens_in(memory);
      memory.device().copy_from_host(to, &tokens, sizeof tokens);
      for (RowCopy& result : results_) {
        result.real_rows = static_cast<const std::int64_t*>(static_cast<const void*>(to));
      }
    } else {
      for (RowCopy& result : results_) result.rows = tokens;
    }
    plan_with(kernels, batch, memory);
  }

  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    const std::int64_t tokens = real_tokens(batch);
    memory_.device().enqueue_copy_from_host(stream, tokens_in(memory_), &tokens, sizeof tokens);
    return RewrittenStep::update(batch, stream);
  }

 private:
  void enqueue_before(Stream& stream) override { copy_(in_, stream); }
  void enqueue_after(Stream& stream) override { copy_(results_, stream); }
  void replace(AttentionTensors& tensors) const override {
    tensors.q = q_.read_only();
    tensors.sinks = sinks_;
    tensors.out = out_;
    tensors.lse = lse_;
  }

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

  CopyRows copy_;
  PlanMemory& memory_;
  TensorView q_, out_, lse_;
  float* sinks_ = nullptr;
  std::vector<RowCopy> in_;
  std::array<RowCopy, 2> results_;
};

class PaddedHeadsBackend final : public WrappedBackend {
 public:
  PaddedHeadsBackend(std::unique_ptr<Backend> kernels, CopyRows copy)
      : WrappedBackend(std::move(kernels)), copy_(copy) {
    BackendInfo& info = own_info();
    info.description = fmt::format(
        "{} with queries padded to {} heads, as kernels for whole models want them of a rank",
        info.name, kPaddedHeads);
    info.name += ":padded_heads";
    info.by_default = false;
  }

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
    return WrappedBackend::supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (batch.batch_size == 0) return kernels().plan(batch, memory);
    return std::make_unique<PaddedHeadsPlan>(kernels(), batch, copy_, memory);
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    return of_all_heads(problem);
  }

  CopyRows copy_;
};

}  // namespace

std::unique_ptr<Backend> with_padded_heads(std::unique_ptr<Backend> kernels, CopyRows copy) {
  return std::make_unique<PaddedHeadsBackend>(std::move(kernels), copy);
}

}  // namespace attnbench
