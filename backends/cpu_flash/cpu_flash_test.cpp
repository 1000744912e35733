// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/cpu_flash.h"

#include <omp.h>

#include "backends/cpu_flash/plan.h"
#include "backends/testing/conformance.h"
#include "backends/testing/list_conformance.h"

namespace attnbench::cpu_flash {
namespace {

std::unique_ptr<Backend> make() { return std::make_unique<CpuFlashBackend>(); }

/// Contexts beyond one split, with ragged ends; few query rows, so that they are split.
Case long_case(const Case& small) {
  Case c = small;
  c.id = small.mix + "/long";
  for (Request& request : c.requests) request.kv_len += 1100;
  return c;
}

/// The same with lists of chosen keys that are longer than a piece, or hold more.
std::vector<Case> long_lists(const Case& small) {
  using enum SelectionPadding;
  constexpr SelectionGroups kPerHead = SelectionGroups::kKvHeads;
  return {with_selection(long_case(small), {.topk = 700, .padding = kRepeat}),
          with_selection(long_case(small), {.topk = 40, .unit = 16, .groups = kPerHead}),
          with_selection(long_case(small), {.topk = 1500, .groups = kPerHead, .padding = kFront})};
}

/// Agreement with the reference by each instruction set that this processor has. They share the
/// truth of a case.
class CpuFlashOnEachTarget : public testing::Test {
 protected:
  void expect_agreement(const Case& c, Fill fill) {
    const std::vector<FillTruth> truth = conformance::truth_of_all_rows(c, {&fill, 1});
    for (Device* const device : devices()) {
      CpuFlashBackend backend;
      Fixture fixture(c, *device);
      const Verification found = verify_backend(c, backend, fixture, *device, truth);
      EXPECT_FALSE(is_failure(found.verdict))
          << c.id << " on " << device->info().arch << ": " << found.reason;
    }
  }

  [[nodiscard]] std::vector<Device*> devices() const {
    std::vector<Device*> all;
    for (const auto& device : devices_) all.push_back(device.get());
    return all;
  }

 private:
  static std::vector<std::unique_ptr<Device>> make_devices() {
    std::vector<std::unique_ptr<Device>> all;
    for (const CpuTarget target : cpu_targets()) all.push_back(make_cpu_device(0, target));
    return all;
  }

  std::vector<std::unique_ptr<Device>> devices_ = make_devices();
};

/// Each test once for each instruction set that this processor has.
class CpuFlash : public testing::TestWithParam<CpuTarget> {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(0, GetParam());
};

INSTANTIATE_TEST_SUITE_P(EachTarget, CpuFlash, testing::ValuesIn(cpu_targets()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST_F(CpuFlashOnEachTarget, agrees_with_the_reference_on_every_case_fill_and_dtype) {
  conformance::expect_agreement(make, devices());
}

TEST_F(CpuFlashOnEachTarget,
       reads_rows_with_scales_inside_by_few_and_many_queries_wherever_it_splits) {
  for (const int heads_q : {1, 3, 8, 16, 128}) {
    for (Case c : {long_case(small_mla()), long_case(small_group_rows()[0])}) {
      SCOPED_TRACE(heads_q);
      c.layer.heads_q = heads_q;
      c.kv_cache.dtype = DType::kE4M3;
      if (c.kv_cache.scales != KvScales::kGroup) c.kv_cache.scales = KvScales::kBlock;
      for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) expect_agreement(c, fill);
    }
  }
}

/// Bytes of scratch memory that a plan takes.
std::size_t planned_bytes(std::int64_t split_keys, const Fixture& fixture, Device& device) {
  PlanMemory memory(device);
  const auto plan = CpuFlashBackend(split_keys).plan(fixture.batch(), memory);
  return memory.memory().size();
}

TEST_P(CpuFlash, keeps_more_partial_results_the_fewer_keys_a_piece_has) {
  const Fixture fixture(long_case(small_plain_decode()), *device_);
  const std::size_t whole = planned_bytes(2048, fixture, *device_);
  EXPECT_GT(planned_bytes(512, fixture, *device_), whole);
  EXPECT_GT(planned_bytes(128, fixture, *device_), planned_bytes(512, fixture, *device_));
}

TEST_P(CpuFlash, agrees_with_the_reference_wherever_it_splits) {
  for (const std::int64_t keys : kTriedSplitKeys) {
    CpuFlashBackend backend(keys);
    const Case c = long_case(small_plain_decode());
    Fixture fixture(c, *device_);
    conformance::expect_agreement(backend, c, Fill::kNormal, *device_, fixture);
  }
}

TEST_F(CpuFlashOnEachTarget, reads_lists_of_chosen_keys_wherever_they_are_split) {
  Case scales_inside = small_mla();
  scales_inside.kv_cache.dtype = DType::kE4M3;
  scales_inside.kv_cache.scales = KvScales::kBlock;
  for (const Case& small :
       {small_plain_decode(), small_fp8(), small_mla(), scales_inside, small_group_rows()[0]}) {
    for (const Case& c : long_lists(small)) {
      for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) expect_agreement(c, fill);
    }
  }
}

TEST_P(CpuFlash, leaves_out_entries_of_a_list_that_do_not_count) {
  conformance::expect_missing_entries_change_nothing(make, *device_);
  conformance::expect_empty_lists_to_give_zeros(make, *device_);
}

TEST_P(CpuFlash, leaves_real_rows_as_they_are_beside_padding) {
  conformance::expect_padding_changes_nothing(make, *device_);
}

TEST_P(CpuFlash, reads_pages_beyond_2_32_bytes) { conformance::expect_far_pages(make, *device_); }

TEST_P(CpuFlash, repeats_its_bits) { conformance::expect_repeatable(make, *device_); }

TEST_P(CpuFlash, gives_the_same_bits_on_other_pages) {
  conformance::expect_page_permutation_invariance(make, *device_);
}

TEST_P(CpuFlash, runs_an_idle_batch) { conformance::expect_idle(make, *device_); }

TEST_P(CpuFlash, gives_a_request_the_same_bits_alone_and_in_a_batch) {
  for (const Case& c : all_small_cases()) conformance::expect_batch_invariance(make, c, *device_);
  conformance::expect_batch_invariance(make, long_lists(small_fp8()).front(), *device_);
  conformance::expect_batch_invariance(make, long_case(small_fp8()), *device_);
}

/// On one thread an item of few rows holds all KV heads.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

TEST_F(CpuFlashOnEachTarget, agrees_with_the_reference_where_contexts_are_split) {
  const OneThread one;
  for (const Case& small : all_small_cases()) {
    for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) expect_agreement(long_case(small), fill);
  }
  for (const Case& small : small_fp8_activations()) {
    expect_agreement(long_case(small), Fill::kNormal);
  }
}

TEST_P(CpuFlash, gives_the_same_bits_on_one_thread_and_on_three) {
  const OneThread restored;
  for (const Case& c : {long_case(small_fp8()), long_case(small_plain_decode()),
                        small_chunked_mixed(), long_lists(small_plain_decode()).front()}) {
    Fixture fixture(c, *device_);
    fixture.fill(Fill::kNormal);
    CpuFlashBackend backend;
    omp_set_num_threads(1);
    const conformance::Outputs one = conformance::forward(backend, fixture, *device_);
    omp_set_num_threads(3);
    EXPECT_TRUE(one == conformance::forward(backend, fixture, *device_)) << c.id;
  }
}

TEST_F(CpuFlashOnEachTarget, takes_head_sizes_that_fill_no_whole_vector) {
  for (Case c : {small_prefix_hits(), small_plain_decode(), small_draft_extend()}) {
    c.layer.head_dim_qk = 21;
    c.layer.head_dim_v = 13;
    expect_agreement(c, Fill::kNormal);
  }
}

TEST_F(CpuFlashOnEachTarget, takes_any_number_of_rows_that_share_a_key) {
  for (const DType dtype : {DType::kBF16, DType::kF32}) {
    for (const int rows : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33}) {
      Case c = small_plain_decode();
      c.id = std::to_string(rows) + " rows";
      c.layer.heads_kv = 1;
      c.layer.heads_q = rows;
      c.layer.head_dim_qk = c.layer.head_dim_v = 64;
      c.dtype = c.kv_cache.dtype = dtype;
      for (const Fill fill : {Fill::kTag, Fill::kNormal}) expect_agreement(c, fill);
    }
  }
}

TEST_F(CpuFlashOnEachTarget, sees_spans_of_prompts_to_their_ends) {
  for (Case c : small_spans()) {
    for (const Fill fill : {Fill::kNeedle, Fill::kTag, Fill::kNormal}) expect_agreement(c, fill);
    c.id += "/long";
    for (Request& request : c.requests) request.kv_len += 1100;
    for (Request& request : c.requests) {
      for (KeyRun& span : request.spans) span = {span.begin + 500, span.end + 1100};
    }
    for (Request& request : c.requests) request.spans.resize(std::min(request.spans.size(), 1ul));
    expect_agreement(c, Fill::kNormal);
  }
}

TEST_F(CpuFlashOnEachTarget, knows_each_meaning_of_a_window_and_alibi_s_slopes) {
  for (const std::vector<Case>& cases : {small_windows(), small_temperatures(), small_slopes()}) {
    for (const Case& c : cases) expect_agreement(c, Fill::kNormal);
  }
}

}  // namespace
}  // namespace attnbench::cpu_flash
