// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/hybrid_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/backend/hybrid/hybrid_backend.h"
#include "lib/engines/engine_kernels.h"
#include "lib/session/joined_entry.h"

namespace attnbench {
namespace {

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

}  // namespace

bool is_hybrid(std::string_view name) { return std::ranges::count(name, kPlus) == 1; }

void add_hybrid(Registry& registry, const std::string& name) {
  if (registry.find(name) != nullptr) return;
  const HybridName names = parts_of(name);
  JoinedBackends pair{&registry, name, "a pair",
                      "a pair is PREFILL+DECODE, or with :speculative_attention_mode=decode behind "
                      "it, of backends: "};
  pair.add_part(names.prefill);
  pair.add_part(names.decode);
  pair.expect_one_process();
  const BackendInfo &prefill = pair.parts[0].info, &decode = pair.parts[1].info;
  BackendInfo info = hybrid_info(name, prefill, decode, names.speculative_attention_mode);
  info.engine_flag = engine_flag(names, prefill, decode);
  add_entry(
      registry, pair, info,
      [info, mode = names.speculative_attention_mode](auto parts) -> std::unique_ptr<Backend> {
        return std::make_unique<HybridBackend>(info, std::move(parts[0]), std::move(parts[1]),
                                               mode);
      });
}

}  // namespace attnbench
