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
  /// Copies memory, so that it can be read at another place.
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
  /// Of a writer whose inputs `change` changes before each run; the vector lives as long as it.
  std::string reason_of_reader(
      const std::function<void(IndexWrite&, std::vector<std::byte>& own)>& change) {
    return reason_of([=] {
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
    });
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
    std::byte* const ape = own_copy(own, write.pools.ape, write.pools.keys * kDim * 4);
    std::rotate(ape, ape + kDim * 4, ape + write.pools.keys * kDim * 4);
    write.pools.ape = static_cast<const float*>(static_cast<const void*>(ape));
  });
  EXPECT_THAT(reason, AllOf(StartsWith("the index row of request 0's new token 0"),
                            HasSubstr("holds other than its pool's: ")));
}

TEST_F(PoolWriteRun, blames_an_ape_that_is_left_out) {
  const std::string reason = reason_of_reader([](IndexWrite& write, std::vector<std::byte>& own) {
    own.assign(static_cast<std::size_t>(write.pools.keys * kDim * 4), std::byte{0});
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
    const auto of_tokens = static_cast<std::size_t>(write.tokens * 8);
    own.resize(2 * of_tokens);
    std::byte* const slots = own.data();
    std::byte* const waiting = slots + of_tokens;
    std::memcpy(slots, write.slots, of_tokens);
    std::memcpy(waiting, write.pools.waiting, of_tokens);
    for (std::byte* const each : {slots, waiting}) {
      std::rotate(each + 2 * 8, each + 3 * 8, each + 86 * 8);
    }
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

}  // namespace
}  // namespace attnbench
