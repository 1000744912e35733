// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What the verdict of a planted fault says that it comes from.
#include <gmock/gmock.h>

#include <string>

#include "lib/fixture/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

std::string reason_for(Fault fault, const Case& c) {
  const auto device = make_cpu_device();
  VerifyConfig config;
  config.rows = c.q_tokens() * c.layer.heads_q;
  config.fills = {"needle", "tag", "normal"};
  const std::vector<FillTruth> truth = compute_truth(c, config);
  Fixture fixture(c, *device);
  MutantBackend backend(fault);
  const Verification found = verify_backend(c, backend, fixture, *device, truth);
  return found.verdict == Verdict::kIncorrect ? found.reason : "not found";
}

void expect_cause(Fault fault, const Case& c, const std::string& cause) {
  EXPECT_THAT(reason_for(fault, c), HasSubstr("; that is what one gets with " + cause))
      << to_string(fault);
}

Case chunk() {
  Case c = small_chunked_mixed();
  c.requests.resize(1);  // 33 new tokens behind 64
  return c;
}

TEST(LikelyCause, of_a_mask_is_named) {
  expect_cause(Fault::kAlignsTopLeft, chunk(), "a mask aligned at the top left");
  Case decode = small_plain_decode();
  decode.requests.erase(decode.requests.begin());  // of one key, which leaves none
  expect_cause(Fault::kDropsLastToken, decode, "one key too few");
  expect_cause(Fault::kCausalMissesOwnKey, chunk(), "one key too few");
  expect_cause(Fault::kIgnoresTree, small_tree_verify(), "the draft tree read as a chain");
}

TEST(LikelyCause, of_a_window_is_named) {
  Case c = small_sliding_window();
  c.layer.has_sinks = false;
  c.layer.logit_cap = 0;
  expect_cause(Fault::kWindowOffByOne, c, "a window that reaches one key too far");
  expect_cause(Fault::kIgnoresWindow, c, "no window");
}

TEST(LikelyCause, of_logits_is_named) {
  Case capped = small_plain_decode();
  capped.layer.logit_cap = 1;
  expect_cause(Fault::kIgnoresSoftcap, capped, "no softcap");
  expect_cause(Fault::kDualChunkOneForm, small_dual_chunks().front(),
               "one form of the query for the keys of all dual chunks");
  expect_cause(Fault::kForgetsScale, small_plain_decode(), "logits that are not scaled");
  expect_cause(Fault::kDropsLastRopeDim, small_mla(), "the last rope column left out of q.k");
}

TEST(LikelyCause, of_sinks_scales_and_lses_is_named) {
  Case sinks = small_plain_decode();
  sinks.layer.has_sinks = true;
  expect_cause(Fault::kLseBaseTwo, small_plain_decode(), "an LSE in base 2");
  expect_cause(Fault::kLseForgetsSink, sinks, "an LSE without the sink");
  expect_cause(Fault::kSinkCountedTwice, sinks, "the sink counted twice");
  expect_cause(Fault::kForgetsVScale, small_fp8(), "V without its scale");
}

TEST(LikelyCause, is_left_open_where_no_usual_mistake_gives_the_row) {
  for (const Fault fault : {Fault::kSkipsAPage, Fault::kReadsAPageTwice, Fault::kHeadMapOffByOne}) {
    const std::string reason = reason_for(fault, small_plain_decode());
    EXPECT_THAT(reason, HasSubstr("bound exceeded"));
    EXPECT_THAT(reason, testing::Not(HasSubstr("that is what one gets"))) << to_string(fault);
  }
}

}  // namespace
}  // namespace attnbench
