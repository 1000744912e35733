#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What the packs of engine kernels say of themselves and of problems, without any of their packages."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "testing")]
sys.dont_write_bytecode = True

import fa3_pack
import fa4_pack
import fla_pack
import flash_attention_3
import flashinfer_mla
import flashinfer_pack
import flashmla_pack
import sglang_pack
import vllm_flashmla
import vllm_pack
from pack_problems import BLOCKS, CHAIN, CHUNK, DELTA_NET, LATENT, TREE, problem

PACKS = (fa3_pack, fa4_pack, fla_pack, flashinfer_pack, flashmla_pack, sglang_pack, vllm_pack)
BACKENDS = {cls.name: cls() for pack in PACKS for cls in pack.backends}
TYPED_STAGES = {"qk_input", "p", "accumulator", "partial_out"}
DTYPES = {"f32", "f16", "bf16", "e4m3", "e5m2"}

PROMPT = dict(mode="extend", max_q_len=100, max_q_tokens=400, max_kv_len=100)

# Who takes what: all others refuse it.
TAKEN = [
    (dict(), "vllm:fa3 vllm:fa2 vllm:triton_unified vllm:paged_attention_v1 vllm:paged_attention_v2 fa3:tokenspeed "
     "flashinfer:decode flashinfer:decode_tc flashinfer:cascade flashinfer:xqa sglang:triton_decode fa4:vllm "
     "fa4:flash_attn flashinfer:decode_auto flashinfer:decode_tc_fast_plan flashinfer:trtllm_gen vllm:cascade"),
    (CHUNK, "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed flashinfer:prefill_fa2 flashinfer:prefill_fa3 "
     "flashinfer:ragged_paged flashinfer:cascade sglang:triton_extend sglang:triton_extend_unified "
     "sglang:triton_extend_merged fa4:vllm fa4:flash_attn flashinfer:prefill_auto vllm:cascade"),
    (PROMPT, "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed fa3:fwd flashinfer:prefill_fa2 "
     "flashinfer:prefill_fa3 flashinfer:ragged_paged flashinfer:cascade sglang:triton_extend "
     "sglang:triton_extend_unified sglang:triton_extend_merged fa4:vllm fa4:flash_attn flashinfer:prefill_auto "
     "vllm:cascade"),
    (TREE, "flashinfer:prefill_fa2 sglang:triton_extend sglang:triton_extend_unified"),
    ({**TREE, "window_counts_depth": True, "sliding_window_size": 9}, ""),
    (CHAIN, "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed flashinfer:prefill_fa2 flashinfer:prefill_fa3 "
     "flashinfer:cascade flashinfer:xqa sglang:triton_extend sglang:triton_extend_unified sglang:triton_extend_merged "
     "fa4:vllm fa4:flash_attn flashinfer:prefill_auto vllm:cascade"),
    ({**CHAIN, "sliding_window_size": 9, "window_counts_depth": True}, "vllm:fa3 vllm:fa2 vllm:triton_unified "
     "fa3:tokenspeed flashinfer:prefill_fa2 flashinfer:prefill_fa3 sglang:triton_extend fa4:vllm fa4:flash_attn "
     "flashinfer:prefill_auto"),
    ({**CHAIN, "cache_dtype": "e4m3"}, "vllm:fa3 vllm:triton_unified fa3:tokenspeed flashinfer:prefill_fa2 "
     "flashinfer:cascade flashinfer:xqa sglang:triton_extend_unified flashinfer:prefill_auto "
     "flashinfer:prefill_fa3_fp8"),
    ({**CHAIN, "has_sinks": True}, "vllm:fa3 vllm:triton_unified flashinfer:sinks flashinfer:xqa sglang:triton_extend "
     "sglang:triton_extend_unified fa4:vllm fa4:flash_attn vllm:cascade"),
    (LATENT, "vllm:fa3_mla vllm:flashmla vllm:triton_mla flashinfer:mla_fa2 flashinfer:mla_fa3 sglang:triton_decode "
     "flashmla:sgl"),
    ({**LATENT, "page_size": 16}, "vllm:fa3_mla vllm:triton_mla flashinfer:mla_fa2 flashinfer:mla_fa3 "
     "sglang:triton_decode"),
    ({**LATENT, **CHUNK}, "flashinfer:mla_fa2 flashinfer:mla_fa3"),
    ({**LATENT, **TREE}, ""),
    ({**LATENT, **CHAIN}, "vllm:fa3_mla vllm:flashmla flashinfer:mla_fa2 flashinfer:mla_fa3 flashmla:sgl"),
    ({**LATENT, "cache_dtype": "e4m3"}, "vllm:flashmla vllm:triton_mla flashinfer:mla_fa2 flashinfer:mla_fa3 "
     "sglang:triton_decode flashmla:sgl"),
    ({**LATENT, "cache_dtype": "e4m3", "dtype": "f16"}, "vllm:triton_mla sglang:triton_decode"),
    ({**LATENT, "cache_dtype": "e5m2"}, "sglang:triton_decode"),
    ({**LATENT, **BLOCKS}, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**LATENT, **BLOCKS, **CHAIN}, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**LATENT, **BLOCKS, "page_size": 16}, ""),
    ({**LATENT, "temperature_len": 1024}, "sglang:triton_decode"),
    ({**LATENT, "empty_rows": True}, "vllm:fa3_mla vllm:flashmla flashinfer:mla_fa2 flashinfer:mla_fa3 "
     "sglang:triton_decode flashmla:sgl"),
    (dict(sliding_window_size=9), "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed flashinfer:decode "
     "flashinfer:decode_tc flashinfer:xqa sglang:triton_decode fa4:vllm fa4:flash_attn flashinfer:decode_auto "
     "flashinfer:decode_tc_fast_plan flashinfer:trtllm_gen"),
    ({**CHUNK, "causal": False, "sliding_window_size": 9}, "vllm:fa3 vllm:fa2 fa3:tokenspeed fa4:vllm "
     "fa4:flash_attn"),
    (dict(logit_cap=50.0), "vllm:fa3 vllm:fa2 vllm:triton_unified flashinfer:decode flashinfer:decode_tc "
     "flashinfer:cascade sglang:triton_decode fa4:vllm fa4:flash_attn flashinfer:decode_auto "
     "flashinfer:decode_tc_fast_plan vllm:cascade"),
    (dict(has_sinks=True), "vllm:fa3 vllm:triton_unified flashinfer:sinks flashinfer:xqa sglang:triton_decode "
     "fa4:vllm fa4:flash_attn flashinfer:trtllm_gen vllm:cascade"),
    (dict(has_alibi=True), "flashinfer:decode flashinfer:decode_tc flashinfer:decode_tc_fast_plan vllm:fa2 "
     "vllm:triton_unified vllm:paged_attention_v1 vllm:paged_attention_v2"),
    ({**CHUNK, "has_alibi": True}, "flashinfer:prefill_fa2 vllm:fa2 vllm:triton_unified"),
    (dict(has_alibi=True, ranks=2), "vllm:fa2 vllm:triton_unified vllm:paged_attention_v1 "
     "vllm:paged_attention_v2"),
    (dict(attention_chunk=8192), "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed flashinfer:decode "
     "flashinfer:decode_tc flashinfer:xqa fa4:vllm fa4:flash_attn flashinfer:decode_auto "
     "flashinfer:decode_tc_fast_plan"),
    ({**CHUNK, "attention_chunk": 64}, "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed flashinfer:prefill_fa2 "
     "flashinfer:prefill_fa3 fa4:vllm fa4:flash_attn flashinfer:prefill_auto"),
    ({**CHAIN, "attention_chunk": 64}, "vllm:fa3 vllm:fa2 vllm:triton_unified fa3:tokenspeed flashinfer:prefill_fa2 "
     "flashinfer:prefill_fa3 fa4:vllm fa4:flash_attn flashinfer:prefill_auto"),
    ({**TREE, "attention_chunk": 64}, ""),
    ({**CHUNK, "attention_chunk": 24}, ""),
    ({**CHUNK, "attention_chunk": 64, "empty_rows": True}, ""),
    (dict(attention_chunk=64, cache_dtype="e4m3", cache_scales="request"), ""),
    (dict(dual_chunk_size=8192), ""),
    ({**CHUNK, "spans": True}, "vllm:triton_unified"),
    ({**CHUNK, "spans": True, "sliding_window_size": 9}, ""),
    ({**LATENT, **CHUNK, "spans": True}, ""),
    ({**CHUNK, "multi_item": True}, "flashinfer:multi_item"),
    ({**CHUNK, "cache_dtype": "e4m3"}, "fa3:tokenspeed flashinfer:prefill_fa2 flashinfer:prefill_auto "
     "flashinfer:prefill_fa3_fp8 flashinfer:cascade sglang:triton_extend_unified vllm:fa3 vllm:triton_unified"),
    (dict(head_dim_qk=512, head_dim_v=512), "fa4:vllm sglang:triton_decode vllm:triton_unified vllm:triton_flash_attn"),
    ({**CHUNK, "head_dim_qk": 512, "head_dim_v": 512, "spans": True}, "vllm:triton_unified vllm:triton_flash_attn"),
    ({**CHUNK, "head_dim_qk": 256, "head_dim_v": 256, "spans": True}, "vllm:triton_unified vllm:triton_flash_attn"),
    ({**CHUNK, "head_dim_qk": 256, "head_dim_v": 256, "spans": True, "sliding_window_size": 9}, ""),
    ({**LATENT, "heads_q": 128}, "flashinfer:mla_fa2 flashinfer:mla_fa3 flashinfer:cutlass_mla flashmla:sgl "
     "sglang:triton_decode vllm:fa3_mla vllm:flashmla vllm:triton_mla"),
    ({**CHUNK, "mode": "dllm_extend"}, ""),
    (dict(temperature_len=1024), "sglang:triton_decode"),
    ({**CHUNK, "temperature_len": 1024}, "sglang:triton_extend sglang:triton_extend_unified"),
    (dict(temperature_len=1024, sliding_window_size=9), ""),
    ({**CHUNK, "temperature_len": 1024, "sliding_window_size": 9}, "sglang:triton_extend"),
    (dict(dtype="f32", cache_dtype="f32"), ""),
    (dict(heads_q=40, heads_kv=8), "vllm:fa3 vllm:fa2 vllm:triton_unified vllm:paged_attention_v1 "
     "vllm:paged_attention_v2 fa3:tokenspeed flashinfer:decode_tc flashinfer:cascade flashinfer:xqa sglang:triton_decode "
     "fa4:vllm fa4:flash_attn flashinfer:decode_auto flashinfer:decode_tc_fast_plan flashinfer:trtllm_gen "
     "vllm:cascade"),
    (dict(page_size=1), "vllm:fa3 fa3:tokenspeed flashinfer:decode flashinfer:decode_tc flashinfer:cascade "
     "sglang:triton_decode fa4:vllm fa4:flash_attn flashinfer:decode_auto flashinfer:decode_tc_fast_plan "
     "vllm:cascade"),
    (dict(cache_dtype="e4m3"), "vllm:fa3 vllm:triton_unified vllm:paged_attention_v1 vllm:paged_attention_v2 "
     "fa3:tokenspeed flashinfer:decode flashinfer:decode_tc flashinfer:cascade flashinfer:xqa sglang:triton_decode "
     "flashinfer:decode_auto flashinfer:decode_tc_fast_plan"),
    (dict(cache_dtype="e5m2"), "vllm:paged_attention_v1 vllm:paged_attention_v2 flashinfer:decode flashinfer:decode_tc "
     "flashinfer:cascade sglang:triton_decode flashinfer:decode_auto flashinfer:decode_tc_fast_plan"),
    (dict(cache_dtype="e4m3", cache_scales="head"), "vllm:fa3 fa3:tokenspeed"),
    (dict(cache_dtype="e4m3", cache_scales="request"), "vllm:fa3 fa3:tokenspeed"),
    (dict(cache_dtype="e4m3", cache_scales="token"), ""),
    (dict(head_dim_qk=192, head_dim_v=128), "vllm:fa3 sglang:triton_decode fa4:vllm fa4:flash_attn vllm:cascade"),
    (dict(max_kv_len=20000), "vllm:fa3 vllm:fa2 vllm:triton_unified vllm:paged_attention_v2 fa3:tokenspeed "
     "flashinfer:decode flashinfer:decode_tc flashinfer:cascade flashinfer:xqa sglang:triton_decode fa4:vllm "
     "fa4:flash_attn flashinfer:decode_auto flashinfer:decode_tc_fast_plan flashinfer:trtllm_gen vllm:cascade"),
    (dict(step="kv_write"), "vllm:reshape_and_cache_flash vllm:reshape_and_cache"),
    ({**LATENT, "step": "kv_write"}, "vllm:concat_and_cache_mla"),
    (dict(step="index"), "vllm:page_indices"),
    (dict(step="index", page_size=1), "vllm:page_indices sglang:kv_indices"),
    (DELTA_NET, "fla:fused_recurrent_gated_delta_rule vllm:fused_recurrent_gdn"),
    ({**DELTA_NET, **CHUNK}, "fla:chunk_gated_delta_rule fla:fused_recurrent_gated_delta_rule vllm:chunk_gdn"),
    ({**DELTA_NET, "mode": "mixed"}, "fla:chunk_gated_delta_rule fla:fused_recurrent_gated_delta_rule vllm:chunk_gdn"),
    ({**DELTA_NET, **CHUNK, "dtype": "f16"}, "fla:fused_recurrent_gated_delta_rule"),
    ({**DELTA_NET, "dtype": "f32"}, "fla:fused_recurrent_gated_delta_rule vllm:fused_recurrent_gdn"),
    ({**DELTA_NET, **CHUNK, "head_dim_v": 40}, "fla:fused_recurrent_gated_delta_rule"),
    ({**DELTA_NET, "head_dim_qk": 512}, ""),
    ({**DELTA_NET, **CHAIN}, "vllm:fused_recurrent_gdn_verify"),
    ({**DELTA_NET, **TREE}, ""),
]

# The same of ragged keys, by those whose formats have them.
RAGGED = dict(cache_layout="ragged", page_size=1)
EXPANDED = dict(heads_q=16, heads_kv=16, head_dim_qk=192, head_dim_v=128)
TAKEN_RAGGED = [
    ({}, "vllm:fa3 vllm:fa2 fa3:fwd fa4:vllm fa4:flash_attn"),
    (CHUNK, "vllm:fa3 vllm:fa2 fa3:fwd flashinfer:ragged fa4:vllm fa4:flash_attn"),
    ({**CHUNK, "causal": False}, "vllm:fa3 vllm:fa2 fa3:fwd flashinfer:ragged fa4:vllm fa4:flash_attn"),
    ({**CHUNK, "sliding_window_size": 9}, "vllm:fa3 vllm:fa2 flashinfer:ragged fa4:vllm fa4:flash_attn"),
    ({**CHUNK, "causal": False, "sliding_window_size": 9}, "vllm:fa3 vllm:fa2 fa4:vllm fa4:flash_attn"),
    ({**CHUNK, **EXPANDED}, "vllm:fa3 fa3:fwd flashinfer:ragged fa4:vllm fa4:flash_attn"),
    ({**CHUNK, "head_dim_qk": 72, "head_dim_v": 72}, "vllm:fa2 fa4:vllm fa4:flash_attn"),
    ({**CHUNK, "cache_dtype": "e4m3"}, ""),
    ({**CHUNK, "attention_chunk": 64}, ""),
    (TREE, ""),
]


def formats_of(backend, asked):
    formats = getattr(backend, "formats", ())
    return formats(asked) if callable(formats) else formats


class EnginePacksTest(unittest.TestCase):
    def test_every_problem_is_taken_by_those_whose_kernels_can(self):
        for changed, names in TAKEN:
            with self.subTest(changed):
                answers = {name: backend.supports(problem(**changed)) for name, backend in BACKENDS.items()}
                taken = {name for name, why in answers.items() if why is None}
                variants = {name for name in taken if name.endswith(":lse")}
                self.assertEqual(set(names.split()), taken - variants)
                self.assertEqual({f"{name}:lse" for name in taken if f"{name}:lse" in BACKENDS}, variants)
                self.assertTrue(all(answer is None or len(answer) > 5 for answer in answers.values()), answers)

    def test_ragged_keys_are_taken_by_those_that_say_so_alone(self):
        for changed, names in TAKEN_RAGGED:
            with self.subTest(changed):
                asked = problem(**{**changed, **RAGGED})
                taken = {name for name, backend in BACKENDS.items()
                         if "ragged" in formats_of(backend, asked) and backend.supports(asked) is None}
                self.assertEqual(set(names.split()), {name for name in taken if not name.endswith(":lse")})

    def test_queries_in_fp8_are_taken_where_all_operands_are(self):
        latent = {**LATENT, "q_dtype": "e4m3"}
        for changed, names in (({"q_dtype": "e4m3", "cache_dtype": "e4m3"}, {"vllm:fa3", "fa3:tokenspeed"}),
                               ({"q_dtype": "e4m3"}, set()), ({"q_dtype": "e5m2", "cache_dtype": "e4m3"}, set()),
                               ({"q_dtype": "e4m3", "cache_dtype": "e4m3", "q_scales": "head"},
                                {"vllm:fa3", "fa3:tokenspeed"}),
                               ({"q_dtype": "e4m3", "cache_dtype": "e4m3", "q_scales": "token"}, set()),
                               ({**latent, "cache_dtype": "e4m3"}, {"vllm:flashmla", "flashmla:sgl"}), (latent, set()),
                               ({**latent, "cache_dtype": "e4m3", "q_scales": "request"}, set())):
            asked = problem(**changed)
            taken = {name for name, backend in BACKENDS.items()
                     if getattr(backend, "reads_fp8_queries", False) and backend.supports(asked) is None}
            self.assertEqual({name for name in taken if not name.endswith(":lse")}, names)

    def test_queries_that_come_apart_are_read_by_all_that_decode_latent_rows(self):
        asked = problem(**LATENT, queries_apart=True)
        for name, backend in BACKENDS.items():
            if backend.supports(asked) is None:
                self.assertTrue(backend.reads_queries_apart, name)
        joined = {plan.__name__ for plan in (flashinfer_mla.MlaPlan, flash_attention_3.AbsorbedPlan,
                                             vllm_flashmla.FlashMlaPlan, sglang_pack.DecodePlan) if plan.joins_queries}
        self.assertEqual(joined, {"FlashMlaPlan", "DecodePlan"})

    def test_kernels_that_count_slots_over_all_pages_read_no_gaps(self):
        of_keys = {name: backend for name, backend in BACKENDS.items() if not name.endswith(":lse")
                   and "recurrent layers only" not in (backend.supports(problem()) or "")}
        self.assertEqual({name for name, backend in of_keys.items() if not getattr(backend, "reads_page_gaps", False)},
                         {"fa4:flash_attn", "fa4:vllm", "flashinfer:ragged_paged", "flashinfer:sparse_mla",
                          "flashmla:sgl_sparse",
                          "flashmla:sgl_sparse_prefill", "sglang:triton_decode", "sglang:triton_extend",
                          "sglang:triton_extend_merged", "sglang:triton_extend_unified", "vllm:fa3_mla_sparse",
                          "vllm:flashmla_dsv4_prefill", "vllm:flashmla_sparse",
                          "vllm:flashmla_sparse_prefill", "vllm:reshape_and_cache",
                          "vllm:triton_flash_attn", "vllm:triton_mla"})

    def test_layouts_and_types_are_words_of_the_interface(self):
        for name, backend in BACKENDS.items():
            for changed in [{}, LATENT, dict(cache_dtype="e4m3"), dict(cache_dtype="e4m3", cache_scales="token")]:
                asked = problem(**changed)
                known = {"NHD", "HND", "combined", "x_packed", "joint", "joint_hnd", "states_vk", "ragged"}
                self.assertLessEqual(set(formats_of(backend, asked)), known, name)
                rounds = backend.numerics(asked) if hasattr(backend, "numerics") else {}
                self.assertLessEqual(set(rounds), {"lse", "partial_roundings", *TYPED_STAGES}, name)
                self.assertLessEqual({rounds[stage] for stage in rounds if stage in TYPED_STAGES}, DTYPES, name)

    def test_variants_and_other_plans_of_a_kernel_take_part_only_where_they_are_named(self):
        plans = {"flashinfer:decode_auto", "flashinfer:decode_tc_fast_plan", "flashinfer:prefill_auto"}
        variants = {name: backend for name, backend in BACKENDS.items() if name.endswith(":lse")}
        self.assertIn("vllm:fa3:lse", variants)
        for name, backend in BACKENDS.items():
            self.assertEqual(getattr(backend, "only_by_name", False), name in {*variants, *plans}, name)
            if f"{name}:lse" in variants or name in variants:
                self.assertEqual(backend.numerics(problem())["lse"], name in variants, name)

    def test_tuning_parameters_are_attributes_that_their_plans_read(self):
        tuned = {name: backend.tuning for name, backend in BACKENDS.items() if getattr(backend, "tuning", {})}
        self.assertEqual(set(tuned), {"sglang:triton_decode", "vllm:fa3", "vllm:fa3_mla", "fa3:tokenspeed", "fa4:vllm",
                                      *(f"flashinfer:{name}" for name in ("decode", "decode_tc", "prefill_fa2",
                                                                          "prefill_fa3", "mla_fa2", "mla_fa3"))})
        self.assertEqual(tuned["sglang:triton_decode"]["splits"][1], "--triton-attention-num-kv-splits")
        for name, tuning in tuned.items():
            for parameter in tuning:
                self.assertTrue(hasattr(BACKENDS[name], parameter), name)

    def test_every_backend_names_its_pack_its_kernel_and_what_it_needs(self):
        self.assertEqual(len(BACKENDS), sum(len(pack.backends) for pack in PACKS))
        for pack in PACKS:
            for cls in pack.backends:
                self.assertTrue(cls.name.startswith(pack.__name__.removesuffix("_pack") + ":"), cls.name)
                self.assertIn("torch", cls.requires)
                self.assertTrue(cls.kernel and cls.description and cls.device == "cuda")

    def test_only_vllm_s_kernels_have_states_with_value_dims_first(self):
        asked = problem(**DELTA_NET)
        turned = {name for name, backend in BACKENDS.items() if formats_of(backend, asked) == ["states_vk"]}
        self.assertEqual(turned, {"vllm:fused_recurrent_gdn", "vllm:fused_recurrent_gdn_verify", "vllm:chunk_gdn",
                                  "vllm:fused_recurrent_kda", "vllm:fused_recurrent_kda_verify"})

    def test_kernels_of_delta_nets_read_any_cache_of_a_layer_that_they_refuse(self):
        for layout in ("NHD", "ragged"):
            asked = problem(cache_layout=layout, page_size=1)
            for name, backend in BACKENDS.items():
                if backend.supports(problem(**DELTA_NET)) is None or name == "vllm:chunk_gdn":
                    self.assertEqual(formats_of(backend, asked), [layout], name)
                    self.assertIn("recurrent layers only", backend.supports(asked), name)


if __name__ == "__main__":
    unittest.main()
