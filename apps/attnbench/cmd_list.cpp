// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/model/model_geometry.h"
#include "lib/report/text_layout.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

void list_backends(const Registry& registry, std::ostream& out) {
  std::size_t width = 0;
  std::size_t format_width = 0;
  for (const Registry::Entry& entry : registry.entries()) {
    width = std::max(width, entry.info.name.size());
    format_width = std::max(format_width, entry.info.index_format.size());
  }
  for (const Registry::Entry& entry : registry.entries()) {
    out << fmt::format("{:<{}} {:<5} {:<{}} {}{}\n", entry.info.name, width,
                       entry.info.device == DeviceKind::kCpu ? "cpu" : "cuda",
                       entry.info.index_format, format_width,
                       entry.absence.empty() ? entry.info.description : "absent: " + entry.absence,
                       entry.info.by_default ? "" : " (only by name)");
  }
}

/// What sets a model's attention apart, in a few words.
std::string traits_of(const ModelGeometry& model, const AttentionLayer& layer) {
  std::vector<std::string> traits;
  if (layer.kind == AttentionKind::kMlaAbsorbed) traits.emplace_back("MLA (absorbed)");
  if (model.kinds[LayerKind::kFull] < model.layers) traits.push_back(model.kinds.text());
  if (model.sliding_window > 0) traits.push_back(fmt::format("window {}", model.sliding_window));
  if (model.attention_chunk > 0) traits.push_back(fmt::format("chunk {}", model.attention_chunk));
  if (model.yarn.factor > 1) traits.push_back(fmt::format("YaRN {:g}", model.yarn.factor));
  if (layer.logit_cap > 0) traits.push_back(fmt::format("softcap {:g}", layer.logit_cap));
  if (layer.has_sinks) traits.emplace_back("sinks");
  if (!model.verified) traits.emplace_back("figures from memory");
  return fmt::format("{}", fmt::join(traits, "; "));
}

void list_models(std::ostream& out) {
  constexpr std::size_t kWidth = 100;
  out << fmt::format("{:<22} {:>6} {:>9} {:>8} {:>9}  {}\n", "model", "layers", "q heads",
                     "kv heads", "head dim", "notes");
  for (const std::string& name : model_names()) {
    const ModelGeometry& model = *find_model(name);
    const bool all_slide = model.kinds[LayerKind::kSliding] == model.layers;
    const AttentionLayer layer =
        layer_of(model, all_slide ? LayerKind::kSliding : LayerKind::kFull, 1);
    const std::string dim = layer.head_dim_qk == layer.head_dim_v
                                ? std::to_string(layer.head_dim_qk)
                                : fmt::format("{}/{}", layer.head_dim_qk, layer.head_dim_v);
    const std::string traits = traits_of(model, layer);
    out << fmt::format("{:<22} {:>6} {:>9} {:>8} {:>9}{}{}\n", name, model.layers, layer.heads_q,
                       layer.heads_kv, dim, traits.empty() ? "" : "  ", traits);
    if (!model.notes.empty()) out << wrapped(model.notes, kWidth, 4);
  }
}

/// Every scenario below `folder`, with what it holds or what is wrong with it.
int list_scenarios(const std::string& folder, Console& console) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  if (failed) throw ConfigError(fmt::format("cannot list {}: {}", folder, failed.message()));
  std::ranges::sort(paths);
  int exit_code = static_cast<int>(ExitCode::kOk);
  for (const fs::path& path : paths) {
    try {
      const Scenario scenario = load_scenario(path.string());
      console.out << fmt::format("{:<34} {:>3} {}  {}\n", path.string(), scenario.cases.size(),
                                 scenario.cases.size() == 1 ? "case " : "cases",
                                 scenario.description);
    } catch (const ConfigError& error) {
      console.err << error.what();
      exit_code = static_cast<int>(ExitCode::kUsage);
    }
  }
  return exit_code;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  CLI::App* list = app.add_subcommand("list",
                                      "List backends, model presets or scenarios.\n\n"
                                      "  attnbench list backends\n"
                                      "  attnbench list models\n");
  list->require_subcommand(1);
  list->add_subcommand("backends",
                       "every backend, absent ones with the reason; variants run only by name")
      ->callback([&action] {
        action = [](const Registry& registry, Console& console) {
          list_backends(registry, console.out);
          return static_cast<int>(ExitCode::kOk);
        };
      });
  list->add_subcommand("models", "geometry presets of scenarios/models")->callback([&action] {
    action = [](const Registry&, Console& console) {
      list_models(console.out);
      return static_cast<int>(ExitCode::kOk);
    };
  });
  auto folder = std::make_shared<std::string>("scenarios");
  CLI::App* scenarios =
      list->add_subcommand("scenarios", "scenario files of a folder; broken ones: exit 4");
  scenarios->add_option("folder", *folder, "where to look")->capture_default_str();
  scenarios->callback([folder, &action] {
    action = [folder](const Registry&, Console& console) {
      return list_scenarios(*folder, console);
    };
  });
}

}  // namespace attnbench
