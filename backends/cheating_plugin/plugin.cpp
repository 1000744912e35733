// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <memory>

#include "backends/cheating_plugin/cheats.h"

namespace cheats {
namespace {

constexpr std::array kCheats = {
    Cheat{"honest", honest},
    Cheat{"constants_as_sums_in_e4m3", writes_constants, claims_sums_in_e4m3},
    Cheat{"constants_as_partials_rounded_a_million_times", writes_constants,
          claims_partials_rounded_a_million_times},
    Cheat{"constants_as_partials_in_e5m2", writes_constants, claims_partials_in_e5m2},
    Cheat{"skips_small_values_as_weights_in_e4m3", skips_small_values, claims_weights_in_e4m3},
    Cheat{"writes_to_the_memory_of_its_run", writes_to_the_memory_of_its_run},
    Cheat{"has_power_over_others", has_power_over_others},
    Cheat{"ends_the_process_while_timed", ends_the_process_while_timed},
    Cheat{"leaves_processes_behind", leaves_processes_behind},
    Cheat{"slows_the_clock_of_its_process", slows_the_clock_of_its_process},
    Cheat{"odd_own_thread_pool", own_thread_pool},
    Cheat{"odd_leaks_64_kb_a_run", leaks_64_kb_a_run},
    Cheat{"odd_compiles_in_its_first_run", compiles_in_its_first_run},
    Cheat{"odd_reverse_online_softmax", reverse_online_softmax},
    Cheat{"odd_split_kv_in_order_of_arrival", split_kv_in_order_of_arrival,
          claims_partials_in_bf16},
    Cheat{"odd_bf16_weights_and_partials", bf16_weights_and_partials,
          claims_bf16_weights_and_partials},
    Cheat{"odd_six_megabytes_of_stack", six_megabytes_of_stack},
    Cheat{"odd_shared_file_mapping", shared_file_mapping},
    Cheat{"odd_forks_in_each_run", forks_in_each_run},
    Cheat{"odd_in_f64", in_f64},
    Cheat{"odd_leaves_denormals_off", leaves_denormals_off},
    Cheat{"odd_non_temporal_stores", non_temporal_stores},
    Cheat{"odd_idle_thread", idle_thread},
    Cheat{"odd_transposed_copy_in_the_workspace", transposed_copy_in_the_workspace, nullptr,
          std::size_t{1} << 20},
    Cheat{"a_row_left_now_and_then", leaves_a_row_now_and_then},
    Cheat{"int8_when_timed", keeps_int8_when_timed, claims_no_lse},
    Cheat{"int8_where_queries_are_large", keeps_int8_where_queries_are_large, claims_no_lse},
    Cheat{"int8_with_weights_in_e4m3", keeps_int8_when_timed, claims_weights_in_e4m3_and_no_lse},
    Cheat{"every_sixth_key_when_timed", reads_every_sixth_key_when_timed,
          claims_weights_in_e4m3_and_no_lse},
    Cheat{"changes_a_rivals_inputs", changes_a_rivals_inputs},
    Cheat{"foreseen_rows_only", computes_foreseen_rows_only},
    Cheat{"foreseen_rows_by_a_seed_in_memory", computes_foreseen_rows_by_a_seed_in_memory},
    Cheat{"constants_beside_foreseen_rows", puts_constants_beside_foreseen_rows},
    Cheat{"nothing_where_nobody_compares", leaves_samples_that_nobody_compares},
    Cheat{"works_ahead_in_untimed_forwards", works_ahead_in_untimed_forwards},
    Cheat{"answers_from_an_earlier_run", answers_from_an_earlier_run},
    Cheat{"an_input_changed_once_in_the_check", changes_an_input_once_in_the_check},
    Cheat{"a_guard_changed_once_in_the_check", changes_a_guard_once_in_the_check},
    Cheat{"a_guard_changed_once_when_timed", changes_a_guard_once_when_timed},
    Cheat{"the_workspaces_guard_changed_once_when_timed",
          changes_the_workspaces_guard_once_when_timed, nullptr, 256},
};

int supports(void*, const attnbench_problem* p, char* message, std::size_t size) {
  const bool plain = p->family == ATTNBENCH_SOFTMAX && p->causal != 0 &&
                     p->is_cross_attention == 0 && p->mode != ATTNBENCH_TARGET_VERIFY &&
                     p->mode != ATTNBENCH_DLLM_EXTEND && p->sliding_window_size < 0 &&
                     p->attention_chunk == 0 && p->dual_chunk_size == 0 && p->multi_item == 0 &&
                     p->spans == 0 && p->logit_cap == 0 && p->temperature_len == 0 &&
                     p->has_sinks == 0 && p->has_alibi == 0;
  const bool bf16 = p->dtype == ATTNBENCH_BF16 && p->cache_dtype == ATTNBENCH_BF16 &&
                    p->q_dtype == ATTNBENCH_BF16;
  if (plain && bf16) return ATTNBENCH_OK;
  std::snprintf(message, size, "plain causal self-attention in bf16 only");
  return ATTNBENCH_UNSUPPORTED;
}

int numerics(void* self, const attnbench_problem*, attnbench_numerics* numerics, char*,
             std::size_t) {
  const auto* const cheat = static_cast<const Cheat*>(self);
  if (cheat->numerics != nullptr) cheat->numerics(*numerics);
  return ATTNBENCH_OK;
}

int plan(void* self, const attnbench_batch* batch, const attnbench_memory* memory, void** plan,
         char* message, std::size_t size) {
  const attnbench_index* index = nullptr;  // kv_indptr, kv_page_indices in the order of "csr"
  if (batch->indices(batch->context, "csr", &index, message, size) != ATTNBENCH_OK) {
    return ATTNBENCH_ERROR;
  }
  auto planned = std::make_unique<Planned>();
  planned->cheat = static_cast<const Cheat*>(self);
  planned->problem = *batch->problem;
  if (const std::size_t bytes = planned->cheat->workspace; bytes > 0) {
    planned->workspace = {static_cast<std::byte*>(memory->reserve(memory->context, bytes)), bytes};
  }
  planned->tensors = batch->tensors;
  const auto requests = static_cast<std::size_t>(batch->batch_size);
  const auto ints = [&](int role) {
    return static_cast<const std::int32_t*>(batch->tensors[role].data);
  };
  planned->kv_lens = {ints(ATTNBENCH_SEQ_LENS), requests};
  planned->q_start = {ints(ATTNBENCH_QUERY_START_LOC), requests + 1};
  planned->page_begin = static_cast<const std::int32_t*>(index->next->tensor.data);
  planned->pages = static_cast<const std::int32_t*>(index->next->next->tensor.data);
  planned->logit_scale = planned->problem.scale * batch->k_scale;
  planned->v_scale = batch->v_scale;
  const double dims = planned->problem.head_dim_qk + planned->problem.head_dim_v;
  for (std::size_t request = 0; request < requests; ++request) {
    planned->bytes += 2.0 * planned->kv_lens[request] * planned->problem.heads_kv * dims;
    for (std::int32_t i = planned->q_start[request]; i < planned->q_start[request + 1]; ++i) {
      planned->request_of.push_back(static_cast<std::int64_t>(request));
      planned->flops += 2.0 * static_cast<double>(planned->visible(i)) * planned->heads() * dims;
    }
  }
  *plan = planned.release();
  return ATTNBENCH_OK;
}

int run(void* plan, void*, char*, std::size_t) {
  auto& planned = *static_cast<Planned*>(plan);
  ++planned.runs;
  planned.cheat->run(planned);
  return ATTNBENCH_OK;
}

void destroy(void* plan) { delete static_cast<Planned*>(plan); }

}  // namespace
}  // namespace cheats

extern "C" int attnbench_plugin(std::uint32_t, const attnbench_backend** backends,
                                std::size_t* count, char*, std::size_t) {
  static std::array<attnbench_backend, cheats::kCheats.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    attnbench_backend& backend = all[i];
    backend.struct_size = sizeof backend;
    backend.name = cheats::kCheats[i].name;
    backend.version = "1";
    backend.description = "cheats";
    backend.index_format = "csr";
    backend.device = ATTNBENCH_CPU;
    backend.self = const_cast<cheats::Cheat*>(&cheats::kCheats[i]);
    backend.supports = cheats::supports;
    backend.numerics = cheats::numerics;
    backend.plan = cheats::plan;
    backend.run = cheats::run;
    backend.destroy = cheats::destroy;
  }
  *backends = all.data();
  *count = all.size();
  return ATTNBENCH_OK;
}
