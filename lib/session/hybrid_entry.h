// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lib/backend/registry.h"

namespace attnbench {

/// Whether a backend's name is that of a pair, a backend for each phase: "paged_fa+splitkv", which
/// computes prompts by paged_fa and decodes by splitkv. With ":speculative_attention_mode=decode"
/// behind it, draft trees are the decode backend's; else they are the prefill backend's.
[[nodiscard]] bool is_hybrid(std::string_view name);

/// Adds the pair that `name` names, unless it is there; `registry` has both parts. It is absent
/// where one of them is. Throws ConfigError with what is allowed where there is no such part, where
/// they need two devices, or where no process can run both: each is a backend of this program, of
/// one .so file, or of .py files.
void add_hybrid(Registry& registry, const std::string& name);

}  // namespace attnbench
