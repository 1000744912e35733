# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What the packs' builders of index arrays share: kv_indptr and kv_indices of a step, as an engine makes them."""
from engine_tools import first_reason


class CsrBuilder:
    """`plans` is called with the batch and this backend, in whose `build` the engine's kernel then is."""
    device = "cuda"
    builds_indices = "csr"
    reads_page_gaps = reads_selection = True  # no cache, and no list of chosen keys

    def load(self):
        import triton
        import triton.language
        (functions, name), = self.calls.items()
        self.build = functions.take(name, triton=triton, tl=triton.language)

    def supports(self, problem):
        return first_reason((problem.step != "index", "it builds index arrays only"))

    def formats(self, problem):
        return ["NHD", "HND", "combined", "joint", "joint_hnd", "x_packed"]

    def plan(self, batch):
        return self.plans(batch, self)


class BuilderPlan:
    def __init__(self, batch, backend):
        import torch
        import torch_tools
        self.torch, self.on, self.requests, self.build = torch, torch_tools.on, batch.batch_size, backend.build
        arrays = {name: array.torch() for name, array in batch.indices("csr").items()}
        self.starts, self.pages = arrays["kv_indptr"], arrays["kv_indices"]
        self.bind(batch)
        torch_tools.finish(self.starts)

    def bind(self, batch):
        raise NotImplementedError

    def launch(self):
        raise NotImplementedError

    def run(self, stream):
        with self.on(stream):
            self.launch()
