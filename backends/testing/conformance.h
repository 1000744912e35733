// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/base/dtype.h"
#include "lib/base/told_apart.h"
#include "lib/fixture/fixture.h"
#include "lib/fixture/testing/small_cases.h"
#include "lib/scenario/problem_of.h"
#include "lib/verify/error_model.h"
#include "reference/oracle.h"

// What every backend has to show, whatever it does inside. One line in a backend's test runs all:
//   TEST(MyBackend, conforms) { conformance::expect_all([] { return std::make_unique<Mine>(); }); }
// and on a GPU, in a *_gpu_test.cpp, with the device as the second argument.
namespace attnbench::conformance {

inline constexpr Fill kFills[] = {Fill::kNeedle,  Fill::kTag,    Fill::kSparseInt,
                                  Fill::kExtreme, Fill::kNormal, Fill::kTiming};

/// The small cases, each also with every other KV dtype, and with the other order within pages.
[[nodiscard]] inline std::vector<Case> cases() {
  std::vector<Case> all;
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
    Case c = small;
    c.kv_cache.layout = c.kv_cache.layout == KvLayout::kNhd ? KvLayout::kHnd : KvLayout::kNhd;
    c.id += "/" + std::string(to_string(c.kv_cache.layout));
    all.push_back(std::move(c));
  }
  return all;
}

[[nodiscard]] inline std::vector<RowId> all_rows(const Case& c) {
  std::vector<RowId> rows;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    for (std::int64_t token = 0; token < c.requests[r].q_len; ++token) {
      for (int head = 0; head < c.layer.heads_q; ++head) {
        rows.push_back({static_cast<std::int64_t>(r), token, head});
      }
    }
  }
  return rows;
}

/// Output bytes of a forward, O then LSE, row by row.
struct Outputs {
  std::vector<std::byte> out, lse;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

/// Whether `backend` takes the case on this device.
[[nodiscard]] inline bool supports(const Backend& backend, const Case& c, const Device& device) {
  return backend.info().device == device.info().kind &&
         static_cast<bool>(backend.supports(problem_of(c)));
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

[[nodiscard]] inline std::string got_not_want(double got, double want) {
  const auto [first, second] = told_apart(got, want);
  return first + ", not " + second;
}

/// Every row within the bounds that follow from where the backend says it rounds.
inline void expect_agreement(Backend& backend, const Case& c, Fill fill, Device& device,
                             Fixture& fixture) {
  SCOPED_TRACE(c.id + " " + std::string(to_string(fill)));
  fixture.fill(fill);
  static_cast<void>(forward(backend, fixture, device));
  const AttentionTensors io = fixture.host_outputs();
  const std::vector<RowId> rows = all_rows(c);
  const Contents contents(c, fill);
  std::vector<std::int64_t> first{0};
  for (const Request& request : c.requests) first.push_back(first.back() + request.q_len);
  const ErrorModel model(c, backend.numerics(problem_of(c)));
  int faults = 0;
  for (const ReferenceRow& want : reference::evaluate_rows(c, contents, rows)) {
    const std::int64_t t = first[static_cast<std::size_t>(want.id.request)] + want.id.token;
    const std::string where = "request " + std::to_string(want.id.request) + " token " +
                              std::to_string(want.id.token) + " head " +
                              std::to_string(want.id.head);
    float lse = 0;
    std::memcpy(&lse, io.lse.row(t, want.id.head), sizeof lse);
    const ErrorModel::Row bounds = model.row(want);
    const bool same = static_cast<double>(lse) == want.lse;  // -inf
    EXPECT_TRUE(same || std::abs(static_cast<double>(lse) - want.lse) <= bounds.lse_bound)
        << where << ": LSE " << got_not_want(lse, want.lse);
    const std::byte* out = io.out.row(t, want.id.head);
    for (std::size_t d = 0; d < want.out.size(); ++d) {
      const double got =
          load(io.out.dtype, out + static_cast<std::int64_t>(d) * size_bytes(io.out.dtype));
      const double error = std::abs(got - want.out[d]);
      if (error <= model.bound(bounds, want.out[d], want.a[d])) continue;  // NaN is not
      ADD_FAILURE() << where << " dim " << d << ": " << got_not_want(got, want.out[d]);
      if (++faults == 3) return;
    }
  }
}

inline void expect_agreement(const Registry::Factory& make, Device& device) {
  for (const Case& c : cases()) {
    const auto backend = make();
    if (!supports(*backend, c, device)) continue;
    Fixture fixture(c, device);
    for (const Fill fill : kFills) expect_agreement(*backend, c, fill, device, fixture);
    if (testing::Test::HasFailure()) return;
  }
}

/// Two runs into outputs poisoned differently give the same bits.
inline void expect_repeatable(const Registry::Factory& make, Device& device) {
  const auto backend = make();
  for (const Case& c : all_small_cases()) {
    SCOPED_TRACE(c.id);
    if (!supports(*backend, c, device)) continue;
    Fixture fixture(c, device);
    fixture.fill(Fill::kNormal);
    const Outputs first = forward(*backend, fixture, device, 0xff);
    EXPECT_TRUE(first == forward(*backend, fixture, device, 0x7f));
  }
}

/// The same batch on other pages gives the same bits.
inline void expect_page_permutation_invariance(const Registry::Factory& make, Device& device) {
  const auto backend = make();
  for (const Case& c : all_small_cases()) {
    SCOPED_TRACE(c.id);
    if (!supports(*backend, c, device)) continue;
    Fixture here(c, device), there(c, device, 99);
    here.fill(Fill::kNormal);
    there.fill(Fill::kNormal);
    EXPECT_TRUE(forward(*backend, here, device) == forward(*backend, there, device));
  }
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
