// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kv_write.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/common/testing/kv_write_conformance.h"
#include "backends/cpu_flash/cpu_flash.h"
#include "lib/backend/testing/stub_backend.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> writer() {
  return with_kv_write(std::make_unique<cpu_flash::CpuFlashBackend>(), plan_kv_write_on_cpu);
}

TEST(KvWrite, leaves_each_new_key_and_value_in_its_slot) {
  const auto device = make_cpu_device();
  kv_write_conformance::expect_all(writer, *device);
}

/// What is changed of an honest write.
using Change = std::function<void(ForwardBatch&, KvPool&)>;

/// What the verification of a write says that is changed; `after_an_honest_one`: that follows one.
std::string fault_of(const Change& change, const Case& c, bool after_an_honest_one = false) {
  const auto plan = [&](const ForwardBatch& batch, PlanMemory& memory) {
    auto changed = std::make_shared<ForwardBatch>(batch);
    auto pool = std::make_shared<KvPool>(*batch.token_to_kv_pool);
    changed->token_to_kv_pool = pool.get();
    change(*changed, *pool);
    const std::shared_ptr<Plan> honest = plan_kv_write_on_cpu(batch, memory);
    const std::shared_ptr<Plan> faulty = plan_kv_write_on_cpu(*changed, memory);
    return std::make_unique<FunctionPlan>(
        [changed, pool, honest, faulty, after_an_honest_one](Stream& stream) {
          if (after_an_honest_one) honest->run(stream);
          faulty->run(stream);
        });
  };
  const auto make = [&] {
    return with_kv_write(std::make_unique<cpu_flash::CpuFlashBackend>(), plan);
  };
  const auto device = make_cpu_device();
  return kv_write_conformance::first_fault(make, c, StepPart::kKvWrite, *device);
}

TEST(KvWriteFaults, are_all_seen) {
  const std::pair<std::string, Change> faults[] = {
      {"writes nothing",
       [](ForwardBatch& batch, KvPool&) {
         batch.positions.clear();  // as many tokens as there are positions
       }},
      {"leaves the last token out",
       [](ForwardBatch& batch, KvPool&) { batch.positions.pop_back(); }},
      {"takes one slot for another",
       [](ForwardBatch& batch, KvPool&) {
         std::swap(batch.out_cache_loc.front(), batch.out_cache_loc.back());
       }},
      {"forgets the scale", [](ForwardBatch&, KvPool& pool) { pool.k_scale = 1; }},
      {"writes values as keys", [](ForwardBatch&, KvPool& pool) { pool.v = pool.k; }},
  };
  Case c = small_fp8();
  c.layer.head_dim_v = c.layer.head_dim_qk;
  EXPECT_EQ(fault_of([](ForwardBatch&, KvPool&) {}, c), "");
  for (const auto& [name, change] : faults) EXPECT_NE(fault_of(change, c), "") << name;
  const Change to_the_next_slots = [](ForwardBatch& batch, KvPool&) {
    for (std::int64_t& slot : batch.out_cache_loc) ++slot;
  };
  EXPECT_NE(fault_of(to_the_next_slots, c, true), "") << "writes the slots behind, too";
  const Change to_slot_0 = [](ForwardBatch& batch, KvPool&) {
    for (std::int64_t& slot : batch.out_cache_loc) slot = 0;
  };
  EXPECT_EQ(fault_of(to_slot_0, c, true), "") << "where padding writes";
}

}  // namespace
}  // namespace attnbench
