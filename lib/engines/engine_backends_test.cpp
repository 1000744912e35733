// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_backends.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace attnbench {
namespace {

struct Asked {
  Engine engine = Engine::kSglang;
  std::string_view name;
  EngineSetup setup;

  [[nodiscard]] std::string refusal() const {
    return refusal_of(*find_engine_backend(engine, name, setup), setup);
  }
};

/// In the versions whose sources the expectations were read from: SGLang 0.5.17, vLLM 0.22.0.
Asked about(Engine engine, std::string_view name, std::string_view device) {
  Asked asked{engine, name, {}};
  asked.setup.version = {1, 1};
  asked.setup.device = *find_engine_device(device);
  asked.setup.heads_q = 32;
  asked.setup.head_dim_qk = asked.setup.head_dim_v = 128;
  return asked;
}

Asked about_mla(Engine engine, std::string_view name, std::string_view device) {
  Asked asked = about(engine, name, device);
  asked.setup.is_mla = true;
  return asked;
}

TEST(EngineBackends, take_the_pages_that_their_kernels_read) {
  Asked asked = about_mla(Engine::kSglang, "flashmla", "sm90");
  asked.setup.page_size = 16;
  EXPECT_EQ(asked.refusal(), "pages of 64 only, not 16");
  asked.setup.page_size = 128;
  EXPECT_EQ(asked.refusal(), "pages of 64 only, not 128");
  asked.setup.page_size = 64;
  EXPECT_EQ(asked.refusal(), "");
  asked.name = "FLASHMLA", asked.engine = Engine::kVllm, asked.setup.page_size = 128;
  EXPECT_EQ(asked.refusal(), "");
  asked.name = "FLASH_ATTN_MLA", asked.setup.page_size = 1;
  EXPECT_EQ(asked.refusal(), "pages of 16 or multiples, not 1");
  asked.name = "fa3", asked.engine = Engine::kSglang;
  EXPECT_EQ(asked.refusal(), "");
  asked = about(Engine::kSglang, "trtllm_mha", "sm100");
  asked.setup.page_size = 128;
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.page_size = 8;
  EXPECT_EQ(asked.refusal(), "pages of 16, 32, 64, 128 only, not 8");
  asked.setup.page_size = 128;
  asked.name = "cutlass_mla", asked.setup.is_mla = true;
  EXPECT_EQ(asked.refusal(), "");
}

TEST(EngineBackends, of_sglang_s_flashattention_read_pages_of_one_beside_an_encoder) {
  Asked asked = about(Engine::kSglang, "fa3", "sm90");
  asked.setup.is_encoder_decoder = true;
  for (const std::int64_t unset_or_one : {0, 1}) {
    asked.setup.page_size = unset_or_one;
    EXPECT_EQ(asked.refusal(), "");
  }
  asked.setup.page_size = 16;
  EXPECT_EQ(asked.refusal(),
            "beside an encoder, whose page table has slots, pages of 1 only, not 16");
  asked.name = "flashinfer";
  EXPECT_EQ(asked.refusal(), "") << "it lists slots whatever the page size";
  asked.name = "FLASH_ATTN", asked.engine = Engine::kVllm;
  EXPECT_EQ(asked.refusal(), "") << "its cross layers have block tables of their own";
  asked.name = "fa3", asked.engine = Engine::kSglang, asked.setup.is_encoder_decoder = false;
  EXPECT_EQ(asked.refusal(), "");
}

TEST(EngineBackends, take_drafts_as_sources_and_documentation_say) {
  const auto with = [](Asked asked, int topk, std::int64_t page_size) {
    asked.setup.topk = topk;
    asked.setup.page_size = page_size;
    return asked.refusal();
  };
  for (const std::string_view name : {"fa3", "triton"}) {
    const Asked plain = about(Engine::kSglang, name, "sm90");
    const Asked latent = about_mla(Engine::kSglang, name, "sm90");
    for (const Asked& asked : {plain, latent}) {
      EXPECT_EQ(with(asked, 1, 64), "") << name;
      EXPECT_EQ(with(asked, 4, 1), "") << name;
      EXPECT_EQ(with(asked, 4, 16), "") << name;
    }
  }
  EXPECT_EQ(with(about(Engine::kSglang, "flashinfer", "sm90"), 4, 16), "");
  EXPECT_EQ(with(about(Engine::kSglang, "aiter", "gfx942"), 4, 1), "");
  EXPECT_EQ(with(about(Engine::kSglang, "aiter", "gfx942"), 4, 16),
            "topk 4 over pages of 1 only, not 16");
  EXPECT_EQ(with(about_mla(Engine::kSglang, "flashinfer", "sm90"), 4, 1),
            "drafts with topk 1 only, not 4");
  EXPECT_EQ(with(about_mla(Engine::kSglang, "flashmla", "sm90"), 2, 64),
            "drafts with topk 1 only, not 2");
  EXPECT_EQ(with(about(Engine::kSglang, "trtllm_mha", "sm100"), 4, 64),
            "drafts with topk 1 only, not 4");
  EXPECT_EQ(with(about(Engine::kSglang, "torch_native", "sm90"), 1, 1), "no speculative decoding");
  EXPECT_EQ(with(about(Engine::kSglang, "flex_attention", "sm90"), 1, 1),
            "no speculative decoding");
  EXPECT_EQ(with(about(Engine::kVllm, "FLASH_ATTN", "sm90"), 4, 16),
            "drafts with topk 1 only, not 4");
}

TEST(EngineBackends, count_places_in_windows_of_draft_trees) {
  for (const std::string_view name : {"fa3", "triton", "flashinfer"}) {
    Asked asked = about(Engine::kSglang, name, "sm90");
    asked.setup.has_window = asked.setup.window_counts_depth = true;
    asked.setup.topk = 1;
    EXPECT_EQ(asked.refusal(), "") << "in a chain depth and place are one";
    asked.setup.topk = 4;
    EXPECT_EQ(asked.refusal(),
              "windows of draft trees count places among the keys: in_trees: index");
  }
}

struct Feature {
  std::string_view word;
  void (*ask)(EngineSetup&);
};

/// Everything that a scenario can ask of a backend, one at a time.
constexpr Feature kFeatures[] = {
    {"e4m3", [](EngineSetup& s) { s.kv_dtype = DType::kE4M3; }},
    {"e5m2", [](EngineSetup& s) { s.kv_dtype = DType::kE5M2; }},
    {"heads", [](EngineSetup& s) { s.kv_dtype = DType::kE4M3, s.kv_scales = KvScales::kHead; }},
    {"tokens", [](EngineSetup& s) { s.kv_dtype = DType::kE4M3, s.kv_scales = KvScales::kToken; }},
    {"blocks", [](EngineSetup& s) { s.kv_dtype = DType::kE4M3, s.kv_scales = KvScales::kBlock; }},
    {"requests",
     [](EngineSetup& s) { s.kv_dtype = DType::kE4M3, s.kv_scales = KvScales::kRequest; }},
    {"q_requests", [](EngineSetup& s) { s.q_scales = QScales::kRequest; }},
    {"q_heads", [](EngineSetup& s) { s.q_scales = QScales::kHead; }},
    {"q_tokens", [](EngineSetup& s) { s.q_scales = QScales::kToken; }},
    {"x_packed", [](EngineSetup& s) { s.is_x_packed = true; }},
    {"q_fp8", [](EngineSetup& s) { s.kv_dtype = DType::kE4M3, s.q_fp8 = DType::kE4M3; }},
    {"out_fp8", [](EngineSetup& s) { s.has_fp8_output = true; }},
    {"sinks", [](EngineSetup& s) { s.has_sinks = true; }},
    {"window", [](EngineSetup& s) { s.has_window = true; }},
    {"cross", [](EngineSetup& s) { s.is_encoder_decoder = true; }},
    {"softcap", [](EngineSetup& s) { s.has_logit_cap = true; }},
    {"alibi", [](EngineSetup& s) { s.has_alibi = true; }},
    {"temperature", [](EngineSetup& s) { s.has_temperature = true; }},
    {"chunks", [](EngineSetup& s) { s.has_chunks = true; }},
    {"dual", [](EngineSetup& s) { s.is_dual_chunk = true; }},
    {"items", [](EngineSetup& s) { s.scores_items = true; }},
    {"dllm", [](EngineSetup& s) { s.mode = ForwardMode::kDllmExtend; }},
    {"ahead", [](EngineSetup& s) { s.sees_ahead = true; }},
    {"encoder", [](EngineSetup& s) { s.sees_ahead = s.is_ragged = true; }},
    {"ragged", [](EngineSetup& s) { s.is_ragged = true; }},
    {"invariant", [](EngineSetup& s) { s.is_deterministic = true; }}};

/// The words of the features that a backend takes; of those that it is not known to take, with a
/// question mark behind them.
std::string taken_by(const Asked& plain) {
  std::string words;
  for (const Feature& feature : kFeatures) {
    Asked asked = plain;
    feature.ask(asked.setup);
    if (!asked.refusal().empty()) continue;
    const EngineBackend* backend = find_engine_backend(asked.engine, asked.name, asked.setup);
    words += words.empty() ? "" : " ";
    words += feature.word;
    words += unknown_of(*backend, asked.setup).empty() ? "" : "?";
  }
  return words;
}

TEST(EngineBackends, take_the_features_that_their_sources_have) {
  struct Row {
    Engine engine;
    std::string_view name, device, want;
  };
  constexpr Engine kS = Engine::kSglang, kV = Engine::kVllm;
  for (const Row& row :
       {Row{kS, "flashinfer", "sm90",
            "e4m3 e5m2 window cross softcap items dllm ahead encoder ragged invariant"},
        {kS, "fa3", "sm90",
         "e4m3 q_fp8 sinks window cross softcap chunks dllm ahead encoder ragged invariant"},
        {kS, "fa3", "sm80",
         "sinks window cross softcap chunks dllm ahead encoder ragged invariant"},
        {kS, "triton", "sm90",
         "e4m3 e5m2 sinks window softcap temperature dllm ahead encoder ragged invariant"},
        {kS, "triton", "gfx942",
         "e4m3 e5m2 sinks window softcap temperature dllm ahead encoder ragged invariant"},
        {kS, "trtllm_mha", "sm100", "e4m3 e5m2? q_fp8 sinks window"},
        {kS, "trtllm_mha", "sm90", "e4m3 e5m2? sinks window"},
        {kS, "torch_native", "sm90", "e4m3 e5m2 window cross dllm ahead"},
        {kS, "flex_attention", "sm90", ""},
        {kS, "dual_chunk_flash_attn", "sm90", "dual"},
        {kS, "aiter", "gfx942",
         "e5m2? x_packed? sinks? cross? softcap? temperature chunks? dllm? ahead? encoder? "
         "ragged?"},
        {kV, "FLASH_ATTN", "sm80", "window cross softcap alibi chunks ahead encoder invariant"},
        {kV, "FLASH_ATTN", "sm90",
         "e4m3 heads q_heads q_fp8 sinks window cross softcap alibi chunks ahead encoder "
         "invariant"},
        {kV, "FLASH_ATTN", "sm100",
         "q_heads sinks window cross softcap alibi chunks ahead encoder invariant"},
        {kV, "FLASH_ATTN", "sm120", "window cross softcap alibi chunks ahead encoder invariant"},
        {kV, "FLASHINFER", "sm90", "e4m3 e5m2 window softcap chunks"},
        {kV, "FLASHINFER", "sm100", "e4m3 e5m2 q_fp8 out_fp8 sinks window softcap chunks"},
        {kV, "TRITON_ATTN", "sm80",
         "e4m3 e5m2 tokens q_fp8 out_fp8 sinks window cross softcap alibi chunks encoder "
         "invariant"},
        {kV, "FLEX_ATTENTION", "sm90", "window chunks ahead encoder invariant"}}) {
    EXPECT_EQ(taken_by(about(row.engine, row.name, row.device)), row.want)
        << row.name << " on " << row.device;
  }
}

TEST(EngineBackends, of_latent_attention_take_the_features_that_their_sources_have) {
  struct Row {
    Engine engine;
    std::string_view name, device, want;
  };
  constexpr Engine kS = Engine::kSglang, kV = Engine::kVllm;
  for (const Row& row : {Row{kS, "flashinfer", "sm90", "ragged"},
                         {kS, "fa3", "sm90", "softcap ragged invariant"},
                         {kS, "triton", "sm80", "softcap ragged invariant"},
                         {kS, "flashmla", "sm90", "e4m3 e5m2? q_fp8 ragged"},
                         {kS, "cutlass_mla", "sm100", "e4m3 e5m2? q_fp8? ragged"},
                         {kS, "trtllm_mla", "sm120", "e4m3 q_fp8 ragged"},
                         {kV, "FLASH_ATTN_MLA", "sm90", "ragged invariant"},
                         {kV, "FLASHMLA", "sm90", "e4m3 q_fp8 ragged"},
                         {kV, "FLASHINFER_MLA", "sm100", "e4m3 q_fp8 ragged"},
                         {kV, "TRITON_MLA", "sm80", "e4m3 ragged invariant"}}) {
    EXPECT_EQ(taken_by(about_mla(row.engine, row.name, row.device)), row.want)
        << row.name << " on " << row.device;
  }
  Asked sparse = about_mla(Engine::kVllm, "FLASHMLA_SPARSE", "sm90");
  sparse.setup.sparse = SparseAttention::kDsa;
  sparse.setup.head_dim_qk = 576;
  EXPECT_EQ(taken_by(sparse), "e4m3 blocks");
  sparse.setup.sparse = SparseAttention::kPooledDsa;
  sparse.setup.head_dim_qk = 512;
  sparse.setup.version = {};
  EXPECT_EQ(taken_by(sparse), "blocks") << "rows without RoPE";
}

TEST(EngineBackends, name_all_that_they_do_not_take) {
  Asked asked = about(Engine::kSglang, "flashinfer", "sm90");
  asked.setup.has_sinks = asked.setup.has_alibi = asked.setup.has_chunks = true;
  EXPECT_EQ(asked.refusal(), "no sinks, no ALiBi, no chunks");
  asked = about(Engine::kSglang, "fa3", "sm90");
  asked.setup.kv_dtype = DType::kE5M2;
  EXPECT_EQ(asked.refusal(), "no e5m2 cache");
  asked.name = "flex_attention";
  EXPECT_EQ(asked.refusal(), "no fp8 cache");
  asked.setup.scores_items = true;
  EXPECT_EQ(asked.refusal(), "no fp8 cache, no multi-item scoring");
  asked = about(Engine::kSglang, "aiter", "gfx942");
  asked.setup.has_sinks = asked.setup.has_logit_cap = true;
  EXPECT_EQ(asked.refusal(), "");
  EXPECT_EQ(unknown_of(*find_engine_backend(asked.engine, asked.name, asked.setup), asked.setup),
            "sinks, softcap");
}

TEST(EngineBackends, take_queries_in_fp8_beside_a_cache_of_the_same_type) {
  Asked asked = about(Engine::kVllm, "TRITON_ATTN", "sm90");
  asked.setup.q_fp8 = DType::kE4M3;
  EXPECT_EQ(asked.refusal(), "queries in fp8 are e4m3 beside a cache in e4m3");
  asked.setup.kv_dtype = DType::kE4M3;
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.q_fp8 = asked.setup.kv_dtype = DType::kE5M2;
  EXPECT_EQ(asked.refusal(), "queries in fp8 are e4m3 beside a cache in e4m3");
}

TEST(EngineBackends, for_dual_chunks_are_for_nothing_else) {
  Asked asked = about(Engine::kSglang, "dual_chunk_flash_attn", "sm90");
  EXPECT_EQ(asked.refusal(), "for models with dual chunks only");
  asked.setup.is_dual_chunk = true;
  EXPECT_EQ(asked.refusal(), "");
  for (const std::string_view name : {"fa3", "flashinfer", "triton"}) {
    asked.name = name;
    EXPECT_EQ(asked.refusal(), "no dual chunks") << name;
  }
}

TEST(EngineBackends, beside_gated_delta_nets_are_few_on_blackwell) {
  for (const auto& [device, name, want] :
       {std::tuple<std::string_view, std::string_view, std::string_view>{"sm90", "flashinfer", ""},
        {"sm100", "triton", ""},
        {"sm100", "flashinfer",
         "beside gated delta nets sm100 takes triton, trtllm_mha and fa4 only"},
        {"sm120", "flashinfer", ""},
        {"sm120", "torch_native",
         "beside gated delta nets sm120 takes triton, trtllm_mha and flashinfer only"}}) {
    Asked asked = about(Engine::kSglang, name, device);
    asked.setup.linear = LinearAttentionKind::kGatedDeltaNet;
    EXPECT_EQ(asked.refusal(), want) << name << " on " << device;
  }
}

TEST(EngineBackends, of_linear_layers_and_of_vision_towers_are_families_of_their_own) {
  Asked asked = about(Engine::kVllm, "GDN_ATTN", "sm90");
  EXPECT_EQ(asked.refusal(), "for linear layers only");
  asked.setup.of_linear_layer = true;
  asked.setup.has_sinks = true;  // of the model's attention layers
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.is_deterministic = true;
  EXPECT_EQ(asked.refusal(), "no deterministic inference");
  asked = about(Engine::kSglang, "triton_attn", "sm100");
  EXPECT_EQ(asked.refusal(), "for vision towers only");
  asked.setup.is_ragged = asked.setup.sees_ahead = true;
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.has_window = true;
  EXPECT_EQ(asked.refusal(), "no sliding window");
}

TEST(EngineBackends, of_tensorrt_llm_decode_alone_where_they_are_xqa) {
  Asked asked = about(Engine::kSglang, "trtllm_mha", "sm90");
  for (const ForwardMode mode :
       {ForwardMode::kDecode, ForwardMode::kTargetVerify, ForwardMode::kDraftExtendV2}) {
    asked.setup.mode = mode;
    EXPECT_EQ(asked.refusal(), "");
  }
  asked.setup.mode = ForwardMode::kExtend;
  EXPECT_EQ(asked.refusal(), "decodes only on sm90");
  asked.setup.device = *find_engine_device("sm120");
  EXPECT_EQ(asked.refusal(), "decodes only on sm120");
  asked.setup.device = *find_engine_device("sm100");
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.device = *find_engine_device("sm80");
  EXPECT_EQ(asked.refusal(), "not built for sm80");
}

TEST(EngineBackends, of_sglang_have_graphs_of_drafts_and_of_diffusion) {
  const auto with = [](std::string_view name, ForwardMode mode) {
    Asked asked = about(Engine::kSglang, name, "sm90");
    asked.setup.mode = mode;
    asked.setup.graph = CudaGraphSupport::kUniformBatch;
    return asked.refusal();
  };
  EXPECT_EQ(with("flashinfer", ForwardMode::kDraftExtend), "");
  EXPECT_EQ(with("triton", ForwardMode::kDraftExtendV2), "");
  EXPECT_EQ(with("fa3", ForwardMode::kDraftExtendV2), "no CUDA graph of draft_extend_v2 steps");
  EXPECT_EQ(with("fa3", ForwardMode::kTargetVerify), "");
  EXPECT_EQ(with("flashinfer", ForwardMode::kDllmExtend), "");
  EXPECT_EQ(with("triton", ForwardMode::kDllmExtend),
            "no CUDA graph: with graphs, block diffusion takes flashinfer");
}

TEST(EngineBackends, may_read_other_pages_of_a_cache_in_fp8) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN", "sm100");
  asked.setup.version = {0, 0};  // 0.33.0
  asked.setup.head_dim_qk = asked.setup.head_dim_v = 256;
  asked.setup.page_size = 64;
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.kv_dtype = DType::kE4M3;
  EXPECT_EQ(asked.refusal(), "pages of 128 or multiples, not 64");
  asked.setup.page_size = 256;
  EXPECT_EQ(asked.refusal(), "");
}

TEST(EngineBackends, of_vllm_record_no_chunked_layers) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN", "sm90");
  asked.setup.has_chunks = true;
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.graph = CudaGraphSupport::kUniformSingleTokenDecode;
  EXPECT_EQ(asked.refusal(), "no CUDA graph of chunked layers");
}

TEST(EngineBackends, claim_the_graph_levels_of_vllms_classes) {
  const auto with = [](std::string_view name, std::string_view device, CudaGraphSupport graph) {
    Asked asked = about(Engine::kVllm, name, device);
    asked.setup.is_mla = name.find("MLA") != std::string_view::npos;
    asked.setup.graph = graph;
    return asked.refusal().empty();
  };
  using Level = CudaGraphSupport;
  EXPECT_TRUE(with("FLASH_ATTN", "sm90", Level::kAlways));
  EXPECT_FALSE(with("FLASH_ATTN", "sm80", Level::kAlways));
  EXPECT_TRUE(with("FLASH_ATTN", "sm80", Level::kUniformBatch));
  EXPECT_TRUE(with("TRITON_ATTN", "sm80", Level::kAlways));
  EXPECT_FALSE(with("FLASHINFER", "sm90", Level::kUniformBatch));
  EXPECT_TRUE(with("FLASHINFER", "sm90", Level::kUniformSingleTokenDecode));
  EXPECT_TRUE(with("FLASHINFER", "sm100", Level::kUniformBatch));
  EXPECT_TRUE(with("FLASHMLA", "sm90", Level::kUniformBatch));
  EXPECT_FALSE(with("FLASHMLA", "sm90", Level::kAlways));
  EXPECT_FALSE(with("CUTLASS_MLA", "sm100", Level::kUniformBatch));
  EXPECT_TRUE(with("FLEX_ATTENTION", "sm90", Level::kAlways));
  EXPECT_TRUE(with("TRITON_MLA", "sm90", Level::kUniformBatch));
  Asked asked = about(Engine::kVllm, "FLASHINFER", "sm90");
  asked.setup.graph = Level::kUniformBatch;
  EXPECT_EQ(asked.refusal(),
            "no CUDA graph of such a step: it needs UNIFORM_BATCH, FLASHINFER claims "
            "UNIFORM_SINGLE_TOKEN_DECODE");
}

TEST(EngineBackends, of_the_newest_versions_take_what_they_refused_before) {
  const auto is_taken = [](Asked asked, void (*ask)(EngineSetup&)) {
    asked.setup.version = {0, 0};
    ask(asked.setup);
    return asked.refusal().empty();
  };
  const auto nothing = [](EngineSetup&) {};
  const auto prompt = [](EngineSetup& s) { s.mode = ForwardMode::kExtend; };
  const auto sinks = [](EngineSetup& s) { s.has_sinks = true; };
  const auto verify = [](EngineSetup& s) { s.graph = CudaGraphSupport::kUniformBatch; };
  EXPECT_TRUE(is_taken(about(Engine::kSglang, "trtllm_mha", "sm90"), prompt));
  EXPECT_TRUE(is_taken(about(Engine::kVllm, "FLASHINFER", "sm90"), sinks));
  EXPECT_TRUE(is_taken(about(Engine::kVllm, "FLASHINFER", "sm90"), verify));
  EXPECT_TRUE(is_taken(about(Engine::kVllm, "HPC_ATTN", "sm90"),
                       [](EngineSetup& s) { s.kv_dtype = DType::kE4M3; }));
  EXPECT_FALSE(is_taken(about(Engine::kVllm, "FLASHINFER", "sm75"), nothing));
}

TEST(EngineBackends, of_dense_attention_take_no_chosen_keys) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN", "sm90");
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.has_selection = true;
  EXPECT_EQ(asked.refusal(), "no chosen keys");
}

TEST(EngineBackends, of_hopper_s_flashattention_depend_on_the_head_dim) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN", "sm90");
  asked.setup.version = {0, 0};
  asked.setup.has_spans = true;
  EXPECT_EQ(asked.refusal(), "no bidirectional spans");
  asked.setup.head_dim_qk = asked.setup.head_dim_v = 512;  // FlashAttention 4 stands in for 3
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.kv_dtype = DType::kE4M3;  // in pages of 64, and Triton's where spans see ahead
  EXPECT_EQ(asked.refusal(), "no bidirectional spans over an fp8 cache");
  asked.setup.has_spans = false;
  EXPECT_EQ(asked.refusal(), "");
  asked.setup.page_size = 16;
  EXPECT_EQ(asked.refusal(), "pages of 64 or multiples, not 16");
  asked.setup.page_size = 0;
  asked.setup.head_dim_qk = asked.setup.head_dim_v = 320;
  EXPECT_EQ(asked.refusal(), "no fp8 cache");
  asked.setup.device = *find_engine_device("sm80");
  EXPECT_EQ(asked.refusal(), "head dims of 1 to 256 only, not 320");
}

TEST(EngineBackends, of_blackwell_s_flashattention_depend_on_the_head_dim) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN", "sm100");
  asked.setup.version = {0, 0};
  asked.setup.has_spans = true;
  EXPECT_EQ(asked.refusal(), "");
  for (const int dim : {160, 512}) {  // FlashAttention 2 stands in for 4
    asked.setup.head_dim_qk = asked.setup.head_dim_v = dim;
    asked.setup.has_spans = true;
    EXPECT_EQ(asked.refusal(), "no bidirectional spans");
    asked.setup.has_spans = false;
    EXPECT_EQ(asked.refusal(), "");
    asked.setup.kv_dtype = DType::kE4M3;
    EXPECT_EQ(asked.refusal(), "no fp8 cache");
    asked.setup.kv_dtype = DType::kBF16;
  }
}

TEST(EngineBackends, run_on_the_gpus_that_they_are_built_for) {
  EXPECT_EQ(about_mla(Engine::kSglang, "cutlass_mla", "sm90").refusal(),
            "built for sm100 to sm109");
  EXPECT_EQ(about_mla(Engine::kSglang, "trtllm_mla", "sm90").refusal(), "built for sm100 to sm121");
  EXPECT_EQ(about(Engine::kSglang, "fa3", "sm80").refusal(), "");
  EXPECT_EQ(about_mla(Engine::kSglang, "fa3", "sm80").refusal(), "built for sm90");
  EXPECT_EQ(about(Engine::kSglang, "flashinfer", "sm75").refusal(), "built for sm80 and later");
  EXPECT_EQ(about(Engine::kSglang, "flashmla", "sm90").refusal(), "for dense MLA only");
  EXPECT_EQ(about_mla(Engine::kSglang, "trtllm_mha", "sm100").refusal(),
            "for separate heads of K and V only");
}

TEST(EngineBackends, of_vllm_have_k_and_v_of_one_head_dim_but_for_one) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN_DIFFKV", "sm90");
  EXPECT_EQ(asked.refusal(), "K and V of different head dims only");
  asked.setup.head_dim_qk = 192;
  EXPECT_EQ(asked.refusal(), "");
  asked.name = "FLASH_ATTN";
  EXPECT_EQ(asked.refusal(), "K and V of one head dim, not 192 and 128");
}

TEST(EngineBackends, are_listed_once_for_a_family_of_layers) {
  for (const EngineDevice& device : engine_devices()) {
    for (const Engine engine : kEngines) {
      std::set<std::pair<std::string_view, EngineBackend::Layers>> seen;
      for (const EngineBackend* backend : engine_backends(engine, {.device = device})) {
        EXPECT_TRUE(seen.emplace(backend->name, backend->layers).second)
            << backend->name << " on " << device.name;
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
