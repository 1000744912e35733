// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/kv_write.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/torch_native/torch_native.h"
#include "backends/wrappers/testing/kv_write_conformance.h"
#include "lib/backend/format_choice.h"
#include "lib/backend/testing/stub_backend.h"

namespace attnbench {
namespace {

std::set<std::string> every_format() {
  std::set<std::string> all = kv_write_conformance::kSoftmaxFormats;
  all.insert(kv_write_conformance::kLatentFormats.begin(),
             kv_write_conformance::kLatentFormats.end());
  all.insert("fp8_ds_mla of V4");  // of processors only
  return all;
}

TEST(KvWrite, leaves_each_new_key_and_value_in_its_slot_before_cpu_flash) {
  const auto device = make_cpu_device();
  const auto writer = [] {
    return with_kv_write(std::make_unique<cpu_flash::CpuFlashBackend>(), plan_kv_write_on_cpu);
  };
  kv_write_conformance::expect_all(writer, *device, every_format());
}

TEST(KvWrite, is_read_again_by_torch_native_in_every_format) {
  const auto device = make_cpu_device();
  const auto writer = [] {
    return with_kv_write(std::make_unique<torch_native::TorchNativeBackend>(),
                         plan_kv_write_on_cpu);
  };
  kv_write_conformance::expect_part(writer, StepPart::kBoth, *device, every_format());
}

TEST(KvWrite, rounds_and_scales_as_the_codec_does_in_every_format) {
  const auto device = make_cpu_device();
  kv_write_conformance::expect_bits_of_the_codec(plan_kv_write_on_cpu, *device);
  for (const DType activations : {DType::kBF16, DType::kF32}) {
    for (Case c : small_group_rows()) {
      c.dtype = activations;
      kv_write_conformance::expect_bits_of_the_codec(plan_kv_write_on_cpu, c, *device);
    }
  }
}

TEST(KvWrite, alone_asks_of_attention_whether_it_takes_the_layer_and_no_more) {
  const auto writer =
      with_kv_write(std::make_unique<cpu_flash::CpuFlashBackend>(), plan_kv_write_on_cpu);
  Case c = small_fp8();
  c.kv_cache.scales = KvScales::kToken;
  c.step = StepPart::kKvWrite;
  EXPECT_TRUE(choose_format(*writer, problem_of(c), KvLayout::kXPacked));
  c.step = StepPart::kBoth;
  EXPECT_FALSE(choose_format(*writer, problem_of(c), KvLayout::kXPacked)) << "it cannot read it";
  Case linear = small_delta_nets().front();
  linear.step = StepPart::kKvWrite;
  EXPECT_FALSE(choose_format(*writer, problem_of(linear), {}));
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

Case in_format(Case c, CacheFormat format) {
  c.kv_cache.dtype = format.dtype;
  c.kv_cache.layout = format.layout;
  c.kv_cache.scales = format.scales;
  if (format.scales != KvScales::kTensor) c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
  c.id += "/" + to_string(format);
  return c;
}

TEST(KvWriteFaults, are_seen_in_each_format) {
  constexpr auto kNhd = KvLayout::kNhd, kXPacked = KvLayout::kXPacked;
  constexpr auto kE4M3 = DType::kE4M3;
  auto elsewhere = std::make_shared<std::vector<float>>(1 << 16);
  const Change to_the_next_slots = [](ForwardBatch& batch, KvPool&) {
    for (std::int64_t& slot : batch.out_cache_loc) ++slot;
  };
  struct Fault {
    std::string name;
    Case c;
    Change change;
    bool after_an_honest_one = false;
  };
  const Case paged = small_prefix_hits();
  const Case packed = in_format(paged, {DType::kBF16, kXPacked, 16, KvScales::kTensor});
  const Case packed_fp8 = in_format(paged, {kE4M3, kXPacked, 16, KvScales::kTensor});
  const Case of_heads = in_format(paged, {kE4M3, kNhd, 16, KvScales::kHead});
  const Case of_requests =
      in_format(small_chunked_mixed(), {kE4M3, kXPacked, 16, KvScales::kRequest});
  const Case of_tokens = in_format(paged, {kE4M3, kXPacked, 16, KvScales::kToken});
  const Case of_blocks = in_format(small_mla(), {kE4M3, kNhd, 64, KvScales::kBlock});
  const Case of_groups = small_group_rows()[0], of_short_rows = small_group_rows()[1];
  const Fault faults[] = {
      {"takes an x twice as large", packed, [](ForwardBatch&, KvPool& pool) { ++pool.run_bits_k; }},
      {"packs bf16's x in fp8", packed_fp8,
       [](ForwardBatch&, KvPool& pool) {
         --pool.run_bits_k;
         pool.run_stride_k /= 2;
       }},
      {"writes packed values in one run", packed,
       [](ForwardBatch&, KvPool& pool) { pool.run_bits_v = KvPool::kWholeRow; }},
      {"writes the packed slots behind, too", packed, to_the_next_slots, true},
      {"takes another head's scale", of_heads,
       [&](ForwardBatch&, KvPool& pool) {
         std::reverse_copy(pool.k_scales, pool.k_scales + pool.heads_kv, elsewhere->begin());
         pool.k_scales = elsewhere->data();
       }},
      {"takes the scales of keys for values", of_heads,
       [](ForwardBatch&, KvPool& pool) { pool.v_scales = pool.k_scales; }},
      {"takes the first request's scales for all", of_requests,
       [](ForwardBatch&, KvPool& pool) { pool.scales = KvScales::kHead; }},
      {"stores no scale of keys", of_tokens,
       [&](ForwardBatch&, KvPool& pool) { pool.k_scales = elsewhere->data(); }},
      {"stores no scale of values", of_tokens,
       [&](ForwardBatch&, KvPool& pool) { pool.v_scales = elsewhere->data(); }},
      {"writes the slots behind with their scales, too", of_tokens, to_the_next_slots, true},
      {"applies no scale of tokens", of_tokens,
       [](ForwardBatch&, KvPool& pool) { pool.scales = KvScales::kTensor; }},
      {"scales to e5m2's largest number", of_blocks,
       [](ForwardBatch&, KvPool& pool) { pool.dtype = DType::kE5M2; }},
      {"writes the latent slots behind, too", of_blocks, to_the_next_slots, true},
      {"takes the scales of rows for those of a longer page", of_groups,
       [](ForwardBatch&, KvPool& pool) { pool.blocks.bytes += 8; }},
      {"forgets what a page is rounded up by", of_short_rows,
       [](ForwardBatch&, KvPool& pool) {
         pool.page_stride_k = pool.page_size * pool.blocks.token_bytes();
       }},
      {"stores scales as if each group were twice as long", of_groups,
       [](ForwardBatch&, KvPool& pool) { pool.blocks.block = 128, pool.blocks.scaled = 384; }},
      {"rounds the last columns to e4m3 as well", of_groups,
       [](ForwardBatch&, KvPool& pool) { pool.blocks.scaled = 512; }},
      {"writes the rows with groups behind, too", of_groups, to_the_next_slots, true},
      {"leaves the scales out of a latent row", of_blocks,
       [](ForwardBatch&, KvPool& pool) { pool.scales = KvScales::kTensor; }},
  };
  for (const Fault& fault : faults) {
    EXPECT_EQ(fault_of([](ForwardBatch&, KvPool&) {}, fault.c), "") << fault.c.id;
    EXPECT_NE(fault_of(fault.change, fault.c, fault.after_an_honest_one), "") << fault.name;
  }
}

}  // namespace
}  // namespace attnbench
