// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/dtype.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// What shares the number that a stored query is multiplied with to get the query it stands for.
enum class QScales : std::uint8_t {
  kTensor,   ///< q_scale, for all of Q
  kRequest,  ///< f32 [B, Hkv], FlashAttention 3's q_descale: of a request, by KV head
  kHead,     ///< f32 [Hkv], vLLM's scales of a checkpoint: by KV head
  kToken,    ///< f32 [T, Hq], which come with the queries: of a token's row in a query head
};
inline constexpr std::array kQScalesKinds = {QScales::kTensor, QScales::kHead, QScales::kToken,
                                             QScales::kRequest};
inline constexpr std::array kFp8Types = {DType::kE4M3, DType::kE5M2};
[[nodiscard]] constexpr std::string_view to_string(QScales scales) {
  switch (scales) {
    case QScales::kTensor:
      return "tensor";
    case QScales::kRequest:
      return "request";
    case QScales::kHead:
      return "head";
    case QScales::kToken:
      return "token";
  }
  return "";
}

/// Which activations are stored in fp8, and how queries are scaled. Without a type they are of the
/// type of this step's keys and values, and their scales are 1.
struct Fp8Activations {
  std::optional<DType> q;
  QScales q_scales = QScales::kTensor;
  std::optional<DType> out;

  friend bool operator==(const Fp8Activations&, const Fp8Activations&) = default;
};

/// The scales of a step's queries where they are no whole tensor's: [rows, columns], dense.
struct QScaleArray {
  const float* scales = nullptr;  ///< null: of a whole tensor, or none
  QScales kind = QScales::kTensor;
  std::int32_t heads_q = 1, heads_kv = 1;

  /// Of a step with so many of both.
  [[nodiscard]] constexpr std::int64_t rows(std::int64_t requests, std::int64_t tokens) const {
    if (kind == QScales::kToken) return tokens;
    return kind == QScales::kRequest ? requests : 1;
  }
  [[nodiscard]] constexpr std::int64_t columns() const {
    return kind == QScales::kToken ? heads_q : heads_kv;
  }
  /// Of a query head, and of a token that counts in the whole step, as its request does: what the
  /// stored row is multiplied with beside the scale of a whole tensor.
  [[nodiscard]] constexpr float of(std::int64_t request, std::int64_t token, int head) const {
    if (scales == nullptr) return 1.0f;
    if (kind == QScales::kToken) return scales[token * heads_q + head];
    const std::int64_t row = kind == QScales::kRequest ? request : 0;
    return scales[row * heads_kv + head / (heads_q / heads_kv)];
  }
};

[[nodiscard]] inline QScaleArray q_scale_array(const Fp8Activations& fp8,
                                               const AttentionLayer& layer,
                                               const float* scales = nullptr) {
  return {scales, fp8.q_scales, layer.heads_q, layer.heads_kv};
}

}  // namespace attnbench
