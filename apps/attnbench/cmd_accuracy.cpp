// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/inspect/accuracy_report.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

/// By how much keys' large channels stand out in LLM.int8() (arXiv:2208.07339, section 4).
constexpr double kUsualOutliers = 20;

struct AccuracyCommand {
  std::string model = "llama-3.1-8b", format = "table";
  std::optional<LayerKind> layer;
  int tp = 1;
  std::int64_t keys = 4096, queries = 16;
  double outliers = kUsualOutliers;
  std::optional<std::uint64_t> seed;
};

/// What a format costs is asked of sparse layers, too: which keys they pick is another question.
LayerKind kind_of(const AccuracyCommand& command, const ModelGeometry& model) {
  if (!command.layer && model.kinds[LayerKind::kSparse] > 0) return LayerKind::kFull;
  return kind_to_run(model, command.layer);
}

int report_accuracy(const AccuracyCommand& command, Console& console) {
  if (command.queries > command.keys) {
    throw ConfigError(fmt::format("--queries {} are more than the {} tokens of --keys",
                                  command.queries, command.keys));
  }
  const ModelGeometry model = resolve_model(command.model, "--model: ");
  const LayerKind kind = kind_of(command, model);
  AccuracyReport report{.model = command.model,
                        .layer_kind = std::string(to_string(kind)),
                        .tp = command.tp,
                        .layer = layer_of(model, kind, command.tp),
                        .sections = {}};
  std::vector<double> factors{1.0};
  if (command.outliers != 1) factors.push_back(command.outliers);
  for (const double factor : factors) {
    AccuracySection section{.data = {.keys = command.keys,
                                     .queries = command.queries,
                                     .outlier_factor = factor,
                                     .seed = command.seed.value_or(0)},
                            .rows = {}};
    const std::vector<StoredAs> ways = ways_to_store(report.layer);
    const std::vector<FormatAccuracy> found = accuracy_of(report.layer, ways, section.data);
    for (std::size_t i = 0; i < ways.size(); ++i) section.rows.push_back({ways[i], found[i]});
    report.sections.push_back(std::move(section));
  }
  (command.format == "json" ? write_accuracy_json : write_accuracy_table)(report, console.out);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_accuracy_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<AccuracyCommand>();
  CLI::App* accuracy = app.add_subcommand(
      "accuracy",
      "What a format of the KV cache costs in accuracy, whatever kernel reads it: attention over "
      "each format against the same numbers in bf16, on normal numbers and on keys with channels "
      "of outliers.\n\n"
      "  attnbench accuracy --model llama-3.1-8b\n"
      "  attnbench accuracy --model deepseek-v3 --tp 8 --outliers 50 --format json\n");
  accuracy->add_option("--model", command->model, "preset (`attnbench list models`) or config.json")
      ->check(not_empty())
      ->capture_default_str();
  std::map<std::string, LayerKind> kinds;
  for (const LayerKind kind : kLayerKinds) kinds.emplace(to_string(kind), kind);
  accuracy
      ->add_option("--layer", command->layer, "kind of layer; the model's full one if not given")
      ->option_text("full|sliding|…")
      ->transform(words_of(kinds));
  add_tp_option(*accuracy, command->tp);
  accuracy->add_option("--keys", command->keys, "tokens of the request")
      ->transform(whole_number("keys", 1, 1 << 20))
      ->capture_default_str();
  accuracy->add_option("--queries", command->queries, "of its last tokens")
      ->transform(whole_number("queries", 1, 4096))
      ->capture_default_str();
  accuracy
      ->add_option("--outliers", command->outliers,
                   "how many times larger the large channels of K are")
      ->check(CLI::Range(1.0, 1e4))
      ->capture_default_str();
  add_seed_option(*accuracy, command->seed)->description("of the numbers; 0 if not given");
  add_format_option(*accuracy, command->format);
  accuracy->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return report_accuracy(*command, console);
    };
  });
}

}  // namespace attnbench
