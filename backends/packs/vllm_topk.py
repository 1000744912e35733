# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's kernels that select keys of the logits of its indexer, as SparseIndexerTopk and prompts call them."""
from engine_tools import first_reason
from vllm_wheel import CORE, REQUIRES


class Selector:
    """Kernels write -1 behind the keys of a short row themselves. topk_length is left as it is: vLLM has none."""
    device = "cuda"
    requires = REQUIRES
    index_format = "row_lens"
    graph_support = "ALWAYS"
    deterministic = False  # the order of a list, and which of equal scores it has
    selects_keys = True
    reads_page_gaps = True  # no cache
    formats = ["NHD", "HND"]  # whatever its scales are

    def load(self):
        (library, names), = self.calls.items()
        self.operators = library.load(*names.split())

    def supports(self, problem):
        return first_reason(
            (problem.step != "select", "it selects keys only"),
            (problem.topk_groups != 1, "one list for all query heads only: vLLM's indexer leaves one row of logits a token")
        ) or self.no_lists(problem)

    def plan(self, batch):
        return SelectorPlan(batch, self)


class TopKPerRow(Selector):
    name = "vllm:top_k_per_row"
    description = "vLLM's top-k of one block a row, of decodes and of prompts"
    kernel = "_C.top_k_per_row_decode; _C.top_k_per_row_prefill"
    calls = {CORE: "top_k_per_row_decode top_k_per_row_prefill"}

    def no_lists(self, problem):
        return first_reason((problem.topk > 2048, "lists of up to 2048 keys only: they are sorted in shared memory"))

    def call(self, batch, logits, lens, lists):
        rows = (len(logits), *logits.stride(), lists.shape[1])
        if batch.problem.mode in ("decode", "target_verify"):
            return self.operators.top_k_per_row_decode.default, (logits, 1, lens, lists, *rows)
        return self.operators.top_k_per_row_prefill.default, (logits, lens.new_zeros(len(lens)), lens, lists, *rows)


class PersistentTopK(Selector):
    name = "vllm:persistent_topk"
    description = "vLLM's top-k of long rows by groups of blocks that stay on the GPU, of more than 32 rows by a block each"
    kernel = "_C.persistent_topk"
    calls = {CORE: "persistent_topk"}

    def no_lists(self, problem):
        return first_reason((problem.topk not in (512, 1024, 2048), f"lists of 512, 1024 or 2048 keys only, not {problem.topk}"))

    def call(self, batch, logits, lens, lists):
        import torch
        workspace = torch.empty(1 << 20, dtype=torch.uint8, device=lens.device)  # RADIX_TOPK_WORKSPACE_SIZE
        # max_seq_len is of the batch's longest row, by which a form is chosen and rows are cut, not the rows' width.
        longest = -(-max(batch.kv_lens) // batch.problem.topk_unit)
        operator = getattr(self.operators, self.calls[CORE])
        return operator.default, (logits, lens, lists, workspace, lists.shape[1], longest)


class CooperativeTopK(PersistentTopK):
    name = "vllm:cooperative_topk"
    description = "vLLM's top-k of a cluster of blocks a row"
    kernel = "_C.cooperative_topk"
    calls = {CORE: "cooperative_topk"}

    def no_lists(self, problem):
        return super().no_lists(problem) or first_reason(
            (problem.max_q_tokens > 64, f"64 rows at most, not {problem.max_q_tokens}: it is one wave of clusters"))


class SelectorPlan:
    def __init__(self, batch, backend):
        import torch_tools
        self.on, self.idle = torch_tools.on, batch.q_tokens == 0
        if self.idle:
            return
        logits, lens, lists = (batch.tensor(role).torch() for role in ("logits", "row_lens", "topk_indices"))
        self.operator, self.arguments = backend.call(batch, logits[:, 0], lens, lists.view(len(lists), -1))
        torch_tools.finish(lens)

    def run(self, stream):
        if not self.idle:
            with self.on(stream):
                self.operator(*self.arguments)
