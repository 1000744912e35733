// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "lib/device/device.h"

namespace attnbench {

/// Host memory between two guard zones of 4 KiB whose pattern is checked on demand.
[[nodiscard]] std::unique_ptr<Buffer> make_guarded_buffer(std::size_t bytes, std::string_view what);

}  // namespace attnbench
