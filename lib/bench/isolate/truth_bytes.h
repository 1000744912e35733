// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lib/verify/verify.h"

namespace attnbench {

/// The float64 reference as bytes: computed once, it is sent to every worker. Megabytes of doubles,
/// hence no JSON; both ends are the same program on the same machine.
[[nodiscard]] std::vector<std::byte> pack_truth(std::span<const FillTruth> truth);
/// Throws InternalError on bytes of another length than pack_truth made.
[[nodiscard]] std::vector<FillTruth> unpack_truth(std::span<const std::byte> bytes);

}  // namespace attnbench
