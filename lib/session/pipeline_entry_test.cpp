// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/pipeline_entry.h"

#include <gmock/gmock.h>

#include "lib/backend/pipeline/pipeline_backend.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"
#include "lib/session/hybrid_entry.h"
#include "lib/session/joined_entry.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

BackendInfo info_of(const char* name, bool BackendInfo::*does) {
  BackendInfo info;
  info.name = name;
  info.version = "1";
  info.cuda_graph = CudaGraphSupport::kAlways;
  info.*does = true;
  return info;
}

class Member final : public StubBackend {
 public:
  explicit Member(BackendInfo info) : StubBackend(info.name) { info_ = std::move(info); }
};

class AddPipeline : public testing::Test {
 protected:
  AddPipeline() {
    add(info_of("scores", &BackendInfo::scores_keys));
    add(info_of("selects", &BackendInfo::selects_keys));
    BackendInfo attends = info_of("attends", &BackendInfo::reads_lists_at_run);
    attends.cuda_graph = CudaGraphSupport::kUniformBatch;
    attends.version = "2";
    attends.reads_queries_apart = true;
    add(attends);
    add(info_of("plans_lists", &BackendInfo::writes_kv));
    add(info_of("writes", &BackendInfo::writes_index_keys));
    BackendInfo on_gpu = info_of("gpu", &BackendInfo::selects_keys);
    on_gpu.device = DeviceKind::kCuda;
    add(on_gpu);
    BackendInfo random = info_of("random", &BackendInfo::selects_keys);
    random.deterministic = false;
    registry_.add_hosted(random, {"python", "-c", "text", "worker", "/r.py", "lib.so"}, "/r.py");
    registry_.add_absent(info_of("absent", &BackendInfo::scores_keys), "no package");
  }
  void add(const BackendInfo& info) {
    registry_.add([info] { return std::make_unique<Member>(info); });
  }
  const Registry::Entry& added(const std::string& name) {
    add_joined(registry_, name);
    return *registry_.find(name);
  }
  std::string refusal_of(const std::string& name) {
    try {
      add_joined(registry_, name);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "taken";
  }

  Registry registry_;
};

TEST_F(AddPipeline, makes_one_backend_of_three) {
  EXPECT_TRUE(is_pipeline("scores+selects+attends"));
  EXPECT_FALSE(is_pipeline("scores+selects"));
  EXPECT_FALSE(is_hybrid("scores+selects+attends"));
  const Registry::Entry& entry = added("scores+selects+attends");
  EXPECT_EQ(entry.make()->info().name, "scores+selects+attends");
  EXPECT_EQ(entry.info.description,
            "scores scores keys, selects selects them, attends attends to them");
  EXPECT_EQ(entry.info.version, "1+2");
  EXPECT_EQ(entry.info.cuda_graph, CudaGraphSupport::kUniformBatch) << "the least of all";
  EXPECT_TRUE(entry.info.reads_queries_apart && entry.info.deterministic);
  EXPECT_FALSE(entry.info.by_default);
  EXPECT_TRUE(is_for_step(entry.info, StepPart::kPipeline));
  for (const StepPart part : kLayerStages) EXPECT_FALSE(is_for_step(entry.info, part));
  EXPECT_FALSE(is_for_step(entry.info, StepPart::kKvPipeline)) << "it writes no keys";
  EXPECT_FALSE(is_for_step(entry.info, StepPart::kLayer));
}

TEST_F(AddPipeline, makes_one_backend_of_a_writer_and_these_three) {
  EXPECT_TRUE(is_pipeline("plans_lists+scores+selects+attends"));
  const Registry::Entry& entry = added("plans_lists+scores+selects+attends");
  EXPECT_EQ(entry.info.description,
            "plans_lists writes keys, scores scores keys, selects selects them, attends attends to "
            "them");
  EXPECT_TRUE(entry.info.runs_pipeline && entry.info.writes_kv);
  EXPECT_TRUE(is_for_step(entry.info, StepPart::kKvPipeline));
  EXPECT_FALSE(is_for_step(entry.info, StepPart::kPipeline)) << "its keys are there";
  EXPECT_FALSE(is_for_step(entry.info, StepPart::kLayer)) << "its index keys are there";
  EXPECT_TRUE(entry.make()->supports(Problem{.step = StepPart::kKvPipeline}));
  EXPECT_FALSE(entry.make()->supports(Problem{.step = StepPart::kPipeline}));
}

TEST_F(AddPipeline, makes_one_backend_of_two_writers_and_these_three) {
  EXPECT_TRUE(is_pipeline("plans_lists+writes+scores+selects+attends"));
  EXPECT_FALSE(is_pipeline("plans_lists+writes+writes+scores+selects+attends"));
  const Registry::Entry& entry = added("plans_lists+writes+scores+selects+attends");
  EXPECT_EQ(entry.info.description,
            "plans_lists writes keys, writes index keys, scores scores keys, selects selects them, "
            "attends attends to them");
  EXPECT_TRUE(entry.info.writes_kv && entry.info.writes_index_keys);
  EXPECT_TRUE(is_for_step(entry.info, StepPart::kLayer));
  for (const StepPart part : {StepPart::kKvPipeline, StepPart::kIndexWrite, StepPart::kPipeline}) {
    EXPECT_FALSE(is_for_step(entry.info, part)) << to_string(part);
  }
  EXPECT_THAT(refusal_of("plans_lists+scores+scores+selects+attends"),
              AllOf(HasSubstr("'scores': it writes no index keys"), HasSubstr("INDEX_WRITER")));
}

TEST_F(AddPipeline, runs_where_all_of_them_can) {
  const Registry::Entry& entry = added("scores+random+attends");
  EXPECT_THAT(entry.host, testing::Contains("/r.py"));
  EXPECT_FALSE(entry.info.deterministic);
  EXPECT_EQ(added("absent+selects+attends").absence, "absent: no package");
  EXPECT_THAT(refusal_of("scores+gpu+attends"), HasSubstr("the other on the processor"));
}

TEST_F(AddPipeline, refuses_backends_that_cannot_be_the_stage_and_says_which_one_it_is) {
  EXPECT_THAT(
      refusal_of("selects+selects+attends"),
      AllOf(HasSubstr("'selects': it scores no keys"), HasSubstr("INDEXER+SELECTOR+ATTENTION")));
  EXPECT_THAT(refusal_of("scores+attends+attends"), HasSubstr("'attends': it selects no keys"));
  EXPECT_THAT(refusal_of("scores+selects+scores"), HasSubstr("'scores': it attends to nothing"));
  EXPECT_THAT(refusal_of("scores+selects+plans_lists"),
              HasSubstr("does not say that it reads lists of chosen keys when it runs"));
  EXPECT_THAT(refusal_of("attends+scores+selects+attends"),
              AllOf(HasSubstr("'attends': it writes no keys and values"), HasSubstr("WRITER")));
  EXPECT_THAT(refusal_of("scores+selects+"), HasSubstr("there is no backend ''"));
  EXPECT_THAT(refusal_of("scores+selcts+attends"), HasSubstr("did you mean 'selects'?"));
}

}  // namespace
}  // namespace attnbench
