// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <unordered_set>
#include <utility>

#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

/// More requests than any engine batches; it keeps a mistyped count from filling the memory.
constexpr std::int64_t kMaxRequests = 1 << 20;

constexpr std::array<std::string_view, 9> kModes{"decode",        "extend",       "target_verify",
                                                 "draft_decode",  "draft_extend", "draft_extend_v2",
                                                 "split_prefill", "dllm_extend",  "idle"};
constexpr std::string_view kDraftDecode = kModes[3];
constexpr std::array<ForwardMode, 9> kForwardModes{
    ForwardMode::kDecode,       ForwardMode::kExtend,      ForwardMode::kTargetVerify,
    ForwardMode::kDecode,       ForwardMode::kDraftExtend, ForwardMode::kDraftExtendV2,
    ForwardMode::kSplitPrefill, ForwardMode::kDllmExtend,  ForwardMode::kIdle};

bool read_mode(const StrictMap& map, BatchEntry& entry, Problems& problems) {
  const YamlNode* mode = map.find("mode");
  if (mode == nullptr) {
    if (!map.sound()) return false;
    problems.add(entry.place, "a batch entry has no mode",
                 allowed_words_hint(std::span<const std::string_view>(kModes), ""));
    return false;
  }
  entry.mode_place = mode->place;
  if (mode->is_scalar() && mode->text == "mixed") {
    problems.add(mode->place, "mixed is what decode and extend entries make together",
                 "write one entry for the decode requests and one for the extend requests");
    return false;
  }
  const auto choice = read_choice(*mode, "mode", kModes, problems);
  if (!choice) return false;
  entry.mode = kForwardModes[*choice];
  entry.is_draft_decode = kModes[*choice] == kDraftDecode;
  return true;
}

bool read_chunk(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  const ScenarioMap map(node, "chunk", "chunk", problems);
  entry.chunk = read_whole<ChunkSpec>(map, problems);
  if (entry.chunk) entry.chunk->index_place = map.find("index")->place;
  return entry.chunk.has_value();
}

bool read_draft(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  entry.draft = read_whole<DraftSpec>(ScenarioMap(node, "draft", "draft", problems), problems);
  if (entry.draft) entry.draft->place = node.place;
  return entry.draft.has_value();
}

bool read_block(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  const auto size = read_size(node, "block", 1, kMaxSize, problems);
  if (size) entry.block = BlockSpec{*size, node.place};
  return size.has_value();
}

bool read_empty_rows(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  const auto value = read_bool(node, "empty_rows", problems);
  entry.empty_rows = value.value_or(false);
  entry.empty_rows_place = node.place;
  return value.has_value();
}

bool read_tree_of(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  entry.tree = read_tree(node, problems);
  return entry.tree.has_value();
}

/// A length of at least `lo`.
KeyValue length(std::optional<LengthSpec> BatchEntry::*member, std::int64_t lo) {
  KeyValue value = value_of(member, fmt::format("a length from {}", lo), "",
                            [lo](const YamlNode& node, std::string_view key, Problems& problems) {
                              return read_length(node, key, lo, problems);
                            });
  value.section = "length";
  return value;
}

bool read_prefix(const YamlNode& node, const std::vector<PrefixSpec>& prefixes, BatchEntry& entry,
                 Problems& problems) {
  const auto named = [&](const PrefixSpec& prefix) { return prefix.name == node.text; };
  const auto found = std::ranges::find_if(prefixes, named);
  if (node.is_scalar() && found != prefixes.end()) {
    entry.prefix = *found;
    return true;
  }
  std::vector<std::string> names;
  for (const PrefixSpec& prefix : prefixes) names.push_back(prefix.name);
  problems.add(
      node.place, fmt::format("prefix takes the name of a shared prefix, found {}", describe(node)),
      names.empty()
          ? "declare it at the top level, for example prefixes: {system: 2k}"
          : allowed_words_hint(std::span<const std::string>(names), node.text, "prefixes here: "));
  return false;
}

/// Lengths of items, whose positions FlashInfer's arrays hold in 16 bits.
bool read_items(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  constexpr std::int64_t kLongestItem = (1 << 16) - 1;
  if (!node.is_list() || node.items.empty()) {
    problems.add(node.place,
                 fmt::format("items takes a list of lengths, found {}",
                             node.is_list() ? "an empty one" : describe(node)),
                 "for example items: [3, 2, 4], without their delimiters");
    return false;
  }
  ItemsSpec items{{}, node.place};
  for (const YamlPtr& item : node.items) {
    const auto length = read_size(*item, "item", 1, kLongestItem, problems);
    if (!length) return false;
    items.lengths.push_back(*length);
  }
  entry.items = std::move(items);
  return true;
}

/// Pairs of a first position and the one behind the last.
bool read_spans(const YamlNode& node, BatchEntry& entry, Problems& problems) {
  const auto refuse = [&](const Place& place, const std::string& found) {
    problems.add(place, fmt::format("spans takes pairs of positions, found {}", found),
                 "for example spans: [[100, 356]]: an image's tokens at positions 100 to 355 of "
                 "the prompt");
    return false;
  };
  if (!node.is_list()) return refuse(node.place, describe(node));
  if (node.items.empty()) return refuse(node.place, "an empty list");
  SpansSpec spans{{}, node.place};
  std::int64_t behind = 0;
  for (const YamlPtr& item : node.items) {
    if (!item->is_list() || item->items.size() != 2) return refuse(item->place, describe(*item));
    const auto begin = read_size(*item->items[0], "span", 0, kMaxSize, problems);
    const auto end = read_size(*item->items[1], "span", 0, kMaxSize, problems);
    if (!begin || !end) return false;
    if (*begin < behind || *begin >= *end) {
      problems.add(item->place, fmt::format("a span from {} to before {}", *begin, *end),
                   "a span ends behind its begin, and the next one begins there or later");
      return false;
    }
    behind = *end;
    spans.runs.push_back({*begin, *end});
  }
  entry.spans = std::move(spans);
  return true;
}

/// The number of requests: count, or the length of the lists, which must agree.
bool read_count(const StrictMap& map, BatchEntry& entry, Problems& problems) {
  const YamlNode* count = map.find("count");
  std::optional<std::int64_t> known;
  std::string source = "count";
  if (count != nullptr) {
    known = read_size(*count, "count", 1, kMaxRequests, problems);
    if (!known) return false;
  }
  bool valid = true;
  const auto compare = [&](std::string_view key, const std::optional<LengthSpec>& length) {
    if (!length || !length->list_size()) return;
    if (known && *known != *length->list_size()) {
      problems.add(
          length->place,
          fmt::format("{} lists {} lengths, {} says {}", key, *length->list_size(), source, *known),
          "a list has one length for each request of its entry");
      valid = false;
    }
    if (!known) source = key;
    known = length->list_size();
  };
  compare("q_len", entry.q_len);
  compare("prefix_len", entry.prefix_len);
  compare("kv_len", entry.kv_len);
  compare("prompt_len", entry.prompt_len);
  compare("encoder_len", entry.encoder_len);
  entry.count = known.value_or(1);
  return valid;
}

/// An idle rank has no requests, so nothing but a name can be said of them.
bool check_idle(const StrictMap& map, Problems& problems) {
  for (const YamlEntry& given : map.node().entries) {
    if (given.key == "mode" || given.key == "name") continue;
    problems.add(given.place,
                 fmt::format("an idle entry takes no {}: it has no requests", given.key),
                 "a rank without work in this step: batch: [{mode: idle}]");
    return false;
  }
  return true;
}

std::optional<BatchEntry> read_entry(const YamlNode& node, const std::vector<PrefixSpec>& prefixes,
                                     Problems& problems) {
  const ScenarioMap map(node, "entry", "a batch entry", problems);
  if (!node.is_map()) return std::nullopt;
  BatchEntry entry;
  entry.place = node.place;
  entry.name_place = map.place_of("name");
  bool valid = read_mode(map, entry, problems) && map.sound();
  if (valid && entry.mode == ForwardMode::kIdle && !check_idle(map, problems)) return std::nullopt;
  valid = read_rows(map, entry, problems) && valid;
  valid = read_count(map, entry, problems) && valid;
  if (const YamlNode* prefix = map.find("prefix")) {
    valid = read_prefix(*prefix, prefixes, entry, problems) && valid;
  }
  return valid ? std::optional(entry) : std::nullopt;
}

/// vLLM's grammar: one new token is a decode, more are an extend (harness of vLLM, batch_spec.py).
std::optional<std::vector<BatchEntry>> read_string(const YamlNode& node, Problems& problems) {
  const auto parsed = parse_batch_string(node.text);
  if (const auto* error = std::get_if<BatchStringError>(&parsed)) {
    Place place = node.place;
    const bool quoted = place.length > static_cast<int>(node.text.size());
    place.column += static_cast<int>(error->offset) + (quoted ? 1 : 0);
    place.length = static_cast<int>(std::max<std::size_t>(1, error->length));
    problems.add(place, error->message, error->hint);
    return std::nullopt;
  }
  std::vector<BatchEntry> entries;
  for (const BatchSegment& segment : std::get<std::vector<BatchSegment>>(parsed)) {
    BatchEntry entry;
    entry.place = entry.name_place = entry.mode_place = node.place;
    entry.mode = segment.q_len == 1 ? ForwardMode::kDecode : ForwardMode::kExtend;
    entry.count = segment.count;
    if (segment.q_len > 1) entry.q_len = LengthSpec{node.place, segment.q_len};
    entry.kv_len = LengthSpec{node.place, segment.kv_len};
    if (segment.count > kMaxRequests) {
      problems.add(node.place,
                   fmt::format("count {} is more than {}", segment.count, kMaxRequests));
      return std::nullopt;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Entries without a name get their mode's, with a number from the second on.
void name_entries(std::vector<BatchEntry>& entries, Problems& problems) {
  std::unordered_set<std::string> taken;
  for (const BatchEntry& entry : entries) {
    if (entry.name.empty() || taken.insert(entry.name).second) continue;
    problems.add(entry.name_place,
                 fmt::format("the name '{}' is taken by an entry further up", entry.name));
  }
  std::map<std::string, int> numbers;  // the last that was tried
  for (BatchEntry& entry : entries) {
    if (!entry.name.empty()) continue;
    const std::string base(mode_word(entry));
    int& number = numbers[base];
    do {
      ++number;
      entry.name = number == 1 ? base : fmt::format("{}{}", base, number);
    } while (!taken.insert(entry.name).second);
  }
}

}  // namespace

std::string_view mode_word(const BatchEntry& entry) {
  return entry.is_draft_decode ? kDraftDecode : to_string(entry.mode);
}

KeySection entry_section() {
  return {
      "entry",
      "a batch entry",
      "mixes.NAME.batch[]",
      {{"name", a_name(&BatchEntry::name), "The group's name, for sweeps and messages.",
        "the mode"},
       {"count", by_section("a whole number from 1"), "How many requests the entry stands for.",
        "1, or a list's length"},
       {"mode", by_section(list_of_words(kModes)), "The forward mode, as SGLang names it.", "",
        true},
       {"q_len", length(&BatchEntry::q_len, 1), "New tokens.", "decode: 1"},
       {"prefix_len", length(&BatchEntry::prefix_len, 0), "Keys before the new tokens.",
        "kv_len - q_len"},
       {"kv_len", length(&BatchEntry::kv_len, 0), "All keys, those of the new tokens included.",
        "prefix_len + q_len"},
       {"encoder_len", length(&BatchEntry::encoder_len, 0),
        "Keys of the request's encoder; cross layers of a model only.", "the model's"},
       {"prompt_len", length(&BatchEntry::prompt_len, 1), "With `chunk`: the whole prompt.",
        "none"},
       {"chunk", by_hand(read_chunk, "a map", "none", "chunk"), "One step of a chunked prefill."},
       {"prefix", by_section("a name of `prefixes`", "none"),
        "The shared prefix that the requests begin with; its whole pages are shared."},
       {"items", by_hand(read_items, "a list of sizes", "none"),
        "extend: multi-item scoring; the prompt ends in these items, with delimiters around each."},
       {"spans", by_hand(read_spans, "a list of pairs of positions", "none"),
        "extend: bidirectional spans of the prompt, as of an image's tokens: from the first "
        "position to before the second."},
       {"block", by_hand(read_block, "a whole number from 1", "q_len"),
        "dllm_extend: tokens of a block diffusion model's block."},
       {"tree", by_hand(read_tree_of, "a map", "none", "tree"),
        "target_verify: how the draft tokens hang together."},
       {"draft", by_hand(read_draft, "a map", "none", "draft"), "draft_decode: its branches."},
       {"empty_rows", by_hand(read_empty_rows, "true or false", "false"),
        "decode and extend: `kv_len` may be 0, or below `q_len`."}}};
}

KeySection chunk_section() {
  return {"chunk",
          "chunk",
          "mixes.NAME.batch[].chunk",
          {{"size", whole(&ChunkSpec::size, 1), "Tokens of a step.", "", true},
           {"index", whole(&ChunkSpec::index, 0), "Which step, from 0.", "", true}},
          "for example chunk: {size: 2k, index: 3}: the fourth 2048 tokens of the prompt"};
}

KeySection draft_section() {
  // Branches and tokens of a draft are few; the bounds keep a mistyped number from filling memory.
  return {"draft",
          "draft",
          "mixes.NAME.batch[].draft",
          {{"topk", whole(&DraftSpec::topk, 1, 64), "Branches of each request.", "", true},
           {"step", whole(&DraftSpec::step, 0, 1024),
            "Which decode of the draft, from 0; all entries of a batch say the same.", "", true}},
          "for example draft: {topk: 4, step: 2}: the third decode of four branches"};
}

BatchEntries read_batch(const YamlNode& node, const std::vector<PrefixSpec>& prefixes,
                        Problems& problems) {
  BatchEntries batch;
  if (node.is_scalar()) {
    auto entries = read_string(node, problems);
    batch.all_valid = entries.has_value();
    batch.entries = std::move(entries).value_or(std::vector<BatchEntry>());
  } else if (!node.is_list() || node.items.empty()) {
    problems.add(node.place,
                 fmt::format("batch takes a list of entries or a batch string, found {}",
                             node.is_list() ? "an empty list" : describe(node)),
                 "for example [{count: 8, mode: decode, kv_len: 4k}] or 8q1s4k");
  } else {
    for (const YamlPtr& item : node.items) {
      auto entry = read_entry(*item, prefixes, problems);
      if (entry) batch.entries.push_back(std::move(*entry));
    }
    batch.all_valid = batch.entries.size() == node.items.size();
  }
  name_entries(batch.entries, problems);
  return batch;
}

}  // namespace attnbench
