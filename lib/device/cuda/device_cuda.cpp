// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/device/cuda/cache_flush.cuh"
#include "lib/device/cuda/cuda_device.h"
#include "lib/device/cuda/guarded_memory.cuh"
#include "lib/device/cuda/handles.cuh"
#include "lib/device/cuda/nvml.h"
#include "lib/device/cuda/sample_timer.cuh"

namespace attnbench {
namespace {

/// cp.async and bf16 tensor cores: what every kernel here builds on came with sm_80.
constexpr int kOldestMajor = 8;

class CudaStream final : public Stream {
 public:
  void synchronize() override {
    check_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }
  [[nodiscard]] void* native() const noexcept override { return stream_.get(); }
  [[nodiscard]] bool embed(void* graph) override { return embed_graph(stream_.get(), graph); }

 private:
  StreamHandle stream_ = make_stream_handle();
};

[[nodiscard]] cudaDeviceProp properties_of(int ordinal) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  return properties;
}

[[nodiscard]] std::string arch_of(const cudaDeviceProp& properties) {
  return fmt::format("sm_{}{}", properties.major, properties.minor);
}

/// Of one GPU; empty when it can be used.
[[nodiscard]] std::string absence_of(int ordinal) {
  const cudaDeviceProp properties = properties_of(ordinal);
  if (properties.major >= kOldestMajor) return "";
  return fmt::format("{} is older than sm_{}0", arch_of(properties), kOldestMajor);
}

/// The kernel module's own version, which its file names behind "Kernel Module".
[[nodiscard]] std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    const bool is_version = word.find('.') != std::string::npos &&
                            word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version) return word;
  }
  return {};
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {
    use();
    const cudaDeviceProp properties = properties_of(ordinal);
    info_.kind = DeviceKind::kCuda;
    info_.name = properties.name;
    info_.arch = arch_of(properties);
    info_.units = properties.multiProcessorCount;
    info_.last_level_cache_bytes = properties.l2CacheSize;
    info_.memory_bytes = static_cast<std::int64_t>(free_gpu_memory());
    info_.driver = driver_version();
    info_.cuda_version = fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    stream_ = make_stream_handle();
    std::array<char, 32> bus_id{};
    check_cuda(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), ordinal),
               "cudaDeviceGetPCIBusId");
    nvml_ = Nvml::open(bus_id.data());
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    use();
    return make_guarded_memory(bytes, what, stream_.get());
  }

  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    use();
    return std::make_unique<CudaStream>();
  }

  void copy_to_host(void* to, const std::byte* from, std::size_t bytes) override {
    copy(to, from, bytes, cudaMemcpyDeviceToHost);
  }
  void copy_from_host(std::byte* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes, cudaMemcpyHostToDevice);
  }
  void enqueue_copy_from_host(Stream& stream, std::byte* to, const void* from,
                              std::size_t bytes) override {
    if (bytes == 0) return;
    // From pageable memory: what is copied may go when the call returns.
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                               static_cast<cudaStream_t>(stream.native())),
               "cudaMemcpyAsync");
  }

  void flush_cache(Stream& stream) override {
    cache_flush().enqueue(static_cast<cudaStream_t>(stream.native()));
  }
  void touch(Stream& stream, std::span<const std::span<const std::byte>> parts) override {
    cache_flush().enqueue_touch(parts, static_cast<cudaStream_t>(stream.native()));
  }

  void wait_until_idle() override {
    use();
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void release_cache_reservations() override {
    use();
    // Asked for first: setting it takes longer than many a sample.
    std::size_t reserved = 0;
    check_cuda(cudaDeviceGetLimit(&reserved, cudaLimitPersistingL2CacheSize), "cudaDeviceGetLimit");
    if (reserved == 0) return;
    check_cuda(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "cudaDeviceSetLimit");
    check_cuda(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
  }

  [[nodiscard]] ClockEvents clock_events() const override {
    return nvml_ ? nvml_->clock_events() : ClockEvents{};
  }

  [[nodiscard]] std::vector<GpuProcess> processes() override {
    return nvml_ ? nvml_->processes() : std::vector<GpuProcess>();
  }

  [[nodiscard]] std::unique_ptr<SampleTimer> make_timer(Stream& stream) override {
    use();
    return make_event_timer(stream, info_.units, sample_overhead_us_);
  }

  [[nodiscard]] std::unique_ptr<Recording> record(Stream& stream, const Work& work) override {
    use();
    return record_graph(stream, work);
  }

 private:
  /// The current GPU belongs to the calling thread.
  void use() const { check_cuda(cudaSetDevice(ordinal_), "cudaSetDevice"); }

  [[nodiscard]] const CacheFlush& cache_flush() {
    use();
    if (!flush_) {
      flush_.emplace(static_cast<std::size_t>(info_.last_level_cache_bytes), stream_.get());
      check_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    }
    return *flush_;
  }

  /// On a stream of its own and waited for: a plain cudaMemcpy from pageable memory may return
  /// before its last bytes have arrived, and streams of ours do not wait for the default stream.
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) const {
    if (bytes == 0) return;
    use();
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

  int ordinal_;
  DeviceInfo info_;
  StreamHandle stream_;  ///< of copies and fills
  std::optional<CacheFlush> flush_;
  std::optional<double> sample_overhead_us_;  ///< the same for all of this device's timers
  std::unique_ptr<Nvml> nvml_;                ///< null where there is none
};

}  // namespace

std::string cuda_absence() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "no NVIDIA driver";
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format("the NVIDIA driver supports CUDA {}.{}, this program needs {}.{}",
                       driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                       CUDART_VERSION % 1000 / 10);
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    return "no CUDA device visible";
  }
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return absence_of(0);
}

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    static_cast<void>(cudaGetLastError());
    throw EnvironmentError(cuda_absence());
  }
  if (ordinal < 0 || ordinal >= count) {
    throw EnvironmentError(
        fmt::format("there is no CUDA device {}: this machine has {}", ordinal, count));
  }
  if (const std::string absence = absence_of(ordinal); !absence.empty()) {
    throw EnvironmentError(absence);
  }
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace attnbench
