// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/mutant_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>

#include "lib/base/dtype.h"

namespace attnbench {
namespace {

constexpr std::array<std::pair<Fault, std::string_view>, 28> kNames{{
    {Fault::kNone, "none"},
    {Fault::kDropsLastToken, "drops the last token"},
    {Fault::kDropsFirstToken, "drops the first token"},
    {Fault::kSkipsAPage, "skips a page"},
    {Fault::kReadsAPageTwice, "reads a page twice"},
    {Fault::kSwapsTwoPages, "swaps two pages"},
    {Fault::kHeadMapOffByOne, "KV head map off by one"},
    {Fault::kForgetsScale, "forgets the scale"},
    {Fault::kCausalSeesNextKey, "causal: sees the next key"},
    {Fault::kCausalMissesOwnKey, "causal: misses its own key"},
    {Fault::kIgnoresTree, "ignores the draft tree"},
    {Fault::kIgnoresWindow, "ignores the window"},
    {Fault::kWindowOffByOne, "window off by one"},
    {Fault::kIgnoresSoftcap, "ignores the softcap"},
    {Fault::kNoMaximum, "does not subtract the maximum"},
    {Fault::kMaximumStartsAtZero, "starts the maximum at 0"},
    {Fault::kLseBaseTwo, "LSE in base 2"},
    {Fault::kLseForgetsSink, "LSE without the sink"},
    {Fault::kSinkCountedTwice, "counts the sink twice"},
    {Fault::kMergesWithoutRescale, "merges tiles without rescaling"},
    {Fault::kForgetsVScale, "forgets v_scale"},
    {Fault::kAccumulatesInBf16, "accumulates in bf16"},
    {Fault::kReadsTail, "reads the last page's tail"},
    {Fault::kWritesBeyond, "writes one row beyond"},
    {Fault::kLeavesLastRow, "leaves the last row unwritten"},
    {Fault::kWritesInput, "writes into its input"},
    {Fault::kDiffersBetweenRuns, "differs between runs"},
    {Fault::kThrows, "throws"},
}};

constexpr std::size_t kTile = 8;  // small, so that short rows have several
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float element(DType dtype, const std::byte* row, std::int64_t d) {
  return load(dtype, row + d * size_bytes(dtype));
}

}  // namespace

std::string_view to_string(Fault fault) {
  const auto* const found = std::ranges::find(kNames, fault, [](const auto& n) { return n.first; });
  return found == kNames.end() ? "?" : found->second;
}

std::vector<Fault> all_faults() {
  std::vector<Fault> faults;
  for (const auto& [fault, name] : kNames) {
    if (fault != Fault::kNone) faults.push_back(fault);
  }
  return faults;
}

MutantBackend::MutantBackend(Fault fault) : fault_(fault) {
  info_.name = "mutant";
  info_.version = "1";
  info_.description = to_string(fault);
  info_.index_format = "req_to_token";
}

void MutantBackend::init_forward_metadata(const ForwardBatch&, const AttentionLayer&, Workspace&) {
  if (has(Fault::kThrows)) throw std::runtime_error("no kernel for this");
}

void MutantBackend::forward_decode(const AttentionIo& io, Stream& stream) {
  forward_extend(io, stream);
}

void MutantBackend::forward_extend(const AttentionIo& io, Stream&) {
  ++runs_;
  std::int64_t token = 0;
  for (std::int64_t r = 0; r < io.batch->batch_size; ++r) {
    for (std::int64_t query = 0; query < io.batch->q_len(r); ++query, ++token) {
      if (has(Fault::kLeavesLastRow) && token + 1 == io.batch->q_tokens()) break;
      for (int head = 0; head < io.layer->heads_q; ++head) compute(io, {r, query, token, head});
    }
  }
  if (has(Fault::kWritesBeyond)) {
    store(io.out.dtype, io.out.data + io.out.size() * size_bytes(io.out.dtype), 0);
  }
  if (has(Fault::kWritesInput)) io.batch->token_to_kv_pool->k[0] = std::byte{0};
  if (has(Fault::kDiffersBetweenRuns)) {
    // One ulp: far below every bound.
    io.out.data[0] = std::byte(static_cast<unsigned char>(io.out.data[0]) ^ (runs_ % 2));
  }
}

bool MutantBackend::sees(const AttentionIo& io, const Row& row, std::int64_t key) const {
  const AttentionLayer& layer = *io.layer;
  const std::int64_t kv_len = io.batch->kv_len(row.request);
  std::int64_t position = kv_len - io.batch->q_len(row.request) + row.query;
  const std::int64_t window = layer.sliding_window_size + (has(Fault::kWindowOffByOne) ? 1 : 0);
  if (layer.sliding_window_size >= 0 && !has(Fault::kIgnoresWindow) && key < position - window) {
    return false;
  }
  if (io.batch->spec_info && !has(Fault::kIgnoresTree)) {
    const SpecInfo& spec = *io.batch->spec_info;
    const std::int64_t begin = spec.mask_indptr[static_cast<std::size_t>(row.request)];
    return spec.custom_mask[static_cast<std::size_t>(begin + row.query * kv_len + key)] != 0;
  }
  if (!layer.causal || layer.is_cross_attention) return true;
  if (has(Fault::kCausalSeesNextKey)) ++position;
  if (has(Fault::kCausalMissesOwnKey)) --position;
  return key <= position;
}

std::vector<std::pair<std::int64_t, std::int64_t>> MutantBackend::slots_of(const AttentionIo& io,
                                                                           const Row& row) const {
  const auto slots = io.batch->req_to_token_pool->row(
      io.batch->req_pool_indices[static_cast<std::size_t>(row.request)]);
  const std::int64_t page_size = io.batch->token_to_kv_pool->page_size;
  const std::int64_t kv_len = io.batch->kv_len(row.request);
  const std::int64_t last_page = (kv_len - 1) / page_size;
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t key = 0; key < kv_len; ++key) {
    if (!sees(io, row, key)) continue;
    std::int64_t page = key / page_size;
    if (has(Fault::kSwapsTwoPages)) page = page == 0 ? last_page : page == last_page ? 0 : page;
    const std::int64_t first = slots[static_cast<std::size_t>(page * page_size)];
    const std::int64_t slot = first + key % page_size;
    if (has(Fault::kSkipsAPage) && last_page > 0 && page == last_page / 2) continue;
    seen.emplace_back(slot, key);
    if (has(Fault::kReadsAPageTwice) && last_page > 0 && page == 0) seen.emplace_back(slot, key);
  }
  if (has(Fault::kReadsTail)) {
    const std::int64_t last = slots[static_cast<std::size_t>(kv_len - 1)];
    for (std::int64_t slot = last + 1; slot % page_size != 0; ++slot) {
      seen.emplace_back(slot, kv_len - 1);
    }
  }
  if (has(Fault::kDropsFirstToken) && !seen.empty()) seen.erase(seen.begin());
  if (has(Fault::kDropsLastToken) && !seen.empty()) seen.pop_back();
  return seen;
}

float MutantBackend::logit(const AttentionIo& io, const Row& row, std::int64_t slot,
                           std::int64_t key) const {
  const AttentionLayer& layer = *io.layer;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const int shifted = row.head + (has(Fault::kHeadMapOffByOne) ? 1 : 0);
  const std::byte* const k = pool.k_row(slot, shifted / layer.group_size() % layer.heads_kv);
  const std::byte* const q = io.q.row(row.token, row.head);
  float dot = 0;
  for (std::int64_t d = 0; d < layer.head_dim_qk; ++d) {
    dot += element(io.q.dtype, q, d) * element(pool.dtype, k, d);
  }
  float s = dot * pool.k_scale;
  if (!has(Fault::kForgetsScale)) s *= static_cast<float>(layer.scale);
  if (layer.logit_cap > 0 && !has(Fault::kIgnoresSoftcap)) {
    const auto cap = static_cast<float>(layer.logit_cap);
    s = cap * std::tanh(s / cap);
  }
  if (layer.has_alibi) {
    const std::int64_t position =
        io.batch->kv_len(row.request) - io.batch->q_len(row.request) + row.query;
    s += static_cast<float>(alibi_slope(row.head, layer.heads_q) *
                            static_cast<double>(key - position));
  }
  return s;
}

void MutantBackend::compute(const AttentionIo& io, const Row& row) const {
  const AttentionLayer& layer = *io.layer;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const bool bf16 = has(Fault::kAccumulatesInBf16);
  const auto kept = [bf16](float value) { return bf16 ? rounded(DType::kBF16, value) : value; };
  const auto keys = slots_of(io, row);
  const int shifted = row.head + (has(Fault::kHeadMapOffByOne) ? 1 : 0);
  const int kv_head = shifted / layer.group_size() % layer.heads_kv;

  float top = has(Fault::kMaximumStartsAtZero) ? 0 : -kInfinity;
  float sum = 0;
  std::vector<float> out(static_cast<std::size_t>(layer.head_dim_v));
  for (std::size_t begin = 0; begin < keys.size(); begin += kTile) {
    const auto tile = std::span(keys).subspan(begin, std::min(kTile, keys.size() - begin));
    std::vector<float> weights;
    float tile_top = top;
    for (const auto& [slot, key] : tile) {
      weights.push_back(logit(io, row, slot, key));
      tile_top = std::max(tile_top, weights.back());
    }
    if (has(Fault::kNoMaximum)) tile_top = 0;
    const bool rescale = top > -kInfinity && !has(Fault::kMergesWithoutRescale);
    const float old = rescale ? std::exp(top - tile_top) : 1;
    top = tile_top;
    sum *= old;
    for (float& value : out) value *= old;
    for (std::size_t j = 0; j < tile.size(); ++j) {
      const float p = std::exp(weights[j] - top);
      sum = kept(sum + p);
      const std::byte* const v = pool.v_row(tile[j].first, kv_head);
      for (std::size_t d = 0; d < out.size(); ++d) {
        out[d] = kept(out[d] + p * element(pool.dtype, v, static_cast<std::int64_t>(d)));
      }
    }
  }

  float denominator = sum;
  if (layer.has_sinks) {
    const float sink = io.sinks[row.head];
    const float new_top = std::max(top, sink);  // also right for an empty row: top is -inf
    const float old = std::exp(top - new_top);
    for (float& value : out) value *= old;
    sum *= old;
    top = new_top;
    denominator = sum + std::exp(sink - top) * (has(Fault::kSinkCountedTwice) ? 2.0f : 1.0f);
    if (!has(Fault::kLseForgetsSink)) sum = denominator;
  }
  const float scale = has(Fault::kForgetsVScale) ? 1 : pool.v_scale;
  for (std::size_t d = 0; d < out.size(); ++d) {
    const float o = denominator > 0 || std::isnan(denominator) ? out[d] * scale / denominator : 0;
    store(io.out.dtype,
          io.out.row(row.token, row.head) + static_cast<std::int64_t>(d) * size_bytes(io.out.dtype),
          o);
  }
  float lse = sum > 0 || std::isnan(sum) ? top + std::log(sum) : -kInfinity;
  if (has(Fault::kLseBaseTwo)) lse /= std::log(2.0f);
  store(DType::kF32, io.lse.row(row.token, row.head), lse);
}

}  // namespace attnbench
