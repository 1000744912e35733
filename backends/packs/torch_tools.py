# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What packs on PyTorch share. It imports torch: a pack imports it in load(), not at its top."""
import contextlib

import torch


MOST_BYTES = 8 << 30  # that one call of a dense kernel may take: other backends' fixtures are on the same GPU


def on(stream):
    """The context in which torch works on the stream that run() is given. A CPU has none."""
    return torch.cuda.stream(torch.cuda.ExternalStream(stream)) if stream else contextlib.nullcontext()


def finish(tensor):
    """Waits for what plan() has enqueued on the device of a tensor: run() works on another stream, which does not."""
    if tensor.is_cuda:
        torch.cuda.current_stream(tensor.device).synchronize()


def rows(cache):
    """A tensor of a cache in NHD, [pages, page size, heads, dim], as [slots, heads, dim] on the same memory, which those
    of ragged keys are."""
    return cache.torch().view(-1, *cache.shape[-2:])


def key_slots(batch):
    """For each request the slots of its keys, int64 [kv_len], on the backend's device."""
    table = batch.tensor("req_to_token").torch()
    places = batch.tensor("req_pool_indices").torch().tolist()
    return [table[place, :kv_len].long() for place, kv_len in zip(places, batch.kv_lens)]


class Group:
    """Requests that have the same number of queries and the same number of keys: one call of a dense kernel.

    size: of the group. q_len, kv_len: of each of its requests. rows: of its query tokens among those of the batch, a
    slice where they lie together, else int64 [size * q_len]. slots: of its keys, int64 [size * kv_len].
    """

    def __init__(self, batch, requests, first_tokens, slots):
        self.size, self.q_len, self.kv_len = len(requests), batch.q_lens[requests[0]], batch.kv_lens[requests[0]]
        self.slots = torch.cat([slots[request] for request in requests])
        together = requests == list(range(requests[0], requests[0] + self.size))
        if together:
            first = first_tokens[requests[0]]
            self.rows = slice(first, first + self.size * self.q_len)
        else:
            tokens = [torch.arange(first_tokens[r], first_tokens[r] + self.q_len) for r in requests]
            self.rows = torch.cat(tokens).to(self.slots.device)
        self._problem = batch.problem
        self._tree = self._tree_of(batch, requests)
        self._spans = self._spans_of(batch, first_tokens, requests)

    def _tree_of(self, batch, requests):
        """The draft trees' mask, bool [size, 1, q_len, kv_len], or None."""
        if batch.tensor("custom_mask") is None:
            return None
        flat, starts = batch.tensor("custom_mask").torch(), batch.tensor("mask_indptr").torch().tolist()
        masks = [flat[starts[r]:starts[r] + self.q_len * self.kv_len] for r in requests]
        return torch.stack(masks).view(self.size, 1, self.q_len, self.kv_len).bool()

    def _spans_of(self, batch, first_tokens, requests):
        """The span of each query, [first key, one behind the last), i32 [size, q_len, 2], or None."""
        if not batch.problem.spans:
            return None
        spans = batch.tensor("spans").torch()
        return torch.stack([spans[first_tokens[r]:first_tokens[r] + self.q_len] for r in requests])

    @property
    def is_lower_right(self):
        """Nothing but causality hides a key: token i sees the keys up to kv_len - q_len + i."""
        problem = self._problem
        return self._tree is None and self._spans is None and problem.causal and problem.sliding_window_size < 0

    @property
    def is_dense(self):
        """Every query sees every key."""
        problem = self._problem
        if self._tree is not None or problem.sliding_window_size >= 0 and not problem.is_cross_attention:
            return False
        return problem.is_cross_attention or not problem.causal or self.q_len == 1

    def mask_mod(self):
        """The mask as flex_attention takes it: a function of the numbers of a request of the group, of a head, a query
        and a key, all tensors, that says whether the query sees the key. It captures plain numbers and tensors alone,
        as torch.compile wants it; the prefix is a tensor, so that another one needs no new compilation."""
        tree, causal, window = self._tree, self._problem.causal, self._problem.sliding_window_size
        spans, within_window = self._spans, self._problem.spans_within_window
        prefix = torch.tensor(self.kv_len - self.q_len, device=self.slots.device)

        def of_tree(request, head, query, key):
            return tree[request, 0, query, key]

        def of_window(request, head, query, key):
            seen = key <= query + prefix if causal else key >= 0
            if window >= 0:
                seen = seen & (key >= query + prefix - window)
                if not causal:
                    seen = seen & (key <= query + prefix + window)
            return seen

        def of_spans(request, head, query, key):
            in_span = (key >= spans[request, query, 0]) & (key < spans[request, query, 1])
            if within_window:
                in_span = in_span & (key > query + prefix)
            return of_window(request, head, query, key) | in_span
        if spans is not None:
            return of_spans
        return of_window if tree is None else of_tree

    def mask(self):
        """bool [size or 1, 1, q_len, kv_len], True where a query sees a key; None where each sees all."""
        if self.is_dense:
            return None
        if self._tree is not None:
            return self._tree
        request, query, key = (torch.arange(count, device=self.slots.device)
                               for count in (self.size, self.q_len, self.kv_len))
        return self.mask_mod()(request[:, None, None], None, query[None, :, None], key)[:, None]


def groups_of(batch, bytes_of):
    """The groups of a batch, in parts of as many requests as fit MOST_BYTES, one at least. Requests without queries are
    in none. bytes_of(q_len, kv_len): the memory that the kernel's call takes for a request."""
    members, first_tokens, first = {}, [], 0
    for request, (q_len, kv_len) in enumerate(zip(batch.q_lens, batch.kv_lens)):
        first_tokens.append(first)
        first += q_len
        if q_len > 0:
            members.setdefault((q_len, kv_len), []).append(request)
    slots = key_slots(batch)
    groups = []
    for lens, requests in members.items():
        most = max(1, MOST_BYTES // bytes_of(*lens))
        groups += [Group(batch, requests[at:at + most], first_tokens, slots) for at in range(0, len(requests), most)]
    return groups
