// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/batch/cache_format.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// A way to store keys and values, and queries with them, for the question what it costs in
/// accuracy.
struct StoredAs {
  DType dtype = DType::kBF16;
  KvScales scales = KvScales::kTensor;
  /// KvScales::kTensor: the scale makes the largest magnitude of K, or of V, the largest number of
  /// the type, as a calibration would; otherwise it is 1, which engines take without one.
  bool calibrated = false;
  /// Type of queries in fp8, under a scale that makes the largest of all the type's largest number.
  std::optional<DType> queries{};

  /// "e4m3, scale 1", "e4m3, a scale per head", "bf16, Q in e4m3".
  [[nodiscard]] std::string name() const;
};

/// Every way that a layer's cache can be stored in, bf16 first, and queries in e4m3 over bf16 and
/// over e4m3. Throws ConfigError for a recurrent layer, which keeps no keys.
[[nodiscard]] std::vector<StoredAs> ways_to_store(const AttentionLayer& layer);

/// Normal numbers for Q, K and V. Where `outlier_factor` is not 1, two of each 128 channels of
/// every K head, always the same ones, are that many times larger: keys of language models have
/// such channels, and values do not (KIVI, arXiv:2402.02750, figure 2; up to 20 times: LLM.int8(),
/// arXiv:2208.07339, section 4).
struct AccuracyData {
  std::int64_t keys = 4096;   ///< of one request
  std::int64_t queries = 64;  ///< its last tokens
  double outlier_factor = 1;
  std::uint64_t seed = 0;
};

/// How attention over a stored cache differs from attention over the same numbers in bf16. Both are
/// evaluated in float64, so what differs is the format's doing, not a kernel's.
struct FormatAccuracy {
  double bytes_per_token = 0;  ///< of one layer on one rank: K, V and their scales
  double cosine_mean = 1;      ///< of rows of O, one for each query and head
  double cosine_min = 1;
  double nmse = 0;     ///< sum (o - o_bf16)^2 / sum o_bf16^2
  double lse_max = 0;  ///< largest |LSE - LSE_bf16|
  double top1 = 1;     ///< share of rows of logits whose largest one is the same key's
};

/// Of all query heads of `layer`, for each way to store its cache. Heads are evaluated in parallel;
/// the result does not depend on the number of threads. Takes time in proportion to ways x queries
/// x keys x heads. Throws EnvironmentError, before it takes any memory, where that would not do.
[[nodiscard]] std::vector<FormatAccuracy> accuracy_of(const AttentionLayer& layer,
                                                      std::span<const StoredAs> ways,
                                                      const AccuracyData& data);

}  // namespace attnbench
