// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/fuzz/fuzz_target.h"
#include "lib/scenario/batch_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto read = attnbench::parse_batch_string(text);
  if (const auto* segments = std::get_if<std::vector<attnbench::BatchSegment>>(&read)) {
    for (const attnbench::BatchSegment& each : *segments) {
      if (each.count < 1 || each.q_len < 1 || each.kv_len < each.q_len) std::abort();
    }
  } else if (const auto& error = std::get<attnbench::BatchStringError>(read);
             error.offset + error.length > size + 1 || error.message.empty()) {
    // What is missing stands one behind the end.
    std::abort();
  }
  return 0;
}
