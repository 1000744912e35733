// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// The refusal of a recurrent layer by a backend that reads keys and values.
inline constexpr const char* kNoRecurrent =
    "no recurrent layers: it reads keys and values, where these keep a state (see gated_delta_net)";

}  // namespace attnbench
