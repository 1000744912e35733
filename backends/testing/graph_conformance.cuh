// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/testing/graph_engine.h"
#include "lib/backend/backend_info.h"
#include "lib/base/error.h"
#include "lib/device/cuda/guarded_memory.cuh"
#include "lib/scenario/problem_of.h"

// What a backend whose info().cuda_graph is not kNever has to show on a GPU:
//   conformance::expect_graph_replay(make, device);
namespace attnbench::conformance {

/// The rows of real requests have the bits of `want`, those of padding still the poison.
inline void expect_rows(const Outputs& got, const Outputs& want, std::uint8_t poison = 0xff) {
  const auto expect = [&](const std::vector<std::byte>& all, const std::vector<std::byte>& real,
                          const char* what) {
    ASSERT_GE(all.size(), real.size());
    const auto end = all.begin() + std::ssize(real);
    const auto differs = std::mismatch(real.begin(), real.end(), all.begin()).first;
    EXPECT_TRUE(differs == real.end())
        << what << " differs from byte " << differs - real.begin() << " of " << real.size();
    const auto written = std::find_if(
        end, all.end(), [&](std::byte b) { return b != static_cast<std::byte>(poison); });
    EXPECT_TRUE(written == all.end()) << what << " of padding was written";
  };
  expect(got.out, want.out, "O");
  expect(got.lse, want.lse, "LSE");
}

/// The steps of one geometry and mode.
inline void expect_graph_replay(const Registry::Factory& make, Device& device,
                                const AttentionLayer& layer, ForwardMode mode) {
  const auto backend = make();
  const std::int32_t fill = backend->info().padding_seq_len;
  const auto step = [&](const std::vector<std::int64_t>& lens, std::int64_t batch_size,
                        std::uint64_t salt = 0, std::optional<std::int32_t> other_fill = {}) {
    return std::make_unique<GraphStep>(graph_case(layer, mode, lens), batch_size,
                                       other_fill.value_or(fill), device, salt);
  };
  const auto eager = [&](GraphStep& of) { return forward(*make(), of.fixture(), device); };
  const std::vector<std::int64_t> first_lens{1, 15, 16, 17, 300, 64, 65, 2};
  const auto first = step(first_lens, 8);
  const auto longer = step({900, 1, 2600, 33, 257, 1025, 16, 3000}, 8);
  const auto shorter = step({1, 2, 3, 1, 16, 5, 1, 9}, 8);
  const auto elsewhere = step(first_lens, 8, 99);
  const auto five = step({700, 1, 3500, 40, 16}, 8);
  const auto five_of_length_1 = step({700, 1, 3500, 40, 16}, 8, 0, 1 - fill);
  const auto three = step({1900, 7, 530}, 4);

  GraphEngine engine(*backend, device, *first, 8);
  const auto graph = engine.capture(*first);
  const auto small_graph = engine.capture(*three);
  {
    SCOPED_TRACE("a batch of the captured size");
    expect_rows(engine.replay(*graph, *first), eager(*first));
    expect_rows(engine.replay(*graph, *longer), eager(*longer));
    expect_rows(engine.replay(*graph, *elsewhere), eager(*elsewhere));
  }
  {
    SCOPED_TRACE("nothing is left of a longer step");
    static_cast<void>(engine.replay(*graph, *longer));
    const Outputs after = engine.replay(*graph, *shorter, 0x7f);
    expect_rows(after, eager(*shorter), 0x7f);
    const auto fresh_backend = make();
    GraphEngine fresh(*fresh_backend, device, *first, 8);
    EXPECT_TRUE(after == fresh.replay(*fresh.capture(*first), *shorter, 0x7f));
  }
  {
    SCOPED_TRACE("padding");
    expect_rows(engine.replay(*graph, *five), eager(*five));
    expect_rows(engine.replay(*graph, *five_of_length_1, 0x7f), eager(*five), 0x7f);
    if (mode == ForwardMode::kDecode) {
      expect_rows(engine.replay(*graph, *step({}, 8)), Outputs{});
    }
  }
  {
    SCOPED_TRACE("graphs of two sizes and eager steps take turns");
    expect_rows(engine.replay(*small_graph, *three), eager(*three));
    PlanMemory other(device);
    const auto eager_plan = backend->plan(longer->fixture().batch(), other);
    expect_rows(engine.replay(*graph, *five), eager(*five));
    expect_rows(engine.replay(*small_graph, *three), eager(*three));
  }
  {
    SCOPED_TRACE("only decode and target_verify are recorded");
    PlanMemory other(device);
    ForwardBatch batch = first->fixture().batch();
    Problem extend = *batch.problem;
    extend.mode = ForwardMode::kExtend;
    extend.recorded = true;
    batch.problem = &extend;
    EXPECT_THROW(static_cast<void>(backend->plan(batch, other)), InternalError);
  }
  {
    SCOPED_TRACE("a replay takes no memory");
    const std::size_t before = free_gpu_memory();
    for (const auto* each : {&longer, &shorter, &five}) {
      static_cast<void>(engine.replay(*graph, **each));
    }
    EXPECT_EQ(free_gpu_memory(), before);
  }
}

inline void expect_graph_replay(const Registry::Factory& make, Device& device) {
  const auto backend = make();
  ASSERT_NE(backend->info().cuda_graph, CudaGraphSupport::kNever);
  int taken = 0;
  for (const AttentionLayer& layer : graph_layers()) {
    for (const ForwardMode mode : {ForwardMode::kDecode, ForwardMode::kTargetVerify}) {
      const Problem problem = problem_of(graph_case(layer, mode, {1}));
      if (!supports_cuda_graph(backend->info(), problem) || !backend->supports(problem)) continue;
      SCOPED_TRACE(std::string(to_string(mode)) + ", " + std::to_string(layer.heads_q) +
                   " heads of " + std::to_string(layer.head_dim_qk));
      ++taken;
      expect_graph_replay(make, device, layer, mode);
    }
  }
  EXPECT_GT(taken, 0);
}

}  // namespace attnbench::conformance
