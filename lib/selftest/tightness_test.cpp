// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Every dtype is judged by its own roundings: what is right in one type is wrong in a wider one,
// and four times the error of a correct backend is doubted in each.
#include <gtest/gtest.h>

#include <string>

#include "lib/scenario/problem_of.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

Case case_of(DType dtype) {
  Case c = small_plain_decode();
  c.dtype = c.kv_cache.dtype = dtype;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    c.requests[r].kv_len = 3 + 20 * static_cast<std::int64_t>(r);
  }
  return c;
}

/// The fault that is none in this type: weights rounded to it, as tensor cores take them.
Fault weights_in(DType dtype) {
  if (dtype == DType::kF16) return Fault::kWeightsInF16;
  return dtype == DType::kBF16 ? Fault::kWeightsInBf16 : Fault::kNone;
}

Verification verify(DType dtype, Fault fault) {
  const Case c = case_of(dtype);
  const auto device = make_cpu_device();
  MutantBackend backend(fault);
  Fixture fixture(c, *device);
  return verify_backend(c, backend, fixture, *device, compute_truth(c, {}));
}

/// The verdict on a correct backend all of whose errors are made `times` as large.
Verification verify_enlarged(DType dtype, double times) {
  const Case c = case_of(dtype);
  const auto device = make_cpu_device();
  MutantBackend backend(weights_in(dtype));
  Fixture fixture(c, *device);
  VerifyConfig config;
  config.rows = 1000;                       // all of them
  std::erase(config.fills, Fill::kTiming);  // whose contents a fixture gets from a SampleIo
  const std::vector<FillTruth> truth = compute_truth(c, config);
  PlanMemory memory(*device);
  const auto stream = device->make_stream();
  const AttentionTensors io = fixture.tensors();
  ErrorMetrics error;
  for (const FillTruth& each : truth) {
    fixture.fill(each.fill);
    backend.plan(fixture.batch(), memory)->run(*stream);
    for (const ReferenceRow& row : each.rows) {  // one query token for each request
      std::byte* const out = io.out.row(row.id.request, row.id.head);
      for (std::size_t d = 0; d < row.out.size(); ++d) {
        std::byte* const at = out + static_cast<std::int64_t>(d) * size_bytes(dtype);
        const double got = load(dtype, at);
        store(dtype, at, static_cast<float>(row.out[d] + times * (got - row.out[d])));
      }
    }
    accumulate_error(c, take_outputs(fixture, wanted_rows(truth).rows), each,
                     backend.numerics(problem_of(c)), error);
  }
  return judge(c, error, truth);
}

class Tightness : public testing::TestWithParam<DType> {};

TEST_P(Tightness, passes_the_correct_backend_with_weights_in_the_types_of_the_case) {
  const Verification exact = verify(GetParam(), Fault::kNone);
  EXPECT_EQ(exact.verdict, Verdict::kPassed) << exact.reason;
  const Verification packed = verify(GetParam(), weights_in(GetParam()));
  EXPECT_EQ(packed.verdict, Verdict::kPassed) << packed.reason;
  RecordProperty("rms_ratio", std::to_string(packed.error.rms_ratio));
}

TEST_P(Tightness, doubts_four_times_the_errors_of_the_correct_backend) {
  const Verification as_they_are = verify_enlarged(GetParam(), 1);
  EXPECT_EQ(as_they_are.verdict, Verdict::kPassed) << as_they_are.reason;
  const Verification enlarged = verify_enlarged(GetParam(), 4);
  EXPECT_NE(enlarged.verdict, Verdict::kPassed)
      << enlarged.error.rms_ratio << ' ' << enlarged.error.bound_ratio;
}

INSTANTIATE_TEST_SUITE_P(Types, Tightness, testing::Values(DType::kF32, DType::kF16, DType::kBF16),
                         [](const auto& type) { return std::string(to_string(type.param)); });

TEST(NarrowWeights, fail_in_a_case_of_a_wider_type) {
  const auto expect_wrong = [](DType dtype, Fault fault) {
    const Verification result = verify(dtype, fault);
    EXPECT_EQ(result.verdict, Verdict::kIncorrect)
        << to_string(dtype) << ", " << to_string(fault) << ": " << result.reason;
  };
  expect_wrong(DType::kF32, Fault::kWeightsInF16);
  expect_wrong(DType::kF32, Fault::kWeightsInBf16);
  expect_wrong(DType::kF32, Fault::kWeightsInE4m3);
  expect_wrong(DType::kF16, Fault::kWeightsInBf16);
  expect_wrong(DType::kF16, Fault::kWeightsInE4m3);
  expect_wrong(DType::kBF16, Fault::kWeightsInE4m3);
}

}  // namespace
}  // namespace attnbench
