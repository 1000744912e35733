// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, as vector-inl.h says; empty without bf16 dot products.
#if defined(ATTNBENCH_BACKENDS_CPU_FLASH_BF16_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_CPU_FLASH_BF16_DOTS_INL_H_
#undef ATTNBENCH_BACKENDS_CPU_FLASH_BF16_DOTS_INL_H_
#else
#define ATTNBENCH_BACKENDS_CPU_FLASH_BF16_DOTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/common/vector-inl.h"
#include "backends/cpu_flash/rows_ahead.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>

// Scores from bf16 queries and keys as stored. No instruction set of Highway 1.0 contains
// vdpbf16ps, so these functions enable it themselves; callers have checked that the processor has
// it. A product of two bf16 numbers is exact in f32 and its sums are f32 sums, as with widened
// operands, but numbers below 2^-126 count as 0: tile_queries.cpp keeps out queries to which that
// would matter.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attnbench::cpu_flash::HWY_NAMESPACE {

using namespace attnbench::HWY_NAMESPACE;  // the vectors of backends/common

/// sums + a b, two neighbouring products to a lane.
[[nodiscard]] HWY_INLINE Floats bf16_dots(Floats sums, __m512i a, __m512i b) {
  return Floats{
      _mm512_dpbf16_ps(sums.raw, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b))};
}

/// Bytes [byte, byte + 64 / kCopies) of a row, kCopies times.
template <int kCopies>
[[nodiscard]] HWY_INLINE __m512i load_copies(const std::byte* p) {
  if constexpr (kCopies == 16) {
    std::int32_t pair;
    std::memcpy(&pair, p, sizeof pair);
    return _mm512_set1_epi32(pair);
  } else if constexpr (kCopies == 4) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  } else if constexpr (kCopies == 2) {
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  } else {
    return _mm512_loadu_si512(p);
  }
}

/// Writes the scores of four keys: in sums[n] each quarter, half or whole belongs to a row.
template <int kRows>
HWY_INLINE void store_chunk_sums(const Floats* sums, float* scores, std::int64_t ld) {
  const Floats blocks = block_sums(sums[0], sums[1], sums[2], sums[3]);
  float s[16];  // [blocks, keys]; a row's blocks are neighbours
  if constexpr (kRows == 4) {
    const __m512i by_key = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_ps(s, _mm512_permutexvar_ps(by_key, blocks.raw));
    for (int n = 0; n < 4; ++n) std::memcpy(scores + n * ld, s + n * 4, 4 * sizeof(float));
  } else if constexpr (kRows == 2) {
    _mm512_storeu_ps(s, blocks.raw);
    for (int n = 0; n < 4; ++n) {
      scores[n * ld] = s[n] + s[n + 4];
      scores[n * ld + 1] = s[n + 8] + s[n + 12];
    }
  } else {
    store_sum_of_blocks(F32(), blocks, s);
    for (int n = 0; n < 4; ++n) scores[n * ld] = s[n];
  }
}

/// scores[j, r] of kRows rows whose queries lie in chunks; eight keys at a time, each held kRows
/// times in a register: their sums hide an instruction's latency.
template <int kRows>
void chunk_rows(const std::byte* q, const std::byte* const* k, std::int64_t keys, std::int64_t dk,
                float* scores, std::int64_t ld, const RowsAhead& ahead) {
  constexpr int kKeys = 8;
  constexpr std::int64_t kRegister = 64, kPart = kRegister / kRows;
  const std::int64_t parts = dk * 2 / kPart;
  for (std::int64_t j = 0; j < keys; j += kKeys) {
    Floats sums[std::size_t{kKeys}];
    for (int n = 0; n < kKeys; ++n) sums[n] = hn::Zero(F32());
    for (std::int64_t part = 0; part < parts; ++part) {
      ahead.prefetch_line(j, j + kKeys, part * kPart);
      const __m512i query = _mm512_loadu_si512(q + part * kRegister);
      for (int n = 0; n < kKeys; ++n) {
        sums[n] = bf16_dots(sums[n], query, load_copies<kRows>(k[j + n] + part * kPart));
      }
    }
    store_chunk_sums<kRows>(sums, scores + j * ld, ld);
    store_chunk_sums<kRows>(sums + 4, scores + (j + 4) * ld, ld);
  }
}

/// tile_scores of few rows over bf16 keys; q in QueryLayout::kBf16Chunks.
inline void bf16_chunk_scores(const float* q, std::int64_t rows, const std::byte* const* k,
                              std::int64_t keys, std::int64_t dk, float* scores, std::int64_t ld,
                              const RowsAhead& ahead) {
  const RowsAhead none;
  const auto* group = reinterpret_cast<const std::byte*>(q);
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    chunk_rows<4>(group + r * dk * 2, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
  }
  if (r + 2 <= rows) {
    chunk_rows<2>(group + r * dk * 2, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
    r += 2;
  }
  if (r < rows) {
    chunk_rows<1>(group + r * dk * 2, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
  }
}

/// The pass-th of `passes` over the same keys, kPanels vectors of rows and eight keys at a time.
template <int kPanels>
void bf16_panel_rows(const std::byte* q, const std::byte* const* k, std::int64_t keys,
                     std::int64_t pairs, float* scores, std::int64_t ld, const RowsAhead& ahead,
                     std::int64_t pass, std::int64_t passes) {
  constexpr int kKeys = 8;
  constexpr std::int64_t kRegister = 64, kPair = 4;
  const std::int64_t blocks = (keys + kKeys - 1) / kKeys;
  for (std::int64_t block = 0; block < blocks; ++block) {
    ahead.prefetch_share(pass * blocks + block, passes * blocks);
    const std::byte* const* key = k + block * kKeys;
    Floats sums[std::size_t{kKeys}][std::size_t{kPanels}];
    for (int n = 0; n < kKeys; ++n) {
      for (int p = 0; p < kPanels; ++p) sums[n][p] = hn::Zero(F32());
    }
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      __m512i query[std::size_t{kPanels}];
      for (int p = 0; p < kPanels; ++p) {
        query[p] = _mm512_loadu_si512(q + (p * pairs + pair) * kRegister);
      }
      for (int n = 0; n < kKeys; ++n) {
        const __m512i element = load_copies<16>(key[n] + pair * kPair);
        for (int p = 0; p < kPanels; ++p) sums[n][p] = bf16_dots(sums[n][p], query[p], element);
      }
    }
    float* to = scores + block * kKeys * ld;
    for (int n = 0; n < kKeys; ++n) {
      for (int p = 0; p < kPanels; ++p) store_floats(to + n * ld + p * kLanes, sums[n][p]);
    }
  }
}

/// tile_scores of many rows over bf16 keys; q in QueryLayout::kBf16Panels.
inline void bf16_panel_scores(const float* q, std::int64_t rows, const std::byte* const* k,
                              std::int64_t keys, std::int64_t dk, float* scores, std::int64_t ld,
                              const RowsAhead& ahead) {
  constexpr std::int64_t kTwo = 2 * kLanes;
  const auto* panels = reinterpret_cast<const std::byte*>(q);
  const std::int64_t passes = (rows + kTwo - 1) / kTwo;
  for (std::int64_t pass = 0, r = 0; pass < passes; ++pass, r += kTwo) {
    const std::byte* panel = panels + r * dk * 2;
    if (r + kLanes < rows) {
      bf16_panel_rows<2>(panel, k, keys, dk / 2, scores + r, ld, ahead, pass, passes);
    } else {
      bf16_panel_rows<1>(panel, k, keys, dk / 2, scores + r, ld, ahead, pass, passes);
    }
  }
}

}  // namespace attnbench::cpu_flash::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

#endif
