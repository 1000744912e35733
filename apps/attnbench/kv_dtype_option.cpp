// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/kv_dtype_option.h"

namespace attnbench {

CacheFormat kv_format_of(const std::string& word) {
  CacheFormat format;
  const bool of_blocks = word == kBlockRows;
  format.dtype = of_blocks ? DType::kE4M3 : *dtype_from_string(word);
  if (of_blocks) format.scales = KvScales::kBlock;
  return format;
}

}  // namespace attnbench
