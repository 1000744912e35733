# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A complete attention backend in Python: causal attention over paged caches, in NumPy, on the CPU.

    attnbench run scenarios/quickstart.yaml --plugin python_example.py --python PYTHON --backend python_example

Each class of this file with a name, supports() and plan() is a backend. attnbench/backend.h explains every member
of problem and batch. The members have the same names here. An enum is a word such as "bf16".
"""
import numpy as np


class PythonExample:
    name = "python_example"  # the name for --backend: lower case letters, digits, '_', ':' and '='
    version = "1"
    description = "causal attention in NumPy, one request and head after another"
    index_format = "req_to_token"  # the index format that it reads
    reads_page_gaps = True  # problem.page_stride may be more than problem.page_size, which strides hide; default: False
    reads_selection = True  # problem.topk may be above 0: lists of chosen keys, which may repeat keys; default: False
    # More attributes, with their defaults:
    # device = "cpu", deterministic = True, graph_support = "NEVER", padding_seq_len = 1,
    # only_by_name = False: True for a variant, which runs only if it is named.
    # writes_kv = False: True if problem.step may be "kv_write" or "both". Such a step stores k_new and v_new, divided
    # by their scales, in the slots of slot_mapping.
    # builds_indices = "": "csr", "page_table" or both if problem.step may be "index". batch.indices("csr") is then memory
    # to which the plan writes the format's arrays, and the backend is left out of other steps unless it is named.
    # selects_keys = False: True if problem.step may be "select". The plan writes the topk highest units of tensor("logits"),
    # of which row_lens counts, to topk_indices, -1 behind them, and is left out of other steps unless it is named.
    # scores_keys = False: True if problem.step may be "indexer". The plan computes tensor("logits") from index_q, index_weights
    # and index_cache, and is left out of other steps unless it is named.
    # reads_lists_at_run = False: True if run() reads topk_indices, and plan() does not, so that a selector of the same step
    # may write them in between: it can be the attention of a pipeline.
    # reads_compressed_rows = False: True if problem.compress_ratio may be above 0, in absorbed MLA, and sinks may stand there.
    # tensor("req_to_token") then has the rows behind a request's tokens.
    # requires = {}: {"torch": "2.11.0"} lists the backend as absent without this package. A method load() imports the
    # packages. It is called first, but not if backends are only listed. `kernel` names the called operation.
    # tuning = {}: {"splits": ([8, 16], "--kv-splits")} makes variants NAME:splits=8 and NAME:splits=16. Their attribute
    # `splits` has that value. "--kv-splits" is the option with which an engine sets it, or "".
    # reads_fp8_queries = False: True if problem.q_dtype may be fp8. The query is the stored query times batch.q_scale,
    # or times tensor("q_scales"). problem.q_scales names the shape of this tensor: "request" [requests, KV heads],
    # "head" [KV heads], "token" [tokens, query heads].
    # writes_fp8_outputs = False: True if problem.out_dtype may be fp8. The stored out is out / batch.out_scale.
    # reads_queries_apart = False: True if problem.queries_apart may be set, in absorbed MLA. tensor("q_nope") and
    # tensor("q_pe") then replace tensor("q").

    def supports(self, problem):
        """None, or the reason for a refusal, which should help the user."""
        if problem.family != "softmax":
            return "no MLA, no recurrent layers: keys and values are read apart"
        if problem.mode == "target_verify":
            return "no draft trees"
        if problem.multi_item:
            return "no multi-item scoring"
        if problem.spans:
            return "no bidirectional spans"
        if problem.mode == "dllm_extend":
            return "no block diffusion"
        if not problem.causal or problem.is_cross_attention:
            return "causal self-attention only"
        if problem.sliding_window_size >= 0 or problem.attention_chunk > 0 or problem.dual_chunk_size > 0:
            return "no sliding window, no chunks"
        if problem.logit_cap > 0 or problem.temperature_len > 0:
            return "no softcap, no temperature"
        if problem.has_sinks or problem.has_alibi:
            return "no sinks, no ALiBi"
        if not {problem.dtype, problem.cache_dtype} <= {"f32", "f16", "bf16"}:
            return "f32, f16, bf16 only"
        return None

    # The types to which a backend rounds decide its error bounds. Without numerics() all of them are f32. A backend
    # that multiplies weights and values in bf16 would say:
    # def numerics(self, problem):
    #     return {"p": "bf16"}
    # A backend that writes no LSE says {"lse": False}.

    def plan(self, batch):
        """Does the host work for one batch, which has its own time. Queries and caches have no contents yet."""
        return Plan(batch)


class Plan:
    def __init__(self, batch):
        problem = batch.problem
        # NumPy arrays on attnbench's own memory, which lives as long as the plan. Strides hide the cache's layout.
        self.q = batch.tensor("q").numpy()  # [tokens, query heads, dim]
        self.k_cache = batch.tensor("k_cache").numpy()  # [pages, page size, KV heads, dim]
        self.v_cache = batch.tensor("v_cache").numpy()
        self.out = batch.tensor("out").numpy()  # [tokens, query heads, dim]
        self.lse = batch.tensor("lse").numpy()  # [tokens, query heads]
        self.group = problem.heads_q // problem.heads_kv  # query heads that share a KV head
        self.logit_scale = np.float32(problem.scale * batch.k_scale)  # a stored key times k_scale is the key
        self.v_scale = np.float32(batch.v_scale)
        # A request's row of req_to_token holds the slots of its keys. A slot is page * page_size + offset. Other index
        # arrays are built by name: batch.indices("csr")["kv_indices"].numpy(). backend.h lists the formats.
        rows = batch.tensor("req_pool_indices").numpy()
        slots = batch.tensor("req_to_token").numpy()
        self.requests = []
        first = 0
        for row, q_len, kv_len in zip(rows, batch.q_lens, batch.kv_lens):
            pages, offsets = np.divmod(slots[row, :kv_len], problem.page_size)
            # The last query token is the last key: token i sees the keys up to kv_len - q_len + i.
            times = np.arange(kv_len) <= np.arange(kv_len - q_len, kv_len)[:, None, None]
            if problem.topk > 0:
                times = times * chosen(batch, slice(first, first + q_len), kv_len)
            self.requests.append((slice(first, first + q_len), pages, offsets, times))
            first += q_len

    def run(self, stream):
        """Computes out and lse. It is called many times. A CPU has no stream."""
        for tokens, pages, offsets, times_by_group in self.requests:
            for head in range(self.q.shape[1]):
                times = times_by_group[:, head * times_by_group.shape[1] // self.q.shape[1]]
                q = to_f32(self.q[tokens, head])
                k = to_f32(self.k_cache[pages, offsets, head // self.group])
                v = to_f32(self.v_cache[pages, offsets, head // self.group])
                logits = q @ k.T * self.logit_scale
                logits[times == 0] = -np.inf
                top = logits.max(axis=1, keepdims=True, initial=-np.inf)
                shift = np.where(times.any(axis=1, keepdims=True), top, np.float32(0))
                weights = np.exp(logits - shift) * times.astype(np.float32)
                denominator = weights.sum(axis=1, keepdims=True)
                factor = np.divide(self.v_scale, denominator, out=np.zeros_like(top), where=denominator > 0)
                store(self.out[tokens, head], weights @ v * factor)
                with np.errstate(divide="ignore"):
                    self.lse[tokens, head] = (top + np.log(denominator))[:, 0]

    # A recorded plan can also have update(self, batch, stream). It returns True if the plan now serves the next step.
    # A plan can have graph(self). It returns its own torch.cuda.CUDAGraph(keep_graph=True), which is then timed.


# On a GPU, with torch: device = "cuda" in the backend, batch.tensor("q").torch() in the plan, and in run()
# "with torch.cuda.stream(torch.cuda.ExternalStream(stream)):". run() allocates nothing and does not wait.


def chosen(batch, tokens, kv_len):
    """[tokens, groups, keys] how often a list names a key. Its entries count up to its topk_length; -1 names none."""
    lists, lengths = (batch.tensor(role).numpy()[tokens] for role in ("topk_indices", "topk_length"))
    units = np.arange(kv_len) // batch.problem.topk_unit
    named = np.zeros((*lengths.shape, kv_len), np.int32)
    for token, group in np.ndindex(lengths.shape):
        entries = lists[token, group, :lengths[token, group]]
        named[token, group] = np.bincount(entries[entries >= 0], minlength=kv_len)[units]
    return named


def to_f32(values):
    """NumPy has no bf16: such arrays are uint16, the upper half of an f32. fp8 arrays (problem.cache_dtype "e4m3",
    "e5m2") are uint8; a table of 256 numbers would decode them."""
    if values.dtype == np.uint8:
        raise TypeError("fp8 is not decoded here")
    if values.dtype == np.uint16:
        return (values.astype(np.uint32, order="C") << 16).view(np.float32)
    return values.astype(np.float32)


def store(to, values):
    """Rounds to nearest even. NumPy does so for all types but bf16. A NaN stays a NaN."""
    if to.dtype == np.uint16:
        bits = values.view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        values = np.where(np.isnan(values), 0x7FC0, rounded)
    to[...] = values
