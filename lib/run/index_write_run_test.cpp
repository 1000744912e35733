// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of backends that write index keys, right ones and wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/index_writer/index_writer.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/base/dtype.h"
#include "lib/run/testing/pipeline_run.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kDim = IndexerInputs::kDim;

/// A row of a cache in e4m3.
struct Row {
  std::byte* elements;
  std::byte* scale;
};
Row row_of(const IndexWrite& write, std::int64_t slot) {
  const std::int64_t rows = write.page_size, row = slot % rows;
  std::byte* const page = write.cache + slot / rows * rows * IndexerInputs::kKeyBytes;
  return {page + row * kDim, page + rows * kDim + row * 4};
}
Row row_of_token(const IndexWrite& write, std::int64_t token) {
  return row_of(write, write.slots[token]);
}

/// Prompts and decodes, filled up by rows of no request, each in blocks of 16 keys.
class IndexWriteRun : public PipelineRun {
 protected:
  IndexWriteRun() {
    run_.registry.add([] { return std::make_unique<index_writer::HostWriter>(); });
    run_.scenario.measure.step = {StepPart::kIndexWrite};
    Case& c = run_.scenario.cases[0];
    c.mode = ForwardMode::kExtend;
    c.requests.resize(2);
    c.requests[0].q_len = 40;
    c.requests[1].q_len = 1;
    c.padding.tokens = 3;
  }
  std::vector<Record> write_records() {
    run_.plan = plan_run(run_.scenario, run_.registry, run_.filter);
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(run_.scenario, run_.plan, executor, {}).records;
  }
  std::string reason_of_writer(const std::function<void(const IndexWrite&)>& after) {
    run_.registry.add([=] {
      return std::make_unique<SpoiltStage<index_writer::HostWriter>>([=] {
        return Spoiling{.after = [=](const ForwardBatch& batch) { after(*batch.index_write); }};
      });
    });
    run_.filter.backends = {"spoilt"};
    const std::vector<Record> all = write_records();
    EXPECT_EQ(all.at(0).verdict(), Verdict::kIncorrect) << all[0].reason();
    return all[0].reason();
  }
};

TEST_F(IndexWriteRun, writes_and_is_timed) {
  const std::vector<Record> all = write_records();
  ASSERT_EQ(all.size(), 1u) << "nobody else writes index keys";
  const Record& r = all[0];
  EXPECT_EQ(r.backend, "index_writer");
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_TRUE(r.is_timed());
  EXPECT_GT(r.samples_checked, 0);
  EXPECT_EQ(r.slots_checked % 41, 0) << "of 41 new keys";
  EXPECT_EQ(r.error.rows, 0) << "nothing is attended to";
  EXPECT_THAT(r.repro, HasSubstr("--step index_write"));
}

TEST_F(IndexWriteRun, writes_rows_of_bf16) {
  run_.scenario.cases[0].layer.selection.score = SelectionScore::kMax;
  EXPECT_EQ(write_records().at(0).verdict(), Verdict::kPassed) << write_records()[0].reason();
}

TEST_F(IndexWriteRun, blames_the_scale_of_the_token_beside_it) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    for (std::int64_t token = 1; token < 40; ++token) {
      std::memcpy(row_of_token(write, token - 1).scale, row_of_token(write, token).scale, 4);
    }
  });
  EXPECT_THAT(reason, AllOf(StartsWith("the index row of request 0's new token "),
                            HasSubstr(" holds other than its key: its scale is ")));
}

TEST_F(IndexWriteRun, blames_the_row_of_the_slot_before) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    for (std::int64_t token = 40; token >= 0; --token) {
      const std::int64_t slot = write.slots[token];
      if (slot == 0) continue;
      std::memcpy(row_of(write, slot - 1).elements, row_of(write, slot).elements, kDim);
    }
  });
  EXPECT_THAT(reason, HasSubstr("new token "));
}

TEST_F(IndexWriteRun, blames_a_row_that_only_somebody_else_has) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    row_of(write, write.slots[0] - 1).elements[5] ^= std::byte{1};
  });
  EXPECT_THAT(reason, HasSubstr("input 'index_cache' was modified"));
}

TEST_F(IndexWriteRun, blames_a_key_that_was_not_written) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    const Row row = row_of_token(write, 40);
    std::memset(row.elements, 0xff, kDim);
    std::memset(row.scale, 0xff, 4);
  });
  EXPECT_THAT(reason, HasSubstr("the index row of request 1's new token 0 holds other than its "
                                "key: its scale is NaN"));
}

TEST_F(IndexWriteRun, blames_a_writer_that_does_nothing) {
  class Idle final : public StubBackend {
   public:
    Idle() : StubBackend("idle") { info_.writes_index_keys = true; }
    [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
      return std::make_unique<FunctionPlan>([](Stream&) {});
    }
  };
  run_.registry.add([] { return std::make_unique<Idle>(); });
  run_.filter.backends = {"idle"};
  EXPECT_THAT(write_records().at(0).reason(),
              StartsWith("the index row of request 0's new token 0 holds other than its key"));
}

TEST_F(IndexWriteRun, blames_rows_that_padding_leaves_somewhere) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    EXPECT_EQ(write.tokens, 44);
    EXPECT_EQ(write.slots[41], -1);
    row_of(write, 0).elements[0] = std::byte{1};
  });
  EXPECT_THAT(reason, HasSubstr("input 'index_cache' was modified"));
}

TEST_F(IndexWriteRun, blames_numbers_that_are_cut_in_place_of_rounded) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    for (std::int64_t token = 0; token < 41; ++token) {
      const Row row = row_of_token(write, token);
      float scale = 0;
      std::memcpy(&scale, row.scale, 4);
      for (std::int64_t i = 0; i < kDim; ++i) {
        const float number = load(DType::kBF16, write.k + (token * kDim + i) * 2) / scale;
        const auto code = std::to_integer<std::uint8_t>(row.elements[i]);
        const bool is_up = std::abs(e4m3_value(code)) > std::abs(number);
        row.elements[i] = std::byte{static_cast<std::uint8_t>(code - (is_up ? 1 : 0))};
      }
    }
  });
  EXPECT_THAT(reason, HasSubstr(" as stored, want "));
}

TEST_F(IndexWriteRun, blames_a_scale_that_is_no_power_of_two) {
  const std::string reason = reason_of_writer([](const IndexWrite& write) {
    const float scale = 3.0f / 448;
    std::memcpy(row_of_token(write, 40).scale, &scale, 4);
  });
  EXPECT_THAT(reason, HasSubstr("its scale is 0.00669643, want "));
}

TEST_F(IndexWriteRun, blames_a_writer_that_stops_before_the_timed_samples) {
  const auto runs = std::make_shared<int>(0);
  const std::string reason = reason_of_writer([runs](const IndexWrite& write) {
    if ((*runs)++ < kBeforeSamples) return;
    for (std::int64_t token = 0; token < 41; ++token) {
      std::memset(row_of_token(write, token).scale, 0xff, 4);
    }
  });
  EXPECT_THAT(reason, AllOf(HasSubstr("timed"), HasSubstr("its scale is NaN")));
}

TEST(IndexWrite, is_known_of_keys_and_refused_with_a_reason_elsewhere) {
  Case c = small_plain_decode();
  const auto why = [&] { return why_not_built(c, StepPart::kIndexWrite); };
  EXPECT_EQ(why(), "the layer has no selection");
  c.layer.selection = {.topk = 4};
  EXPECT_EQ(why(), "");
  c.layer.selection.unit = 16;
  EXPECT_THAT(why(), HasSubstr("a page of 8 keys does not hold whole pools of 16: page_size: 16"));
  c.kv_cache.page_size = 16;
  EXPECT_EQ(why(), "");
  c.layer.selection.compressed = true;
  EXPECT_EQ(why(), "how 16 tokens become an index key is not known: compress_ratio: 4");
  EXPECT_THAT(why_not_built(c, StepPart::kLayer),
              HasSubstr("; step kv_pipeline is the layer without that write"));
  c.layer.selection.compressed = false;
  c.layer.selection.score = SelectionScore::kMax;
  EXPECT_EQ(why(), "") << "its cache has a row of each key";
  c.layer.selection.score = SelectionScore::kHead;
  EXPECT_THAT(why(), HasSubstr("a representation is made of all keys of a unit"));
}

}  // namespace
}  // namespace attnbench
