// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/hybrid/hybrid_backend.h"

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/testing/conformance.h"
#include "backends/testing/named_kernel.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

template <class Prefill, class Decode>
std::unique_ptr<Backend> make_pair_of() {
  auto prefill = std::make_unique<Prefill>();
  auto decode = std::make_unique<Decode>();
  BackendInfo info = hybrid_info("pair", prefill->info(), decode->info(), Phase::kPrefill);
  return std::make_unique<HybridBackend>(std::move(info), std::move(prefill), std::move(decode),
                                         Phase::kPrefill);
}

using cpu_flash::CpuFlashBackend;
using torch_native::TorchNativeBackend;

/// Decodes on both sides of a prompt and of a chunk of one token.
Case interleaved() {
  Case c = small_prefix_hits();
  EXPECT_EQ(c.mode, ForwardMode::kMixed);
  std::vector<Request> decodes, prompts, requests;
  for (const Request& request : c.requests) {
    (request.q_len == 1 ? decodes : prompts).push_back(request);
  }
  for (std::size_t i = 0; i < std::max(decodes.size(), prompts.size()); ++i) {
    requests.push_back(decodes[i % decodes.size()]);
    requests.push_back(prompts[i % prompts.size()]);
  }
  c.requests = std::move(requests);
  return c;
}

TEST(Hybrid, agrees_on_every_mixed_case_with_either_backend_for_either_phase) {
  const auto device = make_cpu_device();
  int taken = 0;
  for (const auto& make : {make_pair_of<CpuFlashBackend, TorchNativeBackend>,
                           make_pair_of<TorchNativeBackend, CpuFlashBackend>}) {
    const auto backend = make();
    for (const Case& c : conformance::cases()) {
      if (c.mode != ForwardMode::kMixed || !conformance::supports(*backend, c, *device)) continue;
      ++taken;
      Fixture fixture(c, *device);
      for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) {
        conformance::expect_agreement(*backend, c, fill, *device, fixture);
      }
    }
  }
  EXPECT_GT(taken, 10);
}

TEST(Hybrid, hands_spans_and_lists_of_chosen_keys_to_both) {
  const auto device = make_cpu_device();
  Case spans = interleaved(), lists = spans;
  for (Request& request : spans.requests) {
    if (request.q_len > 1) request.spans = {{request.kv_len - request.q_len, request.kv_len}};
  }
  lists.layer.selection = {.topk = 7, .groups = SelectionGroups::kKvHeads};
  const auto backend = make_pair_of<CpuFlashBackend, CpuFlashBackend>();
  const auto dense = make_pair_of<TorchNativeBackend, TorchNativeBackend>();
  Fixture with_spans(spans, *device), with_lists(lists, *device);
  conformance::expect_agreement(*backend, spans, Fill::kNormal, *device, with_spans);
  conformance::expect_agreement(*dense, lists, Fill::kNormal, *device, with_lists);
}

TEST(Hybrid, names_the_kernels_that_the_plans_of_both_have_chosen) {
  const auto device = make_cpu_device();
  auto prefill = std::make_unique<NamedKernel>(std::make_unique<CpuFlashBackend>(), "engine 5");
  auto decode = std::make_unique<NamedKernel>(std::make_unique<TorchNativeBackend>(), "engine 7");
  BackendInfo info = hybrid_info("pair", prefill->info(), decode->info(), Phase::kPrefill);
  HybridBackend pair(std::move(info), std::move(prefill), std::move(decode), Phase::kPrefill);
  Fixture fixture(interleaved(), *device);
  PlanMemory memory(*device);
  EXPECT_EQ(pair.plan(fixture.batch(), memory)->kernel(), "engine 7 + engine 5");
}

TEST(Hybrid, runs_an_idle_batch) {
  conformance::expect_idle(make_pair_of<CpuFlashBackend, TorchNativeBackend>);
}

TEST(Hybrid, agrees_where_prompts_and_decodes_take_turns) {
  const auto device = make_cpu_device();
  const Case c = interleaved();
  Fixture fixture(c, *device);
  const auto backend = make_pair_of<CpuFlashBackend, TorchNativeBackend>();
  for (const Fill fill : kFills) {
    conformance::expect_agreement(*backend, c, fill, *device, fixture);
  }
}

TEST(Hybrid, gives_the_bits_of_the_backend_whose_phase_it_is) {
  const auto device = make_cpu_device();
  const Case c = interleaved();
  Fixture fixture(c, *device);
  fixture.fill(Fill::kNormal);
  CpuFlashBackend prompts;
  TorchNativeBackend decodes;
  const auto pair = make_pair_of<CpuFlashBackend, TorchNativeBackend>();
  const auto of_prompts = conformance::forward(prompts, fixture, *device).out;
  const auto of_decodes = conformance::forward(decodes, fixture, *device).out;
  const auto of_both = conformance::forward(*pair, fixture, *device).out;
  ASSERT_NE(of_prompts, of_decodes);
  const std::size_t token = of_both.size() / static_cast<std::size_t>(c.q_tokens());
  std::size_t at = 0;
  for (const Request& request : c.requests) {
    const std::size_t bytes = token * static_cast<std::size_t>(request.q_len);
    const auto& expected = request.q_len == 1 ? of_decodes : of_prompts;
    EXPECT_TRUE(std::equal(of_both.begin() + static_cast<std::ptrdiff_t>(at),
                           of_both.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                           expected.begin() + static_cast<std::ptrdiff_t>(at)))
        << "at byte " << at;
    at += bytes;
  }
}

TEST(Hybrid, keeps_the_memory_of_both_with_that_of_the_plan) {
  const auto device = make_cpu_device();
  Fixture fixture(interleaved(), *device);
  PlanMemory memory(*device);
  const auto plan =
      make_pair_of<CpuFlashBackend, TorchNativeBackend>()->plan(fixture.batch(), memory);
  EXPECT_TRUE(memory.memory().empty()) << "the plan itself needs none";
  EXPECT_GT(memory.part(0).memory().size(), 0u);
  EXPECT_GE(memory.all_memory().size(), 4u) << "workspaces and query lengths";
}

}  // namespace
}  // namespace attnbench
