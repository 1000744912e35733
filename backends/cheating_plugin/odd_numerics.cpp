// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cheating_plugin/cheats.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// Unusual ways to compute what is right. Each of them has been seen in kernels, so none may be
// refused.
namespace cheats {
namespace {

constexpr double kNoKey = -std::numeric_limits<double>::infinity();

/// The keys of a row with their values, in any order, as sums over weights.
template <class Number>
struct Sums {
  std::vector<Number> out;
  Number top = static_cast<Number>(kNoKey), denominator = 0;

  explicit Sums(const Planned& planned)
      : out(static_cast<std::size_t>(planned.problem.head_dim_v), 0) {}

  void add(const Planned& planned, std::int64_t token, int head, std::int64_t position) {
    const std::int64_t request = planned.request_of[static_cast<std::size_t>(token)];
    const int kv_head = head / (planned.problem.heads_q / planned.problem.heads_kv);
    const std::uint16_t* const q = planned.q_row(token, head);
    const std::uint16_t* const k = planned.cache_row(ATTNBENCH_K_CACHE, request, position, kv_head);
    const std::uint16_t* const v = planned.cache_row(ATTNBENCH_V_CACHE, request, position, kv_head);
    Number logit = 0;
    for (std::int32_t d = 0; d < planned.problem.head_dim_qk; ++d) {
      logit += static_cast<Number>(widened(q[d])) * static_cast<Number>(widened(k[d]));
    }
    logit *= static_cast<Number>(planned.logit_scale);
    const Number higher = std::max(top, logit);
    const Number shrink = std::exp(top - higher), weight = std::exp(logit - higher);
    for (std::size_t d = 0; d < out.size(); ++d) {
      out[d] = out[d] * shrink + weight * static_cast<Number>(widened(v[d]));
    }
    denominator = denominator * shrink + weight;
    top = higher;
  }

  void write(const Planned& planned, std::int64_t token, int head) const {
    std::uint16_t* const to = planned.out_row(token, head);
    for (std::size_t d = 0; d < out.size(); ++d) {
      to[d] = rounded_to_bf16(
          static_cast<float>(out[d] / denominator * static_cast<Number>(planned.v_scale)));
    }
    if (float* const lse = planned.lse(token, head)) {
      *lse = static_cast<float>(top + std::log(denominator));
    }
  }
};

template <class Row>
void for_each_row(const Planned& planned, const Row& row) {
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head) row(token, head);
  }
}

float through_bf16(float value) { return widened(rounded_to_bf16(value)); }

}  // namespace

void reverse_online_softmax(Planned& planned) {
  for_each_row(planned, [&](std::int64_t token, int head) {
    Sums<float> sums(planned);
    for (std::int64_t j = planned.visible(token); j-- > 0;) sums.add(planned, token, head, j);
    sums.write(planned, token, head);
  });
}

void in_f64(Planned& planned) {
  for_each_row(planned, [&](std::int64_t token, int head) {
    Sums<double> sums(planned);
    for (std::int64_t j = 0; j < planned.visible(token); ++j) sums.add(planned, token, head, j);
    sums.write(planned, token, head);
  });
}

void claims_bf16_weights_and_partials(attnbench_numerics& numerics) {
  numerics.p = ATTNBENCH_BF16;
  numerics.partial_out = ATTNBENCH_BF16;
}

/// Two parts of the keys, whose weights and results are rounded to bf16 before they are joined.
void bf16_weights_and_partials(Planned& planned) {
  const auto dims = static_cast<std::size_t>(planned.problem.head_dim_v);
  for_each_row(planned, [&](std::int64_t token, int head) {
    const std::int64_t visible = planned.visible(token);
    std::vector<float> partials[2], lse(2, static_cast<float>(kNoKey));
    for (std::int64_t part = 0; part < 2; ++part) {
      partials[part].assign(dims, 0);
      if (visible == 1 && part == 1) continue;
      const auto in_part = [=](std::int64_t j) { return (j < (visible + 1) / 2) == (part == 0); };
      attend(planned, token, head, in_part);
      const std::uint16_t* const out = planned.out_row(token, head);
      for (std::size_t d = 0; d < dims; ++d) partials[part][d] = through_bf16(widened(out[d]));
      lse[static_cast<std::size_t>(part)] = *planned.lse(token, head);
    }
    const float top = std::max(lse[0], lse[1]);
    const float weights[2] = {std::exp(lse[0] - top), std::exp(lse[1] - top)};
    std::uint16_t* const to = planned.out_row(token, head);
    for (std::size_t d = 0; d < dims; ++d) {
      to[d] = rounded_to_bf16((weights[0] * partials[0][d] + weights[1] * partials[1][d]) /
                              (weights[0] + weights[1]));
    }
    *planned.lse(token, head) = top + std::log(weights[0] + weights[1]);
  });
}

/// Denormal numbers count as zero from now on, also for whoever runs in this thread later.
void leaves_denormals_off(Planned& planned) {
#if defined(__SSE2__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
  attend_all(planned);
}

/// Its results bypass the cache.
void non_temporal_stores(Planned& planned) {
  attend_all(planned);
#if defined(__SSE2__)
  const std::int32_t dims = planned.problem.head_dim_v;
  for_each_row(planned, [&](std::int64_t token, int head) {
    int* const row = reinterpret_cast<int*>(planned.out_row(token, head));
    for (std::int32_t pair = 0; pair < dims / 2; ++pair) _mm_stream_si32(row + pair, row[pair]);
  });
  _mm_sfence();
#endif
}

}  // namespace cheats
