// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/contents/content_rows.h"
#include "lib/contents/content_scales.h"
#include "lib/contents/fresh_key.h"
#include "lib/scenario/case.h"
#include "lib/scenario/fill.h"

namespace attnbench {

/// The values of a case's tensors, as a pure function of (case, fill, seed, request, position,
/// head, dim): no page, no index array, no device. The fixture writes them, the reference evaluates
/// them, and both regenerate any row at will.
///
/// Rows come back *as stored*: rounded to the storage dtype, before q_scale(), k_scale() or
/// v_scale() is applied. K of a request's position p < shared_len belongs to the stream of the
/// shared prefix, or of that one of its ancestors, which added the token: sharing requests agree.
/// Compressed row c is position kv_len + c of the request's own stream: a key of its own contents.
class Contents {
 public:
  Contents(const Case& c, Fill fill);
  /// Of a timed sample: the cache of Fill::kTiming, but with queries and one key and value of each
  /// request (fresh_keys()) that no other number has, and some pages with other signs
  /// (is_rewritten()). `number` counts from 1. Of a recurrent layer the states are those of
  /// Fill::kTiming, and all that the step brings is the number's own. Of a step that builds arrays
  /// it has what Fill::kTiming has, but for some of it (sample_draws.h).
  Contents(const Case& c, std::int64_t number);

  /// Q of query token `token` (0-based within the request) and query head `head`:
  /// query_dim() values; a shorter row gets the first of a query's forms.
  void q_row(std::int64_t request, std::int64_t token, int head, std::span<float> row) const;
  /// K at KV position `position` of KV head `head`: head_dim_qk values. A recurrent layer has none
  /// before this step, and its key heads.
  void k_row(std::int64_t request, std::int64_t position, int head, std::span<float> row) const;
  /// V in the same way: head_dim_v values; for kLatent the first head_dim_v values of the K row.
  void v_row(std::int64_t request, std::int64_t position, int head, std::span<float> row) const;
  /// What the stored rows are multiplied with.
  [[nodiscard]] float q_scale(std::int64_t request, std::int64_t token, int head) const;
  [[nodiscard]] RowScale k_scale(std::int64_t request, std::int64_t position, int head) const;
  [[nodiscard]] RowScale v_scale(std::int64_t request, std::int64_t position, int head) const;
  /// Sink logit of query head `head`, in scaled-logit space; only if the layer has sinks.
  [[nodiscard]] float sink(int head) const;

  // Of a recurrent layer, by the formulas of delta_net_rows.h. `head` is a value head.
  /// Log decay at a position of this step, at most 0: AttentionLayer::gate_dims() values.
  void gate_row(std::int64_t request, std::int64_t position, int head, std::span<float> row) const;
  /// How far the state's value under the key moves towards the new one: inside (0, 1), or 1
  /// throughout (lightning).
  [[nodiscard]] float beta(std::int64_t request, std::int64_t position, int head) const;
  /// D of a head of Mamba-2.
  [[nodiscard]] static float skip(int head);
  /// Row `key_dim` of the state before the step: head_dim_v values. A request without prefix has
  /// none: zeros.
  void state_row(std::int64_t request, int head, int key_dim, std::span<float> row) const;

  [[nodiscard]] Fill fill() const { return params_.fill; }

  /// By request; empty unless the contents are those of a timed sample.
  [[nodiscard]] const std::vector<FreshKey>& fresh_keys() const { return fresh_keys_; }
  /// Whether a timed sample negates elements of this key and value, as sign_key() of its own seed
  /// says. Never a fresh one.
  [[nodiscard]] bool is_rewritten(std::int64_t request, std::int64_t position) const;
  /// The same of all keys on the position's page, but for a fresh one.
  [[nodiscard]] bool is_on_rewritten_page(std::int64_t request, std::int64_t position) const;
  /// Of a timed sample: step_params().seed.
  [[nodiscard]] std::uint64_t sample_seed() const { return sample_params_.seed; }
  [[nodiscard]] bool is_sample() const { return sample_params_.fill == Fill::kSample; }
  /// Decides what nobody is to know before the run (Case::sample_nonce), of contents whose numbers
  /// differ another one.
  [[nodiscard]] std::uint64_t secret() const;
  [[nodiscard]] const Case& of_case() const { return *case_; }
  /// Of what a timed sample replaces, with the seed that samples of the case share: the seed of one
  /// of them is combine(seed, number).
  [[nodiscard]] static ContentParams sample_params(const Case& c);

  // What a device needs to make the same rows by the recipes of content_rows.h.
  struct Source {  ///< where a KV position's content comes from
    std::uint64_t stream;
    bool planted;  ///< a needle key lies here
  };
  [[nodiscard]] const ContentParams& params() const { return params_; }
  [[nodiscard]] Source source_of(std::int64_t request, std::int64_t position) const;
  /// What brings a position to its place in pages: compressed rows begin a page of their own,
  /// wherever the tokens before them end.
  [[nodiscard]] std::int64_t page_shift(std::int64_t request, std::int64_t position) const;
  /// The pages of the position's stream of which one in each kRewrittenShare is rewritten.
  [[nodiscard]] PageRun page_run(std::int64_t request, std::int64_t position) const;
  [[nodiscard]] std::uint64_t query_stream(std::int64_t request) const;
  /// Of a request's own keys and, in a recurrent layer, of its states, gates and all keys.
  [[nodiscard]] std::uint64_t own_stream(std::int64_t request) const;

 private:
  /// The parameters of what this step brings.
  [[nodiscard]] const ContentParams& step_params() const {
    return is_sample() ? sample_params_ : params_;
  }
  [[nodiscard]] bool is_fresh(std::int64_t request, std::int64_t position) const;
  /// The parameters that make a key and value.
  [[nodiscard]] ContentParams params_of_key(std::int64_t request, std::int64_t position) const;
  /// Negates elements of a stored row where the sample has it rewritten.
  void rewrite(std::int64_t request, std::int64_t position, int head, bool is_value,
               std::span<float> row) const;

  const Case* case_;
  ContentParams params_;
  ContentParams sample_params_;  ///< of the queries and fresh keys of a timed sample
  std::vector<FreshKey> fresh_keys_;
  std::vector<std::vector<std::int64_t>> prefix_needles_;   ///< sorted positions, by shared prefix
  std::vector<std::vector<std::int64_t>> request_needles_;  ///< sorted positions, by request
};

}  // namespace attnbench
