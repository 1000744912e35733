// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/int_math.h"
#include "lib/batch/multi_item.h"
#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

// Apart from the draws of the lengths.
constexpr std::uint64_t kTreeDraw = 16, kSelectionDraw = 17;

std::optional<ForwardMode> batch_mode(const std::vector<BatchEntry>& entries, Problems& problems) {
  const ForwardMode first = entries.front().mode;
  const bool drafts = entries.front().is_draft_decode;
  ForwardMode mode = first;
  for (const BatchEntry& entry : entries) {
    const bool plain = !drafts && (first == ForwardMode::kDecode || first == ForwardMode::kExtend);
    const bool entry_plain = !entry.is_draft_decode && (entry.mode == ForwardMode::kDecode ||
                                                        entry.mode == ForwardMode::kExtend);
    if (plain && entry_plain) {
      if (entry.mode != first) mode = ForwardMode::kMixed;
      continue;
    }
    if (entry.mode == first && entry.is_draft_decode == drafts &&
        (first != ForwardMode::kIdle || &entry == &entries.front()))
      continue;
    problems.add(
        entry.mode_place,
        fmt::format("{} beside {} in one batch", mode_word(entry), mode_word(entries.front())),
        "decode and extend entries can share a batch; all other modes are steps of their own");
    return std::nullopt;
  }
  return mode;
}

/// Index of the entry's shared prefix in the batch, behind those that it extends; or -1.
int use_prefix(const BatchEntry& entry, BuiltBatch& batch) {
  if (!entry.prefix) return -1;
  int last = -1;
  const auto use = [&](const PrefixSpec& prefix) {
    const auto known = std::ranges::find(batch.prefixes, prefix.name, &SharedPrefix::name);
    const auto index = static_cast<int>(known - batch.prefixes.begin());
    if (known == batch.prefixes.end()) batch.prefixes.push_back({prefix.name, prefix.length, last});
    last = index;
  };
  for (const PrefixSpec& ancestor : entry.prefix->ancestors) use(ancestor);
  use(*entry.prefix);
  return last;
}

/// The request of a self-attention layer as a cross layer sees it. The step that begins a prompt
/// also brings its encoder's output (SGLang's prepare_encoder_info_extend: encoder_cached). Of a
/// draft tree the nodes stay, each of which sees all keys.
void read_encoder(Request& request, ForwardMode mode, std::int64_t encoder_len) {
  request.encoder_cached =
      mode != ForwardMode::kExtend || request.prefix_len() > 0 || encoder_len == 0;
  request.decoder_len = request.kv_len;
  request.kv_len = encoder_len;
  request.shared_prefix = -1;
  request.shared_len = 0;
}

/// `encoder_lens`: of a cross layer beside a decoder's own ones, else empty.
void append_requests(const BatchEntry& entry, const std::vector<RequestLengths>& lengths,
                     const std::vector<std::int64_t>& encoder_lens, bool of_encoders,
                     std::int64_t page_size, std::uint64_t seed, BuiltBatch& batch) {
  const int prefix = encoder_lens.empty() ? use_prefix(entry, batch) : -1;
  // Where the new tokens alone are stated, the tokens before them are those in whole pages.
  const bool computes_rest = entry.mode == ForwardMode::kExtend && !entry.chunk && !of_encoders &&
                             !entry.prefix_len && !entry.kv_len;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Request request;
    request.group = entry.name;
    request.q_len = lengths[i].q_len;
    request.kv_len = lengths[i].kv_len;
    request.selection_seed = combine(combine(seed, kSelectionDraw), i);
    request.shared_prefix = prefix;
    request.shared_len = entry.prefix ? entry.prefix->length : 0;
    if (computes_rest) {
      request.q_len += request.shared_len - whole_pages(request.shared_len, page_size);
    }
    if (entry.items) request.items = entry.items->lengths;
    if (entry.spans) request.spans = entry.spans->runs;
    if (entry.tree) {
      request.tree_parents = entry.tree->parents(combine(combine(seed, kTreeDraw), i));
      request.tree_topk = entry.tree->topk();
    }
    if (!encoder_lens.empty()) read_encoder(request, entry.mode, encoder_lens[i]);
    batch.requests.push_back(std::move(request));
  }
}

/// Each branch of a draft becomes a request. What the branches of one request see before their own
/// tokens is a prefix that they share: whole pages of it are the same for all, and a partly filled
/// last one each has for itself, so that it can append to it (TRT-LLM MHA's backend in SGLang does
/// so, and kv_indices of single tokens come to the same). It comes after the entry's own prefix,
/// which requests share; its name is none that a file could give to another.
void append_branches(const BatchEntry& entry, const std::vector<RequestLengths>& lengths,
                     std::uint64_t seed, BuiltBatch& batch) {
  const int named = use_prefix(entry, batch);
  const std::int64_t named_length = entry.prefix ? entry.prefix->length : 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Request branch;
    branch.group = entry.name;
    branch.kv_len = lengths[i].kv_len;
    branch.shared_prefix = named;
    branch.shared_len = branch.kv_len - entry.draft->step - 1;
    if (branch.shared_len > named_length) {
      branch.shared_prefix = static_cast<int>(std::ssize(batch.prefixes));
      batch.prefixes.push_back({fmt::format("{}[{}]", entry.name, i), branch.shared_len, named});
    }
    for (std::int64_t each = 0; each < entry.draft->topk; ++each) {
      branch.selection_seed = combine(combine(combine(seed, kSelectionDraw), i), to_size(each));
      batch.requests.push_back(branch);
    }
  }
}

/// Each request of a draft_extend_v2 step has as many tokens.
bool check_width(const BuiltBatch& batch, const BatchEntry& entry, const RequestLengths& lengths,
                 Problems& problems) {
  if (entry.mode != ForwardMode::kDraftExtendV2 || batch.requests.empty()) return true;
  const std::int64_t width = batch.requests.front().q_len;
  if (lengths.q_len == width) return true;
  problems.add(entry.q_len ? entry.q_len->place : entry.place,
               fmt::format("a q_len of {} beside one of {}", lengths.q_len, width),
               "a draft_extend_v2 step has the same number of tokens for each request; ragged ones "
               "are mode: draft_extend");
  return false;
}

/// Items are what a prompt ends in, behind at least one new token of its own.
bool check_items(const std::vector<BatchEntry>& entries, const BuiltBatch& batch,
                 Problems& problems) {
  for (const BatchEntry& entry : entries) {
    if (!entry.items) continue;
    if (batch.mode != ForwardMode::kExtend) {
      problems.add(entry.items->place, "items beside decodes",
                   "prompts with items are a step of their own");
      return false;
    }
    const std::int64_t tail = tokens_of_items(entry.items->lengths);
    const bool one = entry.items->lengths.size() == 1;
    for (const Request& request : batch.requests) {
      if (request.group != entry.name || request.q_len > tail) continue;
      problems.add(
          entry.items->place,
          fmt::format("{} with delimiters {} {} tokens, q_len is {}",
                      one ? "1 item" : fmt::format("{} items", entry.items->lengths.size()),
                      one ? "takes" : "take", tail, request.q_len),
          "q_len counts new tokens of the prompt, at least one, then a delimiter before "
          "each item and one behind the last");
      return false;
    }
  }
  return true;
}

/// Spans are of prompts, and end with them where these are whole.
bool check_spans(const std::vector<BatchEntry>& entries, const BuiltBatch& batch,
                 Problems& problems) {
  for (const BatchEntry& entry : entries) {
    if (!entry.spans) continue;
    if (entry.mode != ForwardMode::kExtend || entry.items) {
      problems.add(
          entry.spans->place,
          entry.items ? "spans beside items" : fmt::format("{} takes no spans", mode_word(entry)),
          "bidirectional spans are of prompts without items: mode: extend");
      return false;
    }
    const std::int64_t end = entry.spans->runs.back().end;
    for (const Request& request : batch.requests) {
      if (request.group != entry.name || entry.chunk || request.kv_len >= end) continue;
      problems.add(
          entry.spans->place,
          fmt::format("a span that ends at {} in a prompt of {} tokens", end, request.kv_len),
          "positions count from the prompt's first token; a prompt that goes on is "
          "chunk: {size: 2k, index: 0}");
      return false;
    }
  }
  return true;
}

/// The blocks of a dllm_extend step, of which a model has one size: those of its entries, or
/// without any, each request's new tokens as one.
bool settle_blocks(const std::vector<BatchEntry>& entries, BuiltBatch& batch, Problems& problems) {
  if (batch.mode != ForwardMode::kDllmExtend) return true;
  const BatchEntry& first = entries.front();
  for (const BatchEntry& entry : entries) {
    if (entry.block.has_value() == first.block.has_value() &&
        (!entry.block || entry.block->size == first.block->size)) {
      continue;
    }
    const auto text = [](const BatchEntry& each) {
      return each.block ? fmt::format("blocks of {} tokens", each.block->size) : "no block size";
    };
    problems.add(entry.block ? entry.block->place : entry.place,
                 fmt::format("{} beside {}", text(entry), text(first)),
                 "a model has one block size: all entries of a step say the same, or none does");
    return false;
  }
  for (const Request& request : batch.requests) {
    batch.causal_block = std::max(batch.causal_block, request.q_len);
  }
  if (first.block) batch.causal_block = std::min(batch.causal_block, first.block->size);
  return true;
}

bool check_totals(const BuiltBatch& batch, const Place& place, Problems& problems) {
  std::int64_t q_tokens = 0, kv_tokens = 0;  // at most 2^20 requests of 2^31 tokens: no overflow
  for (const Request& request : batch.requests) {
    q_tokens += request.q_len;
    kv_tokens += request.kv_len;
  }
  for (const auto& [what, tokens] : {std::pair{"q", q_tokens}, {"kv", kv_tokens}}) {
    if (tokens <= kMaxSize) continue;
    problems.add(place, fmt::format("the batch has {} {} tokens", tokens, what),
                 "index arrays are int32: 2147483647 is the most");
    return false;
  }
  return true;
}

}  // namespace

std::optional<BuiltBatch> build_batch(const std::vector<BatchEntry>& entries, const Place& place,
                                      const LayerKeys& keys, std::int64_t page_size,
                                      std::uint64_t seed, Problems& problems) {
  if (entries.empty()) return std::nullopt;
  const auto mode = batch_mode(entries, problems);
  if (!mode) return std::nullopt;
  BuiltBatch batch;
  batch.mode = *mode;
  batch.draft_topk = entries.front().draft ? static_cast<int>(entries.front().draft->topk) : 0;
  if (batch.mode == ForwardMode::kIdle) return batch;
  bool valid = true;
  for (std::size_t group = 0; group < entries.size(); ++group) {
    const BatchEntry& entry = entries[group];
    const std::uint64_t group_seed = combine(seed, group);
    const bool of_encoders = keys.source == LayerKeys::Source::kEncoder;
    const auto lengths = settle_lengths(entry, of_encoders, group_seed, problems);
    std::optional<std::vector<std::int64_t>> encoder_lens(std::in_place);
    if (keys.source == LayerKeys::Source::kBesideDecoder) {
      encoder_lens = settle_encoder_lens(entry, keys.encoder_len, group_seed, problems);
    }
    valid = valid && lengths && encoder_lens;
    if (entry.tree && entries[0].tree && entry.tree->tokens() != entries[0].tree->tokens()) {
      problems.add(entry.tree->place,
                   fmt::format("a tree of {} tokens beside one of {}", entry.tree->tokens(),
                               entries[0].tree->tokens()),
                   "a target_verify step checks the same number of draft tokens for each request");
      valid = false;
    }
    if (entry.draft && entry.draft->topk != entries[0].draft->topk) {
      problems.add(entry.draft->place,
                   fmt::format("a draft of {} branches beside one of {}", entry.draft->topk,
                               entries[0].draft->topk),
                   "a draft model decodes the same number of branches for each request");
      valid = false;
    } else if (entry.draft && entry.draft->step != entries[0].draft->step) {
      problems.add(entry.draft->place,
                   fmt::format("step {} of a draft beside step {}", entry.draft->step,
                               entries[0].draft->step),
                   "a draft model decodes the same step for each request");
      valid = false;
    }
    if (!lengths || !encoder_lens) continue;
    if (entry.draft) {
      append_branches(entry, *lengths, group_seed, batch);
    } else {
      append_requests(entry, *lengths, *encoder_lens, of_encoders, page_size, group_seed, batch);
    }
    for (const RequestLengths& each : *lengths) {
      valid = valid && check_width(batch, entry, each, problems);
    }
  }
  if (!valid || !settle_blocks(entries, batch, problems) ||
      !check_items(entries, batch, problems) || !check_spans(entries, batch, problems) ||
      !check_totals(batch, place, problems)) {
    return std::nullopt;
  }
  return batch;
}

}  // namespace attnbench
