// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/nvml.h"

#include <dlfcn.h>

#include <chrono>
#include <limits>
#include <utility>

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

constexpr int kNvmlInsufficientSize = 7;
/// nvmlProcessInfo_t of versions 2 and 3 of the function that lists them.
struct NvmlProcess {
  unsigned int pid;
  unsigned long long used_gpu_memory;  ///< all bits set: not available
  unsigned int gpu_instance_id, compute_instance_id;
};

struct CloseLibrary {
  void operator()(void* library) const noexcept { static_cast<void>(dlclose(library)); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <typename Function>
Function* symbol(const Library& library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library.get(), name));
}

class NvmlReader final : public Nvml {
 public:
  using Reasons = int(NvmlDevice, unsigned long long*);
  using Processes = int(NvmlDevice, unsigned int* count, NvmlProcess*);
  using Shutdown = int();

  /// `processes` may be null.
  NvmlReader(Library library, NvmlDevice device, Reasons* reasons, Processes* list,
             Shutdown* shutdown)
      : library_(std::move(library)),
        device_(device),
        reasons_(reasons),
        list_(list),
        shutdown_(shutdown) {}
  ~NvmlReader() override { static_cast<void>(shutdown_()); }

  [[nodiscard]] ClockEvents clock_events() const override {
    unsigned long long bits = 0;
    ClockEvents events;
    if (reasons_(device_, &bits) != kNvmlSuccess) return events;
    events.power_cap = (bits & kSwPowerCap) != 0;
    events.thermal = (bits & (kSwThermalSlowdown | kHwThermalSlowdown)) != 0;
    events.hw_slowdown = (bits & (kHwSlowdown | kHwPowerBrakeSlowdown)) != 0;
    return events;
  }

  [[nodiscard]] std::vector<GpuProcess> processes() override {
    // Listing them takes up to milliseconds, which a block need not wait for each time.
    const auto now = std::chrono::steady_clock::now();
    if (listed_ && now - listed_at_ < std::chrono::seconds(1)) return processes_;
    listed_ = true;
    listed_at_ = now;
    processes_ = listed();
    return processes_;
  }

 private:
  [[nodiscard]] std::vector<GpuProcess> listed() const {
    if (list_ == nullptr) return {};
    std::vector<NvmlProcess> found(64);  // MPS takes 48 clients
    auto count = static_cast<unsigned int>(found.size());
    int status = list_(device_, &count, found.data());
    if (status == kNvmlInsufficientSize) {
      found.resize(2 * std::size_t{count});
      count = static_cast<unsigned int>(found.size());
      status = list_(device_, &count, found.data());
    }
    if (status != kNvmlSuccess) return {};
    found.resize(count);
    std::vector<GpuProcess> processes;
    for (const NvmlProcess& each : found) {
      const bool told = each.used_gpu_memory != std::numeric_limits<unsigned long long>::max();
      processes.push_back({each.pid, told ? static_cast<std::int64_t>(each.used_gpu_memory) : 0});
    }
    return processes;
  }

  Library library_;
  NvmlDevice device_;
  Reasons* reasons_;
  Processes* list_;
  Shutdown* shutdown_;
  bool listed_ = false;
  std::chrono::steady_clock::time_point listed_at_;
  std::vector<GpuProcess> processes_;  ///< as listed then
};

}  // namespace

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) {
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
  auto* processes =
      symbol<NvmlReader::Processes>(library, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (processes == nullptr) {  // its name in drivers before 510
    processes = symbol<NvmlReader::Processes>(library, "nvmlDeviceGetComputeRunningProcesses_v2");
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
  return std::make_unique<NvmlReader>(std::move(library), device, reasons, processes, shutdown);
}

}  // namespace attnbench
