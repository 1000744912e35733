// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attnbench/backend.h"

// A plug-in for tests. Each cheat stands in a file of its own and has one line in the table of
// plugin.cpp. Right attention, which most of them use for a part of their work, is in
// attention.cpp.
namespace cheats {

struct Cheat;

/// A batch of causal self-attention over a bf16 cache, and what a cheat keeps between runs.
struct Planned {
  const Cheat* cheat = nullptr;
  attnbench_problem problem{};
  const attnbench_tensor* tensors = nullptr;  ///< by role
  std::span<const std::int32_t> kv_lens;      ///< one a request
  std::span<const std::int32_t> q_start;      ///< one a request, and the end
  std::vector<std::int64_t> request_of;       ///< one a query token
  const std::int32_t* page_begin = nullptr;   ///< of each request, in `pages`
  const std::int32_t* pages = nullptr;
  float logit_scale = 1;  ///< softmax scale times k_scale
  float v_scale = 1;
  std::int64_t runs = 0;  ///< this one included
  /// What a step reads and writes at least. A cheat that waits until bytes / 40 GB/s and flops /
  /// 500 GFLOP/s have passed is not IMPOSSIBLE.
  double bytes = 0, flops = 0;
  std::uint64_t keys_before = 0, queries_before = 0;  ///< for looks_timed()
  std::vector<std::byte> kept;                        ///< free for a cheat's use
  std::span<std::byte> workspace{};  ///< Cheat::workspace bytes of the plan's memory

  [[nodiscard]] std::int64_t requests() const { return static_cast<std::int64_t>(kv_lens.size()); }
  [[nodiscard]] std::int64_t tokens() const { return q_start.back(); }
  [[nodiscard]] int heads() const { return problem.heads_q; }
  /// Keys that a query token sees.
  [[nodiscard]] std::int64_t visible(std::int64_t token) const;
  [[nodiscard]] std::uint16_t* q_row(std::int64_t token, int head) const;
  [[nodiscard]] std::uint16_t* out_row(std::int64_t token, int head) const;
  /// Null where no LSE is wanted.
  [[nodiscard]] float* lse(std::int64_t token, int head) const;
  /// Row of ATTNBENCH_K_CACHE or ATTNBENCH_V_CACHE.
  [[nodiscard]] std::uint16_t* cache_row(int role, std::int64_t request, std::int64_t position,
                                         int kv_head) const;
};

/// Which keys take part in a row; all where it is empty.
using Keeps = std::function<bool(std::int64_t position)>;

/// Which values are read, by their key's weight relative to the row's largest; all where it is
/// empty. The denominator counts every key.
using KeepsValue = std::function<bool(float weight)>;

/// One row of the output and its LSE, computed in f32.
void attend(const Planned& planned, std::int64_t token, int head, const Keeps& keeps = {},
            const KeepsValue& keeps_value = {});
/// All rows: an honest run.
void attend_all(const Planned& planned, const Keeps& keeps = {});
/// `value` in every element of a row, and an LSE.
void put_constant(const Planned& planned, std::int64_t token, int head, float value, float lse);
/// Whether the plan is being timed: the queries are others than in its run before, the keys, but
/// for signs, are not. To be asked in each run.
[[nodiscard]] bool looks_timed(Planned& planned);
/// Waits as `bytes` and `flops` say, counted from `begin_s` of now_s().
void pace(const Planned& planned, double begin_s);
[[nodiscard]] double now_s();
[[nodiscard]] float widened(std::uint16_t bf16);
[[nodiscard]] std::uint16_t rounded_to_bf16(float value);

struct Cheat {
  const char* name;
  void (*run)(Planned& planned);
  void (*numerics)(attnbench_numerics& numerics) = nullptr;  ///< what it claims; f32 where null
  std::size_t workspace = 0;
};

// One declaration a cheat.
void honest(Planned& planned);
void writes_constants(Planned& planned);
void claims_sums_in_e4m3(attnbench_numerics& numerics);
void claims_partials_rounded_a_million_times(attnbench_numerics& numerics);
void claims_partials_in_e5m2(attnbench_numerics& numerics);
void skips_small_values(Planned& planned);
void claims_weights_in_e4m3(attnbench_numerics& numerics);

// Against other processes (processes.cpp).
void writes_to_the_memory_of_its_run(Planned& planned);
void has_power_over_others(Planned& planned);
void ends_the_process_while_timed(Planned& planned);
void leaves_processes_behind(Planned& planned);
void slows_the_clock_of_its_process(Planned& planned);

// Honest, but odd (odd_*.cpp).
void own_thread_pool(Planned& planned);
void leaks_64_kb_a_run(Planned& planned);
void compiles_in_its_first_run(Planned& planned);
void reverse_online_softmax(Planned& planned);
void split_kv_in_order_of_arrival(Planned& planned);
void claims_partials_in_bf16(attnbench_numerics& numerics);
void bf16_weights_and_partials(Planned& planned);
void claims_bf16_weights_and_partials(attnbench_numerics& numerics);
void six_megabytes_of_stack(Planned& planned);
void shared_file_mapping(Planned& planned);
void forks_in_each_run(Planned& planned);
void in_f64(Planned& planned);
void leaves_denormals_off(Planned& planned);
void non_temporal_stores(Planned& planned);
void idle_thread(Planned& planned);
void transposed_copy_in_the_workspace(Planned& planned);

// In timed samples only.
void leaves_a_row_now_and_then(Planned& planned);
void keeps_int8_when_timed(Planned& planned);
void keeps_int8_where_queries_are_large(Planned& planned);
void reads_every_sixth_key_when_timed(Planned& planned);
void claims_weights_in_e4m3_and_no_lse(attnbench_numerics& numerics);
void claims_no_lse(attnbench_numerics& numerics);
void changes_a_rivals_inputs(Planned& planned);

// By what the public source says of samples that are still to come (foreseen.cpp).
void computes_foreseen_rows_only(Planned& planned);
void computes_foreseen_rows_by_a_seed_in_memory(Planned& planned);
void puts_constants_beside_foreseen_rows(Planned& planned);
void leaves_samples_that_nobody_compares(Planned& planned);
void works_ahead_in_untimed_forwards(Planned& planned);
void answers_from_an_earlier_run(Planned& planned);

// Damage that no repetition shows, as another backend of the process would do it (damage.cpp).
void changes_an_input_once_in_the_check(Planned& planned);
void changes_a_guard_once_in_the_check(Planned& planned);
void changes_a_guard_once_when_timed(Planned& planned);
void changes_the_workspaces_guard_once_when_timed(Planned& planned);

}  // namespace cheats
