#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What FlashInfer 0.6.9 plans for the decodes of scenarios/peers.yaml: how many pieces of keys, and how long the longest
is. Needs a GPU, torch and flashinfer-python.

The numbers stand in what plan() leaves behind: DecodePlanInfo and PrefillPlanInfo of attention/scheduler.cuh begin with
the number of pieces, and hold the place of the length in the workspace.
"""
import flashinfer
import torch

CASES = {"1 x 8k": [8192], "64 x 1k": [1024] * 64, "256 x 1k": [1024] * 256, "64 x 8k": [8192] * 64,
         "1 x 128k": [131072], "63 x 700 + 64k": [700] * 63 + [65536]}
PAGE_SIZE, HEADS_Q, HEADS_KV, HEAD_DIM = 16, 32, 8, 128
PLACE_OF_LENGTH = {False: 7, True: 9}  # kv_chunk_size_ptr_offset, by whether tensor cores are used


def ints(values):
    return torch.tensor(values, dtype=torch.int32)


for name, lens in CASES.items():
    for tensor_cores in (False, True):
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
            torch.zeros(256 << 20, dtype=torch.uint8, device="cuda"), "NHD", use_tensor_cores=tensor_cores,
            backend="fa2" if tensor_cores else "auto")
        starts = [0]
        for kv_len in lens:
            starts.append(starts[-1] + -(-kv_len // PAGE_SIZE))
        wrapper.plan(ints(starts), ints(range(starts[-1])).cuda(), ints([(n - 1) % PAGE_SIZE + 1 for n in lens]), HEADS_Q,
                     HEADS_KV, HEAD_DIM, PAGE_SIZE, q_data_type=torch.bfloat16, kv_data_type=torch.bfloat16)
        plan = list(wrapper._plan_info)
        place = plan[PLACE_OF_LENGTH[tensor_cores]]
        longest = wrapper._pin_memory_int_workspace_buffer[place:place + 4].view(torch.int32).item()
        print(f"{name}, {'tensor' if tensor_cores else 'CUDA'} cores: {plan[0]} pieces of at most {longest} keys")
