// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lib/cost/cost.h"
#include "lib/device/device.h"
#include "lib/engines/cascade_choice.h"
#include "lib/measure/measure.h"
#include "lib/measure/paired_ratio.h"
#include "lib/scenario/case.h"
#include "lib/scenario/scenario.h"
#include "lib/session/batched_graph.h"
#include "lib/session/index_timing.h"
#include "lib/verify/verdict.h"

namespace attnbench {

/// What the wall time of a run was spent on, in seconds. Every moment counts once: the parts add up
/// to RunResult::wall_s.
struct TimeAccount {
  double starting = 0;        ///< devices, processes of backends, backends
  double ceilings = 0;        ///< measuring them
  double building = 0;        ///< fixtures: memory, contents, hashes
  double reference = 0;       ///< rows in float64, and comparing timed samples with them
  double first_use = 0;       ///< first plan and first run of each backend
  double verifying = 0;       ///< the other runs of a verification, and judging them
  double planning = 0;        ///< plans that are timed, recorded ones and index arrays
  double samples = 0;         ///< what was timed itself
  double around_samples = 0;  ///< the rest of the rounds: flushes, contents, checks, waiting
  double other = 0;

  [[nodiscard]] double measuring() const { return samples + around_samples; }
};

/// A part of the account, as people and result files read it.
struct TimePart {
  const char* key;          ///< in JSON
  const char* description;  ///< for the schema
  double TimeAccount::*seconds;
};
inline constexpr std::array kTimeParts = {
    TimePart{"starting", "Opening devices, starting processes and backends",
             &TimeAccount::starting},
    TimePart{"ceilings", "Measuring the ceilings", &TimeAccount::ceilings},
    TimePart{"building", "Fixtures: memory, contents and hashes", &TimeAccount::building},
    TimePart{"reference", "Rows in float64, and comparing timed samples with them",
             &TimeAccount::reference},
    TimePart{"first_use", "First plan and first run of each backend", &TimeAccount::first_use},
    TimePart{"verifying", "Other runs of the verification, and judging them",
             &TimeAccount::verifying},
    TimePart{"planning", "Plans that are timed, recorded plans, index arrays",
             &TimeAccount::planning},
    TimePart{"samples", "What was timed itself", &TimeAccount::samples},
    TimePart{"around_samples", "The rest of the rounds: flushes, contents, checks, waiting",
             &TimeAccount::around_samples},
    TimePart{"other", "What is in no other part", &TimeAccount::other}};

/// Sum of the parts.
[[nodiscard]] constexpr double sum_of_parts(const TimeAccount& account) {
  double sum = 0;
  for (const TimePart& part : kTimeParts) sum += account.*part.seconds;
  return sum;
}

constexpr void add(TimeAccount& all, const TimeAccount& further) {
  for (const TimePart& part : kTimeParts) all.*part.seconds += further.*part.seconds;
}

/// Adds the seconds from its construction to its end.
class Lap {
 public:
  explicit Lap(double& part) : part_(&part) {}
  ~Lap() { *part_ += seconds(); }
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;

  /// So far.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// Up to `seconds` of the lap belong to another part.
  void give(double seconds, double& other) {
    const double given = std::min(seconds, this->seconds() - given_);
    given_ += given;
    other += given;
    *part_ -= given;
  }

 private:
  double* part_;
  double given_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// What other than its backend kept a cell from being measured, or ended its case.
enum class HarnessError : std::uint8_t {
  kNone,
  kEnvironment,  ///< the machine: no memory, say
  kDefect,       ///< attnbench itself
};

/// How far outputs can be trusted that are not known to be wrong.
enum class Check : std::uint8_t {
  kNotVerified,  ///< verification was switched off
  kPassed,
  kMistrusted,  ///< they agree, but the agreement proves little
};

/// What a cell's time is worth.
enum class Speed : std::uint8_t {
  kNone,  ///< no time could be taken
  kClaimed,
  kImpossible,  ///< faster than a measured ceiling of the device allows: something is wrong
};

// Each of these holds what can be said of a cell that ended so, and nothing else. The reason names
// the trouble, if there was any, except that of an incorrect cell, which says what is wrong.

/// The backend ran, and its outputs are not known to be wrong.
struct Completed {
  Check check = Check::kNotVerified;
  Speed speed = Speed::kNone;
  std::string reason = {};  ///< empty when all is well
  HarnessError harness_error = HarnessError::kNone;
};

/// The outputs are wrong. A time is kept for diagnosis; it is no claim of a speed.
struct Incorrect {
  std::string reason;
  bool timed = false;
  HarnessError harness_error = HarnessError::kNone;
};

/// The backend says that it does not do this.
struct Unsupported {
  std::string reason;
};

/// Not run: interrupted, no device, or trouble that is not the backend's.
struct Skipped {
  std::string reason;
  HarnessError harness_error = HarnessError::kNone;
};

/// The backend threw, or its process ended.
struct Crashed {
  std::string reason;
};

/// How a cell ended.
using Outcome = std::variant<Completed, Incorrect, Unsupported, Skipped, Crashed>;

[[nodiscard]] Verdict verdict_of(const Outcome& outcome);
[[nodiscard]] const std::string& reason_of(const Outcome& outcome);
[[nodiscard]] HarnessError harness_error_of(const Outcome& outcome);
[[nodiscard]] Speed speed_of(const Outcome& outcome);  ///< kNone unless Completed
/// Whether a time was taken, whatever it is worth.
[[nodiscard]] bool is_timed(const Outcome& outcome);

/// A short GPU cell, timed again as a graph of many forwards: the time of one of them.
struct BatchedGraphTiming {
  BatchedGraph graph;
  CellTiming timing;   ///< of one forward
  std::string reason;  ///< why it claims nothing; empty when all is well

  [[nodiscard]] bool tried() const { return graph.forwards > 0; }
  [[nodiscard]] bool timed() const { return tried() && reason.empty() && timing.median_us > 0; }
};

/// Where the backend says that it rounds (Numerics); of a composed step the loosest of its parts.
struct DeclaredFacts {
  std::string qk_input, p, accumulator, partial_out;  ///< types; empty: it was not asked
  int partial_roundings = 0;
  bool lse = false;

  [[nodiscard]] bool exist() const { return !accumulator.empty(); }
  /// "qk bf16, p bf16, acc f32, partials f32 x1, lse"; "no lse" where it writes none.
  [[nodiscard]] std::string text() const;
};

/// What serving engines would take for the case on the GPU of the run, by their own rules; empty
/// where no GPU takes part, the rule is not known, or the step has no softmax attention.
struct ChosenByEngines {
  std::string sglang, vllm;
  // What a feature or the pages of the case take away from each, silently.
  std::string sglang_instead_of, vllm_instead_of;  ///< the backend that it would take otherwise
  std::string sglang_graph, vllm_graph;            ///< why it replays no CUDA graph of a decode
};

/// What other programs took of a machine's processors for a while.
struct OtherPrograms {
  double busy_processors = -1;  ///< mean; -1: not known
  int processors = 0;           ///< of the machine

  [[nodiscard]] bool known() const { return processors > 0; }
  /// Enough to be seen in a figure: more than a twentieth of the machine, or than half of one
  /// processor, since a kernel waits for its slowest thread however many processors there are.
  [[nodiscard]] bool disturb() const {
    return known() && busy_processors > std::min(0.05 * processors, 0.5);
  }
};

/// The requests of a case that come from one entry of its batch.
struct RequestGroup {
  std::string name;
  std::int64_t requests = 0, q_tokens = 0, kv_tokens = 0;

  bool operator==(const RequestGroup&) const = default;
};

/// The result row of one cell (case x part of the step x backend x cache x launch).
struct Record {
  std::string scenario;  ///< its name
  std::string case_id;
  std::string mix;
  std::string model;
  std::string backend;
  std::string backend_version;
  std::string packages, kernel, engine_flag;  ///< of BackendInfo
  PythonEnvironment environment;              ///< likewise
  std::string device;                         ///< DeviceInfo::name
  CacheState cache = CacheState::kCold;
  LaunchMode launch = LaunchMode::kEager;
  StepPart step = StepPart::kAttention;
  bool graph_forced = false;  ///< --force-graph: the backend claims no graph of such a batch
  std::string mode;           ///< forward mode
  std::string dtype;
  std::int64_t requests = 0, q_tokens = 0, kv_tokens = 0;
  std::int64_t q_len_max = 0, kv_len_max = 0;  ///< of a request; 0: an old file does not say
  AttentionLayer layer;
  bool is_composed = false;  ///< Case::parts: `layer` is in the absorbed form
  KvCacheConfig kv_cache;    ///< its layout is the one that the backend read
  Fp8Activations fp8;
  float q_scale = 1, out_scale = 1;
  int tp = 1;
  std::int64_t graph_bucket = 0;  ///< requests of a padded graph, its padding included; 0: none
  std::int64_t padding_requests = 0, padding_tokens = 0;  ///< BatchPadding: what fills the step up
  ModelLayers model_layers;          ///< of a mix that runs a model's kinds of layers
  std::vector<RequestGroup> groups;  ///< in the batch's order
  SweptValues sweep;                 ///< what the sweep put into this case
  CascadeChoice use_cascade;         ///< by vLLM's rule, on the GPU of the run
  ChosenByEngines engine_choice;

  OtherPrograms others;  ///< while the case was under way, and in the second before

  Outcome outcome;
  int samples_checked = 0;  ///< timed samples whose outputs were compared with the reference
  CellTiming
      timing;  ///< its status says how measuring ended; its figures are those of a timed cell
  BatchedGraphTiming graph_n;
  HostTiming plan;
  HostTiming update;  ///< of a graph's recorded plan; 0: there is none
  /// That the plan of the cell reserved; 0: none, or its library's own memory, which is not known.
  double first_use_us = 0;  ///< of Verification; 0: not verified
  std::int64_t workspace_bytes = 0;
  IndexTiming index;  ///< of the case, on a GPU; 0 elsewhere
  PairedRatio aa;     ///< of the second of an A/A pair over the first (--aa); no pairs otherwise
  Cost cost;
  DeclaredFacts declared;
  ErrorMetrics error;
  BitwiseProperties bitwise;
  std::int64_t slots_checked = 0;  ///< of the cache that the step wrote, compared exactly
  bool cache_resident = false;     ///< bytes_unique fits the last-level cache
  bool is_short = false;           ///< on a GPU, so short that its launch is a visible part of it
  std::string fixture_hash;
  std::string repro;  ///< paste-ready command line that runs this cell alone

  [[nodiscard]] bool is_recurrent() const { return layer.is_recurrent(); }
  [[nodiscard]] Verdict verdict() const { return verdict_of(outcome); }
  /// Why not passed, not converged or not measured; empty when all is well.
  [[nodiscard]] const std::string& reason() const { return reason_of(outcome); }
  [[nodiscard]] HarnessError harness_error() const { return harness_error_of(outcome); }
  [[nodiscard]] bool is_timed() const { return attnbench::is_timed(outcome); }
  /// Faster than a measured ceiling allows.
  [[nodiscard]] bool is_impossible() const { return speed_of(outcome) == Speed::kImpossible; }
  /// Wrong, crashed or impossible.
  [[nodiscard]] bool has_failed() const { return is_failure(verdict()) || is_impossible(); }
  /// Rates are 0 of a cell that claims no speed: one that was not timed, or has failed.
  [[nodiscard]] bool claims_speed() const { return speed_of(outcome) == Speed::kClaimed; }
  [[nodiscard]] double gb_per_s() const;  ///< bytes_unique / median, 1e9
  [[nodiscard]] double tflop_per_s() const;
  double roofline = 0;  ///< roofline time / median, 0..1
};

/// Where and how the run took place; key-value pairs in a fixed order.
struct Environment {
  std::string version, git_sha, build_type, compiler, flags;
  std::string os, hostname_hash;
  DeviceInfo device;
  int threads = 0;
  std::string started_utc;  ///< ISO 8601
};

/// A device of a run with its measured rates.
struct DeviceRates {
  DeviceInfo device;
  Ceilings ceilings;
  std::string ceilings_utc{};  ///< when an earlier run measured them; empty: this one did
};

/// The scenario that a run's figures belong to.
struct ScenarioSource {
  std::string name, path, sha256;
  std::uint64_t seed = 0;
  std::string options{};             ///< of the command line, that change how cells are measured
  std::vector<InputFile> configs{};  ///< Scenario::configs

  bool operator==(const ScenarioSource&) const = default;
};

/// A whole run: what every sink writes.
struct RunResult {
  Environment environment;           ///< its device is the main one: the GPU, where one takes part
  Ceilings ceilings;                 ///< of the main device
  std::vector<DeviceRates> devices;  ///< every device that the chosen backends use
  /// Backends for the processor that run only what no backend of the GPU supports, since nobody
  /// named them. For the table's header; result files do not hold it.
  std::vector<std::string> cpu_fallbacks;
  /// Python environments with a name, and what the backends there call: "v33: vllm==0.33.0 in
  /// new/bin/python". Likewise for the header: records hold it.
  std::vector<std::string> environments;
  std::vector<ScenarioSource> scenarios;  ///< that were run, in order
  std::vector<InputFile> plugins;         ///< files of backends that were chosen
  OtherPrograms others;                   ///< while the run went on; of several, in the busiest one
  std::vector<Record> records;
  double wall_s = 0;
  TimeAccount spent;  ///< adds up to wall_s
  bool interrupted = false;
};

/// Joins the run of a further scenario, or a further part of one, to `all`, which may be empty.
void append(RunResult& all, RunResult further);

/// Which cell a record is of: what two records of different runs must share to be compared.
struct CellKey {
  explicit CellKey(const Record& record);

  std::string scenario, case_id, backend;
  StepPart step;
  CacheState cache;
  LaunchMode launch;

  auto operator<=>(const CellKey&) const = default;
};

/// "quickstart: decode/ps16, splitkv, attention, cold, eager".
[[nodiscard]] std::string to_string(const CellKey& key);

}  // namespace attnbench
