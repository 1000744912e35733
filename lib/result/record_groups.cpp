// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "lib/result/record_fields.h"
#include "lib/result/record_text.h"

namespace attnbench {
namespace {

bool is_second(const Record& r) { return r.aa.pairs > 0; }
bool has_batched_graph(const Record& r) { return r.graph_n.tried(); }
bool has_environment(const Record& r) { return !r.environment.python.empty(); }
bool is_compared(const Record& r) { return r.error.rows > 0; }
bool has_declared(const Record& r) { return r.declared.exist(); }
bool has_engine_choice(const Record& r) {
  return !r.engine_choice.sglang.empty() || !r.engine_choice.vllm.empty();
}
bool stands_for_layers(const Record& r) { return !r.model_layers.kind.empty(); }
bool knows_others(const Record& r) { return r.others.known(); }
bool knows_sharers(const Record& r) { return r.timing.sharers.known(); }

}  // namespace

const std::vector<RecordGroup>& record_groups() {
  static const std::vector<RecordGroup> groups = {
      {"environment", "The Python environment in which the backend runs; null: it needs none",
       has_environment},
      {"layer", "Properties of the layer beyond its shape"},
      {"kv_cache", "Properties of the KV cache beyond page_size and kv_dtype"},
      {"fp8", "Activations in fp8: of none, its members are null"},
      {"model_layers",
       "For how many layers of its model the case stands, in a mix with layers; null: in no such "
       "mix",
       stands_for_layers},
      {"time_us",
       "Microseconds of one forward; null: not timed. Of an INCORRECT cell it is for diagnosis "
       "only",
       &Record::is_timed},
      {"others", "What other programs did meanwhile; null: not known", knows_others},
      {"gpu_sharers",
       "Other programs on the GPU; null: not known, as in a container, whose processes have other "
       "numbers than the driver knows, or on a CPU",
       knows_sharers},
      {"index_us",
       "One build of token-level kv_indptr / kv_indices and the page table from req_to_token, "
       "microseconds, median; null on a CPU",
       has_index_timing},
      {"declared",
       "Where the backend says that it rounds, from which the bounds of its errors follow; of a "
       "composed step the loosest of its parts; null: it was not asked",
       has_declared},
      {"error",
       "Against the float64 reference, worst over all fills; null: nothing compared. A figure that "
       "is NaN or infinite is null",
       is_compared},
      {"error/worst", "Where the error is farthest beyond its bound, counted from 0"},
      {"bitwise", "Whether the bits stay the same"},
      {"aa", "Of the second of an A/A pair (--aa): its time over the first's; null: not one",
       is_second},
      {"engine_choice",
       "What serving engines would take for the case, by their own rules; null: no GPU takes part, "
       "no rule is known, or the step has no softmax attention",
       has_engine_choice},
      {"graph_n",
       "A short cell on a GPU once more, as a graph of many forwards, microseconds of one; null "
       "where it is not short, not launched as a graph, or serving",
       has_batched_graph},
  };
  return groups;
}

std::vector<const RecordGroup*> groups_around(const std::string& path) {
  std::vector<const RecordGroup*> around;
  for (const RecordGroup& group : record_groups()) {
    if (path.starts_with(group.path + '/')) around.push_back(&group);
  }
  return around;
}

Json value_of(const RecordField& field, const Record& record) {
  const auto absent = [&](const RecordGroup* group) {
    return group->exists != nullptr && !group->exists(record);
  };
  if (std::ranges::any_of(groups_around(field.path), absent)) return nullptr;
  if (field.exists != nullptr && !field.exists(record)) return nullptr;
  return field.access.value(record);
}

}  // namespace attnbench
