// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/include/attnbench/backend.h"
#include "lib/backend/plan_memory.h"
#include "lib/index/index_formats.h"

namespace attnbench {

/// The index arrays that one plan of a plug-in asks for, built by the host and copied to the device
/// into the plan's memory (attnbench_batch::indices). Of a step that builds them it has the
/// outputs.
class PluginIndices {
 public:
  explicit PluginIndices(PlanMemory& memory) : memory_(&memory) {}
  PluginIndices(const PluginIndices&) = delete;  // plug-ins have its address
  PluginIndices& operator=(const PluginIndices&) = delete;

  /// Answers for one call of the plug-in. `stream` is null while it plans; in an update, arrays are
  /// copied in its order to the places that planning gave them.
  class Call {
   public:
    Call(PluginIndices& indices, const ForwardBatch& batch, Stream* stream);
    ~Call() { indices_.batch_ = nullptr; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    PluginIndices& indices_;
  };

  /// attnbench_batch::indices; `self` is a PluginIndices.
  static int build(void* self, const char* format, const attnbench_index** first, char* message,
                   std::size_t message_size);

 private:
  struct Built {
    BuiltIndices indices;
    std::vector<std::size_t> places;  ///< of the arrays in the format's memory, its size last
    std::byte* memory = nullptr;
    std::vector<attnbench_index> list;
    bool is_current = false;  ///< of the step at hand
  };

  const Built& built(std::string_view name);
  /// Of a step that builds the arrays itself: memory to write them to.
  const Built& outputs_as(Built& built, const IndexOutputs& outputs, const IndexFormat& format);
  void build_of_step(const IndexFormat& format, Built& built);
  void copy(const Built& built);
  void link(Built& built);

  PlanMemory* memory_;
  const ForwardBatch* batch_ = nullptr;  ///< null outside calls
  Stream* stream_ = nullptr;
  std::map<std::string, Built> formats_;
};

}  // namespace attnbench
