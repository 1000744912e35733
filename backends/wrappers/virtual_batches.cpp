// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "backends/wrappers/upload_step_indices.h"
#include "lib/backend/wrapped_backend.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/positions.h"
#include "lib/index/local_attention.h"
#include "lib/index/page_table.h"

namespace attnbench {
namespace {

/// What the kernels are asked for: a request's queries touch one chunk more than they would fill. A
/// layer without chunks is itself.
Problem of_virtual_requests(const Problem& chunked) {
  const std::int64_t chunk = chunked.layer.attention_chunk;
  if (chunk == 0) return chunked;
  Problem plain = chunked;
  plain.layer.attention_chunk = 0;
  if (!is_decode_or_idle(plain.mode)) plain.mode = ForwardMode::kExtend;
  plain.drafts_are_chains = false;
  plain.limits.requests *= ceil_div(chunked.limits.q_len, chunk) + 1;
  // Queries that see no key come on top of a chunk's.
  if (!chunked.empty_rows) plain.limits.q_len = std::min(chunked.limits.q_len, chunk);
  plain.limits.kv_len = std::min(chunked.limits.kv_len, chunk);
  return plain;
}

/// The step's index arrays as an engine builds them anew for its chunked layers.
class VirtualBatch {
 public:
  VirtualBatch(const ForwardBatch& whole, PlanMemory& memory)
      : problem_(of_virtual_requests(*whole.problem)),
        local_(cut(whole)),
        pool_(requests(), problem_.limits.kv_len) {
    set_slots();
    set_lengths(whole);
    batch_.problem = &problem_;
    batch_.tensors = whole.tensors;
    batch_.token_to_kv_pool = whole.token_to_kv_pool;
    batch_.req_to_token_pool = &pool_;
    if (whole.device_batch == nullptr) return;
    device_batch_ = upload_step_indices(batch_, whole, "virtual", memory);
    batch_.device_batch = &device_batch_;
  }
  VirtualBatch(const VirtualBatch&) = delete;  // batch() points into it
  VirtualBatch& operator=(const VirtualBatch&) = delete;

  [[nodiscard]] const ForwardBatch& batch() const { return batch_; }

 private:
  static LocalAttentionBatch cut(const ForwardBatch& whole) {
    std::vector<std::int32_t> q_lens;
    for (std::int64_t r = 0; r < whole.batch_size; ++r) {
      q_lens.push_back(narrow_i32(whole.q_len(r)));
    }
    return make_local_attention_virtual_batches(
        whole.problem->layer.attention_chunk, q_lens,
        build_page_table(whole, whole.token_to_kv_pool->page_size));
  }

  [[nodiscard]] std::int64_t requests() const { return std::ssize(local_.q_lens); }

  void set_slots() {
    const PageTable& table = local_.table;
    for (std::int64_t v = 0; v < requests(); ++v) {
      const std::span<const std::int32_t> pages = table.row(v);
      const std::span<std::int32_t> slots = pool_.row(v + 1);
      for (std::int64_t key = 0; key < table.cache_seqlens[to_size(v)]; ++key) {
        slots[to_size(key)] = narrow_i32(pages[to_size(key / table.page_size)] * table.page_size +
                                         key % table.page_size);
      }
    }
  }

  void set_lengths(const ForwardBatch& whole) {
    const std::vector<std::int32_t>& kv_lens = local_.table.cache_seqlens;
    batch_.forward_mode = problem_.mode;
    batch_.batch_size = requests();
    batch_.req_pool_indices.resize(kv_lens.size());
    std::iota(batch_.req_pool_indices.begin(), batch_.req_pool_indices.end(), 1);
    batch_.seq_lens = kv_lens;
    batch_.seq_lens_sum = std::accumulate(kv_lens.begin(), kv_lens.end(), std::int64_t{0});
    batch_.out_cache_loc = whole.out_cache_loc;
    batch_.positions = whole.positions;
    if (is_decode_or_idle(problem_.mode)) return;
    batch_.extend_seq_lens = local_.q_lens;
    for (std::size_t v = 0; v < kv_lens.size(); ++v) {
      batch_.extend_prefix_lens.push_back(std::max(0, kv_lens[v] - local_.q_lens[v]));
    }
    batch_.extend_start_loc.assign(local_.cu_seqlens_q.begin(), local_.cu_seqlens_q.end() - 1);
    batch_.extend_num_tokens = local_.cu_seqlens_q.back();
  }

  Problem problem_;
  LocalAttentionBatch local_;
  ReqToTokenPool pool_;
  DeviceBatch device_batch_;
  ForwardBatch batch_;
};

class VirtualBatchesPlan final : public WrappedPlan {
 public:
  VirtualBatchesPlan(Backend& kernels, const ForwardBatch& whole, PlanMemory& memory)
      : virtual_(whole, memory) {
    wrap(kernels.plan(virtual_.batch(), memory));
  }
  ~VirtualBatchesPlan() override { wrap(nullptr); }  // it reads virtual_

  /// False: the next step has other virtual requests.
  [[nodiscard]] bool update(const ForwardBatch&, Stream&) override { return false; }

 private:
  VirtualBatch virtual_;
};

class VirtualBatchesBackend final : public WrappedBackend {
 public:
  explicit VirtualBatchesBackend(std::unique_ptr<Backend> kernels)
      : WrappedBackend(std::move(kernels)) {
    BackendInfo& info = own_info();
    info.description = fmt::format(
        "{} over virtual requests, each within one chunk of a chunked layer", info.name);
    info.name += ":virtual_batches";
    info.cuda_graph = CudaGraphSupport::kNever;  // how many there are changes from step to step
    info.by_default = false;
  }

  [[nodiscard]] Support supports(const Problem& problem) const override {
    const std::int64_t chunk = problem.layer.attention_chunk, page_size = problem.cache.page_size;
    if (chunk == 0) return Support::no("chunked layers only: others have no virtual requests");
    if (chunk % page_size != 0) {
      return Support::no(fmt::format(
          "a chunk of {} tokens is no whole number of pages of {}: the page table of a virtual "
          "request begins with a page",
          chunk, page_size));
    }
    if (problem.mode == ForwardMode::kTargetVerify && !problem.drafts_are_chains) {
      return Support::no("no draft trees that branch: virtual requests are causal");
    }
    if (problem.fp8.q_scales == QScales::kRequest || problem.cache.scales == KvScales::kRequest) {
      return Support::no("no scales per request: a virtual request has none of its own");
    }
    if (problem.layer.temperature_len > 0) {
      return Support::no("no temperature: places count from the virtual request's first key");
    }
    return WrappedBackend::supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<VirtualBatchesPlan>(kernels(), batch, memory);
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    return of_virtual_requests(problem);
  }
};

}  // namespace

std::unique_ptr<Backend> with_virtual_batches(std::unique_ptr<Backend> kernels) {
  return std::make_unique<VirtualBatchesBackend>(std::move(kernels));
}

}  // namespace attnbench
