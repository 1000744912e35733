// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/engines/engine_setup_of.h"
#include "lib/inspect/engine_selection.h"
#include "lib/result/result_reader.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {

namespace {

struct SelectCommand {
  std::string model, arch, file;
  std::optional<int> tp;
  int topk = 0;
  std::int64_t page_size = 0;
  bool deterministic = false, dcp = false, spans = false;
  std::vector<std::string> engine_versions;
  std::string kv_dtype = "bf16", format = "table";
};

/// A model on so many ranks, as records and cases name it.
using ModelOnRanks = std::pair<std::string, int>;

/// What the command line leaves to the file.
struct Known {
  std::set<ModelOnRanks> models;
  bool has_written_out = false;  ///< layers, which are of no model
  std::string arch;
  std::string scenario;  ///< its path
};

void add_model(const std::string& model, int tp, Known& known) {
  if (model == kInlineModel) {
    known.has_written_out = true;
  } else {
    known.models.emplace(model, tp);
  }
}

bool is_scenario(const std::string& file) {
  return file.ends_with(".yaml") || file.ends_with(".yml") || file == kStandardInput;
}

Known known_from(const Scenario& scenario) {
  Known known{.scenario = scenario.path};
  for (const Case& c : scenario.cases) add_model(c.model, c.tp, known);
  return known;
}

Known known_from(const RunResult& run) {
  Known known;
  for (const Record& r : run.records) add_model(r.model, r.tp, known);
  const DeviceInfo& device = run.environment.device;
  if (device.kind == DeviceKind::kCuda) known.arch = device.arch;
  if (run.scenarios.size() == 1) known.scenario = run.scenarios.front().path;
  return known;
}

/// A config.json that a scenario names lies beside it.
std::string path_of_model(const std::string& model, const std::string& scenario) {
  if (!model.ends_with(".json")) return model;
  return (std::filesystem::path(scenario).parent_path() / model).string();
}

/// The only one that the file holds and the command line does not rule out.
ModelOnRanks model_of(const SelectCommand& command, const Known& known) {
  if (!command.model.empty()) return {command.model, command.tp.value_or(1)};
  std::set<ModelOnRanks> left;
  for (const ModelOnRanks& each : known.models) {
    if (!command.tp || each.second == *command.tp) left.insert(each);
  }
  if (left.size() == 1) return *left.begin();
  std::vector<std::string> names;
  for (const auto& [model, tp] : left) names.push_back(fmt::format("{} at tp {}", model, tp));
  if (!names.empty()) {
    throw ConfigError(fmt::format("--model is needed: the file has {}", fmt::join(names, ", ")));
  }
  throw ConfigError(fmt::format(
      "--model is needed: a preset (`attnbench list models`) or a config.json{}",
      known.has_written_out ? "; engines choose for a model, and the file writes layers out" : ""));
}

int select(const SelectCommand& command, Console& console) {
  EngineSelection selection;
  Known known;
  if (is_scenario(command.file)) {
    known = known_from(read_scenario(command.file, {}));
  } else if (!command.file.empty()) {
    selection.measured = read_results(command.file);
    known = known_from(*selection.measured);
  }
  const std::string arch = command.arch.empty() ? known.arch : command.arch;
  if (arch.empty()) throw ConfigError("--arch is needed: sm90, sm100, gfx942, cpu, …");
  std::tie(selection.model, selection.tp) = model_of(command, known);
  if (!known.scenario.empty()) selection.scenario = known.scenario;
  const std::string model =
      command.model.empty() ? path_of_model(selection.model, known.scenario) : command.model;
  const ModelGeometry geometry = resolve_model(model, "--model: ");
  selection.setup = engine_setup_of(geometry, selection.tp, engine_device_named(arch));
  selection.setup.topk = command.topk;
  selection.setup.page_size = command.page_size;
  const CacheFormat cache = kv_format_of(command.kv_dtype, geometry);
  selection.setup.kv_dtype = cache.dtype;
  selection.setup.kv_scales = cache.scales;
  selection.setup.is_deterministic = command.deterministic;
  selection.setup.uses_dcp = command.dcp;
  selection.setup.has_spans = command.spans;
  for (const std::string& version : command.engine_versions) {
    set_engine_version(version, selection.setup);
  }
  (command.format == "json" ? write_selection_json : write_selection_table)(selection, console.out);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_select_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<SelectCommand>();
  CLI::App* select_app = app.add_subcommand(
      "select",
      "Which attention backend SGLang and vLLM take for a model on a device, by which rule, and "
      "the "
      "flags that ask for it; with results, what was the fastest correct backend there. A last "
      "line times the kernels that they launch.\n\n"
      "  attnbench select --model llama-3.1-8b --arch sm90\n"
      "  attnbench select --model deepseek-v3 --tp 8 --arch sm90 --kv-dtype e4m3\n"
      "  attnbench select r.json\n"
      "  attnbench select scenarios/quickstart.yaml --arch sm90\n");
  select_app->add_option("file", command->file,
                         "JSON of `attnbench run --json`, whose figures are compared with the "
                         "choice, or a scenario (.yaml); model, ranks and device follow from it");
  select_app
      ->add_option("--model", command->model,
                   "preset (`attnbench list models`) or config.json; if not given, the file's")
      ->check(not_empty());
  select_app
      ->add_option("--arch", command->arch,
                   "device: sm90, sm100, gfx942, cpu, …; if not given, the GPU of the results")
      ->check(not_empty());
  select_app
      ->add_option("--tp", command->tp, "tensor-parallel ranks; if not given, the file's, or 1")
      ->transform(whole_number("tp", 1, 1024));
  select_app
      ->add_option("--topk", command->topk,
                   "speculative decoding whose trees have so many children a node; 0: none")
      ->transform(whole_number("topk", 0, 1024))
      ->capture_default_str();
  select_app->add_option("--page-size", command->page_size, "tokens of a KV page (vLLM: block)")
      ->transform(whole_number("page_size", 1, 65536));
  select_app
      ->add_option("--kv-dtype", command->kv_dtype,
                   "of the KV cache; fp8_ds_mla: MLA's rows of e4m3 with scales")
      ->check(CLI::IsMember({"bf16", "e4m3", "e5m2", kDsMlaRows}))
      ->capture_default_str();
  select_app->add_flag("--deterministic", command->deterministic,
                       "SGLang's deterministic inference, vLLM's batch invariance");
  select_app->add_flag("--dcp", command->dcp,
                       "decode context parallelism: ranks share the keys of a request");
  select_app->add_flag("--spans", command->spans,
                       "spans of prompts see each other both ways, as images of Gemma 3 do");
  select_app
      ->add_option("--engine-version", command->engine_versions,
                   "of an engine, 0.22.0 or 0.22 for vLLM's; if not given, the newest of each")
      ->option_text("VERSION")
      ->allow_extra_args(false);
  add_format_option(*select_app, command->format);
  select_app->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return select(*command, console);
    };
  });
}

}  // namespace attnbench
