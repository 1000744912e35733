// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "backends/testing/conformance.h"
#include "lib/batch/chosen_keys.h"
#include "lib/fixture/device_indices.h"

// What a backend that runs lists of chosen keys has to show beside expect_all().
namespace attnbench::conformance {

/// The lists with an entry that is none before each of theirs.
[[nodiscard]] inline ChosenKeys with_missing_entries(const ChosenKeys& chosen) {
  ChosenKeys spread = chosen;
  spread.width *= 2;
  spread.indices.assign(2 * chosen.indices.size(), -1);
  for (std::size_t i = 0; i < chosen.indices.size(); ++i) {
    spread.indices[2 * i + 1] = chosen.indices[i];
  }
  for (std::int32_t& length : spread.lengths) length *= 2;
  return spread;
}

/// What `backend` gives where the fixture's lists are replaced by `chosen`.
[[nodiscard]] inline Outputs outputs_of_lists(Backend& backend, Fixture& fixture,
                                              const ChosenKeys& chosen, Device& device) {
  ForwardBatch batch = fixture.batch();
  batch.chosen = chosen;
  Problem problem = *batch.problem;
  problem.layer.selection.topk = chosen.width;
  batch.problem = &problem;
  const DeviceIndices indices(batch, batch.token_to_kv_pool->page_size, device);
  batch.device_batch = &indices.batch();
  PlanMemory memory(device);
  const auto stream = device.make_stream();
  fixture.poison_outputs();
  const auto plan = backend.plan(batch, memory);
  plan->run(*stream);
  stream->synchronize();
  return outputs_of(fixture);
}

/// Calls check(backend, fixture) for the small selections that the backend takes.
template <class Check>
void for_small_selections(const Registry::Factory& make, Device& device, const Check& check) {
  int taken = 0;
  for (const Case& c : small_selections()) {
    const auto backend = make();
    if (!supports(*backend, c, device)) continue;
    if (c.layer.selection.is_hierarchical()) continue;  // sees other keys, and weighs its entries
    ++taken;
    SCOPED_TRACE(c.id);
    Fixture fixture(c, device);
    fixture.fill(Fill::kNormal);
    check(*backend, fixture);
  }
  EXPECT_GT(taken, 0);
}

/// Entries of -1 give the same bits anywhere in a list as nowhere.
inline void expect_missing_entries_change_nothing(const Registry::Factory& make, Device& device) {
  for_small_selections(make, device, [&](Backend& backend, Fixture& fixture) {
    const Outputs without = forward(backend, fixture, device);
    const ChosenKeys spread = with_missing_entries(*fixture.batch().chosen);
    EXPECT_EQ(outputs_of_lists(backend, fixture, spread, device), without);
  });
}

/// A list of which no entry counts gives zeros and an LSE of -inf, whatever stands in it.
inline void expect_empty_lists_to_give_zeros(const Registry::Factory& make, Device& device) {
  for_small_selections(make, device, [&](Backend& backend, Fixture& fixture) {
    ChosenKeys empty = *fixture.batch().chosen;
    std::ranges::fill(empty.lengths, 0);
    const Outputs outputs = outputs_of_lists(backend, fixture, empty, device);
    const auto is_zero = [](std::byte each) { return each == std::byte{0}; };
    EXPECT_TRUE(std::ranges::all_of(outputs.out, is_zero));
    for (std::size_t at = 0; at < outputs.lse.size(); at += sizeof(float)) {
      EXPECT_EQ(load(DType::kF32, &outputs.lse[at]), -std::numeric_limits<float>::infinity());
    }
  });
}

}  // namespace attnbench::conformance
