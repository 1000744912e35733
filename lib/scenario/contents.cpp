// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/contents.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr std::array<std::pair<Fill, std::string_view>, 6> kNames{{{Fill::kNeedle, "needle"},
                                                                   {Fill::kTag, "tag"},
                                                                   {Fill::kSparseInt, "sparse_int"},
                                                                   {Fill::kExtreme, "extreme"},
                                                                   {Fill::kNormal, "normal"},
                                                                   {Fill::kTiming, "timing"}}};

/// Logit of a planted key: ln(2^17) + 1, so that one key outweighs the rest of a 128k context. A
/// constant, because a request's contents must not depend on its batch.
constexpr double kNeedleLogit = 12.78;

/// Standard deviation of everything that is not planted, small enough not to drown the needles.
constexpr float kNeedleNoise = 0.3f;

/// exp(88.7) overflows f32: a kernel that forgets the maximum returns infinities.
constexpr double kExtremeLogit = 88;

/// Two primes-to-each-other digits of base 13 tell 169 neighbouring tokens apart; -6..6 is exact
/// even in e4m3, and so are their sums in f32.
constexpr std::int64_t kTagBase = 13;

void add_if_inside(std::vector<std::int64_t>& positions, std::int64_t position, std::int64_t begin,
                   std::int64_t end) {
  if (position >= begin && position < end) positions.push_back(position);
}

void sort_unique(std::vector<std::int64_t>& positions) {
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

/// Where kernels go wrong along a run of keys [begin, end): its ends, page ends, split ends.
std::vector<std::int64_t> run_needles(std::int64_t begin, std::int64_t end,
                                      std::int64_t page_size) {
  std::vector<std::int64_t> positions;
  const std::int64_t middle = begin + (end - begin) / 2;
  constexpr std::int64_t kSplit =
      256;  // the tile of deterministic split-KV modes; others divide it
  for (const std::int64_t position :
       {begin, end - 1, page_size - 1, page_size, middle / page_size * page_size - 1,
        middle / page_size * page_size, middle / kSplit * kSplit - 1, middle / kSplit * kSplit}) {
    add_if_inside(positions, position, begin, end);
  }
  return positions;
}

/// Needles of a request's own keys: a run's, plus the mask's and the window's edges of its first
/// and last query. A needle at a new token is the diagonal of one row and forbidden to the row
/// before.
std::vector<std::int64_t> request_needles(const Case& c, const Request& request) {
  const std::int64_t begin = request.shared_len, end = request.kv_len;
  std::vector<std::int64_t> positions = run_needles(begin, end, c.kv_cache.page_size);
  const std::int64_t first_row = request.prefix_len(), last_row = request.kv_len - 1;
  for (const std::int64_t position :
       {first_row - 1, first_row, first_row + 1, first_row + request.q_len / 2, last_row}) {
    add_if_inside(positions, position, begin, end);
  }
  if (c.layer.sliding_window_size >= 0) {
    for (const std::int64_t row : {first_row, last_row}) {
      add_if_inside(positions, row - c.layer.sliding_window_size, begin, end);
      add_if_inside(positions, row - c.layer.sliding_window_size - 1, begin, end);
    }
  }
  sort_unique(positions);
  return positions;
}

void normal_row(std::uint64_t key, float sigma, std::span<float> row) {
  for (std::size_t dim = 0; dim < row.size(); ++dim) {
    row[dim] = sigma * normal_element(key, static_cast<std::uint32_t>(dim));
  }
}

/// Four fifths zeros, the rest integers -2, -1, 1, 2.
void sparse_integer_row(std::uint64_t key, std::span<float> row) {
  for (std::size_t dim = 0; dim < row.size(); ++dim) {
    const std::uint32_t bits = element_bits(key, static_cast<std::uint32_t>(dim));
    const float magnitude = (bits & 1u) != 0 ? 1.0f : 2.0f;
    const float value = (bits & 2u) != 0 ? magnitude : -magnitude;
    row[dim] = (bits >> 8) % 5 == 0 ? value : 0.0f;
  }
}

void integer_row(std::uint64_t key, std::span<float> row) {
  for (std::size_t dim = 0; dim < row.size(); ++dim) {
    const std::uint32_t bits = element_bits(key, static_cast<std::uint32_t>(dim));
    row[dim] = static_cast<float>(static_cast<std::int32_t>(bits % 9)) - 4.0f;
  }
}

/// Rounds a row to its storage type; scale 1 skips the division so that plain dtypes stay exact.
void round_row(DType dtype, float scale, std::span<float> row) {
  if (scale != 1.0f) {
    for (float& value : row) value /= scale;
  }
  if (dtype == DType::kF32) return;
  if (dtype == DType::kBF16) {
    for (float& value : row) value = bf16_value(bf16_bits(value));
    return;
  }
  for (float& value : row) value = rounded(dtype, value);
}

}  // namespace

std::string_view to_string(Fill fill) {
  for (const auto& [key, name] : kNames) {
    if (key == fill) return name;
  }
  return "?";
}

std::optional<Fill> fill_from_string(std::string_view name) {
  for (const auto& [key, known] : kNames) {
    if (known == name) return key;
  }
  return std::nullopt;
}

Contents::Contents(const Case& c, Fill fill)
    : case_(&c),
      fill_(fill),
      seed_(combine(c.seed, static_cast<std::uint64_t>(fill))),
      match_begin_(c.layer.kind == AttentionKind::kMlaAbsorbed
                       ? static_cast<std::size_t>(c.layer.head_dim_v)
                       : 0) {
  if (fill_ != Fill::kNeedle) return;
  for (const SharedPrefix& prefix : c.prefixes) {
    prefix_needles_.push_back(run_needles(0, prefix.length, c.kv_cache.page_size));
    sort_unique(prefix_needles_.back());
  }
  for (const Request& request : c.requests) request_needles_.push_back(request_needles(c, request));
}

Contents::Source Contents::source_of(std::int64_t request, std::int64_t position) const {
  const Request& r = case_->requests[static_cast<std::size_t>(request)];
  const bool shared = position < r.shared_len;
  // Streams of requests start above those of prefixes, so the two never meet.
  const std::int64_t own = std::int64_t{1} << 32;
  const std::int64_t stream = shared ? r.shared_prefix : own + (r.stream >= 0 ? r.stream : request);
  bool planted = false;
  if (fill_ == Fill::kNeedle) {
    const auto& needles = shared ? prefix_needles_[static_cast<std::size_t>(r.shared_prefix)]
                                 : request_needles_[static_cast<std::size_t>(request)];
    planted = std::ranges::binary_search(needles, position);
  }
  return {static_cast<std::uint64_t>(stream), planted};
}

float Contents::direction(std::uint64_t key, std::size_t dim) const {
  return (element_bits(key, static_cast<std::uint32_t>(dim)) & 1u) != 0 ? 1.0f : -1.0f;
}

void Contents::q_row(std::int64_t request, std::int64_t token, int head,
                     std::span<float> row) const {
  const Request& r = case_->requests[static_cast<std::size_t>(request)];
  const std::int64_t stream = r.stream >= 0 ? r.stream : request;
  const std::uint64_t key =
      row_key(seed_, Role::kQ, static_cast<std::uint64_t>(stream), token, head);
  const int kv_head = head / case_->layer.group_size();
  switch (fill_) {
    case Fill::kTag:
      // Zero queries weigh all visible keys alike, so O is an exact mean of tags. (Zero keys would
      // do the same but are V as well under MLA.)
      std::ranges::fill(row, 0.0f);
      break;
    case Fill::kSparseInt:
      sparse_integer_row(key, row);
      break;
    case Fill::kNeedle:
    case Fill::kExtreme: {
      const std::uint64_t towards = row_key(seed_, Role::kNeedle, 0, 0, kv_head);
      normal_row(key, fill_ == Fill::kNeedle ? kNeedleNoise : 0.0f, row);
      for (std::size_t dim = match_begin_; dim < row.size(); ++dim)
        row[dim] += direction(towards, dim);
      break;
    }
    case Fill::kNormal:
    case Fill::kTiming:
      normal_row(key, 1.0f, row);
      break;
  }
  round_row(case_->dtype, 1.0f, row);
}

void Contents::fill_k(const Source& source, std::int64_t position, int head,
                      std::span<float> row) const {
  const std::uint64_t key = row_key(seed_, Role::kK, source.stream, position, head);
  const auto match = row.subspan(match_begin_);
  const std::uint64_t towards = row_key(seed_, Role::kNeedle, 0, 0, head);
  // A key m * direction meets a query along the same direction with logit scale * m * dims.
  const double logit_per_unit = case_->layer.scale * static_cast<double>(match.size());
  switch (fill_) {
    case Fill::kNeedle:
      normal_row(key, kNeedleNoise, match);
      if (source.planted) {
        const auto size = static_cast<float>(kNeedleLogit / logit_per_unit);
        for (std::size_t dim = match_begin_; dim < row.size(); ++dim) {
          row[dim] = size * direction(towards, dim);
        }
      }
      break;
    case Fill::kExtreme: {
      // Few keys at the top, some just below, more below that, the rest far down; heads alternate
      // between +88, which overflows an unshifted exp, and -88, which a maximum started at 0
      // misses.
      const std::uint32_t draw =
          element_bits(row_key(seed_, Role::kExtreme, source.stream, position, head), 0) % 64;
      const double below = draw == 0 ? 0.0 : draw < 5 ? 1.0 : draw < 17 ? 2.0 : 8.0;
      const double logit = (head % 2 == 0 ? kExtremeLogit : -kExtremeLogit) - below;
      const auto size = static_cast<float>(logit / logit_per_unit);
      for (std::size_t dim = match_begin_; dim < row.size(); ++dim) {
        row[dim] = size * direction(towards, dim);
      }
      break;
    }
    case Fill::kSparseInt:
      sparse_integer_row(key, match);
      break;
    case Fill::kTag:
    case Fill::kNormal:
    case Fill::kTiming:
      normal_row(key, 1.0f, match);
      break;
  }
}

void Contents::fill_v(const Source& source, std::int64_t position, int head,
                      std::span<float> row) const {
  const std::uint64_t key = row_key(seed_, Role::kV, source.stream, position, head);
  if (fill_ == Fill::kSparseInt) {
    integer_row(key, row);
  } else if (fill_ == Fill::kTag) {
    // Heads are offset against each other so that a wrong head map cannot cancel.
    const std::int64_t tag = position + 5 * static_cast<std::int64_t>(head);
    const auto low = static_cast<float>(tag % kTagBase - kTagBase / 2);
    const auto high = static_cast<float>(tag / kTagBase % kTagBase - kTagBase / 2);
    for (std::size_t dim = 0; dim < row.size(); ++dim) row[dim] = dim < row.size() / 2 ? low : high;
  } else {
    normal_row(key, 1.0f, row);
  }
}

void Contents::k_row(std::int64_t request, std::int64_t position, int head,
                     std::span<float> row) const {
  const Source source = source_of(request, position);
  // MLA keeps V in the leading columns of the same row.
  if (match_begin_ > 0) fill_v(source, position, head, row.first(match_begin_));
  fill_k(source, position, head, row);
  round_row(case_->kv_cache.dtype, case_->kv_cache.k_scale, row);
}

void Contents::v_row(std::int64_t request, std::int64_t position, int head,
                     std::span<float> row) const {
  fill_v(source_of(request, position), position, head, row);
  const bool mla = match_begin_ > 0;
  round_row(case_->kv_cache.dtype, mla ? case_->kv_cache.k_scale : case_->kv_cache.v_scale, row);
}

float Contents::sink(int head) const {
  return normal_element(row_key(seed_, Role::kSink, 0, 0, head), 0);
}

}  // namespace attnbench
