// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of backends that write the rows of pools of index keys, right ones and wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/index_writer/index_writer.h"
#include "lib/base/dtype.h"
#include "lib/run/testing/pipeline_run.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A decode that closes a pool and one that does not, and a prompt behind 20 keys.
class PoolWriteRun : public PipelineRun {
 protected:
  static constexpr std::int64_t kDim = IndexerInputs::kDim, kRowBytes = 2 * kDim;

  PoolWriteRun() {
    run_.registry.add([] { return std::make_unique<index_writer::HostWriter>(); });
    run_.scenario.measure.step = {StepPart::kIndexWrite};
    Case& c = run_.scenario.cases[0];
    c.mode = ForwardMode::kExtend;
    c.kv_cache.page_size = 32;
    c.layer.selection = {.topk = 9, .unit = 16, .tail = SelectionTail::kOpen, .index_heads = 4};
    c.requests.resize(3);
    for (Request& each : c.requests) each.q_len = 1;
    c.requests[0].kv_len = 48;
    c.requests[1].kv_len = 47;
    c.requests[2].kv_len = 105;
    c.requests[2].q_len = 85;
    c.padding.tokens = 3;
  }
  std::vector<Record> write_records() {
    run_.plan = plan_run(run_.scenario, run_.registry, run_.filter);
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(run_.scenario, run_.plan, executor, {}).records;
  }
  std::string reason_of(const std::function<Spoiling()>& spoiling) {
    run_.registry.add(
        [=] { return std::make_unique<SpoiltStage<index_writer::HostWriter>>(spoiling); });
    run_.filter.backends = {"spoilt"};
    const std::vector<Record> all = write_records();
    EXPECT_EQ(all.at(0).verdict(), Verdict::kIncorrect);
    return all[0].reason();
  }
  std::string reason_of_writer(const std::function<void(const IndexWrite&)>& after) {
    return reason_of([=] {
      return Spoiling{.after = [=](const ForwardBatch& batch) { after(*batch.index_write); }};
    });
  }
  /// Copies memory, so that it can be changed.
  template <class T>
  static std::byte* own_copy(std::vector<std::byte>& own, const T* from, std::int64_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(static_cast<const void*>(from));
    own.assign(begin, begin + bytes);
    return own.data();
  }
  static std::byte* scale_of(const IndexWrite& write, std::int64_t slot) {
    const std::int64_t page = slot / write.page_size, row = slot % write.page_size;
    return write.cache + page * write.page_size * IndexerInputs::kKeyBytes +
           write.page_size * kDim + row * 4;
  }
  /// What is said of a writer whose inputs `change` changes before each run; `own` lives as long.
  std::string reason_of_reader(
      const std::function<void(IndexWrite&, std::vector<std::byte>& own)>& change) {
    return reason_of([=] { return spoiling_of(change); });
  }
  static Spoiling spoiling_of(
      const std::function<void(IndexWrite&, std::vector<std::byte>& own)>& change) {
    struct Changed {
      const IndexWrite* honest = nullptr;
      IndexWrite write;
      std::vector<std::byte> own;
    };
    const auto changed = std::make_shared<Changed>();
    return Spoiling{.when_planned =
                        [=](ForwardBatch& batch) {
                          changed->honest = batch.index_write;
                          batch.index_write = &changed->write;
                        },
                    .before =
                        [=](const ForwardBatch&) {
                          changed->write = *changed->honest;
                          change(changed->write, changed->own);
                        }};
  }
};

TEST_F(PoolWriteRun, writes_rows_and_a_ring_and_is_timed) {
  const std::vector<Record> all = write_records();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].verdict(), Verdict::kPassed) << all[0].reason();
  EXPECT_TRUE(all[0].is_timed());
  EXPECT_GT(all[0].samples_checked, 0);
  EXPECT_EQ(all[0].slots_checked % 87, 0) << "of so many new keys";
}

TEST_F(PoolWriteRun, takes_drafts_whose_pools_may_open_again) {
  Case& c = run_.scenario.cases[0];
  c.mode = ForwardMode::kTargetVerify;
  for (Request& each : c.requests) {
    each.q_len = 20;
    each.tree_parents.clear();
    for (int parent = -1; parent < 19; ++parent) each.tree_parents.push_back(parent);
  }
  const std::vector<Record> all = write_records();
  EXPECT_EQ(all.at(0).verdict(), Verdict::kPassed) << all[0].reason();
}

TEST_F(PoolWriteRun, blames_an_ape_one_position_off) {
  const std::string reason = reason_of_reader([](IndexWrite& write, std::vector<std::byte>& own) {
    std::byte* const ape = own_copy(own, write.pools.ape, write.shape.keys * kDim * 4);
    std::rotate(ape, ape + kDim * 4, ape + write.shape.keys * kDim * 4);
    write.pools.ape = static_cast<const float*>(static_cast<const void*>(ape));
  });
  EXPECT_THAT(reason, AllOf(StartsWith("the index row of request 0's new token 0"),
                            HasSubstr("holds other than its pool's: ")));
}

TEST_F(PoolWriteRun, blames_an_ape_that_is_left_out) {
  const std::string reason = reason_of_reader([](IndexWrite& write, std::vector<std::byte>& own) {
    own.assign(static_cast<std::size_t>(write.shape.keys * kDim * 4), std::byte{0});
    write.pools.ape = static_cast<const float*>(static_cast<const void*>(own.data()));
  });
  EXPECT_THAT(reason, HasSubstr("holds other than its pool's: "));
}

TEST_F(PoolWriteRun, blames_the_gate_of_the_token_beside_it) {
  const std::string reason = reason_of_reader([](IndexWrite& write, std::vector<std::byte>& own) {
    std::byte* const gates = own_copy(own, write.pools.gates, write.tokens * kRowBytes);
    std::rotate(gates, gates + kRowBytes, gates + 86 * kRowBytes);
    write.pools.gates = gates;
  });
  EXPECT_THAT(reason, HasSubstr("holds other than its pool's: "));
}

TEST_F(PoolWriteRun, blames_a_pool_that_is_closed_one_token_early) {
  const std::string reason = reason_of_reader([](IndexWrite& write, std::vector<std::byte>& own) {
    constexpr std::int64_t kSlot = sizeof(std::int64_t), kWaiting = sizeof(WaitingKeys);
    own.resize(static_cast<std::size_t>(write.tokens * (kSlot + kWaiting)));
    std::byte* const slots = own.data();
    std::byte* const waiting = slots + write.tokens * kSlot;
    std::memcpy(slots, write.slots, static_cast<std::size_t>(write.tokens * kSlot));
    std::memcpy(waiting, write.pools.waiting, static_cast<std::size_t>(write.tokens * kWaiting));
    std::rotate(slots + 2 * kSlot, slots + 3 * kSlot, slots + 86 * kSlot);
    std::rotate(waiting + 2 * kWaiting, waiting + 3 * kWaiting, waiting + 86 * kWaiting);
    write.slots = static_cast<const std::int64_t*>(static_cast<const void*>(slots));
    write.pools.waiting = static_cast<const WaitingKeys*>(static_cast<const void*>(waiting));
  });
  EXPECT_THAT(reason, AllOf(StartsWith("the index row of request 2's new token 11"),
                            HasSubstr("holds other than its pool's: ")));
}

TEST_F(PoolWriteRun, blames_the_ring_one_row_off) {
  const std::string reason = reason_of_reader([](IndexWrite& write, std::vector<std::byte>&) {
    write.pools.ring -= 2 * kRowBytes;  // the block of nobody is before it
  });
  EXPECT_THAT(reason, AllOf(HasSubstr("the index row of request 0's new token 0"),
                            HasSubstr("holds other than its pool's: ")));
}

TEST_F(PoolWriteRun, blames_the_scale_of_another_row) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    std::memcpy(scale_of(write, write.slots[13]), scale_of(write, write.slots[0]), 4);
    float scale = 0;
    std::memcpy(&scale, scale_of(write, write.slots[0]), 4);
    scale *= 2;
    std::memcpy(scale_of(write, write.slots[0]), &scale, 4);
  });
  EXPECT_THAT(reason, HasSubstr("holds other than its pool's: its scale is "));
}

TEST_F(PoolWriteRun, blames_a_key_that_does_not_wait) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    std::memset(write.pools.ring + write.pools.ring_rows[1] * 2 * kRowBytes, 0xff, kRowBytes);
  });
  EXPECT_THAT(reason, StartsWith("the ring row of request 1's new token 0 holds other than its key "
                                 "and gate: dim 0 of the key is "));
}

TEST_F(PoolWriteRun, blames_a_gate_that_waits_with_its_position) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    std::byte* const gate = write.pools.ring + write.pools.ring_rows[1] * 2 * kRowBytes + kRowBytes;
    for (std::int64_t d = 0; d < kDim; ++d) {
      store(DType::kBF16, gate + 2 * d,
            load(DType::kBF16, gate + 2 * d) + write.pools.ape[14 * kDim + d]);
    }
  });
  EXPECT_THAT(reason, HasSubstr(" of the gate is "));
}

TEST_F(PoolWriteRun, blames_what_is_written_where_nothing_waits) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    EXPECT_EQ(write.pools.ring_rows[0], -1) << "its pool is closed";
    write.pools.ring[0] = std::byte{0};
  });
  EXPECT_THAT(reason, HasSubstr("input 'index_ring' was modified"));
}

TEST_F(PoolWriteRun, blames_a_ring_row_of_the_sample_before) {
  const auto runs = std::make_shared<int>(0);
  const auto kept = std::make_shared<std::vector<std::byte>>();
  const std::string reason = reason_of_writer([=](const IndexWrite& write) {
    std::byte* const row = write.pools.ring + write.pools.ring_rows[1] * 2 * kRowBytes;
    std::vector<std::byte> now(row, row + 2 * kRowBytes);
    if ((*runs)++ >= kBeforeSamples) std::ranges::copy(*kept, row);
    *kept = std::move(now);
  });
  EXPECT_THAT(reason, AllOf(HasSubstr("timed"), HasSubstr("the ring row of request 1's")));
}

/// The same steps of a layer with compressed rows beside its tokens.
class CompressRun : public PoolWriteRun {
 protected:
  CompressRun() {
    run_.registry.add([] { return std::make_unique<index_writer::HostCompressor>(); });
    run_.scenario.measure.step = {StepPart::kCompress};
    Case& c = run_.scenario.cases[0];
    c.layer = small_mla().layer;
    c.layer.compress_ratio = 4;
    c.kv_cache.page_size = 128;
  }
  std::string reason_of_compressor(
      const std::function<void(IndexWrite&, std::vector<std::byte>& own)>& change) {
    run_.registry.add([=] {
      return std::make_unique<SpoiltStage<index_writer::HostCompressor>>(
          [=] { return spoiling_of(change); });
    });
    run_.filter.backends = {"spoilt"};
    const std::vector<Record> all = write_records();
    EXPECT_EQ(all.at(0).verdict(), Verdict::kIncorrect);
    return all[0].reason();
  }
};

TEST_F(CompressRun, makes_rows_of_4_and_of_128_and_is_timed) {
  for (const std::int64_t ratio : {4, 128}) {
    run_.scenario.cases[0].layer.compress_ratio = ratio;
    const std::vector<Record> all = write_records();
    ASSERT_EQ(all.size(), 1u) << "nobody else makes them";
    EXPECT_EQ(all[0].backend, "compressor");
    EXPECT_EQ(all[0].verdict(), Verdict::kPassed) << all[0].reason();
    EXPECT_GT(all[0].samples_checked, 0);
  }
}

TEST_F(CompressRun, needs_no_chosen_keys_where_another_mix_has_some) {
  Case sparse = run_.scenario.cases[0];
  sparse.id = sparse.mix = "sparse";
  sparse.layer.selection = {.topk = 4, .unit = 4, .compressed = true};
  run_.scenario.cases.push_back(sparse);
  EXPECT_EQ(write_records().size(), 2u);
}

TEST_F(CompressRun, blames_one_half_for_both_rows_that_a_token_is_of) {
  const std::string reason = reason_of_compressor([](IndexWrite& write,
                                                     std::vector<std::byte>& own) {
    const std::int64_t half = write.shape.dims * 4, key = write.shape.key_bytes();
    std::byte* const keys = own_copy(own, write.k, write.tokens * key);
    for (std::int64_t token = 0; token < write.tokens; ++token) {
      std::memcpy(keys + token * key, keys + token * key + half, static_cast<std::size_t>(half));
    }
    write.k = keys;
  });
  EXPECT_THAT(reason, HasSubstr(" holds other than its "));
}

TEST_F(CompressRun, blames_gates_whose_positions_were_added_twice) {
  const std::string reason = reason_of_compressor([](IndexWrite& write, std::vector<std::byte>&) {
    write.shape.waits_with_ape = false;  // reads them as if they waited without
  });
  EXPECT_THAT(reason, AllOf(StartsWith("the index row of request 0's new token 0"),
                            HasSubstr("holds other than its pool's: ")));
}

TEST_F(CompressRun, is_known_of_rows_of_4_and_of_128) {
  Case& c = run_.scenario.cases[0];
  const auto why = [&] { return why_not_built(c, StepPart::kCompress); };
  EXPECT_EQ(why(), "");
  c.layer.compress_ratio = 8;
  EXPECT_EQ(why(), "how 8 tokens become a row is not known: compress_ratio: 4 or 128");
  c.layer.compress_ratio = 4;
  c.kv_cache.page_size = 2;
  EXPECT_EQ(why(), "a page of 2 tokens does not hold whole rows of 4: page_size: 4");
  c.layer.compress_ratio = 0;
  EXPECT_EQ(why(), "the layer has no compressed rows");
}

}  // namespace
}  // namespace attnbench
