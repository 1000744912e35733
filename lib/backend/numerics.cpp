// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/numerics.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnbench {
namespace {

bool is_looser(DType one, DType other) { return unit_roundoff(one) > unit_roundoff(other); }

DType looser_of(DType one, DType other) { return is_looser(one, other) ? one : other; }

}  // namespace

std::string refusal_of(const Numerics& declared) {
  if (size_bytes(declared.accumulator) == 1) {
    return fmt::format("accumulator is {}; f32, f16 and bf16 are allowed",
                       to_string(declared.accumulator));
  }
  const int roundings = declared.partial_roundings;
  if (roundings < 1 || roundings > kMostPartialRoundings) {
    return fmt::format("partial_roundings is {}; 1 to {} are allowed", roundings,
                       kMostPartialRoundings);
  }
  return {};
}

Numerics loosest(std::span<const Numerics> parts) {
  Numerics all;
  for (const Numerics& part : parts) {
    all = {.qk_input = looser_of(all.qk_input, part.qk_input),
           .p = looser_of(all.p, part.p),
           .accumulator = looser_of(all.accumulator, part.accumulator),
           .partial_out = looser_of(all.partial_out, part.partial_out),
           .partial_roundings = std::max(all.partial_roundings, part.partial_roundings),
           .lse = all.lse && part.lse};
  }
  return all;
}

std::string looser_than(DType most, const Numerics& declared) {
  struct Stage {
    const char* name;
    DType type;
  };
  std::string stages;
  for (const Stage& stage :
       {Stage{"operands of q.k", declared.qk_input}, Stage{"weights", declared.p},
        Stage{"sums", declared.accumulator}, Stage{"partial results", declared.partial_out}}) {
    if (!is_looser(stage.type, most)) continue;
    stages +=
        fmt::format("{}{} in {}", stages.empty() ? "" : ", ", stage.name, to_string(stage.type));
  }
  return stages;
}

}  // namespace attnbench
