// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/clock_events.h"

#include <dlfcn.h>

namespace attnbench {
namespace {

// The part of nvml.h that is asked for, by its documented names and values; the header itself comes
// with the driver's development package, not with the compiler.
using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
constexpr unsigned long long kSwPowerCap = 0x4;
constexpr unsigned long long kHwSlowdown = 0x8;
constexpr unsigned long long kSwThermalSlowdown = 0x20;
constexpr unsigned long long kHwThermalSlowdown = 0x40;
constexpr unsigned long long kHwPowerBrakeSlowdown = 0x80;

struct CloseLibrary {
  void operator()(void* library) const noexcept { static_cast<void>(dlclose(library)); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <typename Function>
Function* symbol(const Library& library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library.get(), name));
}

class NvmlReader final : public ClockEventReader {
 public:
  using Reasons = int(NvmlDevice, unsigned long long*);
  using Shutdown = int();

  NvmlReader(Library library, NvmlDevice device, Reasons* reasons, Shutdown* shutdown)
      : library_(std::move(library)), device_(device), reasons_(reasons), shutdown_(shutdown) {}
  ~NvmlReader() override { static_cast<void>(shutdown_()); }

  [[nodiscard]] ClockEvents read() const override {
    unsigned long long bits = 0;
    ClockEvents events;
    if (reasons_(device_, &bits) != kNvmlSuccess) return events;
    events.power_cap = (bits & kSwPowerCap) != 0;
    events.thermal = (bits & (kSwThermalSlowdown | kHwThermalSlowdown)) != 0;
    events.hw_slowdown = (bits & (kHwSlowdown | kHwPowerBrakeSlowdown)) != 0;
    return events;
  }

 private:
  Library library_;
  NvmlDevice device_;
  Reasons* reasons_;
  Shutdown* shutdown_;
};

}  // namespace

std::unique_ptr<ClockEventReader> ClockEventReader::open(const std::string& pci_bus_id) {
  Library library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library) return nullptr;
  auto* const init = symbol<int()>(library, "nvmlInit_v2");
  auto* const shutdown = symbol<NvmlReader::Shutdown>(library, "nvmlShutdown");
  auto* const find =
      symbol<int(const char*, NvmlDevice*)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  auto* reasons = symbol<NvmlReader::Reasons>(library, "nvmlDeviceGetCurrentClocksEventReasons");
  if (reasons == nullptr) {  // its name in drivers before 535
    reasons = symbol<NvmlReader::Reasons>(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  if (init == nullptr || shutdown == nullptr || find == nullptr || reasons == nullptr ||
      init() != kNvmlSuccess) {
    return nullptr;
  }
  NvmlDevice device = nullptr;
  if (find(pci_bus_id.c_str(), &device) != kNvmlSuccess) {
    static_cast<void>(shutdown());
    return nullptr;
  }
  return std::make_unique<NvmlReader>(std::move(library), device, reasons, shutdown);
}

}  // namespace attnbench
