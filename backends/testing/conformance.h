// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "lib/fixture/fixture.h"
#include "lib/fixture/testing/small_cases.h"
#include "lib/scenario/problem_of.h"
#include "lib/verify/verify.h"

// What every backend has to show, whatever it does inside. One line in a backend's test runs all:
//   TEST(MyBackend, conforms) { conformance::expect_all([] { return std::make_unique<Mine>(); }); }
// and on a GPU, in a *_gpu_test.cpp, with the device as the second argument.
namespace attnbench::conformance {

inline constexpr Fill kFills[] = {Fill::kNeedle,  Fill::kTag,    Fill::kSparseInt,
                                  Fill::kExtreme, Fill::kNormal, Fill::kTiming};

/// The small cases, those with a cache each also with every other KV dtype, and in other formats;
/// and each meaning of a window.
[[nodiscard]] inline std::vector<Case> cases() {
  std::vector<Case> all = small_windows();
  for (Case& c : small_single_features()) all.push_back(std::move(c));
  for (const Case& c : small_delta_nets()) all.push_back(c);
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

/// What lib/verify finds, with every row of the case compared under each of `fills`.
[[nodiscard]] inline Verification verify_all_rows(Backend& backend, const Case& c,
                                                  std::span<const Fill> fills, Device& device,
                                                  Fixture& fixture) {
  VerifyConfig config{.rows = c.q_tokens() * c.layer.heads_out(), .fills = {}};
  for (const Fill fill : fills) config.fills.emplace_back(to_string(fill));
  return verify_backend(c, backend, fixture, device, compute_truth(c, config));
}

/// Every row within the bounds that follow from where the backend says it rounds.
inline void expect_agreement(Backend& backend, const Case& c, Fill fill, Device& device,
                             Fixture& fixture) {
  const Verification found = verify_all_rows(backend, c, {&fill, 1}, device, fixture);
  EXPECT_FALSE(is_failure(found.verdict)) << c.id << ": " << found.reason;
}

/// Which case the backend gets wrong first, and how; empty when there is none.
[[nodiscard]] inline std::string first_fault(const Registry::Factory& make, Device& device) {
  for (const Case& c : cases()) {
    const auto backend = make();
    if (!supports(*backend, c, device)) continue;
    Fixture fixture(c, device);
    const Verification found = verify_all_rows(*backend, c, kFills, device, fixture);
    if (is_failure(found.verdict)) return c.id + ": " + found.reason;
  }
  return {};
}

inline void expect_agreement(const Registry::Factory& make, Device& device) {
  const std::vector<Case> all = cases();
  const auto backend = make();
  const auto taken =
      std::ranges::count_if(all, [&](const Case& c) { return supports(*backend, c, device); });
  EXPECT_GT(taken, 0) << "supports() refuses every small case, the first with: "
                      << backend->supports(problem_of(all.front())).reason();
  EXPECT_EQ(first_fault(make, device), "");
  std::cout << backend->info().name << " takes " << taken << " of " << all.size()
            << " small cases\n";
}

/// Equal bits on every small case.
inline void expect_equal_bits(const Registry::Factory& make, Device& device,
                              int BitwiseProperties::*property) {
  const auto backend = make();
  std::vector<Case> cases = all_small_cases();
  for (const Case& c : small_delta_nets()) cases.push_back(c);
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
