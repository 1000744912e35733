// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/dtype.h"

namespace attnbench {

/// What shares the number that a stored query is multiplied with to get the query it stands for.
enum class QScales : std::uint8_t {
  kTensor,   ///< q_scale, for all of Q
  kRequest,  ///< f32 [B, Hkv], FlashAttention 3's q_descale: of a request, by KV head
};
[[nodiscard]] constexpr std::string_view to_string(QScales scales) {
  return scales == QScales::kTensor ? "tensor" : "request";
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
