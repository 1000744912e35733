// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/gated_delta_net/gated_delta_net.h"

#include <cmath>

#include "backends/testing/conformance.h"
#include "lib/batch/graph_padding.h"
#include "lib/device/testing/gpu_test.h"
#include "lib/fixture/device_indices.h"

namespace attnbench::gated_delta_net {
namespace {

class RecurrentGpu : public GpuTest, public testing::WithParamInterface<Family> {
 protected:
  Registry::Factory make_on_gpu_ = [] { return std::make_unique<GpuBackend>(GetParam()); };
  [[nodiscard]] static std::vector<float> state_of(const Fixture& fixture, std::size_t request) {
    const StatePool pool = fixture.host_states();
    const std::int32_t slot = fixture.batch().state_indices[request];
    return {pool.state(slot, 0), pool.state(slot + 1, 0)};
  }
};

INSTANTIATE_TEST_SUITE_P(Families, RecurrentGpu, testing::ValuesIn(kFamilies));

/// Prompts and decodes, with and without a prefix, of these heads and dims.
Case heads_of(Family family, int heads_q, int heads_kv, int key_dim, int value_dim) {
  Case c = small_delta_nets(family).back();
  c.id = "dims/" + std::to_string(key_dim) + "x" + std::to_string(value_dim);
  c.layer.heads_q = heads_q;
  c.layer.heads_kv = heads_kv;
  c.layer.head_dim_qk = key_dim;
  c.layer.head_dim_v = value_dim;
  c.layer.scale = 1 / std::sqrt(static_cast<double>(key_dim));
  return c;
}

TEST_P(RecurrentGpu, conforms) { conformance::expect_all(make_on_gpu_, *device_); }

TEST_P(RecurrentGpu, gives_a_request_alone_the_bits_that_it_has_in_its_batch) {
  for (const Case& c : small_delta_nets(GetParam())) {
    conformance::expect_batch_invariance(make_on_gpu_, c, *device_);
  }
}

TEST_P(RecurrentGpu, leaves_padding_alone) {
  conformance::expect_padding_changes_nothing(make_on_gpu_, *device_);
}

TEST_P(RecurrentGpu, leaves_the_state_behind_each_draft_token_for_every_kernel) {
  const int dims[][2] = {{5, 3}, {33, 40}, {96, 100}, {128, 128}, {129, 256}};
  for (const auto& [key_dim, value_dim] : dims) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const std::size_t draft : {1u, 2u}) {  // of chains, and of trees
        Case c = small_delta_net_drafts(GetParam())[draft];
        c.layer = heads_of(GetParam(), 2, 6, key_dim, value_dim).layer;
        c.dtype = dtype;
        c.id += "/" + std::to_string(key_dim) + "/" + std::string(to_string(dtype));
        GpuBackend backend(GetParam());
        Fixture fixture(c, *device_);
        conformance::expect_agreement(backend, c, {Fill::kNeedle, Fill::kExtreme, Fill::kNormal},
                                      *device_, fixture);
      }
    }
  }
}

/// As many requests as wide warps are for (recurrent_kernel.cuh), each as long as the others.
Case many_of(Case c, int key_dim, int value_dim) {
  c.layer = heads_of(c.layer.family, 2, 6, key_dim, value_dim).layer;
  c.requests.assign(24, c.requests.back());
  c.id += "/24 of " + std::to_string(key_dim) + "x" + std::to_string(value_dim);
  return c;
}

TEST_P(RecurrentGpu, computes_many_requests_to_the_bits_that_each_has_alone) {
  const int dims[][2] = {{65, 36}, {96, 100}, {128, 128}};
  for (const auto& [key_dim, value_dim] : dims) {
    for (const Case& few : {small_delta_nets(GetParam())[0], small_delta_nets(GetParam())[1],
                            small_delta_net_drafts(GetParam())[1]}) {
      const Case c = many_of(few, key_dim, value_dim);
      GpuBackend backend(GetParam());
      Fixture fixture(c, *device_);
      conformance::expect_agreement(backend, c, {Fill::kNeedle, Fill::kExtreme, Fill::kNormal},
                                    *device_, fixture);
      conformance::expect_batch_invariance(make_on_gpu_, c, *device_);
    }
  }
}

/// A recorded step of drafts, in chains or in trees.
class RecurrentDraftsGpu : public RecurrentGpu {
 protected:
  void replay_from_one_graph(Case c);
};
INSTANTIATE_TEST_SUITE_P(Families, RecurrentDraftsGpu, testing::ValuesIn(kFamilies));

void RecurrentDraftsGpu::replay_from_one_graph(Case c) {
  c.graph_bucket = 6;
  Fixture fixture(c, *device_), eager(c, *device_);
  for (Fixture* each : {&fixture, &eager}) each->fill(Fill::kNormal);
  const conformance::Outputs want = conformance::forward(*make_on_gpu_(), eager, *device_);
  fixture.poison_outputs();

  Problem problem = recorded_problem_of(c, 1 << 20);
  const auto padded = [&](ForwardBatch batch, const DeviceIndices& indices) {
    batch.problem = &problem;
    batch.device_batch = &indices.batch();
    batch.tensors = fixture.padded_tensors();
    return batch;
  };
  const ForwardBatch empty = step_to_record(fixture.batch(), c.graph_bucket, 0);
  const ForwardBatch filled = pad_for_cuda_graph(fixture.batch(), c.graph_bucket, 0);
  const DeviceIndices empty_indices(empty, 1, *device_), filled_indices(filled, 1, *device_);
  const ForwardBatch to_record = padded(empty, empty_indices),
                     step = padded(filled, filled_indices);
  PlanMemory memory(*device_);
  const auto stream = device_->make_stream();
  const auto plan = make_on_gpu_()->plan(to_record, memory);
  const auto recording = device_->record(*stream, [&](Stream& on) { plan->run(on); });
  recording->replay(*stream);
  stream->synchronize();
  const auto first_state = [&] { return *fixture.host_states().state(0, 0); };
  EXPECT_TRUE(std::isnan(first_state())) << "padding leaves no state";

  ASSERT_TRUE(plan->update(step, *stream));
  recording->replay(*stream);
  stream->synchronize();
  EXPECT_TRUE(fixture.changed_inputs().empty()) << "committed states and padding's stay";
  EXPECT_TRUE(fixture.damaged_guards().empty());
  EXPECT_EQ(conformance::outputs_of(fixture), want);
  const StatePool got = fixture.host_states(), expected = eager.host_states();
  EXPECT_TRUE(std::equal(got.data, got.state(c.q_tokens(), 0), expected.data));
}

TEST_P(RecurrentDraftsGpu, replay_other_steps_and_padding_of_chains_from_one_graph) {
  replay_from_one_graph(small_delta_net_drafts(GetParam())[0]);
}

TEST_P(RecurrentDraftsGpu, replay_other_steps_and_padding_of_trees_from_one_graph) {
  replay_from_one_graph(small_delta_net_drafts(GetParam())[2]);
}

TEST_P(RecurrentGpu, agrees_with_the_reference_for_every_kernel) {
  const int dims[][2] = {{1, 1},    {5, 3},     {32, 8},    {33, 40},  {64, 64},
                         {96, 100}, {128, 128}, {129, 256}, {256, 33}, {256, 256}};
  for (const auto& [key_dim, value_dim] : dims) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      Case c = heads_of(GetParam(), 2, 6, key_dim, value_dim);
      c.dtype = dtype;
      c.id += "/" + std::string(to_string(dtype));
      GpuBackend backend(GetParam());
      ASSERT_TRUE(backend.supports(problem_of(c))) << c.id;
      Fixture fixture(c, *device_);
      conformance::expect_agreement(backend, c, {Fill::kNeedle, Fill::kExtreme, Fill::kNormal},
                                    *device_, fixture);
    }
  }
}

TEST_P(RecurrentGpu, takes_recurrent_layers_of_key_dims_that_fit_into_registers) {
  const GpuBackend backend(GetParam());
  EXPECT_FALSE(backend.supports(problem_of(small_plain_decode())));
  EXPECT_FALSE(backend.supports(problem_of(small_mla())));
  EXPECT_NE(backend.supports(problem_of(heads_of(GetParam(), 1, 1, 257, 8))).reason().find("256"),
            std::string::npos);
}

TEST_P(RecurrentGpu, replays_other_steps_and_padding_from_one_graph) {
  constexpr std::int64_t kBucket = 6;
  Case c = small_delta_nets(GetParam())[1];  // decodes
  Fixture fixture(c, *device_), eager(c, *device_);
  for (Fixture* each : {&fixture, &eager}) each->fill(Fill::kNormal);
  const conformance::Outputs want = conformance::forward(*make_on_gpu_(), eager, *device_);

  Problem problem = problem_of(c);
  problem.recorded = true;
  problem.limits = {kBucket, 1, kBucket, 1 << 20};
  // O of the bucket lies apart: the fixture has rows for its own requests only.
  const TensorView& own = fixture.tensors().out;
  const auto room = device_->allocate(
      static_cast<std::size_t>(kBucket * own.stride[0] * size_bytes(own.dtype)), "outputs");
  const std::vector<std::uint8_t> poison(room->size(), 0xff);
  const auto padded = [&](ForwardBatch batch, const DeviceIndices& indices) {
    batch.problem = &problem;
    batch.device_batch = &indices.batch();
    batch.tensors.out.data = room->data();
    return batch;
  };
  const ForwardBatch empty = step_to_record(fixture.batch(), kBucket, 0);
  const ForwardBatch filled = pad_for_cuda_graph(fixture.batch(), kBucket, 0);
  const DeviceIndices empty_indices(empty, 1, *device_), filled_indices(filled, 1, *device_);
  const ForwardBatch to_record = padded(empty, empty_indices),
                     step = padded(filled, filled_indices);

  PlanMemory memory(*device_);
  const auto stream = device_->make_stream();
  const auto plan = make_on_gpu_()->plan(to_record, memory);
  const auto recording = device_->record(*stream, [&](Stream& on) { plan->run(on); });
  const std::vector<float> before = state_of(fixture, 1);
  device_->copy_from_host(room->data(), poison.data(), poison.size());
  recording->replay(*stream);
  stream->synchronize();
  EXPECT_EQ(state_of(fixture, 1), before) << "padding has no state";

  ASSERT_TRUE(plan->update(step, *stream));
  recording->replay(*stream);
  stream->synchronize();
  EXPECT_TRUE(fixture.changed_inputs().empty()) << "no slot of others is written";
  EXPECT_TRUE(memory.guards_intact());
  EXPECT_TRUE(room->guards_intact());
  std::vector<std::byte> out(room->size());
  device_->copy_to_host(out.data(), room->data(), out.size());
  const auto end = out.begin() + std::ssize(want.out);
  EXPECT_TRUE(std::equal(out.begin(), end, want.out.begin()));
  EXPECT_TRUE(std::all_of(end, out.end(), [](std::byte b) { return b == std::byte{0xff}; }))
      << "rows of padding were written";
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    EXPECT_EQ(state_of(fixture, r), state_of(eager, r)) << "request " << r;
  }
}

TEST_P(RecurrentGpu, reaches_the_state_of_a_whole_prompt_chunk_by_chunk) {
  Case whole = small_delta_nets(GetParam()).front();
  whole.dtype = DType::kF32;
  whole.requests = {{.q_len = 37, .kv_len = 37}};
  Case first = whole, second = whole;
  first.requests = {{.q_len = 20, .kv_len = 20}};
  second.requests = {{.q_len = 17, .kv_len = 37}};
  Fixture all(whole, *device_), begin(first, *device_), rest(second, *device_);
  for (Fixture* each : {&all, &begin, &rest}) {
    each->fill(Fill::kNormal);
    if (each == &rest) continue;
    static_cast<void>(conformance::forward(*make_on_gpu_(), *each, *device_));
  }
  // The second chunk finds the state that the first one left.
  rest.poison_outputs();
  const std::vector<float> left = state_of(begin, 0);
  float* const to = rest.batch().state_pool->state(rest.batch().state_indices[0], 0);
  device_->copy_from_host(static_cast<std::byte*>(static_cast<void*>(to)), left.data(),
                          left.size() * sizeof(float));
  PlanMemory memory(*device_);
  const auto stream = device_->make_stream();
  const auto plan = make_on_gpu_()->plan(rest.batch(), memory);
  plan->run(*stream);
  stream->synchronize();
  EXPECT_EQ(state_of(all, 0), state_of(rest, 0));
}

}  // namespace
}  // namespace attnbench::gated_delta_net
