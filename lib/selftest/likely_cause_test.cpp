// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What the verdict of a planted fault says that it comes from.
#include "lib/verify/likely_cause.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/scenario/problem_of.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

std::string reason_for(Fault fault, const Case& c) {
  const auto device = make_cpu_device();
  VerifyConfig config;
  config.rows = c.q_tokens() * c.layer.heads_q;
  config.fills = {Fill::kNeedle, Fill::kTag, Fill::kNormal};
  const std::vector<FillTruth> truth = compute_truth(c, config);
  Fixture fixture(c, *device);
  MutantBackend backend(fault);
  const Verification found = verify_backend(c, backend, fixture, *device, truth);
  return found.verdict == Verdict::kIncorrect ? found.reason : "not found";
}

void expect_cause(Fault fault, const Case& c, const std::string& cause) {
  EXPECT_THAT(reason_for(fault, c), HasSubstr("; that is what one gets with " + cause))
      << to_string(fault);
}

Case chunk() {
  Case c = small_chunked_mixed();
  c.requests.resize(1);  // 33 new tokens behind 64
  return c;
}

TEST(LikelyCause, of_a_mask_is_named) {
  expect_cause(Fault::kAlignsTopLeft, chunk(), "a mask aligned at the top left");
  Case decode = small_plain_decode();
  decode.requests.erase(decode.requests.begin());  // of one key, which leaves none
  expect_cause(Fault::kDropsLastToken, decode, "one key too few");
  expect_cause(Fault::kCausalMissesOwnKey, chunk(), "one key too few");
  expect_cause(Fault::kIgnoresTree, small_tree_verify(), "the draft tree read as a chain");
}

TEST(LikelyCause, of_a_window_is_named) {
  Case c = small_sliding_window();
  c.layer.has_sinks = false;
  c.layer.logit_cap = 0;
  expect_cause(Fault::kWindowOffByOne, c, "a window that reaches one key too far");
  expect_cause(Fault::kIgnoresWindow, c, "no window");
}

TEST(LikelyCause, of_logits_is_named) {
  Case capped = small_plain_decode();
  capped.layer.logit_cap = 1;
  expect_cause(Fault::kIgnoresSoftcap, capped, "no softcap");
  expect_cause(Fault::kDualChunkOneForm, small_dual_chunks().front(),
               "one form of the query for the keys of all dual chunks");
  expect_cause(Fault::kForgetsScale, small_plain_decode(), "logits that are not scaled");
  expect_cause(Fault::kScaleOfHalfTheDims, small_plain_decode(),
               "logits 1.41 times as large (scale 1/sqrt(16) for 1/sqrt(32)?)");
  expect_cause(Fault::kHeadMapOffByOne, small_plain_decode(), "KV head ");
  expect_cause(Fault::kValueOfNextHead, small_plain_decode(), "V of KV head ");
  expect_cause(Fault::kDropsLastRopeDim, small_mla(), "the last rope column left out of q.k");
}

TEST(LikelyCause, of_sinks_scales_and_lses_is_named) {
  Case sinks = small_plain_decode();
  sinks.layer.has_sinks = true;
  expect_cause(Fault::kLseBaseTwo, small_plain_decode(), "an LSE in base 2");
  expect_cause(Fault::kLseForgetsSink, sinks, "an LSE without the sink");
  expect_cause(Fault::kSinkCountedTwice, sinks, "the sink counted twice");
  expect_cause(Fault::kForgetsVScale, small_fp8(), "V without its scale");
}

/// What likely_cause() says of a row of `c` that has the numbers that it has in `wrong`.
std::string cause_of_other_rule(const Case& c, const Case& wrong, const RowId& id) {
  const Contents contents(c, Fill::kNormal);
  const ReferenceRow row = reference::evaluate_rows(wrong, contents, {&id, 1}).front();
  const auto step = static_cast<std::size_t>(size_bytes(c.out_dtype()));
  std::vector<std::byte> got(row.out.size() * step + sizeof(float));
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    store(c.out_dtype(), &got[d * step], static_cast<float>(row.out[d]));
  }
  store(DType::kF32, &got[row.out.size() * step], static_cast<float>(row.lse));
  return likely_cause(c, contents, {}, id, got);
}

TEST(LikelyCause, of_a_query_that_sees_the_next_key_is_named) {
  const Case c = chunk();
  Case wrong = c;
  ++wrong.requests[0].kv_len;
  EXPECT_EQ(cause_of_other_rule(c, wrong, {.request = 0, .token = 5, .head = 1}),
            "one key too many: a query sees the next one");
}

TEST(LikelyCause, of_a_window_over_a_tree_that_counts_by_the_other_rule_is_named) {
  Case c = small_tree_verify();
  c.layer.sliding_window_size = 2;
  Case wrong = c;
  wrong.layer.window_in_trees = c.layer.window_in_trees == WindowInTrees::kIndex
                                    ? WindowInTrees::kDepth
                                    : WindowInTrees::kIndex;
  const std::int64_t last = c.requests[0].q_len - 1;
  EXPECT_EQ(cause_of_other_rule(c, wrong, {.request = 0, .token = last, .head = 0}),
            "a window that counts the nodes of a tree by the other rule");
}

TEST(LikelyCause, of_yarn_s_factor_that_is_left_out_is_named) {
  Case c = small_mla();
  c.geometry.kv_lora_rank = 512;
  c.geometry.qk_nope_head_dim = 128;
  c.geometry.qk_rope_head_dim = 64;
  Case plain = c;
  plain.layer.scale = 1 / std::sqrt(192.0);
  c.layer.scale = 1.874 * plain.layer.scale;
  EXPECT_EQ(cause_of_other_rule(c, plain, {.request = 2, .token = 0, .head = 1}),
            "logits without YaRN's factor");
}

TEST(LikelyCause, of_activations_in_fp8_is_named) {
  Case c = small_plain_decode();  // the mutant knows no scales of activations
  c.fp8.q = DType::kE4M3;
  c.q_scale = 0.37f;
  expect_cause(Fault::kNone, c, "Q without its scale");
}

TEST(LikelyCause, of_outputs_in_fp8_is_named) {
  Case c = small_plain_decode();
  c.fp8.out = DType::kE4M3;
  c.out_scale = 0.37f;
  const Contents contents(c, Fill::kNormal);
  const RowId id{.request = 2, .token = 0, .head = 1};
  const ReferenceRow row = reference::evaluate_rows(c, contents, {&id, 1}).front();
  std::vector<std::byte> got(row.out.size() + sizeof(float));
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    store(DType::kE4M3, &got[d], static_cast<float>(row.out[d]));
  }
  store(DType::kF32, &got[row.out.size()], static_cast<float>(row.lse));
  EXPECT_EQ(likely_cause(c, contents, {}, id, got), "outputs that were not divided by their scale");
}

TEST(LikelyCause, of_outputs_that_overflow_is_named) {
  Case c = small_plain_decode();
  c.fp8.out = DType::kE4M3;
  c.out_scale = 0.0005f;  // 0.224 is the largest output
  const Contents contents(c, Fill::kNormal);
  const RowId id{.request = 2, .token = 0, .head = 1};
  const ReferenceRow row = reference::evaluate_rows(c, contents, {&id, 1}).front();
  std::vector<std::byte> got(row.out.size() + sizeof(float));
  int beyond = 0;
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    const double stored = row.out[d] / static_cast<double>(c.out_scale);
    const bool overflows = std::fabs(stored) > 448;
    beyond += overflows ? 1 : 0;
    store(DType::kE4M3, &got[d],
          overflows ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(stored));
  }
  store(DType::kF32, &got[row.out.size()], static_cast<float>(row.lse));
  ASSERT_GT(beyond, 0);
  ASSERT_LT(beyond, static_cast<int>(row.out.size()));
  EXPECT_EQ(likely_cause(c, contents, {}, id, got),
            "outputs that overflow instead of becoming the largest number of their type");
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    store(DType::kE4M3, &got[d], std::numeric_limits<float>::quiet_NaN());
  }
  EXPECT_THAT(likely_cause(c, contents, {}, id, got),
              HasSubstr("a slot read that no request owns"));
}

TEST(LikelyCause, of_a_list_of_chosen_keys_is_named) {
  const Case plain = small_chunked_mixed();
  constexpr SelectionGroups kPerHead = SelectionGroups::kKvHeads;
  const Case repeat = with_selection(plain, {.topk = 90, .padding = SelectionPadding::kRepeat});
  const Case front = with_selection(
      plain, {.topk = 30, .unit = 4, .groups = kPerHead, .padding = SelectionPadding::kFront});
  const Case groups = with_selection(plain, {.topk = 9, .groups = kPerHead});
  expect_cause(Fault::kIgnoresSelection, groups, "all keys in place of the chosen ones");
  expect_cause(Fault::kIgnoresTopkLength, repeat, "entries of a list behind its topk_length");
  expect_cause(Fault::kTakesMissingEntryForLastKey, front, "an entry of -1 read as the last key");
  expect_cause(Fault::kListOfNextGroup, groups, "the list of group ");
  const Case heads = with_selection(plain, {.topk = 9, .groups = SelectionGroups::kHeads});
  expect_cause(Fault::kListOfKvHead, heads, "the list of group ");
  const Case twice = with_selection(plain, {.topk = 9, .pattern = SelectionPattern::kDuplicates});
  expect_cause(Fault::kCountsDuplicatesOnce, twice, "keys that a list names twice counted once");
  // A query of one key would be left without any.
  const Case far = with_selection(chunk(), {.topk = 9, .groups = kPerHead});
  expect_cause(Fault::kListOnePageLate, far, "the keys of a list read one page late");
  expect_cause(Fault::kListDropsLastEntry, groups, "a list without its last entry");
  Case decodes = with_selection(small_plain_decode(), {.topk = 30, .groups = kPerHead});
  decodes.requests.resize(3);
  decodes.requests[0].kv_len = 9;
  decodes.requests[1].kv_len = 33;
  decodes.requests[2].kv_len = 20;
  expect_cause(Fault::kTopkLengthOfTokenBefore, decodes, "topk_length of the token before");
  const Case units = with_selection(plain, {.topk = 30, .unit = 4});
  expect_cause(Fault::kOwnUnitTwice, units, "the query's own unit twice");
  const Case far_units =  // whose own unit is not the last entry
      with_selection(chunk(), {.topk = 30, .unit = 4, .pattern = SelectionPattern::kHoles});
  expect_cause(Fault::kMissesOwnUnit, far_units, "a list without the query's own unit");
  Case sinks = groups;
  sinks.layer.has_sinks = true;
  expect_cause(Fault::kLseForgetsSink, sinks, "an LSE with the sink, which chosen keys leave out");
}

TEST(LikelyCause, of_chunks_blocks_and_temperatures_is_named) {
  Case chunks = small_plain_decode();
  chunks.layer.attention_chunk = 10;
  expect_cause(Fault::kIgnoresChunks, chunks, "no chunks");
  expect_cause(Fault::kChunkIsAWindow, chunks, "a window as long as a chunk instead of chunks");
  expect_cause(Fault::kCausalInsideBlocks, small_blocks().front(),
               "a causal mask inside of blocks");
  Case temperature = small_plain_decode();
  temperature.layer.temperature_len = 2;
  expect_cause(Fault::kIgnoresTemperature, temperature, "no temperature");
}

TEST(LikelyCause, of_a_decode_that_sees_its_first_key_alone_is_named) {
  Case c = small_plain_decode();
  expect_cause(Fault::kAlignsTopLeft, c, "one key alone, as with");
  c.mode = ForwardMode::kMixed;
  expect_cause(Fault::kAlignsTopLeft, c, "one key alone, as with");
}

/// What a kernel gives for a decode's last request, head 1, that takes the cached row of a latent
/// layer to begin `of_k` columns late, and V `of_v` columns late, with `k_scale` for its scale.
std::vector<std::byte> latent_row(const Case& c, const Contents& contents, std::int64_t request,
                                  std::size_t of_k, std::size_t of_v, double k_scale) {
  const auto width = static_cast<std::size_t>(c.layer.head_dim_qk);
  const auto width_v = static_cast<std::size_t>(c.layer.head_dim_v);
  std::vector<float> q(width), k(width);
  contents.q_row(request, 0, 1, q);
  double sum = 0;
  std::vector<double> out(width_v);
  for (std::int64_t key = 0; key < c.requests[static_cast<std::size_t>(request)].kv_len; ++key) {
    contents.k_row(request, key, 0, k);
    double dot = 0;
    for (std::size_t d = 0; d < width; ++d) {
      dot += static_cast<double>(q[d]) * static_cast<double>(k[(d + of_k) % width]);
    }
    const double weight = std::exp(c.layer.scale * k_scale * dot);
    sum += weight;
    for (std::size_t d = 0; d < width_v; ++d) {
      out[d] += weight * static_cast<double>(k[(d + of_v) % width]) *
                static_cast<double>(c.kv_cache.k_scale);
    }
  }
  std::vector<std::byte> row(width_v * 2 + 4);
  for (std::size_t d = 0; d < width_v; ++d) {
    const std::uint16_t bits = bf16_bits(static_cast<float>(out[d] / sum));
    std::memcpy(&row[2 * d], &bits, sizeof bits);
  }
  const auto lse = static_cast<float>(std::log(sum));
  std::memcpy(&row[2 * width_v], &lse, sizeof lse);
  return row;
}

TEST(LikelyCause, of_the_boundary_between_latent_and_rope_columns_is_named) {
  const Case c = small_mla();  // 512 latent columns, 64 of rope
  const Contents contents(c, Fill::kNormal);
  const Numerics numerics = MutantBackend(Fault::kNone).numerics(problem_of(c));
  const auto cause = [&](std::size_t of_k, std::size_t of_v) {
    return likely_cause(c, contents, numerics, {.request = 2, .token = 0, .head = 1},
                        latent_row(c, contents, 2, of_k, of_v, 1));
  };
  EXPECT_EQ(cause(64, 64), "a cached row whose rope part is taken to come first");
  EXPECT_EQ(cause(0, 64), "V taken from the last columns of the cached row");
  EXPECT_EQ(cause(0, 1), "V that begins one column late");
  EXPECT_EQ(cause(32, 64), "") << "no usual mistake";
  expect_cause(Fault::kValueBeginsOneDimLate, c, "V that begins one column late");
}

TEST(LikelyCause, of_a_scale_of_k_that_is_left_out_is_named) {
  Case c = small_mla();
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = c.kv_cache.v_scale = 0.37f;
  const Contents contents(c, Fill::kNormal);
  const Numerics numerics = MutantBackend(Fault::kNone).numerics(problem_of(c));
  const auto cause = [&](double k_scale) {
    return likely_cause(c, contents, numerics, {.request = 2, .token = 0, .head = 1},
                        latent_row(c, contents, 2, 0, 0, k_scale));
  };
  EXPECT_EQ(cause(1), "K without its scale");
  EXPECT_EQ(cause(3), "logits 8.11 times as large") << "no usual mistake";
}

/// Element `dim` of the key, or value, that a kernel makes of a stored number.
using Dequantise =
    std::function<float(std::int64_t position, bool is_value, std::uint32_t dim, float stored)>;

/// What likely_cause() says of a decode's row over such keys and values, its stored query times
/// `q_scale`.
std::string cause_of_numbers(const Case& c, const RowId& id, float q_scale,
                             const Dequantise& number) {
  const Contents contents(c, Fill::kNormal);
  const auto width = static_cast<std::size_t>(c.layer.head_dim_qk);
  const auto width_v = static_cast<std::size_t>(c.layer.head_dim_v);
  const int kv_head = id.head / c.layer.group_size();
  std::vector<float> q(width), k(width), v(width_v);
  contents.q_row(id.request, id.token, id.head, q);
  std::vector<double> out(width_v);
  double sum = 0;
  for (std::int64_t key = 0; key < c.requests[static_cast<std::size_t>(id.request)].kv_len; ++key) {
    contents.k_row(id.request, key, kv_head, k);
    contents.v_row(id.request, key, kv_head, v);
    double dot = 0;
    for (std::uint32_t d = 0; d < width; ++d) {
      dot += static_cast<double>(q_scale * q[d]) * static_cast<double>(number(key, false, d, k[d]));
    }
    const double weight = std::exp(c.layer.scale * dot);
    sum += weight;
    for (std::uint32_t d = 0; d < width_v; ++d) {
      out[d] += weight * static_cast<double>(number(key, true, d, v[d]));
    }
  }
  const auto step = static_cast<std::size_t>(size_bytes(c.out_dtype()));
  std::vector<std::byte> got(width_v * step + sizeof(float));
  for (std::size_t d = 0; d < width_v; ++d) {
    store(c.out_dtype(), &got[d * step], static_cast<float>(out[d] / sum));
  }
  store(DType::kF32, &got[width_v * step], static_cast<float>(std::log(sum)));
  return likely_cause(c, contents, {}, id, got);
}

TEST(LikelyCause, of_scales_of_an_fp8_cache_is_named) {
  Case c = small_plain_decode();
  c.layer.heads_q = 8;
  c.layer.heads_kv = 4;
  c.kv_cache.dtype = DType::kE4M3;
  const RowId id{.request = 2, .token = 0, .head = 3};  // of KV head 1
  const auto cause = [&](std::int64_t request, int head, bool swapped) {
    const Contents contents(c, Fill::kNormal);
    return cause_of_numbers(c, id, 1,
                            [&](std::int64_t position, bool is_value, std::uint32_t, float stored) {
                              const bool of_v = is_value != swapped;
                              return stored * (of_v ? contents.v_scale(request, position, head)
                                                    : contents.k_scale(request, position, head))
                                                  .all;
                            });
  };
  c.kv_cache.k_scale = 0.5f;
  c.kv_cache.v_scale = 0.25f;
  EXPECT_EQ(cause(2, 1, true), "the scales of K and V swapped");
  c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
  for (const KvScales kind : {KvScales::kHead, KvScales::kRequest, KvScales::kToken}) {
    c.kv_cache.scales = kind;
    EXPECT_EQ(cause(2, 1, true), "the scales of K and V swapped");
    EXPECT_EQ(cause(2, 2, false), "the scales of KV head 2 for KV head 1");
    EXPECT_EQ(cause(2, 0, false), "the scales of KV head 0 for KV head 1");
    EXPECT_EQ(cause(2, 3, false), "") << "no usual mistake";
  }
  const Contents contents(c, Fill::kNormal);
  EXPECT_EQ(
      cause_of_numbers(c, id, 1,
                       [&](std::int64_t position, bool is_value, std::uint32_t, float stored) {
                         return stored * (is_value ? contents.v_scale(2, position, 0)
                                                   : contents.k_scale(2, position, 1))
                                             .all;
                       }),
      "V's scale of KV head 0 for KV head 1");
  c.kv_cache.scales = KvScales::kRequest;
  EXPECT_EQ(cause(0, 1, false), "the scales of request 0 for request 2");
  EXPECT_EQ(cause(3, 1, false), "the scales of request 3 for request 2");
}

TEST(LikelyCause, of_a_cache_in_the_other_fp8_type_is_named) {
  Case c = small_plain_decode();
  c.kv_cache.dtype = DType::kE5M2;
  EXPECT_EQ(cause_of_numbers(c, {.request = 2, .token = 0, .head = 1}, 1,
                             [](std::int64_t, bool, std::uint32_t, float stored) {
                               return e4m3_value(e5m2_bits(stored));
                             }),
            "a cache in e5m2 read as e4m3");
}

TEST(LikelyCause, of_scales_inside_of_latent_rows_is_named) {
  Case c = small_mla();
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.scales = KvScales::kBlock;
  const Contents contents(c, Fill::kNormal);
  const auto cause = [&](const std::function<float(const RowScale&, std::uint32_t dim)>& scale) {
    return cause_of_numbers(c, {.request = 2, .token = 0, .head = 1}, 1,
                            [&](std::int64_t position, bool, std::uint32_t dim, float stored) {
                              return stored * scale(contents.k_scale(2, position, 0), dim);
                            });
  };
  EXPECT_EQ(cause([](const RowScale& own, std::uint32_t dim) {
              return dim < 512 ? own.of_block(0) : 1.0f;
            }),
            "the first scale of a row for all of its blocks");
  EXPECT_EQ(cause([](const RowScale& own, std::uint32_t dim) {
              return dim < 512 ? own.of_block((dim / 128 + 1) % 4) : 1.0f;
            }),
            "scales of the next block");
  EXPECT_EQ(cause([](const RowScale& own, std::uint32_t dim) {
              return own.of_block(std::min(dim / 128, 3u));
            }),
            "the rope part multiplied by the last block's scale");
  EXPECT_EQ(cause([](const RowScale& own, std::uint32_t dim) {
              return std::exp2(std::floor(std::log2(own.at(dim))));
            }),
            "scales of blocks cut down to powers of two");
}

TEST(LikelyCause, of_scales_of_groups_is_named) {
  const Case c = small_group_rows()[0];
  const Contents contents(c, Fill::kNormal);
  const auto cause = [&](const std::function<float(const RowScale&, std::uint32_t dim)>& scale) {
    return cause_of_numbers(c, {.request = 2, .token = 0, .head = 1}, 1,
                            [&](std::int64_t position, bool, std::uint32_t dim, float stored) {
                              return stored * scale(contents.k_scale(2, position, 0), dim);
                            });
  };
  EXPECT_EQ(cause([](const RowScale& own, std::uint32_t dim) {
              return dim < 448 ? own.of_block((dim / 64 + 1) % 7) : 1.0f;
            }),
            "scales of the next block");
  EXPECT_EQ(cause([](const RowScale& own, std::uint32_t dim) {
              return own.of_block(std::min(dim / 64, 6u));
            }),
            "the rope part multiplied by the last block's scale");
}

TEST(LikelyCause, of_scales_of_queries_is_named) {
  Case c = small_plain_decode();
  c.layer.heads_q = 8;
  c.layer.heads_kv = 4;
  c.fp8.q = DType::kE4M3;
  const RowId id{.request = 2, .token = 0, .head = 3};
  const auto plain = [](std::int64_t, bool, std::uint32_t, float stored) { return stored; };
  const auto cause = [&](std::int64_t request, int head) {
    const Contents contents(c, Fill::kNormal);
    return cause_of_numbers(c, id, contents.q_scale(request, 0, head), plain);
  };
  for (const QScales kind : {QScales::kHead, QScales::kRequest, QScales::kToken}) {
    c.fp8.q_scales = kind;
    EXPECT_EQ(cause_of_numbers(c, id, 1, plain), "Q without its scales");
    EXPECT_EQ(cause(2, 0), "Q's scale of query head 0 for query head 3");
  }
  c.fp8.q_scales = QScales::kRequest;
  EXPECT_EQ(cause(1, 3), "Q's scale of request 1 for request 2");
}

TEST(LikelyCause, of_an_element_that_was_never_written_is_named) {
  for (const Case& c : {small_prefix_hits(), small_plain_decode()}) {  // in bf16 and f32
    expect_cause(Fault::kLeavesAnElement, c, "one element that was never written, dim 0");
    EXPECT_THAT(reason_for(Fault::kLeavesAnElement, c), testing::Not(HasSubstr("slot"))) << c.id;
  }
}

TEST(LikelyCause, of_a_wrong_last_page_is_not_said_to_be_a_key_too_few) {
  Case c = small_plain_decode();
  c.kv_cache.page_size = 4;
  c.requests = {{.kv_len = 13}, {.kv_len = 21}};  // whose last pages have one key
  const std::string reason = reason_for(Fault::kLastPageIsFirst, c);
  EXPECT_THAT(reason, HasSubstr("exceeded"));
  EXPECT_THAT(reason, testing::Not(HasSubstr("that is what one gets")));
}

TEST(LikelyCause, of_rows_that_are_not_finite_is_named) {
  const Case c = small_prefix_hits();  // in bf16
  expect_cause(Fault::kLeavesLastRow, c, "an output that was never written");
  expect_cause(Fault::kReadsTail, c, "a slot read that no request owns");
  EXPECT_THAT(reason_for(Fault::kReadsTail, c), testing::Not(HasSubstr("never written")));
  // Poison that is copied as f32 has the bits that it had.
  expect_cause(Fault::kLeavesLastRow, small_plain_decode(),
               "an output that was never written, or a slot read that no request owns");
}

TEST(LikelyCause, is_left_open_where_no_usual_mistake_gives_the_row) {
  for (const Fault fault : {Fault::kSkipsAPage, Fault::kReadsAPageTwice}) {
    const std::string reason = reason_for(fault, small_plain_decode());
    EXPECT_THAT(reason, HasSubstr("bound exceeded"));
    EXPECT_THAT(reason, testing::Not(HasSubstr("that is what one gets"))) << to_string(fault);
  }
}

}  // namespace
}  // namespace attnbench
