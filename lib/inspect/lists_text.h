// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/model/attention_layer.h"

namespace attnbench {

/// The lists of a layer with a selection: "lists of 2048 keys, uniform, by KV head, by maxima".
[[nodiscard]] std::string lists_text(const AttentionLayer& layer);

}  // namespace attnbench
