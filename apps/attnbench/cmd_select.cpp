// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/engine_options.h"
#include "apps/attnbench/kv_dtype_option.h"
#include "apps/attnbench/model_named.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/exit_code.h"
#include "lib/report/engine_selection.h"
#include "lib/report/result_reader.h"
#include "lib/scenario/engine_setup_of.h"

namespace attnbench {

namespace {

struct SelectCommand {
  std::string model, arch, results;
  int tp = 1, topk = 0;
  std::int64_t page_size = 0;
  bool deterministic = false;
  std::string kv_dtype = "bf16", format = "table";
};

int select(const SelectCommand& command, Console& console) {
  EngineSelection selection;
  selection.model = command.model;
  selection.tp = command.tp;
  selection.setup = engine_setup_of(model_named(command.model, "--model: "), command.tp,
                                    engine_device_named(command.arch));
  selection.setup.topk = command.topk;
  selection.setup.page_size = command.page_size;
  const CacheFormat cache = kv_format_of(command.kv_dtype);
  selection.setup.kv_dtype = cache.dtype;
  selection.setup.kv_scales = cache.scales;
  selection.setup.is_deterministic = command.deterministic;
  if (!command.results.empty()) selection.measured = read_results(command.results);
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
      "flags that ask for it; with results, what was the fastest correct backend there.\n\n"
      "  attnbench select --model llama-3.1-8b --arch sm90\n"
      "  attnbench select --model deepseek-v3 --tp 8 --arch sm90 --kv-dtype e4m3\n");
  select_app->add_option("results", command->results, "JSON of `attnbench run --json`");
  select_app
      ->add_option("--model", command->model, "preset (`attnbench list models`) or config.json")
      ->required()
      ->check(not_empty());
  select_app->add_option("--arch", command->arch, "device: sm90, sm100, gfx942, cpu, …")
      ->required()
      ->check(not_empty());
  select_app->add_option("--tp", command->tp, "tensor-parallel ranks")
      ->transform(whole_number("tp", 1, 1024))
      ->capture_default_str();
  select_app
      ->add_option("--topk", command->topk,
                   "speculative decoding whose trees have so many children a node; 0: none")
      ->transform(whole_number("topk", 0, 1024))
      ->capture_default_str();
  select_app->add_option("--page-size", command->page_size, "tokens of a KV page (vLLM: block)")
      ->transform(whole_number("page_size", 1, 65536));
  select_app
      ->add_option("--kv-dtype", command->kv_dtype,
                   "of the KV cache; fp8_ds_mla: MLA's rows of e4m3 with scales inside")
      ->check(CLI::IsMember({"bf16", "e4m3", "e5m2", kBlockRows}))
      ->capture_default_str();
  select_app->add_flag("--deterministic", command->deterministic,
                       "SGLang's deterministic inference, vLLM's batch invariance");
  select_app->add_option("--format", command->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  select_app->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return select(*command, console);
    };
  });
}

}  // namespace attnbench
