// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/python_plugins.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "lib/backend/declared.h"
#include "lib/backend/plugin.h"
#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/isolate/child_output.h"
#include "lib/isolate/file_plugins.h"

namespace attnbench {

std::span<const EmbeddedFile> embedded_c_header();
std::span<const EmbeddedFile> embedded_python_host();

namespace {

using nlohmann::json;

/// No package makes up for a program that has no device for it.
#ifdef ATTNBENCH_HAVE_CUDA
constexpr bool kBuiltForGpus = true;
#else
constexpr bool kBuiltForGpus = false;
#endif

std::string joined(std::span<const EmbeddedFile> files) {
  std::string text;
  for (const EmbeddedFile& file : files) text += file.text;
  return text;
}

/// The program for an interpreter: it finds the C header, which it mirrors, in HEADER.
std::string host_text() {
  return fmt::format("HEADER = r'''{}'''\n{}", joined(embedded_c_header()),
                     joined(embedded_python_host()));
}

/// What keeps an interpreter from hosting anything; empty: nothing.
std::string fault_of(const std::string& python) {
  constexpr const char* kAsked =
      "import sys; print('attnbench', 'hosts' if sys.version_info >= (3, 9) else "
      "'Python %d.%d' % sys.version_info[:2])";
  constexpr std::chrono::seconds kToAnswer{10};
  ChildOutput output;
  try {
    output = output_of_child({python, "-c", kAsked}, kToAnswer);
  } catch (const EnvironmentError&) {
    return "cannot be run";
  }
  const std::string last = output.last_line();
  if (!output.is_well() || !last.starts_with("attnbench ")) {
    return fmt::format("is no Python that runs: it {}", output.end);
  }
  return last == "attnbench hosts" ? "" : "is of Python before 3.9:" + last.substr(last.find(' '));
}

/// Of a file that cannot be imported, the last line of what Python prints says why.
json described(const std::string& path, const std::string& python, const Describing& describing) {
  ChildOutput output;
  try {
    output = output_of_description({python, "-c", host_text(), "describe", path},
                                   fmt::format("{} in {}", path, python), describing);
  } catch (const EnvironmentError&) {  // fault_of() says why
  }
  const std::string last = output.last_line();
  const json answer = json::parse(last, nullptr, false);
  if (output.is_well() && answer.is_array()) return answer;
  if (const std::string fault = fault_of(python); !fault.empty()) {
    throw EnvironmentError(fmt::format("{} {}; --python names the interpreter", python, fault));
  }
  if (output.end == "exited with code 1" && !last.empty()) {
    const bool elsewhere = last.find("ModuleNotFoundError") != std::string::npos;
    throw ConfigError(fmt::format(
        "plug-in {}: {}{}", path, last,
        elsewhere ? fmt::format(" for {}; --python names another interpreter", python) : ""));
  }
  throw PluginCrashed(
      fmt::format("plug-in {}: its process, of {}, {} while it said which backends it holds{}{}",
                  path, python, output.end, last.empty() ? "" : ": ", last));
}

/// What the file holds in one environment.
struct Description {
  PythonEnvironment environment;
  json backends;
};

/// Of each environment of `host` that can tell; `troubles` has a sentence for each that cannot. One
/// whose interpreter is at fault leaves `host`. Throws where none can.
std::vector<Description> descriptions_of(const std::string& path, PythonHost& host,
                                         std::vector<std::string>& troubles) {
  std::vector<Description> found;
  std::vector<PythonEnvironment> sound;
  std::exception_ptr first;
  for (const PythonEnvironment& each : host.environments) {
    std::string trouble;
    try {
      found.push_back({each, described(path, each.python, host.describing)});
      sound.push_back(each);
    } catch (const ConfigError& error) {
      trouble = error.diagnostics().front().message;
      if (!first) first = std::current_exception();
      sound.push_back(each);
    } catch (const EnvironmentError& error) {
      trouble = error.what();
      if (!first) {
        first = std::make_exception_ptr(EnvironmentError(fmt::format("{}: {}", path, trouble)));
      }
    }
    if (!trouble.empty()) {
      troubles.push_back(fmt::format("environment {}: {}", each.name, trouble));
    }
  }
  if (found.empty()) std::rethrow_exception(first);
  host.environments = std::move(sound);
  return found;
}

CudaGraphSupport graph_support_of(const std::string& word) {
  using enum CudaGraphSupport;
  for (const CudaGraphSupport each : {kNever, kUniformSingleTokenDecode, kUniformBatch, kAlways}) {
    if (to_string(each) == word) return each;
  }
  throw ConfigError(
      fmt::format("graph_support '{}' is none of NEVER, "
                  "UNIFORM_SINGLE_TOKEN_DECODE, UNIFORM_BATCH, ALWAYS",
                  word));
}

BackendInfo info_of(const json& described, const std::string& path) {
  BackendInfo info;
  info.name = described.at("name");
  check_backend_name(info.name, path);
  for (const DeclaredText& each : kDeclaredTexts) info.*each.in_info = described.at(each.name);
  for (const DeclaredFlag& each : kDeclaredFlags) info.*each.in_info = described.at(each.name);
  info.packages = described.at("packages");
  info.kernel = described.at("kernel");
  info.device = described.at("device") == "cuda" ? DeviceKind::kCuda : DeviceKind::kCpu;
  info.cuda_graph = graph_support_of(described.at("graph_support"));
  info.padding_seq_len = described.at("padding_seq_len");
  info.builds_indices = index_forms_of(described.at("builds_indices"), info.name, path);
  info.by_default = !described.at("only_by_name").get<bool>();
  return info;
}

}  // namespace

std::vector<std::string> load_python_plugin(const std::string& path, PythonHost& host,
                                            const std::string& cuda_absence, Registry& registry) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw ConfigError(fmt::format("plug-in {}: there is no such file", path));
  }
  if (!std::filesystem::is_regular_file(host.worker_library, ignored)) {
    throw EnvironmentError(fmt::format(
        "plug-in {}: there is no {}, which Python needs to load; build all of attnbench", path,
        host.worker_library));
  }
  std::vector<std::string> troubles;
  const std::vector<Description> all = descriptions_of(path, host, troubles);
  std::map<std::string, std::set<std::string>> having;  // environments, by names of backends
  for (const Description& in : all) {
    for (const json& each : in.backends) {
      if (each.at("absence").get<std::string>().empty()) {
        having[each.at("name")].insert(in.environment.name);
      }
    }
  }
  std::map<std::string, std::string> teller;  // the environment that says why none has a backend
  for (const Description& in : all) {
    for (const json& each : in.backends) {
      BackendInfo info = info_of(each, path);
      const std::string missing = each.at("absence");
      const std::size_t environments = having[info.name].size();
      const std::string& tells = teller.try_emplace(info.name, in.environment.name).first->second;
      if (!missing.empty() && (environments > 0 || tells != in.environment.name)) continue;
      info.environment = in.environment;
      if (environments > 1) info.name = name_in(in.environment, info.name);
      std::string absence = info.device == DeviceKind::kCuda ? cuda_absence : "";
      const bool would_help = absence.empty() || kBuiltForGpus;
      if (!missing.empty() && would_help) absence += (absence.empty() ? "" : "; ") + missing;
      add_file_backend(std::move(info), absence,
                       host.describing.confined({in.environment.python, "-c", host_text(), "worker",
                                                 path, host.worker_library}),
                       path, registry);
    }
  }
  return troubles;
}

}  // namespace attnbench
