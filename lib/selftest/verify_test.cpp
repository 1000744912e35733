// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What verify_backend says of backends that misbehave beside their results.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/backend/testing/stub_backend.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/compared_fixtures.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// The correct backend, then a deed of its own after each run.
class Meddler final : public StubBackend {
 public:
  using Deed = std::function<void(const ForwardBatch&, int run)>;
  explicit Meddler(Deed deed) : StubBackend("meddler"), deed_(std::move(deed)) {
    info_ = correct_.info();
  }

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<FunctionPlan>(
        [this, &batch,
         correct = std::shared_ptr<Plan>(correct_.plan(batch, memory))](Stream& stream) {
          correct->run(stream);
          deed_(batch, runs_++);
        });
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return correct_.numerics(problem);
  }
  [[nodiscard]] Support supports(const Problem&) const override {
    return takes_other_batches_ ? Support::yes() : Support::no("this batch alone");
  }
  void promise_determinism(bool promised) { info_.deterministic = promised; }
  void refuse_other_batches() { takes_other_batches_ = false; }

 private:
  MutantBackend correct_{Fault::kNone};
  Deed deed_;
  int runs_ = 0;
  bool takes_other_batches_ = true;
};

Verification verify(Backend& backend, const Case& c = small_plain_decode(), int compositions = 0) {
  const auto device = make_cpu_device();
  VerifyConfig config;
  config.fills = {Fill::kNeedle, Fill::kNormal};
  const std::vector<FillTruth> truth = compute_truth(c, config);
  Fixture fixture(c, *device);
  WantedRows wanted = wanted_rows(truth);
  wanted.compositions = compositions;
  ComparedFixtures others(*device, 0);
  return conclude(c, observe_backend(c, backend, fixture, *device, wanted, others), truth);
}

Verification verify(Meddler::Deed deed, const Case& c = small_plain_decode()) {
  Meddler backend(std::move(deed));
  return verify(backend, c);
}

void expect(const Verification& result, Verdict verdict, const std::string& reason) {
  EXPECT_EQ(result.verdict, verdict) << result.reason;
  EXPECT_NE(result.reason.find(reason), std::string::npos) << result.reason;
}

TEST(VerifyBackend, passes_the_correct_backend) {
  const Verification result = verify([](const ForwardBatch&, int) {});
  expect(result, Verdict::kPassed, "");
  EXPECT_EQ(result.bitwise.repeatable, 1);
  EXPECT_EQ(result.bitwise.page_permutation_invariant, 1);
  EXPECT_EQ(result.bitwise.batch_invariant, 1);
}

TEST(VerifyBackend, reports_a_crash_with_its_place_and_message) {
  expect(verify([](const ForwardBatch&, int) { throw std::runtime_error("no such kernel"); }),
         Verdict::kCrashed, "on fill needle: no such kernel");
  expect(verify([](const ForwardBatch&, int) { throw 7; }), Verdict::kCrashed, "no std::exception");
}

TEST(VerifyBackend, keeps_what_it_found_before_a_crash) {
  const auto write_beyond_then_crash = [](const ForwardBatch& batch, int run) {
    if (run > 0) throw std::runtime_error("gone");
    batch.tensors.out.data[batch.tensors.out.size() * size_bytes(batch.tensors.out.dtype)] =
        std::byte{0};
  };
  expect(verify(write_beyond_then_crash), Verdict::kCrashed,
         "gone; before that: guard bytes of 'out' changed on fill needle");
}

TEST(VerifyBackend, blames_writes_into_every_input) {
  using Place = std::function<std::byte*(const ForwardBatch&)>;
  const auto writable = [](const std::byte* data) { return const_cast<std::byte*>(data); };
  const std::vector<std::pair<std::string, Place>> inputs{
      {"q", [&](const ForwardBatch& batch) { return writable(batch.tensors.q.data); }},
      {"k_new", [&](const ForwardBatch& batch) { return writable(batch.tensors.k_new.data); }},
      {"v_new", [&](const ForwardBatch& batch) { return writable(batch.tensors.v_new.data); }},
      {"k pool", [](const ForwardBatch& batch) { return batch.token_to_kv_pool->k; }},
      {"v pool", [](const ForwardBatch& batch) { return batch.token_to_kv_pool->v; }},
  };
  for (const auto& [name, place] : inputs) {
    const Place& at = place;
    const Verification result =
        verify([&at](const ForwardBatch& batch, int) { *at(batch) ^= std::byte{1}; });
    expect(result, Verdict::kIncorrect, "input '" + name + "' was modified on fill needle");
  }
}

TEST(VerifyBackend, blames_writes_past_the_outputs) {
  expect(verify([](const ForwardBatch& batch, int) {
           batch.tensors.out.data[batch.tensors.out.size() * size_bytes(batch.tensors.out.dtype)] =
               std::byte{0};
         }),
         Verdict::kIncorrect, "guard bytes of 'out' changed");
  expect(verify([](const ForwardBatch& batch, int) { batch.tensors.lse.data[-1] = std::byte{0}; }),
         Verdict::kIncorrect, "guard bytes of 'lse' changed");
}

TEST(VerifyBackend, blames_nobody_for_damage_that_was_there_before) {
  const Case c = small_plain_decode();
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  const TensorView out = fixture.tensors().out;
  out.data[out.size() * size_bytes(out.dtype)] = std::byte{0};
  VerifyConfig config;
  config.fills = {Fill::kNormal};
  Meddler steady([](const ForwardBatch&, int) {});
  expect(verify_backend(c, steady, fixture, *device, compute_truth(c, config)), Verdict::kPassed,
         "");
}

TEST(VerifyBackend, blames_differing_runs_only_where_determinism_was_promised) {
  // One ulp of f32, far below the bound.
  Meddler backend([](const ForwardBatch& batch, int run) {
    if (run % 2 == 1) batch.tensors.out.data[0] ^= std::byte{1};
  });
  const Verification promised = verify(backend);
  expect(promised, Verdict::kIncorrect, "two runs differ in 1 element although");
  EXPECT_EQ(promised.bitwise.repeatable, 0);
  backend.promise_determinism(false);
  const Verification unpromised = verify(backend);
  expect(unpromised, Verdict::kPassed, "");
  EXPECT_EQ(unpromised.bitwise.repeatable, 0);
}

/// Changes the last bit of the batch's last request in batches of two.
void depend_on_the_batch(const ForwardBatch& batch, int) {
  if (batch.batch_size != 2) return;
  *batch.tensors.out.row(batch.q_tokens() - 1, 0) ^= std::byte{1};
}

TEST(VerifyBackend, blames_other_bits_in_another_batch_where_that_is_required) {
  Meddler dependent(depend_on_the_batch);
  const Verification required = verify(dependent, small_plain_decode(), 20);
  expect(required, Verdict::kIncorrect, "not batch-invariant: request ");
  expect(required, Verdict::kIncorrect, " has other bits than in the whole batch");
  EXPECT_EQ(required.bitwise.batch_invariant, 0);
  // Where it is not, two requests are tried alone, and the results are within their bounds.
  EXPECT_EQ(verify(dependent).verdict, Verdict::kPassed);
  Meddler steady([](const ForwardBatch&, int) {});
  const Verification passed = verify(steady, small_plain_decode(), 20);
  expect(passed, Verdict::kPassed, "");
  EXPECT_EQ(passed.bitwise.batch_invariant, 1);
}

TEST(VerifyBackend, blames_a_state_that_depends_on_the_batch_where_that_is_required) {
  Meddler dependent([](const ForwardBatch& batch, int) {
    float& last = *batch.state_pool->state(batch.state_indices.back(), 0);
    if (batch.batch_size == 1) last = std::nextafter(last, 2.0f);
  });
  expect(verify(dependent, small_delta_nets().front(), 20), Verdict::kIncorrect,
         "not batch-invariant: request ");
}

TEST(VerifyBackend, blames_a_backend_whose_invariance_no_batch_can_show_where_that_is_required) {
  Meddler steady([](const ForwardBatch&, int) {});
  steady.refuse_other_batches();
  expect(verify(steady, small_plain_decode(), 20), Verdict::kIncorrect,
         "batch invariance cannot be shown");
  EXPECT_EQ(verify(steady).verdict, Verdict::kPassed);
}

TEST(VerifyBackend, requires_nothing_of_a_batch_of_one_request) {
  Case c = small_plain_decode();
  c.requests = {c.requests.back()};
  Meddler steady([](const ForwardBatch&, int) {});
  const Verification result = verify(steady, c, 20);
  expect(result, Verdict::kPassed, "");
  EXPECT_EQ(result.bitwise.batch_invariant, -1);
}

TEST(VerifyBackend, compares_the_final_states_of_a_recurrent_layer_bit_for_bit) {
  const Case c = small_delta_nets().front();
  const auto with_another_bit_in = [&](int changed) {
    return verify(
        [changed](const ForwardBatch& batch, int run) {
          float& last = *batch.state_pool->state(batch.state_indices.back(), 0);
          if (run == changed) last = std::nextafter(last, 2.0f);
        },
        c);
  };
  constexpr int kSecondOfTheBatch = 2, kOnOtherPages = 3, kOneRequestAlone = 4;
  const Verification never = with_another_bit_in(-1);
  EXPECT_EQ(never.verdict, Verdict::kPassed) << never.reason;
  EXPECT_EQ(never.bitwise.repeatable, 1);
  EXPECT_EQ(never.bitwise.page_permutation_invariant, 1);
  EXPECT_EQ(never.bitwise.batch_invariant, 1);
  const Verification again = with_another_bit_in(kSecondOfTheBatch);
  expect(again, Verdict::kIncorrect, "two runs differ in 1 final state although");
  EXPECT_EQ(again.bitwise.repeatable, 0);
  const Verification moved = with_another_bit_in(kOnOtherPages);
  EXPECT_EQ(moved.bitwise.repeatable, 1);
  EXPECT_EQ(moved.bitwise.page_permutation_invariant, 0);
  const Verification alone = with_another_bit_in(kOneRequestAlone);
  EXPECT_EQ(alone.bitwise.page_permutation_invariant, 1);
  EXPECT_EQ(alone.bitwise.batch_invariant, 0);
}

TEST(VerifyBackend, blames_a_single_unwritten_or_nan_element) {
  const auto poison = [](const ForwardBatch& batch, int) {
    store(batch.tensors.out.dtype,
          batch.tensors.out.row(2, 1) + 5 * size_bytes(batch.tensors.out.dtype),
          std::numeric_limits<float>::quiet_NaN());
  };
  const Verification result = verify(poison);
  expect(result, Verdict::kIncorrect, "first on fill needle at request 2");
  EXPECT_EQ(result.error.worst.dim, 5);
  EXPECT_EQ(result.error.worst.head, 1);
  EXPECT_EQ(result.error.non_finite, 2) << "one for each fill";
}

TEST(VerifyBackend, blames_an_lse_in_base_two) {
  MutantBackend backend(Fault::kLseBaseTwo);
  const Verification result = verify(backend);
  expect(result, Verdict::kIncorrect, "LSE bound exceeded");
  EXPECT_LE(result.error.bound_ratio, 1);
}

TEST(VerifyBackend, wants_zeros_and_minus_infinity_of_rows_without_keys) {
  // An encoder that saw nothing.
  Case c = small_plain_decode();
  c.mode = ForwardMode::kDecode;
  c.requests.resize(3);
  c.requests[1].kv_len = 0;
  c.layer.is_cross_attention = true;
  c.layer.causal = false;
  EXPECT_EQ(verify([](const ForwardBatch&, int) {}, c).verdict, Verdict::kPassed);
  expect(verify([](const ForwardBatch& batch,
                   int) { store(DType::kF32, batch.tensors.lse.row(1, 0), 0); },
                c),
         Verdict::kIncorrect, "request 1");
  for (Request& request : c.requests) request.kv_len = 0;
  expect(verify([](const ForwardBatch&, int) {}, c), Verdict::kMistrusted, "no row sees a key");
}

TEST(VerifyBackend, wants_queries_before_the_first_key_to_be_empty) {
  Case c = small_plain_decode();
  c.mode = ForwardMode::kExtend;
  c.requests.resize(2);
  c.requests[1].q_len = 9;
  c.requests[1].kv_len = 4;
  EXPECT_EQ(verify([](const ForwardBatch&, int) {}, c).verdict, Verdict::kPassed);
  // Token 1 + 4 of the batch is the last that sees no key, the next one sees one.
  const auto sets_lse = [](std::int64_t token) {
    return [token](const ForwardBatch& batch, int) {
      store(DType::kF32, batch.tensors.lse.row(token, 0),
            token == 5 ? 0.0f : -std::numeric_limits<float>::infinity());
    };
  };
  expect(verify(sets_lse(5), c), Verdict::kIncorrect, "it sees no key");
  expect(verify(sets_lse(6), c), Verdict::kIncorrect, "it sees keys 0 to 0 of 4");
}

}  // namespace
}  // namespace attnbench
