// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/kv_write.h"

#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/splitkv/splitkv.h"
#include "backends/wrappers/testing/kv_write_conformance.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench {
namespace {

class KvWriteGpu : public GpuTest {};

TEST_F(KvWriteGpu, leaves_each_new_key_and_value_in_its_slot_before_splitkv) {
  kv_write_conformance::expect_all(
      [] {
        return with_kv_write(std::make_unique<splitkv::SplitKvBackend>(splitkv::SplitRule::kFill),
                             plan_kv_write_on_gpu);
      },
      *device_, kv_write_conformance::kSoftmaxFormats);
}

TEST_F(KvWriteGpu, leaves_each_new_key_and_value_in_its_slot_before_paged_fa) {
  kv_write_conformance::expect_all(
      [] {
        return with_kv_write(std::make_unique<paged_fa::PagedFaBackend>(), plan_kv_write_on_gpu);
      },
      *device_, kv_write_conformance::kSoftmaxFormats);
}

TEST_F(KvWriteGpu, leaves_each_latent_row_in_its_slot_before_mla) {
  kv_write_conformance::expect_all(
      [] { return with_kv_write(std::make_unique<mla::MlaBackend>(), plan_kv_write_on_gpu); },
      *device_, kv_write_conformance::kLatentFormats);
}

TEST_F(KvWriteGpu, rounds_and_scales_as_the_codec_does_in_every_format) {
  kv_write_conformance::expect_bits_of_the_codec(plan_kv_write_on_gpu, *device_);
}

}  // namespace
}  // namespace attnbench
