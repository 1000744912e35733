// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_writer/index_writer.h"

#include "backends/testing/index_write_conformance.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench::index_writer {
namespace {

class IndexWriterGpu : public GpuTest {};

TEST_F(IndexWriterGpu, writes_the_new_keys_of_all_small_cases) {
  GpuWriter writer(StepPart::kIndexWrite);
  conformance::expect_index_writes(writer, *device_);
}

TEST_F(IndexWriterGpu, makes_the_compressed_rows_of_all_small_cases) {
  GpuWriter compressor(StepPart::kCompress);
  conformance::expect_compressed_rows(compressor, *device_);
}

}  // namespace
}  // namespace attnbench::index_writer
