# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's absorbed MLA over chosen keys: each is a page of its own, and each query token a request."""
from chosen_rows import ChosenRows, no_lists_of_keys
from engine_tools import first_reason, no_latent_attention
from flashinfer_mla import MlaFa3, MlaPlan


class SparseMlaPlan(MlaPlan):
    """Its planner reads on the host how many keys each list has: plan() and update() wait for them. vLLM, which must not
    wait, plans upper bounds, and cuts them by a kernel of its own."""

    def bind(self, batch, backend):
        self.chosen = ChosenRows(batch)
        super().bind(batch, backend)
        self.masked = False  # a list names what its query sees

    def sizes(self, batch):
        return len(self.out), self.problem.topk

    def cache_pages(self):
        return self.k_cache.view(-1, 1, self.problem.head_dim_qk)

    def indices(self, batch):
        rows = self.torch.empty((len(self.out), self.problem.topk), dtype=self.torch.int32, device=self.out.device)
        self.chosen.take(batch)
        self.chosen.write(rows)
        there = rows >= 0
        lens = there.sum(1).int().cpu()
        starts = self.torch.zeros(len(lens) + 1, dtype=self.torch.int32)
        starts[1:] = lens.cumsum(0)
        # One is handed over where no list names a key.
        packed = rows[there] if starts[-1] > 0 else self.ints(1)
        return {"qo_indptr": self.torch.arange(len(lens) + 1, dtype=self.torch.int32), "kv_indptr": starts,
                "kv_indices": packed, "kv_len_arr": lens}


class SparseMla(MlaFa3):
    name = "flashinfer:sparse_mla"
    description = "FlashInfer's absorbed MLA over chosen latent rows, which vLLM names FLASHINFER_MLA_SPARSE_SM90"
    index_format = "topk_indices, block_table"
    requires = {**MlaFa3.requires, "triton": "3.6.0..3.8.0"}
    plans = SparseMlaPlan
    tuning = {}
    formats = ["NHD"]
    reads_selection = True
    reads_page_gaps = False  # rows are counted over all pages

    def supports(self, problem):
        no_fp8 = None if self.takes_parts else "no fp8 cache: this version's MLA has no scale for one"
        return no_latent_attention(problem, no_fp8) or no_lists_of_keys(problem) or first_reason(
            (problem.topk == 0, "layers of chosen keys only"),
            (problem.cache_dtype == "e4m3" and problem.dtype != "bf16", "over an e4m3 cache queries in bf16 only"))
