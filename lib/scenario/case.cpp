// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/batch/chosen_keys.h"
#include "lib/batch/key_set.h"

namespace attnbench {
namespace {

/// The requests that are, or are not, computed in the absorbed form.
std::vector<Request> requests_of(const Case& whole, bool absorbed) {
  std::vector<Request> requests;
  for (std::size_t r = 0; r < whole.requests.size(); ++r) {
    if (is_absorbed(whole.requests[r]) != absorbed) continue;
    requests.push_back(whole.requests[r]);
    // Contents stay those of the request's place in the whole step.
    if (requests.back().stream < 0) requests.back().stream = static_cast<std::int64_t>(r);
  }
  return requests;
}

}  // namespace

std::vector<Case> composed_parts(const Case& whole, const AttentionLayer& expanded) {
  Case prompts = whole;
  prompts.id += ":expanded";
  prompts.mode = ForwardMode::kExtend;
  prompts.layer = expanded;
  prompts.kv_cache = {};
  prompts.kv_cache.layout = KvLayout::kRagged;
  prompts.kv_cache.dtype = whole.dtype;
  prompts.kv_cache.placement = Placement::kContiguous;
  // Engines round the queries of a latent cache in fp8 alone.
  prompts.fp8.q.reset();
  prompts.fp8.q_scales = QScales::kTensor;
  prompts.q_scale = 1;
  prompts.prefixes.clear();
  prompts.requests = requests_of(whole, false);
  for (Request& request : prompts.requests) {
    request.shared_prefix = -1;
    request.shared_len = 0;
  }
  Case decodes = whole;
  decodes.id += ":absorbed";
  decodes.mode = ForwardMode::kDecode;
  decodes.requests = requests_of(whole, true);
  return {std::move(prompts), std::move(decodes)};
}

void refuse_composed(const Case& c, const char* command) {
  if (c.parts.empty()) return;
  throw ConfigError(
      fmt::format("case {} is composed of prompts and decodes, and {} takes one step: give mixes "
                  "of its prompts "
                  "with mla: expanded and of its decodes with mla: absorbed",
                  c.id, command));
}

std::int64_t Case::q_tokens() const {
  std::int64_t sum = 0;
  for (const Request& request : requests) sum += request.q_len;
  return sum;
}

std::int64_t Case::padding_q_tokens() const {
  const bool has_queries = mode == ForwardMode::kDecode || mode == ForwardMode::kTargetVerify;
  const std::int64_t each = has_queries && !requests.empty() ? requests.front().q_len : 0;
  return padding.requests * each + padding.tokens;
}

std::int64_t Case::kv_tokens() const {
  std::int64_t sum = 0;
  for (const Request& request : requests) sum += request.kv_len;
  return sum;
}

namespace {

/// Which slots a KV write fills, and with what, does not depend on who attends to them.
Case encoder_write(Case c) {
  c.mode = ForwardMode::kExtend;
  c.layer.is_cross_attention = false;
  c.layer.causal = true;
  c.padding = {};
  c.graph_bucket = 0;
  std::int64_t place = 0;
  for (Request& request : c.requests) {
    if (request.stream < 0) request.stream = place;  // its contents stay the same
    request.q_len = request.kv_len;
    ++place;
  }
  std::erase_if(c.requests, [](const Request& request) { return request.encoder_cached; });
  return c;
}

}  // namespace

std::span<const Case> steps_of(const Case& c) {
  return c.parts.empty() ? std::span(&c, 1) : std::span<const Case>(c.parts);
}

bool writes_encoders(const Case& c) {
  return c.layer.is_cross_attention && !std::ranges::all_of(c.requests, &Request::encoder_cached);
}

int layers_of_part(const Case& c) {
  const ModelLayers& layers = c.model_layers;
  if (builds(c.step) && c.step != StepPart::kIndex) return layers.layers - layers.index_shared;
  return layers.layers - (writes_kv(c.step) ? layers.kv_shared : 0);
}

Case with_step(const Case& c, StepPart step) {
  Case result = c;
  result.step = step;
  for (Case& part : result.parts) part.step = step;
  if (!has_cache(step)) result.graph_bucket = 0;  // what it builds is as long as one step's
  Selection& selection = result.layer.selection;
  if (step == StepPart::kSelect && c.step != step && selection.has_tail()) --selection.topk;
  const bool pads_front = selection.padding == SelectionPadding::kFront;
  if (step == StepPart::kSelect && !pads_front) selection.padding = SelectionPadding::kEnd;
  if (is_pipeline(step)) {  // only its selector says what its lists are
    selection.pattern = SelectionPattern::kUniform;
    if (!pads_front) selection.padding = SelectionPadding::kEnd;
    selection.has_duplicates = false;
    for (Request& request : result.requests) request.captured = nullptr;
  }
  // The compressor writes its rows, in a kernel of its own.
  if (step == StepPart::kKvWrite) result.layer.compress_ratio = 0;
  const bool of_encoders = step == StepPart::kKvWrite && writes_encoders(c);
  return of_encoders ? encoder_write(std::move(result)) : result;
}

namespace {

std::string why_no_indices(const Case& c) {
  if (c.layer.is_recurrent()) return "a recurrent layer has no KV cache to index";
  if (!c.parts.empty()) return "prompts and decodes of a composed step lie in different caches";
  if (c.kv_cache.is_ragged()) return "ragged keys lie one behind the other, in no pool to index";
  return c.mode == ForwardMode::kIdle ? "an idle step has no keys to index" : "";
}

std::string why_no_selection(const Case& c) {
  if (!c.layer.selection.exists()) return "the layer has no selection";
  if (c.layer.selection.window_heads > 0) {
    return "selectors give lists to all KV heads: no window_heads";
  }
  return c.mode == ForwardMode::kIdle ? "an idle step has no keys to select" : "";
}

std::string why_no_whole_pools(const Case& c) {
  const Selection& selection = c.layer.selection;
  if (c.kv_cache.page_size % selection.pool() == 0) return "";
  return fmt::format("a page of {} keys does not hold whole pools of {}: page_size: {}",
                     c.kv_cache.page_size, selection.unit,
                     round_up(c.kv_cache.page_size, selection.unit));
}

/// An indexer scores keys, or pools of them that lie on one page, for all heads.
std::string why_no_scores(const Case& c) {
  const Selection& selection = c.layer.selection;
  if (std::string why = why_no_selection(c); !why.empty()) return why;
  if (std::string why = why_no_whole_pools(c); !why.empty()) return why;
  if (selection.groups != SelectionGroups::kOne && !selection.scores_in_bf16()) {
    return "an indexer with summed logits for each KV head is not known: groups: one";
  }
  if (selection.scores_labels() && c.mode != ForwardMode::kDecode) {
    return "labels of keys are scored in decodes only: prompts attend to all keys, in a mix of "
           "their "
           "own with selection: none";
  }
  const auto sees_pools = [&selection](const Request& request) {
    const std::int64_t units = selection.names_complete_units()
                                   ? selection.candidates(request.kv_len - 1)
                                   : selection.complete_pools(request.kv_len);
    return request.q_len > 0 && units > 0;
  };
  return std::ranges::any_of(c.requests, sees_pools) ? "" : "no query sees a complete pool of keys";
}

bool has_new_keys(const Case& c) {
  return std::ranges::any_of(c.requests, [](const Request& r) { return r.new_keys() > 0; });
}

/// The write of the step's own keys into the indexer's cache, a row of each or of each pool.
std::string why_no_index_write(const Case& c) {
  const Selection& selection = c.layer.selection;
  if (std::string why = why_no_selection(c); !why.empty()) return why;
  if (selection.scores_representations()) {
    return "a representation is made of all keys of a unit, not of one new key";
  }
  if (selection.scores_labels()) {
    return "labels are channels of the layer's own keys, whose write beside these is not known";
  }
  if (selection.compressed && selection.pool() > 1 && selection.pool() != 4) {
    return fmt::format("how {} tokens become an index key is not known: compress_ratio: 4",
                       selection.pool());
  }
  if (std::string why = why_no_whole_pools(c); !why.empty()) return why;
  return has_new_keys(c) ? "" : "no request has a new key";
}

/// The compressed rows of the layer: of DeepSeek-V4's ratios.
std::string why_not_compressed(const Case& c) {
  const std::int64_t ratio = c.layer.compress_ratio;
  if (ratio == 0) return "the layer has no compressed rows";
  if (ratio != 4 && ratio != 128) {
    return fmt::format("how {} tokens become a row is not known: compress_ratio: 4 or 128", ratio);
  }
  if (c.kv_cache.page_size % ratio != 0) {
    return fmt::format("a page of {} tokens does not hold whole rows of {}: page_size: {}",
                       c.kv_cache.page_size, ratio, round_up(c.kv_cache.page_size, ratio));
  }
  return has_new_keys(c) ? "" : "no request has a new token";
}

/// Attention reads the selector's lists as they are: a query's own unit has a score or is a tail.
std::string why_no_pipeline(const Case& c) {
  if (std::string why = why_no_scores(c); !why.empty()) return why;
  const Selection& rule = c.layer.selection;
  if (rule.takes_maxima() && rule.has_tail()) {
    return "score: max takes the query's own unit itself: tail: counted";
  }
  if (rule.pool() > 1 && !rule.names_complete_units() && !rule.has_tail()) {
    return "nothing scores a query's own unit before it is complete: tail: open, tail: own, or "
           "score: max";
  }
  const auto sees_others = [&rule](const Request& request) {
    return request.q_len > 0 && request.kv_len > rule.unit;
  };
  if (rule.tail != SelectionTail::kOwn || std::ranges::any_of(c.requests, sees_others)) return "";
  return "no query sees a unit beside its own";
}

}  // namespace

std::string why_not_built(const Case& c, StepPart part) {
  switch (part) {
    case StepPart::kIndex:
      return why_no_indices(c);
    case StepPart::kSelect:
      return why_no_selection(c);
    case StepPart::kIndexer:
      return why_no_scores(c);
    case StepPart::kIndexWrite:
      return why_no_index_write(c);
    case StepPart::kCompress:
      return why_not_compressed(c);
    case StepPart::kLayer: {
      const std::string why = why_no_index_write(c);
      if (why.empty()) return why_no_pipeline(c);
      return why + "; step kv_pipeline is the layer without that write";
    }
    case StepPart::kPipeline:
    case StepPart::kKvPipeline:
      return why_no_pipeline(c);
    case StepPart::kAttention:
    case StepPart::kKvWrite:
    case StepPart::kBoth:
      break;
  }
  return "";
}

std::int64_t scored_units(const Case& c, const Request& request, std::int64_t token) {
  const Selection& selection = c.layer.selection;
  const std::int64_t keys = std::max<std::int64_t>(request.prefix_len() + token + 1, 0);
  if (selection.names_complete_units()) return selection.candidates(keys - 1);
  const bool of_rows = c.step == StepPart::kIndexer && !selection.takes_maxima();
  if (of_rows || selection.tail == SelectionTail::kOpen) return selection.complete_pools(keys);
  const std::int64_t units = ceil_div(keys, selection.unit);
  return selection.has_tail() ? std::max<std::int64_t>(units - 1, 0) : units;
}

ChosenKeys lists_of(const AttentionLayer& layer, const Request& request, std::int64_t first,
                    std::int64_t count) {
  const std::int64_t position = request.prefix_len() + first;
  if (!request.captured) return choose_keys(layer, position, count, request.selection_seed);
  ChosenKeys lists = request.captured->of_tokens(first, count);
  if (lists.scores.empty()) {
    draw_scores(layer.selection, position, request.selection_seed, lists);
  }
  return lists;
}

KeySet key_set_of(const AttentionLayer& layer, const Request& request) {
  std::optional<ChosenKeys> chosen;
  if (layer.selection.exists()) {
    chosen = lists_of(layer, request, 0, request.q_len);
  }
  return {layer,
          {.q_len = request.q_len,
           .kv_len = request.kv_len,
           .tree_parents = request.tree_parents,
           .items = request.items,
           .spans = request.spans},
          std::move(chosen)};
}

void set_sample_nonce(Case& c, std::uint64_t nonce) {
  c.sample_nonce = nonce;
  for (Case& part : c.parts) part.sample_nonce = nonce;
}

std::string_view to_string(Placement placement) {
  switch (placement) {
    case Placement::kContiguous:
      return "contiguous";
    case Placement::kShuffled:
      return "shuffled";
    case Placement::kInterleaved:
      return "interleaved";
    case Placement::kFragmented:
      return "fragmented";
    case Placement::kReversed:
      return "reversed";
  }
  return "?";
}

}  // namespace attnbench
