// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "apps/fuzz/fuzz_target.h"
#include "lib/base/error.h"
#include "lib/scenario/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    static_cast<void>(attnbench::parse_scenario(text, "scenario.yaml"));
  } catch (const attnbench::ConfigError&) {
  }
  return 0;
}
