# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""torch.topk as who selects keys: what engines fall back to where no kernel of their own takes a case."""
from engine_tools import first_reason


class TopK:
    name = "torch:topk"
    device = "cuda"
    requires = {"torch": "2.11.0"}
    kernel = "torch.topk"
    description = "torch.topk over a copy of the logits that has -inf behind what a query sees"
    selects_keys = True

    def load(self):
        import torch
        import torch_tools  # noqa: F401

    def supports(self, problem):
        return first_reason((problem.step != "select", "it selects keys only"))

    def plan(self, batch):
        return TopKPlan(batch)


class TopKCpu(TopK):
    name, device = "torch:topk_cpu", "cpu"


class TopKPlan:
    """The copy is part of the time: a kernel that leaves logits writes -inf in their place, or nothing."""

    def __init__(self, batch):
        import torch
        import torch_tools
        self.torch, self.on = torch, torch_tools.on
        self.logits, lens, self.lists, self.lengths = (
            batch.tensor(role).torch() for role in ("logits", "row_lens", "topk_indices", "topk_length"))
        self.taken = min(self.lists.shape[2], self.logits.shape[2])
        self.columns = torch.arange(self.logits.shape[2], device=lens.device)
        self.lens = lens[:, None, None]
        self.lowest = torch.full((), float("-inf"), device=lens.device)
        torch_tools.finish(self.lens)

    def run(self, stream):
        with self.on(stream):
            seen = self.torch.where(self.columns < self.lens, self.logits, self.lowest)
            found = self.torch.topk(seen, self.taken).indices  # from the highest on: what is not seen comes last
            counted = self.lens.clamp(max=self.taken)
            self.lists.fill_(-1)
            self.lists[..., :self.taken] = self.torch.where(self.columns[:self.taken] < counted, found, -1)
            self.lengths.copy_(counted[..., 0].expand_as(self.lengths))
