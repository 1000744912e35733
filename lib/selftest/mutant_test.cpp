// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/selftest/selftest.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// A case with its truth, computed once for all mutants.
struct Examined {
  Case c;
  std::vector<FillTruth> truth;
};

std::vector<Examined> examine(const std::vector<Case>& cases) {
  std::vector<Examined> examined;
  VerifyConfig config;
  config.rows = 256;
  for (const Case& c : cases) examined.push_back({c, compute_truth(c, config)});
  return examined;
}

/// The cheapest come first: a fault is looked for until a case shows it.
const std::vector<Examined>& small_examined() {
  static const std::vector<Examined> all = [] {
    std::vector<Case> cases = small_spans();
    const auto add = [&cases](const std::vector<Case>& more) {
      cases.insert(cases.end(), more.begin(), more.end());
    };
    add(small_selections());
    add(small_compressed());
    add(small_blocks());
    cases.push_back(small_dual_chunks().front());
    add(small_temperatures());
    cases.push_back(small_page_gaps().back());
    for (const Case& c : small_windows()) {
      if (c.id == "tree_window_2_by_index" || c.id == "prefix_hits_in_chunks_of_10") {
        cases.push_back(c);
      }
    }
    add(all_small_cases());
    add(small_recurrent_steps());
    std::ranges::stable_sort(cases, {}, [](const Case& c) { return c.q_tokens() * c.kv_tokens(); });
    return examine(cases);
  }();
  return all;
}

/// A case of many keys.
const std::vector<Examined>& long_examined() {
  static const std::vector<Examined> last = examine({selftest_cases().back()});
  return last;
}

bool needs_many_keys(Fault fault) {
  return fault == Fault::kLongSplitDropsAKey || fault == Fault::kLongSplitRoundsWeights ||
         fault == Fault::kDividesByZeroKey;
}

/// Whether the case has what the fault is about. Nobody has to wait for a case that cannot show it.
bool can_show(Fault fault, const Case& c) {
  switch (fault) {
    case Fault::kIgnoresChunks:
    case Fault::kChunkOffByOne:
    case Fault::kChunkIsAWindow:
      return c.layer.attention_chunk > 0;
    case Fault::kIgnoresSpans:
    case Fault::kSpanSeesNextKey:
    case Fault::kSpanOfTheOtherRule:
      return std::ranges::any_of(c.requests, [](const Request& r) { return !r.spans.empty(); });
    default:
      return is_of_delta_net(fault) == c.layer.is_recurrent();
  }
}

Verification verify_fault(const Examined& examined, Fault fault) {
  const auto device = make_cpu_device();
  MutantBackend backend(fault);
  Fixture fixture(examined.c, *device);
  return verify_backend(examined.c, backend, fixture, *device, examined.truth);
}

TEST(CorrectBackend, passes_on_every_case_and_fill) {
  for (const Examined& examined : small_examined()) {
    const Verification result = verify_fault(examined, Fault::kNone);
    EXPECT_EQ(result.verdict, Verdict::kPassed) << examined.c.id << ": " << result.reason;
    EXPECT_EQ(result.bitwise.repeatable, 1) << examined.c.id;
    EXPECT_EQ(result.bitwise.page_permutation_invariant, 1) << examined.c.id;
    EXPECT_EQ(result.bitwise.batch_invariant, 1) << examined.c.id;
    EXPECT_LT(result.error.rms_ratio, 2) << examined.c.id;
    EXPECT_GT(result.error.bound_ratio, 0) << examined.c.id;
    EXPECT_LE(result.error.lse_bound_ratio, 1) << examined.c.id;
  }
}

TEST(CorrectBackend, passes_with_every_output_type_and_on_a_longer_context) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    Case c = small_plain_decode();
    c.dtype = c.kv_cache.dtype = dtype;
    c.requests.resize(1);
    c.requests[0].kv_len = 2000;
    const Examined examined{c, compute_truth(c, {})};
    const Verification result = verify_fault(examined, Fault::kNone);
    EXPECT_EQ(result.verdict, Verdict::kPassed) << to_string(dtype) << ": " << result.reason;
    EXPECT_LT(result.error.rms_ratio, 2) << to_string(dtype);
  }
}

// Next to a sink of the usual size keys whose logits are -88 weigh next to nothing, and what f32
// keeps of such weights are its subnormal numbers.
TEST(CorrectBackend, passes_where_a_sink_outweighs_the_few_keys_there_are) {
  Case c = small_plain_decode();
  c.layer.has_sinks = true;
  c.requests.resize(4);
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    c.requests[r].kv_len = 2 + static_cast<std::int64_t>(r);
  }
  VerifyConfig config;
  config.fills = {Fill::kExtreme};
  for (c.seed = 0; c.seed < 30; ++c.seed) {
    const Verification result = verify_fault({c, compute_truth(c, config)}, Fault::kNone);
    EXPECT_EQ(result.verdict, Verdict::kPassed) << c.seed << ": " << result.reason;
  }
}

// Tags repeat after 169 tokens, and their sum is 0 then: what is left is rounding alone.
TEST(CorrectBackend, passes_where_the_outputs_cancel) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    Case c = small_plain_decode();
    c.dtype = c.kv_cache.dtype = dtype;
    c.requests.resize(1);
    c.requests[0].kv_len = 338;
    const Verification result = verify_fault({c, compute_truth(c, {})}, Fault::kNone);
    EXPECT_EQ(result.verdict, Verdict::kPassed) << to_string(dtype) << ": " << result.reason;
  }
}

class Mutant : public testing::TestWithParam<Fault> {};

TEST_P(Mutant, is_caught) {
  const Verdict expected = GetParam() == Fault::kThrows ? Verdict::kCrashed : Verdict::kIncorrect;
  const auto caught = [expected](const Examined& examined) {
    if (!can_show(GetParam(), examined.c)) return false;
    const Verification result = verify_fault(examined, GetParam());
    if (result.verdict != expected) return false;
    EXPECT_FALSE(result.reason.empty());
    RecordProperty("reason", examined.c.id + ": " + result.reason);
    return true;
  };
  const auto& examined = needs_many_keys(GetParam()) ? long_examined() : small_examined();
  EXPECT_TRUE(std::ranges::any_of(examined, caught)) << to_string(GetParam()) << " passes";
}

INSTANTIATE_TEST_SUITE_P(Faults, Mutant, testing::ValuesIn(all_faults()),
                         [](const testing::TestParamInfo<Fault>& fault) {
                           std::string name(to_string(fault.param));
                           for (char& letter : name) {
                             if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace attnbench
