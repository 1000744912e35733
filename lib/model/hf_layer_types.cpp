// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_layer_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/config/json_fields.h"

namespace attnbench {
namespace {

struct KindWord {
  std::string_view word;
  LayerKind kind;
};
// transformers' ALLOWED_ATTN_LAYER_TYPES as far as attnbench has a word for them, and the names
// that they had before (_LEGACY_LAYER_TYPE_REMAP, both in configuration_utils.py).
constexpr KindWord kKindWords[] = {{"full_attention", LayerKind::kFull},
                                   {"attention", LayerKind::kFull},
                                   {"sliding_attention", LayerKind::kSliding},
                                   {"chunked_attention", LayerKind::kChunked},
                                   {"indexed_attention", LayerKind::kSparse},
                                   {"deepseek_sparse_attention", LayerKind::kSparse},
                                   {"compressed_sparse_attention", LayerKind::kSparse},
                                   {"heavily_compressed_attention", LayerKind::kCompressed},
                                   {"linear_attention", LayerKind::kLinear}};

}  // namespace

LayerKind kind_of_layer_type(std::string_view word, const std::string& path) {
  const auto* known = std::ranges::find(kKindWords, word, &KindWord::word);
  if (known != std::end(kKindWords)) return known->kind;
  throw ConfigError(fmt::format(
      "{} has {}; known are full_attention, sliding_attention, chunked_attention, "
      "indexed_attention, compressed_sparse_attention, heavily_compressed_attention and "
      "linear_attention",
      path, shown(std::string(word))));
}

}  // namespace attnbench
