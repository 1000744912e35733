# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Asks vLLM's platform selector which attention backend it takes, on a machine without a GPU.

ask_vllm.py QUESTIONS.json ANSWERS.json, run by the Python that has vllm. An answer has `backend`, null where none is valid, and
`fits`: those of all backends that load here whose validate_configuration refuses nothing. `error` is in place of both where vLLM
raises something else."""
import json
import os
import sys
import types

from stand_ins import stand_in_for_kernels

os.environ.setdefault("VLLM_HAS_FLASHINFER_CUBIN", "1")  # otherwise FLASHINFER's answers depend on the network
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

KV_WORDS = {"bf16": "auto", "e4m3": "fp8", "e5m2": "fp8_e5m2", "fp8_ds_mla": "fp8_ds_mla"}


def pretend(capability):
    """A CUDA platform of this compute capability; the one that vLLM then reads, and what it asks PyTorch beside it."""
    import torch
    import vllm.platforms as platforms
    from vllm.platforms.cuda import NonNvmlCudaPlatform
    from vllm.platforms.interface import DeviceCapability

    device = DeviceCapability(capability // 10, capability % 10)

    class Pretended(NonNvmlCudaPlatform):
        get_device_capability = classmethod(lambda cls, device_id=0: device)
        get_device_name = classmethod(lambda cls, device_id=0: f"sm{capability}")
        num_compute_units = classmethod(lambda cls, device_id=0: 132)

    platforms._current_platform = Pretended()
    torch.cuda._lazy_init = lambda: None
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda *_: tuple(device)
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=device.major, minor=device.minor, name=f"sm{capability}",
                                                                        multi_processor_count=132)
    return device


def selector_config(question, layer):
    """What the question asks, in those of the selector's fields that this version has; None where it has not all."""
    import torch
    from vllm.v1.attention.selector import AttentionSelectorConfig

    given = {"dtype": torch.bfloat16, "kv_cache_dtype": KV_WORDS[question["kv_dtype"]], "block_size": question["page_size"] or None,
             "use_batch_invariant": question["deterministic"], **layer}
    if question["dcp"]:
        given["use_dcp"] = True
    if question["spans"]:
        given["use_mm_prefix"] = True
    if "has_sliding_window" not in AttentionSelectorConfig._fields:
        given.pop("has_sliding_window", None)
    if not set(given) <= set(AttentionSelectorConfig._fields):
        return None
    return AttentionSelectorConfig(**given)


def backends_that_fit(config, capability):
    from vllm.v1.attention.backends.registry import AttentionBackendEnum

    fits = []
    for backend in AttentionBackendEnum:
        try:
            refused = backend.get_class().validate_configuration(device_capability=capability, **config._asdict())
        except Exception:  # not built for this machine, or not a backend of a layer
            continue
        if not refused:
            fits.append(backend.name)
    return fits


def answer(question, layer, heads):
    capability = pretend(int(question["arch"].removeprefix("sm")))
    os.environ["VLLM_BATCH_INVARIANT"] = "1" if question["deterministic"] else "0"
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.platforms import current_platform

    with set_current_vllm_config(VllmConfig()):
        config = selector_config(question, layer)
        if config is None:
            return None
        valid, _ = current_platform.get_valid_backends(capability, config, num_heads=heads)
        first = min(valid, key=lambda each: each[-1], default=None)
        name = getattr(first, "backend", None) or (first[0] if first else None)
        return {"backend": name.name if name is not None else None, "fits": backends_that_fit(config, capability)}


def main(questions_file, answers_file):
    stand_in_for_kernels("vllm")
    import vllm

    with open(questions_file, encoding="utf-8") as file:
        asked = json.load(file)
    answers = []
    for each in asked:
        # Other platforms need their own packages, and models with a backend of their own do not ask.
        if not each["question"]["arch"].startswith("sm") or each["vllm_layer"] is None:
            answers.append(None)
            continue
        try:
            answers.append(answer(each["question"], each["vllm_layer"], each["heads"]))
        except Exception as error:
            answers.append({"error": f"{type(error).__name__}: {error}"})
    with open(answers_file, "w", encoding="utf-8") as file:
        json.dump({"engine": "vLLM", "version": vllm.__version__, "answers": answers}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
