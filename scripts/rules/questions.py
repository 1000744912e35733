# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The questions that scripts/check_rules asks an engine and attnbench: models x devices x flags.

A question is a dict of `model`, `arch` and the flags that differ from DEFAULTS. Models are attnbench's presets; CONFIGS has of each
the config.json that an engine reads the same geometry from, as small as its rules allow."""

ARCHES = ["sm80", "sm90", "sm100", "sm120", "gfx942", "cpu", "xpu"]
DEFAULTS = {"tp": 1, "kv_dtype": "bf16", "page_size": 0, "topk": 0, "deterministic": False, "dcp": False, "spans": False}
FLAGS = [{}, {"kv_dtype": "e4m3"}, {"kv_dtype": "e5m2"}, {"kv_dtype": "fp8_ds_mla"}, {"page_size": 16}, {"page_size": 64},
         {"page_size": 128}, {"kv_dtype": "e4m3", "page_size": 64}, {"topk": 1}, {"topk": 4}, {"topk": 4, "page_size": 64},
         {"deterministic": True}, {"deterministic": True, "kv_dtype": "e4m3"}, {"dcp": True}, {"spans": True}]

COMMON = {"vocab_size": 1024, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "torch_dtype": "bfloat16", "hidden_size": 2048,
          "intermediate_size": 4096, "num_hidden_layers": 4}


def plain(architecture, model_type, heads, kv_heads, dim, **more):
    return {**COMMON, "architectures": [architecture], "model_type": model_type, "num_attention_heads": heads,
            "num_key_value_heads": kv_heads, "head_dim": dim, **more}


def latent(architecture, model_type, heads, **more):
    return {**COMMON, "architectures": [architecture], "model_type": model_type, "num_attention_heads": heads,
            "num_key_value_heads": heads, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
            "v_head_dim": 128, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 512, "n_shared_experts": 1,
            "first_k_dense_replace": 3, "n_group": 1, "topk_group": 1, **more}


def with_tower(architecture, model_type, text):
    return {"architectures": [architecture], "model_type": model_type, "torch_dtype": "bfloat16", "text_config": text}


SPARSE = {"index_topk": 2048, "index_n_heads": 64, "index_head_dim": 128}
CONFIGS = {
    "llama-3.1-8b": plain("LlamaForCausalLM", "llama", 32, 8, 128),
    "phi-3-mini-4k": plain("Phi3ForCausalLM", "phi3", 32, 32, 96, sliding_window=2047, pad_token_id=0),
    "mistral-7b-v0.1": plain("MistralForCausalLM", "mistral", 32, 8, 128, sliding_window=4096),
    "qwen3-30b-a3b": plain("Qwen3MoeForCausalLM", "qwen3_moe", 32, 4, 128, num_experts=8, num_experts_per_tok=2,
                           moe_intermediate_size=512),
    "gpt-oss-20b": plain("GptOssForCausalLM", "gpt_oss", 64, 8, 64, sliding_window=128, num_local_experts=8, num_experts_per_tok=2),
    "gemma-2-9b": plain("Gemma2ForCausalLM", "gemma2", 16, 8, 256, sliding_window=4096, attn_logit_softcapping=50.0),
    "gemma-3-1b": plain("Gemma3ForCausalLM", "gemma3_text", 4, 1, 256, sliding_window=512),
    "llama-4-scout": plain("Llama4ForCausalLM", "llama4_text", 40, 8, 128, attention_chunk_size=8192, num_local_experts=8,
                           num_experts_per_tok=1),
    "deepseek-v3": latent("DeepseekV3ForCausalLM", "deepseek_v3", 128),
    "deepseek-v3.2": latent("DeepseekV32ForCausalLM", "deepseek_v3", 128, **SPARSE),
    "glm-5.3-flash": latent("Glm5NextForConditionalGeneration", "glm5_next", 64, qk_nope_head_dim=256, qk_rope_head_dim=0,
                            v_head_dim=256, index_kpool=16, **{**SPARSE, "index_n_heads": 32}),
    "deepseek-v4-flash": plain("DeepseekV4ForCausalLM", "deepseek_v4", 64, 1, 512, sliding_window=128, compress_ratios=[0, 0, 4, 128],
                               qk_rope_head_dim=64, q_lora_rank=1024, o_lora_rank=1024, o_groups=8, n_routed_experts=8,
                               num_experts_per_tok=2, moe_intermediate_size=512, **{**SPARSE, "index_topk": 512}),
    "minimax-m3": with_tower("MiniMaxM3SparseForConditionalGeneration", "minimax_m3_vl",
                             plain("", "minimax_m3_vl_text", 64, 4, 128, num_local_experts=8, num_experts_per_tok=2,
                                   sparse_attention_config={"use_sparse_attention": True, "sparse_topk_blocks": 16,
                                                            "sparse_block_size": 128, "sparse_num_index_heads": 4,
                                                            "sparse_index_dim": 128})),
    "qwen3-next-80b-a3b": plain("Qwen3NextForCausalLM", "qwen3_next", 16, 2, 256, num_experts=8, num_experts_per_tok=2,
                                moe_intermediate_size=512, linear_num_key_heads=16, linear_num_value_heads=32,
                                linear_key_head_dim=128, linear_value_head_dim=128, full_attention_interval=4),
    "whisper-large-v3": {"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "d_model": 1280,
                         "decoder_attention_heads": 20, "encoder_attention_heads": 20, "decoder_layers": 4, "encoder_layers": 4,
                         "vocab_size": 1024, "max_target_positions": 448, "torch_dtype": "bfloat16"},
    "head-dim-512": plain("LlamaForCausalLM", "llama", 8, 2, 512),
}
NO_PRESETS = {"head-dim-512"}  # attnbench is asked with their config.json
# What vLLM's selector is told of a layer of each model, but for those that bring a backend of their own; its kinds of layers are asked one by one, as attnbench asks for the layer
# that needs most.
VLLM_LAYERS = {
    "llama-3.1-8b": {"head_size": 128},
    "phi-3-mini-4k": {"head_size": 96, "has_sliding_window": True},
    "mistral-7b-v0.1": {"head_size": 128, "has_sliding_window": True},
    "qwen3-30b-a3b": {"head_size": 128},
    "gpt-oss-20b": {"head_size": 64, "has_sink": True, "has_sliding_window": True},
    "gemma-2-9b": {"head_size": 256, "has_sliding_window": True},
    "gemma-3-1b": {"head_size": 256, "has_sliding_window": True},
    "llama-4-scout": {"head_size": 128},
    "deepseek-v3": {"head_size": 576, "use_mla": True},
    "deepseek-v3.2": {"head_size": 576, "use_mla": True, "use_sparse": True},
    "glm-5.3-flash": {"head_size": 512, "use_mla": True, "use_sparse": True},
    "qwen3-next-80b-a3b": {"head_size": 256},
    "whisper-large-v3": {"head_size": 64, "attn_type": "encoder_decoder"},
    "head-dim-512": {"head_size": 512},
}


def heads_of(question):
    config = CONFIGS[question["model"]]
    config = config.get("text_config", config)
    heads = config.get("num_attention_heads", config.get("decoder_attention_heads"))
    return heads // question["tp"]


def questions(arches=ARCHES):
    """All, in a fixed order. Latent attention is asked on one rank and on eight, and alone about rows of fp8_ds_mla."""
    for model, config in CONFIGS.items():
        is_latent = "kv_lora_rank" in config.get("text_config", config)
        for tp in [1, 8] if is_latent else [1]:
            for flags in FLAGS:
                if flags.get("kv_dtype") == "fp8_ds_mla" and not is_latent:
                    continue
                for arch in arches:
                    ranks = max(tp, 2) if flags.get("dcp") else tp  # that share a request's keys
                    yield {"model": model, "arch": arch, **DEFAULTS, **flags, "tp": ranks}


def name_of(question):
    """deepseek-v3 tp 8, e4m3, pages of 64"""
    words = [f"{question['model']}{'' if question['tp'] == 1 else ' tp ' + str(question['tp'])}"]
    if question["kv_dtype"] != "bf16":
        words.append(question["kv_dtype"])
    if question["page_size"]:
        words.append(f"pages of {question['page_size']}")
    if question["topk"]:
        words.append(f"topk {question['topk']}")
    words += [flag for flag in ("deterministic", "dcp", "spans") if question[flag]]
    return ", ".join(words)
