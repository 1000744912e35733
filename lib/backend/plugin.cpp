// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>

#include "lib/backend/declared.h"
#include "lib/backend/include/attnbench/backend.h"
#include "lib/backend/numerics.h"
#include "lib/backend/plugin_batch.h"
#include "lib/backend/plugin_indices.h"
#include "lib/base/error.h"
#include "lib/base/printable.h"

namespace attnbench {
namespace {

/// Where a plug-in writes why it failed.
class Message {
 public:
  [[nodiscard]] char* data() { return text_.data(); }
  [[nodiscard]] static constexpr std::size_t size() { return kSize; }
  /// What was written, or `otherwise` when that is nothing. A missing terminator is tolerated.
  [[nodiscard]] std::string text(std::string_view otherwise) {
    text_.back() = '\0';
    return text_.front() == '\0' ? std::string(otherwise) : std::string(text_.data());
  }

 private:
  static constexpr std::size_t kSize = 1024;
  std::array<char, kSize> text_{};
};

/// A dtype that may stand in a plug-in's answer.
std::optional<DType> dtype_of(std::int32_t value) {
  switch (value) {
    case ATTNBENCH_F32:
      return DType::kF32;
    case ATTNBENCH_F16:
      return DType::kF16;
    case ATTNBENCH_BF16:
      return DType::kBF16;
    case ATTNBENCH_E4M3:
      return DType::kE4M3;
    case ATTNBENCH_E5M2:
      return DType::kE5M2;
    default:
      return std::nullopt;
  }
}

void* reserve_in(void* memory, std::size_t bytes) {
  try {
    return static_cast<PlanMemory*>(memory)->reserve(bytes);
  } catch (const std::exception&) {
    return nullptr;  // the plug-in says that there is no memory
  }
}

class PluginPlan final : public Plan {
 public:
  PluginPlan(const attnbench_backend& backend, const ForwardBatch& batch, PlanMemory& memory)
      : backend_(backend), indices_(memory), batch_(batch, memory.device(), indices_) {
    const PluginIndices::Call call(indices_, batch, nullptr);
    attnbench_memory scratch{sizeof scratch, &memory, reserve_in};
    Message message;
    const int status = backend.plan(backend.self, &batch_.view(), &scratch, &plan_, message.data(),
                                    Message::size());
    if (status != ATTNBENCH_OK) {
      throw std::runtime_error("plan(): " + message.text("failed without a message"));
    }
  }
  ~PluginPlan() override {
    if (backend_.destroy == nullptr) return;
    try {
      backend_.destroy(plan_);
    } catch (...) {  // a plan that cannot be destroyed must not end the program
    }
  }

  void run(Stream& stream) override {
    Message message;
    if (backend_.run(plan_, stream.native(), message.data(), Message::size()) == ATTNBENCH_OK) {
      return;
    }
    throw std::runtime_error("run(): " + message.text("failed without a message"));
  }

  void* graph() override {
    if (backend_.graph == nullptr) return nullptr;
    void* graph = nullptr;
    Message message;
    if (backend_.graph(plan_, &graph, message.data(), Message::size()) == ATTNBENCH_OK) {
      return graph;
    }
    throw std::runtime_error("graph(): " + message.text("failed without a message"));
  }

  [[nodiscard]] std::string kernel() const override {
    if (backend_.resolved == nullptr) return {};
    Message text;
    if (backend_.resolved(plan_, text.data(), Message::size()) == ATTNBENCH_OK) {
      return printable(text.text(""));
    }
    throw std::runtime_error("resolved(): " + text.text("failed without a message"));
  }

  bool update(const ForwardBatch& batch, Stream& stream) override {
    if (backend_.update == nullptr) return false;
    next_.emplace(batch, batch_.device(), indices_);
    const PluginIndices::Call call(indices_, batch, &stream);
    Message message;
    const int status =
        backend_.update(plan_, &next_->view(), stream.native(), message.data(), Message::size());
    if (status == ATTNBENCH_ERROR) {
      throw std::runtime_error("update(): " + message.text("failed without a message"));
    }
    return status == ATTNBENCH_OK;
  }

 private:
  const attnbench_backend& backend_;
  PluginIndices indices_;
  PluginBatch batch_;
  std::optional<PluginBatch> next_;  ///< its host arrays live as long as the plan
  void* plan_ = nullptr;
};

class PluginBackend final : public Backend {
 public:
  PluginBackend(const attnbench_backend& backend, BackendInfo info)
      : backend_(backend), info_(std::move(info)) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }

  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (problem.cache.has_gaps() && backend_.reads_page_gaps == 0) {
      return Support::no(
          "no gaps between pages: it does not say that it follows page strides (reads_page_gaps)");
    }
    const bool reads_lists = problem.layer.selection.exists() && has_cache(problem.step);
    if (reads_lists && backend_.reads_selection == 0) {
      return Support::no(
          "no chosen keys: it does not say that it reads their lists (reads_selection)");
    }
    const Selection& rule = problem.layer.selection;
    const bool plain = problem.step == StepPart::kSelect && rule.stale == 0 && !rule.weighs_units();
    if (rule.is_hierarchical() && !plain && problem.step != StepPart::kIndex) {
      return Support::no("no hierarchical sparse attention: a plug-in is not told of its window");
    }
    if (attends(problem.step) && backend_.reads_compressed_rows == 0) {
      if (problem.layer.compress_ratio > 0) {
        return Support::no(
            "no compressed rows: it does not say that it reads them (reads_compressed_rows)");
      }
      if (problem.layer.has_sinks && problem.layer.family == Family::kLatent) {
        return Support::no(
            "no sinks beside MLA: it does not say that it reads them (reads_compressed_rows)");
      }
    }
    if (problem.step == StepPart::kIndexer && problem.layer.selection.takes_maxima()) {
      return Support::no("no maxima of units: a plug-in is not asked for them");
    }
    if (problem.step == StepPart::kIndexer && problem.layer.selection.scores_labels()) {
      return Support::no("no labels of heavy channels: a plug-in is not told which these are");
    }
    const attnbench_problem asked = plugin_problem(problem);
    Message message;
    const int status = backend_.supports(backend_.self, &asked, message.data(), Message::size());
    if (status == ATTNBENCH_OK) return Support::yes();
    if (status == ATTNBENCH_UNSUPPORTED) return Support::no(message.text("it gives no reason"));
    throw std::runtime_error("supports(): " + message.text("failed without a message"));
  }

  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    if (backend_.formats == nullptr) {
      if (problem.cache.scales != KvScales::kTensor) return {};
      return {KvLayout::kNhd, KvLayout::kHnd};
    }
    const attnbench_problem asked = plugin_problem(problem);
    std::array<std::int32_t, ATTNBENCH_JOINT_HND + 1> layouts{};
    std::int32_t count = static_cast<std::int32_t>(layouts.size());
    Message message;
    if (backend_.formats(backend_.self, &asked, layouts.data(), &count, message.data(),
                         Message::size()) != ATTNBENCH_OK) {
      throw std::runtime_error("formats(): " + message.text("failed without a message"));
    }
    if (count < 0 || count > static_cast<std::int32_t>(layouts.size())) {
      throw std::runtime_error(
          fmt::format("formats(): {} layouts, there is room for {}", count, layouts.size()));
    }
    std::vector<KvLayout> formats;
    for (const std::int32_t layout : std::span(layouts).first(static_cast<std::size_t>(count))) {
      if (layout < ATTNBENCH_NHD || layout > ATTNBENCH_JOINT_HND) {
        throw std::runtime_error(fmt::format("formats(): {} is no layout; 0 to {} are known",
                                             layout, static_cast<int>(ATTNBENCH_JOINT_HND)));
      }
      formats.push_back(static_cast<KvLayout>(layout));
    }
    return formats;
  }

  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    if (backend_.numerics == nullptr) return {};
    const attnbench_problem asked = plugin_problem(problem);
    attnbench_numerics answer{
        sizeof answer, ATTNBENCH_F32, ATTNBENCH_F32, ATTNBENCH_F32, ATTNBENCH_F32, 1, 1};
    Message message;
    if (backend_.numerics(backend_.self, &asked, &answer, message.data(), Message::size()) !=
        ATTNBENCH_OK) {
      throw std::runtime_error("numerics(): " + message.text("failed without a message"));
    }
    const auto checked = [](std::int32_t dtype) {
      if (const auto known = dtype_of(dtype)) return *known;
      throw std::runtime_error(fmt::format("numerics(): {} is no floating-point dtype", dtype));
    };
    Numerics numerics;
    numerics.qk_input = checked(answer.qk_input);
    numerics.p = checked(answer.p);
    numerics.accumulator = checked(answer.accumulator);
    numerics.partial_out = checked(answer.partial_out);
    numerics.lse = answer.lse != 0;
    numerics.partial_roundings = answer.partial_roundings;
    if (const std::string refusal = refusal_of(numerics); !refusal.empty()) {
      throw std::runtime_error("numerics(): " + refusal);
    }
    return numerics;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<PluginPlan>(backend_, batch, memory);
  }

 private:
  const attnbench_backend& backend_;  ///< of the loaded object
  BackendInfo info_;
};

/// The description in a table. Throws ConfigError when it is invalid.
BackendInfo info_of(const attnbench_backend& table, const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(fmt::format("plug-in {}: {}", where, why));
  };
  if (table.struct_size == 0) refuse("a backend whose struct_size is not set");
  if (table.struct_size < sizeof table) {
    refuse(
        fmt::format("a backend of {} bytes, of an older attnbench/backend.h; at least {} are "
                    "needed",
                    table.struct_size, sizeof table));
  }
  const auto text = [](const char* words) { return std::string(words == nullptr ? "" : words); };
  BackendInfo info;
  info.name = text(table.name);
  check_backend_name(info.name, where);
  const auto need = [&](bool there, const char* function) {
    if (!there) refuse(fmt::format("backend '{}' has no {}()", info.name, function));
  };
  need(table.supports != nullptr, "supports");
  need(table.plan != nullptr, "plan");
  need(table.run != nullptr, "run");
  if (table.device != ATTNBENCH_CPU && table.device != ATTNBENCH_CUDA) {
    refuse(
        fmt::format("backend '{}' is for device {}; 0 is a CPU, 1 a GPU", info.name, table.device));
  }
  if (table.graph_support < ATTNBENCH_GRAPH_NEVER || table.graph_support > ATTNBENCH_GRAPH_ALWAYS) {
    refuse(fmt::format("backend '{}' has graph_support {}; 0 to 3 are known", info.name,
                       table.graph_support));
  }
  for (const DeclaredText& each : kDeclaredTexts) info.*each.in_info = text(table.*each.in_table);
  for (const DeclaredFlag& each : kDeclaredFlags) info.*each.in_info = table.*each.in_table != 0;
  info.device = table.device == ATTNBENCH_CUDA ? DeviceKind::kCuda : DeviceKind::kCpu;
  info.cuda_graph = static_cast<CudaGraphSupport>(table.graph_support);
  info.padding_seq_len = table.padding_seq_len;
  info.builds_indices = index_forms_of(text(table.builds_indices), info.name, where);
  info.by_default = table.only_by_name == 0;
  return info;
}

/// The tables that the shared object exports. It is never unloaded: its code may have left threads
/// and exit handlers behind.
std::span<const attnbench_backend> tables_of(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(fmt::format("plug-in {}: {}", path, why));
  };
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) refuse("there is no such file");
  // An absolute path, because dlopen looks for a bare name in the library folders.
  void* const object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) refuse(fmt::format("cannot be loaded: {}", dlerror()));
  void* const symbol = dlsym(object, "attnbench_plugin");
  if (symbol == nullptr) {
    refuse("exports no function attnbench_plugin; attnbench/backend.h says what a plug-in is");
  }
  const auto function = reinterpret_cast<attnbench_plugin_function>(symbol);
  const attnbench_backend* tables = nullptr;
  std::size_t count = 0;
  Message message;
  int status = ATTNBENCH_ERROR;
  try {
    status = function(ATTNBENCH_ABI_VERSION, &tables, &count, message.data(), Message::size());
  } catch (const std::exception& error) {
    refuse(fmt::format("attnbench_plugin() threw: {}", error.what()));
  }
  if (status != ATTNBENCH_OK) {
    refuse(message.text(fmt::format("refuses version {} of the interface", ATTNBENCH_ABI_VERSION)));
  }
  if (tables == nullptr || count == 0) refuse("exports no backend");
  return {tables, count};
}

}  // namespace

void check_backend_name(const std::string& name, const std::string& where) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '=';
  };
  if (!name.empty() && std::ranges::all_of(name, fits)) return;
  throw ConfigError(fmt::format(
      "plug-in {}: a backend is named '{}'; lower case letters, digits, '_', ':' and '=' make a "
      "name",
      where, printable(name)));
}

std::vector<IndexForm> index_forms_of(const std::string& words, const std::string& backend,
                                      const std::string& where) {
  std::vector<IndexForm> forms;
  std::istringstream list(words);
  for (std::string word; list >> word;) {
    const auto* const known =
        std::ranges::find(kIndexForms, word, [](IndexForm form) { return to_string(form); });
    if (known == std::end(kIndexForms)) {
      throw ConfigError(
          fmt::format("plug-in {}: backend '{}' builds '{}'; csr and page_table can be built",
                      where, backend, printable(word)));
    }
    forms.push_back(*known);
  }
  return forms;
}

void register_tables(const attnbench_backend* tables, std::size_t count, const std::string& where,
                     const std::string& cuda_absence, Registry& registry) {
  // Tables of a later version are longer: their own size leads from one to the next.
  const auto* at = reinterpret_cast<const std::byte*>(tables);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& table = *reinterpret_cast<const attnbench_backend*>(at);
    BackendInfo info = info_of(table, where);
    at += table.struct_size;
    if (registry.find(info.name) != nullptr) {
      throw ConfigError(fmt::format(
          "plug-in {}: there is a backend '{}' already; give it another name", where, info.name));
    }
    if (info.device == DeviceKind::kCuda && !cuda_absence.empty()) {
      registry.add_absent(std::move(info), cuda_absence, where);
    } else {
      registry.add([&table, info] { return std::make_unique<PluginBackend>(table, info); }, where);
    }
  }
}

void load_plugin(const std::string& path, const std::string& cuda_absence, Registry& registry) {
  const std::span<const attnbench_backend> tables = tables_of(path);
  register_tables(tables.data(), tables.size(), path, cuda_absence, registry);
}

}  // namespace attnbench
