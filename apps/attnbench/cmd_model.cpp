// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/config/value_reader.h"
#include "lib/inspect/model_report.h"

namespace attnbench {
namespace {

struct ModelCommand {
  std::string model;
  int tp = 1;
  std::string dtype = "bf16", kv_dtype;
  std::int64_t page_size = 1;
  std::optional<std::int64_t> gpu_memory, weights, context, encoder_len;
  std::string format = "table";
};

CacheFormat asked_format(const ModelCommand& command, const ModelGeometry& model) {
  CacheFormat format =
      kv_format_of(command.kv_dtype.empty() ? command.dtype : command.kv_dtype, model);
  format.page_size = command.page_size;
  return format;
}

int explain(const ModelCommand& command, Console& console) {
  if (command.weights && !command.gpu_memory) {
    throw ConfigError("--weights without --gpu-memory: nothing says what they are to fit beside");
  }
  constexpr std::int64_t kLeastMemory = 1 << 20;  // no GPU has less: a unit was left out
  if (command.gpu_memory && *command.gpu_memory < kLeastMemory) {
    throw ConfigError(
        fmt::format("--gpu-memory {0} is {0} bytes   did you mean {0}g?", *command.gpu_memory));
  }
  ModelQuestion question;
  question.name = command.model;
  question.model = resolve_model(command.model);
  question.memory = model_memory(question.model, command.tp, asked_format(command, question.model),
                                 *dtype_from_string(command.dtype), command.encoder_len);
  question.gpu_bytes = command.gpu_memory;
  question.weight_bytes = command.weights;
  question.context = command.context;
  (command.format == "json" ? write_model_json : write_model_table)(question, console.out);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_model_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<ModelCommand>();
  CLI::App* model = app.add_subcommand(
      "model",
      "What a model's layers are and keep in memory: heads of a rank, kinds of layers, bytes of KV "
      "a token and a request, and how many fit.\n\n"
      "  attnbench model llama-3.1-70b --tp 8\n"
      "  attnbench model deepseek-v3 --tp 8 --kv-dtype fp8_ds_mla --context 32k --gpu-memory 141g "
      "--weights 640g\n");
  model->add_option("model", command->model, "preset (`attnbench list models`) or config.json")
      ->required()
      ->check(not_empty());
  add_tp_option(*model, command->tp);
  model->add_option("--dtype", command->dtype, "of activations")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str();
  model
      ->add_option("--kv-dtype", command->kv_dtype,
                   "of the KV cache; fp8_ds_mla: MLA's rows of e4m3 with scales, 656 bytes or "
                   "DeepSeek-V4's 584; as --dtype unless given")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "e4m3", "e5m2", kDsMlaRows}));
  model->add_option("--page-size", command->page_size, "tokens of a KV page (vLLM: block)")
      ->transform(whole_number("page_size", 1, kMaxSize))
      ->capture_default_str();
  model->add_option("--context", command->context, "tokens of a request, as in 8k")
      ->transform(whole_number("context", 1, kMaxSize));
  model
      ->add_option("--encoder-len", command->encoder_len,
                   "tokens of a request's encoder, where the model has cross layers; as the model "
                   "says unless given")
      ->transform(whole_number("encoder-len", 0, kMaxSize));
  model->add_option("--gpu-memory", command->gpu_memory, "of one rank's GPU; 141g is 141 x 1024^3")
      ->transform(memory_size("gpu-memory"));
  model
      ->add_option("--weights", command->weights,
                   "of the whole model, which the ranks share evenly; without them what fits is an "
                   "upper bound")
      ->transform(memory_size("weights"));
  add_format_option(*model, command->format);
  model->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return explain(*command, console);
    };
  });
}

}  // namespace attnbench
