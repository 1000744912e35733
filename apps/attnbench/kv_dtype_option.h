// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/batch/cache_format.h"

namespace attnbench {

/// What --kv-dtype calls DeepSeek's 656-byte rows: vLLM's name of them.
inline constexpr const char* kBlockRows = "fp8_ds_mla";

/// Type and scales of the cache that --kv-dtype names: kBlockRows, or a type, which CLI11 has
/// checked.
[[nodiscard]] CacheFormat kv_format_of(const std::string& word);

}  // namespace attnbench
