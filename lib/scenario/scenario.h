// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/python_environment.h"
#include "lib/config/problems.h"
#include "lib/scenario/case.h"
#include "lib/scenario/fill.h"

namespace attnbench {

/// What the last-level cache holds when a forward begins.
enum class CacheState : std::uint8_t {
  kCold,     ///< no data of the forward
  kWarm,     ///< what the same forward left there
  kServing,  ///< queries, index arrays and the plan, which an engine's step has just written; no
             ///< KV, because all other layers have run since this one's was read last
};
inline constexpr CacheState kCacheStates[] = {CacheState::kCold, CacheState::kWarm,
                                              CacheState::kServing};
enum class LaunchMode : std::uint8_t { kEager, kGraph };

[[nodiscard]] std::string_view to_string(CacheState cache);
[[nodiscard]] std::string_view to_string(LaunchMode launch);

/// What to measure and when to stop.
struct MeasureConfig {
  std::vector<CacheState> cache{CacheState::kCold};
  std::vector<LaunchMode> launch{LaunchMode::kEager};
  std::vector<StepPart> step{StepPart::kAttention};
  IndexForm index_form = IndexForm::kCsr;  ///< what a step of StepPart::kIndex builds
  /// Batch sizes for which an engine records CUDA graphs, ascending; a smaller batch is padded.
  /// Empty: a graph has the size of its batch.
  std::vector<std::int64_t> graph_buckets;
  double precision = 0.005;  ///< stop when the CI half-width is this part of the median
  int min_rounds = 12;
  int max_rounds = 40;
  double block_s = 0.010;  ///< samples of one visit fill about this long
  int min_block_samples = 5;
  int max_block_samples = 150;
  double cell_timeout_s = 15;
  /// Most bytes of workspace that a plan may want, as in an engine with a fixed buffer; 0: any.
  std::int64_t workspace_limit = 0;
  bool aa = false;           ///< every cell twice, to see what the machine cannot tell apart
  bool force_graph = false;  ///< graphs that a backend does not claim, too
};

/// What to check before timing.
struct VerifyConfig {
  bool enabled = true;
  std::int64_t rows = 512;  ///< rows (query token x head) per fill; every request at least once
  std::vector<Fill> fills{kFills.begin(), kFills.end()};
  /// A request's bits must not depend on the rest of its batch: a backend that gives other bits in
  /// one of kCompositions batches of the case's requests is wrong.
  bool batch_invariant_required = false;
  static constexpr int kCompositions = 100;
  /// The loosest type in which a backend may declare that it rounds (Numerics); none: any.
  std::optional<DType> at_most;
};

/// How a shell reaches a scenario again: for the lines that repeat a cell.
struct ScenarioCommand {
  std::string program = "attnbench";
  std::string file;                  ///< empty: Scenario::path
  std::vector<std::string> options;  ///< words that make it measure otherwise than the file says
  std::vector<std::string> hosted_options{};  ///< the same, for backends with a host process
};

/// A key of one case with further values, as a sweep would have them.
struct CaseAxis {
  std::string case_id;
  std::string path;  ///< "batch[0].kv_len"
  std::vector<std::int64_t> values;
};

/// A file that results hang on, with what was in it.
struct InputFile {
  std::string path, sha256;

  bool operator==(const InputFile&) const = default;
};

/// One scenario file, expanded.
struct Scenario {
  std::string name;
  std::string description;
  std::string path;    ///< as given on the command line
  std::string text;    ///< the file's bytes
  std::string sha256;  ///< of them, hex
  /// config.json of models and captured lists that it names, by their paths in it.
  std::vector<InputFile> configs;
  std::uint64_t seed = 0;
  std::uint64_t sample_nonce = 0;  ///< of all its cases; 0: of no run
  MeasureConfig measure;
  VerifyConfig verify;
  /// Names, and whole paths of plug-in files, which mean all that they hold. Empty: every one that
  /// supports the case.
  std::vector<std::string> backends;
  std::vector<Place> backend_places;      ///< where the file names them
  std::vector<PythonEnvironment> python;  ///< of plug-ins in Python; empty: the file names none
  std::vector<Case> cases;                ///< in file order
  std::optional<CaseAxis> axis{};  ///< that all cases lie along, instead of those of the file
  ScenarioCommand command;
};

/// Scenario::sample_nonce, and that of its cases.
void set_sample_nonce(Scenario& scenario, std::uint64_t nonce);

/// Mixes without chosen keys among some that have them: of a step's parts, those that choose keys
/// are left out of them. None where no mix has chosen keys.
[[nodiscard]] std::set<std::string> mixes_without_lists(const std::vector<const Case*>& cases);
/// Whether a part of a step is of layers with chosen keys only.
[[nodiscard]] constexpr bool chooses_keys(StepPart part) {
  return builds(part) && part != StepPart::kIndex && part != StepPart::kCompress;
}

/// Whether an item of a list of backends is a plug-in file: no name looks like one, nor like one in
/// an environment, "v33/vllm:fa3".
[[nodiscard]] bool is_plugin_file(const std::string& item);

/// Reads and expands a scenario; `seed` overrides the file's own, and with it every drawn length
/// and all contents. Throws ConfigError with every mistake of the file at once.
[[nodiscard]] Scenario load_scenario(const std::string& path,
                                     std::optional<std::uint64_t> seed = std::nullopt);

/// The same for text that is already in memory; `path` only names it in messages. With an `axis`
/// the cases are its case's, one for each of its values, and no others.
[[nodiscard]] Scenario parse_scenario(const std::string& text, const std::string& path,
                                      std::optional<std::uint64_t> seed = std::nullopt,
                                      const std::optional<CaseAxis>& axis = std::nullopt);

}  // namespace attnbench
