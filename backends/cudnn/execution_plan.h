// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/cudnn/descriptor.h"
#include "backends/cudnn/shape.h"

namespace attnbench::cudnn {

/// cuDNN's state for one GPU, the present one.
class Handle {
 public:
  Handle();
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] cudnnHandle_t native() const { return native_; }

 private:
  cudnnHandle_t native_ = nullptr;
};

/// The addresses of one step's tensors by Uid. Numbers are read when the plan runs.
using Addresses = std::map<std::int64_t, const void*>;

/// cuDNN's plan of a shape: its kernel, chosen and loaded.
class ExecutionPlan {
 public:
  /// Takes the first kernel of those that cuDNN's heuristics propose, best first, that can be
  /// built. May compile one. Throws a runtime_error where there is none.
  ExecutionPlan(const AttentionShape& shape, std::shared_ptr<Handle> handle);

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Number of cuDNN's engine among those that it has for such a graph.
  [[nodiscard]] std::int64_t engine() const { return engine_; }

  /// What run() needs to know of a step, made ahead of it.
  [[nodiscard]] Descriptor bind(const Addresses& addresses, std::byte* workspace) const;
  /// Enqueues the kernels of a bound step on a cudaStream_t.
  void run(const Descriptor& bound, void* stream) const;

 private:
  std::shared_ptr<Handle> handle_;
  std::vector<Descriptor> parts_;  ///< each refers to earlier ones; the plan is the last
  std::size_t workspace_bytes_ = 0;
  std::int64_t engine_ = -1;
};

/// The plans of a backend by shape.
class PlanCache {
 public:
  /// Builds it where there is none yet.
  [[nodiscard]] std::shared_ptr<const ExecutionPlan> plan_of(const AttentionShape& shape);

 private:
  std::shared_ptr<Handle> handle_;  ///< made with the first plan
  std::map<AttentionShape, std::shared_ptr<const ExecutionPlan>> plans_;
};

}  // namespace attnbench::cudnn
