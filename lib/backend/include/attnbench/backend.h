/* SPDX-FileCopyrightText: 2026 attnbench authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How a shared object gives attention backends to attnbench: `attnbench run s.yaml --plugin my.so`.
 *
 * The object exports one function, attnbench_plugin(), which returns an array of tables of
 * functions. Each table is one backend. Every struct begins with its size in bytes, so that later
 * versions can add members at the end. The last dimension of a tensor has stride 1.
 *
 * All memory belongs to attnbench unless a comment says otherwise. Arguments of a call live as long
 * as the call. The tensors and host arrays that plan() gets live as long as the plan. The structs
 * attnbench_batch and attnbench_problem do not: copy the members that you need later.
 *
 * A function that can fail returns ATTNBENCH_OK or ATTNBENCH_ERROR. It writes the reason, with a
 * terminating 0, into `message`, which has room for `message_size` bytes. attnbench also catches
 * C++ exceptions.
 */
#ifndef ATTNBENCH_BACKEND_H
#define ATTNBENCH_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A plug-in of another version is refused. */
#define ATTNBENCH_ABI_VERSION 1

enum { ATTNBENCH_OK = 0, ATTNBENCH_ERROR = 1, ATTNBENCH_UNSUPPORTED = 2 };

/* The types to which a backend rounds. The error bounds follow from them, and every record shows
 * them. A cell is MISTRUSTED if its bounds are so wide that zeros, or other results that nobody
 * computed, would pass. */
typedef struct attnbench_numerics {
  size_t struct_size;
  int32_t qk_input;          /* operands of q.k after any conversion */
  int32_t p;                 /* softmax weights and V, as operands of P.V */
  int32_t accumulator;       /* f32, f16 or bf16 */
  int32_t partial_out;       /* split results between stages */
  int32_t lse;               /* preset to 1; 0: this problem gets no LSE, and none is checked */
  int32_t partial_roundings; /* preset to 1: how often a split result is rounded to partial_out
                              * before it is part of the output; at most 8 */
} attnbench_numerics;

typedef struct attnbench_backend {
  size_t struct_size;
  /* The name for --backend: lower case letters, digits, '_', ':' and '='. A variant that sets a
   * tuning parameter is named base:parameter=value, "mine:splits=16", and has only_by_name. */
  const char* name;
  const char* version;
  const char* description;      /* one line */
  const char* index_format;     /* the index format that it reads: "block_table" */
  int32_t device;               /* attnbench_device */
  attnbench_bool deterministic; /* 1: every run gives the same bits */
  int32_t graph_support;        /* attnbench_graph_support */
  int32_t padding_seq_len;      /* seq_len of padding requests in a recorded batch: 0 or 1 */
  void* self;                   /* the first argument of the functions below */

  /* Returns ATTNBENCH_OK, or ATTNBENCH_UNSUPPORTED with a reason that helps the user. */
  int (*supports)(void* self, const attnbench_problem* problem, char* message, size_t message_size);
  /* Fills in the types to which it rounds. A null pointer means f32 everywhere, the tightest
   * bounds. */
  int (*numerics)(void* self, const attnbench_problem* problem, attnbench_numerics* numerics,
                  char* message, size_t message_size);
  /* Does the host work for one batch and writes a plan of its own type to *plan. It may allocate
   * and wait. Its time is not part of run()'s. Queries and cache have no contents yet. */
  int (*plan)(void* self, const attnbench_batch* batch, const attnbench_memory* memory, void** plan,
              char* message, size_t message_size);
  /* Computes out and lse. It allocates nothing, never waits, and enqueues only on `stream` (a
   * cudaStream_t; 0 on a CPU). Allocations of host memory are not detected. Their time is in the
   * sample of a CPU backend. Memory that is never freed is lost to every backend of the process.
   * The process runs only this backend, unless --in-process is given. */
  int (*run)(void* plan, void* stream, char* message, size_t message_size);
  /* Plans the next step of a recorded plan. A null pointer means that each step needs a new plan.
   * ATTNBENCH_UNSUPPORTED means that this step needs one. */
  int (*update)(void* plan, const attnbench_batch* batch, void* stream, char* message,
                size_t message_size);
  void (*destroy)(void* plan);
  attnbench_bool writes_kv; /* 1: supports() gets steps that write the cache, too */
  /* Writes to *graph a cudaGraph_t that does the work of run(), or 0 for none. attnbench calls it
   * in place of recording run(), and copies the result, as a child node, into the graph that it
   * times. May be a null pointer. */
  int (*graph)(void* plan, void** graph, char* message, size_t message_size);
  /* Writes the cache layouts (attnbench_layout) that it reads for a problem, best first. `layouts`
   * has room for *count of them; *count is then set to their number. It must ignore the problem's
   * own cache_layout. A null pointer means NHD and HND, with only k_scale and v_scale. */
  int (*formats)(void* self, const attnbench_problem* problem, int32_t* layouts, int32_t* count,
                 char* message, size_t message_size);
  attnbench_bool only_by_name; /* 1: a variant, which runs only if it is named */
  /* The option with which an engine runs like this variant, "--kv-splits 16"; may be a null
   * pointer. */
  const char* engine_flag;
  /* 1: supports() gets problems whose q_dtype (or out_dtype) is fp8, too. */
  attnbench_bool reads_fp8_queries;
  attnbench_bool writes_fp8_outputs;
  /* 1: supports() gets problems with queries_apart, too. */
  attnbench_bool reads_queries_apart;
  /* 1: supports() gets problems whose page_stride is more than page_size, too. */
  attnbench_bool reads_page_gaps;
  /* Writes which of its kernels a library chose for the plan, "fa3" where it was asked for `auto`;
   * an empty text where there was nothing to choose. Results hold it beside the kernel's name.
   * Called behind plan(). May be a null pointer. */
  int (*resolved)(void* plan, char* text, size_t text_size);
  /* 1: supports() gets problems whose topk is above 0, too. */
  attnbench_bool reads_selection;
  /* What it builds in steps of ATTNBENCH_INDEX, which supports() gets then, too: "csr",
   * "page_table", or "csr page_table". Such a backend is left out of other steps unless it is
   * named. May be a null pointer. */
  const char* builds_indices;
  /* 1: supports() gets steps of ATTNBENCH_SELECT, too. Such a backend is left out of other steps
   * unless it is named. */
  attnbench_bool selects_keys;
  /* 1: supports() gets steps of ATTNBENCH_INDEXER, too. Such a backend is left out of other steps
   * unless it is named. */
  attnbench_bool scores_keys;
  /* 1: its run() reads topk_indices, not its plan(), so that a selector of the same step may write
   * them in between: it can be the attention of a pipeline. topk_length is there in plan(). */
  attnbench_bool reads_lists_at_run;
  /* 1: supports() gets problems whose compress_ratio is above 0, and sinks of ATTNBENCH_LATENT,
   * too. */
  attnbench_bool reads_compressed_rows;
} attnbench_backend;

/* The type of attnbench_plugin(), which a plug-in exports. `abi_version` is ATTNBENCH_ABI_VERSION
 * of the calling attnbench. A plug-in that was built for another version returns ATTNBENCH_ERROR
 * with a message. On success *backends is an array of *count tables, which live until the program
 * ends. */
typedef int (*attnbench_plugin_function)(uint32_t abi_version, const attnbench_backend** backends,
                                         size_t* count, char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
