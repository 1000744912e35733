// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lib/base/error.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

class HfConfig : public testing::Test {
 protected:
  ModelGeometry read(const std::string& json) {
    std::ofstream(path_) << json;
    return model_from_hf_config(path_);
  }
  std::string refusal(const std::string& json) {
    try {
      (void)read(json);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "hf_config_test.json";
};

TEST_F(HfConfig, derives_the_head_dim_of_older_configs) {
  const ModelGeometry model = read(
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 8, "head_dim": null})");
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.heads_kv, 8);
  EXPECT_EQ(model.sliding_window, 0);
}

TEST_F(HfConfig, takes_absent_kv_heads_for_plain_multi_head_attention) {
  EXPECT_EQ(read(R"({"hidden_size": 64, "num_attention_heads": 4})").heads_kv, 4);
}

TEST_F(HfConfig, knows_gemma_s_scale_softcap_and_alternating_window) {
  const ModelGeometry model = read(
      R"({"model_type": "gemma2", "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
          "query_pre_attn_scalar": 256, "attn_logit_softcapping": 50.0, "sliding_window": 4096})");
  EXPECT_EQ(model.softcap, 50);
  EXPECT_EQ(model.query_pre_attn_scalar, 256);
  EXPECT_EQ(model.window_layers, "every other layer");
  EXPECT_EQ(layer_of(model, 1).sliding_window_size, -1);
}

TEST_F(HfConfig, slides_everywhere_when_no_pattern_says_otherwise) {
  const ModelGeometry model = read(
      R"({"model_type": "mistral", "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
          "sliding_window": 4096})");
  EXPECT_EQ(layer_of(model, 1).sliding_window_size, 4095);
}

TEST_F(HfConfig, leaves_out_a_window_that_the_config_switches_off) {
  const ModelGeometry model = read(
      R"({"num_attention_heads": 32, "head_dim": 128, "sliding_window": 4096, "use_sliding_window": false})");
  EXPECT_EQ(model.sliding_window, 0);
}

TEST_F(HfConfig, reads_deepseek_as_mla_and_gpt_oss_with_sinks) {
  const ModelGeometry mla = read(
      R"({"num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": 512,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128})");
  EXPECT_EQ(layer_of(mla, 8).head_dim_qk, 576);
  const ModelGeometry oss = read(
      R"({"model_type": "gpt_oss", "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
          "sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"]})");
  EXPECT_TRUE(oss.sinks);
  EXPECT_EQ(oss.window_layers, "1 of 2 layers");
}

TEST_F(HfConfig, finds_the_language_model_inside_a_multimodal_one) {
  EXPECT_EQ(read(R"({"text_config": {"num_attention_heads": 8, "head_dim": 64}})").heads_q, 8);
}

TEST_F(HfConfig, names_the_file_and_the_missing_field) {
  EXPECT_NE(refusal(R"({"head_dim": 64})").find("the field num_attention_heads is missing"),
            std::string::npos);
  EXPECT_NE(refusal("{").find("is no model config"), std::string::npos);
  EXPECT_THROW((void)model_from_hf_config("/no/such/config.json"), ConfigError);
}

}  // namespace
}  // namespace attnbench
