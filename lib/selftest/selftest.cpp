// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/selftest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace attnbench {
namespace {

/// A case with its truth under each fill, shared by all mutants.
struct Examined {
  const Case* c;
  std::vector<FillTruth> truth;
};

std::vector<Examined> examine(const std::vector<Case>& cases) {
  const VerifyConfig config;
  std::vector<Examined> examined;
  for (const Case& c : cases) examined.push_back({&c, compute_truth(c, config)});
  return examined;
}

/// The first verdict that is no pass. The fixture is new each time: damage by one run must not
/// affect the next.
Verification verify_with_fill(Device& device, const std::vector<Examined>& examined, Fault fault,
                              std::size_t fill) {
  Verification last;
  for (const Examined& each : examined) {
    if (fault != Fault::kNone && is_of_delta_net(fault) != each.c->layer.is_recurrent()) continue;
    MutantBackend backend(fault, device.info().kind);
    Fixture fixture(*each.c, device);
    last = verify_backend(*each.c, backend, fixture, device, std::span(&each.truth[fill], 1));
    // A mutant must fail; the correct backend must not even be mistrusted.
    const bool decided =
        fault == Fault::kNone ? last.verdict != Verdict::kPassed : is_failure(last.verdict);
    if (!decided) continue;
    last.reason = each.c->id + ": " + last.reason;
    return last;
  }
  return last;
}

SelftestRow verify_fault(Device& device, const std::vector<Examined>& examined, Fault fault) {
  SelftestRow row;
  row.fault = fault;
  for (std::size_t fill = 0; fill < kFills.size(); ++fill) {
    row.by_fill.push_back(verify_with_fill(device, examined, fault, fill));
  }
  return row;
}

}  // namespace

bool SelftestRow::blamed() const {
  return std::ranges::any_of(by_fill,
                             [](const Verification& each) { return is_failure(each.verdict); });
}

std::string SelftestRow::reason() const {
  const auto found = std::ranges::find_if(
      by_fill, [](const Verification& each) { return is_failure(each.verdict); });
  return found == by_fill.end() ? std::string() : found->reason;
}

bool SelftestMatrix::sound() const {
  const auto passed = [](const Verification& each) { return each.verdict == Verdict::kPassed; };
  return !mutants.empty() && std::ranges::all_of(mutants, &SelftestRow::blamed) &&
         std::ranges::all_of(correct.by_fill, passed);
}

SelftestMatrix run_selftest(Device& device, const std::vector<Case>& cases,
                            const std::vector<Fault>& faults) {
  // Mutants of recurrent layers run on a CPU only.
  const bool delta_nets = device.info().kind == DeviceKind::kCpu;
  std::vector<Case> examinable = cases;
  if (!delta_nets) {
    std::erase_if(examinable, [](const Case& c) { return c.layer.is_recurrent(); });
  }
  const std::vector<Examined> examined = examine(examinable);
  SelftestMatrix matrix;
  matrix.fills.assign(kFills.begin(), kFills.end());
  for (const Case& c : examinable) matrix.cases.push_back(c.id);
  matrix.correct = verify_fault(device, examined, Fault::kNone);
  for (const Fault fault : faults) {
    if (is_of_delta_net(fault) && !delta_nets) continue;
    matrix.mutants.push_back(verify_fault(device, examined, fault));
  }
  return matrix;
}

namespace {

struct Lengths {
  std::int64_t q;
  std::int64_t kv;
};

/// Grouped heads and pages of four tokens, so that short requests have several.
Case small_case(const std::string& id, ForwardMode mode, DType dtype,
                std::initializer_list<Lengths> requests) {
  Case c;
  c.id = c.mix = id;
  c.scenario = "selftest";
  c.model = "inline";
  c.seed = 7;
  c.mode = mode;
  c.layer.heads_q = 4;
  c.layer.heads_kv = 2;
  c.layer.head_dim_qk = c.layer.head_dim_v = 32;
  c.layer.scale = 1 / std::sqrt(32.0);
  c.dtype = c.kv_cache.dtype = dtype;
  c.kv_cache.page_size = 4;
  for (const Lengths& each : requests) {
    Request request;
    request.group = id;
    request.q_len = each.q;
    request.kv_len = each.kv;
    c.requests.push_back(request);
  }
  return c;
}

}  // namespace

std::vector<Case> selftest_cases() {
  // f32: what bf16 outputs would hide, such as a sum kept in bf16, shows.
  const Case mixed = small_case("mixed", ForwardMode::kMixed, DType::kF32,
                                {{1, 1}, {1, 3}, {1, 4}, {1, 5}, {1, 61}, {7, 7}, {6, 21}});

  Case window = small_case("window", ForwardMode::kExtend, DType::kBF16,
                           {{1, 1}, {5, 5}, {9, 9}, {1, 29}, {13, 30}});
  window.layer.sliding_window_size = 7;
  window.layer.logit_cap = 2;  // low enough that tanh bends the logits of normal contents
  window.layer.has_sinks = true;

  Case tree = small_case("tree", ForwardMode::kTargetVerify, DType::kF16,
                         {{6, 1 + 6}, {6, 3 + 6}, {6, 4 + 6}, {6, 33 + 6}});
  for (Request& request : tree.requests) request.tree_parents = {-1, 0, 0, 0, 1, 1};
  tree.layer.sliding_window_size = 20;  // node 5 sees other keys of the last prefix by its depth

  // f32 for what a bf16 output hides. Requests that end in their first chunk, at its end and
  // behind.
  Case chunks = small_case("chunks", ForwardMode::kExtend, DType::kF32,
                           {{1, 5}, {12, 12}, {1, 13}, {9, 30}, {1, 29}});
  chunks.layer.attention_chunk = 12;
  chunks.layer.temperature_len = 4;
  chunks.layer.logit_cap = 2;  // low enough that a temperature before it is another

  // Requests that end in their first chunk of 6 keys, at its end and behind, and in later ones.
  Case dual = small_case("dual_chunks", ForwardMode::kExtend, DType::kF32,
                         {{1, 5}, {6, 6}, {1, 7}, {9, 20}, {1, 29}});
  dual.layer.dual_chunk = {8, 2};

  Case blocks = small_case("blocks", ForwardMode::kDllmExtend, DType::kBF16,
                           {{3, 3}, {8, 8}, {9, 20}, {4, 30}});
  blocks.layer.causal_block = 4;

  // Spans whose middle lies behind the window of their last token, one after the other.
  Case spans =
      small_case("spans", ForwardMode::kExtend, DType::kBF16, {{8, 8}, {9, 9}, {20, 29}, {1, 5}});
  spans.layer.sliding_window_size = 2;
  for (Request& request : spans.requests) request.spans = {{2, 6}, {6, 7}};
  spans.requests[2].spans = {{4, 15}, {20, 29}};

  // Lists of all keys, of some, and of one key fewer than all. What a short list leaves says that
  // it does not count.
  Case chosen = small_case("chosen_keys", ForwardMode::kMixed, DType::kF32,
                           {{1, 1}, {5, 5}, {1, 9}, {9, 20}, {1, 33}});
  chosen.layer.selection = {.topk = 8, .padding = SelectionPadding::kRepeat};
  chosen.layer.has_sinks = true;
  // Units of which the last one is cut at the query, and lists of KV heads that begin with -1.
  Case units = small_case("chosen_units", ForwardMode::kExtend, DType::kBF16,
                          {{1, 2}, {7, 7}, {1, 30}, {6, 41}});
  units.layer.selection = {.topk = 3,
                           .unit = 4,
                           .groups = SelectionGroups::kKvHeads,
                           .padding = SelectionPadding::kFront};
  // Lists of query heads, of which two read the same KV head.
  Case of_heads =
      small_case("chosen_by_heads", ForwardMode::kDecode, DType::kF32, {{1, 1}, {1, 9}, {1, 33}});
  of_heads.layer.selection = {.topk = 8, .groups = SelectionGroups::kHeads};
  // Pages before a window, of which most queries' window cuts one, each with a softmax of its own.
  Case hierarchy = small_case("hierarchy", ForwardMode::kExtend, DType::kF32,
                              {{1, 2}, {7, 7}, {1, 30}, {6, 41}});
  hierarchy.layer.selection = {.topk = 3,
                               .unit = 4,
                               .groups = SelectionGroups::kKvHeads,
                               .window = 6,
                               .fuses_window = true,
                               .softmax = SelectionSoftmax::kUnits};
  Case landmarks = hierarchy;
  landmarks.id = "landmarks";
  landmarks.layer.selection.has_landmarks = true;
  // A KV head that sees only the window, and one that does not see it.
  Case split_heads = hierarchy;
  split_heads.id = "window_heads";
  split_heads.layer.selection.fuses_window = false;
  split_heads.layer.selection.window_heads = 1;
  split_heads.layer.selection.softmax = SelectionSoftmax::kKeys;
  // Lists that name keys several times: more entries than keys, and fewer.
  Case duplicates =
      small_case("duplicates", ForwardMode::kDecode, DType::kBF16, {{1, 1}, {1, 5}, {1, 33}});
  duplicates.layer.selection = {.topk = 8, .pattern = SelectionPattern::kDuplicates};

  Case fp8 = small_case("fp8", ForwardMode::kDecode, DType::kBF16, {{1, 2}, {1, 14}, {1, 40}});
  fp8.kv_cache.dtype = DType::kE4M3;
  fp8.kv_cache.k_scale = 0.37f;  // no powers of two: forgetting them moves mantissas too
  fp8.kv_cache.v_scale = 0.11f;
  fp8.kv_cache.page_stride = 6;

  Case latent = small_case("mla", ForwardMode::kDecode, DType::kBF16, {{1, 2}, {1, 14}, {1, 33}});
  latent.layer.family = Family::kLatent;
  latent.layer.heads_kv = 1;
  latent.layer.head_dim_qk = 32 + 8;  // DeepSeek's 512 + 64 in small
  latent.layer.scale = 1 / std::sqrt(16.0 + 8.0);

  // DeepSeek-V4's rows that are all K and all V, beside a window that ends inside compressed rows;
  // requests that end before their first row, with it and behind.
  Case compressed = small_case("compressed", ForwardMode::kExtend, DType::kF32,
                               {{1, 3}, {1, 4}, {6, 17}, {9, 9}, {5, 41}});
  compressed.layer.family = Family::kLatent;
  compressed.layer.heads_kv = 1;
  compressed.layer.head_dim_v = compressed.layer.head_dim_qk;
  compressed.layer.has_sinks = true;
  compressed.layer.sliding_window_size = 5;
  compressed.layer.compress_ratio = 4;
  Case chosen_rows = compressed;
  chosen_rows.id = "chosen_rows";
  chosen_rows.layer.selection = {.topk = 3, .unit = 4, .compressed = true};

  // f32 for what a bf16 output hides; key heads are fewer than value heads. 61 tokens without a
  // prefix, whose slot holds poison, and a few with one.
  Case delta_net = small_case("delta_net", ForwardMode::kMixed, DType::kF32,
                              {{61, 61}, {1, 1}, {1, 2}, {1, 300}, {7, 40}});
  delta_net.layer.family = Family::kGatedDeltaNet;
  delta_net.layer.heads_q = 2;
  delta_net.layer.heads_kv = 4;
  delta_net.layer.head_dim_qk = 16;

  Case kimi_delta = delta_net;
  kimi_delta.id = "kimi_delta";
  kimi_delta.layer.family = Family::kKimiDelta;

  Case lightning = delta_net;
  lightning.id = "lightning";
  lightning.layer.family = Family::kLightning;

  Case mamba2 = delta_net;
  mamba2.id = "mamba2";
  mamba2.layer.family = Family::kMamba2;

  // A chain of drafts behind a prefix, and a tree behind none.
  Case draft = delta_net;
  draft.id = "delta_net_draft";
  draft.mode = ForwardMode::kTargetVerify;
  draft.requests = {{.q_len = 3, .kv_len = 40}, {.q_len = 3, .kv_len = 3}};
  draft.requests[0].tree_parents = {-1, 0, 1};
  draft.requests[1].tree_parents = {-1, 0, 0};

  // Kernels for long contexts have faults of their own. One key of a long context weighs less than
  // the error that bf16 weights and the LSE's bound allow, unless a needle lies there; the noise of
  // all keys together averages below the bound of each element. One head and few dims. These cases
  // come last: a fault that a small case shows does not reach them.
  Case long_context = small_case("long", ForwardMode::kDecode, DType::kBF16, {{1, 16384}});
  long_context.layer.heads_q = long_context.layer.heads_kv = 1;
  long_context.layer.head_dim_qk = long_context.layer.head_dim_v = 16;
  long_context.layer.scale = 1 / std::sqrt(16.0);
  long_context.kv_cache.page_size = 64;

  return {mixed,       window,     tree,      chunks,   dual,       blocks,
          spans,       chosen,     units,     of_heads, hierarchy,  landmarks,
          split_heads, duplicates, fp8,       latent,   compressed, chosen_rows,
          delta_net,   kimi_delta, lightning, mamba2,   draft,      long_context};
}

}  // namespace attnbench
