# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's build of the page numbers that FlashInfer reads."""
from engine_index_builders import BuilderPlan, CsrBuilder
from vllm_wheel import FLASHINFER_BACKEND, WITH_TRITON


class PagesPlan(BuilderPlan):
    """The first half of FlashInferMetadataBuilder._compute_flashinfer_kv_metadata: the host sums the pages, and a kernel
    copies the block table's rows. Lengths of last pages, which the host brings along, are no output of the step."""

    def bind(self, batch):
        import numpy
        self.numpy, self.page_size = numpy, batch.problem.page_size
        self.table = batch.tensor("block_table").torch()
        self.lens = numpy.array(batch.kv_lens, dtype=numpy.int32)
        self.summed = self.torch.zeros(self.requests + 1, dtype=self.torch.int32, pin_memory=self.starts.is_cuda)

    def launch(self):
        pages = (self.lens + (self.page_size - 1)) // self.page_size
        self.numpy.cumsum(pages, dtype=self.numpy.int32, out=self.summed.numpy()[1:])
        self.starts.copy_(self.summed, non_blocking=True)
        self.build[(self.requests,)](self.pages, self.table, self.table.stride(0), self.starts, BLOCK_SIZE=1024)


class PageIndices(CsrBuilder):
    name = "vllm:page_indices"
    description = "vLLM's kv_indptr, summed by the host, and kv_indices, copied from the block table, for FlashInfer"
    requires = WITH_TRITON
    kernel = "_copy_page_indices_kernel"
    calls = {FLASHINFER_BACKEND: kernel}
    index_format = "block_table"
    plans = PagesPlan
