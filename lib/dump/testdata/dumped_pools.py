# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The arrays of a dumped case, and what its pools and index arrays hold: the second way of recompute.py."""
import json
import pathlib

import numpy as np


class Dump:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.case = json.loads((self.folder / "case.json").read_text())
        self.faults = []

    def has(self, name):
        return name in self.case["arrays"]

    def load(self, name):
        entry = self.case["arrays"][name]
        array = np.load(self.folder / entry["file"], allow_pickle=False)
        self.check(list(array.shape) == entry["shape"] and array.dtype == np.dtype(entry["dtype"]),
                   f"{name}: shape or type differ from case.json")
        return array

    def stream(self, what, request):
        return self.load(f"{what}_{request:04}")

    def check(self, holds, message):
        if not holds:
            self.faults.append(message)
        return holds


def slots_of(dump, request, length):
    """The KV slots of a request by each of the three index families, which must agree."""
    row = dump.load("req_to_token")[dump.load("req_pool_indices")[request], :length]
    page_size = dump.case["kv_cache"]["page_size"]
    position = np.arange(length)

    def same(slots, name):
        dump.check(np.array_equal(row, slots), f"request {request}: {name} differ from req_to_token")

    begin, end = dump.load("kv_token_indptr")[request:request + 2]
    same(dump.load("kv_token_indices")[begin:end], "kv_token_indices")
    begin, end = dump.load("kv_indptr")[request:request + 2]
    last = dump.load("kv_last_page_len")[request]
    pages = dump.load("kv_indices")[begin:end]
    if dump.check(length == 0 or (end - begin - 1) * page_size + last == length,
                  f"request {request}: kv_indptr and kv_last_page_len count other keys"):
        same(pages[position // page_size] * page_size + position % page_size, "kv_indices")
    table = dump.load("page_table")[request]
    same(table[position // page_size] * page_size + position % page_size, "page_table")
    if dump.case["kv_cache"]["layout"] == "ragged":
        same(dump.load("cu_seqlens_k")[request] + position, "cu_seqlens_k")
    blocks = -(-length // page_size)
    dump.check((table[blocks:] == -1).all(),
               f"request {request}: page_table goes on beyond its blocks")
    return row


def decoded(raw, dtype):
    """Stored elements as float32, by the definitions of their formats."""
    if dtype == "f32":
        return raw.view("<f4")
    if dtype == "f16":
        return raw.view("<f2").astype(np.float32)
    if dtype == "bf16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    bits = {"e4m3": 3, "e5m2": 2}[dtype]
    bias = {"e4m3": 7, "e5m2": 15}[dtype]
    codes = np.arange(256)
    exponent, mantissa = codes >> bits & (0x7f >> bits), codes & ((1 << bits) - 1)
    values = np.where(exponent > 0, np.ldexp(1 + mantissa / (1 << bits), exponent - bias),
                      np.ldexp(mantissa / (1 << bits), 1 - bias))
    magnitude = codes & 0x7f
    if dtype == "e4m3":
        values = np.where(magnitude == 0x7f, np.nan, values)
    else:
        values = np.where(magnitude > 0x7c, np.nan, np.where(magnitude == 0x7c, np.inf, values))
    return np.where(codes >> 7, -values, values).astype(np.float32)[raw]


def raw_buffer(dump, name):
    """A buffer's bytes in its shape, without the gaps between pages, as numbers unless its rows mix types."""
    buffer = next(each for each in dump.case["kv_cache"]["buffers"] if each["array"] == name)
    array = dump.load(name)
    array = array if buffer["dtype"] == "u8" else decoded(array, buffer["dtype"])
    strides = [stride * array.itemsize for stride in buffer["strides"]]
    return np.lib.stride_tricks.as_strided(array, buffer["shape"], strides, writeable=False)


def block_rows(dump):
    """Of rows that bring scales along: their e4m3 and their bf16, [page, offset, bytes], and scales, [page, offset, block]."""
    raw, rank = raw_buffer(dump, "k_pool_raw"), dump.case["layer"]["head_dim_v"]
    if dump.case["kv_cache"]["scales"] == "block":
        rows = raw[:, :, 0]
        inside = np.ascontiguousarray(rows[..., rank:rank + rank // 128 * 4])
        return rows[..., :rank], rows[..., rank + rank // 128 * 4:], inside.view(np.float32)
    scaled, offsets = rank - 64, dump.case["kv_cache"]["page_size"]  # then 8 bytes of scales a token behind a page's rows
    data, behind = np.split(raw, [offsets * (scaled + 128)], axis=1)
    rows = data.reshape(len(raw), offsets, -1)
    exponents = behind.reshape(len(raw), offsets, -1)[..., :scaled // 64].astype(np.float64) - 127
    return rows[..., :scaled], rows[..., scaled:], np.exp2(exponents).astype(np.float32)


def raw_pools(dump):
    """K and V as [page, offset, KV head, dim] out of the buffers, by what the layouts are known to be."""
    cache, layer = dump.case["kv_cache"], dump.case["layer"]
    if cache["scales"] in ("block", "group"):
        narrow, wide, _ = block_rows(dump)
        k = np.concatenate([decoded(np.ascontiguousarray(part).reshape(-1), dtype).reshape(*part.shape[:2], -1)
                            for part, dtype in ((narrow, "e4m3"), (wide, "bf16"))], axis=-1)[:, :, None]
        return k, k[..., :layer["head_dim_v"]]
    k = raw_buffer(dump, "k_pool_raw")
    if cache["layout"] == "combined":
        return k[0], k[1]
    if cache["layout"] in ("joint", "joint_hnd"):
        k = k.transpose(0, 2, 1, 3) if cache["layout"] == "joint_hnd" else k
        return k[..., :layer["head_dim_qk"]], k[..., layer["head_dim_qk"]:]
    if not dump.has("v_pool_raw"):
        return k, k[..., :layer["head_dim_v"]]
    v = raw_buffer(dump, "v_pool_raw")
    if cache["layout"] == "x_packed":
        k = k.transpose(0, 3, 1, 2, 4)
        return k.reshape(*k.shape[:3], -1), v.transpose(0, 3, 1, 2)
    if cache["layout"] == "ragged":
        return k[:, None], v[:, None]
    return [pool.transpose(0, 2, 1, 3) if cache["layout"] == "HND" else pool for pool in (k, v)]


def check_raw_pools(dump):
    """The pools' bytes by their shapes in case.json: the layout and the encoding of what is stored."""
    pools = {"k_pool": raw_pools(dump)[0], "v_pool": raw_pools(dump)[1]}
    for name, pool in pools.items():
        shown = dump.load(name) if dump.has(name) else dump.load("k_pool")[..., :dump.case["layer"]["head_dim_v"]]
        dump.check(np.array_equal(pool, shown, equal_nan=True), f"{name}_raw: in its layout it is not {name}")


def scales_of(dump, r, what, slots, dim):
    """What stored rows of K or V of some slots of request r are multiplied with: a number, or an array that fits them."""
    kind = dump.case["kv_cache"]["scales"]
    if kind == "tensor":
        return dump.case["kv_cache"][f"{what}_scale"]
    if kind in ("block", "group"):
        narrow, _, blocks = block_rows(dump)
        scaled = narrow.shape[-1]
        spread = np.repeat(blocks.reshape(-1, blocks.shape[-1])[slots], scaled // blocks.shape[-1], axis=1)
        return np.concatenate([spread, np.ones((len(slots), dim - scaled), np.float32)], axis=1)[:, None]
    scales = dump.load(f"{what}_scales" if dump.has(f"{what}_scales") else "k_scales")
    if kind == "request":
        return scales[r][None, :, None]
    return scales[None, :, None] if kind == "head" else scales[slots][:, :, None]


def gather(dump, r, slots):
    """K and V of slots of request r out of the pools, dequantised exactly."""
    cache, layer = dump.case["kv_cache"], dump.case["layer"]
    k_pool = dump.load("k_pool")
    v_pool = dump.load("v_pool") if dump.has("v_pool") else k_pool[..., :layer["head_dim_v"]]
    owned = [pool.reshape(-1, *pool.shape[2:])[slots] for pool in (k_pool, v_pool)]
    if cache["scales"] != "tensor":  # short enough for an exact product in float32
        return [rows * scales_of(dump, r, what, slots, rows.shape[-1]) for what, rows in zip("kv", owned)]
    return [rows if scale == 1 else rows.astype(np.float64) * scale
            for rows, scale in zip(owned, (cache["k_scale"], cache["v_scale"]))]


def queries(dump, r, stored):
    """Stored queries [n, Hq, dk] of request r through their scale."""
    scale = dump.case["q"]["scale"]
    kind = dump.case["q"]["scales"]
    if kind != "tensor":  # short enough for an exact product in float32
        scales = dump.load("q_scales")
        if kind == "token":
            first, end = dump.load("qo_indptr")[r:r + 2]
            return stored * scales[first:end, :, None]
        group = dump.case["layer"]["heads_q"] // dump.case["layer"]["heads_kv"]
        return stored * np.repeat(scales[r if kind == "request" else 0], group)[None, :, None]
    return stored if scale == 1 else stored.astype(np.float64) * scale


def rows_behind(dump, request, slots, rows):
    """The slots of a request's tokens and of its compressed rows, which begin a page of their own."""
    table = dump.load("req_to_token")[dump.load("req_pool_indices")[request], :len(slots) + rows]
    page_size = dump.case["kv_cache"]["page_size"]
    behind, place = table[len(slots):], np.arange(rows)
    pages = behind // page_size
    dump.check((behind % page_size == place % page_size).all() and (pages == pages[place // page_size * page_size]).all(),
               f"request {request}: its compressed rows fill no pages")
    dump.check(not np.isin(pages, slots // page_size).any(), f"request {request}: compressed rows on pages of tokens")
    return table


def check_poison(dump, owned):
    free = np.setdiff1d(np.arange(dump.case["kv_cache"]["num_pages"] * dump.case["kv_cache"]["page_size"]), owned)
    for name in filter(dump.has, ("k_pool", "v_pool")):
        pool = dump.load(name)
        dump.check(len(free) > 0 and np.isnan(pool.reshape(-1, *pool.shape[2:])[free]).all(),
                   f"{name}: a slot that no request owns holds a number")
