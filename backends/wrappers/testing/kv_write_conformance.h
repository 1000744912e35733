// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/testing/conformance.h"
#include "backends/wrappers/kv_write.h"
#include "lib/batch/kv_row_codec.h"
#include "lib/batch/token_to_kv_pool.h"
#include "lib/fixture/written_slots.h"
#include "lib/verify/step_support.h"

// What a backend that writes this step's keys and values has to show, on any device.
namespace attnbench::kv_write_conformance {

/// Formats that the write alone has to take of a layer with K and V, and of MLA.
inline const std::set<std::string> kSoftmaxFormats{"bf16 NHD",
                                                   "bf16 HND",
                                                   "bf16 combined",
                                                   "bf16 x_packed",
                                                   "bf16 joint",
                                                   "bf16 joint_hnd",
                                                   "e4m3 NHD",
                                                   "e4m3 x_packed",
                                                   "e5m2 NHD",
                                                   "e4m3 NHD with a scale per head",
                                                   "e4m3 HND with a scale per head",
                                                   "e4m3 combined with a scale per head",
                                                   "e4m3 x_packed with a scale per head",
                                                   "e4m3 NHD with a scale per token",
                                                   "e4m3 HND with a scale per token",
                                                   "e4m3 combined with a scale per token",
                                                   "e4m3 x_packed with a scale per token",
                                                   "e4m3 joint with a scale per head",
                                                   "e4m3 joint_hnd with a scale per token",
                                                   "e5m2 NHD with a scale per token",
                                                   "e5m2 x_packed with a scale per token"};
inline const std::set<std::string> kLatentFormats{"bf16 NHD",
                                                  "e4m3 NHD",
                                                  "e4m3 NHD with a scale per head",
                                                  "e4m3 NHD with a scale per token",
                                                  "e5m2 NHD with a scale per token",
                                                  "fp8_ds_mla"};

/// Those of e5m2 with a scale per token also in e4m3, which engines have.
[[nodiscard]] inline std::vector<Case> also_in_e4m3(std::vector<Case> cases) {
  for (std::size_t i = 0, count = cases.size(); i < count; ++i) {
    if (cases[i].kv_cache.scales != KvScales::kToken) continue;
    Case c = cases[i];
    c.kv_cache.dtype = DType::kE4M3;
    c.id += "/e4m3";
    cases.push_back(std::move(c));
  }
  return cases;
}

/// Before attention: what it reads is compared slot by slot, and the tests of attention alone have
/// it under all others.
inline constexpr Fill kFillsBeforeAttention[] = {Fill::kNeedle, Fill::kExtreme, Fill::kNormal};

/// Why the verification of a part of a step fails; empty when it passes or is not supported.
[[nodiscard]] inline std::string first_fault(const Registry::Factory& make, const Case& whole,
                                             StepPart step, Device& device) {
  const Case c = with_step(whole, step);
  const auto backend = make();
  if (!supports_step(backend->info(), c) || !conformance::supports(*backend, c, device)) {
    return {};
  }
  Fixture fixture(c, device);
  const std::span<const Fill> fills =
      attends(step) ? std::span<const Fill>(kFillsBeforeAttention) : kFills;
  const Verification found = conformance::verify_all_rows(*backend, c, fills, device, fixture);
  EXPECT_GE(found.slots_checked, std::ssize(fills) * std::ssize(tokens_with_keys(c))) << c.id;
  return is_failure(found.verdict) ? c.id + ": " + found.reason : std::string();
}

/// Every small case of which it takes this part of a step, in all of `formats` at least.
inline void expect_part(const Registry::Factory& make, StepPart step, Device& device,
                        const std::set<std::string>& formats) {
  std::set<std::string> taken;
  for (const Case& whole : also_in_e4m3(conformance::cases())) {
    const Case c = with_step(whole, step);
    const auto backend = make();
    if (supports_step(backend->info(), c) && conformance::supports(*backend, c, device)) {
      taken.insert(to_string(cache_format_of(c)));
    }
    EXPECT_EQ(first_fault(make, whole, step, device), "") << to_string(step);
  }
  EXPECT_FALSE(taken.empty()) << to_string(step);
  for (const std::string& format : formats) {
    EXPECT_EQ(taken.count(format), 1u) << to_string(step) << " " << format;
  }
}

/// Alone, in all of `formats`, and before attention.
inline void expect_all(const Registry::Factory& make, Device& device,
                       const std::set<std::string>& formats) {
  expect_part(make, StepPart::kKvWrite, device, formats);
  expect_part(make, StepPart::kBoth, device, {});
}

/// A copy of a fixture's cache that the host can reach.
struct HostCache {
  HostCache(const Fixture& fixture, Device& device) {
    const KvPool& from = fixture.kv_pool();
    const Case& c = fixture.fixture_case();
    const KvPoolShape shape = pool_shape_of(c.layer, cache_format_of(c), from.num_pages,
                                            std::ssize(c.requests) + c.padding.requests);
    const std::byte* const rows[] = {from.k, from.v};
    const float* const scales[] = {from.k_scales, from.v_scales};
    std::vector<std::byte*> addresses;
    std::size_t row = 0, scale = 0;
    for (const CacheBuffer& each : cache_buffers(shape)) {
      std::vector<std::byte>& copy = buffers.emplace_back(static_cast<std::size_t>(each.bytes()));
      const void* const at = each.holds_scales ? static_cast<const void*>(scales[scale++])
                                               : static_cast<const void*>(rows[row++]);
      device.copy_to_host(copy.data(), static_cast<const std::byte*>(at), copy.size());
    }
    for (auto& each : buffers) addresses.push_back(each.data());
    pool = kv_pool_view(addresses, shape);
    pool.k_scale = from.k_scale;
    pool.v_scale = from.v_scale;
  }

  std::vector<std::vector<std::byte>> buffers;
  KvPool pool;
};

/// New keys or values off the grid of any cache, in the type of the activations: zeros, numbers
/// below the least scale, small ones and large ones, row by row.
[[nodiscard]] inline std::vector<float> numbers_of_row(const Case& c, bool is_value,
                                                       std::int64_t token, int head) {
  constexpr float kSizes[] = {0, 1e-7f, 1, 100};
  const float size = kSizes[(token + head) % 4];
  const std::uint64_t key = row_key(11, is_value ? Role::kV : Role::kK, 3, token, head);
  std::vector<float> row(
      static_cast<std::size_t>(is_value ? c.layer.head_dim_v : c.layer.head_dim_qk));
  for (std::size_t d = 0; d < row.size(); ++d) {
    row[d] = rounded(c.dtype, size * normal_element(key, static_cast<std::uint32_t>(d)));
  }
  return row;
}

/// The scales that an engine's write computes of a row; none where they are given.
[[nodiscard]] inline std::vector<float> computed_scales(const KvPool& pool,
                                                        std::span<const float> row) {
  const auto scale_of = [&](std::span<const float> part, float least) {
    float amax = 0;
    for (const float number : part) amax = std::max(amax, std::fabs(number));
    return std::max(amax / (pool.dtype == DType::kE4M3 ? 448.0f : 57344.0f), least);
  };
  std::vector<float> scales;
  if (pool.scales == KvScales::kToken) scales.push_back(scale_of(row, 1e-6f));
  if (pool.scales == KvScales::kBlock) {
    for (std::size_t begin = 0; begin < 512; begin += 128) {
      scales.push_back(scale_of(row.subspan(begin, 128), FLT_MIN));
    }
  }
  if (pool.scales == KvScales::kGroup) {
    for (std::size_t begin = 0; begin < row.size() - 64; begin += 64) {
      const float least = scale_of(row.subspan(begin, 64), 1e-4f / 448.0f);
      scales.push_back(std::exp2(std::ceil(std::log2(least))));
    }
  }
  return scales;
}

/// A write of such numbers leaves in the whole cache, bit by bit, what the fixture's codec makes of
/// them.
inline void expect_bits_of_the_codec(const PlanKvWrite& plan_write, Case c, Device& device) {
  c.step = StepPart::kKvWrite;
  SCOPED_TRACE(c.id);
  Fixture fixture(c, device);
  fixture.fill(Fill::kNormal);
  HostCache want(fixture, device);
  const ForwardBatch& batch = fixture.batch();
  for (const bool is_value : {false, true}) {
    if (is_value && c.layer.shares_row_of_k_and_v()) continue;
    const ConstTensorView& to = is_value ? batch.tensors.v_new : batch.tensors.k_new;
    for (std::int64_t token = 0; token < c.q_tokens(); ++token) {
      const std::int64_t slot = batch.out_cache_loc[static_cast<std::size_t>(token)];
      for (int head = 0; head < c.layer.heads_kv; ++head) {
        const std::vector<float> row = numbers_of_row(c, is_value, token, head);
        std::vector<float> rounded_row = row;
        for (float& number : rounded_row) {
          if (c.kv_cache.scales == KvScales::kGroup) number = rounded(DType::kBF16, number);
        }
        encode_kv_row(want.pool, is_value ? KvPart::kValue : KvPart::kKey, slot, head, rounded_row,
                      computed_scales(want.pool, rounded_row));
        std::vector<std::byte> bytes(row.size() * static_cast<std::size_t>(size_bytes(c.dtype)));
        for (std::size_t d = 0; d < row.size(); ++d) {
          store(c.dtype, bytes.data() + static_cast<std::int64_t>(d) * size_bytes(c.dtype), row[d]);
        }
        device.copy_from_host(const_cast<std::byte*>(to.row(token, head)), bytes.data(),
                              bytes.size());
      }
    }
  }
  PlanMemory memory(device);
  const auto stream = device.make_stream();
  const std::unique_ptr<Plan> plan = plan_write(batch, memory);
  plan->run(*stream);
  stream->synchronize();
  const HostCache got(fixture, device);
  for (std::size_t i = 0; i < got.buffers.size(); ++i) {
    const auto differ = std::ranges::mismatch(got.buffers[i], want.buffers[i]);
    EXPECT_EQ(differ.in1, got.buffers[i].end())
        << "buffer " << i << ", byte " << differ.in1 - got.buffers[i].begin();
  }
}

/// The same in every format.
inline void expect_bits_of_the_codec(const PlanKvWrite& plan_write, Device& device) {
  for (const Case& c : {small_prefix_hits(), small_fp8(), small_mla(), small_draft_extend()}) {
    expect_bits_of_the_codec(plan_write, c, device);
    for (const Case& other : also_in_e4m3(in_other_formats(c))) {
      expect_bits_of_the_codec(plan_write, other, device);
    }
  }
  for (const Case& c : small_page_gaps()) {
    if (!c.layer.is_cross_attention) expect_bits_of_the_codec(plan_write, c, device);
  }
}

}  // namespace attnbench::kv_write_conformance
