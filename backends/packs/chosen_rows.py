# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of chosen keys as engines hand them to kernels of sparse attention: as rows of the whole cache."""
from engine_tools import first_reason, request_rows


def no_lists_of_keys(problem):
    """Why lists are none for a kernel that is given a row for each entry, one list for all query heads; None where they
    are, or the layer has none."""
    return None if problem.topk == 0 else first_reason(
        (problem.topk_unit != 1, f"lists of single keys only, not of units of {problem.topk_unit}"),
        (problem.topk_groups != 1, f"one list for all query heads only, not {problem.topk_groups}"))


def physical_rows(where, lists, lengths, requests, columns, block_table, page_size):
    """[tokens, topk] the row of each entry, -1 for entries that are none or do not count: those are skipped by every
    kernel, and topk_length is left out by some.

    where: torch's. lists [tokens, topk], lengths [tokens]: of the batch. requests [tokens]: whose each token is.
    columns: 0 to topk - 1. block_table [requests, pages].
    """
    counted = (lists >= 0) & (columns < lengths[:, None])
    keys = lists.clip(0)
    pages = block_table[requests[:, None], keys // page_size]
    return where(counted, pages * page_size + keys % page_size, -1)


class ChosenRows:
    """The lists of a plan's steps as rows. Everything is done by the device, on the current stream: the lists of a
    recorded plan's next step are there, at other addresses."""

    def __init__(self, batch):
        import torch
        self.where, self.page_size = torch.where, batch.problem.page_size
        device = batch.tensor("topk_indices").torch().device
        # In a recorded plan all requests have the same number of tokens, in every step.
        requests = torch.repeat_interleave(torch.arange(batch.batch_size), torch.tensor(batch.q_lens))
        self.requests, self.columns = requests.to(device), torch.arange(batch.problem.topk, device=device)

    def of(self, batch):
        """[tokens, topk]: physical_rows() of a step."""
        lists, lengths = (request_rows(batch, role)[:, 0] for role in ("topk_indices", "topk_length"))
        return physical_rows(self.where, lists, lengths, self.requests, self.columns,
                             batch.tensor("block_table").torch(), self.page_size)
