// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/chosen_by_engines.h"

#include "lib/engines/engine_choice.h"
#include "lib/engines/engine_setup_of.h"

namespace attnbench {

ChosenByEngines chosen_by_engines(const Case& c, const DeviceInfo& gpu, bool deterministic) {
  if (c.layer.is_recurrent() || c.step == StepPart::kKvWrite) return {};
  const EngineDevice* device = find_engine_device(gpu.arch);
  if (device == nullptr) return {};
  const EngineSetup setup = engine_setup_of(c, *device, deterministic);
  return {choose_backend(Engine::kSglang, setup).backend,
          choose_backend(Engine::kVllm, setup).backend};
}

}  // namespace attnbench
