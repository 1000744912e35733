# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Backends that read DeepSeek-V4's rows of 584 bytes in NumPy on a CPU, one rightly: group_rows_test.py judges them."""
import numpy as np


def e4m3(codes):
    exponent, mantissa = (codes >> 3 & 15).astype(int), codes & 7
    size = np.where(exponent > 0, np.ldexp(1 + mantissa / 8, exponent - 7), np.ldexp(mantissa / 8, -6))
    return np.where(codes >> 7, -size, size)


class Rows:
    name, reads_page_gaps = "group_rows", True
    # Faults: how far it misses what it reads, and what it takes for granted.
    next_group = next_exponent = next_token = 0
    tail_in_groups = dense_pages = False

    def supports(self, problem):
        if problem.family != "latent" or problem.dtype != "f32" or problem.multi_item:
            return "latent rows in f32 only"
        return None

    def formats(self, problem):
        return ["NHD"] if problem.cache_scales == "group" else []

    def plan(self, batch):
        return Plan(self, batch)

    def read(self, cache, slots, page_size, dim):
        """The rows of slots out of the pages' bytes."""
        scaled, used = dim - 64, cache.shape[1]
        if self.dense_pages:
            cache = np.lib.stride_tricks.as_strided(cache, cache.shape, (used, 1))
        pages, offsets = np.divmod(slots, page_size)
        data = cache[:, :page_size * (scaled + 128)].reshape(len(cache), page_size, -1)[pages, offsets]
        behind = cache[:, page_size * (scaled + 128):].reshape(len(cache), page_size, -1)
        exponents = behind[pages, (offsets + self.next_token) % page_size, :scaled // 64].astype(int) - 127
        exponents = np.roll(exponents + self.next_exponent, -self.next_group, axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = e4m3(data[:, :scaled]) * np.repeat(np.ldexp(1.0, exponents), 64, axis=1)
        wide = (np.ascontiguousarray(data[:, scaled:]).view("<u2").astype(np.uint32) << 16).view(np.float32)
        return np.concatenate([narrow, wide * np.ldexp(1.0, exponents[:, -1:]) if self.tail_in_groups else wide], axis=1)


class Plan:
    def __init__(self, backend, batch):
        self.backend, self.problem = backend, batch.problem
        self.q, self.cache, self.out, self.lse = (batch.tensor(role).numpy() for role in ("q", "k_cache", "out", "lse"))
        self.csr = {key: value if isinstance(value, int) else value.numpy() for key, value in batch.indices("csr").items()}

    def run(self, stream):
        page_size, dim = self.problem.page_size, self.problem.head_dim_v
        csr = self.csr
        for r, last in enumerate(csr["kv_last_page_len"]):
            tokens = slice(csr["qo_indptr"][r], csr["qo_indptr"][r + 1])
            pages = csr["kv_indices"][csr["kv_indptr"][r]:csr["kv_indptr"][r + 1]].astype(np.int64)
            slots = (pages[:, None] * page_size + np.arange(page_size)).ravel()[:page_size * (len(pages) - 1) + last]
            rows = self.backend.read(self.cache, slots, page_size, dim)
            q = self.q[tokens].astype(np.float64)
            visible = np.arange(len(slots)) <= np.arange(len(slots) - len(q), len(slots))[:, None]
            logits = np.where(visible[:, None], np.einsum("thd,sd->ths", q, rows) * self.problem.scale, -np.inf)
            top = logits.max(axis=-1)
            weights = np.exp(logits - top[..., None])
            total = weights.sum(axis=-1)
            self.out[tokens] = np.einsum("ths,sd->thd", weights, rows) / total[..., None]
            self.lse[tokens] = top + np.log(total)


class NextGroup(Rows):
    name, next_group = "scales_of_the_next_group", 1


class NextExponent(Rows):
    name, next_exponent = "scales_twice_as_large", 1


class NextToken(Rows):
    name, next_token = "scales_of_the_next_token", 1


class TailInGroups(Rows):
    name, tail_in_groups = "scales_on_the_last_columns", True


class DensePages(Rows):
    name, dense_pages = "pages_without_padding", True


backends = [Rows, NextGroup, NextExponent, NextToken, TailInGroups, DensePages]
