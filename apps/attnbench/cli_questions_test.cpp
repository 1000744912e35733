// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// The commands that measure nothing: expand, dump, profile, support, list.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/attnbench/testing/command_line.h"

namespace attnbench {
namespace {

TEST_F(CommandLine, expands_index_formats_by_name) {
  EXPECT_EQ(run({"expand", scenario_.c_str()}), 0) << err_.str();
  const std::string plain = out_.str();
  EXPECT_EQ(plain.find("\n  indices "), std::string::npos) << plain;
  EXPECT_EQ(run({"expand", scenario_.c_str(), "--indices", "slot_mapping,csr", "--indices", "swa"}),
            0)
      << err_.str();
  const std::size_t csr = out_.str().find("\n  indices csr, read by "),
                    slots = out_.str().find("\n  indices slot_mapping, read by "),
                    swa = out_.str().find("\n  indices swa do not apply: ");
  EXPECT_EQ(out_.str().substr(0, csr + 1), plain);
  EXPECT_LT(csr, slots);
  EXPECT_LT(slots, swa);
  EXPECT_NE(swa, std::string::npos) << out_.str();
  EXPECT_EQ(run({"expand", scenario_.c_str(), "--indices", "slot_maping"}), 4);
  EXPECT_NE(err_.str().find("unknown word 'slot_maping'   did you mean 'slot_mapping'?"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"expand", scenario_.c_str(), "--indices"}), 4);
}

TEST_F(CommandLine, profiles_known_backends_of_a_gpu_only) {
  const auto profile = [&](const char* backend) {
    return run({"profile", scenario_.c_str(), "--case", "tiny", "--backend", backend});
  };
  EXPECT_EQ(profile("zzz"), 4);
  EXPECT_EQ(err_.str().find("did you mean"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("backends: "), std::string::npos) << err_.str();
  EXPECT_EQ(profile("cpu_flash"), 4);
  EXPECT_NE(err_.str().find("cpu_flash runs on the CPU"), std::string::npos) << err_.str();
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(run({"profile", scenario_.c_str(), "--backend", "cpu_flash"}), 4);
  EXPECT_NE(err_.str().find("cpu_flash runs on the CPU"), std::string::npos)
      << "one case needs no --case: " << err_.str();
}

TEST_F(CommandLine, profiles_the_one_case_of_a_file_by_lines_that_work_from_any_folder) {
  BackendInfo info;
  info.name = "far_away";
  info.device = DeviceKind::kCuda;
  registry_.add_absent(info, "no GPU");
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(scenario_).parent_path());
  const std::string file = std::filesystem::path(scenario_).filename().string();
  const int code = run({"profile", file.c_str(), "--backend", "far_away"});
  std::filesystem::current_path(here);
#ifdef ATTNBENCH_HAVE_CUDA
  EXPECT_EQ(code, 0) << err_.str();
  EXPECT_NE(out_.str().find(" profile " + std::filesystem::absolute(scenario_).string() +
                            " --case tiny --backend far_away"),
            std::string::npos)
      << out_.str();
#else
  EXPECT_EQ(code, 5);
  EXPECT_EQ(out_.str(), "") << "lines that this build cannot run";
#endif
}

TEST_F(CommandLine, finds_an_unknown_backend_of_a_file_in_every_command_and_says_where) {
  const std::string folder = folder_ + "more";
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/bad.yaml";
  std::ofstream(file) << kTiny << "backends: [cpu_flash, nope]\n";
  for (const char* command : {"run", "expand", "support"}) {
    EXPECT_EQ(run({command, file.c_str()}), 4) << command;
    EXPECT_NE(err_.str().find(file + ":11:23: error: unknown backend 'nope'"), std::string::npos)
        << err_.str();
  }
  EXPECT_EQ(run({"list", "scenarios", folder.c_str()}), 4);
  EXPECT_NE(err_.str().find("'nope'"), std::string::npos) << err_.str();
  std::filesystem::remove_all(folder);
}

TEST_F(CommandLine, knows_the_pair_of_a_file_and_of_the_command_line_in_every_command) {
  const std::string folder = folder_ + "more";
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/pair.yaml";
  std::ofstream(file) << kTiny << "hybrid: {prefill: cpu_flash, decode: torch_native}\n";
  EXPECT_EQ(run({"support", file.c_str()}), 0) << err_.str();
  EXPECT_NE(out_.str().find("cpu_flash+torch_native"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"expand", file.c_str()}), 0) << err_.str();
  EXPECT_EQ(run({"list", "scenarios", folder.c_str()}), 0) << err_.str();
  EXPECT_EQ(run({"support", file.c_str(), "--backend", "torch_native+cpu_flash"}), 0);
  EXPECT_NE(out_.str().find("torch_native+cpu_flash"), std::string::npos) << out_.str();
  const std::string arrays = folder + "/arrays";
  EXPECT_EQ(run({"dump", file.c_str(), "--backend", "torch_native+cpu_flash:split_keys=128", "-o",
                 arrays.c_str()}),
            0)
      << err_.str();
  std::filesystem::remove_all(folder);
}

TEST_F(CommandLine, asks_the_backends_of_the_file_or_of_the_command_line_for_support) {
  std::ofstream(scenario_, std::ios::app) << "backends: [cpu_flash]\n";
  EXPECT_EQ(run({"support", scenario_.c_str()}), 0);
  EXPECT_NE(out_.str().find("cpu_flash"), std::string::npos);
  EXPECT_EQ(out_.str().find("torch_native"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"support", scenario_.c_str(), "--backend", "torch_native", "--format", "json"}),
            0);
  const auto root = nlohmann::json::parse(out_.str());
  ASSERT_EQ(root["answers"].size(), 1u);
  EXPECT_EQ(root["answers"][0]["backend"], "torch_native");
}

TEST_F(CommandLine, writes_lists_as_json) {
  EXPECT_EQ(run({"list", "backends", "--format", "json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(out_.str()).back()["absence"], "not on this machine");
  EXPECT_EQ(run({"list", "models", "--format", "json"}), 0);
  EXPECT_GT(nlohmann::json::parse(out_.str()).size(), 5u);
  EXPECT_EQ(run({"list", "cases", scenario_.c_str()}), 0);
  EXPECT_EQ(out_.str(), "tiny\n");
}

TEST_F(CommandLine, shows_no_escape_that_a_file_brings) {
  const std::string folder = folder_ + "more";
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/a\x1b[2Jb.yaml";
  std::ofstream(file) << "description: \"x\\e]0;owned\\a\"\n" << kTiny;
  EXPECT_EQ(run({"list", "scenarios", folder.c_str()}), 0) << err_.str();
  EXPECT_NE(out_.str().find("x\\x1b]0;owned\\x07"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find('\x1b'), std::string::npos);
  std::ofstream(file) << "\x1b[31mfoo: 1\n";
  EXPECT_EQ(run({"run", file.c_str()}), 4);
  EXPECT_EQ(run({"run", (folder + "/\x1b[5mnot_there.yaml").c_str()}), 4);
  EXPECT_EQ(err_.str().find('\x1b'), std::string::npos) << err_.str();
  std::filesystem::remove_all(folder);
}

TEST_F(CommandLine, lists_backends_with_reasons_and_models) {
  EXPECT_EQ(run({"list", "backends"}), 0);
  EXPECT_NE(out_.str().find("cpu_flash"), std::string::npos);
  EXPECT_NE(out_.str().find("absent: not on this machine"), std::string::npos);
  const std::size_t variant = out_.str().find("\nsplitkv:dynamic ");
  ASSERT_NE(variant, std::string::npos);
  EXPECT_NE(out_.str().find("(only by name)\n", variant), std::string::npos);
  EXPECT_EQ(run({"list", "models"}), 0);
  EXPECT_NE(out_.str().find("deepseek-v3"), std::string::npos);
  EXPECT_NE(out_.str().find("12 full, 36 chunked; chunk 8192\n    the full layers have no RoPE\n"),
            std::string::npos);
}

TEST_F(CommandLine, speaks_of_no_seed_of_a_scenario_where_there_is_none) {
  EXPECT_EQ(run({"accuracy", "--help"}), 0);
  EXPECT_EQ(out_.str().find("the scenario's seed"), std::string::npos) << out_.str();
}

TEST_F(CommandLine, explains_a_model_and_what_fits_beside_its_weights) {
  EXPECT_EQ(run({"model", "qwen3-next-80b-a3b", "--tp", "4", "--context", "8k", "--gpu-memory",
                 "141g", "--weights", "160g"}),
            0)
      << err_.str();
  for (const char* text :
       {"4 of 16 query heads, 1 of 2 KV heads (each is replicated on 2 ranks)",
        "12288 B a token in all layers", "  full         12  runs            1024  every token",
        "  linear       36  runs                  524288 B of states, 12288 B of convolution",
        "a request of 8192 tokens: 120 MB on a rank",
        "151 GB of GPU memory, 42.9 GB of weights: 108 GB for the cache of a rank",
        "  8825514 tokens, if every layer", "  903 requests of 8192 tokens"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  EXPECT_EQ(out_.str().find("mla"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--gpu-memory", "10g", "--weights", "20g"}), 0);
  EXPECT_NE(out_.str().find("21.5 GB of weights: no room for the cache of a rank"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(run({"model", "deepseek-v3", "--tp", "8"}), 0);
  for (const char* text : {"one latent row of 576 for all heads",
                           "\nexpanded (`mla: expanded`): 16 KV heads, dk 192 dv 128",
                           "70272 B a token in all layers"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  EXPECT_EQ(run({"model", "mimo-v2-flash", "--tp", "2"}), 0);
  for (const char* text : {"one rank: 32 of 64 query heads, 2 of 4 KV heads, dk 192 dv 128\n",
                           "sliding layers: 32 of 64 query heads, 4 of 8 KV heads, dk 192"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  EXPECT_EQ(run({"model", "deepseek-v3", "--kv-dtype", "fp8_ds_mla", "--format", "json"}), 0);
  const auto root = nlohmann::json::parse(out_.str());
  EXPECT_EQ(root["kv_bytes_per_token"], 40016);
  EXPECT_EQ(root["kinds"].size(), 1u);
  EXPECT_TRUE(root["tokens_that_fit"].is_null());
}

TEST_F(CommandLine, bounds_what_fits_where_the_weights_are_not_known) {
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--gpu-memory", "1g", "--context", "4k"}), 0);
  for (const char* text :
       {"1.07 GB of GPU memory without any weights, an upper bound; --weights",
        "  at most 8192 tokens, if every layer", "  at most 2 requests of 4096 tokens"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--gpu-memory", "1g", "--format", "json"}), 0);
  const auto root = nlohmann::json::parse(out_.str());
  EXPECT_EQ(root["tokens_that_fit"], 8192);
  EXPECT_EQ(root["counts_weights"], false);
}

TEST_F(CommandLine, counts_no_keys_of_layers_that_read_those_of_others) {
  const std::string config = folder_ + "gemma3n.json";
  std::ofstream(config) << R"({"model_type": "gemma3n_text", "num_hidden_layers": 30,
                               "num_kv_shared_layers": 10})";
  EXPECT_EQ(run({"model", config.c_str()}), 0) << err_.str();
  for (const char* text : {"40960 B a token in all layers", "every token; 2 layers nothing",
                           "512 tokens at most; 8 layers nothing",
                           "note: the last 10 layers (2 full, 8 sliding) read the keys"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
}

TEST_F(CommandLine, counts_an_encoders_keys_once_a_request) {
  EXPECT_EQ(run({"model", "whisper-large-v3", "--context", "448", "--gpu-memory", "16g"}), 0);
  for (const char* text :
       {"163840 B a token in all layers of a rank, 163840 B a token of an encoder",
        "  cross        32  runs            5120  1500 tokens of its encoder",
        "a request of 448 tokens: 319 MB on a rank\n  in SGLang at least 638 MB: every layer "
        "has slots",
        "keeps all of them, and no encoder's",
        "  at most 53 requests of 448 tokens, in SGLang at most 26\n"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  EXPECT_EQ(run({"model", "whisper-large-v3", "--encoder-len", "500", "--format", "json"}), 0);
  const auto root = nlohmann::json::parse(out_.str());
  EXPECT_EQ(root["encoder_bytes_per_token"], 163840);
  EXPECT_EQ(root["kinds"][1]["encoder_len"], 500);
  EXPECT_TRUE(root["request_bytes_in_sglang"].is_null()) << "of no context";
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--encoder-len", "500"}), 4);
  EXPECT_NE(err_.str().find("llama-3.1-8b has no cross layers"), std::string::npos) << err_.str();
  const std::string config = folder_ + "bart.json";
  std::ofstream(config) << R"({"model_type": "bart"})";
  EXPECT_EQ(run({"model", config.c_str(), "--context", "100"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("not known, as its encoder's length is not: --encoder-len"),
            std::string::npos)
      << out_.str();
}

TEST_F(CommandLine, explains_the_model_of_a_config_and_says_what_is_wrong_with_one) {
  const std::string config = folder_ + "config.json";
  std::ofstream(config) << R"({"model_type": "llama", "num_attention_heads": 4,
      "num_key_value_heads": 2, "head_dim": 16, "num_hidden_layers": 3})";
  EXPECT_EQ(run({"model", config.c_str()}), 0) << err_.str();
  EXPECT_NE(out_.str().find("384 B a token"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"model", config.c_str(), "--tp", "3"}), 4);
  EXPECT_NE(err_.str().find("4 query heads do not divide among tp 3 ranks"), std::string::npos)
      << err_.str();
  std::ofstream(config) << R"({"model_type": "llama", "num_attention_heads": -4})";
  EXPECT_EQ(run({"model", config.c_str()}), 4);
  EXPECT_NE(err_.str().find(config + ": num_attention_heads is -4"), std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"model", "lama-3.1-8b"}), 4);
  EXPECT_NE(err_.str().find("unknown model 'lama-3.1-8b'   did you mean 'llama-3.1-8b'?"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--gpu-memory", "141gb"}), 4);
  EXPECT_NE(err_.str().find("for example 512m or 2g"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--gpu-memory", "141"}), 4);
  EXPECT_NE(err_.str().find("--gpu-memory 141 is 141 bytes   did you mean 141g?"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--weights", "16g"}), 4);
  EXPECT_NE(err_.str().find("--weights without --gpu-memory"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"model", "deepseek-v4-flash", "--kv-dtype", "fp8_ds_mla"}), 0);
  EXPECT_NE(out_.str().find("4325.25 B a token"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"model", "llama-3.1-8b", "--kv-dtype", "fp8_ds_mla"}), 4);
  EXPECT_NE(err_.str().find("the 656-byte row with scales inside is MLA's"), std::string::npos)
      << err_.str();
}

TEST_F(CommandLine, expands_and_dumps_the_states_of_a_gated_delta_net) {
  const std::string path = ATTNBENCH_SOURCE_DIR "/scenarios/ci/linear.yaml";
  EXPECT_EQ(run({"expand", path.c_str(), "--case", "mix", "--indices", "csr"}), 0) << err_.str();
  for (const char* text : {"gated delta net", "2 key heads", "4 value heads", "states f32",
                           "state_indices", "has no KV cache to index"}) {
    EXPECT_NE(out_.str().find(text), std::string::npos) << text << " is not in " << out_.str();
  }
  EXPECT_EQ(run({"expand", path.c_str(), "--case", "verify"}), 0) << err_.str();
  // Behind each of 12 draft tokens 4 heads of 32 times 48 numbers.
  EXPECT_NE(out_.str().find("295 kB behind drafts"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"expand", path.c_str(), "--case", "verify_tree"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("retrieve_parent_token"), std::string::npos) << out_.str();
  const std::string folder = folder_ + "dump";
  EXPECT_EQ(run({"dump", path.c_str(), "--case", "mix", "-o", folder.c_str(), "--backend",
                 "gated_delta_net"}),
            0)
      << err_.str();
  for (const char* name : {"q", "k", "v", "g", "beta", "states_before", "state_indices",
                           "states_gated_delta_net", "out_gated_delta_net", "reference_rows"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name + ".npy")) << name;
  }
}

TEST_F(CommandLine, says_what_formats_of_the_cache_cost_in_accuracy) {
  EXPECT_EQ(run({"accuracy", "--keys", "40", "--queries", "2"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("llama-3.1-8b, full layer"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("e4m3, a scale per token"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"accuracy", "--model", "deepseek-v3", "--tp", "64", "--keys", "40", "--queries",
                 "2", "--format", "json"}),
            0)
      << err_.str();
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["rows"][0]["top1"], 1.0);
  EXPECT_EQ(json["rows"][0]["bytes_per_token"], 1152.0);
  EXPECT_EQ(
      run({"accuracy", "--model", "deepseek-v3.2", "--tp", "64", "--keys", "9", "--queries", "2"}),
      0)
      << err_.str();
  EXPECT_EQ(run({"accuracy", "--keys", "9", "--queries", "2", "--outliers", "1"}), 0);
  EXPECT_EQ(out_.str().find("larger"), std::string::npos) << "the same numbers twice";
  EXPECT_EQ(run({"accuracy", "--keys", "1m", "--queries", "4096"}), 5);  // 137 GB of logits
  EXPECT_NE(err_.str().find("1048576 keys and 4096 queries need"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"accuracy", "--queries", "41", "--keys", "40"}), 4);
  EXPECT_EQ(err_.str(), "error: --queries 41 are more than the 40 tokens of --keys\n");
  EXPECT_EQ(run({"accuracy", "--model", "qwen3-next-80b-a3b", "--layer", "linear"}), 4);
  EXPECT_NE(err_.str().find("keeps no keys"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"accuracy", "--model", "lama-3.1-8b"}), 4);
  EXPECT_NE(err_.str().find("did you mean 'llama-3.1-8b'?"), std::string::npos) << err_.str();
}

}  // namespace
}  // namespace attnbench
