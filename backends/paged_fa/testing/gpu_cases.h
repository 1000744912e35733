// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "backends/paged_fa/paged_fa.h"
#include "backends/testing/conformance.h"
#include "lib/scenario/problem_of.h"

// What the tests of paged_fa on a GPU share.
namespace attnbench::paged_fa {

/// Requests of `q_len` new tokens behind lengths around pages, steps and splits.
[[nodiscard]] inline Case extend(int heads_kv, int group, int dk, int dv, std::int64_t q_len) {
  Case c = small_fp8();
  c.id = "extend/" + std::to_string(group) + "x" + std::to_string(dk) + "q" + std::to_string(q_len);
  c.mode = q_len == 1 ? ForwardMode::kDecode : ForwardMode::kExtend;
  c.kv_cache.dtype = DType::kBF16;
  c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
  c.kv_cache.page_size = 16;
  c.layer.heads_kv = heads_kv;
  c.layer.heads_q = heads_kv * group;
  c.layer.head_dim_qk = dk;
  c.layer.head_dim_v = dv;
  c.layer.scale = 1 / std::sqrt(static_cast<double>(dk));
  c.prefixes.clear();
  c.requests.clear();
  for (const std::int64_t len : {1, 16, 17, 63, 65, 127, 128, 129, 257, 513, 1000, 2049}) {
    Request request;
    request.group = "some";
    request.kv_len = len;
    request.q_len = std::min(len, q_len);
    c.requests.push_back(request);
  }
  return c;
}

/// The same keys without pages, request after request.
[[nodiscard]] inline Case ragged(Case c) {
  c.id += "/ragged";
  c.kv_cache.layout = KvLayout::kRagged;
  c.kv_cache.page_size = 1;
  c.kv_cache.placement = Placement::kContiguous;
  return c;
}

inline void expect_agreement(const Case& c, Device& device, std::initializer_list<Fill> fills) {
  PagedFaBackend backend;
  ASSERT_TRUE(backend.supports(problem_of(c)))
      << c.id << ": " << backend.supports(problem_of(c)).reason();
  Fixture fixture(c, device);
  conformance::expect_agreement(backend, c, fills, device, fixture);
}

}  // namespace attnbench::paged_fa
