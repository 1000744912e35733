// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/backend/tuning.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/printable.h"
#include "lib/model/model_geometry.h"
#include "lib/run/run_plan.h"
#include "lib/scenario/language.h"
#include "lib/scenario/scenario.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

void write(const Json& list, std::ostream& out) {
  out << list.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

const char* device_word(DeviceKind kind) { return kind == DeviceKind::kCpu ? "cpu" : "cuda"; }

/// The values of each tuning parameter, which share a line: "splitkv:splits=1,2,4".
struct ListedBackend {
  std::string name;
  const Registry::Entry* entry;
};

std::vector<ListedBackend> listed_backends(const Registry& registry) {
  std::vector<ListedBackend> listed;
  std::string parameter;  // with its base, of the last line
  for (const Registry::Entry& entry : registry.entries()) {
    const std::optional<TunedName> tuned = tuned_name(entry.info.name);
    const std::string own = tuned ? fmt::format("{}:{}", tuned->base, tuned->parameter) : "";
    if (tuned && own == parameter) {
      listed.back().name += fmt::format(",{}", tuned->value);
    } else {
      listed.push_back({entry.info.name, &entry});
    }
    parameter = own;
  }
  return listed;
}

/// `head`, then `text` behind it, or, where both do not fit in the terminal's width, under it. A
/// pipe, whose width is 0, gets one line of each, which programs read by columns.
void write_entry(const std::string& head, const std::string& text, std::size_t width,
                 std::ostream& out) {
  constexpr std::size_t kIndent = 4;
  if (width == 0 || head.size() + text.size() <= width) {
    out << head << text << '\n';
  } else {
    const std::size_t end = head.find_last_not_of(' ') + 1;
    out << wrapped(head.substr(0, end), width, 0) << wrapped(text, width, kIndent);
  }
}

void list_backends(const Registry& registry, std::size_t columns, std::ostream& out) {
  const std::vector<ListedBackend> listed = listed_backends(registry);
  std::size_t width = 0;
  std::size_t format_width = 0;
  for (const auto& [name, entry] : listed) {
    width = std::max(width, name.size());
    format_width = std::max(format_width, entry->info.index_format.size());
  }
  for (const auto& [name, entry] : listed) {
    std::string about = entry->info.description;
    const auto& [packages, environment] = std::pair(entry->info.packages, entry->info.environment);
    if (!packages.empty()) {
      about += fmt::format(" ({}{}{})", packages, environment.name.empty() ? "" : " in ",
                           environment.name);
    }
    if (!entry->absence.empty()) about = "absent: " + entry->absence;
    if (!entry->info.by_default) about += " (only by name)";
    const std::string head =
        fmt::format("{:<{}} {:<5} {:<{}} ", name, width, device_word(entry->info.device),
                    entry->info.index_format, format_width);
    write_entry(head, about, columns, out);
  }
}

/// What sets a model's attention apart, in a few words.
std::string traits_of(const ModelGeometry& model, const AttentionLayer& layer) {
  std::vector<std::string> traits;
  if (layer.shares_row_of_k_and_v()) traits.emplace_back("MLA (absorbed)");
  if (model.kinds[LayerKind::kFull] < model.layers) traits.push_back(model.kinds.text());
  if (model.sliding_window > 0) traits.push_back(fmt::format("window {}", model.sliding_window));
  if (model.dual_chunk.exists()) {
    traits.push_back(fmt::format("dual chunk {}", model.dual_chunk.chunk_size));
  }
  if (model.attention_chunk > 0) traits.push_back(fmt::format("chunk {}", model.attention_chunk));
  if (model.yarn.factor > 1) traits.push_back(fmt::format("YaRN {:g}", model.yarn.factor));
  if (model.has_delta_net()) {
    traits.push_back(fmt::format("linear: {}, {} key and {} value heads of {}/{}",
                                 layer_of(model, LayerKind::kLinear, 1).recurrence(),
                                 model.linear_num_key_heads, model.linear_num_value_heads,
                                 model.linear_key_head_dim, model.linear_value_head_dim));
  }
  if (model.sliding != OwnHeads{}) {
    const AttentionLayer own = layer_of(model, LayerKind::kSliding, 1);
    traits.push_back(fmt::format("sliding layers: {} and {} heads of {}/{}{}", own.heads_q,
                                 own.heads_kv, own.head_dim_qk, own.head_dim_v,
                                 own.has_sinks && !layer.has_sinks ? " with sinks" : ""));
  }
  if (layer.logit_cap > 0) traits.push_back(fmt::format("softcap {:g}", layer.logit_cap));
  if (layer.has_sinks) traits.emplace_back("sinks");
  if (!model.verified) traits.emplace_back("not checked against its config.json");
  return fmt::format("{}", fmt::join(traits, "; "));
}

/// The one layer whose figures stand for the model.
AttentionLayer shown_layer(const ModelGeometry& model) {
  const bool all_slide = model.kinds[LayerKind::kSliding] == model.layers;
  return layer_of(model, all_slide ? LayerKind::kSliding : LayerKind::kFull, 1);
}

void list_models(std::ostream& out) {
  constexpr std::size_t kWidth = 100;
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"model", kLeft, 0, 22},
                          {"layers", kRight, 1},
                          {"q heads", kRight, 1, 9},
                          {"kv heads", kRight, 1},
                          {"head dim", kRight, 1, 9},
                          {"notes"}}};
  for (const std::string& name : model_names()) {
    const ModelGeometry& model = *find_model(name);
    const AttentionLayer layer = shown_layer(model);
    const std::string dim = layer.head_dim_qk == layer.head_dim_v
                                ? std::to_string(layer.head_dim_qk)
                                : fmt::format("{}/{}", layer.head_dim_qk, layer.head_dim_v);
    table.rows.push_back({{name, std::to_string(model.layers), std::to_string(layer.heads_q),
                           std::to_string(layer.heads_kv), dim, traits_of(model, layer)},
                          model.notes.empty() ? "" : wrapped(model.notes, kWidth, 4)});
  }
  out << terminal_text(table);
}

Json backends_json(const Registry& registry) {
  Json list = Json::array();
  for (const Registry::Entry& entry : registry.entries()) {
    list.push_back({{"name", entry.info.name},
                    {"version", entry.info.version},
                    {"packages", entry.info.packages},
                    {"environment", entry.info.environment.name},
                    {"python", entry.info.environment.python},
                    {"kernel", entry.info.kernel},
                    {"device", device_word(entry.info.device)},
                    {"index_format", entry.info.index_format},
                    {"description", entry.info.description},
                    {"by_default", entry.info.by_default},
                    {"engine_flag", entry.info.engine_flag},
                    {"absence", entry.absence.empty() ? Json(nullptr) : Json(entry.absence)}});
  }
  return list;
}

Json models_json() {
  Json list = Json::array();
  for (const std::string& name : model_names()) {
    const ModelGeometry& model = *find_model(name);
    const AttentionLayer layer = shown_layer(model);
    list.push_back({{"name", name},
                    {"layers", model.layers},
                    {"kinds", model.kinds.text()},
                    {"attention", layer.attention()},
                    {"heads_q", layer.heads_q},
                    {"heads_kv", layer.heads_kv},
                    {"head_dim_qk", layer.head_dim_qk},
                    {"head_dim_v", layer.head_dim_v},
                    {"sliding_window", model.sliding_window},
                    {"logit_cap", layer.logit_cap},
                    {"sinks", layer.has_sinks},
                    {"verified", model.verified},
                    {"notes", model.notes}});
  }
  return list;
}

std::vector<std::string> scenarios_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  if (failed) throw ConfigError(fmt::format("cannot list {}: {}", folder, failed.message()));
  std::ranges::sort(paths);
  return paths;
}

/// Throws for unknown names. Runs no plug-in code, so a scenario that names a plug-in's file is
/// taken as it is.
void check_backends(const Scenario& scenario, const KnownBackends& known) {
  if (std::ranges::any_of(scenario.backends, is_plugin_file)) return;
  static_cast<void>(choose_backends(scenario, known.with_those_of(scenario), {}));
}

std::size_t width_of(const Console& console) { return console.out_width ? console.out_width() : 0; }

/// Every scenario of `folder`, with what it holds or what is wrong with it.
int list_scenarios(const std::string& folder, bool json, const KnownBackends& known,
                   Console& console) {
  Json list = Json::array();
  int exit_code = static_cast<int>(ExitCode::kOk);
  for (const std::string& path : scenarios_in(folder)) {
    // An installed scenario has a name that `run` takes from any folder.
    const std::string name =
        folder == installed_scenarios() ? fs::path(path).stem().string() : path;
    try {
      const Scenario scenario = load_scenario(path);
      check_backends(scenario, known);
      if (json) {
        list.push_back({{"path", path},
                        {"name", scenario.name},
                        {"cases", scenario.cases.size()},
                        {"description", scenario.description}});
        continue;
      }
      std::string description = printable(scenario.description);
      std::ranges::replace(description, '\n', ' ');
      const std::string head =
          fmt::format("{:<34} {:>3} {}  ", printable(name), scenario.cases.size(),
                      scenario.cases.size() == 1 ? "case " : "cases");
      write_entry(head, description, width_of(console), console.out);
    } catch (const ConfigError& error) {
      console.err << error.what();
      if (json) list.push_back({{"path", path}, {"error", error.diagnostics().front().message}});
      exit_code = static_cast<int>(ExitCode::kUsage);
    }
  }
  if (json) write(list, console.out);
  return exit_code;
}

void list_cases(const std::string& word, bool json, const KnownBackends& known, std::ostream& out) {
  const Scenario scenario = read_scenario(word, std::nullopt);
  check_backends(scenario, known);
  Json list = Json::array();
  for (const Case& c : scenario.cases) {
    list.push_back(c.id);
    if (!json) out << printable(c.id) << '\n';
  }
  if (json) write(list, out);
}

/// A line for each key: what it takes, its default, and what it says.
void list_keys(std::size_t columns, std::ostream& out) {
  const auto plain = [](std::string text) {
    std::erase(text, '`');
    return text;
  };
  constexpr int kWidth = 27;  // of the longest name
  for (const KeySection& section : scenario_language().sections()) {
    out << fmt::format("{}\n", section.where);
    for (const KeyRow& row : section.rows) {
      const std::string usual(row.default_text());
      const std::string about = fmt::format(
          "{}{}. {}", row.value.takes, usual.empty() ? "" : fmt::format(" ({})", usual), row.says);
      write_entry(fmt::format("  {:<{}}", row.name, kWidth), plain(about), columns, out);
    }
  }
}

Json keys_json() {
  Json list = Json::array();
  for (const KeySection& section : scenario_language().sections()) {
    for (const KeyRow& row : section.rows) {
      list.push_back({{"section", section.where},
                      {"key", row.name},
                      {"takes", row.value.takes},
                      {"required", row.required},
                      {"default", row.required ? "" : row.default_text()},
                      {"says", row.says}});
    }
  }
  return list;
}

std::string usual_folder() {
  std::error_code ignored;
  return fs::is_directory("scenarios", ignored) ? "scenarios" : installed_scenarios();
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  CLI::App* list =
      app.add_subcommand("list",
                         "List backends, model presets, keys of scenarios, scenarios or cases.\n\n"
                         "  attnbench list backends\n"
                         "  attnbench list models --format json\n");
  list->require_subcommand(1);
  struct Options {
    std::string format = "table";
    std::string folder = usual_folder();
    std::string scenario;
    [[nodiscard]] bool json() const { return format == "json"; }
  };
  auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* what, Action listing) {
    CLI::App* command = list->add_subcommand(name, what);
    add_format_option(*command, options->format);
    command->callback([listing = std::move(listing), &action] { action = listing; });
    return command;
  };
  add("backends",
      "a line for each backend: name, device, index format that it reads, what it is; absent ones "
      "with the reason; variants run only by name",
      [options](const KnownBackends& known, Console& console) {
        if (options->json()) {
          write(backends_json(known.registry()), console.out);
        } else {
          list_backends(known.registry(), width_of(console), console.out);
        }
        return static_cast<int>(ExitCode::kOk);
      });
  add("models", "geometry presets of scenarios/models",
      [options](const KnownBackends&, Console& console) {
        if (options->json()) {
          write(models_json(), console.out);
        } else {
          list_models(console.out);
        }
        return static_cast<int>(ExitCode::kOk);
      });
  add("keys", "keys of a scenario file: what each takes, its default, what it says",
      [options](const KnownBackends&, Console& console) {
        if (options->json()) {
          write(keys_json(), console.out);
        } else {
          list_keys(width_of(console), console.out);
        }
        return static_cast<int>(ExitCode::kOk);
      });
  add("scenarios", "scenario files of a folder; broken ones: exit 4",
      [options](const KnownBackends& known, Console& console) {
        return list_scenarios(options->folder, options->json(), known, console);
      })
      ->add_option("folder", options->folder, "where to look")
      ->capture_default_str();
  add("cases", "ids of a scenario's cases, for --case",
      [options](const KnownBackends& known, Console& console) {
        list_cases(options->scenario, options->json(), known, console.out);
        return static_cast<int>(ExitCode::kOk);
      })
      ->add_option("scenario", options->scenario, kScenarioHelp)
      ->required();
}

}  // namespace attnbench
