// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/format_choice.h"
#include "lib/backend/registry.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/fixture/fixture.h"
#include "lib/fixture/memory_need.h"
#include "lib/index/host_indices.h"
#include "lib/scenario/problem_of.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/verify/verify.h"

// What every backend has to show, whatever it does inside. One line in a backend's test runs all:
//   TEST(MyBackend, conforms) { conformance::expect_all([] { return std::make_unique<Mine>(); }); }
// and on a GPU, in a *_gpu_test.cpp, with the device as the second argument.
namespace attnbench::conformance {

/// The small cases, those with a cache each also with every other KV dtype, and in other formats;
/// each meaning of a window, blocks and temperatures; ragged keys; gaps between pages; and shapes
/// at which kernels fall over.
[[nodiscard]] inline std::vector<Case> cases() {
  std::vector<Case> all = small_windows();
  all.push_back(small_latent_items());
  all.push_back(small_items());
  all.push_back(small_items());
  all.back().id += "_alibi";
  all.back().layer.has_alibi = true;
  for (Case& c : small_spans()) all.push_back(std::move(c));
  for (Case& c : small_selections()) all.push_back(std::move(c));
  for (Case& c : small_compressed()) all.push_back(std::move(c));
  for (Case& c : small_blocks()) all.push_back(std::move(c));
  for (Case& c : small_temperatures()) all.push_back(std::move(c));
  for (Case& c : small_fp8_activations()) all.push_back(std::move(c));
  for (Case& c : small_dual_chunks()) all.push_back(std::move(c));
  for (Case& c : in_other_formats(small_swa_pools()[1])) all.push_back(std::move(c));
  for (Case& c : small_swa_pools()) all.push_back(std::move(c));
  for (Case& c : small_single_features()) all.push_back(std::move(c));
  for (Case& c : small_edge_shapes()) all.push_back(std::move(c));
  for (Case& c : small_ragged_cases()) all.push_back(std::move(c));
  for (Case& c : small_group_rows()) all.push_back(std::move(c));
  for (Case& c : small_page_gaps()) all.push_back(std::move(c));
  for (Case& c : small_manager_pages()) all.push_back(std::move(c));
  for (Case& c : small_recurrent_steps()) all.push_back(std::move(c));
  for (const Case& small : all_small_cases()) {
    all.push_back(small);
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2}) {
      Case c = small;
      if (c.kv_cache.dtype == dtype) continue;
      c.kv_cache.dtype = dtype;
      c.id += "/" + std::string(to_string(dtype));
      if (size_bytes(dtype) == 1) c.kv_cache.k_scale = 0.37f, c.kv_cache.v_scale = 0.11f;
      all.push_back(std::move(c));
    }
    std::ranges::move(in_other_formats(small), std::back_inserter(all));
  }
  return all;
}

/// Output bytes of a forward, O then LSE, row by row.
struct Outputs {
  std::vector<std::byte> out, lse;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

/// Whether `backend` takes the case on this device.
[[nodiscard]] inline bool supports(const Backend& backend, const Case& c, const Device& device) {
  return backend.info().device == device.info().kind &&
         choose_format(backend, problem_of(c), problem_of(c).cache.layout);
}

/// What lies in the outputs of the case's requests.
[[nodiscard]] inline Outputs outputs_of(const Fixture& fixture) {
  Outputs outputs;
  const auto append = [](std::vector<std::byte>& to, const TensorView& from) {
    for (std::int64_t t = 0; t < from.shape[0]; ++t) {
      for (std::int64_t h = 0; h < from.shape[1]; ++h) {
        const std::byte* row = from.row(t, h);
        to.insert(to.end(), row, row + from.shape[2] * size_bytes(from.dtype));
      }
    }
  };
  const AttentionTensors on_host = fixture.host_outputs();
  append(outputs.out, on_host.out);
  append(outputs.lse, on_host.lse);
  return outputs;
}

/// Plans and runs `backend` on `fixture` into freshly poisoned outputs.
[[nodiscard]] inline Outputs forward(Backend& backend, Fixture& fixture, Device& device,
                                     std::uint8_t poison = 0xff) {
  PlanMemory memory(device);
  const auto stream = device.make_stream();
  fixture.poison_outputs(poison);
  const std::unique_ptr<Plan> plan = backend.plan(fixture.batch(), memory);
  plan->run(*stream);
  stream->synchronize();
  EXPECT_TRUE(memory.guards_intact());
  EXPECT_TRUE(fixture.damaged_guards().empty());
  EXPECT_TRUE(fixture.changed_inputs().empty());
  return outputs_of(fixture);
}

/// Every row of the case under each of `fills`.
[[nodiscard]] inline VerifyConfig all_rows(const Case& c, std::span<const Fill> fills) {
  return {.rows = c.q_tokens() * c.layer.heads_out(), .fills = {fills.begin(), fills.end()}};
}

/// The truth of them.
[[nodiscard]] inline std::vector<FillTruth> truth_of_all_rows(const Case& c,
                                                              std::span<const Fill> fills) {
  return compute_truth(c, all_rows(c, fills));
}

/// What lib/verify finds there.
[[nodiscard]] inline Verification verify_all_rows(Backend& backend, const Case& c,
                                                  std::span<const Fill> fills, Device& device,
                                                  Fixture& fixture) {
  return verify_backend(c, backend, fixture, device, truth_of_all_rows(c, fills));
}

/// Every row of every backend within the bounds that follow from where it says it rounds. The
/// reference, which is what a test of a GPU waits for, is made once, and of all fills at a time.
inline void expect_agreement(std::initializer_list<Backend*> backends, const Case& c,
                             std::initializer_list<Fill> fills, Device& device, Fixture& fixture) {
  const std::vector<FillTruth> truth = truth_of_all_rows(c, fills);
  for (Backend* const backend : backends) {
    const Verification found = verify_backend(c, *backend, fixture, device, truth);
    EXPECT_FALSE(is_failure(found.verdict))
        << backend->info().name << " on " << c.id << ": " << found.reason;
  }
}
inline void expect_agreement(Backend& backend, const Case& c, std::initializer_list<Fill> fills,
                             Device& device, Fixture& fixture) {
  expect_agreement({&backend}, c, fills, device, fixture);
}
inline void expect_agreement(Backend& backend, const Case& c, Fill fill, Device& device,
                             Fixture& fixture) {
  expect_agreement({&backend}, c, {fill}, device, fixture);
}

/// What the backend gets wrong of a case whose truth under each of its fills is known; empty when
/// that is nothing, or it does not take the case.
[[nodiscard]] inline std::string fault_in(const Registry::Factory& make, const Case& c,
                                          Device& device, std::span<const FillTruth> truth) {
  const auto backend = make();
  if (!supports(*backend, c, device)) return {};
  Fixture fixture(c, device);
  const Verification found = verify_backend(c, *backend, fixture, device, truth);
  if (!is_failure(found.verdict)) return {};
  return fmt::format("{} on {}: {}", c.id, device.info().arch, found.reason);
}

/// On devices of one kind: they share the truth of each case.
inline void expect_agreement(const Registry::Factory& make, std::span<Device* const> devices) {
  const std::vector<Case> all = cases();
  const auto backend = make();
  const auto taken = [&](const Case& c) { return supports(*backend, c, *devices.front()); };
  EXPECT_TRUE(std::ranges::any_of(all, taken))
      << "supports() refuses every small case, the first with: "
      << backend->supports(problem_of(all.front())).reason();
  for (const Case& c : all) {
    if (!taken(c)) continue;
    const std::vector<FillTruth> truth = truth_of_all_rows(c, kFills);
    for (Device* const device : devices) ASSERT_EQ(fault_in(make, c, *device, truth), "");
  }
  std::cout << backend->info().name << " takes " << std::ranges::count_if(all, taken) << " of "
            << all.size() << " small cases\n";
}
inline void expect_agreement(const Registry::Factory& make, Device& device) {
  expect_agreement(make, std::array{&device});
}

/// Equal bits on every small case.
inline void expect_equal_bits(const Registry::Factory& make, Device& device,
                              int BitwiseProperties::*property) {
  const auto backend = make();
  std::vector<Case> cases = all_small_cases();
  for (Case& c : small_recurrent_steps()) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    if (!supports(*backend, c, device)) continue;
    Fixture fixture(c, device);
    constexpr Fill kFill = Fill::kNormal;
    const Verification found = verify_all_rows(*backend, c, {&kFill, 1}, device, fixture);
    EXPECT_EQ(found.bitwise.*property, 1) << c.id;
  }
}

/// Two runs into outputs poisoned differently give the same bits.
inline void expect_repeatable(const Registry::Factory& make, Device& device) {
  expect_equal_bits(make, device, &BitwiseProperties::repeatable);
}

/// The same batch on other pages gives the same bits.
inline void expect_page_permutation_invariance(const Registry::Factory& make, Device& device) {
  expect_equal_bits(make, device, &BitwiseProperties::page_permutation_invariant);
}

/// A request alone gives the bits it gives in its batch.
inline void expect_batch_invariance(const Registry::Factory& make, const Case& c, Device& device) {
  SCOPED_TRACE(c.id);
  const auto backend = make();
  if (!supports(*backend, c, device)) return;
  Fixture together(c, device);
  together.fill(Fill::kNormal);
  const Outputs batch = forward(*backend, together, device);
  std::size_t out_begin = 0, lse_begin = 0;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    Case single = c;
    single.requests = {c.requests[r]};
    if (single.requests[0].stream < 0) {
      single.requests[0].stream = static_cast<std::int64_t>(r);
    }
    Fixture alone(single, device);
    alone.fill(Fill::kNormal);
    const Outputs outputs = forward(*backend, alone, device);
    EXPECT_TRUE(std::equal(outputs.out.begin(), outputs.out.end(),
                           batch.out.begin() + static_cast<std::ptrdiff_t>(out_begin)))
        << "request " << r;
    EXPECT_TRUE(std::equal(outputs.lse.begin(), outputs.lse.end(),
                           batch.lse.begin() + static_cast<std::ptrdiff_t>(lse_begin)))
        << "request " << r;
    out_begin += outputs.out.size();
    lse_begin += outputs.lse.size();
  }
}

/// The outputs of the case's requests have the same bits without what fills the batch up.
inline void expect_padding_changes_nothing(const Registry::Factory& make, const Case& padded,
                                           Device& device) {
  const auto backend = make();
  if (!supports(*backend, padded, device)) return;
  Case plain = padded;
  plain.padding = {};
  Fixture with(padded, device), without(plain, device);
  with.fill(Fill::kNormal);
  without.fill(Fill::kNormal);
  const Outputs a = forward(*backend, with, device), b = forward(*backend, without, device);
  EXPECT_EQ(a, b) << padded.id;
}

/// Of requests, and of rows that belong to none.
inline void expect_padding_changes_nothing(const Registry::Factory& make, Device& device) {
  std::vector<Case> cases = small_edge_shapes();
  for (Case& c : small_recurrent_steps()) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    if (c.padding.exists()) expect_padding_changes_nothing(make, c, device);
  }
}
inline void expect_padding_changes_nothing(const Registry::Factory& make) {
  expect_padding_changes_nothing(make, *make_cpu_device());
}

/// Of rows that belong to no request alone: no plan depends on them.
inline void expect_token_rows_change_nothing(const Registry::Factory& make, Device& device) {
  for (const Case& c : small_token_rows()) {
    if (c.padding.requests == 0) expect_padding_changes_nothing(make, c, device);
  }
}

/// Outputs from pages that lie further apart than 32 bits count bytes are those of the pages side
/// by side. The pages between them are addresses without memory; skips where a process cannot have
/// so many. On a processor.
inline void expect_far_pages(const Registry::Factory& make, Device& device) {
  const Case c = small_prefix_hits();
  Fixture fixture(c, device);
  fixture.fill(Fill::kNormal);
  const auto backend = make();
  const Outputs near = forward(*backend, fixture, device);

  const KvPool& pool = fixture.kv_pool();
  const std::int64_t page = pool.page_size, apart = 1 << 17;
  const std::int64_t page_bytes = pool.page_stride_k * size_bytes(pool.dtype);
  const std::int64_t bytes = pool.num_pages * apart * page_bytes;
  ASSERT_GT((pool.num_pages / 2) * apart * page_bytes, std::int64_t{1} << 32);
  const auto reserved = [&] {
    void* const at = mmap(nullptr, to_size(bytes), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
  };
  std::byte* const k = reserved();
  std::byte* const v = reserved();
  if (k == nullptr || v == nullptr) GTEST_SKIP() << "no address space for " << bytes << " bytes";
  for (std::int64_t i = 0; i < pool.num_pages; ++i) {
    std::memcpy(k + i * apart * page_bytes, pool.k + i * page_bytes, to_size(page_bytes));
    std::memcpy(v + i * apart * page_bytes, pool.v + i * page_bytes, to_size(page_bytes));
  }
  KvPool far = pool;
  far.k = k;
  far.v = v;
  far.num_pages = pool.num_pages * apart;
  ReqToTokenPool table = *fixture.batch().req_to_token_pool;
  for (const std::int32_t row : fixture.batch().req_pool_indices) {
    for (std::int32_t& slot : table.row(row)) {
      if (slot != kInvalidSlot) slot = narrow_i32(slot / page * apart * page + slot % page);
    }
  }
  ForwardBatch batch = fixture.batch();
  batch.token_to_kv_pool = &far;
  batch.req_to_token_pool = &table;
  const HostIndices indices(batch, page);
  batch.device_batch = &indices.batch();
  PlanMemory memory(device);
  fixture.poison_outputs();
  backend->plan(batch, memory)->run(*device.make_stream());
  EXPECT_EQ(outputs_of(fixture), near);
  munmap(k, to_size(bytes));
  munmap(v, to_size(bytes));
}

/// Pages whose elements and bytes 32 bits do not count, on a GPU: 4.5 M tokens of 8 heads of 128,
/// 2^32 elements of K and as many of V, or as many tokens of a latent cache.
inline void expect_big_offsets(const Registry::Factory& make, Device& device) {
  const auto backend = make();
  for (Case c : {small_prefix_hits(), small_tree_verify(), small_mla()}) {
    if (c.layer.family == Family::kSoftmax) {
      c.layer.heads_q = 16;
      c.layer.heads_kv = 8;
      c.layer.head_dim_qk = c.layer.head_dim_v = 128;
    }
    c.kv_cache.placement = Placement::kShuffled;
    c.kv_cache.pool_tokens = std::int64_t{9} << (c.layer.family == Family::kSoftmax ? 19 : 20);
    if (!supports(*backend, c, device)) continue;
    if (memory_need(c).tensors > device.info().memory_bytes / 2) {
      std::cout << c.id << ": no memory for its pool\n";
      continue;
    }
    Fixture fixture(c, device);
    constexpr Fill kFill = Fill::kNormal;
    const Verification found = verify_all_rows(*backend, c, {&kFill, 1}, device, fixture);
    EXPECT_FALSE(is_failure(found.verdict)) << c.id << ": " << found.reason;
  }
}

/// A rank without work plans and runs to nothing.
inline void expect_idle(const Registry::Factory& make, Device& device) {
  const Case c = small_idle();
  Fixture fixture(c, device);
  fixture.fill(Fill::kNormal);
  EXPECT_TRUE(forward(*make(), fixture, device).out.empty());
}

/// All of the above; batch invariance is promised by some only, and asked for apart.
inline void expect_all(const Registry::Factory& make, Device& device) {
  expect_idle(make, device);
  expect_agreement(make, device);
  expect_repeatable(make, device);
  expect_page_permutation_invariance(make, device);
}

// On the host's processor.
inline void expect_agreement(const Registry::Factory& make) {
  expect_agreement(make, *make_cpu_device());
}
inline void expect_repeatable(const Registry::Factory& make) {
  expect_repeatable(make, *make_cpu_device());
}
inline void expect_page_permutation_invariance(const Registry::Factory& make) {
  expect_page_permutation_invariance(make, *make_cpu_device());
}
inline void expect_batch_invariance(const Registry::Factory& make, const Case& c) {
  expect_batch_invariance(make, c, *make_cpu_device());
}
inline void expect_idle(const Registry::Factory& make) { expect_idle(make, *make_cpu_device()); }
inline void expect_all(const Registry::Factory& make) { expect_all(make, *make_cpu_device()); }

}  // namespace attnbench::conformance
