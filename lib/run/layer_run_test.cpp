// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of whole layers: pipelines behind the write of the step's keys and values, and behind that
// of its index keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/index_writer/index_writer.h"
#include "backends/wrappers/kv_write.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"
#include "lib/run/testing/pipeline_run.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// cpu_flash, which writes keys and values, too.
class WritingFlash final : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override { return backend_->info(); }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return backend_->supports(problem);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return backend_->formats(problem);
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return backend_->numerics(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return backend_->plan(batch, memory);
  }

 private:
  std::unique_ptr<Backend> backend_ =
      with_kv_write(std::make_unique<cpu_flash::CpuFlashBackend>(), plan_kv_write_on_cpu);
};

class KvPipelineRun : public PipelineRun {
 protected:
  KvPipelineRun() {
    run_.registry = {};
    run_.registry.add([] { return std::make_unique<indexer::HostIndexer>(); });
    run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
    run_.registry.add([] { return std::make_unique<WritingFlash>(); });
    run_.scenario.measure.step = {StepPart::kKvPipeline};
  }
  std::string reason_of_writer(std::function<void(const ForwardBatch&)> after) {
    return reason_of<WritingFlash>("spoilt+indexer+topk+cpu_flash",
                                   [=] { return Spoiling{.after = after}; });
  }
};

/// The first bytes of the key of token 0 of a batch.
std::byte* first_key(const ForwardBatch& batch) {
  return batch.token_to_kv_pool->k_row(batch.out_cache_loc[0], 0);
}

TEST_F(KvPipelineRun, writes_scores_selects_and_attends_in_one_time) {
  const std::vector<Record> all = records();
  EXPECT_THAT(run_.filter.pipelines, ElementsAre("cpu_flash+indexer+topk+cpu_flash"));
  ASSERT_EQ(all.size(), 1u);
  const Record& r = all[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_EQ(r.step, StepPart::kKvPipeline);
  EXPECT_TRUE(r.is_timed());
  EXPECT_GT(r.samples_checked, 0);
  EXPECT_GT(r.error.rows, 0) << "attention is compared";
  EXPECT_THAT(r.repro,
              AllOf(HasSubstr("--step kv_pipeline"), HasSubstr("cpu_flash+indexer+topk+")));
}

TEST_F(KvPipelineRun, looks_at_slots_beside_logits_and_lists) {
  const std::int64_t whole = records().at(0).slots_checked;
  run_.filter = {};
  run_.scenario.measure.step = {StepPart::kPipeline};
  const std::int64_t without_write = records().at(0).slots_checked;
  EXPECT_GT(whole, without_write);
}

TEST_F(KvPipelineRun, stands_beside_the_pipeline_without_the_write) {
  run_.scenario.measure.step = {StepPart::kKvWrite, StepPart::kPipeline, StepPart::kKvPipeline};
  run_.filter.backends = {"indexer", "topk", "cpu_flash"};
  std::vector<std::string> rows;
  for (const Record& r : records()) {
    if (r.is_timed()) rows.push_back(r.backend + std::string(step_suffix(r.step)));
  }
  EXPECT_THAT(rows, ElementsAre("cpu_flash kv_write", "indexer+topk+cpu_flash pipeline",
                                "cpu_flash+indexer+topk+cpu_flash kv_pipeline"));
}

TEST_F(KvPipelineRun, takes_latent_rows_caches_in_fp8_tails_drafts_and_padding) {
  Case& c = run_.scenario.cases[0];
  c.padding = {.requests = 1};
  c.layer.selection = {.topk = 4, .unit = 8, .tail = SelectionTail::kOpen, .index_heads = 4};
  EXPECT_EQ(records().at(0).verdict(), Verdict::kPassed) << records().at(0).reason();
  run_.filter = {};
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = 0.5;
  EXPECT_EQ(records().at(0).verdict(), Verdict::kPassed) << records().at(0).reason();
  run_.filter = {};
  const Selection rule = c.layer.selection;
  c = small_mla();
  c.layer.selection = rule;
  EXPECT_EQ(records().at(0).verdict(), Verdict::kPassed) << records().at(0).reason();
}

TEST_F(KvPipelineRun, blames_a_writer_that_writes_something_else) {
  EXPECT_THAT(
      reason_of_writer([](const ForwardBatch& batch) { std::memset(first_key(batch), 0, 2); }),
      HasSubstr("the slot of request 0's new token 0 holds other than k_new of KV head 0"));
}

TEST_F(KvPipelineRun, blames_a_writer_that_stops_before_the_timed_samples) {
  const auto runs = std::make_shared<int>(0);
  const std::string reason = reason_of_writer([runs](const ForwardBatch& batch) {
    if ((*runs)++ < kBeforeSamples) return;
    for (const std::int64_t slot : batch.out_cache_loc) {
      const KvPool& pool = *batch.token_to_kv_pool;
      for (int head = 0; head < pool.heads_kv; ++head) {
        std::memset(pool.k_row(slot, head), 0xff, 2);
      }
    }
  });
  EXPECT_THAT(reason, AllOf(HasSubstr("in timed sample"),
                            HasSubstr("new token 0 holds other than k_new of KV head ")));
}

TEST_F(KvPipelineRun, takes_no_pipeline_that_writes_nothing) {
  run_.filter.backends = {"indexer+topk+cpu_flash"};
  add_pipeline(run_.registry, run_.filter.backends[0]);
  EXPECT_THROW(add_pipelines(run_), ConfigError);
  run_.scenario.measure.step = {StepPart::kPipeline, StepPart::kKvPipeline};
  const std::vector<Record> all = records();
  ASSERT_EQ(all.size(), 1u) << "of the step that it does";
  EXPECT_EQ(all[0].step, StepPart::kPipeline);
}

TEST_F(KvPipelineRun, says_that_nobody_writes) {
  run_.registry = {};
  run_.registry.add([] { return std::make_unique<indexer::HostIndexer>(); });
  run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
  run_.registry.add([] { return std::make_unique<cpu_flash::CpuFlashBackend>(); });
  try {
    add_pipelines(run_);
    FAIL() << "a pipeline without a writer";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("step kv_pipeline: "), HasSubstr(", and writes keys"),
                                    HasSubstr("WRITER+INDEXER+SELECTOR+ATTENTION")));
  }
}

class LayerRun : public KvPipelineRun {
 protected:
  LayerRun() {
    run_.registry.add([] { return std::make_unique<index_writer::HostWriter>(); });
    run_.scenario.measure.step = {StepPart::kLayer};
  }
  std::string reason_of_index_writer(std::function<void(const IndexWrite&)> after) {
    return reason_of<index_writer::HostWriter>("cpu_flash+spoilt+indexer+topk+cpu_flash", [=] {
      return Spoiling{.after = [=](const ForwardBatch& batch) { after(*batch.index_write); }};
    });
  }
};

TEST_F(LayerRun, brings_index_keys_to_their_rows_before_the_indexer_reads_them) {
  const std::vector<Record> all = records();
  EXPECT_THAT(run_.filter.pipelines, ElementsAre("cpu_flash+index_writer+indexer+topk+cpu_flash"));
  ASSERT_EQ(all.size(), 1u);
  const Record& r = all[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_EQ(r.step, StepPart::kLayer);
  EXPECT_TRUE(r.is_timed());
  EXPECT_GT(r.samples_checked, 0);
  EXPECT_THAT(r.repro, AllOf(HasSubstr("--step layer"), HasSubstr("cpu_flash+index_writer+")));
}

TEST_F(LayerRun, stands_beside_its_parts) {
  run_.scenario.measure.step = {StepPart::kIndexWrite, StepPart::kKvPipeline, StepPart::kLayer};
  std::vector<std::string> rows;
  for (const Record& r : records()) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
    rows.push_back(r.backend + std::string(step_suffix(r.step)));
  }
  EXPECT_THAT(
      rows, ElementsAre("index_writer index_write", "cpu_flash+indexer+topk+cpu_flash kv_pipeline",
                        "cpu_flash+index_writer+indexer+topk+cpu_flash layer"));
}

TEST_F(LayerRun, takes_maxima_latent_rows_prompts_and_padding) {
  Case& c = run_.scenario.cases[0];
  c.padding = {.requests = 1};
  c.layer.selection = {.topk = 4, .unit = 16, .score = SelectionScore::kMax, .index_heads = 1};
  EXPECT_EQ(records().at(0).verdict(), Verdict::kPassed) << records().at(0).reason();
  run_.filter = {};
  c = small_mla();
  c.layer.selection = {.topk = 4, .index_heads = 4};
  EXPECT_EQ(records().at(0).verdict(), Verdict::kPassed) << records().at(0).reason();
}

TEST_F(LayerRun, takes_pools_of_keys_and_their_tails) {
  Case& c = run_.scenario.cases[0];
  c.padding = {.requests = 1};
  c.layer.selection = {.topk = 4, .unit = 8, .tail = SelectionTail::kOpen, .index_heads = 4};
  EXPECT_EQ(records().at(0).verdict(), Verdict::kPassed) << records().at(0).reason();
}

TEST_F(LayerRun, blames_a_row_that_was_written_wrong_before_what_came_of_it) {
  const std::string reason = reason_of_index_writer([](const IndexWrite& write) {
    const std::int64_t slot = write.slots[0];
    write.cache[slot / write.page_size * write.page_size * IndexerInputs::kKeyBytes +
                slot % write.page_size * IndexerInputs::kDim] ^= std::byte{0x80};
  });
  EXPECT_THAT(reason, HasSubstr("the index row of request 0's new token 0 holds other than its "
                                "key: dim 0 is "));
}

TEST_F(LayerRun, blames_an_index_writer_that_stops_before_the_timed_samples) {
  const auto runs = std::make_shared<int>(0);
  const std::string reason = reason_of_index_writer([runs](const IndexWrite& write) {
    if ((*runs)++ < kBeforeSamples) return;
    for (std::int64_t token = 0; token < write.tokens; ++token) {
      const std::int64_t slot = write.slots[token];
      write.cache[slot / write.page_size * write.page_size * IndexerInputs::kKeyBytes +
                  slot % write.page_size * IndexerInputs::kDim] ^= std::byte{0x80};
    }
  });
  EXPECT_THAT(reason, AllOf(HasSubstr("timed"), HasSubstr("the index row of request")));
}

TEST_F(LayerRun, leaves_no_gpu_without_a_writer_of_index_keys_for_the_processor) {
  for (bool BackendInfo::*does :
       {&BackendInfo::scores_keys, &BackendInfo::selects_keys, &BackendInfo::reads_lists_at_run}) {
    run_.registry.add([does] {
      class OnGpu final : public StubBackend {
       public:
        explicit OnGpu(bool BackendInfo::*can)
            : StubBackend(can == &BackendInfo::scores_keys    ? "gpu_indexer"
                          : can == &BackendInfo::selects_keys ? "gpu_selector"
                                                              : "gpu_attention") {
          info_.device = DeviceKind::kCuda;
          info_.*can = true;
          info_.writes_kv = can == &BackendInfo::reads_lists_at_run;
        }
      };
      return std::make_unique<OnGpu>(does);
    });
  }
  EXPECT_THROW(add_pipelines(run_), ConfigError);
  run_.scenario.measure.step = {StepPart::kKvPipeline};
  add_pipelines(run_);
  EXPECT_THAT(run_.filter.pipelines,
              ElementsAre("gpu_attention+gpu_indexer+gpu_selector+gpu_attention"));
}

TEST_F(LayerRun, says_that_nobody_writes_index_keys) {
  run_.registry = {};
  run_.registry.add([] { return std::make_unique<indexer::HostIndexer>(); });
  run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
  run_.registry.add([] { return std::make_unique<WritingFlash>(); });
  try {
    add_pipelines(run_);
    FAIL() << "a layer without a writer of index keys";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("step layer: the backends are no writer of index "
                                              "keys, indexer, selector and attention"),
                                    HasSubstr("WRITER+INDEX_WRITER+INDEXER+SELECTOR+ATTENTION"),
                                    HasSubstr("step kv_pipeline needs no writer of index keys")));
  }
}

}  // namespace
}  // namespace attnbench
