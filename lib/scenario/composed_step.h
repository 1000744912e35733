// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/scenario/case.h"

namespace attnbench {

/// Whether a request of a composed step is computed in the absorbed form, over the latent cache:
/// vLLM's split_decodes_and_prefills with a threshold of 1. All others are expanded.
[[nodiscard]] inline bool is_absorbed(const Request& request) { return request.q_len == 1; }

/// The parts of `whole`, a mixed step of absorbed latent attention (Case::parts): its prompts in
/// the layer `expanded`, over keys and values that lie ragged, as the up-projection leaves them, in
/// the type of the activations; then its decodes. Prompts behind one prefix have rows of their own,
/// as they were up-projected request by request.
[[nodiscard]] std::vector<Case> composed_parts(const Case& whole, const AttentionLayer& expanded);

/// Throws ConfigError where `command`, "dump", is given a composed step.
void refuse_composed(const Case& c, const char* command);

}  // namespace attnbench
