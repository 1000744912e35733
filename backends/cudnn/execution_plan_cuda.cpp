// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/execution_plan.h"

#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "backends/cudnn/attention_graph.h"

namespace attnbench::cudnn {
namespace {

/// The kernels that cuDNN proposes for an operation graph, best first. `heuristics` must outlive
/// them.
std::vector<Descriptor> proposals(const Descriptor& heuristics) {
  std::int64_t count = 0;
  check(library().get_attribute(heuristics.native(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
        "cudnnBackendGetAttribute");
  std::vector<Descriptor> made;
  std::vector<cudnnBackendDescriptor_t> natives;
  for (std::int64_t i = 0; i < count; ++i) {
    natives.push_back(made.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).native());
  }
  check(library().get_attribute(heuristics.native(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, natives.data()),
        "cudnnBackendGetAttribute");
  // Descriptors that it did not fill are the last ones.
  while (static_cast<std::int64_t>(made.size()) > count) made.pop_back();
  return made;
}

/// The global index of a proposal's engine.
std::int64_t engine_of(const Descriptor& proposal) {
  const Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t native = engine.native();
  std::int64_t count = 0, index = -1;
  check(library().get_attribute(proposal.native(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &native),
        "cudnnBackendGetAttribute");
  check(library().get_attribute(engine.native(), CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64,
                                1, &count, &index),
        "cudnnBackendGetAttribute");
  return index;
}

}  // namespace

Handle::Handle() { check(library().create(&native_), "cudnnCreate"); }
Handle::~Handle() { static_cast<void>(library().destroy(native_)); }

ExecutionPlan::ExecutionPlan(const AttentionShape& shape, std::shared_ptr<Handle> handle)
    : handle_(std::move(handle)), parts_(attention_graph(shape, handle_->native())) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, parts_.back().native())
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  heuristics.finalize();
  std::string refusals;
  for (Descriptor& proposal : proposals(heuristics)) {
    try {
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle_->native())
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal.native());
      plan.finalize();
      std::int64_t bytes = 0, count = 0;
      check(library().get_attribute(plan.native(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                    CUDNN_TYPE_INT64, 1, &count, &bytes),
            "cudnnBackendGetAttribute");
      workspace_bytes_ = static_cast<std::size_t>(bytes);
      engine_ = engine_of(proposal);
      parts_.push_back(std::move(heuristics));
      parts_.push_back(std::move(proposal));
      parts_.push_back(std::move(plan));
      return;
    } catch (const std::runtime_error& refused) {
      refusals += fmt::format("; {}", refused.what());
    }
  }
  throw std::runtime_error("cuDNN has no kernel for this step" + refusals);
}

Descriptor ExecutionPlan::bind(const Addresses& addresses, std::byte* workspace) const {
  std::vector<std::int64_t> uids;
  std::vector<const void*> pointers;
  for (const auto& [uid, address] : addresses) {
    uids.push_back(uid);
    pointers.push_back(address);
  }
  Descriptor bound(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  bound
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           std::span<const void* const>(pointers))
      .set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
           std::span<const std::int64_t>(uids))
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  bound.finalize();
  return bound;
}

void ExecutionPlan::run(const Descriptor& bound, void* stream) const {
  check(library().set_stream(handle_->native(), static_cast<cudaStream_t>(stream)),
        "cudnnSetStream");
  check(library().execute(handle_->native(), parts_.back().native(), bound.native()),
        "cudnnBackendExecute");
}

std::shared_ptr<const ExecutionPlan> PlanCache::plan_of(const AttentionShape& shape) {
  if (!handle_) handle_ = std::make_shared<Handle>();
  auto& plan = plans_[shape];
  if (!plan) plan = std::make_shared<const ExecutionPlan>(shape, handle_);
  return plan;
}

}  // namespace attnbench::cudnn
