// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/backend/include/attnbench/backend.h"
#include "lib/backend/plugin_indices.h"
#include "lib/batch/forward_batch.h"
#include "lib/device/device.h"

namespace attnbench {

/// A problem as plug-ins see it.
[[nodiscard]] attnbench_problem plugin_problem(const Problem& problem);

/// A batch as plug-ins see it; it has its DeviceBatch. The lengths live as long as this object.
class PluginBatch {
 public:
  /// `indices` outlives this object.
  PluginBatch(const ForwardBatch& batch, const Device& device, PluginIndices& indices);
  PluginBatch(const PluginBatch&) = delete;  // the view points into it
  PluginBatch& operator=(const PluginBatch&) = delete;

  [[nodiscard]] const attnbench_batch& view() const { return view_; }
  [[nodiscard]] const Device& device() const { return *device_; }

 private:
  /// Of a step that selects keys: its logits, and the lists to write.
  void set_scores(const IndexScores& scores, const IndexOutputs& outputs);
  /// Of a step that scores keys: what it reads, and the logits to write.
  void set_indexer(const IndexerInputs& inputs, const IndexOutput& logits);
  /// What a recurrent layer has in place of caches.
  void set_states(const ForwardBatch& batch);
  void set_q_scales(const ForwardBatch& batch);
  void set_indices(const DeviceBatch& indices, const ForwardBatch& batch);
  /// A dense tensor of these dimensions; none where `data` is null.
  void set(int role, const void* data, std::int32_t dtype, std::vector<std::int64_t> shape);
  void set(int role, const ConstTensorView& view);
  void set(int role, const StatePool& pool, std::int64_t slots);
  void set_cache(const KvPool& pool, std::int64_t requests);

  const Device* device_;
  attnbench_problem problem_;
  attnbench_batch view_{};
  std::array<attnbench_tensor, ATTNBENCH_ROLES> tensors_{};
  std::vector<std::int32_t> q_lens_, kv_lens_;
};

}  // namespace attnbench
