// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/serving_state.h"

namespace attnbench {

std::vector<std::span<const std::byte>> serving_state(const Fixture& fixture,
                                                      const PlanMemory& plan) {
  std::vector<std::span<const std::byte>> memory = plan.all_memory();
  for (const std::span<const std::byte> index : fixture.index_memory()) memory.push_back(index);
  const AttentionTensors tensors = fixture.tensors();
  for (const ConstTensorView& q : {tensors.q, tensors.q_nope, tensors.q_pe}) {
    if (q.data == nullptr) continue;
    memory.emplace_back(q.data, static_cast<std::size_t>(q.size() * size_bytes(q.dtype)));
  }
  return memory;
}

}  // namespace attnbench
