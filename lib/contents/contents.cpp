// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/contents.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/contents/delta_net_rows.h"
#include "lib/contents/fresh_key.h"
#include "lib/contents/needles.h"
#include "lib/scenario/prefix_tree.h"

namespace attnbench {
namespace {

/// Streams of requests start above those of prefixes, so the two never meet.
constexpr std::int64_t kOwnStreams = std::int64_t{1} << 32;

double largest_extreme(const ContentParams& p) {
  double largest = 0;
  for (const auto& sizes : p.extreme_size) {
    for (const float size : sizes) {
      largest = std::max(largest, std::fabs(static_cast<double>(size)));
    }
  }
  return largest;
}

/// Largest magnitudes of a fill's K and V, before scales.
ContentRange range_of_fill(const Case& c, const ContentParams& p) {
  switch (p.fill) {
    case Fill::kTag:
      return {kLargestNormal, 6};
    case Fill::kSparseInt:
      return {2, 4};
    case Fill::kNeedle:
      return {std::max(kLargestNormal, static_cast<double>(p.needle_size)), kLargestNormal};
    case Fill::kExtreme:
      return {largest_extreme(p), kLargestNormal};
    case Fill::kNormal:
      return {kLargestNormal, kLargestNormal};
    case Fill::kTiming:
    case Fill::kSample: {
      // Of no batch: contents of a request do not depend on the others.
      const float size = largest_fresh_key_size(c, std::numeric_limits<std::int32_t>::max());
      return {std::max(kLargestNormal, static_cast<double>(size)), kLargestNormal};
    }
  }
  return {};
}

void set_scale_units(const Case& c, ContentParams& p) {
  if (p.scales != KvScales::kToken && !are_of_blocks(p.scales)) return;
  ContentRange range = range_of_fill(c, p);
  const BlockRow row = block_row(p.scales, c.layer.head_dim_v, c.layer.head_dim_qk);
  const auto scaled = std::min(p.head_dim_v, static_cast<std::uint32_t>(row.scaled));
  if (c.layer.shares_row_of_k_and_v() && p.match_begin < scaled) {
    range.v = std::max(range.k, range.v);  // planted dims are V, too
  }
  const auto unit = [&](double largest) {
    const double least = largest / static_cast<double>(largest_finite(p.kv_dtype));
    return static_cast<float>(std::exp2(std::ceil(std::log2(least))));
  };
  const bool both = c.layer.shares_row_of_k_and_v() && p.scales == KvScales::kToken;
  p.v_scale_unit = unit(range.v);
  p.k_scale_unit = unit(both ? std::max(range.k, range.v) : range.k);
  // Of a row with scales inside they are those of its latent part, which holds V.
  if (are_of_blocks(p.scales)) p.k_scale_unit = p.v_scale_unit;
}

ContentParams params_of(const Case& c, Fill fill) {
  const bool mla = c.layer.shares_row_of_k_and_v();
  ContentParams p;
  p.is_delta_net = c.layer.is_delta_net();
  p.is_lightning = c.layer.family == Family::kLightning;
  p.fill = fill;
  p.seed = combine(c.seed, static_cast<std::uint64_t>(fill));
  p.group_size = c.layer.group_size();
  p.head_dim_qk = static_cast<std::uint32_t>(c.layer.head_dim_qk);
  p.query_variants = static_cast<std::uint32_t>(c.layer.query_variants());
  p.head_dim_v = static_cast<std::uint32_t>(c.layer.head_dim_v);
  p.match_begin = static_cast<std::uint32_t>(first_planted_dim(c.layer));
  p.needle_size = planted_size(c.layer, kNeedleLogit);
  for (std::size_t step = 0; step < std::size(kExtremeSteps); ++step) {
    // Heads alternate between +88, which overflows an unshifted exp, and -88, which a maximum
    // started at 0 misses.
    p.extreme_size[0][step] = planted_size(c.layer, kExtremeLogit - kExtremeSteps[step]);
    p.extreme_size[1][step] = planted_size(c.layer, -kExtremeLogit - kExtremeSteps[step]);
  }
  p.dtype = c.dtype;
  p.kv_dtype = c.kv_cache.dtype;
  p.k_scale = c.kv_cache.k_scale;
  p.v_scale = mla ? c.kv_cache.k_scale : c.kv_cache.v_scale;
  p.scales = c.kv_cache.scales;
  p.scale_seed = c.seed;
  p.writes_blocks = writes_kv(c.step);
  p.q_dtype = c.q_dtype();
  p.q_scales = c.fp8.q_scales;
  p.q_scale = c.q_scale;
  set_scale_units(c, p);
  return p;
}

/// Elements [begin, end) of a row, before rounding.
void write_part(RowRecipe recipe, std::size_t begin, std::size_t end, std::span<float> row) {
  with_formula(recipe.formula, [&](auto formula) {
    const RowRecipe r = recipe;  // a copy, which the row cannot alias
    for (std::size_t dim = begin; dim < end; ++dim) {
      row[dim] = row_element<decltype(formula)::value>(r, static_cast<std::uint32_t>(dim));
    }
  });
}

/// A function for each type, so that its conversion is compiled in line.
template <DType kType>
void round_all(std::span<float> row) {
  for (float& value : row) value = rounded(kType, value);
}

/// Rounds a row to its storage type; scale 1 skips the division so that plain dtypes stay exact.
void round_row(DType dtype, float scale, std::span<float> row) {
  if (scale != 1.0f) {
    for (float& value : row) value /= scale;
  }
  switch (dtype) {
    case DType::kF32:
      return;
    case DType::kF16:
      return round_all<DType::kF16>(row);
    case DType::kBF16:
      return round_all<DType::kBF16>(row);
    case DType::kE4M3:
      return round_all<DType::kE4M3>(row);
    case DType::kE5M2:
      return round_all<DType::kE5M2>(row);
  }
}

/// The largest number of the cache's type instead of the row's element `dim`.
void set_peak(const ContentParams& p, std::uint32_t dim, std::span<float> row) {
  if (dim < row.size()) row[dim] = std::copysign(largest_finite(p.kv_dtype), row[dim]);
}

/// Rounds a row of the cache to its storage types, each element through its scale.
void round_cached_row(const ContentParams& p, const RowScale& scale, std::span<float> row) {
  if (scale.blocked == 0) {
    round_row(p.kv_dtype, scale.all, row);
    return set_peak(p, scale.peak, row);
  }
  for (std::size_t begin = 0; begin < row.size();) {
    const bool blocked = begin < scale.blocked;
    const std::size_t end = blocked ? begin + scale.block() : row.size();
    const auto dim = static_cast<std::uint32_t>(begin);
    round_row(cached_dtype(p, scale, dim), scale.at(dim), row.subspan(begin, end - begin));
    if (blocked) set_peak(p, scale.peak_of_block(dim >> scale.block_bits), row);
    begin = end;
  }
}

}  // namespace

Contents::Contents(const Case& c, Fill fill) : case_(&c), params_(params_of(c, fill)) {
  if (fill != Fill::kNeedle) return;
  if (c.layer.is_recurrent()) return;  // no key is kept that could be planted
  for (int prefix = 0; prefix < std::ssize(c.prefixes); ++prefix) {
    const KeyRun own = own_tokens(c.prefixes, prefix);
    prefix_needles_.push_back(run_needles(own.begin, own.end, c.kv_cache.page_size));
  }
  for (const Request& request : c.requests) request_needles_.push_back(request_needles(c, request));
}

ContentParams Contents::sample_params(const Case& c) { return params_of(c, Fill::kSample); }

Contents::Contents(const Case& c, std::int64_t number)
    : case_(&c), params_(params_of(c, Fill::kTiming)), sample_params_(sample_params(c)) {
  expects(number > 0, "timed samples count from 1");
  sample_params_.seed = combine(sample_params_.seed, static_cast<std::uint64_t>(number));
  if (c.layer.is_recurrent() || !(attends(c.step) || writes_kv(c.step))) return;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    const auto request = static_cast<std::int64_t>(r);
    fresh_keys_.push_back(fresh_key_of(fresh_key_choice(c, c.requests[r]), sample_params_.seed,
                                       query_stream(request)));
  }
}

std::uint64_t Contents::secret() const {
  return combine(step_params().seed ^ case_->sample_nonce, 0x5ec7e7u);
}

bool Contents::is_fresh(std::int64_t request, std::int64_t position) const {
  return !fresh_keys_.empty() &&
         fresh_keys_[static_cast<std::size_t>(request)].position == position;
}

ContentParams Contents::params_of_key(std::int64_t request, std::int64_t position) const {
  if (!is_fresh(request, position)) return params_;
  ContentParams p = sample_params_;
  p.needle_size = fresh_keys_[static_cast<std::size_t>(request)].size;
  return p;
}

PageRun Contents::page_run(std::int64_t request, std::int64_t position) const {
  const Request& r = case_->requests[static_cast<std::size_t>(request)];
  KeyRun tokens{r.shared_len, case_->layer.cached_keys(r.kv_len)};
  std::uint64_t stream = own_stream(request);
  if (r.shared_prefix >= 0 && position < r.shared_len) {
    const int prefix = prefix_of_token(case_->prefixes, r.shared_prefix, position);
    tokens = own_tokens(case_->prefixes, prefix);
    stream = static_cast<std::uint64_t>(prefix);
  }
  const std::int64_t page_size = case_->kv_cache.page_size;
  const std::int64_t first = tokens.begin / page_size, last = tokens.end - 1;
  return {stream, first, (last + page_shift(request, last)) / page_size - first + 1};
}

std::int64_t Contents::page_shift(std::int64_t request, std::int64_t position) const {
  const std::int64_t kv_len = case_->requests[static_cast<std::size_t>(request)].kv_len;
  return position < kv_len ? 0 : round_up(kv_len, case_->kv_cache.page_size) - kv_len;
}

bool Contents::is_rewritten(std::int64_t request, std::int64_t position) const {
  return is_on_rewritten_page(request, position) && !is_fresh(request, position);
}

bool Contents::is_on_rewritten_page(std::int64_t request, std::int64_t position) const {
  return is_sample() && attnbench::is_rewritten(
                            sample_params_.seed, page_run(request, position),
                            (position + page_shift(request, position)) / case_->kv_cache.page_size);
}

void Contents::rewrite(std::int64_t request, std::int64_t position, int head, bool is_value,
                       std::span<float> row) const {
  if (!is_rewritten(request, position)) return;
  const std::uint32_t key = sign_key(sample_params_.seed, is_value && params_.match_begin == 0,
                                     source_of(request, position).stream, position, head);
  for (std::size_t begin = 0; begin < row.size(); begin += 32) {
    const std::uint32_t signs = signs_of(key, static_cast<std::uint32_t>(begin));
    for (std::size_t i = 0; i < std::min<std::size_t>(32, row.size() - begin); ++i) {
      if ((signs >> i & 1u) != 0) row[begin + i] = -row[begin + i];
    }
  }
}

std::uint64_t Contents::query_stream(std::int64_t request) const {
  const Request& r = case_->requests[static_cast<std::size_t>(request)];
  return static_cast<std::uint64_t>(r.stream >= 0 ? r.stream : request);
}

std::uint64_t Contents::own_stream(std::int64_t request) const {
  return static_cast<std::uint64_t>(kOwnStreams) + query_stream(request);
}

Contents::Source Contents::source_of(std::int64_t request, std::int64_t position) const {
  const Request& r = case_->requests[static_cast<std::size_t>(request)];
  const bool shared = r.shared_prefix >= 0 && position < r.shared_len;
  const int prefix = shared ? prefix_of_token(case_->prefixes, r.shared_prefix, position) : -1;
  const std::int64_t stream = shared ? prefix : kOwnStreams + (r.stream >= 0 ? r.stream : request);
  bool planted = false;
  if (params_.fill == Fill::kNeedle) {
    const auto& needles = shared ? prefix_needles_[static_cast<std::size_t>(prefix)]
                                 : request_needles_[static_cast<std::size_t>(request)];
    planted = std::ranges::binary_search(needles, position);
  }
  return {static_cast<std::uint64_t>(stream), planted};
}

void Contents::q_row(std::int64_t request, std::int64_t token, int head,
                     std::span<float> row) const {
  const ContentParams& p = step_params();
  const std::uint64_t stream = query_stream(request);
  if (case_->layer.is_recurrent()) {
    write_part(delta_net_q(p, stream, token, head), 0, row.size(), row);
  } else {
    std::uint32_t variant = 0;
    for (std::size_t begin = 0; begin < row.size(); begin += p.head_dim_qk) {
      const auto part =
          row.subspan(begin, std::min<std::size_t>(p.head_dim_qk, row.size() - begin));
      write_part(q_recipe(p, stream, token, head, variant++), 0, part.size(), part);
    }
  }
  round_row(params_.q_dtype, q_scale(request, token, head), row);
}

void Contents::k_row(std::int64_t request, std::int64_t position, int head,
                     std::span<float> row) const {
  if (case_->layer.is_recurrent()) {
    write_part(delta_net_k(step_params(), own_stream(request), position, head), 0, row.size(), row);
    return round_row(params_.dtype, 1.0f, row);
  }
  const Source source = source_of(request, position);
  const ContentParams p = params_of_key(request, position);
  const std::size_t match = p.match_begin;
  // MLA keeps V in the leading columns of the same row.
  if (match > 0) write_part(v_recipe(p, source.stream, position, head), 0, match, row);
  write_part(k_recipe(p, source.stream, source.planted, position, head), match, row.size(), row);
  round_cached_row(params_, k_row_scale(params_, source.stream, position, head), row);
  rewrite(request, position, head, false, row);
}

void Contents::v_row(std::int64_t request, std::int64_t position, int head,
                     std::span<float> row) const {
  if (case_->layer.is_recurrent()) {
    write_part(delta_net_v(step_params(), own_stream(request), position, head), 0, row.size(), row);
    return round_row(params_.dtype, 1.0f, row);
  }
  const Source source = source_of(request, position);
  const ContentParams p = params_of_key(request, position);
  const bool latent = case_->layer.shares_row_of_k_and_v();
  const std::size_t match = latent ? std::min<std::size_t>(p.match_begin, row.size()) : row.size();
  write_part(v_recipe(p, source.stream, position, head), 0, match, row);
  if (match < row.size()) {  // a latent row that is all V
    write_part(k_recipe(p, source.stream, source.planted, position, head), match, row.size(), row);
  }
  round_cached_row(params_, v_row_scale(params_, source.stream, position, head), row);
  rewrite(request, position, head, true, row);
}

float Contents::q_scale(std::int64_t request, std::int64_t token, int head) const {
  return q_row_scale(params_, query_stream(request), token, head);
}

RowScale Contents::k_scale(std::int64_t request, std::int64_t position, int head) const {
  return k_row_scale(params_, source_of(request, position).stream, position, head);
}

RowScale Contents::v_scale(std::int64_t request, std::int64_t position, int head) const {
  return v_row_scale(params_, source_of(request, position).stream, position, head);
}

void Contents::gate_row(std::int64_t request, std::int64_t position, int head,
                        std::span<float> row) const {
  for (std::size_t d = 0; d < row.size(); ++d) {
    row[d] =
        delta_net_gate(step_params(), own_stream(request), position, head, static_cast<int>(d));
  }
}

float Contents::beta(std::int64_t request, std::int64_t position, int head) const {
  return delta_net_beta(step_params(), own_stream(request), position, head);
}

float Contents::skip(int head) { return mamba2_skip(head); }

void Contents::state_row(std::int64_t request, int head, int key_dim, std::span<float> row) const {
  const bool has_state = case_->requests[static_cast<std::size_t>(request)].prefix_len() > 0;
  write_part(has_state ? delta_net_state(params_, own_stream(request), head, key_dim) : RowRecipe{},
             0, row.size(), row);
}

float Contents::sink(int head) const { return sink_logit(params_, head); }

}  // namespace attnbench
