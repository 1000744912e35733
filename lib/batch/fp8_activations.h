// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/dtype.h"

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

}  // namespace attnbench
