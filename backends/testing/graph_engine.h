// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/testing/conformance.h"
#include "lib/backend/backend.h"
#include "lib/batch/graph_padding.h"
#include "lib/fixture/device_indices.h"
#include "lib/layout/lay_out.h"

// An engine in small, to test CUDA graphs with: a KV pool, queries and outputs that stay where they
// are, and steps whose contents, lengths and pages are copied there, each from a fixture of its
// own.
namespace attnbench::conformance {

/// Slots of every pool, and tokens of every row of req_to_token.
inline constexpr std::int64_t kGraphPoolTokens = 16384;
inline constexpr std::int64_t kGraphContext = 4096;

/// Requests of one query token each, or of a draft tree of four, with these keys.
[[nodiscard]] inline Case graph_case(const AttentionLayer& layer, ForwardMode mode,
                                     const std::vector<std::int64_t>& kv_lens) {
  Case c = small_tree_verify();
  c.layer = layer;
  c.mode = mode;
  c.kv_cache.pool_tokens = kGraphPoolTokens;
  c.requests.clear();
  for (const std::int64_t kv_len : kv_lens) {
    Request request;
    request.group = "graph";
    request.kv_len = kv_len;
    request.selection_seed = c.requests.size();
    if (mode == ForwardMode::kTargetVerify) {
      request.q_len = 4;
      request.kv_len += 4;
      // Dual chunks and keys that are gathered are defined for chains.
      const bool chain = layer.dual_chunk.exists() || layer.gathers_keys();
      request.tree_parents = chain ? std::vector{-1, 0, 1, 2} : std::vector{-1, 0, 0, 1};
    }
    c.requests.push_back(std::move(request));
  }
  return c;
}

/// Geometries of which every backend takes some: few and many heads that share keys, MLA's too.
[[nodiscard]] inline std::vector<AttentionLayer> graph_layers() {
  AttentionLayer grouped = small_tree_verify().layer, wide = grouped;
  AttentionLayer latent = small_mla().layer, wide_latent = latent;
  grouped.head_dim_qk = grouped.head_dim_v = 128;
  wide.heads_q = 40;
  wide_latent.heads_q = 128;
  AttentionLayer in_dual_chunks = grouped;
  in_dual_chunks.dual_chunk = {50, 10};
  AttentionLayer sparse = grouped, sparse_latent = latent;
  sparse.selection = {.topk = 40,
                      .unit = 8,
                      .groups = SelectionGroups::kKvHeads,
                      .padding = SelectionPadding::kFront};
  sparse_latent.selection = {.topk = 600, .padding = SelectionPadding::kRepeat};
  AttentionLayer all_rows = latent;
  all_rows.compress_ratio = 16;
  all_rows.sliding_window_size = 99;
  all_rows.has_sinks = true;
  AttentionLayer chosen_rows = all_rows;
  chosen_rows.selection = {.topk = 40, .unit = all_rows.compress_ratio, .compressed = true};
  return {grouped, wide,          latent,   wide_latent, in_dual_chunks,
          sparse,  sparse_latent, all_rows, chosen_rows};
}

/// A step, filled up to `batch_size` requests.
class GraphStep {
 public:
  GraphStep(Case c, std::int64_t batch_size, std::int32_t fill_value, Device& device,
            std::uint64_t placement_salt = 0)
      : case_(std::move(c)),
        fixture_(case_, device, placement_salt),
        layout_(lay_out_padded(case_, batch_size, fill_value, placement_salt)),
        indices_(with_pool(layout_), case_.kv_cache.page_size, device) {
    fixture_.fill(Fill::kNormal);
    layout_.batch.device_batch = &indices_.batch();
  }
  GraphStep(const GraphStep&) = delete;
  GraphStep& operator=(const GraphStep&) = delete;

  [[nodiscard]] const ForwardBatch& padded() const { return layout_.batch; }
  [[nodiscard]] Fixture& fixture() { return fixture_; }

 private:
  static const ForwardBatch& with_pool(BatchLayout& layout) {
    layout.batch.req_to_token_pool = &layout.req_to_token_pool;
    return layout.batch;
  }

  /// An engine's req_to_token is as wide as its longest context, whatever the step.
  static BatchLayout lay_out_padded(const Case& c, std::int64_t batch_size, std::int32_t fill_value,
                                    std::uint64_t placement_salt) {
    const BatchLayout own = lay_out(c, placement_salt);
    BatchLayout padded{ReqToTokenPool(batch_size + 3, kGraphContext), {}, own.num_pages};
    for (const std::int32_t row : own.batch.req_pool_indices) {
      std::ranges::copy(own.req_to_token_pool.row(row), padded.req_to_token_pool.row(row).begin());
    }
    padded.batch = pad_for_cuda_graph(own.batch, batch_size, fill_value);
    return padded;
  }

  Case case_;
  Fixture fixture_;
  BatchLayout layout_;
  DeviceIndices indices_;
};

/// A recorded plan, and what it lives on.
struct CapturedGraph {
  explicit CapturedGraph(Device& device) : memory(device) {}

  Problem problem;
  PlanMemory memory;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Recording> recording;
  std::span<const std::byte> captured_memory;  ///< what the recording refers to
};

/// A backend's graphs over tensors that stay where they are.
class GraphEngine {
 public:
  GraphEngine(Backend& backend, Device& device, GraphStep& first, int max_bs)
      : backend_(backend), device_(device), stream_(device.make_stream()) {
    tensors_ = first.fixture().tensors();
    pool_ = first.fixture().kv_pool();
    const std::int64_t k_elements = pool_.num_pages * pool_.page_stride_k;
    const bool mla = pool_.v == pool_.k;
    pool_.k = allocate(k_elements * size_bytes(pool_.dtype));
    pool_.v =
        mla ? pool_.k : allocate(pool_.num_pages * pool_.page_stride_v * size_bytes(pool_.dtype));
    const std::int64_t rows = max_bs * first.padded().q_len(0);
    const auto tensor = [&](DType dtype, std::int64_t heads, std::int64_t dim) {
      return TensorView::dense(allocate(rows * heads * dim * size_bytes(dtype)), dtype, rows, heads,
                               dim);
    };
    q_ = tensor(tensors_.q.dtype, tensors_.q.shape[1], tensors_.q.shape[2]);
    tensors_.q = q_.read_only();
    tensors_.k_new = tensors_.v_new = {};  // in the pool
    tensors_.out = tensor(tensors_.out.dtype, tensors_.out.shape[1], tensors_.out.shape[2]);
    tensors_.lse = tensor(tensors_.lse.dtype, tensors_.lse.shape[1], 1);
  }
  GraphEngine(const GraphEngine&) = delete;
  GraphEngine& operator=(const GraphEngine&) = delete;

  /// Records the plan of a step without running it, for steps of as many requests.
  [[nodiscard]] std::unique_ptr<CapturedGraph> capture(GraphStep& step) {
    auto graph = std::make_unique<CapturedGraph>(device_);
    const ForwardBatch& padded = step.padded();
    graph->problem = *step.fixture().batch().problem;
    graph->problem.limits = {padded.batch_size, padded.q_len(0), padded.q_tokens(), kGraphContext};
    graph->problem.recorded = true;
    graph->plan = backend_.plan(load(step, graph->problem), graph->memory);
    graph->recording = device_.record(*stream_, [&](Stream& stream) { graph->plan->run(stream); });
    graph->captured_memory = graph->memory.memory();
    return graph;
  }

  /// Outputs of all rows, padding's included.
  [[nodiscard]] Outputs replay(CapturedGraph& graph, GraphStep& step, std::uint8_t poison = 0xff) {
    const ForwardBatch batch = load(step, graph.problem);
    fill(tensors_.out, poison);
    fill(tensors_.lse, poison);
    EXPECT_TRUE(graph.plan->update(batch, *stream_));
    graph.recording->replay(*stream_);
    stream_->synchronize();
    EXPECT_TRUE(graph.memory.guards_intact());
    EXPECT_EQ(graph.memory.memory().data(), graph.captured_memory.data());
    EXPECT_EQ(graph.memory.memory().size(), graph.captured_memory.size());
    for (const auto& buffer : buffers_) EXPECT_TRUE(buffer->guards_intact());
    return {read(tensors_.out), read(tensors_.lse)};
  }

 private:
  std::byte* allocate(std::int64_t bytes) {
    buffers_.push_back(device_.allocate(static_cast<std::size_t>(bytes), "an engine's memory"));
    return buffers_.back()->data();
  }
  static std::size_t bytes_of(const TensorView& view) {
    return static_cast<std::size_t>(view.shape[0] * view.stride[0] * size_bytes(view.dtype));
  }
  void fill(const TensorView& view, std::uint8_t value) {
    const std::vector<std::uint8_t> bytes(bytes_of(view), value);
    device_.copy_from_host(view.data, bytes.data(), bytes.size());
  }
  [[nodiscard]] std::vector<std::byte> read(const TensorView& view) {
    std::vector<std::byte> bytes(bytes_of(view));
    device_.copy_to_host(bytes.data(), view.data, bytes.size());
    return bytes;
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count));
    device_.copy_to_host(bytes.data(), from, bytes.size());
    device_.copy_from_host(to, bytes.data(), bytes.size());
  }

  /// Copies a step's tensors to where the graphs read them.
  ForwardBatch load(GraphStep& step, const Problem& problem) {
    const ConstTensorView& q = step.fixture().tensors().q;
    const KvPool& pool = step.fixture().kv_pool();
    EXPECT_EQ(pool.num_pages, pool_.num_pages);
    const std::int64_t element = size_bytes(pool.dtype);
    copy(pool_.k, pool.k, pool.num_pages * pool.page_stride_k * element);
    if (pool.v != pool.k) copy(pool_.v, pool.v, pool.num_pages * pool.page_stride_v * element);
    copy(q_.data, q.data, q.shape[0] * q.stride[0] * size_bytes(q.dtype));
    ForwardBatch batch = step.padded();
    batch.problem = &problem;
    batch.tensors = tensors_;
    for (auto* shape :
         {&batch.tensors.q.shape, &batch.tensors.out.shape, &batch.tensors.lse.shape}) {
      shape->front() = batch.q_tokens();
    }
    batch.token_to_kv_pool = &pool_;
    return batch;
  }

  Backend& backend_;
  Device& device_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  KvPool pool_;
  TensorView q_;
  AttentionTensors tensors_;  ///< room for the largest step
};

}  // namespace attnbench::conformance
