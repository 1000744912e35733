// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// The figure that attnbench reports, beside the one that NVIDIA's own tracer records of the same
// kernels.
#include <gtest/gtest.h>

#ifdef ATTNBENCH_HAVE_CUPTI
#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/register.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/fixture/fixture.h"
#include "lib/measure/measure.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

void check(CUptiResult result) {
  const char* what = "";
  if (result == CUPTI_SUCCESS) return;
  cuptiGetResultString(result, &what);
  throw std::runtime_error(std::string("CUPTI: ") + what);
}

/// Start and end of the kernels that ran on the GPU while it records, in nanoseconds.
/// CUPTI calls back without a context pointer, so there is one list for the process.
class KernelRecords {
 public:
  struct Span {
    std::uint64_t start_ns, end_ns;
  };

  /// Of the kernels that `work` launches, from the first one's start to the last one's end.
  static double span_us(const std::function<void()>& work) {
    spans().clear();
    check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    work();
    check(cuptiActivityFlushAll(0));
    check(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    if (spans().empty()) throw std::runtime_error("CUPTI recorded no kernel");
    const auto first = std::ranges::min(spans(), {}, &Span::start_ns).start_ns;
    const auto last = std::ranges::max(spans(), {}, &Span::end_ns).end_ns;
    return static_cast<double>(last - first) / 1e3;
  }

  static void install() { check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer)); }

 private:
  static std::vector<Span>& spans() {
    static std::vector<Span> all;
    return all;
  }
  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size,
                                   std::size_t* max_records) {
    *size = 1u << 20;
    *max_records = 0;  // as many as fit
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  }
  static void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                   std::size_t valid) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
      // Later versions of the record only append to this one.
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      spans().push_back({kernel->start, kernel->end});
    }
    std::free(buffer);
  }
};

class CuptiAgreement : public testing::TestWithParam<const char*> {
 protected:
  static constexpr const char* kScenario = R"(
seed: 5
defaults:
  model: {heads_q: 32, heads_kv: 8, head_dim: 128}
  kv_cache: {page_size: 16, placement: shuffled}
mixes:
  decode: {batch: 64q1s2k}
  prefill: {batch: q4k}
)";

  static void SetUpTestSuite() {
    if (cuda_absence().empty()) KernelRecords::install();
  }
  void SetUp() override {
    if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
    register_builtin_backends(registry_);
    device_ = make_cuda_device(0);
  }

  static double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
    return values[values.size() / 2];
  }

  Registry registry_;
  std::unique_ptr<Device> device_;
};

TEST_P(CuptiAgreement, is_within_one_percent_on_cold_replays_of_attention) {
  const Scenario scenario = parse_scenario(kScenario, "cupti.yaml");
  for (const Case& c : scenario.cases) {
    SCOPED_TRACE(c.id);
    Fixture fixture(c, *device_);
    fixture.fill(Fill::kTiming);
    const auto backend = registry_.find(GetParam())->make();
    Workspace workspace(*device_);
    backend->init_forward_metadata(fixture.batch(), c.layer, workspace);
    const AttentionIo io = fixture.io();
    const Work forward = [&](Stream& stream) { backend->forward(io, stream); };

    const auto timing =
        measure_cells(
            std::vector<TimedCell>{{c.id, CacheState::kCold, forward, LaunchMode::kGraph}},
            *device_, scenario.measure, 1, {})
            .front();

    // The same graph after the same flush, at the clock that the measurement left behind.
    const auto stream = device_->make_stream();
    const auto graph = device_->record(*stream, forward);
    std::vector<double> traced;
    for (int i = 0; i < 41; ++i) {
      device_->flush_cache(*stream);
      stream->synchronize();
      traced.push_back(KernelRecords::span_us([&] {
        graph->replay(*stream);
        stream->synchronize();
      }));
    }
    const double cupti_us = median(traced);
    EXPECT_NEAR(timing.median_us, cupti_us, 0.01 * cupti_us)
        << timing.median_us << " us by attnbench, " << cupti_us << " us by CUPTI";
    RecordProperty(c.id + "/attnbench_us", std::to_string(timing.median_us));
    RecordProperty(c.id + "/cupti_us", std::to_string(cupti_us));
    std::cout << GetParam() << ' ' << c.id << ": attnbench " << timing.median_us << " us, CUPTI "
              << cupti_us << " us\n";
  }
}

INSTANTIATE_TEST_SUITE_P(OfAGpu, CuptiAgreement, testing::Values("splitkv", "paged_fa"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace attnbench
#else
TEST(CuptiAgreement, is_within_one_percent) { GTEST_SKIP() << "the CUDA Toolkit has no CUPTI"; }
#endif
