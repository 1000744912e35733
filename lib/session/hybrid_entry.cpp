// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/hybrid_entry.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "lib/backend/hybrid/hybrid_backend.h"
#include "lib/backend/tuning.h"
#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/engines/engine_kernels.h"

namespace attnbench {
namespace {

constexpr char kPlus = '+';
constexpr std::string_view kVerifyByDecode = ":speculative_attention_mode=decode";

struct HybridName {
  std::string prefill, decode;
  Phase speculative_attention_mode = Phase::kPrefill;
};

HybridName parts_of(std::string_view name) {
  HybridName parts;
  if (name.ends_with(kVerifyByDecode)) {
    name.remove_suffix(kVerifyByDecode.size());
    parts.speculative_attention_mode = Phase::kDecode;
  }
  const std::size_t plus = name.find(kPlus);
  parts.prefill = name.substr(0, plus);
  parts.decode = name.substr(plus + 1);
  return parts;
}

/// What SGLang is started with to run such a pair; empty where one part is no kernel of SGLang's.
std::string engine_flag(const HybridName& parts, const BackendInfo& prefill,
                        const BackendInfo& decode) {
  const std::string_view first =
      engine_backend_of(Engine::kSglang, without_environment(parts.prefill));
  const std::string_view second =
      engine_backend_of(Engine::kSglang, without_environment(parts.decode));
  if (first.empty() || second.empty()) return {};
  std::string flag = fmt::format(
      "--prefill-attention-backend {} --decode-attention-backend {}{}", first, second,
      parts.speculative_attention_mode == Phase::kDecode ? " --speculative-attention-mode decode"
                                                         : "");
  for (const BackendInfo* part : {&prefill, &decode}) {
    if (!part->engine_flag.empty()) flag += ' ' + part->engine_flag;
  }
  return flag;
}

/// The command line of a process of Python that has the files of both; `other`'s where `one` is of
/// this program, whose backends every such process has.
std::vector<std::string> host_of_both(const std::vector<std::string>& one,
                                      const std::vector<std::string>& other) {
  if (one.empty() || one == other) return other;
  if (other.empty()) return one;
  // Files stand between the word "worker" and the library, which is the last.
  std::vector<std::string> host = one;
  host.insert(host.end() - 1, other[other.size() - 2]);
  return host;
}

}  // namespace

bool is_hybrid(std::string_view name) { return name.find(kPlus) != std::string_view::npos; }

void add_hybrid(Registry& registry, const std::string& name) {
  if (registry.find(name) != nullptr) return;
  const HybridName parts = parts_of(name);
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw ConfigError({Diagnostic{{}, 1, fmt::format("backend '{}': {}", name, why), hint, {}}});
  };
  const auto part = [&](const std::string& wanted) {
    const Registry::Entry* entry = registry.find(wanted);
    if (entry == nullptr) {
      std::vector<std::string> names = registry.names();
      std::erase_if(names, [](const std::string& each) { return tuned_name(each).has_value(); });
      refuse(fmt::format("there is no backend '{}'", wanted),
             allowed_words_hint(names, wanted,
                                "a pair is PREFILL+DECODE, or with "
                                ":speculative_attention_mode=decode behind it, of backends: "));
    }
    return *entry;
  };
  const Registry::Entry prefill = part(parts.prefill), decode = part(parts.decode);
  if (prefill.info.device != decode.info.device) {
    refuse("one part runs on a GPU, the other on the processor",
           "both parts of a pair read one cache, so they run on one device");
  }
  const PythonEnvironment &here = prefill.info.environment, &there = decode.info.environment;
  if (!here.python.empty() && !there.python.empty() && here != there) {
    refuse("its parts are of two environments", "one process runs both, in one of them");
  }
  // Backends of this program can be in a process with those of any file.
  const bool one_file =
      prefill.plugin.empty() || decode.plugin.empty() || prefill.plugin == decode.plugin;
  const bool both_python = prefill.plugin.ends_with(".py") && decode.plugin.ends_with(".py");
  if (!one_file && !both_python) {
    refuse("its parts are of two plug-in files",
           "a pair can be of this program and a plug-in, of one .so file, or of .py files");
  }
  BackendInfo info = hybrid_info(name, prefill.info, decode.info, parts.speculative_attention_mode);
  info.engine_flag = engine_flag(parts, prefill.info, decode.info);
  const std::string plugin = prefill.plugin.empty() ? decode.plugin : prefill.plugin;
  for (const Registry::Entry* entry : {&prefill, &decode}) {
    if (entry->make) continue;
    registry.add_absent(info, entry->info.name + ": " + entry->absence, plugin);
    return;
  }
  if (std::vector<std::string> host = host_of_both(prefill.host, decode.host); !host.empty()) {
    registry.add_hosted(std::move(info), std::move(host), plugin);
    return;
  }
  registry.add(
      [info, prefill, decode, mode = parts.speculative_attention_mode] {
        return std::make_unique<HybridBackend>(info, prefill.make(), decode.make(), mode);
      },
      plugin);
}

}  // namespace attnbench
