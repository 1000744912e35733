// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "lib/base/error.h"
#include "lib/batch/step_part.h"
#include "lib/index/csr.h"
#include "lib/index/cuda/index_builders.cuh"
#include "lib/index/page_table.h"
#include "lib/measure/measure.h"
#include "lib/measure/statistics.h"
#include "lib/session/index_timing.h"

namespace attnbench {
namespace {

constexpr int kRepeats = 20;
constexpr std::int32_t kPad = -1;

/// GPU memory for the arrays of a batch.
class IndexBuffers {
 public:
  IndexBuffers(const ForwardBatch& batch, std::int64_t page_size, Device& device)
      : batch_size_(batch.batch_size), page_size_(page_size) {
    std::int64_t keys = 0, longest = 0;
    for (std::int64_t r = 0; r < batch_size_; ++r) {
      keys += batch.kv_len(r);
      longest = std::max(longest, batch.kv_len(r));
    }
    width_ = (longest + page_size - 1) / page_size;
    csr_ = {allocate(batch_size_ + 1, device), allocate(keys, device),
            allocate(batch_size_, device)};
    page_table_ = allocate(batch_size_ * width_, device);
  }

  void enqueue(const DeviceBatch& batch, cudaStream_t stream) const {
    enqueue_csr(batch, batch_size_, 1, csr_, stream);
    enqueue_page_table(batch, batch_size_, page_size_, width_, kPad, page_table_, stream);
  }

 private:
  std::int32_t* allocate(std::int64_t count, Device& device) {
    buffers_.push_back(
        device.allocate(static_cast<std::size_t>(count) * sizeof(std::int32_t), "index arrays"));
    // A Device's memory is aligned for any type.
    return static_cast<std::int32_t*>(static_cast<void*>(buffers_.back()->data()));
  }

  std::int64_t batch_size_;
  std::int64_t page_size_;
  std::int64_t width_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  CudaCsrIndices csr_;
  std::int32_t* page_table_ = nullptr;
};

double median_on_device(const Work& build, Device& device) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::unique_ptr<SampleTimer> timer = device.make_timer(*stream);
  build(*stream);  // behind the timer's blocker no module may be loaded
  stream->synchronize();
  std::vector<double> samples_us;
  for (int i = 0; i < kRepeats; ++i) samples_us.push_back(timer->time(build, build).us);
  return median(samples_us);
}

}  // namespace

IndexTiming time_index_builds(const Fixture& fixture, Device& device) {
  const ForwardBatch& batch = fixture.batch();
  const Case& c = fixture.fixture_case();
  const bool has_keys = batch.state_pool == nullptr && has_cache(c.step);
  if (batch.batch_size == 0 || !has_keys) return {};
  const std::int64_t page_size = c.kv_cache.page_size;
  IndexTiming timing;
  try {
    const IndexBuffers buffers(batch, page_size, device);
    timing.device_us = median_on_device(
        [&](Stream& stream) {
          buffers.enqueue(device_batch_of(batch), static_cast<cudaStream_t>(stream.native()));
        },
        device);
  } catch (const EnvironmentError&) {  // no memory: the case itself may still run
    return {};
  }
  timing.host_us = time_host(
                       [&] {
                         static_cast<void>(build_csr(batch, 1));
                         static_cast<void>(build_page_table(batch, page_size, kPad));
                       },
                       kRepeats)
                       .median_us;
  return timing;
}

}  // namespace attnbench
