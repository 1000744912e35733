# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Backends that find keys through one index format each, in NumPy on a CPU: index_formats_test.py judges them.

Where keys lie and which are seen, they know from the arrays of their formats alone. The environment names a file
(INDICES_OUT) for the arrays of all formats (INDICES) that plan() was given, one line for each plan.
"""
import json
import os

import numpy as np


def attend(q, k, v, scale, visible):
    """out [T, H, dv] and lse [T, H] of q [T, H, dk] over k [S, Hkv, dk] and v [S, Hkv, dv], in float64."""
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x.astype(np.float64), group, axis=1) for x in (k, v))
    logits = np.einsum("thd,shd->ths", q.astype(np.float64), k) * scale
    logits = np.where(visible[:, None], logits, -np.inf)
    top = logits.max(axis=-1, initial=-1e30)
    weights = np.exp(logits - top[..., None])
    total = weights.sum(axis=-1)
    with np.errstate(divide="ignore"):
        return np.einsum("ths,shd->thd", weights, v) / np.maximum(total, 1e-300)[..., None], top + np.log(total)


def merged(parts):
    """The softmax over all keys from those over disjoint parts of them."""
    outs, lses = (np.stack(each) for each in zip(*parts))
    lse = np.logaddexp.reduce(lses)
    return (np.exp(lses - lse)[..., None] * outs).sum(axis=0), lse


def causal(q_len, kv_len, window=-1):
    """[q_len, kv_len]: the last query sits at the last key."""
    back = np.arange(kv_len - q_len, kv_len)[:, None] - np.arange(kv_len)
    return (back >= 0) & ((window < 0) | (back <= window))


class Reader:
    modes = ("extend", "mixed", "decode")
    family, windows, chunks, dual_chunks, items = "softmax", False, False, False, False

    def supports(self, problem):
        if problem.family != self.family or problem.mode not in self.modes or problem.dtype != "f32":
            return f"{self.family} in f32 only, in {' '.join(self.modes)}"
        if problem.multi_item != self.items:
            return "items: " + str(self.items)
        if (problem.attention_chunk > 0) != self.chunks or (problem.dual_chunk_size > 0) != self.dual_chunks:
            return f"chunks: {self.chunks}, dual chunks: {self.dual_chunks}"
        return None if (problem.sliding_window_size >= 0) == self.windows else "windows: " + str(self.windows)

    def plan(self, batch):
        return Plan(self, batch)


class Plan:
    def __init__(self, backend, batch):
        self.backend, self.problem = backend, batch.problem
        self.page_size = batch.problem.page_size
        self.q, self.k, self.out, self.lse = (batch.tensor(role).numpy() for role in ("q", "k_cache", "out", "lse"))
        self.v = batch.tensor("v_cache").numpy()
        self.arrays = {name: self.arrays_of(batch, name) for name in backend.reads}
        if "INDICES_OUT" in os.environ:
            with open(os.environ["INDICES_OUT"], "a") as file:
                file.write(json.dumps({name: self.shown(batch, name) for name in os.environ["INDICES"].split()}) + "\n")

    @staticmethod
    def arrays_of(batch, name, **more):
        return {key: value if isinstance(value, int) else value.numpy()
                for key, value in batch.indices(name, **more).items()}

    def shown(self, batch, name):
        try:
            here, host = self.arrays_of(batch, name), self.arrays_of(batch, name, host=True)
        except LookupError as error:
            return str(error)
        assert all(np.array_equal(here[key], host[key]) for key in {**here, **host}), name
        return {key: [f"{getattr(value, 'dtype', 'int')}", np.shape(value), np.ravel(value).tolist()]
                for key, value in here.items()}

    def keys(self, slots):
        """Keys and values of token slots."""
        pages, offsets = np.divmod(slots, self.page_size)
        return self.k[pages, offsets], self.v[pages, offsets]

    def slots(self, pages, kv_len):
        """The token slots of the first keys of these pages."""
        return (pages[:, None].astype(np.int64) * self.page_size + np.arange(self.page_size)).ravel()[:kv_len]

    def over(self, tokens, slots, visible):
        return attend(self.q[tokens], *self.keys(slots), self.problem.scale, visible)

    def run(self, stream):
        for tokens, (out, lse) in self.backend.rows(self, *self.arrays.values()):
            self.out[tokens], self.lse[tokens] = out, lse


def spans(indptr):
    return [slice(first, end) for first, end in zip(indptr[:-1], indptr[1:])]


def csr_requests(p, csr):
    """Query tokens and token slots of each request."""
    for tokens, pages, last in zip(spans(csr["qo_indptr"]), spans(csr["kv_indptr"]), csr["kv_last_page_len"]):
        pages = csr["kv_indices"][pages]
        yield tokens, p.slots(pages, p.page_size * (len(pages) - 1) + last if len(pages) else 0)


class Csr(Reader):
    name, reads = "from_csr", ("csr",)

    def rows(self, p, csr):
        for tokens, slots in csr_requests(p, csr):
            yield tokens, p.over(tokens, slots, causal(tokens.stop - tokens.start, len(slots)))


class Varlen(Reader):
    name, reads = "from_varlen", ("varlen", "page_table")

    def rows(self, p, varlen, table):
        requests = list(zip(spans(varlen["cu_seqlens_q"]), np.diff(varlen["cu_seqlens_k"]), table["page_table"]))
        assert varlen["max_seqlen_q"] == max(tokens.stop - tokens.start for tokens, _, _ in requests)
        assert varlen["max_seqlen_k"] == max(table["cache_seqlens"])
        for tokens, kv_len, pages in requests:
            yield tokens, p.over(tokens, p.slots(pages, kv_len), causal(tokens.stop - tokens.start, kv_len))


class BlockTable(Reader):
    name, reads, modes = "from_block_table", ("block_table",), ("decode",)

    def rows(self, p, table):
        for r, (pages, kv_len) in enumerate(zip(table["block_table"], table["seq_lens"])):
            yield slice(r, r + 1), p.over(slice(r, r + 1), p.slots(pages, kv_len), causal(1, kv_len))


class CsrPrefix(Reader):
    """Over the keys before this step's, and over those, merged, as FlashInfer does beside a ragged prefill."""
    name, reads, modes = "from_csr_prefix", ("csr_prefix", "slot_mapping"), ("extend", "mixed")

    def rows(self, p, csr, new):
        for tokens, prefix in zip(spans(csr["qo_indptr"]), spans(csr["kv_indptr"])):
            q_len, slots = tokens.stop - tokens.start, csr["kv_indices"][prefix]
            yield tokens, merged([p.over(tokens, slots, np.ones((q_len, len(slots)), bool)),
                                  p.over(tokens, new["slot_mapping"][tokens], causal(q_len, q_len))])


class CsrWindow(Reader):
    name, reads, windows = "from_csr_window", ("csr_window", "varlen"), True

    def rows(self, p, csr, varlen):
        for tokens, window, start in zip(spans(varlen["cu_seqlens_q"]), spans(csr["window_kv_indptr"]),
                                         csr["window_kv_offsets"]):
            slots = csr["window_kv_indices"][window]
            visible = causal(tokens.stop - tokens.start, start + len(slots), p.problem.sliding_window_size)
            yield tokens, p.over(tokens, slots, visible[:, start:])


class SwaPool(Reader):
    """Over a pool that holds the window's pages alone."""
    name, reads, windows = "from_swa_pool", ("swa", "varlen"), True

    def rows(self, p, swa, varlen):
        mapping = swa["full_to_swa_index_mapping"][:-1]
        own = np.flatnonzero(mapping)
        assert sorted(mapping[own]) == list(range(p.page_size, p.page_size + len(own)))
        own_k, own_v = (np.zeros((p.page_size + len(own), *cache.shape[2:])) for cache in (p.k, p.v))
        own_k[mapping[own]], own_v[mapping[own]] = p.keys(own)
        for tokens, pages, kv_len in zip(spans(varlen["cu_seqlens_q"]), swa["swa_page_table"], swa["cache_seqlens"]):
            slots = p.slots(pages, kv_len)
            visible = causal(tokens.stop - tokens.start, kv_len, p.problem.sliding_window_size)
            yield tokens, attend(p.q[tokens], own_k[slots], own_v[slots], p.problem.scale, visible)
            assert np.array_equal(slots[tokens.start - tokens.stop:], swa["swa_out_cache_loc"][tokens])


class KvSplits(Reader):
    """As Triton's decode: splits of whole blocks of 32 keys, some of them empty, and so many as FlashAttention 3 has;
    then as FlashInfer's, by pages."""
    name, reads, modes = "from_kv_splits", ("csr", "kv_splits"), ("decode",)

    def rows(self, p, csr, splits):
        chunk_keys = splits["flashinfer_chunk_pages"] * p.page_size
        assert max(splits["fa3_num_splits_dynamic"]) <= splits["fa3_num_splits"]
        for rule in (splits["num_kv_splits"], splits["num_kv_splits_deterministic"],
                     splits["num_kv_splits_as_described"], splits["fa3_num_splits_dynamic"], None):
            for r, (tokens, slots) in enumerate(csr_requests(p, csr)):
                count = -(-len(slots) // chunk_keys) if rule is None else rule[r]
                chunk = chunk_keys if rule is None else -(-(-(-len(slots) // count)) // 32) * 32
                parts = [slots[first:first + chunk] for first in range(0, count * chunk, chunk)]
                assert sum(map(len, parts)) == len(slots)
                yield tokens, merged([p.over(tokens, part, np.ones((1, len(part)), bool)) for part in parts])


class LatentReader(Reader):
    family, modes = "latent", ("decode", "target_verify")

    def tokens(self, p, requests):
        q_len = len(p.q) // requests
        return [slice(r * q_len, (r + 1) * q_len) for r in range(requests)]


class FlashMla(LatentReader):
    """Each part computes its blocks into the splits that its row of the schedule names; then they are merged."""
    name, reads = "from_flashmla", ("flashmla",)

    def rows(self, p, mla):
        lens, first_split = mla["cache_seqlens"], mla["num_splits"]
        tokens, partial = self.tokens(p, len(lens)), [None] * first_split[-1]
        blocks = np.maximum(-(-lens // 64), 1)
        assert max(lens) < 1000 or max(np.diff(first_split)) > 1, "a long request without splits proves little"
        for begin, end, begin_block, end_block, begin_split, *_ in mla["tile_scheduler_metadata"]:
            for r in range(begin, min(end + 1, len(lens))):
                first = 64 * (begin_block if r == begin else 0)
                last = min(64 * (end_block if r == end else blocks[r]), lens[r])
                split = first_split[r] + (begin_split if r == begin else 0)
                assert partial[split] is None and split < first_split[r + 1]
                slots = p.slots(mla["block_table"][r], lens[r])[first:last]
                visible = causal(tokens[r].stop - tokens[r].start, lens[r])[:, first:last]
                partial[split] = p.over(tokens[r], slots, visible)
        for r in range(len(lens)):
            yield tokens[r], merged(partial[first_split[r]:first_split[r + 1]])


class TrtllmMla(LatentReader):
    name, reads = "from_trtllm_mla", ("trtllm_mla",)

    def rows(self, p, mla):
        assert mla["block_tables"].shape[1] * p.page_size % 4096 == 0
        for tokens, pages, kv_len in zip(self.tokens(p, len(mla["seq_lens"])), mla["block_tables"], mla["seq_lens"]):
            yield tokens, p.over(tokens, p.slots(pages, kv_len), causal(tokens.stop - tokens.start, kv_len))


class TwoStageDrafts(Reader):
    """FlashAttention's verify: first all nodes over the committed keys, then each over the drafts that it sees."""
    name, reads, modes = "from_draft_table", ("csr_prefix", "draft_table"), ("target_verify",)

    def rows(self, p, csr, drafts):
        for tokens, prefix in zip(spans(csr["qo_indptr"]), spans(csr["kv_indptr"])):
            for t in range(tokens.start, tokens.stop):
                seen = csr["kv_indices"][prefix], drafts["page_table"][t][:drafts["cache_seqlens"][t]]
                node = slice(t, t + 1)
                yield node, merged([p.over(node, slots, np.ones((1, len(slots)), bool)) for slots in seen])


class PackedMask(Reader):
    """FlashInfer's packed mask; the rows of tree bits say the same of the drafts."""
    name, reads, modes = "from_tree_mask", ("csr", "tree_mask"), ("target_verify",)

    def rows(self, p, csr, mask):
        nodes = len(mask["retrive_index"]) // (len(mask["mask_indptr"]) - 1)
        tree = np.unpackbits(mask["qlen_only_bitpacking"], axis=1, bitorder="little")[:, :nodes]
        for (tokens, slots), bits in zip(csr_requests(p, csr), spans(mask["packed_mask_indptr"])):
            visible = np.unpackbits(mask["packed_custom_mask"][bits], bitorder="little")[:nodes * len(slots)]
            visible = visible.reshape(nodes, len(slots)).astype(bool)
            assert np.array_equal(visible[:, -nodes:], tree[tokens])
            yield tokens, p.over(tokens, slots, visible)


class LocalAttention(Reader):
    """Virtual requests, each within one chunk."""
    name, reads = "from_local_attention", ("local_attention",)
    chunks = True

    def rows(self, p, local):
        for tokens, pages, kv_len in zip(spans(local["local_query_start_loc"]), local["local_block_table"],
                                         local["local_seqused_k"]):
            yield tokens, p.over(tokens, p.slots(pages, kv_len), causal(tokens.stop - tokens.start, kv_len))


class DualChunk(Reader):
    """Three parts of the keys, each under a form of the query of its own, merged."""
    name, reads, modes = "from_dual_chunk", ("block_table", "dual_chunk"), ("decode",)
    dual_chunks = True

    def rows(self, p, table, dual):
        for r, inter in enumerate(dual["seq_lens_inter"]):
            tables = (dual["block_tables_intra"][r], dual["seq_lens_intra"][r]), \
                (dual["block_tables_succ"][r], dual["seq_lens_succ"][r]), (table["block_table"][r], inter)
            forms = np.split(p.q[r:r + 1], 3, axis=2)
            parts = [attend(form, *p.keys(p.slots(pages, kv_len)), p.problem.scale, np.ones((1, kv_len), bool))
                     for form, (pages, kv_len) in zip(forms, tables) if kv_len > 0]
            yield slice(r, r + 1), merged(parts)


class MultiItem(Reader):
    name, reads = "from_multi_item", ("csr", "multi_item")
    items = True

    def rows(self, p, csr, items):
        for (tokens, slots), prefix, places in zip(csr_requests(p, csr), items["prefix_len_ptr"],
                                                   items["token_pos_in_items_ptr"]):
            visible = causal(tokens.stop - tokens.start, len(slots))
            for row, key in zip(visible, range(len(slots) - len(visible), len(slots))):
                if key >= prefix:
                    row[prefix:key - places[key - prefix] + 1] = False
            yield tokens, p.over(tokens, slots, visible)


backends = [Csr, Varlen, BlockTable, CsrPrefix, CsrWindow, SwaPool, KvSplits, FlashMla, TrtllmMla, TwoStageDrafts,
            PackedMask, LocalAttention, DualChunk, MultiItem]
