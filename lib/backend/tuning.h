// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/backend/backend_info.h"

namespace attnbench {

/// The parts of "splitkv:splits=16": a variant of a backend that sets one of its tuning parameters.
/// Each value that is worth a try is registered as a variant of its own, so that a glob,
/// 'splitkv:splits=*', names a sweep.
struct TunedName {
  std::string_view base, parameter, value;
};

/// Nothing where `name` is no such name.
[[nodiscard]] std::optional<TunedName> tuned_name(std::string_view name);

/// What `base` is with `parameter` set to `value`. `engine_option` sets it where an engine is
/// started, "--triton-attention-num-kv-splits"; empty: no engine has an option for it.
[[nodiscard]] BackendInfo tuned(BackendInfo base, std::string_view parameter, std::int64_t value,
                                std::string_view engine_option = {});

}  // namespace attnbench
