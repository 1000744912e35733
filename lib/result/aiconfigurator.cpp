// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/aiconfigurator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/result/csv_columns.h"

namespace attnbench {
namespace {

constexpr const char* kHeader =
    "framework,version,device,op_name,kernel_source,batch_size,isl,num_heads,num_key_value_heads,"
    "head_dim,window_size,beam_width,attn_dtype,kv_cache_dtype,step,latency\n";

bool is_context(const Record& r) { return r.mode == "extend"; }
bool has_window(const Record& r) { return r.layer.sliding_window_size >= 0; }

/// Pairs of a query and a key in each request, where all are alike and the mask is causal.
std::int64_t pairs_of_causal_request(const Record& r) {
  const std::int64_t reach = has_window(r) ? r.layer.sliding_window_size + 1 : r.kv_len_max;
  if (!is_context(r)) return std::min(r.kv_len_max, reach);
  const std::int64_t growing = std::min(r.q_len_max, reach);  // these see all keys before them
  return growing * (growing + 1) / 2 + (r.q_len_max - growing) * reach;
}

/// The schema's words: of queries, of the cache. Their fp8 is e4m3.
constexpr const char* kBf16 = "bfloat16";
constexpr const char* kFp8 = "fp8";
const char* cache_word(const Record& r) {
  if (r.kv_cache.dtype == DType::kBF16) return kBf16;
  const bool plain = r.kv_cache.dtype == DType::kE4M3 && r.kv_cache.scales == KvScales::kTensor;
  return plain ? kFp8 : nullptr;
}
const char* query_word(const Record& r) {
  if (!r.fp8.q) return r.dtype == "bf16" ? kBf16 : nullptr;
  return *r.fp8.q == DType::kE4M3 ? kFp8 : nullptr;
}

/// Why the schema has no row for the cell, as the end of a sentence; empty: it has one.
std::string refusal(const Record& r) {
  const AttentionLayer& layer = r.layer;
  if (r.verdict() != Verdict::kPassed || !r.claims_speed()) return "without a time that passed";
  if (!attends(r.step)) return "of steps without attention";
  if (builds(r.step)) return "of pipelines, whose time is not that of attention alone";
  if (layer.family != Family::kSoftmax || r.is_composed) return "of latent or recurrent layers";
  if (layer.is_cross_attention) return "of cross attention";
  if (layer.has_sinks || layer.has_alibi || layer.logit_cap > 0 || layer.temperature_len > 0 ||
      layer.dual_chunk.exists()) {
    return "with sinks, ALiBi, a logit cap, a temperature or dual chunks";
  }
  if (layer.head_dim_qk != layer.head_dim_v) return "whose keys and values differ in length";
  if (query_word(r) == nullptr || cache_word(r) == nullptr || r.fp8.out) {
    return "of other types than bf16 and fp8 (e4m3, a scale a tensor, outputs in bf16)";
  }
  if (!is_context(r) && r.mode != "decode") return "that are neither prompts nor decodes";
  if (r.padding_requests > 0 || r.padding_tokens > 0) return "with padding";
  if (r.kv_len_max == 0) return "of a file that does not say their longest lengths";
  if (r.q_tokens != r.requests * r.q_len_max || r.kv_tokens != r.requests * r.kv_len_max ||
      (!is_context(r) && r.q_len_max != 1)) {
    return "whose requests differ in length";
  }
  if (is_context(r) && r.q_len_max != r.kv_len_max) return "of prompts behind a prefix";
  if (r.cost.kv_bytes_unique != r.cost.kv_bytes_streamed) return "whose requests share a prefix";
  if (r.cost.visible_pairs != r.requests * pairs_of_causal_request(r)) {
    return "with another mask than a causal one";
  }
  return {};
}

/// How far the cell's launch is from what the collectors time: replays of a CUDA graph, one behind
/// the other, of a layer that also writes its keys and values.
int distance(const Record& r) {
  const int cache = r.cache == CacheState::kWarm ? 0 : r.cache == CacheState::kServing ? 1 : 2;
  return (r.launch == LaunchMode::kGraph ? 0 : 6) + 2 * cache + (writes_kv(r.step) ? 0 : 1);
}

/// Framework and version, "VLLM,0.33.0": the package that the kernel is of, or attnbench.
std::string framework_of(const Record& r, const std::string& own_version) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCollectors = {
      {{"vllm", "VLLM"}, {"sglang", "SGLang"}, {"tensorrt-llm", "TRTLLM"}}};
  const std::string_view main = std::string_view(r.packages).substr(0, r.packages.find(' '));
  const std::size_t end = main.find("==");
  if (end == std::string_view::npos) return "attnbench," + csv_quoted(own_version);
  std::string_view name = main.substr(0, end);
  for (const auto& [package, framework] : kCollectors) {
    if (name == package) name = framework;
  }
  return csv_quoted(std::string(name)) + ',' + csv_quoted(std::string(main.substr(end + 2)));
}

/// Without the name of its environment, whose packages the version tells.
std::string kernel_source(const Record& r) {
  const std::string prefix = r.environment.name + '/';
  return r.backend.starts_with(prefix) ? r.backend.substr(prefix.size()) : r.backend;
}

/// The row without its latency.
std::string key_of(const Record& r, const std::string& own_version) {
  const bool context = is_context(r);
  return fmt::format("{},{},{},{},{},{},{},{},{},{},1,{},{},{}", framework_of(r, own_version),
                     csv_quoted(r.device), context ? "context_attention" : "generation_attention",
                     csv_quoted(kernel_source(r)), r.requests, r.q_len_max, r.layer.heads_q,
                     r.layer.heads_kv, r.layer.head_dim_qk,
                     has_window(r) ? r.layer.sliding_window_size + 1 : 0, query_word(r),
                     cache_word(r), context ? 0 : r.kv_len_max - 1);
}

struct Rows {
  std::vector<std::pair<std::string, const Record*>> of_key;  ///< in the order of the records
  std::map<std::string, int> left_out;                        ///< cells, by the reason
};

Rows rows_of(const RunResult& run) {
  Rows rows;
  std::map<std::string, std::size_t> places;
  for (const Record& record : run.records) {
    if (const std::string reason = refusal(record); !reason.empty()) {
      ++rows.left_out[reason];
      continue;
    }
    const std::string key = key_of(record, run.environment.version);
    const auto [at, is_new] = places.emplace(key, rows.of_key.size());
    if (is_new) {
      rows.of_key.emplace_back(key, &record);
      continue;
    }
    ++rows.left_out["of a key that has its row"];
    const Record*& nearest = rows.of_key[at->second].second;
    if (distance(record) < distance(*nearest)) nearest = &record;
  }
  return rows;
}

}  // namespace

void write_aiconfigurator(const RunResult& run, std::ostream& out) {
  out << kHeader;
  for (const auto& [key, record] : rows_of(run).of_key) {
    out << fmt::format("{},{}\n", key, record->timing.median_us / 1e3);
  }
}

std::string left_out_of_aiconfigurator(const RunResult& run) {
  const Rows rows = rows_of(run);
  if (rows.left_out.empty()) return {};
  std::string reasons;
  for (const auto& [reason, cells] : rows.left_out) {
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", cells, reason);
  }
  return fmt::format("{} of {} cells have a row; not the others: {}", rows.of_key.size(),
                     run.records.size(), reasons);
}

}  // namespace attnbench
