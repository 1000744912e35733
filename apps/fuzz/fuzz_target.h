// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What libFuzzer and replay.cpp call with each input: "size" bytes, which may be none. It returns
/// 0 for bytes that are read or refused as this project refuses them; anything else ends the
/// process.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
