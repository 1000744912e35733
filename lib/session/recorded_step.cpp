// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/recorded_step.h"

#include <utility>

#include "lib/batch/graph_padding.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/backend_code.h"

namespace attnbench {

bool is_recorded_on_padding(const Case& c, const BackendInfo& info) {
  if (is_pipeline(c.step) && !info.updates_in_pipelines) return false;
  return problem_of(c).can_be_recorded();
}

RecordedStep::PaddedBatch::PaddedBatch(ForwardBatch padded, const Fixture& fixture,
                                       const Problem& problem, Device& device)
    : batch(std::move(padded)), indices(batch, problem.cache.page_size, device) {
  batch.problem = &problem;
  batch.tensors = fixture.padded_tensors();
  batch.device_batch = &indices.batch();
  if (!is_pipeline(problem.step)) return;
  pipeline = fixture.padded_pipeline();
  pipeline.set_in(batch);
}

RecordedStep::RecordedStep(Backend& backend, const Fixture& fixture, Device& device)
    : problem_(recorded_problem_of(fixture.fixture_case(),
                                   fixture.batch().req_to_token_pool->max_context_len())),
      to_record_(
          step_to_record(fixture.batch(), problem_.limits.requests, backend.info().padding_seq_len),
          fixture, problem_, device),
      step_(pad_for_cuda_graph(fixture.batch(), problem_.limits.requests,
                               backend.info().padding_seq_len),
            fixture, problem_, device),
      memory_(device),
      plan_(backend.plan(to_record_.batch, memory_)) {}

Work update_of(RecordedStep& step) {
  return [&step](Stream& stream) {
    call_backend([&] {
      if (!step.update(stream)) throw BackendFailed("a later update of the plan was refused");
    });
  };
}

}  // namespace attnbench
