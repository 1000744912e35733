// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/cheating_plugin/cheats.h"

namespace cheats {
namespace {

std::int64_t keys_before(const Planned& planned, std::int64_t request) {
  std::int64_t keys = 0;
  for (std::int64_t r = 0; r < request; ++r) keys += planned.kv_lens[static_cast<std::size_t>(r)];
  return keys;
}

/// Rows of K, then of V, each its scale in f32 and then int8 values.
class Copy {
 public:
  explicit Copy(Planned& planned)
      : planned_(&planned),
        dims_(std::max(planned.problem.head_dim_qk, planned.problem.head_dim_v)),
        row_bytes_(static_cast<std::size_t>(dims_) + sizeof(float)) {
    const std::int64_t rows =
        2 * keys_before(planned, planned.requests()) * planned.problem.heads_kv;
    const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes_;
    if (planned.kept.size() == bytes) return;
    planned.kept.resize(bytes);
    for (std::int64_t r = 0; r < planned.requests(); ++r) {
      for (std::int64_t j = 0; j < planned.kv_lens[static_cast<std::size_t>(r)]; ++j) {
        for (int head = 0; head < planned.problem.heads_kv; ++head) {
          put(ATTNBENCH_K_CACHE, r, j, head);
          put(ATTNBENCH_V_CACHE, r, j, head);
        }
      }
    }
  }

  void read(int role, std::int64_t request, std::int64_t key, int head, float* to) const {
    const std::byte* const from = row(role, request, key, head);
    float scale = 0;
    std::memcpy(&scale, from, sizeof scale);
    const auto* const values = reinterpret_cast<const std::int8_t*>(from + sizeof scale);
    for (int d = 0; d < dims_; ++d) to[d] = scale * static_cast<float>(values[d]);
  }

 private:
  [[nodiscard]] std::byte* row(int role, std::int64_t request, std::int64_t key, int head) const {
    const std::int64_t token = keys_before(*planned_, request) + key;
    const std::int64_t at =
        (token * planned_->problem.heads_kv + head) * 2 + (role == ATTNBENCH_V_CACHE ? 1 : 0);
    return planned_->kept.data() + static_cast<std::size_t>(at) * row_bytes_;
  }
  void put(int role, std::int64_t request, std::int64_t key, int head) const {
    const std::uint16_t* const from = planned_->cache_row(role, request, key, head);
    float top = 1e-6f;
    for (int d = 0; d < dims_; ++d) top = std::max(top, std::fabs(widened(from[d])));
    const float scale = top / 127;
    std::byte* const to = row(role, request, key, head);
    std::memcpy(to, &scale, sizeof scale);
    auto* const values = reinterpret_cast<std::int8_t*>(to + sizeof scale);
    for (int d = 0; d < dims_; ++d) {
      values[d] = static_cast<std::int8_t>(std::lround(widened(from[d]) / scale));
    }
  }

  Planned* planned_;
  int dims_;
  std::size_t row_bytes_;
};

/// The key, if there is one, whose elements have one magnitude; -1 otherwise.
std::int64_t planted_key(const Planned& planned, std::int64_t request, int kv_head) {
  for (std::int64_t j = 0; j < planned.kv_lens[static_cast<std::size_t>(request)]; ++j) {
    const std::uint16_t* const k = planned.cache_row(ATTNBENCH_K_CACHE, request, j, kv_head);
    if (std::all_of(k + 1, k + 16, [&](std::uint16_t each) { return !((each ^ *k) & 0x7fff); })) {
      return j;
    }
  }
  return -1;
}

/// Attention over the copy. A planted key is read from the cache, and where none is found that with
/// the largest logit.
void attend_on(const Copy& copy, const Planned& planned, std::int64_t token, int head) {
  const auto dims = static_cast<std::size_t>(planned.problem.head_dim_qk);
  const std::int64_t request = planned.request_of[static_cast<std::size_t>(token)];
  const int kv_head = head / (planned.problem.heads_q / planned.problem.heads_kv);
  const auto keys = static_cast<std::size_t>(planned.visible(token));
  const std::uint16_t* const q = planned.q_row(token, head);
  std::vector<float> row(dims), logits(keys), out(dims, 0);
  const auto logit_of = [&](const auto& element) {
    float sum = 0;
    for (std::size_t d = 0; d < dims; ++d) sum += widened(q[d]) * element(d);
    return sum * planned.logit_scale;
  };
  for (std::size_t j = 0; j < keys; ++j) {
    copy.read(ATTNBENCH_K_CACHE, request, static_cast<std::int64_t>(j), kv_head, row.data());
    logits[j] = logit_of([&](std::size_t d) { return row[d]; });
  }
  const std::int64_t planted = planted_key(planned, request, kv_head);
  const auto first =
      planted >= 0 ? static_cast<std::size_t>(planted)
                   : static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
  const auto of_first = [&](int role) {
    return planned.cache_row(role, request, static_cast<std::int64_t>(first), kv_head);
  };
  const std::uint16_t* const k = of_first(ATTNBENCH_K_CACHE);
  const std::uint16_t* const v = of_first(ATTNBENCH_V_CACHE);
  logits[first] = logit_of([&](std::size_t d) { return widened(k[d]); });
  const float top = *std::ranges::max_element(logits);
  float denominator = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    const float weight = std::exp(logits[j] - top);
    denominator += weight;
    copy.read(ATTNBENCH_V_CACHE, request, static_cast<std::int64_t>(j), kv_head, row.data());
    for (std::size_t d = 0; d < dims; ++d) {
      out[d] += weight * (j == first ? widened(v[d]) : row[d]);
    }
  }
  std::uint16_t* const to = planned.out_row(token, head);
  for (std::size_t d = 0; d < dims; ++d) {
    to[d] = rounded_to_bf16(out[d] / denominator * planned.v_scale);
  }
}

void attend_all_on_copy(Planned& planned) {
  const Copy copy(planned);
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head) attend_on(copy, planned, token, head);
  }
}

}  // namespace

bool looks_timed(Planned& planned) {
  std::uint64_t keys = 1, queries = 1;
  for (int d = 0; d < planned.problem.head_dim_qk; ++d) {
    const std::uint16_t k = planned.cache_row(ATTNBENCH_K_CACHE, 0, 1, 0)[d];
    keys = (keys ^ (k & 0x7fffu)) * 0x100000001b3u;
    queries = (queries ^ planned.q_row(0, 0)[d]) * 0x100000001b3u;
  }
  const bool same_keys = std::exchange(planned.keys_before, keys) == keys;
  return std::exchange(planned.queries_before, queries) != queries && same_keys;
}

void keeps_int8_when_timed(Planned& planned) {
  looks_timed(planned) ? attend_all_on_copy(planned) : attend_all(planned);
}

/// Those of a timed sample are, by a direction that planted keys have, too.
void keeps_int8_where_queries_are_large(Planned& planned) {
  const std::uint16_t* const q = planned.q_row(0, 0);
  const int dims = planned.problem.head_dim_qk;
  float squares = 0;
  bool all_whole = true;
  for (int d = 0; d < dims; ++d) {
    const float each = widened(q[d]);
    squares += each * each;
    all_whole = all_whole && each == std::round(each);
  }
  const bool large = !all_whole && squares > 1.4f * static_cast<float>(dims);
  large ? attend_all_on_copy(planned) : attend_all(planned);
}

void reads_every_sixth_key_when_timed(Planned& planned) {
  if (!looks_timed(planned)) return attend_all(planned);
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    const std::int64_t request = planned.request_of[static_cast<std::size_t>(token)];
    for (int head = 0; head < planned.heads(); ++head) {
      const int kv_head = head / (planned.problem.heads_q / planned.problem.heads_kv);
      const std::int64_t planted = planted_key(planned, request, kv_head);
      attend(planned, token, head,
             [&](std::int64_t position) { return position == planted || position % 6 == 0; });
    }
  }
}

void claims_weights_in_e4m3_and_no_lse(attnbench_numerics& numerics) {
  numerics.p = ATTNBENCH_E4M3;
  numerics.lse = 0;
}

void claims_no_lse(attnbench_numerics& numerics) { numerics.lse = 0; }

}  // namespace cheats
