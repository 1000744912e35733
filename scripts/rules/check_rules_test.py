# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_rules against engines that are written for the test: packages of a few lines in a temporary environment.

check_rules_test.py ATTNBENCH"""
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check_rules"
TORCH = """
import types
bfloat16 = 'bf16'
version, cuda, xpu = types.SimpleNamespace(), types.SimpleNamespace(), types.SimpleNamespace()
"""
# FlashAttention 3 and Triton of vLLM 0.33 on Hopper, as far as the questions about Llama ask. PLANTED is a change of the engine's.
VLLM = {
    "vllm/__init__.py": "__version__ = '0.33.0'\n",
    "vllm/config.py": """
        import contextlib
        VllmConfig = object
        set_current_vllm_config = contextlib.nullcontext
        """,
    "vllm/platforms/__init__.py": """
        def __getattr__(name):
            if name == "current_platform":
                return _current_platform
            raise AttributeError(name)
        """,
    "vllm/platforms/interface.py": """
        import collections
        DeviceCapability = collections.namedtuple("DeviceCapability", "major minor")
        """,
    "vllm/platforms/cuda.py": """
        import collections
        from vllm.v1.attention.backends.registry import AttentionBackendEnum
        Candidate = collections.namedtuple("Candidate", "backend_class backend priority")
        class NonNvmlCudaPlatform:
            def get_valid_backends(self, capability, config, num_heads):
                fits = [each for each in AttentionBackendEnum if not each.get_class().validate_configuration(capability, **config._asdict())]
                return [Candidate(each.get_class(), each, place) for place, each in enumerate(fits)], {}
        """,
    "vllm/v1/__init__.py": "", "vllm/v1/attention/__init__.py": "", "vllm/v1/attention/backends/__init__.py": "",
    "vllm/v1/attention/selector.py": """
        import typing
        class AttentionSelectorConfig(typing.NamedTuple):
            head_size: int
            dtype: str
            kv_cache_dtype: str
            block_size: int
            use_mm_prefix: bool = False
            use_batch_invariant: bool = False
            has_sliding_window: bool = False
            use_dcp: bool = False
        """,
    "vllm/v1/attention/backends/registry.py": """
        import enum
        class Backend:
            def __init__(self, caches, pages, *features):
                self.caches, self.pages, self.features = caches, pages, features
            def validate_configuration(self, device_capability, kv_cache_dtype, block_size, use_mm_prefix, use_batch_invariant, use_dcp, **_):
                asked = {"spans": use_mm_prefix, "invariant": use_batch_invariant, "dcp": use_dcp}
                return [word for word, wanted in asked.items() if wanted and word not in self.features] + (
                    [] if kv_cache_dtype in self.caches else ["cache"]) + (
                    [] if block_size is None or any(block_size % page == 0 for page in self.pages) else ["pages"])
        BF16, E4M3 = ["auto"], ["auto", "fp8"]
        FP8 = [*E4M3, "fp8_e5m2"]
        class AttentionBackendEnum(enum.Enum):
            FLASH_ATTN = (PLANTED, [16], "invariant", "dcp")
            FLASHINFER = (FP8, [16, 32, 64], "dcp")
            TRITON_ATTN = (FP8, [16], "invariant", "spans")
            FLEX_ATTENTION = (BF16, [16], "invariant", "spans")
            HPC_ATTN = (E4M3, [64])
            def get_class(self):
                return Backend(*self.value)
        """,
}
SGLANG = {
    "sglang/__init__.py": "__version__ = '0.5.23'\n",
    "sglang/srt/__init__.py": "", "sglang/srt/utils/__init__.py": "", "sglang/srt/utils/common.py": "", "sglang/srt/arg_groups/__init__.py": "",
    "sglang/srt/arg_groups/overrides.py": """
        def resolved_view(args):
            return args
        def attention_backends_of(view):
            return view.backend, view.backend
        """,
    "sglang/srt/server_args.py": """
        class ServerArgs:
            def __init__(self, kv_cache_dtype, speculative_eagle_topk=0, page_size=1, **_):
                self.page_size = page_size
                self.backend = "flashinfer" if speculative_eagle_topk > PLANTED else "fa3"
                if kv_cache_dtype == "fp8_e5m2" and self.backend == "fa3":
                    self.backend = "triton"
        """,
}


class CheckRules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, files, planted):
        """An environment that holds an engine of these files."""
        packages = self.folder / "packages"
        for name, text in {**files, "torch.py": TORCH}.items():
            path = packages / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).replace("PLANTED", planted))
        python = self.folder / "env" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{sys.executable}' \"$@\"\n")
        python.chmod(0o755)
        return self.folder / "env"

    def check(self, *arguments):
        return subprocess.run([CHECK, "--program", PROGRAM, "--model", "llama-3.1-8b", "--arch", "sm90", *arguments],
                              capture_output=True, text=True, check=False)

    def test_agrees_with_an_engine_that_has_the_same_rules(self):
        done = self.check(self.environment(VLLM, "E4M3"))
        self.assertEqual((done.returncode, done.stdout), (0, "vLLM 0.33.0: 14 questions, 0 differences\n"), done.stderr)

    def test_takes_a_package_that_is_missing_for_no_refusal_of_the_server(self):
        done = self.check(self.environment(SGLANG, "__import__('a_package_that_is_not_there')"))
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, "not asked: sglang on sm90.*No module named 'a_package_that_is_not_there'")

    def test_shows_a_backend_that_the_engine_takes_now(self):
        done = self.check(self.environment(VLLM, "FP8"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"sm90 +llama-3.1-8b, e5m2 +FLASH_ATTN +FLASHINFER\n")

    def test_shows_a_backend_that_fits_beside_the_one_taken(self):
        done = self.check(self.environment({**VLLM, "vllm/v1/attention/backends/registry.py": VLLM[
            "vllm/v1/attention/backends/registry.py"].replace("(BF16, [16]", "(E4M3, [16]")}, "E4M3"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"llama-3.1-8b, e4m3 +FLASH_ATTN; fits: FLEX_ATTENTION +FLASH_ATTN; fits: -")

    def test_asks_the_arguments_of_sglang(self):
        environment = self.environment(SGLANG, "1")
        self.assertEqual(self.check(environment).returncode, 0, self.check(environment).stdout)

    def test_shows_another_choice_of_sglang(self):
        done = self.check(self.environment(SGLANG, "4"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"llama-3.1-8b, topk 4 +fa3 +flashinfer\n")

    def test_compares_answers_that_were_kept(self):
        environment = self.environment(VLLM, "E4M3")
        self.check(environment, "--keep", self.folder)
        kept = self.folder / "vllm-0.33.0.tsv"
        self.assertEqual(self.check(kept).returncode, 0)
        kept.write_text(kept.read_text().replace("llama-3.1-8b\tFLASH_ATTN", "llama-3.1-8b\tTRITON_ATTN"))
        self.assertEqual(self.check(kept).returncode, 1)

    def test_ends_with_the_codes_of_attnbench_where_it_cannot_ask(self):
        self.assertEqual(self.check(self.folder / "none").returncode, 5)
        self.assertEqual(self.check(self.environment({}, "")).returncode, 5)
        self.assertEqual(self.check().returncode, 4)
        self.assertEqual(self.check(self.folder / "none.tsv").returncode, 4)

    def test_names_a_device_about_which_the_engine_did_not_answer(self):
        done = self.check(self.environment({"vllm/__init__.py": "raise ImportError('no libcuda')\n"}, ""))
        self.assertEqual(done.returncode, 3)
        self.assertIn("vllm on sm90: ImportError: no libcuda", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
