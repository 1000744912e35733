// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "lib/base/counter_hash.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/index/csr.h"
#include "lib/index/cuda/index_builders.cuh"
#include "lib/index/page_table.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

/// Memory for an array of int32 on the GPU.
class GpuArray {
 public:
  GpuArray(Device& device, std::size_t count)
      : device_(&device), count_(count), buffer_(device.allocate(count * 4, "test")) {}
  GpuArray(Device& device, const std::vector<std::int32_t>& values)
      : GpuArray(device, values.size()) {
    device.copy_from_host(buffer_->data(), values.data(), count_ * 4);
  }

  [[nodiscard]] std::int32_t* data() const {
    return static_cast<std::int32_t*>(static_cast<void*>(buffer_->data()));
  }
  [[nodiscard]] std::vector<std::int32_t> values() const {
    std::vector<std::int32_t> values(count_);
    device_->copy_to_host(values.data(), buffer_->data(), count_ * 4);
    EXPECT_TRUE(buffer_->guards_intact());
    return values;
  }

 private:
  Device* device_;
  std::size_t count_;
  std::unique_ptr<Buffer> buffer_;
};

std::vector<std::int32_t> flat(const ReqToTokenPool& pool) {
  std::vector<std::int32_t> slots;
  for (std::int64_t row = 0; row < pool.rows(); ++row) {
    slots.insert(slots.end(), pool.row(row).begin(), pool.row(row).end());
  }
  return slots;
}

/// A decode batch of these lengths on shuffled pages, on the host and on the GPU.
class TwoBatches {
 public:
  TwoBatches(Device& device, const std::vector<std::int32_t>& lens, std::int32_t page_size)
      : host(ForwardMode::kDecode, slots_of(lens, page_size), lens,
             *std::ranges::max_element(lens) + 7),
        req_to_token_(device, flat(*host.batch.req_to_token_pool)),
        req_pool_indices_(device, host.batch.req_pool_indices),
        kv_lens_(device, host.batch.seq_lens) {
    gpu.req_to_token = req_to_token_.data();
    gpu.req_to_token_stride = host.batch.req_to_token_pool->max_context_len();
    gpu.req_pool_indices = req_pool_indices_.data();
    gpu.kv_lens = kv_lens_.data();
  }

  TestBatch host;
  DeviceBatch gpu;

 private:
  static std::vector<std::vector<std::int32_t>> slots_of(const std::vector<std::int32_t>& lens,
                                                         std::int32_t page_size) {
    std::vector<std::vector<std::int32_t>> slots;
    for (std::size_t r = 0; r < lens.size(); ++r) {
      slots.emplace_back();
      for (std::int32_t t = 0; t < lens[r]; ++t) {
        const auto page = static_cast<std::int32_t>(
            combine(r, static_cast<std::uint64_t>(t / page_size)) % 100000);
        slots.back().push_back(page * page_size + t % page_size);
      }
    }
    return slots;
  }

  GpuArray req_to_token_, req_pool_indices_, kv_lens_;
};

class GpuIndices : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
    device_ = make_cuda_device();
    stream_ = device_->make_stream();
  }
  [[nodiscard]] cudaStream_t native() const { return static_cast<cudaStream_t>(stream_->native()); }

  /// Lengths 0, 1, page ends, and one that many blocks share.
  static std::vector<std::int32_t> lengths(std::size_t requests) {
    std::vector<std::int32_t> lens{1, 0, 63, 64, 65, requests < 100 ? 33000 : 300, 16, 17};
    while (lens.size() < requests) {
      lens.push_back(static_cast<std::int32_t>(combine(1, lens.size()) % 300));
    }
    lens.resize(requests);
    return lens;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(GpuIndices, of_csr_are_the_host_builders) {
  for (const std::size_t requests : {1u, 8u, 1023u, 1025u, 2500u}) {
    for (const std::int32_t page_size : {1, 16, 64}) {
      SCOPED_TRACE(std::to_string(requests) + " requests, pages of " + std::to_string(page_size));
      const TwoBatches batches(*device_, lengths(requests), page_size);
      const CsrIndices want = build_csr(batches.host.batch, page_size);
      const GpuArray indptr(*device_, requests + 1), indices(*device_, want.kv_indices.size()),
          last(*device_, requests);
      enqueue_csr(batches.gpu, std::ssize(want.kv_last_page_len), page_size,
                  {indptr.data(), indices.data(), last.data()}, native());
      stream_->synchronize();
      EXPECT_EQ(indptr.values(), want.kv_indptr);
      EXPECT_EQ(indices.values(), want.kv_indices);
      EXPECT_EQ(last.values(), want.kv_last_page_len);
    }
  }
}

TEST_F(GpuIndices, of_page_tables_are_the_host_builders) {
  for (const std::int32_t page_size : {1, 16, 64}) {
    const TwoBatches batches(*device_, lengths(37), page_size);
    for (const PageTable& want : {build_page_table(batches.host.batch, page_size),
                                  build_page_table(batches.host.batch, page_size, 0, 40000)}) {
      const GpuArray table(*device_, want.page_table.size());
      const std::int32_t pad = want.width == 40000 ? 0 : -1;
      enqueue_page_table(batches.gpu, 37, page_size, want.width, pad, table.data(), native());
      stream_->synchronize();
      EXPECT_EQ(table.values(), want.page_table) << "width " << want.width;
    }
  }
}

}  // namespace
}  // namespace attnbench
