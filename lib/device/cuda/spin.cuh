// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/device/device.h"

namespace attnbench {

/// Enqueues a kernel of one thread that lasts `ns` by the GPU's own timer: the known signal that
/// timers are checked with.
void enqueue_spin(Stream& stream, std::uint64_t ns);

}  // namespace attnbench
