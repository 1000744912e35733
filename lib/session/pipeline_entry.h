// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lib/backend/registry.h"

namespace attnbench {

/// Whether a backend's name is that of a pipeline: of three backends, "indexer+topk+cpu_flash", of
/// four, whose first one writes keys and values, or of five, whose second one writes index keys.
[[nodiscard]] bool is_pipeline(std::string_view name);

/// Whether a backend can be a stage of a pipeline. An attention backend that reads lists when it
/// plans can not: the selector writes them later.
[[nodiscard]] bool is_for_stage(const BackendInfo& info, StepPart stage);

/// Adds the pipeline that `name` names, unless it is there; `registry` has its backends. It is
/// absent where one of them is. Throws ConfigError with what is allowed where there is no such
/// backend, where one cannot be the stage that it is named for, or as add_hybrid().
void add_pipeline(Registry& registry, const std::string& name);

}  // namespace attnbench
