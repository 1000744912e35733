// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_setup.h"

#include <algorithm>
#include <array>
#include <string>

namespace attnbench {
namespace {

constexpr std::array kDevices = {
    EngineDevice{"sm75", Platform::kCuda, 75},   EngineDevice{"sm80", Platform::kCuda, 80},
    EngineDevice{"sm86", Platform::kCuda, 86},   EngineDevice{"sm89", Platform::kCuda, 89},
    EngineDevice{"sm90", Platform::kCuda, 90},   EngineDevice{"sm100", Platform::kCuda, 100},
    EngineDevice{"sm103", Platform::kCuda, 103}, EngineDevice{"sm120", Platform::kCuda, 120},
    EngineDevice{"sm121", Platform::kCuda, 121}, EngineDevice{"gfx942", Platform::kRocm},
    EngineDevice{"gfx950", Platform::kRocm},     EngineDevice{"cpu", Platform::kCpu},
    EngineDevice{"xpu", Platform::kXpu},         EngineDevice{"npu", Platform::kNpu},
    EngineDevice{"mps", Platform::kMps}};

}  // namespace

std::string_view to_string(Engine engine) { return engine == Engine::kSglang ? "SGLang" : "vLLM"; }

std::span<const EngineDevice> engine_devices() { return kDevices; }

const EngineDevice* find_engine_device(std::string_view name) {
  std::string plain(name);
  std::erase(plain, '_');
  const auto found = std::ranges::find(kDevices, plain, &EngineDevice::name);
  return found == kDevices.end() ? nullptr : &*found;
}

}  // namespace attnbench
