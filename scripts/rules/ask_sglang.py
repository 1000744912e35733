# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Asks SGLang's server arguments which attention backend they resolve to, on a machine without a GPU.

ask_sglang.py QUESTIONS.json ANSWERS.json, run by the Python that has sglang; all questions are of one device, because SGLang keeps
what it finds out about its machine. An answer has `backend`, that of decodes, `prefill` where it is another, and `page_size`.
`error` is in place of them where the server refuses to start."""
import importlib
import json
import os
import sys
import tempfile
from unittest import mock

from stand_ins import stand_in_for_kernels

MEMORY = 143771.0  # MiB, of an H200
KV_WORDS = {"bf16": "auto", "e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2"}


def pretend(arch):
    """A machine with such a device, before sglang is imported."""
    import torch

    stand_in_for_kernels("sglang")
    capability = int(arch.removeprefix("sm")) if arch.startswith("sm") else 0
    on_gpu = arch.startswith(("sm", "gfx"))
    torch.version.cuda = "13.0" if capability else None
    torch.version.hip = "7.0" if arch.startswith("gfx") else None
    torch.cuda.is_available = lambda: on_gpu
    torch.cuda.device_count = lambda: 8 if on_gpu else 0
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda *_: (capability // 10, capability % 10) if capability else (9, 4)
    torch.cuda.get_device_name = lambda *_: arch
    torch.cuda.get_device_properties = lambda *_: mock.MagicMock(gcnArchName=arch, multi_processor_count=132, name=arch)
    torch.xpu.is_available = lambda: arch == "xpu"
    torch.xpu.get_device_properties = lambda *_: mock.MagicMock(has_fp64=True)
    torch.xpu.device_count = lambda: 8 if arch == "xpu" else 0
    if arch == "cpu":
        os.environ["SGLANG_USE_CPU_ENGINE"] = "1"
    import sglang.srt.utils.common as common

    for name in ["get_nvgpu_memory_capacity", "get_device_memory_capacity", "get_amdgpu_memory_capacity", "get_xpu_memory_capacity"]:
        if hasattr(common, name):
            setattr(common, name, lambda *_: MEMORY)
    common.cpu_has_amx_support = lambda: True
    for module in ["sglang.srt.arg_groups.memory_hook", "sglang.srt.server_args"]:
        try:
            importlib.import_module(module).get_device_memory_capacity = lambda *_: MEMORY
        except ImportError:
            pass


def server_options(question, config):
    options = {"device": {"cpu": "cpu", "xpu": "xpu"}.get(question["arch"], "cuda"), "kv_cache_dtype": KV_WORDS[question["kv_dtype"]],
               "tp_size": question["tp"], "enable_deterministic_inference": question["deterministic"], "mem_fraction_static": 0.8}
    if question["page_size"]:
        options["page_size"] = question["page_size"]
    if question["topk"]:
        options |= {"speculative_algorithm": "EAGLE", "speculative_eagle_topk": question["topk"], "speculative_num_steps": 3,
                    "speculative_num_draft_tokens": 4 if question["topk"] == 1 else 8}
    if question["dcp"]:
        options["dcp_size"] = 2
    if "index_kpool" in config:
        options["mamba_track_interval"] = 1024  # whole pages of its model, without which the server ends
    return options


def answer(question, config):
    if question["kv_dtype"] not in KV_WORDS or question["spans"]:
        return None  # a row format of vLLM's; no setting of the server
    import sglang.srt.server_args as server_args

    try:
        from sglang.srt.arg_groups.model_override_base import attention_backends_of, resolved_view
    except ImportError:
        from sglang.srt.arg_groups.overrides import attention_backends_of, resolved_view
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        args = server_args.ServerArgs(model_path=folder, tokenizer_path=folder, **server_options(question, config))
        if hasattr(args, "resolve_once"):
            args.resolve_once()
        view = resolved_view(args)
        prefill, decode = attention_backends_of(view)
        return {"backend": decode, "prefill": prefill, "page_size": view.page_size}


def main(questions_file, answers_file):
    with open(questions_file, encoding="utf-8") as file:
        asked = json.load(file)
    pretend(asked[0]["question"]["arch"])
    import sglang

    answers = []
    for each in asked:
        try:
            answers.append(answer(each["question"], each["config"]))
        except ImportError:
            raise  # of an environment that holds no whole engine: no answer, as a refusal of the server is one
        except (Exception, SystemExit) as error:
            answers.append({"error": f"{type(error).__name__}: {error}"})
    with open(answers_file, "w", encoding="utf-8") as file:
        json.dump({"engine": "SGLang", "version": sglang.__version__, "answers": answers}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
