// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/chosen_by_engines.h"

#include "lib/engines/engine_backends.h"
#include "lib/engines/engine_choice.h"
#include "lib/engines/engine_graphs.h"
#include "lib/engines/engine_setup_of.h"
#include "lib/scenario/problem_of.h"

namespace attnbench {
namespace {

/// Why a backend that the engine takes replays no graph of the case; empty where it does, and for
/// prompts and mixed steps, which engines launch in pieces as a rule.
std::string lost_graph(Engine engine, const std::string& choice, const Case& c, EngineSetup setup) {
  setup.graph = graph_needed_in(engine, problem_of(c));
  if (setup.graph == CudaGraphSupport::kAlways) return {};
  const EngineBackend* row = find_engine_backend(engine, choice, setup);
  return row == nullptr ? std::string() : graph_refusal(*row, setup);
}

}  // namespace

ChosenByEngines chosen_by_engines(const Case& c, const DeviceInfo& gpu, bool deterministic) {
  if (c.layer.is_recurrent() || !attends(c.step) || builds(c.step)) return {};
  const EngineDevice* device = find_engine_device(gpu.arch);
  if (device == nullptr) return {};
  const EngineSetup setup = engine_setup_of(c, *device, deterministic);
  const EngineChoice sglang = choose_backend(Engine::kSglang, setup);
  const EngineChoice vllm = choose_backend(Engine::kVllm, setup);
  return {.sglang = sglang.backend,
          .vllm = vllm.backend,
          .sglang_instead_of = sglang.instead_of,
          .vllm_instead_of = vllm.instead_of,
          .sglang_graph = lost_graph(Engine::kSglang, sglang.backend, c, setup),
          .vllm_graph = lost_graph(Engine::kVllm, vllm.backend, c, setup)};
}

}  // namespace attnbench
