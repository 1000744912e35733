// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/cascade.h"
#include "backends/cascade/planned.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/shared_scales.h"
#include "backends/splitkv/splitkv.h"

namespace attnbench::cascade {

CascadeBackend::CascadeBackend() : info_(cascade::info()) {}

// The same kernels, merged in f32.
Numerics CascadeBackend::numerics(const Problem& problem) const {
  return splitkv::SplitKvBackend().numerics(problem);
}

Support CascadeBackend::supports(const Problem& problem) const {
  if (const Support kernels = splitkv::SplitKvBackend().supports(problem); !kernels) return kernels;
  const AttentionLayer& layer = problem.layer;
  if (layer.is_cross_attention || !layer.causal) return Support::no("causal self-attention only");
  if (layer.causal_block > 1) return Support::no("no block diffusion: its suffixes are causal");
  if (layer.sliding_window_size >= 0)
    return Support::no("no sliding window: a prefix is seen whole");
  if (layer.attention_chunk > 0) return Support::no("no chunks: a prefix is seen whole");
  if (layer.dual_chunk.exists()) {
    return Support::no("no dual chunks: a prefix pass has one form of its queries");
  }
  if (layer.temperature_len > 0) {
    return Support::no("no temperature: a prefix pass has no query positions");
  }
  if (layer.has_alibi) return Support::no("no ALiBi: a prefix pass has no query positions");
  return Support::yes();
}

std::vector<KvLayout> CascadeBackend::formats(const Problem& problem) const {
  if (problem.cache.scales == KvScales::kRequest) return {};
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> CascadeBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::cascade
