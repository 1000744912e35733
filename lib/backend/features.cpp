// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/features.h"

#include <string>

namespace attnbench {
namespace {

struct Row {
  Feature feature;
  bool present;
  std::string_view refusal;
};

}  // namespace

Support unsupported_by_default(const Problem& problem, Features named, std::string_view because) {
  // Every member is listed, so that this does not compile with a new one: it is a feature below, or
  // something that each backend checks by itself, such as types and head dims.
  const auto& [layer, dtype, cache, mode, step, limits, multi_item, spans, swa_pool, empty_rows,
               prefix_alone, drafts_are_chains, recorded, fp8] = problem;
  const auto& [family, heads_q, heads_kv, head_dim_qk, head_dim_v, scale, logit_cap,
               temperature_len, window, window_in_trees, span_rule, chunk, dual_chunk, selection,
               compress_ratio, causal, causal_block, is_cross_attention, has_sinks, has_alibi,
               queries_apart, ranks] = layer;
  const Row rows[] = {
      {Feature::kRecurrent, layer.is_recurrent(),
       "no recurrent layers: it reads keys and values, where these keep a state (see "
       "gated_delta_net)"},
      {Feature::kLatent, family == Family::kLatent,
       "no MLA: K and V are read as separate heads (see mla)"},
      {Feature::kCrossAttention, is_cross_attention, "no cross attention"},
      {Feature::kNotCausal, !causal && !is_cross_attention, "causal layers only"},
      {Feature::kDraftTrees, mode == ForwardMode::kTargetVerify && !drafts_are_chains,
       "no draft trees that branch"},
      {Feature::kItems, multi_item, "no multi-item scoring"},
      {Feature::kSpans, spans, "no spans that see both ways"},
      {Feature::kBlocks, causal_block > 1, "no block diffusion"},
      {Feature::kSelection, selection.exists(), "no chosen keys: it reads all that the mask shows"},
      {Feature::kListsOfHeads, selection.groups == SelectionGroups::kHeads,
       "no lists of each query head: those of a KV head read the same keys"},
      {Feature::kHierarchy, selection.is_hierarchical(),
       "no hierarchical sparse attention: its lists are all that a query sees, in one softmax"},
      {Feature::kCompressed, compress_ratio > 0,
       "no compressed rows: it reads the keys of tokens only"},
      {Feature::kWindow, window >= 0, "no sliding window"},
      {Feature::kChunks, chunk > 0, "no chunked attention"},
      {Feature::kDualChunks, dual_chunk.exists(), "no dual chunks"},
      {Feature::kTemperature, temperature_len > 0, "no temperature"},
      {Feature::kSoftcap, logit_cap > 0, "no softcap"},
      {Feature::kSinks, has_sinks, "no sinks"},
      {Feature::kLatentSinks, has_sinks && family == Family::kLatent, "no sinks beside MLA"},
      {Feature::kAlibi, has_alibi, "no ALiBi"},
      {Feature::kEmptyRows, empty_rows, "no rows without keys"},
      {Feature::kPrefixAlone, prefix_alone, "no pass over only the keys before a step's own"},
      {Feature::kSwaPool, swa_pool, "no cache that is a window's own pool"},
      {Feature::kPageGaps, cache.has_gaps(),
       "no gaps between pages: each begins where the rows of the one before end"},
  };
  for (const Row& row : rows) {
    if (!row.present || named.has(row.feature)) continue;
    std::string reason(row.refusal);
    if (!because.empty() && reason.find(':') == std::string::npos)
      reason.append(": ").append(because);
    return Support::no(reason);
  }
  return Support::yes();
}

}  // namespace attnbench
