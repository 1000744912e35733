// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/pipeline_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "lib/backend/pipeline/pipeline_backend.h"
#include "lib/base/int_math.h"
#include "lib/session/joined_entry.h"

namespace attnbench {
namespace {

constexpr std::string_view kAllowed =
    "a pipeline is INDEXER+SELECTOR+ATTENTION, or WRITER, or WRITER+INDEX_WRITER, before these, of "
    "backends of which the last reads the lists when it runs: ";

/// Why such a backend cannot be the stage.
std::string refusal_of(const BackendInfo& info, StepPart stage) {
  if (is_for_stage(info, stage)) return {};
  if (stage == StepPart::kKvWrite) {
    return fmt::format("'{}': it writes no keys and values", info.name);
  }
  if (!is_for_step(info, stage)) {
    const std::string_view why = row_of(stage).refusal;
    return fmt::format("'{}': {}", info.name, why.empty() ? "it attends to nothing" : why);
  }
  return fmt::format(
      "'{}': it does not say that it reads lists of chosen keys when it runs, and "
      "not when it plans",
      info.name);
}

}  // namespace

bool is_pipeline(std::string_view name) {
  return !stages_of(to_size(std::ranges::count(name, kPlus) + 1)).empty();
}

bool is_for_stage(const BackendInfo& info, StepPart stage) {
  return is_for_step(info, stage) && (!attends(stage) || info.reads_lists_at_run) &&
         (!writes_kv(stage) || info.writes_kv);
}

void add_pipeline(Registry& registry, const std::string& name) {
  if (registry.find(name) != nullptr) return;
  JoinedBackends pipeline{&registry, name, "a pipeline", std::string(kAllowed)};
  for (std::size_t begin = 0, end = 0; begin <= name.size(); begin = end + 1) {
    end = std::min(name.find(kPlus, begin), name.size());
    pipeline.add_part(name.substr(begin, end - begin));
  }
  std::vector<BackendInfo> members;
  for (const Registry::Entry& part : pipeline.parts) {
    const StepPart stage = stages_of(pipeline.parts.size())[members.size()];
    const std::string why = part.make ? refusal_of(part.info, stage) : "";
    if (!why.empty()) {
      pipeline.refuse(why,
                      "a pipeline is INDEXER+SELECTOR+ATTENTION, or WRITER, or "
                      "WRITER+INDEX_WRITER, before these");
    }
    members.push_back(part.info);
  }
  pipeline.expect_one_process();
  const BackendInfo info = pipeline_info(name, members);
  add_entry(registry, pipeline, info, [info](auto parts) -> std::unique_ptr<Backend> {
    return std::make_unique<PipelineBackend>(info, std::move(parts));
  });
}

}  // namespace attnbench
