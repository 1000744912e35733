// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/gated_delta_net/gated_delta_net.h"

#include <cmath>
#include <cstring>

#include "backends/testing/conformance.h"

namespace attnbench::gated_delta_net {
namespace {

class RecurrentBackends : public testing::TestWithParam<Family> {
 protected:
  Registry::Factory make_ = [] { return std::make_unique<RecurrentBackend>(GetParam()); };
};
INSTANTIATE_TEST_SUITE_P(Families, RecurrentBackends, testing::ValuesIn(kFamilies));

TEST_P(RecurrentBackends, conforms) { conformance::expect_all(make_); }

TEST_P(RecurrentBackends, gives_a_request_alone_the_bits_that_it_has_in_its_batch) {
  for (const Case& c : small_delta_nets(GetParam())) conformance::expect_batch_invariance(make_, c);
  const std::vector<Case> drafts = small_delta_net_drafts(GetParam());
  for (const Case& c : drafts) {
    if (!c.padding.exists()) conformance::expect_batch_invariance(make_, c);
  }
}

TEST_P(RecurrentBackends, leaves_padding_alone) {
  conformance::expect_padding_changes_nothing(make_);
}

/// What a draft leaves behind its last token is what a prompt of the same tokens leaves.
TEST_P(RecurrentBackends, leaves_behind_a_draft_the_bits_that_an_extend_leaves) {
  const auto device = make_cpu_device();
  const Case draft = small_delta_net_drafts(GetParam())[0];
  Case extend = draft;
  extend.mode = ForwardMode::kExtend;
  for (Request& request : extend.requests) request.tree_parents.clear();
  Fixture verified(draft, *device), extended(extend, *device);
  for (Fixture* each : {&verified, &extended}) each->fill(Fill::kNormal);
  EXPECT_EQ(conformance::forward(*make_(), verified, *device),
            conformance::forward(*make_(), extended, *device));
  const StatePool behind = verified.host_states(), after = extended.host_states();
  for (std::size_t r = 0; r < draft.requests.size(); ++r) {
    const std::int64_t last = draft.requests[r].q_len * static_cast<std::int64_t>(r + 1) - 1;
    const std::int32_t slot = extended.batch().state_indices[r];
    EXPECT_TRUE(std::equal(behind.state(last, 0), behind.state(last + 1, 0), after.state(slot, 0)));
  }
}

/// Of the tree 0 -> 1 -> 3, 0 -> 2 -> 4 the branch 0 2 4 is every other token.
TEST_P(RecurrentBackends, leaves_behind_a_branch_of_a_tree_the_bits_that_an_extend_leaves) {
  const auto device = make_cpu_device();
  Case c = small_delta_net_drafts(GetParam())[0];
  c.requests = {{.q_len = 5, .kv_len = 45}};
  c.requests[0].tree_parents = {-1, 0, 0, 1, 2};
  Fixture tree(c, *device), chain(c, *device);
  for (Fixture* each : {&tree, &chain}) each->fill(Fill::kNormal);
  static_cast<void>(conformance::forward(*make_(), tree, *device));

  Problem problem = problem_of(c);
  problem.mode = ForwardMode::kExtend;
  ForwardBatch branch = chain.batch();
  branch.problem = &problem;
  branch.forward_mode = ForwardMode::kExtend;
  branch.spec_info.reset();
  branch.intermediate_states = nullptr;
  branch.extend_seq_lens = {3};
  for (ConstTensorView* view : {&branch.tensors.q, &branch.tensors.k_new, &branch.tensors.v_new,
                                &branch.tensors.g, &branch.tensors.beta}) {
    view->stride[0] *= 2;
  }
  branch.tensors.out.stride[0] *= 2;
  PlanMemory memory(*device);
  make_()->plan(branch, memory)->run(*device->make_stream());

  const StatePool behind = tree.host_states(), &after = *chain.batch().state_pool;
  EXPECT_TRUE(std::equal(behind.state(4, 0), behind.state(5, 0),
                         after.state(chain.batch().state_indices[0], 0)));
  const TensorView &want = chain.tensors().out, &got = tree.tensors().out;
  for (const std::int64_t token : {0, 2, 4}) {
    const auto bytes = static_cast<std::size_t>(got.stride[0] * size_bytes(got.dtype));
    EXPECT_EQ(std::memcmp(got.row(token, 0), want.row(token, 0), bytes), 0) << token;
  }
}

/// What a node has does not depend on the nodes of other branches.
TEST_P(RecurrentBackends, shows_no_node_its_siblings) {
  const auto device = make_cpu_device();
  Case star = small_delta_net_drafts(GetParam())[0];
  star.requests = {{.q_len = 4, .kv_len = 45}};
  star.requests[0].tree_parents = {-1, 0, 0, 0};
  Case other = star;
  other.requests[0].tree_parents = {-1, 0, 1, 0};
  Fixture one(star, *device), two(other, *device);
  for (Fixture* each : {&one, &two}) {
    each->fill(Fill::kNormal);
    static_cast<void>(conformance::forward(*make_(), *each, *device));
  }
  const StatePool here = one.host_states(), there = two.host_states();
  for (const std::int64_t node : {0, 1, 2, 3}) {
    EXPECT_EQ(std::equal(here.state(node, 0), here.state(node + 1, 0), there.state(node, 0)),
              node != 2)
        << node;
  }
}

TEST_P(RecurrentBackends, agrees_with_the_reference_for_dims_of_no_round_size) {
  const int dims[][2] = {{1, 1}, {5, 3}, {33, 40}, {129, 256}};
  const auto device = make_cpu_device();
  for (const auto& [key_dim, value_dim] : dims) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      Case c = small_delta_nets(GetParam()).back();
      c.dtype = dtype;
      c.layer.head_dim_qk = key_dim;
      c.layer.head_dim_v = value_dim;
      c.layer.scale = 1 / std::sqrt(static_cast<double>(key_dim));
      c.id = "dims/" + std::to_string(key_dim) + "/" + std::string(to_string(dtype));
      RecurrentBackend backend(GetParam());
      Fixture fixture(c, *device);
      for (const Fill fill : {Fill::kNeedle, Fill::kExtreme, Fill::kNormal}) {
        conformance::expect_agreement(backend, c, fill, *device, fixture);
      }
    }
  }
}

TEST_P(RecurrentBackends, names_the_layer_where_it_reads_no_such_cache_either) {
  const auto backend = make_();
  Problem problem = problem_of(small_plain_decode());
  problem.cache.page_size = 1;  // which ragged keys have
  const std::string reason = backend->supports(problem).reason();
  EXPECT_NE(reason.find("recurrent layers only"), std::string::npos);
  for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kXPacked, KvLayout::kRagged}) {
    EXPECT_EQ(choose_format(*backend, problem, layout).support.reason(), reason);
  }
  problem.cache.scales = KvScales::kToken;
  EXPECT_EQ(choose_format(*backend, problem, {}).support.reason(), reason);
}

TEST_P(RecurrentBackends, takes_no_layer_with_keys) {
  EXPECT_FALSE(make_()->supports(problem_of(small_plain_decode())));
  EXPECT_FALSE(make_()->supports(problem_of(small_mla())));
}

/// What engines do with a long prompt: the state that a chunk leaves is what the next one finds.
TEST_P(RecurrentBackends, reaches_the_state_of_a_whole_prompt_chunk_by_chunk) {
  Case whole = small_delta_nets(GetParam()).front();
  whole.dtype = DType::kF32;
  whole.mode = ForwardMode::kExtend;
  whole.requests = {{.q_len = 37, .kv_len = 37}};
  const auto device = make_cpu_device();
  Fixture one(whole, *device), two(whole, *device);
  for (Fixture* fixture : {&one, &two}) fixture->fill(Fill::kNormal);
  static_cast<void>(conformance::forward(*make_(), one, *device));

  ForwardBatch chunk = two.batch();
  const AttentionTensors all = chunk.tensors;
  const auto run_tokens = [&](std::int64_t first, std::int64_t count, bool has_state) {
    for (ConstTensorView* view : {&chunk.tensors.q, &chunk.tensors.k_new, &chunk.tensors.v_new,
                                  &chunk.tensors.g, &chunk.tensors.beta}) {
      view->data += first * view->stride[0] * size_bytes(view->dtype);
    }
    chunk.tensors.out.data += first * all.out.stride[0] * size_bytes(all.out.dtype);
    chunk.extend_seq_lens = {static_cast<std::int32_t>(count)};
    chunk.has_initial_state = {static_cast<std::uint8_t>(has_state)};
    PlanMemory memory(*device);
    const auto stream = device->make_stream();
    make_()->plan(chunk, memory)->run(*stream);
    chunk.tensors = all;
  };
  run_tokens(0, 20, false);
  run_tokens(20, 17, true);
  const auto bytes_of = [&](const Fixture& fixture) {
    const StatePool pool = fixture.host_states();
    return std::vector<float>(pool.state(fixture.batch().state_indices[0], 0),
                              pool.state(fixture.batch().state_indices[0] + 1, 0));
  };
  EXPECT_EQ(bytes_of(one), bytes_of(two));
  EXPECT_TRUE(two.changed_inputs().empty());
}

}  // namespace
}  // namespace attnbench::gated_delta_net
