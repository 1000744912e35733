// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/pipeline/pipeline_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// What a member is asked to do.
Problem stage_of(Problem problem, StepPart part) {
  problem.step = part;
  return problem;
}

/// Each text once, in this order.
std::string of_all(const std::vector<std::string>& texts, const char* between) {
  std::vector<std::string> distinct;
  for (const std::string& text : texts) {
    if (text.empty() || std::ranges::find(distinct, text) != distinct.end()) continue;
    distinct.push_back(text);
  }
  return fmt::format("{}", fmt::join(distinct, between));
}

/// A step of the batch for one member, which stays where it is from step to step.
struct Stage {
  Problem problem;
  ForwardBatch batch;
  IndexOutputs outputs;
  DeviceBatch lists;  ///< of attention: the batch's, with the selector's lists
  std::unique_ptr<Plan> plan;
};

/// `outputs` are the arrays that the stage leaves.
void leave(Stage& stage, std::vector<IndexOutput> outputs) {
  stage.outputs.arrays = std::move(outputs);
  stage.batch.index_outputs = &stage.outputs;
}

/// Attention gets the lists that the selector leaves in `arrays`, and of the host's their lengths.
void read_lists(Stage& stage, const ForwardBatch& batch, const std::vector<IndexOutput>& arrays) {
  stage.lists = device_batch_of(batch);
  stage.lists.topk_indices = arrays[1].data;
  stage.lists.lists_stay = true;
  if (arrays.size() > 3) stage.lists.topk_scores = reinterpret_cast<const float*>(arrays[3].data);
  stage.batch.device_batch = &stage.lists;
  std::ranges::fill(stage.batch.chosen->indices, -1);
}

/// Stages hand on what they leave at the same addresses in all steps of a plan.
void set_stage(Stage& stage, StepPart part, const ForwardBatch& whole) {
  const std::vector<IndexOutput>& arrays = whole.index_outputs->arrays;
  expects(arrays.size() == (whole.problem->layer.selection.weighs_units() ? 4 : 3),
          "a pipeline leaves logits, lists, their lengths and the scores that weigh them");
  stage.problem = stage_of(*whole.problem, part);
  stage.batch = whole;
  stage.batch.problem = &stage.problem;
  stage.batch.indexer = nullptr;
  stage.batch.index_scores = nullptr;
  stage.batch.index_outputs = nullptr;
  stage.batch.index_write = part == StepPart::kIndexWrite ? whole.index_write : nullptr;
  if (part == StepPart::kIndexer) {
    stage.batch.indexer = whole.indexer;
    leave(stage, {arrays[0]});
  } else if (part == StepPart::kSelect) {
    stage.batch.index_scores = whole.index_scores;
    leave(stage, {arrays.begin() + 1, arrays.end()});
  } else if (part == StepPart::kAttention) {
    read_lists(stage, whole, arrays);
  }
}

class PipelinePlan final : public Plan {
 public:
  PipelinePlan(std::span<const std::unique_ptr<Backend>> members, const ForwardBatch& batch,
               PlanMemory& memory)
      : stages_(members.size()) {
    set_stages(batch);
    for (std::size_t i = 0; i < members.size(); ++i) {
      stages_[i].plan = members[i]->plan(stages_[i].batch, memory.part(i));
    }
  }
  PipelinePlan(const PipelinePlan&) = delete;
  PipelinePlan& operator=(const PipelinePlan&) = delete;

  void run(Stream& stream) override {
    for (const Stage& stage : stages_) stage.plan->run(stream);
  }
  [[nodiscard]] std::string kernel() const override {
    std::vector<std::string> kernels;
    for (const Stage& stage : stages_) kernels.push_back(stage.plan->kernel());
    return of_all(kernels, " + ");
  }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    set_stages(batch);
    return std::ranges::all_of(
        stages_, [&](const Stage& stage) { return stage.plan->update(stage.batch, stream); });
  }

 private:
  void set_stages(const ForwardBatch& batch) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      set_stage(stages_[i], stages_of(stages_.size())[i], batch);
    }
  }

  std::vector<Stage> stages_;
};

}  // namespace

BackendInfo pipeline_info(std::string name, std::span<const BackendInfo> members) {
  const auto of_members = [&](auto member, const char* between) {
    std::vector<std::string> texts;
    for (const BackendInfo& each : members) texts.push_back(each.*member);
    return of_all(texts, between);
  };
  const auto all = [&](bool BackendInfo::*member) { return std::ranges::all_of(members, member); };
  const BackendInfo& indexer = members[members.size() - kStagesOfPipeline];
  const BackendInfo& selector = members[members.size() - 2];
  const BackendInfo& attention = members.back();
  BackendInfo info;
  info.writes_kv = members.size() > kStagesOfPipeline;
  info.writes_index_keys = members.size() == kLayerStages.size();
  info.name = std::move(name);
  info.version = of_members(&BackendInfo::version, "+");
  info.packages = of_members(&BackendInfo::packages, " ");
  for (const BackendInfo& member : members) {
    if (info.environment.python.empty()) info.environment = member.environment;
  }
  info.kernel = of_members(&BackendInfo::kernel, " + ");
  info.description =
      fmt::format("{}{}{} scores keys, {} selects them, {} attends to them",
                  info.writes_kv ? fmt::format("{} writes keys, ", members.front().name) : "",
                  info.writes_index_keys ? fmt::format("{} index keys, ", members[1].name) : "",
                  indexer.name, selector.name, attention.name);
  info.index_format = of_members(&BackendInfo::index_format, " + ");
  info.device = attention.device;
  info.deterministic = all(&BackendInfo::deterministic);
  info.cuda_graph = std::ranges::min(members, {}, &BackendInfo::cuda_graph).cuda_graph;
  info.padding_seq_len = attention.padding_seq_len;
  info.updates_in_pipelines = all(&BackendInfo::updates_in_pipelines);
  info.reads_fp8_queries = attention.reads_fp8_queries;
  info.writes_fp8_outputs = attention.writes_fp8_outputs;
  info.reads_queries_apart = attention.reads_queries_apart;
  info.runs_pipeline = true;
  info.by_default = false;
  return info;
}

PipelineBackend::PipelineBackend(BackendInfo info, std::vector<std::unique_ptr<Backend>> members)
    : info_(std::move(info)), members_(std::move(members)) {
  expects(!stages().empty(), "a pipeline of three members, of four or of five");
}

Support PipelineBackend::supports(const Problem& problem) const {
  if (!is_for_step(info_, problem.step)) return Support::no("it runs whole pipelines only");
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const BackendInfo& member = members_[i]->info();
    const Support support = members_[i]->supports(stage_of(problem, stages()[i]));
    if (!support) return Support::no(fmt::format("{}: {}", member.name, support.reason()));
    const bool has_tails = problem.layer.selection.has_tail();
    if (stages()[i] != StepPart::kSelect) continue;
    if (has_tails && !member.lists_tails) {
      return Support::no(fmt::format(
          "{}: its lists have no tails, so that the keys of a query's own unit would be missing",
          member.name));
    }
    if (const Support padded = supports_padding(member, problem); !padded) {
      return Support::no(fmt::format("{}: {}", member.name, padded.reason()));
    }
  }
  return Support::yes();
}

std::vector<KvLayout> PipelineBackend::formats(const Problem& problem) const {
  return members_.back()->formats(stage_of(problem, StepPart::kAttention));
}

Numerics PipelineBackend::numerics(const Problem& problem) const {
  return members_.back()->numerics(stage_of(problem, StepPart::kAttention));
}

std::unique_ptr<Plan> PipelineBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<PipelinePlan>(members_, batch, memory);
}

}  // namespace attnbench
