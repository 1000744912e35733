# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's wheel: the versions that the pack was seen with, and where they have what it calls."""
import contextlib
import enum
import types

from engine_packages import Functions, Library, Quiet, import_bare

REQUIRES = {"vllm": "0.22.0..0.33.0", "torch": "2.11.0..2.14.0"}
WITH_TRITON = {**REQUIRES, "triton": "3.6.0..3.8.0"}

CORE_FILES = ("_C_stable_libtorch.abi3.so", "_C.abi3.so")
CORE = Library("vllm", "_C", CORE_FILES)
CACHE = Library("vllm", "_C_cache_ops", CORE_FILES)
FA2 = Library("vllm", "_vllm_fa2_C", ("vllm_flash_attn/_vllm_fa2_C.abi3.so",))
FA3 = Library("vllm", "_vllm_fa3_C", ("vllm_flash_attn/_vllm_fa3_C.abi3.so",))
FLASH_MLA = Library("vllm", "_flashmla_C", ("_flashmla_C.abi3.so",))
FLASH_MLA_FP8 = Library("vllm", "_flashmla_extension_C", ("_flashmla_extension_C.abi3.so",))
UNIFIED = Functions(("vllm.v1.attention.ops.triton_unified_attention",))
MLA_DECODE = Functions(("vllm.v1.attention.ops.triton_decode_attention",))
FLASHINFER_BACKEND = Functions(("vllm.v1.attention.backends.flashinfer",), alone=True)


def linear_attention(module):
    """A module of vLLM's copy of flash-linear-attention."""
    return Functions((f"vllm.third_party.flash_linear_attention.ops.{module}",
                      f"vllm.model_executor.layers.fla.ops.{module}"))


class KVQuantMode(enum.IntEnum):
    """vllm.v1.kv_cache_interface's; it is compared by its names."""
    NONE = 0
    FP8_PER_TENSOR = 1
    INT8_PER_TOKEN_HEAD = 2
    FP8_PER_TOKEN_HEAD = 3
    INT4_PER_TOKEN_HEAD = 4


def stand_ins():
    """Modules of which vLLM's kernels need a name or two, and which would start its platform detection."""
    import torch
    import triton
    import triton.language
    import triton.language.extra.libdevice as libdevice
    capability = torch.cuda.get_device_capability if torch.cuda.is_available() else lambda: (0, 0)
    platform = types.SimpleNamespace(
        fp8_dtype=lambda: torch.float8_e4m3fn, is_rocm=lambda: False, is_xpu=lambda: False, is_cpu=lambda: False,
        is_cuda=lambda: True, is_cuda_alike=lambda: True,
        is_device_capability_family=lambda family, **_: capability()[0] == family // 10,
        has_device_capability=lambda least: capability() >= divmod(least, 10))
    return {
        "vllm.envs": {"VLLM_BATCH_INVARIANT": False, "VLLM_GPU_SYNC_CHECK": None},
        "vllm.logger": {"init_logger": lambda name: Quiet()},
        "vllm.platforms": {"current_platform": platform},
        "vllm.triton_utils": {"triton": triton, "tl": triton.language, "tldevice": libdevice},
        "vllm.utils": {},
        "vllm.utils.gpu_sync_debug": {"gpu_sync_allowed": contextlib.nullcontext},
        "vllm.utils.torch_utils": {
            "async_tensor_h2d": lambda values, dtype, device: torch.tensor(values, dtype=dtype, device=device)},
        "vllm.v1.kv_cache_interface": {"KVQuantMode": KVQuantMode}}


def import_from(functions):
    """The module with these functions, without starting vLLM: its packages are bare down to the module."""
    name = functions.name()
    parts = name.split(".")[:-1]
    bare = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return import_bare(name, bare, stand_ins())
