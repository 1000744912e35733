# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""DeepGEMM's kernels by which vLLM's indexer scores keys, as sparse_attn_indexer calls them: vLLM's wheel has DeepGEMM's
library and sources, which nvcc compiles at the first call."""
import atexit
import functools

from engine_packages import Library, file_in, need_gpu
from engine_tools import first_reason, step_of
from vllm_wheel import CACHE, REQUIRES

HOME = "third_party/deep_gemm"
DEEP_GEMM = Library("vllm", "deep_gemm", (f"{HOME}/_C_extension.abi3.so",))
DIM = 128
KEY_BYTES = DIM + 4  # and its scale
MOST_LOGITS = 512 << 18  # of one call: VLLM_SPARSE_INDEXER_MAX_LOGITS_MB's default, in f32


@functools.cache
def deep_gemm():
    """DeepGEMM's operators, which compile from the sources beside their library."""
    operators = DEEP_GEMM.load("init", "shutdown")
    operators.init(file_in("vllm", HOME))
    atexit.register(operators.shutdown)  # before the program's static destructors, as DeepGEMM's own package has it
    return operators


class Indexer:
    """The kernels return memory of their own, which each run copies to the logits: engines select keys from it. vLLM
    calls them over complete pools of keys as over keys (tokens_per_state)."""
    device = "cuda"
    requires = {**REQUIRES, "vllm": "0.33.0..0.33.0"}  # older ones have DeepGEMM as a module of one Python version
    index_format = "block_table"
    graph_support = "UNIFORM_BATCH"
    scores_keys = True
    reads_page_gaps = True  # of the KV cache, which it does not read
    formats = ["NHD", "HND"]  # the indexer's cache has one key a token

    def load(self):
        need_gpu(9, "this use of DeepGEMM's kernels")
        DEEP_GEMM.load(*self.calls[DEEP_GEMM].split())
        self.operators = deep_gemm()

    def supports(self, problem):
        return first_reason(
            (problem.step != "indexer", "it scores keys only"),
            (problem.index_heads not in (32, 64), f"32 or 64 heads of the indexer, not {problem.index_heads}"),
            (problem.topk_groups != 1, "logits for all query heads only"),
            (problem.page_size != 64 * problem.topk_unit,
             f"pages of {64 * problem.topk_unit} keys, 64 rows of vLLM's indexer, not {problem.page_size}"),
            (step_of(problem) == "target_verify", "no draft trees that branch: it scores all keys before a query")
        ) or self.no_step(problem)

    def numerics(self, problem):
        return {"qk_input": "e4m3"}


class PagedMqaLogits(Indexer):
    name = "vllm:paged_mqa_logits"
    description = ("DeepGEMM's logits of the keys in an indexer's pages, for decodes and chains of drafts; times have a copy "
                   "of the logits, which vLLM does without")
    kernel = "deep_gemm.fp8_fp4_paged_mqa_logits"
    calls = {DEEP_GEMM: "get_paged_mqa_logits_metadata fp8_fp4_paged_mqa_logits"}

    def no_step(self, problem):
        return first_reason((problem.mode not in ("decode", "target_verify"),
                             f"decodes and chains of drafts only, not {problem.mode}"))

    def plan(self, batch):
        return PagedPlan(batch, self)


class MqaLogits(Indexer):
    name = "vllm:mqa_logits"
    description = ("DeepGEMM's logits of prompts, whose keys are gathered out of the pages first; times have a copy of the "
                   "logits, which vLLM does without")
    kernel = "_C_cache_ops.cp_gather_indexer_k_quant_cache; deep_gemm.fp8_fp4_mqa_logits"
    calls = {DEEP_GEMM: "fp8_fp4_mqa_logits", CACHE: "cp_gather_indexer_k_quant_cache"}

    def load(self):
        super().load()
        self.cache_operators = CACHE.load(self.calls[CACHE])

    def no_step(self, problem):
        return first_reason((problem.mode in ("decode", "target_verify"), f"prompts only, not {problem.mode}"))

    def plan(self, batch):
        return PromptPlan(batch, self)


class IndexerPlan:
    """Padding has no rows here. The first call is in plan(): it compiles the kernel."""

    def __init__(self, batch, backend):
        import torch
        import torch_tools
        self.torch, self.on, self.operators = torch, torch_tools.on, backend.operators
        self.q_lens, self.tokens = list(batch.q_lens), sum(batch.q_lens)
        self.idle = self.tokens == 0
        if self.idle:
            return
        self.q, self.weights, self.lens, self.logits = (
            batch.tensor(role).torch()[:self.tokens] for role in ("index_q", "index_weights", "row_lens", "logits"))
        self.logits = self.logits[:, 0]
        self.table = batch.tensor("block_table").torch()
        pages = batch.tensor("index_cache").torch()
        self.cache = pages.view(len(pages), -1, KEY_BYTES)
        self.bind(batch, backend)
        self.prepare()
        self.launch()
        torch_tools.finish(self.lens)

    def prepare(self):
        """What depends on lengths and pages: in plan(), and again in every update()."""

    def run(self, stream):
        if not self.idle:
            with self.on(stream):
                self.launch()


class PagedPlan(IndexerPlan):
    def bind(self, batch, backend):
        requests, q_len = len(self.q_lens), self.q_lens[0]
        self.native = q_len in (1, 2, 4) and self.q_lens == [q_len] * requests  # else each token is a request
        shape = (requests, q_len) if self.native else (self.tokens, 1)
        self.context_lens = self.lens.view(shape)
        self.q = self.q.view(*shape, *self.q.shape[1:])
        self.rows = self.table
        if not self.native:
            self.of_token = self.torch.tensor(
                [request for request, count in enumerate(self.q_lens) for _ in range(count)], device=self.table.device)
            self.rows = self.table[self.of_token]
        processors = self.torch.cuda.get_device_properties(self.table.device).multi_processor_count
        # Of four tokens a cluster of two blocks is one slot of the schedule.
        self.slots = processors // 2 if shape[1] == 4 else processors
        self.schedule = self.schedule_now()

    def schedule_now(self):
        return self.operators.get_paged_mqa_logits_metadata.default(self.context_lens, 64, self.slots, None)

    def prepare(self):
        self.schedule.copy_(self.schedule_now())
        if not self.native:
            self.rows.copy_(self.table[self.of_token])

    def launch(self):
        width = self.logits.shape[1]
        made = self.operators.fp8_fp4_paged_mqa_logits.default(
            self.q, None, self.cache.unsqueeze(2), self.weights, self.context_lens, self.rows, self.schedule, width, None)
        self.logits.copy_(made[:, :width])

    def update(self, batch, stream):
        if self.idle or list(batch.q_lens) != self.q_lens:
            return False
        with self.on(stream):
            self.prepare()
        return True


def chunks_of(q_lens, kv_lens, most=MOST_LOGITS):
    """A step in parts whose logits over all of their keys are `most` at most, each as (first request, one behind the
    last): as vLLM's split_indexer_prefill_chunks."""
    chunks, first, queries, keys = [], 0, 0, 0
    for request, (q_len, kv_len) in enumerate(zip(q_lens, kv_lens)):
        if request > first and (queries + q_len) * (keys + kv_len) > most:
            chunks.append((first, request))
            first, queries, keys = request, 0, 0
        queries, keys = queries + q_len, keys + kv_len
    return [*chunks, (first, len(q_lens))]


class PromptPlan(IndexerPlan):
    def bind(self, batch, backend):
        torch, on = self.torch, self.table.device
        kv_lens = [keys // batch.problem.topk_unit for keys in batch.kv_lens]
        self.gather = backend.cache_operators.cp_gather_indexer_k_quant_cache.default
        self.score = self.operators.fp8_fp4_mqa_logits.default
        chunks = chunks_of(self.q_lens, kv_lens)
        most_keys = max(sum(kv_lens[first:end]) for first, end in chunks)
        k = torch.empty((most_keys, DIM), dtype=torch.float8_e4m3fn, device=on)
        scales = torch.empty((most_keys, 4), dtype=torch.uint8, device=on)
        self.calls = []  # (what gather is given, [(rows of the logits, what score is given)]) of each chunk
        for first, end in chunks:
            starts = [sum(kv_lens[first:request]) for request in range(first, end + 1)]
            keys, begin = starts[-1], sum(self.q_lens[:first])
            tokens = sum(self.q_lens[first:end])
            if keys == 0 or tokens == 0:
                continue
            ks = torch.tensor([start for start, count in zip(starts, self.q_lens[first:end]) for _ in range(count)],
                              dtype=torch.int32, device=on)
            ke = ks + self.lens[begin:begin + tokens]
            gathered = (self.cache, k[:keys], scales[:keys], self.table[first:end],
                        torch.tensor(starts, dtype=torch.int32, device=on))
            width, step = max(kv_lens[first:end]), max(MOST_LOGITS // keys, 1)
            scored = []
            for at in range(0, tokens, step):
                part = slice(at, min(at + step, tokens))
                rows = slice(begin + part.start, begin + part.stop)
                scored.append((rows, (self.q[rows], None, k[:keys], scales[:keys].view(torch.float32).squeeze(-1),
                                      self.weights[rows], ks[part], ke[part], width, None)))
            self.calls.append((gathered, scored))

    def launch(self):
        for gathered, scored in self.calls:
            self.gather(*gathered)
            for rows, given in scored:
                made = self.score(*given)
                self.logits[rows, :made.shape[1]].copy_(made)
