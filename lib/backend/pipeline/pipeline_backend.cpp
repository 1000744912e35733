// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/pipeline/pipeline_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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
std::string of_all(std::vector<std::string> texts, const char* between) {
  std::vector<std::string> distinct;
  for (std::string& text : texts) {
    if (text.empty() || std::ranges::find(distinct, text) != distinct.end()) continue;
    distinct.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(distinct, between));
}

/// A step of the batch for one member.
struct Stage {
  Problem problem;
  ForwardBatch batch;
  IndexOutputs outputs;
};

void begin_stage(Stage& stage, const ForwardBatch& whole, StepPart part) {
  stage.problem = stage_of(*whole.problem, part);
  stage.batch = whole;
  stage.batch.problem = &stage.problem;
  stage.batch.indexer = nullptr;
  stage.batch.index_scores = nullptr;
  stage.batch.index_outputs = nullptr;
}

class PipelinePlan final : public Plan {
 public:
  /// Without its members' plans.
  explicit PipelinePlan(const ForwardBatch& batch) { set_stages(batch); }
  PipelinePlan(const PipelinePlan&) = delete;
  PipelinePlan& operator=(const PipelinePlan&) = delete;

  void plan_members(Backend& indexer, Backend& selector, Backend& attention, PlanMemory& memory) {
    plans_[0] = indexer.plan(scoring_.batch, memory.part(0));
    plans_[1] = selector.plan(selecting_.batch, memory.part(1));
    plans_[2] = attention.plan(attending_.batch, memory.part(2));
  }

  void run(Stream& stream) override {
    for (const auto& plan : plans_) plan->run(stream);
  }
  [[nodiscard]] std::string kernel() const override {
    return of_all({plans_[0]->kernel(), plans_[1]->kernel(), plans_[2]->kernel()}, " + ");
  }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    set_stages(batch);
    return plans_[0]->update(scoring_.batch, stream) &&
           plans_[1]->update(selecting_.batch, stream) &&
           plans_[2]->update(attending_.batch, stream);
  }

 private:
  /// Of a step whose stages hand on what they leave at the same addresses as in the one before.
  void set_stages(const ForwardBatch& batch) {
    const std::vector<IndexOutput>& arrays = batch.index_outputs->arrays;
    const bool weighs = batch.problem->layer.selection.weighs_units();
    expects(arrays.size() == (weighs ? 4 : 3),
            "a pipeline leaves logits, lists, their lengths and "
            "the scores that weigh them");
    begin_stage(scoring_, batch, StepPart::kIndexer);
    scoring_.batch.indexer = batch.indexer;
    scoring_.outputs.arrays = {arrays[0]};
    scoring_.batch.index_outputs = &scoring_.outputs;

    begin_stage(selecting_, batch, StepPart::kSelect);
    selecting_.batch.index_scores = batch.index_scores;
    selecting_.outputs.arrays.assign(arrays.begin() + 1, arrays.end());
    selecting_.batch.index_outputs = &selecting_.outputs;

    begin_stage(attending_, batch, StepPart::kAttention);
    lists_ = device_batch_of(batch);
    lists_.topk_indices = arrays[1].data;
    lists_.lists_stay = true;
    if (weighs) lists_.topk_scores = reinterpret_cast<const float*>(arrays[3].data);
    attending_.batch.device_batch = &lists_;
    std::ranges::fill(attending_.batch.chosen->indices, -1);
  }

  Stage scoring_, selecting_, attending_;
  DeviceBatch lists_;  ///< the batch's, with the selector's lists
  std::array<std::unique_ptr<Plan>, 3> plans_;
};

}  // namespace

BackendInfo pipeline_info(std::string name, const BackendInfo& indexer, const BackendInfo& selector,
                          const BackendInfo& attention) {
  const auto of_members = [&](auto member, const char* between) {
    return of_all({indexer.*member, selector.*member, attention.*member}, between);
  };
  BackendInfo info;
  info.name = std::move(name);
  info.version = of_members(&BackendInfo::version, "+");
  info.packages = of_members(&BackendInfo::packages, " ");
  for (const BackendInfo* member : {&indexer, &selector, &attention}) {
    if (info.environment.python.empty()) info.environment = member->environment;
  }
  info.kernel = of_members(&BackendInfo::kernel, " + ");
  info.description = fmt::format("{} scores keys, {} selects them, {} attends to them",
                                 indexer.name, selector.name, attention.name);
  info.index_format = of_members(&BackendInfo::index_format, " + ");
  info.device = attention.device;
  info.deterministic = indexer.deterministic && selector.deterministic && attention.deterministic;
  info.cuda_graph = std::min({indexer.cuda_graph, selector.cuda_graph, attention.cuda_graph});
  info.padding_seq_len = attention.padding_seq_len;
  info.updates_in_pipelines = indexer.updates_in_pipelines && selector.updates_in_pipelines &&
                              attention.updates_in_pipelines;
  info.reads_fp8_queries = attention.reads_fp8_queries;
  info.writes_fp8_outputs = attention.writes_fp8_outputs;
  info.reads_queries_apart = attention.reads_queries_apart;
  info.runs_pipeline = true;
  info.by_default = false;
  return info;
}

PipelineBackend::PipelineBackend(BackendInfo info, std::unique_ptr<Backend> indexer,
                                 std::unique_ptr<Backend> selector,
                                 std::unique_ptr<Backend> attention)
    : info_(std::move(info)),
      indexer_(std::move(indexer)),
      selector_(std::move(selector)),
      attention_(std::move(attention)) {}

Support PipelineBackend::supports(const Problem& problem) const {
  if (problem.step != StepPart::kPipeline) return Support::no("it runs whole pipelines only");
  const std::pair<const Backend*, StepPart> stages[] = {{indexer_.get(), StepPart::kIndexer},
                                                        {selector_.get(), StepPart::kSelect},
                                                        {attention_.get(), StepPart::kAttention}};
  for (const auto& [member, part] : stages) {
    const Support support = member->supports(stage_of(problem, part));
    if (support) continue;
    return Support::no(fmt::format("{}: {}", member->info().name, support.reason()));
  }
  if (problem.layer.selection.has_tail() && !selector_->info().lists_tails) {
    return Support::no(
        fmt::format("{}: its lists have no tails, so that the keys of a query's own "
                    "unit would be missing",
                    selector_->info().name));
  }
  return Support::yes();
}

std::vector<KvLayout> PipelineBackend::formats(const Problem& problem) const {
  return attention_->formats(stage_of(problem, StepPart::kAttention));
}

Numerics PipelineBackend::numerics(const Problem& problem) const {
  return attention_->numerics(stage_of(problem, StepPart::kAttention));
}

std::unique_ptr<Plan> PipelineBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  auto plan = std::make_unique<PipelinePlan>(batch);
  plan->plan_members(*indexer_, *selector_, *attention_, memory);
  return plan;
}

}  // namespace attnbench
