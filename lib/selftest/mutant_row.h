// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// One row of a mutant's outputs: the same lines for the CPU and for a CUDA kernel.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lib/base/dtype.h"
#include "lib/selftest/chosen_list.h"
#include "lib/selftest/compressed_rows.h"
#include "lib/selftest/mutant_step.h"

namespace attnbench {

/// Attention of one query token under one head in f32: tiles of keys, online softmax. Simple on
/// purpose, and with the step's fault.
class MutantRow {
 public:
  /// `row` counts the rows of O: token * heads + head.
  ATTNBENCH_HOST_DEVICE MutantRow(const MutantStep& step, std::int64_t row)
      : step_(step),
        token_(row / step.layer.heads_q),
        head_(static_cast<int>(row % step.layer.heads_q)),
        dims_(step.layer.head_dim_v),
        sums_(step.sums + row * step.layer.head_dim_v) {
    const std::int32_t* const qo_indptr = step.batch.qo_indptr;
    while (token_ >= qo_indptr[request_ + 1]) ++request_;
    query_ = token_ - qo_indptr[request_];
    kv_len_ = step.batch.kv_lens[request_];
    slots_ = step.batch.req_to_token +
             step.batch.req_pool_indices[request_] * step.batch.req_to_token_stride;
    position_ = kv_len_ - (qo_indptr[request_ + 1] - qo_indptr[request_]) + query_;
    const int shifted = head_ + (has(Fault::kHeadMapOffByOne) ? 1 : 0);
    const int group = step.layer.heads_q / step.layer.heads_kv;
    kv_head_ = shifted / group % step.layer.heads_kv;
    if (has(Fault::kMaximumStartsAtZero)) top_ = 0;
  }

  ATTNBENCH_HOST_DEVICE void run() {
    if (has(Fault::kLeavesLastRow) && token_ + 1 == step_.out.shape[0]) return;
    for (int d = 0; d < dims_; ++d) sums_[d] = 0;
    attend();
    store_outputs();
    if (token_ == 0 && head_ == 0) damage();
  }

 private:
  static constexpr int kTile = 8;  // small, so that short rows have several
  /// From here on a request is cut in two, at a multiple of kSplit: short ones never show what is
  /// wrong with a kernel for long ones.
  static constexpr std::int64_t kLongContext = 4096;
  static constexpr std::int64_t kSplit = 256;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  /// A key that takes part: where it lies, and its place in the request.
  struct Key {
    std::int64_t slot;
    std::int64_t position;
  };

  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool has(Fault fault) const { return step_.fault == fault; }

  [[nodiscard]] static ATTNBENCH_HOST_DEVICE float larger(float a, float b) {
    return a < b ? b : a;
  }

  template <class Bits>
  [[nodiscard]] static ATTNBENCH_HOST_DEVICE Bits load_bits(const std::byte* row, std::int64_t d) {
    Bits bits;
    std::memcpy(&bits, row + d * std::int64_t{sizeof bits}, sizeof bits);
    return bits;
  }
  template <class Bits>
  static ATTNBENCH_HOST_DEVICE void store_bits(std::byte* row, std::int64_t d, Bits bits) {
    std::memcpy(row + d * std::int64_t{sizeof bits}, &bits, sizeof bits);
  }

  /// Element `d` of a row.
  [[nodiscard]] static ATTNBENCH_HOST_DEVICE float element(DType dtype, const std::byte* row,
                                                           std::int64_t d) {
    // By type rather than by size, so that each conversion is compiled in line.
    switch (dtype) {
      case DType::kF32:
        return stored_value(DType::kF32, load_bits<std::uint32_t>(row, d));
      case DType::kF16:
        return stored_value(DType::kF16, load_bits<std::uint16_t>(row, d));
      case DType::kBF16:
        return stored_value(DType::kBF16, load_bits<std::uint16_t>(row, d));
      case DType::kE4M3:
        return stored_value(DType::kE4M3, load_bits<std::uint8_t>(row, d));
      case DType::kE5M2:
        return stored_value(DType::kE5M2, load_bits<std::uint8_t>(row, d));
    }
    return 0;
  }
  /// Outputs are never fp8.
  static ATTNBENCH_HOST_DEVICE void set_element(DType dtype, std::byte* row, std::int64_t d,
                                                float value) {
    const std::uint32_t bits = storage_bits(dtype, value);
    if (size_bytes(dtype) == 4) return store_bits(row, d, bits);
    store_bits(row, d, static_cast<std::uint16_t>(bits));
  }

  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool outside_window(std::int64_t key) const {
    const AttentionLayer& layer = step_.layer;
    if (layer.sliding_window_size < 0 || has(Fault::kIgnoresWindow)) return false;
    const std::int64_t window = layer.sliding_window_size + (has(Fault::kWindowOffByOne) ? 1 : 0);
    std::int64_t behind = position_ - key;
    if (counts_depth()) behind = text_position(position_) - text_position(key);
    return behind > window || (!layer.causal && -behind > window);
  }

  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool outside_chunk(std::int64_t key) const {
    const std::int64_t chunk = step_.layer.attention_chunk;
    if (chunk == 0 || has(Fault::kIgnoresChunks)) return false;
    if (has(Fault::kChunkIsAWindow)) return position_ - key >= chunk;
    const std::int64_t early = has(Fault::kChunkOffByOne) ? 1 : 0;
    return key + early < position_ / chunk * chunk;
  }

  /// Whether the window of a draft tree counts tokens of the branch.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool counts_depth() const {
    const bool depth = step_.layer.window_in_trees == WindowInTrees::kDepth;
    return step_.batch.custom_mask != nullptr && depth != has(Fault::kWindowCountsTheOtherWay);
  }

  /// Position in the text of key `key`: draft nodes stand at their depth.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE std::int64_t text_position(std::int64_t key) const {
    const std::int64_t node = key - (position_ - query_);
    return node < 0 ? key : step_.batch.positions[token_ - query_ + node];
  }

  /// Whether the key lies in the query's bidirectional span.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool in_span(std::int64_t key) const {
    if (step_.batch.spans == nullptr || has(Fault::kIgnoresSpans)) return false;
    const std::int32_t* const span = step_.batch.spans + 2 * token_;
    const bool more = has(Fault::kSpanSeesNextKey) && span[0] < span[1];
    return key >= span[0] && key < span[1] + (more ? 1 : 0);
  }

  /// How often a key that the mask shows takes part.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE std::int64_t times(std::int64_t key) const {
    const bool lists_rows = step_.layer.compress_ratio > 0;
    if (!step_.layer.selection.exists() || lists_rows || has(Fault::kIgnoresSelection)) return 1;
    return ChosenList(step_, token_, head_).times(key, position_);
  }

  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool sees(std::int64_t key) const {
    const AttentionLayer& layer = step_.layer;
    const bool of_span = in_span(key);
    const bool overrides = layer.span_rule == SpanRule::kOverride;
    if (of_span && overrides != has(Fault::kSpanOfTheOtherRule)) return true;
    if (outside_window(key) || outside_chunk(key)) return false;
    if (step_.batch.custom_mask != nullptr && !has(Fault::kIgnoresTree)) {
      const std::int64_t begin = step_.batch.mask_indptr[request_];
      return step_.batch.custom_mask[begin + query_ * kv_len_ + key] != 0;
    }
    if (!layer.causal || layer.is_cross_attention) return true;
    std::int64_t last = position_;
    const std::int64_t block = has(Fault::kCausalInsideBlocks) ? 1 : layer.causal_block;
    last += block - 1 - query_ % block;
    if (block > 1 && has(Fault::kBlockSeesNextBlock)) ++last;
    if (has(Fault::kCausalSeesNextKey)) ++last;
    if (has(Fault::kCausalMissesOwnKey)) --last;
    if (has(Fault::kAlignsTopLeft)) last = query_;
    return key <= last || of_span;
  }

  /// The key before the cut is the first half's last one: a bound that is exclusive there and
  /// inclusive here loses it.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool lost_at_split(std::int64_t key) const {
    return has(Fault::kLongSplitDropsAKey) && kv_len_ >= kLongContext &&
           key == kv_len_ / 2 / kSplit * kSplit - 1;
  }

  /// Calls `visit` with each key that the row attends to, in their order.
  template <class Visit>
  ATTNBENCH_HOST_DEVICE void for_each_key(const Visit& visit) const {
    const std::int64_t page_size = step_.pool.page_size;
    const std::int64_t last_page = (kv_len_ - 1) / page_size;
    for (std::int64_t key = 0; key < kv_len_; ++key) {
      const std::int64_t times = sees(key) && !lost_at_split(key) ? this->times(key) : 0;
      if (times == 0) continue;
      std::int64_t page = key / page_size;
      if (has(Fault::kSwapsTwoPages)) page = page == 0 ? last_page : page == last_page ? 0 : page;
      if (has(Fault::kLastPageIsFirst) && page == last_page) page = 0;
      if (has(Fault::kSkipsAPage) && last_page > 0 && page == last_page / 2) continue;
      const std::int64_t slot = slots_[page * page_size] + key % page_size;
      for (std::int64_t i = 0; i < times; ++i) visit(Key{slot, key});
      if (has(Fault::kReadsAPageTwice) && last_page > 0 && page == 0) visit(Key{slot, key});
    }
    const auto visit_key = [&](std::int64_t key) { visit(Key{slots_[key], key}); };
    CompressedRows(step_, token_, head_).for_each(position_, kv_len_, visit_key);
    if (step_.layer.selection.exists()) {
      ChosenList(step_, token_, head_).for_each_too_many(position_, kv_len_, visit_key);
    }
    // Who rounds the number of pages up and clamps a table's -1 reads page 0.
    if (has(Fault::kTakesMissingPageForZero) && kv_len_ > 0) visit(Key{0, kv_len_ - 1});
    if (!has(Fault::kReadsTail)) return;
    for (std::int64_t slot = slots_[kv_len_ - 1] + 1; slot % page_size != 0; ++slot) {
      visit(Key{slot, kv_len_ - 1});
    }
  }

  ATTNBENCH_HOST_DEVICE void attend() {
    std::int64_t count = 0;
    for_each_key([&count](const Key&) { ++count; });
    const std::int64_t first = has(Fault::kDropsFirstToken) ? 1 : 0;
    const std::int64_t last = count - (has(Fault::kDropsLastToken) ? 2 : 1);
    Key tile[kTile];
    int filled = 0;
    std::int64_t index = 0;
    for_each_key([&](const Key& key) {
      if (index >= first && index <= last) tile[filled++] = key;
      if (filled == kTile || (filled > 0 && index == last)) {
        add(tile, filled);
        filled = 0;
      }
      ++index;
    });
  }

  /// What is left of a dot product whose operand `row` went through 8 bits with a scale of its own,
  /// its largest magnitude (SageAttention, arXiv:2410.02367): the same, unless all of it is zero.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE static float through_scale(float dot, DType dtype,
                                                                 const std::byte* row, int dims) {
    float largest = 0;
    for (int d = 0; d < dims; ++d) largest = larger(largest, std::fabs(element(dtype, row, d)));
    return dot / largest * largest;
  }

  /// In a softmax over all keys.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE float logit(const Key& key) const {
    const float own = logit_of_dot(key);
    if (!step_.layer.selection.weighs_units()) return own;
    const auto of = [&](std::int64_t k) { return logit_of_dot({slots_[k], k}); };
    return own + ChosenList(step_, token_, head_).shift(key.position, of);
  }

  [[nodiscard]] ATTNBENCH_HOST_DEVICE float logit_of_dot(const Key& key) const {
    const AttentionLayer& layer = step_.layer;
    const std::byte* const k = step_.pool.k_row(key.slot, kv_head_);
    const DType k_dtype = step_.pool.dtype, q_dtype = step_.q.dtype;
    const std::byte* const q = step_.q.row(token_, head_) +
                               form_for(key.position) * layer.head_dim_qk * size_bytes(q_dtype);
    float dot = 0;
    const bool drops_one = has(Fault::kDropsLastRopeDim) && is_latent();
    for (int d = 0; d < layer.head_dim_qk - (drops_one ? 1 : 0); ++d) {
      dot += element(q_dtype, q, d) * element(k_dtype, k, d);
    }
    if (has(Fault::kDividesByZeroQuery)) dot = through_scale(dot, q_dtype, q, layer.head_dim_qk);
    if (has(Fault::kDividesByZeroKey)) dot = through_scale(dot, k_dtype, k, layer.head_dim_qk);
    float s = dot * step_.pool.k_scale;
    if (!has(Fault::kForgetsScale)) s *= static_cast<float>(layer.scale);
    if (has(Fault::kScaleOfHalfTheDims)) s *= std::sqrt(2.0f);
    const float temperature = this->temperature();
    if (has(Fault::kTemperatureBeforeCap)) s *= temperature;
    if (layer.logit_cap > 0 && !has(Fault::kIgnoresSoftcap)) {
      const auto cap = static_cast<float>(layer.logit_cap);
      s = cap * std::tanh(s / cap);
    }
    if (!has(Fault::kTemperatureBeforeCap)) s *= temperature;
    if (layer.has_alibi) {
      const double slope = std::exp2(double{alibi_log2_slope(alibi_power(layer), head_)});
      const std::int64_t distance = text_position(key.position) - text_position(position_);
      s -= static_cast<float>(slope * std::fabs(static_cast<double>(distance)));
    }
    return s;
  }

  /// The form of the query that a key meets.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE std::int64_t form_for(std::int64_t key) const {
    const DualChunk& dual = step_.layer.dual_chunk;
    if (!dual.exists() || has(Fault::kDualChunkOneForm)) return 0;
    const std::int64_t late = has(Fault::kDualChunkOffByOne) && key > 0 ? 1 : 0;
    const std::int64_t distance = position_ / dual.step() - (key - late) / dual.step();
    return distance < 2 ? distance : 2;
  }

  /// What the row's logits are multiplied by.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE float temperature() const {
    const std::int64_t len = step_.layer.temperature_len;
    const std::int64_t place = position_ + (has(Fault::kTemperatureOffByOne) ? 1 : 0);
    if (len == 0 || place <= len || has(Fault::kIgnoresTemperature)) return 1;
    return std::log2(static_cast<float>(place)) / std::log2(static_cast<float>(len));
  }

  /// A latent row's first dims are V, all of them K.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE bool is_latent() const {
    return step_.layer.shares_row_of_k_and_v();
  }

  /// The accumulator's rounding: none but f32's own.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE float kept(float value) const {
    return has(Fault::kAccumulatesInBf16) ? rounded(DType::kBF16, value) : value;
  }

  /// The weight that meets V.
  [[nodiscard]] ATTNBENCH_HOST_DEVICE float stored(float weight) const {
    if (has(Fault::kWeightsInF16)) return rounded(DType::kF16, weight);
    if (has(Fault::kWeightsInBf16)) return rounded(DType::kBF16, weight);
    const bool narrow = has(Fault::kWeightsInE4m3) ||
                        (has(Fault::kLongSplitRoundsWeights) && kv_len_ >= kLongContext);
    return narrow ? rounded(DType::kE4M3, weight) : weight;
  }

  ATTNBENCH_HOST_DEVICE void add(const Key* tile, int count) {
    float logits[kTile];
    float tile_top = top_;
    for (int j = 0; j < count; ++j) {
      logits[j] = logit(tile[j]);
      tile_top = larger(tile_top, logits[j]);
    }
    if (has(Fault::kNoMaximum)) tile_top = 0;
    const bool rescale = top_ > -kInfinity && !has(Fault::kMergesWithoutRescale);
    scale_sums(rescale ? std::exp(top_ - tile_top) : 1);
    top_ = tile_top;
    float tile_sum = 0;  // of its own, which keeps the chain of roundings of a long context short
    for (int j = 0; j < count; ++j) {
      const float p = std::exp(logits[j] - top_);
      tile_sum = kept(tile_sum + p);
      const float weight = stored(p);
      const DType dtype = step_.pool.dtype;
      const bool late = has(Fault::kValueBeginsOneDimLate) && is_latent();
      const int head =
          has(Fault::kValueOfNextHead) ? (kv_head_ + 1) % step_.layer.heads_kv : kv_head_;
      const std::byte* const v =
          step_.pool.v_row(tile[j].slot, head) + (late ? size_bytes(dtype) : 0);
      for (int d = 0; d < dims_; ++d) sums_[d] = kept(sums_[d] + weight * element(dtype, v, d));
    }
    denominator_ = kept(denominator_ + tile_sum);
  }

  ATTNBENCH_HOST_DEVICE void scale_sums(float factor) {
    denominator_ *= factor;
    for (int d = 0; d < dims_; ++d) sums_[d] *= factor;
  }

  ATTNBENCH_HOST_DEVICE void store_outputs() {
    float lse_sum = denominator_, lse_top = top_;
    if (step_.layer.has_sinks) {
      const float sink = step_.sinks[head_];
      const float top = larger(top_, sink);  // also right for an empty row: top_ is -inf
      scale_sums(std::exp(top_ - top));
      top_ = top;
      denominator_ += std::exp(sink - top_) * (has(Fault::kSinkCountedTwice) ? 2.0f : 1.0f);
      if (has(Fault::kLseForgetsSink) != step_.layer.sink_in_lse()) {
        lse_sum = denominator_;
        lse_top = top_;
      }
    }
    // Written so that NaN stays NaN.
    const float v_scale = has(Fault::kForgetsVScale) ? 1 : step_.pool.v_scale;
    const bool leaves_one = has(Fault::kLeavesAnElement) && token_ == 0 && head_ == 0;
    for (int d = leaves_one ? 1 : 0; d < dims_; ++d) {
      const float o = denominator_ <= 0 ? 0 : sums_[d] * v_scale / denominator_;
      set_element(step_.out.dtype, step_.out.row(token_, head_), d, o);
    }
    float lse = lse_sum <= 0 ? -kInfinity : lse_top + std::log(lse_sum);
    if (has(Fault::kLseBaseTwo)) lse /= std::log(2.0f);
    set_element(DType::kF32, step_.lse.row(token_, head_), 0, lse);
  }

  /// Faults other than a wrong sum. One row of the step commits them, after its own work.
  ATTNBENCH_HOST_DEVICE void damage() const {
    const TensorView& out = step_.out;
    if (has(Fault::kWritesBeyond)) {
      std::byte* const end = out.data + step_.all_rows() * out.shape[2] * size_bytes(out.dtype);
      for (std::int64_t d = 0; d < out.shape[2]; ++d) set_element(out.dtype, end, d, 0);
    }
    if (has(Fault::kWritesBeyondWorkspace)) step_.sums[step_.all_rows() * out.shape[2]] = 0;
    if (has(Fault::kWritesInput)) step_.pool.k[0] = std::byte{0};
    if (has(Fault::kDiffersBetweenRuns)) {
      // One ulp, every second time: only a comparison of two runs shows it.
      *step_.runs += 1;
      if (*step_.runs % 2 == 1) out.data[0] ^= std::byte{1};
    }
  }

  const MutantStep& step_;
  std::int64_t token_;  ///< within the batch
  int head_;
  int dims_;     ///< of V
  float* sums_;  ///< of this row
  std::int64_t request_ = 0;
  std::int64_t query_ = 0;  ///< token within the request
  std::int64_t kv_len_ = 0;
  const std::int32_t* slots_ = nullptr;  ///< of the request's keys
  std::int64_t position_ = 0;            ///< of the query among the keys
  int kv_head_ = 0;
  float top_ = -kInfinity;
  float denominator_ = 0;
};

}  // namespace attnbench
