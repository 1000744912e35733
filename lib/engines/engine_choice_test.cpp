// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/engines/engine_features.h"
#include "lib/engines/engine_kernels.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

EngineSetup setup_on(std::string_view device) {
  EngineSetup setup;
  setup.device = *find_engine_device(device);
  setup.heads_q = 32;
  setup.head_dim_qk = setup.head_dim_v = 128;
  return setup;
}

EngineSetup mla_on(std::string_view device) {
  EngineSetup setup = setup_on(device);
  setup.is_mla = true;
  setup.heads_q = 16;
  setup.head_dim_qk = 576;
  setup.head_dim_v = 512;
  return setup;
}

EngineSetup with_topk(EngineSetup setup, int topk) {
  setup.topk = topk;
  return setup;
}

EngineSetup in_version(EngineSetup setup, Engine engine, std::string_view version) {
  setup.version[static_cast<std::size_t>(engine)] = *find_engine_version(engine, version);
  return setup;
}

std::string sglang(const EngineSetup& setup) {
  return choose_backend(Engine::kSglang, setup).backend;
}
std::string vllm(const EngineSetup& setup) { return choose_backend(Engine::kVllm, setup).backend; }

TEST(SglangChoice, follows_architecture_drafts_packages_and_sinks) {
  struct Row {
    std::string_view device;
    bool mla;
    int topk;
    bool flashinfer, sinks;
    std::string_view want;
  };
  for (const Row& row : {Row{"sm90", false, 0, true, false, "fa3"},
                         {"sm90", false, 1, true, false, "fa3"},
                         {"sm90", false, 4, true, false, "flashinfer"},
                         {"sm90", false, 4, true, true, "fa3"},
                         {"sm90", true, 4, true, false, "fa3"},
                         {"sm90", true, 0, false, false, "fa3"},
                         {"sm100", false, 1, true, false, "trtllm_mha"},
                         {"sm103", false, 0, true, true, "trtllm_mha"},
                         {"sm100", false, 4, true, false, "flashinfer"},
                         {"sm120", false, 0, true, false, "flashinfer"},
                         {"sm100", true, 0, true, false, "trtllm_mla"},
                         {"sm100", true, 4, true, false, "trtllm_mla"},
                         {"sm80", true, 0, true, false, "triton"},
                         {"sm80", false, 0, true, false, "flashinfer"},
                         {"sm89", false, 0, false, false, "triton"},
                         {"sm89", false, 0, true, true, "triton"},
                         {"gfx942", false, 0, true, false, "aiter"},
                         {"gfx942", true, 0, true, false, "aiter"}}) {
    EngineSetup setup = row.mla ? mla_on(row.device) : setup_on(row.device);
    setup.topk = row.topk;
    setup.has_flashinfer = row.flashinfer;
    setup.has_sinks = row.sinks;
    EXPECT_EQ(sglang(setup), row.want)
        << row.device << (row.mla ? " MLA" : "") << " topk " << row.topk;
  }
}

TEST(SglangChoice, of_chunked_layers_is_never_flashinfer) {
  for (const int topk : {0, 4}) {
    for (const auto& [device, want] : {std::pair<std::string_view, std::string_view>{"sm90", "fa3"},
                                       {"sm100", "trtllm_mha"},
                                       {"sm80", "triton"},
                                       {"sm120", "triton"},
                                       {"gfx942", "aiter"},
                                       {"cpu", "intel_amx"}}) {
      EngineSetup setup = with_topk(setup_on(device), topk);
      setup.has_chunks = true;
      EXPECT_EQ(sglang(setup), want) << device << " topk " << topk;
    }
  }
}

TEST(SglangChoice, needs_cuda_12_3_for_fa3) {
  EngineSetup setup = setup_on("sm90");
  setup.cuda_version = 1202;
  EXPECT_EQ(sglang(setup), "flashinfer");
  setup.is_mla = true;
  EXPECT_EQ(sglang(setup), "triton");
  setup.cuda_version = 1203;
  EXPECT_EQ(sglang(setup), "fa3");
}

TEST(SglangChoice, takes_fa4_on_blackwell_where_k_and_v_have_different_dims) {
  EngineSetup setup = setup_on("sm100");
  setup.head_dim_qk = 192;
  EXPECT_EQ(sglang(setup), "fa4");
  EXPECT_EQ(sglang(mla_on("sm100")), "trtllm_mla");  // whose rows differ in another way
}

TEST(SglangChoice, has_no_caveat_from_rows_of_other_layers) {
  for (const int heads : {16, 32}) {
    EngineSetup latent = mla_on("gfx942");
    latent.heads_q = heads;
    const EngineChoice choice = choose_backend(Engine::kSglang, latent);
    EXPECT_EQ(choice.backend, heads == 16 ? "aiter" : "triton");
    EXPECT_EQ(choice.caveat, "");
  }
  EngineSetup unequal = setup_on("sm100");  // takes fa4, of which there are rows of vision towers
  unequal.head_dim_qk = 192;
  EXPECT_EQ(choose_backend(Engine::kSglang, unequal).caveat, "");
}

TEST(SglangChoice, gives_an_intel_gpu_no_large_pages_beside_gated_delta_nets) {
  EngineSetup setup = setup_on("xpu");
  setup.linear = LinearAttentionKind::kGatedDeltaNet;
  setup.page_size = 1;
  EXPECT_EQ(sglang(setup), "triton");
  setup.page_size = 16;
  EXPECT_EQ(sglang(setup), "");
  setup.linear = {};
  EXPECT_EQ(sglang(setup), "triton");
}

TEST(SglangChoice, knows_models_and_devices_that_stand_before_the_rule) {
  EngineSetup setup = setup_on("sm90");
  setup.sparse = SparseAttention::kDsa;
  EXPECT_EQ(sglang(setup), "dsa");
  setup.is_dual_chunk = true;
  EXPECT_EQ(sglang(in_version(setup, Engine::kSglang, "0.5.17")), "dual_chunk_flash_attn");
  EXPECT_EQ(sglang(setup_on("xpu")), "triton");
  EngineSetup sinks = setup_on("xpu");
  sinks.has_sinks = true;
  EXPECT_EQ(sglang(sinks), "intel_xpu");
  EXPECT_EQ(sglang(setup_on("npu")), "ascend");
  EXPECT_EQ(sglang(setup_on("mps")), "torch_native");
  EngineSetup cpu = setup_on("cpu");
  EXPECT_EQ(sglang(cpu), "intel_amx");
  cpu.has_amx = false;
  EXPECT_EQ(sglang(cpu), "torch_native");
}

// _get_default_attn_backend names Whisper's class; Llama 3.2 Vision follows the rule of its device.
TEST(SglangChoice, of_encoder_decoders_sets_whisper_apart_alone) {
  EngineSetup vision = setup_on("sm90");
  vision.is_encoder_decoder = true;
  EXPECT_EQ(sglang(vision), "fa3");
  vision.device = *find_engine_device("sm89");
  EXPECT_EQ(sglang(vision), "flashinfer");
  EngineSetup whisper = setup_on("sm90");
  whisper.is_encoder_decoder = whisper.is_whisper = true;
  EXPECT_EQ(sglang(whisper), "flashinfer");
  whisper.is_deterministic = true;
  EXPECT_EQ(sglang(whisper), "fa3") << "that is decided before";
}

TEST(SglangChoice, follows_its_rule_of_deterministic_inference) {
  for (const auto& [device, plain, latent] :
       {std::tuple<std::string_view, std::string_view, std::string_view>{"sm80", "fa3", "fa3"},
        {"sm90", "fa3", "fa3"},
        {"sm100", "flashinfer", "trtllm_mla"},  // set for the model before, so that the server ends
        {"sm120", "flashinfer", "triton"},
        {"gfx942", "fa3", "fa3"}}) {
    EngineSetup setup = setup_on(device);
    setup.is_deterministic = true;
    EXPECT_EQ(sglang(setup), plain) << device;
    setup = mla_on(device);
    setup.is_deterministic = true;
    EXPECT_EQ(sglang(setup), latent) << device;
  }
  EngineSetup setup = setup_on("sm90");
  setup.is_deterministic = true;
  EXPECT_EQ(choose_backend(Engine::kSglang, setup).flags,
            "--attention-backend fa3 --enable-deterministic-inference");
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).flags,
            "VLLM_BATCH_INVARIANT=1 --attention-backend FLASH_ATTN");
}

TEST(SglangChoice, takes_triton_in_place_of_fa3_for_e5m2) {
  for (EngineSetup setup : {setup_on("sm90"), mla_on("sm90")}) {
    setup.kv_dtype = DType::kE5M2;
    const EngineChoice choice = choose_backend(Engine::kSglang, setup);
    EXPECT_EQ(choice.backend, "triton");
    EXPECT_EQ(choice.reason, "fa3 takes no e5m2 cache: the server warns and takes triton");
    EXPECT_EQ(choice.caveat, setup.is_mla ? "no fp8 cache" : "");
  }
}

TEST(SglangChoice, of_block_diffusion_is_flashinfer_on_nvidia) {
  EngineSetup setup = setup_on("sm90");
  setup.mode = ForwardMode::kDllmExtend;
  EXPECT_EQ(sglang(setup), "flashinfer");
  setup.device = *find_engine_device("gfx942");
  EXPECT_EQ(sglang(setup), "aiter");
}

TEST(SglangChoice, warns_of_what_takes_a_flag) {
  EngineSetup setup = setup_on("sm90");
  setup.scores_items = true;
  const EngineChoice choice = choose_backend(Engine::kSglang, setup);
  EXPECT_EQ(choice.backend, "fa3");
  EXPECT_EQ(choice.caveat, "no multi-item scoring");
  EXPECT_EQ(choice.flags, "--attention-backend fa3 --enable-mis");
}

TEST(SglangChoice, beside_gated_delta_nets_differs_on_blackwell) {
  EngineSetup setup = setup_on("sm100");
  setup.linear = LinearAttentionKind::kGatedDeltaNet;
  EXPECT_EQ(sglang(setup), "triton");
  EXPECT_EQ(sglang(with_topk(setup, 1)), "trtllm_mha");
  EXPECT_EQ(sglang(with_topk(setup, 4)), "triton");
  setup.head_dim_v = setup.head_dim_qk / 2;
  EXPECT_EQ(sglang(with_topk(setup, 1)), "triton");
  setup.head_dim_v = setup.head_dim_qk;
  setup.device = *find_engine_device("sm90");
  EXPECT_EQ(sglang(setup), "fa3");
}

TEST(SglangChoice, takes_aiter_for_mla_of_16_or_128_heads_only) {
  EngineSetup setup = mla_on("gfx942");
  setup.heads_q = 32;
  EXPECT_EQ(sglang(setup), "triton");
  setup.heads_q = 128;
  EXPECT_EQ(sglang(setup), "aiter");
}

TEST(VllmChoice, is_the_first_of_its_list_that_fits) {
  EXPECT_EQ(vllm(setup_on("sm80")), "FLASH_ATTN");
  EXPECT_EQ(vllm(setup_on("sm90")), "FLASH_ATTN");
  EXPECT_EQ(vllm(setup_on("sm100")), "FLASHINFER");
  EXPECT_EQ(vllm(setup_on("sm120")), "FLASH_ATTN");
  EXPECT_EQ(vllm(setup_on("sm75")), "TRITON_ATTN");
  EXPECT_EQ(vllm(in_version(setup_on("sm75"), Engine::kVllm, "0.22")), "FLASHINFER");
  EXPECT_EQ(vllm(mla_on("sm80")), "TRITON_MLA");
  EXPECT_EQ(vllm(mla_on("sm90")), "FLASH_ATTN_MLA");
  EXPECT_EQ(vllm(mla_on("sm100")), "FLASHINFER_MLA");
  EXPECT_EQ(vllm(setup_on("cpu")), "CPU_ATTN");
}

TEST(VllmChoice, passes_over_what_validation_refuses_and_says_why) {
  EngineSetup fp8 = setup_on("sm89");  // FlashAttention 2
  fp8.kv_dtype = DType::kE4M3;
  EXPECT_EQ(vllm(fp8), "FLASHINFER");
  EXPECT_EQ(choose_backend(Engine::kVllm, fp8).reason,
            "first of its list that fits: not FLASH_ATTN (no fp8 cache)");
  fp8.has_flashinfer = false;
  EXPECT_EQ(vllm(fp8), "TRITON_ATTN");
  fp8.has_flashinfer = true;
  fp8.head_dim_qk = fp8.head_dim_v = 96;
  EXPECT_EQ(vllm(fp8), "TRITON_ATTN");

  EngineSetup sinks = setup_on("sm80");
  sinks.has_sinks = true;
  EXPECT_EQ(vllm(sinks), "TRITON_ATTN");
  sinks.device = *find_engine_device("sm90");
  EXPECT_EQ(vllm(sinks), "FLASH_ATTN");
  sinks.device = *find_engine_device("sm100");
  EXPECT_EQ(vllm(sinks), "FLASHINFER");

  EngineSetup wide = setup_on("sm100");
  wide.head_dim_qk = wide.head_dim_v = 96;
  EXPECT_EQ(vllm(wide), "FLASH_ATTN");
  wide.dtype = DType::kF32;
  EXPECT_EQ(vllm(wide), "TRITON_ATTN");

  EngineSetup encoder = setup_on("sm100");
  encoder.is_encoder_decoder = true;
  EXPECT_EQ(vllm(encoder), "FLASH_ATTN");

  EngineSetup latent = mla_on("sm90");
  latent.kv_dtype = DType::kE4M3;
  EXPECT_EQ(vllm(latent), "FLASHMLA");
  latent.sparse = SparseAttention::kDsa;
  EXPECT_EQ(vllm(latent), "FLASHMLA_SPARSE");
}

TEST(VllmChoice, is_triton_on_blackwell_for_fp8_caches_and_sinks_with_batch_invariance) {
  EngineSetup setup = setup_on("sm100");
  setup.is_deterministic = true;
  EXPECT_EQ(vllm(setup), "FLASH_ATTN");
  EngineSetup fp8 = setup, sinks = setup;
  fp8.kv_dtype = DType::kE4M3;
  sinks.has_sinks = true;
  for (const EngineSetup& each : {fp8, sinks}) EXPECT_EQ(vllm(each), "TRITON_ATTN");
  EXPECT_THAT(choose_backend(Engine::kVllm, sinks).reason,
              HasSubstr("FLASH_ATTN (no sinks with deterministic inference)"));
  EXPECT_EQ(vllm(in_version(sinks, Engine::kVllm, "0.22")), "TRITON_ATTN");
  sinks.device = *find_engine_device("sm90");
  EXPECT_EQ(vllm(sinks), "FLASH_ATTN") << "FlashAttention 3 stays";
}

TEST(VllmChoice, takes_no_e5m2_but_with_two_backends) {
  EngineSetup setup = setup_on("sm90");
  setup.kv_dtype = DType::kE5M2;
  const EngineChoice choice = choose_backend(Engine::kVllm, setup);
  EXPECT_EQ(choice.backend, "FLASHINFER");
  EXPECT_EQ(choice.reason, "first of its list that fits: not FLASH_ATTN (no e5m2 cache)");
  setup = mla_on("sm90");
  setup.kv_dtype = DType::kE5M2;
  EXPECT_EQ(vllm(setup), "");
}

TEST(VllmChoice, has_backends_for_rows_of_fp8_ds_mla_and_for_scales_of_tokens) {
  EngineSetup setup = mla_on("sm90");
  setup.kv_dtype = DType::kE4M3;
  setup.kv_scales = KvScales::kBlock;
  EXPECT_EQ(vllm(setup), "");
  setup.sparse = SparseAttention::kDsa;
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).flags,
            "--attention-backend FLASHMLA_SPARSE --block-size 64 --kv-cache-dtype fp8_ds_mla");
  setup.device = *find_engine_device("sm100");
  EXPECT_EQ(vllm(setup), "FLASHMLA_SPARSE");
  setup.kv_scales = KvScales::kTensor;
  EXPECT_EQ(vllm(setup), "FLASHINFER_MLA_SPARSE");
  EXPECT_NE(choose_backend(Engine::kVllm, setup).flags.find("--kv-cache-dtype fp8_ds_mla"),
            std::string::npos)
      << "the one fp8 cache of sparse MLA";
  setup = setup_on("sm90");
  setup.kv_dtype = DType::kE4M3;
  setup.kv_scales = KvScales::kToken;
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).flags,
            "--attention-backend TRITON_ATTN --kv-cache-dtype fp8_per_token_head");
}

TEST(VllmChoice, of_sparse_mla_depends_on_heads_on_blackwell) {
  EngineSetup setup = mla_on("sm100");
  setup.sparse = SparseAttention::kDsa;
  setup.heads_q = 16;
  EXPECT_EQ(vllm(setup), "FLASH_ATTN_MLA_SPARSE_FA4");
  EXPECT_EQ(vllm(in_version(setup, Engine::kVllm, "0.22")), "FLASHINFER_MLA_SPARSE");
  setup.heads_q = 17;
  EXPECT_EQ(vllm(setup), "FLASHMLA_SPARSE");
}

TEST(EngineFeatures, of_rows_with_scales_inside_ask_for_no_plain_fp8_cache) {
  EngineSetup setup = mla_on("sm90");
  setup.kv_dtype = DType::kE4M3;
  EXPECT_TRUE(features_of(setup).has(EngineFeature::kE4m3Cache));
  setup.kv_scales = KvScales::kBlock;
  EXPECT_TRUE(features_of(setup).has(EngineFeature::kBlockScales));
  EXPECT_FALSE(features_of(setup).has(EngineFeature::kE4m3Cache));
}

TEST(VllmChoice, looks_at_encoders_and_batch_invariance_and_not_at_alibi) {
  EngineSetup setup = setup_on("sm100");
  setup.sees_ahead = setup.is_ragged = true;
  EXPECT_EQ(vllm(setup), "FLASH_ATTN");
  setup = setup_on("sm100");
  setup.is_deterministic = true;
  EXPECT_EQ(vllm(setup), "FLASH_ATTN");
  setup = setup_on("sm100");
  setup.has_alibi = true;
  const EngineChoice choice = choose_backend(Engine::kVllm, setup);
  EXPECT_EQ(choice.backend, "FLASHINFER");
  EXPECT_EQ(choice.caveat, "no ALiBi");
  setup = mla_on("sm90");
  setup.is_deterministic = true;
  setup.kv_dtype = DType::kE4M3;
  EXPECT_EQ(vllm(setup), "TRITON_MLA");
}

TEST(LinearChoice, stands_beside_the_choice_for_attention) {
  struct Row {
    LinearAttentionKind sort;
    std::string_view sglang, vllm;
  };
  for (const Row& row : {Row{LinearAttentionKind::kGatedDeltaNet, "triton", "GDN_ATTN"},
                         {LinearAttentionKind::kKimiDelta, "triton", "GDN_ATTN"},
                         {LinearAttentionKind::kLightning, "seg_la", "LINEAR_ATTN"},
                         {LinearAttentionKind::kUnknown, "", ""}}) {
    EngineSetup setup = setup_on("sm90");
    setup.linear = row.sort;
    EXPECT_EQ(choose_linear_backend(Engine::kSglang, setup).backend, row.sglang);
    EXPECT_EQ(choose_linear_backend(Engine::kVllm, setup).backend, row.vllm);
    EXPECT_EQ(sglang(setup), "fa3");
  }
  EngineSetup setup = setup_on("sm90");
  setup.linear = LinearAttentionKind::kGatedDeltaNet;
  setup.is_deterministic = true;
  EXPECT_EQ(choose_linear_backend(Engine::kSglang, setup).flags, "--linear-attn-backend triton");
  EXPECT_EQ(choose_linear_backend(Engine::kVllm, setup).caveat, "no deterministic inference");
}

TEST(VisionChoice, follows_the_device) {
  for (const auto& [device, in_sglang, in_vllm] :
       {std::tuple<std::string_view, std::string_view, std::string_view>{"sm75", "triton_attn",
                                                                         "TORCH_SDPA"},
        {"sm80", "triton_attn", "FLASH_ATTN"},
        {"sm90", "fa3", "FLASH_ATTN"},
        {"sm100", "fa4", "FLASH_ATTN"},
        {"sm103", "triton_attn", "FLASH_ATTN"},
        {"sm120", "triton_attn", "FLASH_ATTN"},
        {"gfx942", "triton_attn", ""}}) {
    EXPECT_EQ(choose_vision_backend(Engine::kSglang, setup_on(device)).backend, in_sglang)
        << device;
    EXPECT_EQ(choose_vision_backend(Engine::kVllm, setup_on(device)).backend, in_vllm) << device;
  }
  EXPECT_EQ(choose_vision_backend(Engine::kSglang, setup_on("sm90")).flags,
            "--mm-attention-backend fa3");
  EXPECT_EQ(choose_vision_backend(Engine::kVllm, setup_on("sm90")).flags,
            "--mm-encoder-attn-backend FLASH_ATTN");
}

TEST(VllmChoice, has_a_backend_for_k_and_v_of_different_dims) {
  EngineSetup setup = setup_on("sm90");
  setup.head_dim_qk = 192;
  EXPECT_EQ(vllm(setup), "FLASH_ATTN_DIFFKV");
  EXPECT_EQ(vllm(mla_on("sm90")), "FLASH_ATTN_MLA");
}

TEST(VllmChoice, says_so_where_it_knows_no_rule) {
  const EngineChoice rocm = choose_backend(Engine::kVllm, setup_on("gfx942"));
  EXPECT_EQ(rocm.backend, "");
  EXPECT_EQ(rocm.reason, "attnbench has no rule of vLLM for gfx942");
  EXPECT_EQ(rocm.flags, "");
}

TEST(EngineChoice, comes_with_the_flags_that_ask_for_the_same) {
  EXPECT_EQ(choose_backend(Engine::kSglang, setup_on("sm90")).flags, "--attention-backend fa3");
  EngineSetup setup = with_topk(setup_on("sm90"), 4);
  setup.page_size = 32;
  setup.kv_dtype = DType::kE4M3;
  EXPECT_EQ(choose_backend(Engine::kSglang, setup).flags,
            "--attention-backend flashinfer --page-size 32 --kv-cache-dtype fp8_e4m3 "
            "--speculative-eagle-topk 4");
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).flags,
            "--attention-backend FLASH_ATTN --block-size 32 --kv-cache-dtype fp8_e4m3");
}

TEST(EngineChoice, asks_for_pages_that_the_kernels_read) {
  EngineSetup setup = mla_on("sm90");
  setup.kv_dtype = DType::kE4M3;
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).flags,
            "--attention-backend FLASHMLA --block-size 64 --kv-cache-dtype fp8_e4m3");
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).caveat, "");  // nobody asked for other pages
  setup.page_size = 16;
  EXPECT_EQ(vllm(setup), "TRITON_MLA") << "a user's block size is validated, too";
  EXPECT_EQ(choose_backend(Engine::kSglang, setup_on("sm100")).flags,
            "--attention-backend trtllm_mha --page-size 16");
}

TEST(EngineChoice, names_what_the_chosen_backend_does_not_take) {
  EngineSetup setup = mla_on("sm90");
  setup.kv_dtype = DType::kE4M3;
  EXPECT_EQ(choose_backend(Engine::kSglang, setup).caveat, "no fp8 cache");
  setup.kv_dtype = DType::kBF16;
  setup.page_size = 64;
  EXPECT_EQ(choose_backend(Engine::kSglang, with_topk(setup, 4)).caveat, "");
  setup.device = *find_engine_device("sm100");
  EXPECT_EQ(choose_backend(Engine::kSglang, with_topk(setup, 4)).caveat,
            "drafts with topk 1 only, not 4");
  EXPECT_EQ(choose_backend(Engine::kVllm, with_topk(setup_on("sm90"), 4)).caveat,
            "drafts with topk 1 only, not 4");
}

TEST(EngineChoice, names_what_a_feature_takes_away) {
  EngineSetup setup = setup_on("sm90");
  setup.kv_dtype = DType::kE5M2;
  EXPECT_EQ(choose_backend(Engine::kSglang, setup).instead_of, "fa3");
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).instead_of, "FLASH_ATTN");
  setup.kv_dtype = DType::kBF16;
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).instead_of, "");
  EXPECT_EQ(choose_backend(Engine::kVllm, mla_on("sm80")).instead_of, "")
      << "FLASH_ATTN_MLA is not built for it, whatever is asked";
}

TEST(EngineVersions, are_found_by_their_first_numbers) {
  EXPECT_EQ(find_engine_version(Engine::kVllm, engine_versions(Engine::kVllm).front()), 0u);
  EXPECT_EQ(engine_versions(Engine::kVllm)[find_engine_version(Engine::kVllm, "0.22").value()],
            "0.22.0");
  EXPECT_EQ(find_engine_version(Engine::kVllm, "0.2"), std::nullopt);
  EXPECT_EQ(find_engine_version(Engine::kSglang, "0.22.0"), std::nullopt);
}

TEST(EngineVersions, have_rules_of_their_own) {
  EngineSetup setup = mla_on("sm90");
  setup.sparse = SparseAttention::kDsa;
  EXPECT_EQ(vllm(setup), "FLASH_ATTN_MLA_SPARSE");
  EXPECT_EQ(vllm(in_version(setup, Engine::kVllm, "0.22")), "FLASHMLA_SPARSE");
  EngineSetup spans = setup_on("sm90");
  spans.head_dim_qk = spans.head_dim_v = 256;
  spans.has_spans = true;
  EXPECT_EQ(vllm(spans), "TRITON_FLASH_ATTN");
  EXPECT_EQ(vllm(in_version(spans, Engine::kVllm, "0.22")), "TRITON_ATTN");
}

TEST(EngineDevices, are_found_by_their_names_and_by_those_of_a_cuda_device) {
  EXPECT_EQ(find_engine_device("sm_90"), find_engine_device("sm90"));
  EXPECT_NE(find_engine_device("sm_90"), nullptr);
  EXPECT_EQ(find_engine_device("sm_91"), nullptr);
  EXPECT_EQ(find_engine_device("x86-64 avx512"), nullptr);
}

TEST(KernelsOfEngines, depend_on_device_step_and_grouping) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASH_ATTN", {.capability = 90}), Names{"vllm:fa3"});
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASH_ATTN", {.capability = 90, .head_dim = 512}),
            Names{"fa4:vllm"});
  EXPECT_EQ(engine_backend_of(Engine::kVllm, "fa4:vllm:num_splits=1"), "FLASH_ATTN");
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASH_ATTN", {.capability = 86}), Names{"vllm:fa2"});
  EXPECT_EQ(kernels_of(Engine::kSglang, "triton", {.capability = 90, .decodes = false}),
            Names{"sglang:triton_extend"});
  EXPECT_EQ(kernels_of(Engine::kSglang, "flashinfer", {.capability = 90, .group_size = 4}).front(),
            "flashinfer:decode_tc");
  EXPECT_EQ(kernels_of(Engine::kSglang, "flashinfer", {.capability = 90, .group_size = 1}).front(),
            "flashinfer:decode");
  EXPECT_EQ(kernels_of(Engine::kSglang, "trtllm_mha", {.capability = 100}), Names{});
  EXPECT_EQ(kernels_of(Engine::kVllm, "TRITON_MLA", {.capability = 90}), Names{"vllm:triton_mla"});
  EXPECT_EQ(kernels_of(Engine::kVllm, "TRITON_FLASH_ATTN", {.capability = 90, .decodes = false}),
            Names{"vllm:triton_flash_attn"});
  // Chains of drafts, too, are not decodes of one token.
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASH_ATTN_MLA", {.capability = 90, .decodes = false}),
            Names{"vllm:fa3_mla"});
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASH_ATTN_MLA_SPARSE", {.capability = 90}),
            Names{"vllm:fa3_mla_sparse"});
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASHINFER_MLA_SPARSE_SM90", {.capability = 90}),
            Names{"flashinfer:sparse_mla"});
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASHMLA_SPARSE_DSV4", {.capability = 90}),
            Names{"vllm:flashmla_dsv4_prefill"});
  // The first reads fp8 rows, the others bf16 rows.
  EXPECT_EQ(kernels_of(Engine::kVllm, "FLASHMLA_SPARSE", {.capability = 90}),
            (Names{"vllm:flashmla_sparse", "vllm:flashmla_sparse_prefill"}));
  EXPECT_EQ(kernels_of(Engine::kSglang, "dsa", {.capability = 90}),
            (Names{"flashmla:sgl_sparse", "vllm:fa3_mla_sparse", "flashmla:sgl_sparse_prefill"}));
  EXPECT_EQ(kernels_of(Engine::kSglang, "dsa", {.capability = 90, .decodes = false}),
            (Names{"flashmla:sgl_sparse", "flashmla:sgl_sparse_prefill"}));
  EXPECT_EQ(engine_backend_of(Engine::kVllm, "vllm:flashmla_sparse_prefill:lse"),
            "FLASHMLA_SPARSE");
  EXPECT_EQ(kernels_of(Engine::kSglang, "trtllm_mha", {.capability = 90}), Names{"flashinfer:xqa"});
  EXPECT_EQ(kernels_of(Engine::kSglang, "trtllm_mha", {.capability = 90, .decodes = false}),
            Names{});
}

// The examples of should_use_tensor_core: 32 query heads over 8, 8 over 4, 12 over 4 in bf16, and 8
// over 8 in e4m3.
TEST(EngineKernels, of_sglang_s_flashinfer_decode_on_tensor_cores_by_heads_and_type) {
  const auto decode = [](int group_size, bool fp8_cache) {
    return kernels_of(Engine::kSglang, "flashinfer",
                      {.capability = 90, .group_size = group_size, .fp8_cache = fp8_cache})
        .front();
  };
  EXPECT_EQ(decode(32 / 8, false), "flashinfer:decode_tc");
  EXPECT_EQ(decode(8 / 4, false), "flashinfer:decode");
  EXPECT_EQ(decode(12 / 4, false), "flashinfer:decode");
  EXPECT_EQ(decode(8 / 8, true), "flashinfer:decode_tc");
}

}  // namespace
}  // namespace attnbench
