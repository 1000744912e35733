// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/backend/backend_info.h"
#include "lib/backend/numerics.h"
#include "lib/backend/plan_memory.h"
#include "lib/backend/support.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// The plan of a backend's work for one batch. The batch, its tensors and the memory in which the
/// work was planned must outlive it.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Computes out and lse of the batch, once for each layer of a model: allocates nothing, never
  /// synchronises, enqueues on `stream` alone.
  virtual void run(Stream& stream) = 0;

  /// A cudaGraph_t that does what run() does, for a plan that its own library recorded; null where
  /// there is none. It is asked for where run() would be recorded, and is copied into the graph
  /// that is timed, as a child. It lives as long as the plan.
  [[nodiscard]] virtual void* graph() { return nullptr; }

  /// The kernel that a library chose for this plan, for the record: "engine 5". Empty where
  /// info().kernel says it all.
  [[nodiscard]] virtual std::string kernel() const { return {}; }

  /// Plans the next step of the same problem in the same memory, before a replay of what run()
  /// recorded. Work that is enqueued on `stream` after this call computes the new step. Allocates
  /// no device memory; the tensors keep their addresses. Returns false when the plan cannot do it,
  /// so that a new plan is needed.
  [[nodiscard]] virtual bool update(const ForwardBatch& batch, Stream& stream);

 protected:
  Plan() = default;
};

/// One way to compute attention: builds the index format its kernels want, picks a kernel, launches
/// it.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const BackendInfo& info() const noexcept = 0;
  /// Called only with problems for the kind of device that info() names.
  [[nodiscard]] virtual Support supports(const Problem& problem) const = 0;
  /// The cache formats that its kernels read, best first; the problem's own layout is ignored.
  /// Empty: it reads no cache of such a dtype or such scales. The default is rows of contiguous
  /// elements behind any strides, with k_scale and v_scale alone.
  [[nodiscard]] virtual std::vector<KvLayout> formats(const Problem& problem) const;
  /// Where it rounds in this problem. The default, f32 throughout, has the tightest bounds.
  [[nodiscard]] virtual Numerics numerics(const Problem&) const { return {}; }

  /// Plans one batch of a problem that it supports (`batch.problem`): host work that may allocate
  /// and synchronise, timed apart from run(). `memory` serves no other plan that still lives.
  /// Queries and the cache have no contents yet: an engine plans before a layer's data exist. A
  /// batch without requests makes a plan whose run() does nothing.
  [[nodiscard]] virtual std::unique_ptr<Plan> plan(const ForwardBatch& batch,
                                                   PlanMemory& memory) = 0;
};

}  // namespace attnbench
