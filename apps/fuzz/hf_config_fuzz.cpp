// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "apps/fuzz/fuzz_target.h"
#include "lib/base/error.h"
#include "lib/model/hf_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    static_cast<void>(attnbench::parse_hf_config(text, "config.json"));
  } catch (const attnbench::ConfigError&) {
  }
  return 0;
}
