// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/count.h"
#include "lib/batch/draft_tree.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/prefix_tree.h"

namespace attnbench {
namespace {

/// The tokens that the batch's pages hold; the fixture's allocator makes the final check.
std::int64_t tokens_needed(const BuiltBatch& batch, std::int64_t page_size) {
  std::int64_t tokens = 0;
  for (int prefix = 0; prefix < std::ssize(batch.prefixes); ++prefix) {
    tokens += own_whole_pages(batch.prefixes, prefix, page_size).size();
  }
  for (const Request& request : batch.requests) {
    const std::int64_t own = request.kv_len - whole_pages(request.shared_len, page_size);
    tokens += whole_pages(own + page_size - 1, page_size);
  }
  return tokens;
}

bool check_pool(const BuiltBatch& batch, const KvCacheConfig& cache, const StrictMap& mix,
                Problems& problems) {
  // How many pages a window's own pool needs is pool_demand()'s to say.
  if (cache.pool_tokens == 0 || cache.swa_pool) return true;
  const std::int64_t needed = tokens_needed(batch, cache.manager_page());
  if (cache.pool_tokens >= needed) return true;
  const YamlNode* pool = mix.find("kv_cache")->find("pool_tokens")->value.get();
  problems.add(pool->place,
               fmt::format("pool_tokens {} is too small: the batch fills {} tokens in pages of {}",
                           cache.pool_tokens, needed, cache.manager_page()),
               "leave pool_tokens out to get a pool that fits");
  return false;
}

/// Of a mix that names a kind of layer, or several, those that see all keys keep the whole pool, as
/// in an engine; elsewhere the key would mean nothing. SGLang gives back what lies before a window,
/// and whole chunks of a chunked layer (SWAChunkCache).
bool check_swa_pool(KvCacheConfig& cache, const AttentionLayer& layer, const StrictMap& mix,
                    Problems& problems) {
  const bool forgets = layer.sliding_window_size >= 0 || layer.attention_chunk > 0;
  if (!cache.swa_pool || forgets) return true;
  cache.swa_pool = false;
  if (mix.has("layer") || mix.has("layers")) return true;
  problems.add(
      place_in(mix, "kv_cache", "swa_pool"), "swa_pool on a layer without a window",
      "layers with a window, or with chunks, have a pool of their own: attention: {window: "
      "{keys: 1024}}, or a model's layer: sliding");
  return false;
}

/// Slot numbers are int32, those of the padding's page and of the unowned pages too.
bool check_slots(const BuiltBatch& batch, const KvCacheConfig& cache, const StrictMap& mix,
                 const Place& batch_place, Problems& problems) {
  const std::int64_t unit = cache.manager_page();
  const std::int64_t needed = tokens_needed(batch, unit) / unit;
  const std::int64_t units = cache.pool_tokens > 0 && !cache.swa_pool ? cache.pool_tokens / unit
                                                                      : roomy_pool_pages(needed);
  // Page 0 is the padding's. Sparse kernels number rows, those between the pages counted.
  const std::int64_t slots =
      (units + 1) * (unit / cache.page_size) * std::max(cache.page_size, cache.page_stride);
  if (slots <= kMaxSize) return true;
  const bool stated = cache.pool_tokens > 0;
  problems.add(stated ? place_in(mix, "kv_cache", "pool_tokens") : batch_place,
               fmt::format("{} a pool of {} slots in pages of {}, the padding's page included",
                           stated ? "pool_tokens make" : "the batch needs", slots, cache.page_size),
               "index arrays are int32: 2147483647 slots are the most");
  return false;
}

/// A row that requests share would be read through the scales of each.
bool check_request_scales(const BuiltBatch& batch, const KvCacheConfig& cache, const StrictMap& mix,
                          Problems& problems) {
  const auto shares = [](const Request& request) { return request.shared_len > 0; };
  if (cache.scales != KvScales::kRequest || std::ranges::none_of(batch.requests, shares)) {
    return true;
  }
  problems.add(
      place_in(mix, "kv_cache", "scales"), "scales: request where requests share rows",
      "a stored row has one scale: leave the shared prefix or the draft's branches out, or "
      "take tensor, head or token");
  return false;
}

bool check_padding(const BatchPadding& padding, const BuiltBatch& batch, const StrictMap& mix,
                   Problems& problems) {
  if (!padding.exists() || batch.mode != ForwardMode::kIdle) return true;
  problems.add(mix.find("padding")->place, "padding of an idle step",
               "a rank without work runs no attention");
  return false;
}

/// What only a pool has: pages that several requests share, and a slot for padding.
bool check_ragged(const BuiltBatch& batch, const KvCacheConfig& cache, const BatchPadding& padding,
                  const StrictMap& mix, const Place& place, Problems& problems) {
  if (!cache.is_ragged()) return true;
  if (!batch.prefixes.empty()) {
    problems.add(place,
                 batch.draft_topk > 0
                     ? "draft_decode over ragged keys, whose branches would share their prefix"
                     : "a shared prefix of ragged keys",
                 batch.draft_topk > 0 ? "only pages can be shared: layout NHD"
                                      : "only pages can be shared: layout NHD, or prefix_len "
                                        "without a name");
    return false;
  }
  if (padding.requests == 0) return true;
  problems.add(mix.find("padding")->place, "padding requests of a step with ragged keys",
               "their keys would be slot 0 of a pool, and there is none; rows of no request need "
               "none: padding: {tokens: 8}");
  return false;
}

bool check_tree_mask(const BuiltBatch& batch, const AttentionLayer& layer, const Place& place,
                     Problems& problems) {
  if (batch.mode != ForwardMode::kTargetVerify || layer.causal || layer.is_cross_attention) {
    return true;
  }
  problems.add(place, "target_verify without causal masking",
               "a draft token sees its ancestors only");
  return false;
}

/// What a window counts between the nodes of a tree means nothing where there is none.
bool check_window_in_trees(const BuiltBatch& batch, const AttentionLayer& layer,
                           const StrictMap& mix, Problems& problems) {
  if (layer.window_in_trees == WindowInTrees::kIndex || batch.mode == ForwardMode::kTargetVerify) {
    return true;
  }
  problems.add(place_in(mix, "attention", "window"),
               "in_trees: depth in a step without draft trees",
               "leave it out: only target_verify has trees, and their windows");
  return false;
}

/// A prefix of a negative length leaves no state.
bool check_recurrent_lengths(const BuiltBatch& batch, const AttentionLayer& layer,
                             const Place& place, Problems& problems) {
  if (!layer.is_recurrent()) return true;
  const auto lacks_keys = [](const Request& request) { return request.prefix_len() < 0; };
  if (std::ranges::none_of(batch.requests, lacks_keys)) return true;
  problems.add(place, "empty_rows on a linear layer",
               "each token changes its state: there is no query without one");
  return false;
}

/// Block diffusion has a mask of its own, which is causal by blocks.
bool check_blocks(const BuiltBatch& batch, const AttentionLayer& layer, const Place& place,
                  Problems& problems) {
  if (batch.mode != ForwardMode::kDllmExtend) return true;
  const auto refuse = [&](const char* message, const char* hint) {
    problems.add(place, message, hint);
    return false;
  };
  if (!layer.causal) {
    return refuse("dllm_extend without causal masking",
                  "a query of a block sees its block and the keys before it: its mask is causal");
  }
  if (layer.attention_chunk > 0) {
    return refuse("dllm_extend on a chunked layer",
                  "a chunk shows keys up to the query's own, a block those behind it, too");
  }
  if (layer.has_alibi) {
    return refuse(
        "dllm_extend with ALiBi",
        "no block diffusion model has slopes, so that no kernel here computes them beside "
        "blocks: leave alibi out");
  }
  return true;
}

/// Two launches for one step, each of requests of its own.
bool check_composed(const BuiltBatch& batch, const BatchPadding& padding, MlaForm form,
                    const StrictMap& mix, const Place& place, Problems& problems) {
  if (form != MlaForm::kComposed) return true;
  if (padding.exists()) {
    problems.add(mix.find("padding")->place, "padding of mla: composed",
                 padding.requests > 0
                     ? "neither engine pads a mixed step: leave padding out"
                     : "each of its two launches has query tensors of its own, behind which no "
                       "rows are left: leave padding out");
    return false;
  }
  const bool decodes = std::ranges::any_of(batch.requests, is_absorbed);
  if (batch.mode == ForwardMode::kMixed && decodes &&
      !std::ranges::all_of(batch.requests, is_absorbed)) {
    return true;
  }
  problems.add(place, "mla: composed of a step that is not prompts beside decodes",
               "give entries of mode extend, with more than one new token, and of mode decode; a "
               "step of one kind is mla: expanded or mla: absorbed");
  return false;
}

/// Which form of a query meets a key follows from the places of both in one text, which nodes of
/// different branches do not have.
bool check_dual_chunk(const BuiltBatch& batch, const AttentionLayer& layer, const Place& place,
                      Problems& problems) {
  const bool items = std::ranges::any_of(
      batch.requests, [](const Request& request) { return !request.items.empty(); });
  const bool branches = !std::ranges::all_of(
      batch.requests, [](const Request& request) { return is_chain(request.tree_parents); });
  const bool blocks = batch.mode == ForwardMode::kDllmExtend;
  if (!layer.dual_chunk.exists() || (!items && !branches && !blocks)) return true;
  problems.add(
      place,
      fmt::format("{} on a layer with dual chunks", items      ? "items"
                                                    : branches ? "a draft tree with branches"
                                                               : "dllm_extend"),
      "dual-chunk attention is causal: it takes no items and no blocks, and of draft trees "
      "chains, as in tree: {chain: 4}");
  return false;
}

/// What makes a step another than a plain causal one: decodes, prompts and chains of drafts. Null:
/// nothing does.
const char* beyond_plain_steps(const BuiltBatch& batch, MlaForm form) {
  const auto any = [&](auto has) { return std::ranges::any_of(batch.requests, has); };
  if (any([](const Request& request) { return !request.items.empty(); })) return "items";
  if (any([](const Request& request) { return !request.spans.empty(); })) return "spans";
  if (any([](const Request& request) { return !is_chain(request.tree_parents); })) {
    return "a draft tree with branches";
  }
  if (batch.mode == ForwardMode::kDllmExtend) return "dllm_extend";
  return form == MlaForm::kComposed ? "mla: composed" : nullptr;
}

/// Compressed rows are of plain causal steps, and each request's own.
bool check_compressed(const BuiltBatch& batch, const KvCacheConfig& cache,
                      const AttentionLayer& layer, MlaForm form, const Place& place,
                      Problems& problems) {
  if (layer.compress_ratio == 0) return true;
  const char* what = beyond_plain_steps(batch, form);
  if (what == nullptr && cache.is_ragged()) what = "ragged keys";
  const auto shares = [](const Request& request) { return request.shared_prefix >= 0; };
  if (what == nullptr && std::ranges::any_of(batch.requests, shares)) what = "a shared prefix";
  if (what == nullptr) return true;
  problems.add(place, fmt::format("{} on a layer with compressed rows", what),
               "rows are complete for plain causal queries, and each request has its own in pages: "
               "decodes, prompts and chains of drafts, tree: {chain: 4}");
  return false;
}

/// Lists are of plain causal steps, and few enough for index arrays.
bool check_selection(const BuiltBatch& batch, const AttentionLayer& layer, MlaForm form,
                     const StrictMap& mix, const Place& place, Problems& problems) {
  if (!layer.selection.exists()) return true;
  const char* const what = beyond_plain_steps(batch, form);
  if (what != nullptr) {
    problems.add(place, fmt::format("{} on a layer with a selection", what),
                 "keys are chosen for plain causal queries: decodes, prompts and chains of drafts, "
                 "tree: {chain: 4}; latent rows in one form");
    return false;
  }
  const Selection& rule = layer.selection;
  Count entries = 0, keys_of_one = 0;
  for (const Request& request : batch.requests) {
    entries += Count(request.q_len) * layer.selection_groups() * rule.topk;
    keys_of_one = std::max(keys_of_one.value(),
                           (Count(rule.topk) * std::min(rule.unit, request.kv_len)).value());
  }
  const bool may_repeat =
      rule.pattern == SelectionPattern::kDuplicates || rule.pattern == SelectionPattern::kCaptured;
  const bool too_many = entries.value() > kMaxSize;
  if (!too_many && (!may_repeat || keys_of_one.value() <= kMaxSize)) return true;
  problems.add(
      place_in(mix, "attention", "selection"),
      too_many ? fmt::format("the lists of the batch have {} entries", entries.value())
               : fmt::format("a list that may name keys again has {} of them", keys_of_one.value()),
      "index arrays of 2147483647 entries are the largest");
  return false;
}

/// An encoder's length is of layers that read its keys.
bool check_encoder_len(const BatchEntries& batch, LayerKind kind, const AttentionLayer& layer,
                       Problems& problems) {
  if (kind == LayerKind::kCross) return true;
  for (const BatchEntry& entry : batch.entries) {
    if (!entry.encoder_len) continue;
    problems.add(entry.encoder_len->place,
                 layer.is_cross_attention ? "encoder_len beside attention: {cross: true}"
                                          : "encoder_len where no layer is a cross layer",
                 layer.is_cross_attention
                     ? "there kv_len counts the encoder's tokens; encoder_len stands beside a "
                       "decoder's lengths: layer: cross, or layers: {full: 32, cross: 32}"
                     : "cross layers are asked for by layer: cross, or beside others by layers: "
                       "{full: 32, cross: 32}");
    return false;
  }
  return true;
}

/// Multi-item scoring has a mask of its own (FlashInfer's logits_mask_multi_item_scoring).
bool check_items(const BuiltBatch& batch, const AttentionLayer& layer, const Place& place,
                 Problems& problems) {
  const auto has_items = [](const Request& request) { return !request.items.empty(); };
  if (std::ranges::none_of(batch.requests, has_items)) return true;
  if (layer.causal && layer.sliding_window_size < 0 && layer.attention_chunk == 0 &&
      !layer.is_recurrent()) {
    return true;
  }
  problems.add(place, "items on a layer that is not plainly causal",
               "multi-item scoring is of causal layers with keys, without windows and chunks");
  return false;
}

/// Spans widen a causal mask, under a window or without one.
bool check_spans(const BuiltBatch& batch, const AttentionLayer& layer, const Place& place,
                 Problems& problems) {
  const auto has_spans = [](const Request& request) { return !request.spans.empty(); };
  if (std::ranges::none_of(batch.requests, has_spans)) return true;
  if (layer.causal && layer.attention_chunk == 0 && !layer.dual_chunk.exists() &&
      !layer.is_recurrent()) {
    return true;
  }
  problems.add(place, "spans on a layer that is not causal, chunked or linear",
               "bidirectional spans are of causal layers with keys, which may have a window");
  return false;
}

/// Which steps reach the linear layers of a model: those of its draft head do not (SGLang's and
/// vLLM's Qwen3NextMTP are one layer of full attention).
bool check_recurrent_mode(const BuiltBatch& batch, const AttentionLayer& layer, const Place& place,
                          Problems& problems) {
  if (!layer.is_recurrent()) return true;
  const auto refuse = [&](std::string_view what, const char* hint) {
    problems.add(place, fmt::format("{} on a linear layer", what), hint);
    return false;
  };
  if (batch.draft_topk > 0 || batch.mode == ForwardMode::kDraftExtend ||
      batch.mode == ForwardMode::kDraftExtendV2) {
    return refuse(batch.draft_topk > 0 ? "draft_decode" : to_string(batch.mode),
                  "the draft head of such models (MTP) is one layer of full attention: "
                  "layer: full, or layers: {full: 1}");
  }
  if (batch.mode != ForwardMode::kDllmExtend) return true;
  return refuse("dllm_extend", "linear layers run decode, extend, mixed and target_verify steps");
}

}  // namespace

Place place_in(const StrictMap& mix, std::string_view map, std::string_view key) {
  const YamlNode* node = mix.find(map);
  if (node == nullptr) return mix.node().place;
  const YamlEntry* entry = node->find(key);
  return entry == nullptr ? node->place : entry->value->place;
}

bool check_step(const StepParts& step, Problems& problems) {
  // Each is run, so that all mistakes of a batch show at once.
  bool sound = true;
  for (const bool passes :
       {check_encoder_len(step.entries, step.choice.kind, step.choice.layer, problems),
        check_padding(step.padding, step.batch, step.mix, problems),
        check_swa_pool(step.cache, step.choice.layer, step.mix, problems),
        check_pool(step.batch, step.cache, step.mix, problems),
        check_request_scales(step.batch, step.cache, step.mix, problems),
        check_slots(step.batch, step.cache, step.mix, step.batch_place, problems),
        check_ragged(step.batch, step.cache, step.padding, step.mix, step.batch_place, problems),
        check_tree_mask(step.batch, step.choice.layer, step.batch_place, problems),
        check_window_in_trees(step.batch, step.choice.layer, step.mix, problems),
        check_items(step.batch, step.choice.layer, step.batch_place, problems),
        check_spans(step.batch, step.choice.layer, step.batch_place, problems),
        check_dual_chunk(step.batch, step.choice.layer, step.batch_place, problems),
        check_compressed(step.batch, step.cache, step.choice.layer, step.choice.mla,
                         step.batch_place, problems),
        check_selection(step.batch, step.choice.layer, step.choice.mla, step.mix, step.batch_place,
                        problems),
        check_composed(step.batch, step.padding, step.choice.mla, step.mix, step.batch_place,
                       problems),
        check_blocks(step.batch, step.choice.layer, step.batch_place, problems),
        check_recurrent_mode(step.batch, step.choice.layer, step.batch_place, problems),
        check_recurrent_lengths(step.batch, step.choice.layer, step.batch_place, problems)}) {
    sound = sound && passes;
  }
  return sound;
}

}  // namespace attnbench
