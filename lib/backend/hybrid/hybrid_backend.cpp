// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/hybrid/hybrid_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lib/backend/hybrid/batch_rows.h"
#include "lib/backend/numerics.h"

namespace attnbench {
namespace {

/// What a backend is asked to do of a mixed step.
Problem part_of(const Problem& mixed, Phase phase) {
  Problem part = mixed;
  part.mode = phase == Phase::kPrefill ? ForwardMode::kExtend : ForwardMode::kDecode;
  if (phase == Phase::kDecode) {
    part.limits.q_len = 1;
    part.limits.q_tokens = part.limits.requests;
  }
  return part;
}

/// A plan for each run of neighbours.
class HybridPlan final : public Plan {
 public:
  void add(std::unique_ptr<BatchRows> rows, Backend& backend, PlanMemory& memory) {
    plans_.push_back(backend.plan(rows->batch(), memory));
    rows_.push_back(std::move(rows));
  }

  void run(Stream& stream) override {
    for (const auto& plan : plans_) plan->run(stream);
  }
  /// Each once, in the order of the requests.
  [[nodiscard]] std::string kernel() const override {
    std::vector<std::string> names;
    for (const auto& plan : plans_) {
      const std::string name = plan->kernel();
      if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return fmt::format("{}", fmt::join(names, " + "));
  }

 private:
  std::vector<std::unique_ptr<BatchRows>> rows_;  ///< which the plans read
  std::vector<std::unique_ptr<Plan>> plans_;
};

/// "paged_fa and splitkv"; once where both say the same.
std::string of_both(const std::string& one, const std::string& other, const char* between) {
  if (one.empty() || other.empty() || one == other) return one.empty() ? other : one;
  return one + between + other;
}

}  // namespace

BackendInfo hybrid_info(std::string name, const BackendInfo& prefill, const BackendInfo& decode,
                        Phase speculative_attention_mode) {
  BackendInfo info;
  info.name = std::move(name);
  info.version = of_both(prefill.version, decode.version, "+");
  info.packages = of_both(prefill.packages, decode.packages, " ");
  info.environment = prefill.environment.python.empty() ? decode.environment : prefill.environment;
  info.kernel = of_both(prefill.kernel, decode.kernel, " + ");
  info.description = fmt::format("{} for prompts, {} for decodes", prefill.name, decode.name);
  info.index_format = of_both(prefill.index_format, decode.index_format, " + ");
  info.device = decode.device;
  info.deterministic = prefill.deterministic && decode.deterministic;
  const BackendInfo& verify = speculative_attention_mode == Phase::kPrefill ? prefill : decode;
  info.cuda_graph = std::min(decode.cuda_graph, CudaGraphSupport::kUniformSingleTokenDecode);
  if (decode.cuda_graph != CudaGraphSupport::kNever &&
      verify.cuda_graph >= CudaGraphSupport::kUniformBatch) {
    info.cuda_graph = CudaGraphSupport::kUniformBatch;
  }
  // As SGLang's HybridAttnBackend answers get_cuda_graph_seq_len_fill_value, in whatever mode.
  info.padding_seq_len = decode.padding_seq_len;
  info.writes_kv = prefill.writes_kv && decode.writes_kv;
  info.reads_fp8_queries = prefill.reads_fp8_queries && decode.reads_fp8_queries;
  info.writes_fp8_outputs = prefill.writes_fp8_outputs && decode.writes_fp8_outputs;
  // Each part is asked by supports(): expanded prompts beside absorbed decodes have whole queries.
  info.reads_queries_apart = prefill.reads_queries_apart || decode.reads_queries_apart;
  info.by_default = false;
  return info;
}

HybridBackend::HybridBackend(BackendInfo info, std::unique_ptr<Backend> prefill,
                             std::unique_ptr<Backend> decode, Phase speculative_attention_mode)
    : info_(std::move(info)),
      prefill_(std::move(prefill)),
      decode_(std::move(decode)),
      speculative_attention_mode_(speculative_attention_mode) {}

Support HybridBackend::supports(const Problem& problem) const {
  if (problem.layer.is_recurrent()) return Support::no("a pair is for attention layers");
  const std::optional<Phase> whole = phase_of(problem.mode, speculative_attention_mode_);
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    if (whole && *whole != phase) continue;
    const bool reads = of(phase).info().reads_queries_apart || !problem.layer.queries_apart;
    const Support support = reads ? of(phase).supports(whole ? problem : part_of(problem, phase))
                                  : Support::no("reads no queries that come as two tensors");
    if (!support) {
      return Support::no(fmt::format("{}: {}", of(phase).info().name, support.reason()));
    }
  }
  return Support::yes();
}

std::vector<KvLayout> HybridBackend::formats(const Problem& problem) const {
  if (const auto whole = phase_of(problem.mode, speculative_attention_mode_)) {
    return of(*whole).formats(problem);
  }
  std::vector<KvLayout> formats = prefill_->formats(part_of(problem, Phase::kPrefill));
  const std::vector<KvLayout> others = decode_->formats(part_of(problem, Phase::kDecode));
  // Ragged keys of a part of the requests do not begin where the part's cu_seqlens_k says.
  std::erase_if(formats, [&](KvLayout layout) {
    return layout == KvLayout::kRagged || std::ranges::find(others, layout) == others.end();
  });
  return formats;
}

Numerics HybridBackend::numerics(const Problem& problem) const {
  if (const auto whole = phase_of(problem.mode, speculative_attention_mode_)) {
    return of(*whole).numerics(problem);
  }
  const std::array parts = {prefill_->numerics(part_of(problem, Phase::kPrefill)),
                            decode_->numerics(part_of(problem, Phase::kDecode))};
  return loosest(parts);
}

std::unique_ptr<Plan> HybridBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (const auto whole = phase_of(batch.forward_mode, speculative_attention_mode_)) {
    return of(*whole).plan(batch, memory);
  }
  auto plan = std::make_unique<HybridPlan>();
  std::size_t parts = 0;
  for (std::int64_t first = 0, end = 0; first < batch.batch_size; first = end) {
    const Phase phase = phase_of_request(batch.q_len(first));
    while (end < batch.batch_size && phase_of_request(batch.q_len(end)) == phase) ++end;
    PlanMemory& part = memory.part(parts++);
    plan->add(std::make_unique<BatchRows>(batch, first, end - first, part_of(*batch.problem, phase),
                                          part),
              of(phase), part);
  }
  return plan;
}

}  // namespace attnbench
