# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A whole attention backend in Python: causal attention over paged caches, in NumPy, on the CPU.

    attnbench run scenarios/quickstart.yaml --plugin python_example.py --python PYTHON --backend python_example

Each class of this file with a name, supports() and plan() is a backend. attnbench/backend.h explains every member
of problem and batch, which have the same names here; an enum is a word such as "bf16".
"""
import numpy as np


class PythonExample:
    name = "python_example"  # as in --backend: lower case letters, digits, '_', ':' and '='
    version = "1"
    description = "causal attention in NumPy, one request and head after another"
    index_format = "req_to_token"  # which of the index arrays is read
    # What else can be said, with what holds otherwise:
    # (writes_kv: problem.step may be "kv_write" or "both", and k_new, v_new divided by their scales go to slot_mapping)
    # (requires = {"torch": "2.11.0"}: without these packages it is listed as absent; kernel: the operation that it calls.
    # A method load() imports them: before anything else is called, but not where backends are only listed.)
    # (tuning = {"splits": ([8, 16], "--kv-splits")}: variants NAME:splits=8 and NAME:splits=16, whose attribute `splits`
    # has that value, and the option with which an engine sets it, or "")
    # (reads_fp8_queries, writes_fp8_outputs: problem.q_dtype, or problem.out_dtype, may be fp8: a stored query times
    # batch.q_scale, or times tensor("q_scales") as problem.q_scales says ("request": [requests, KV heads], "head": [KV
    # heads], "token": [tokens, query heads]), is the query; what is stored of out is out / batch.out_scale)
    # (reads_queries_apart: problem.queries_apart may be set, of absorbed MLA: tensor("q_nope") and tensor("q_pe") then, no "q")
    # device = "cpu", deterministic = True, graph_support = "NEVER", padding_seq_len = 1, writes_kv = False,
    # only_by_name = False (a variant, which takes part only where it is named)

    def supports(self, problem):
        """None, or the reason why not: one that a person can act on."""
        if problem.family != "softmax":
            return "no MLA, no recurrent layers: keys and values are read apart"
        if problem.mode == "target_verify":
            return "no draft trees"
        if problem.multi_item:
            return "no multi-item scoring"
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

    # Where this backend rounds decides by which bounds it is judged. Without numerics() it is f32 throughout. One that
    # multiplies weights and values in bf16 would say:
    # def numerics(self, problem):
    #     return {"p": "bf16"}
    # And one that writes no LSE: {"lse": False}.

    def plan(self, batch):
        """Host work for one batch, timed apart from run(). Queries and caches have no contents yet."""
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
        # The slots of a request's keys stand in its row of req_to_token. A slot is page * page_size + offset. What else
        # kernels read is built by name: batch.indices("csr")["kv_indices"].numpy(); backend.h lists the formats.
        rows = batch.tensor("req_pool_indices").numpy()
        slots = batch.tensor("req_to_token").numpy()
        self.requests = []
        first = 0
        for row, q_len, kv_len in zip(rows, batch.q_lens, batch.kv_lens):
            pages, offsets = np.divmod(slots[row, :kv_len], problem.page_size)
            # The last query token is the last key: token i sees the keys up to kv_len - q_len + i.
            hidden = np.arange(kv_len) > np.arange(kv_len - q_len, kv_len)[:, None]
            self.requests.append((slice(first, first + q_len), pages, offsets, hidden))
            first += q_len

    def run(self, stream):
        """Computes out and lse, as often as it is asked. There is no stream on a CPU."""
        for tokens, pages, offsets, hidden in self.requests:
            for head in range(self.q.shape[1]):
                q = to_f32(self.q[tokens, head])
                k = to_f32(self.k_cache[pages, offsets, head // self.group])
                v = to_f32(self.v_cache[pages, offsets, head // self.group])
                logits = q @ k.T * self.logit_scale
                logits[hidden] = -np.inf
                top = logits.max(axis=1, keepdims=True, initial=-np.inf)
                weights = np.exp(logits - np.where(hidden.all(axis=1, keepdims=True), np.float32(0), top))
                denominator = weights.sum(axis=1, keepdims=True)
                factor = np.divide(self.v_scale, denominator, out=np.zeros_like(top), where=denominator > 0)
                store(self.out[tokens, head], weights @ v * factor)
                with np.errstate(divide="ignore"):
                    self.lse[tokens, head] = (top + np.log(denominator))[:, 0]

    # A plan can also have update(self, batch, stream), for recorded ones: True when it now serves the next step.
    # And graph(self): what it recorded itself, a torch.cuda.CUDAGraph(keep_graph=True), which is then timed as it is.


# On a GPU, with torch: device = "cuda" in the backend, batch.tensor("q").torch() in the plan, and in run()
# "with torch.cuda.stream(torch.cuda.ExternalStream(stream)):", which allocates nothing and does not wait.


def to_f32(values):
    """NumPy has no bf16 and shows it as uint16: the upper half of an f32. fp8 (problem.cache_dtype "e4m3", "e5m2") shows
    as uint8, whose values a table of 256 would hold."""
    if values.dtype == np.uint8:
        raise TypeError("fp8 is not decoded here")
    if values.dtype == np.uint16:
        return (values.astype(np.uint32, order="C") << 16).view(np.float32)
    return values.astype(np.float32)


def store(to, values):
    """Rounds to nearest even, which NumPy does by itself but for bf16. What is no number stays none."""
    if to.dtype == np.uint16:
        bits = values.view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        values = np.where(np.isnan(values), 0x7FC0, rounded)
    to[...] = values
