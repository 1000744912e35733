/* SPDX-FileCopyrightText: 2026 attnbench authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What plan() gets: attnbench_batch, its tensors and index arrays, and memory. It is part of
 * attnbench/backend.h.
 */
#ifndef ATTNBENCH_BATCH_H
#define ATTNBENCH_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strides count elements. An absent tensor has data 0. */
typedef struct attnbench_tensor {
  void* data;
  int32_t device; /* attnbench_device */
  int32_t device_id;
  int32_t dtype;
  int32_t rank; /* dimensions in use */
  int64_t shape[4];
  int64_t stride[4];
} attnbench_tensor;

/* Indices of attnbench_batch::tensors. Shapes name B requests, T rows of query tokens, Hq query
 * heads and Hkv KV heads. The requests' rows come first, one request after the other:
 * query_start_loc[B] rows, the sum of q_lens. Padding rows follow in a step that an engine fills up
 * to a captured number of tokens. Padding rows belong to no request. Their inputs are poison, their
 * slot_mapping and positions are 0, and their out and lse may become anything. Take the number of a
 * request's tokens from query_start_loc or q_lens, never from T. */
enum attnbench_role {
  ATTNBENCH_Q = 0, /* [T, Hq, dk]; dual-chunk attention: [T, Hq, 3 dk] */
  /* [T, Hkv, dk]; in the cache already, unless the step writes it. Recurrent: [T, Hq, dk] */
  ATTNBENCH_K_NEW = 1,
  ATTNBENCH_V_NEW = 2, /* [T, Hkv, dv] */
  ATTNBENCH_SINKS = 3, /* [Hq] f32, values that bf16 holds exactly; set in plan(), too */
  ATTNBENCH_OUT = 4,   /* [T, Hq, dv]: written. Recurrent: [T, Hkv, dv] */
  ATTNBENCH_LSE =
      5, /* [T, Hq] f32: written; natural log, with sinks unless topk, -inf for no key */
  /* [pages, page_size, Hkv, dk] in NHD, HND, combined and joint: strides say which. x_packed:
   * [pages, Hkv * dk / x, page_size, x], dense in a page. Scales by block: u8 [pages, page_size, 1,
   * bytes of a row]. By group: u8 [pages, bytes of a page in use]. Ragged: [rows, Hkv, dk],
   * dense. */
  ATTNBENCH_K_CACHE = 6,
  /* [pages, page_size, Hkv, dv]; latent: the first dv columns of K. x_packed: [pages, Hkv, dv,
   * page_size], dense in a page. Scales by block or group: absent. Ragged: [rows, Hkv, dv], dense.
   */
  ATTNBENCH_V_CACHE = 7,
  /* i32 [rows, width] token slots: page * page_size + offset. Entries behind a request's keys are
   * 2147480000, a slot outside of every pool. */
  ATTNBENCH_REQ_TO_TOKEN = 8,
  ATTNBENCH_REQ_POOL_INDICES = 9, /* i32 [B] a request's row of req_to_token */
  ATTNBENCH_BLOCK_TABLE = 10,     /* i32 [B, width] pages of each request; -1 beyond its last */
  ATTNBENCH_SEQ_LENS = 11,        /* i32 [B] keys of each request, with the keys of this step */
  ATTNBENCH_QUERY_START_LOC = 12, /* i32 [B + 1] query tokens, cumulative (qo_indptr) */
  ATTNBENCH_POSITIONS = 13,       /* i64 [T] */
  ATTNBENCH_SLOT_MAPPING = 14,    /* i64 [T] slots of k_new and v_new (out_cache_loc) */
  /* u8 [q_len, kv_len] per request, concatenated: draft trees, except in cross layers */
  ATTNBENCH_CUSTOM_MASK = 15,
  ATTNBENCH_MASK_INDPTR = 16, /* i64 [B + 1] elements of custom_mask, cumulative */
  /* This and the next four: only in recurrent families, which have no caches, tables or slots. */
  ATTNBENCH_G = 17,    /* [T, Hkv] f32 log decay, at most 0; ATTNBENCH_KIMI_DELTA: [T, Hkv, dk] */
  ATTNBENCH_BETA = 18, /* [T, Hkv] f32 inside (0, 1); ATTNBENCH_LIGHTNING: 1 */
  /* [slots, Hkv, dk, dv] f32: read and written; only read in a target_verify. Only the requests'
   * slots may change. */
  ATTNBENCH_STATES = 19,
  ATTNBENCH_STATE_INDICES = 20,     /* i32 [B] slot of each request; -1: padding, skip it */
  ATTNBENCH_HAS_INITIAL_STATE = 21, /* u8 [B] 0: begin with zeros and ignore the slot */
  /* f32 [Hkv], [slots, Hkv] or [B, Hkv], as cache_scales says; absent with other scales. A write of
   * a slot's row writes the slot's scales, too. */
  ATTNBENCH_K_SCALES = 22,
  ATTNBENCH_V_SCALES = 23, /* latent: the same as K's */
  ATTNBENCH_Q_SCALES = 24, /* f32, as q_scales says; absent with one scale per tensor */
  /* Queries in two tensors (queries_apart), dense; absent otherwise. */
  ATTNBENCH_Q_NOPE = 25, /* [T, Hq, dv], the latent columns */
  ATTNBENCH_Q_PE = 26,   /* [T, Hq, dk - dv], the rope columns */
  /* Only in a target_verify of recurrent families. f32 [T, Hkv, dk, dv]: entry t is written with
   * the state after query token t, except for padding. The state of a node starts from the entry of
   * its parent. The state of node 0 starts from the request's slot of ATTNBENCH_STATES. */
  ATTNBENCH_INTERMEDIATE_STATES = 27,
  /* i32 [B, N] for N nodes a request: the index of each node's parent among its request's nodes,
   * always below the node's own index; -1 for node 0 and for padding. With drafts_are_chains the
   * parent is the node before. */
  ATTNBENCH_RETRIEVE_PARENT_TOKEN = 28,
  /* i32 [T, 2] the span of each query token: the positions of its first key and of the one behind
   * its last among the request's keys, which it may go beyond; 0, 0: none. Absent without spans. */
  ATTNBENCH_SPANS = 29,
  /* Absent without chosen keys, as problem.topk says. Padding has empty lists. Written in
   * ATTNBENCH_SELECT, before which no entry is a unit or -1. */
  ATTNBENCH_TOPK_INDICES =
      30,                     /* i32 [T, topk_groups, topk] units among the request's keys, or -1 */
  ATTNBENCH_TOPK_LENGTH = 31, /* i32 [T, topk_groups] columns that count */
  /* This and the next one: only in ATTNBENCH_SELECT, and in ATTNBENCH_INDEXER, where it is written.
   * f32 [T, topk_groups, columns]; rows begin at multiples of 256 bytes. What lies behind the units
   * of a row is +inf or NaN. */
  ATTNBENCH_LOGITS = 32,
  /* i32 [T] units that the query sees, of ATTNBENCH_INDEXER those without a key behind it only;
   * padding: 0. Set in plan(), too */
  ATTNBENCH_ROW_LENS = 33,
  /* This and the next two: only in ATTNBENCH_INDEXER. */
  ATTNBENCH_INDEX_Q = 34,       /* e4m3 [T, index_heads, 128] */
  ATTNBENCH_INDEX_WEIGHTS = 35, /* f32 [T, index_heads], the scales of the queries in them */
  /* u8 [pages, page_size / topk_unit * 132]: of each page first the keys of its units, 128 e4m3
   * each, then their f32 scales (vLLM's indexer_k_quant_and_cache). */
  ATTNBENCH_INDEX_CACHE = 36,
  ATTNBENCH_SKIP = 37, /* f32 [Hkv] D of ATTNBENCH_MAMBA2; absent in other families */
  ATTNBENCH_ROLES = 38
};

/* One array of an index format, or a number; the arrays of a format are a list. */
typedef struct attnbench_index {
  size_t struct_size;
  const struct attnbench_index* next; /* 0 behind the last one */
  const char* name;                   /* the name that kernels and `expand` use */
  attnbench_tensor tensor;            /* i32, i64 or u8, dense, on the backend's device */
  const void* host; /* the same values in host memory, for planners that work on the host */
  int64_t number;   /* the value if tensor.rank is 0; data and host are then 0 */
} attnbench_index;

/* One step, in the form that an engine hands to its attention. */
typedef struct attnbench_batch {
  size_t struct_size;
  const attnbench_problem* problem;
  int64_t batch_size;     /* B */
  int64_t q_tokens;       /* T, at least the sum of q_lens */
  const int32_t* q_lens;  /* host, [B] */
  const int32_t* kv_lens; /* host, [B] */
  float k_scale;          /* K is the stored K times k_scale */
  float v_scale;
  int32_t num_tensors;             /* ATTNBENCH_ROLES of the calling attnbench */
  const attnbench_tensor* tensors; /* indexed by attnbench_role */
  void* context;                   /* the first argument of indices() */
  /* Builds the index arrays of a format. The formats and their values are those of `attnbench
   * expand
   * --indices`. Call it only in plan() and update(), whose time includes it. Tensors live as long
   * as the plan. *first and host values live until update() asks for the format again. Elements are
   * i32 unless another type is named. The arrays of a format have this order:
   *
   * csr: qo_indptr [B + 1]; kv_indptr [B + 1] and kv_indices, in pages; kv_last_page_len [B], which
   *   is 1 for a request without keys (FlashInfer).
   * csr_prefix: qo_indptr; kv_indptr and kv_indices, in token slots, of the keys before this step.
   *   Not for decodes.
   * csr_window: window_kv_indptr and window_kv_indices, in token slots, of the keys in the window;
   *   window_kv_offsets [B], the position of the first of these keys.
   * page_table: page_table [B, width], -1 behind a request's pages; cache_seqlens [B].
   * varlen: cu_seqlens_q [B + 1], cu_seqlens_k [B + 1]; the numbers max_seqlen_q, max_seqlen_k.
   * kv_splits: num_kv_splits [B] and num_kv_splits_deterministic [B], by Triton's two rules;
   *   num_kv_splits_as_described [B], one per 512 keys and at most 8, the rule in descriptions of
   *   SGLang's Triton backend. Unless the cache is latent: the number flashinfer_chunk_pages, the
   *   pages of a piece in FlashInfer's decode on tensor cores (fa2). For head dims up to 256 (in a
   *   latent cache: dims of the rope part), in pages: the number fa3_num_splits, FlashAttention 3's
   *   limit of pieces, and fa3_num_splits_dynamic [B], the pieces of each request. Decodes.
   * flashmla: block_table [B, width]; cache_seqlens [B]; tile_scheduler_metadata [parts, 8], in
   *   blocks of 64 keys; num_splits [B + 1], cumulative. Latent decodes and chains of drafts, pages
   *   of 64 tokens.
   * trtllm_mla: block_tables [B, padded width], seq_lens [B]. Latent decodes, pages of 32 or 64.
   * local_attention: local_query_start_loc [V + 1], local_seqused_k [V], local_block_table [V,
   *   chunk / page_size], for V virtual requests. A request has one for each chunk that holds its
   *   queries. A padding decode has one without keys. Chunked layers, chunks of whole pages.
   * dual_chunk: block_tables_intra [B, (dual_chunk_size - dual_local_size) / page_size] and
   *   seq_lens_intra [B], the keys of a request's last chunk; block_tables_succ and seq_lens_succ,
   *   the keys of the chunk before; seq_lens_inter [B], the number of keys before both. Decodes,
   *   chunks of whole pages.
   * multi_item: prefix_len_ptr [B], token_pos_in_items_ptr [B, token_pos_in_items_len], the number
   *   token_pos_in_items_len, max_item_len_ptr [B], i64 positions [T]. Let i be the position of a
   *   query among the keys, and p its request's prefix_len_ptr. If i >= p, the query sees a key up
   * to i only if its position is below p or above i - token_pos_in_items_ptr[i - p]. `positions`
   * are the ones by which an engine rotates the tokens: each item continues from the prefix. ALiBi
   * and temperatures use i. swa: i64 full_to_swa_index_mapping [slots + 1], swa_page_table [B,
   * width], cache_seqlens [B], i64 swa_out_cache_loc [T]. They address the separate pool of layers
   * with a window or chunks, which holds from page 1 on the pages that windows or chunks reach. 0:
   * not in the pool. tree_mask: u8 custom_mask, i64 mask_indptr [B + 1], u8 packed_custom_mask, i64
   *   packed_mask_indptr [B + 1] in bytes (FlashInfer); u8 qlen_only [B * N, N]; u8
   *   qlen_only_bitpacking [B * N, 1, 2 or 4] for trees of up to 32 nodes; retrive_index,
   *   retrive_next_token and retrive_next_sibling [B * N].
   * draft_table: page_table [B * N, N], this step's token slots, the visible ones of each node
   * first; cache_seqlens [B * N], the number of visible ones (FlashAttention's second stage of a
   * verify). tbo: tbo_split_seq_index, tbo_split_token_index: requests and query tokens of the left
   * half. graph_padding: the batch's arrays, filled up to the next captured size: 1, 2, 4, 8, 16,
   * 24 ... req_to_token, block_table, slot_mapping: the values of the batch's tensors of these
   * names.
   *
   * Schedules divide the work among the GPU's multiprocessors. On a CPU, and in `expand`, they
   * divide it among 132.
   *
   * A recorded plan asks for its formats in plan(), and again in every update(). The arrays of the
   * new step have the addresses and strides of the arrays of plan(). Their copies are enqueued on
   * update()'s stream. Tables are as wide as max_kv_len needs.
   *
   * Returns ATTNBENCH_UNSUPPORTED with the reason if the format does not apply to the step. Returns
   * ATTNBENCH_ERROR if there is no such format, if update() asks for a format that plan() did not
   * ask for, or if the caller is neither plan() nor update(). */
  int (*indices)(void* context, const char* format, const attnbench_index** first, char* message,
                 size_t message_size);
  float q_scale;   /* ATTNBENCH_Q_SCALES_TENSOR: the query is the stored q times q_scale; else 1 */
  float out_scale; /* fp8 outputs: out is the stored out times out_scale; else 1 */
} attnbench_batch;

/* Scratch memory of one plan, on the device of the backend. */
typedef struct attnbench_memory {
  size_t struct_size;
  void* context;
  /* Returns at least `bytes`, aligned to 256, or 0 if there is no memory. Call it only in plan(),
   * and once. */
  void* (*reserve)(void* context, size_t bytes);
} attnbench_memory;

#ifdef __cplusplus
}
#endif

#endif
