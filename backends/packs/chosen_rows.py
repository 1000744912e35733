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


class ChosenRows:
    """The lists of a plan's steps as rows of the whole cache. take() belongs to prepare() and write() to launch(): the
    entries may be those that a selector of the same step has just left, and an engine converts them in each layer."""

    def __init__(self, batch):
        import torch
        from chosen_rows_kernel import write_rows
        problem, self.kernel = batch.problem, write_rows
        self.topk, self.page_size = problem.topk, problem.page_size
        device = batch.tensor("topk_indices").torch().device
        # In a recorded plan all requests have the same number of tokens, in every step.
        requests = torch.repeat_interleave(torch.arange(batch.batch_size), torch.tensor(batch.q_lens))
        self.requests = requests.int().to(device)
        self.own = None
        if problem.recorded:  # the next step's are at other addresses
            shapes = ((len(requests), problem.topk), (len(requests), 1),
                      (batch.batch_size, -(-problem.max_kv_len // problem.page_size)))
            self.own = [torch.zeros(shape, dtype=torch.int32, device=device) for shape in shapes]

    def take(self, batch):
        """Where the lists, their lengths and the pages of a step are."""
        self.step = [request_rows(batch, "topk_indices")[:, 0], request_rows(batch, "topk_length"),
                     batch.tensor("block_table").torch()]
        if self.own:
            for own, theirs in zip(self.own, self.step):
                own[:, :theirs.shape[1]].copy_(theirs)
            self.step = self.own

    def lengths(self):
        """[tokens]: topk_length of the step."""
        return self.step[1][:, 0]

    def write(self, rows, counts=None):
        """Writes the row of each entry into the first topk columns of rows, i32 [tokens, columns or more]. An entry that is
        none, or that does not count, is -1: every kernel skips those, and some leave topk_length out. With `counts`, i32
        [tokens], the others come in front, as vLLM's conversion leaves them, and it says how many there are."""
        lists, lengths, table = self.step
        columns = 1 << max(self.topk - 1, 0).bit_length()
        self.kernel[(len(lists),)](
            lists, lengths, self.requests, table, rows, rows if counts is None else counts, self.topk, self.page_size,
            lists.stride(0), lengths.stride(0), table.stride(0), rows.stride(0), IN_FRONT=counts is not None,
            COLUMNS=columns, num_warps=8 if columns > 512 else 4)
