/* SPDX-FileCopyrightText: 2026 attnbench authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How a shared object gives attention backends to attnbench: `attnbench run s.yaml --plugin my.so`.
 *
 * It exports one function, attnbench_plugin(), which hands out tables of functions, one for each
 * backend. Every struct begins with its size in bytes, so that later versions can add members at
 * the end. All memory belongs to attnbench unless it says otherwise; what a call is given lives as
 * long as the call, and what plan() is given lives as long as the plan (tensors and host arrays
 * too), but for the structs attnbench_batch and attnbench_problem themselves: copy what you need of
 * those. The last dimension of a tensor has stride 1.
 *
 * Functions that can fail return ATTNBENCH_OK or ATTNBENCH_ERROR and write the reason, with a
 * terminating 0, into `message`, which has room for `message_size` bytes. C++ exceptions are caught
 * by attnbench, too.
 */
#ifndef ATTNBENCH_BACKEND_H
#define ATTNBENCH_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plug-in of another version is refused. */
#define ATTNBENCH_ABI_VERSION 1

enum { ATTNBENCH_OK = 0, ATTNBENCH_ERROR = 1, ATTNBENCH_UNSUPPORTED = 2 };

enum attnbench_device { ATTNBENCH_CPU = 0, ATTNBENCH_CUDA = 1 };

enum attnbench_dtype {
  ATTNBENCH_F32 = 0,
  ATTNBENCH_F16 = 1,
  ATTNBENCH_BF16 = 2,
  ATTNBENCH_E4M3 = 3, /* fp8 (OCP): bias 7, no infinity, 0x7f and 0xff are NaN, 448 at most */
  ATTNBENCH_E5M2 = 4, /* fp8 (OCP): bias 15, with infinities, 57344 at most */
  ATTNBENCH_I32 = 5,
  ATTNBENCH_I64 = 6,
  ATTNBENCH_U8 = 7
};

enum attnbench_family {
  ATTNBENCH_SOFTMAX = 0, /* keys and values of their own */
  ATTNBENCH_LATENT = 1,  /* absorbed MLA: one latent row is key and, its first part, value */
  /* Gated delta net: q and k have heads_q heads and are L2-normalised inside (eps 1e-6), v, states
   * and out heads_kv; value head h goes with key head h / (heads_kv / heads_q). Per token
   * S = e^g S; S += k (beta (v - k^T S))^T; out = scale q^T S. There are no caches and no lse. */
  ATTNBENCH_RECURRENT = 2
};

enum attnbench_mode {
  ATTNBENCH_EXTEND = 0,
  ATTNBENCH_DECODE = 1,
  ATTNBENCH_MIXED = 2,
  ATTNBENCH_IDLE = 3,
  /* Draft trees: custom_mask says which keys a node sees, of a cross layer all. Of
   * ATTNBENCH_RECURRENT see ATTNBENCH_INTERMEDIATE_STATES. */
  ATTNBENCH_TARGET_VERIFY = 4,
  ATTNBENCH_DRAFT_EXTEND = 5,
  ATTNBENCH_SPLIT_PREFILL = 6,   /* computed as an extend */
  ATTNBENCH_DRAFT_EXTEND_V2 = 7, /* computed as an extend of the same length for all requests */
  ATTNBENCH_DLLM_EXTEND = 8      /* block diffusion: causal_block says which keys a query sees */
};

enum attnbench_layout {
  ATTNBENCH_NHD = 0,      /* [pages, page_size, heads, dim] */
  ATTNBENCH_HND = 1,      /* [pages, heads, page_size, dim] */
  ATTNBENCH_COMBINED = 2, /* [2, pages, page_size, heads, dim], K then V: NHD, V behind K */
  ATTNBENCH_X_PACKED = 3, /* K [pages, heads, dim / x, page_size, x], x = 16 bytes of elements, V
                           * [pages, heads, dim, page_size] */
  /* Of ATTNBENCH_RECURRENT: the order of ATTNBENCH_STATES. One that names neither gets the first.
   */
  ATTNBENCH_STATES_KV = 4, /* [slots, heads, dk, dv] */
  ATTNBENCH_STATES_VK = 5, /* [slots, heads, dv, dk]; the tensor's dims stay, its strides say so */
  /* No pool: [sum of the requests' keys, heads, dim], request after request. Those of request r
   * begin at row cu_seqlens_k[r] of the indices "varlen", which is token slot 0 of its row of
   * req_to_token, too. Given only to a backend whose formats() name it. */
  ATTNBENCH_RAGGED = 6
};

/* What shares a scale of an fp8 cache; a stored number times its scale is the number. */
enum attnbench_scales {
  ATTNBENCH_SCALES_TENSOR = 0, /* k_scale and v_scale of the batch */
  ATTNBENCH_SCALES_HEAD = 1,   /* ATTNBENCH_K_SCALES and ATTNBENCH_V_SCALES */
  ATTNBENCH_SCALES_TOKEN = 2,
  /* Inside the rows of a latent cache: dv e4m3, an f32 for each 128 of them, dk - dv bf16. */
  ATTNBENCH_SCALES_BLOCK = 3,
  ATTNBENCH_SCALES_REQUEST = 4 /* ATTNBENCH_K_SCALES and ATTNBENCH_V_SCALES, [B, Hkv] */
};

/* What shares a scale of queries in fp8; supports() refuses what it does not know. Others than a
 * tensor's are ATTNBENCH_Q_SCALES. */
enum attnbench_q_scales {
  ATTNBENCH_Q_SCALES_TENSOR = 0,  /* q_scale of the batch */
  ATTNBENCH_Q_SCALES_REQUEST = 1, /* [B, Hkv] */
  ATTNBENCH_Q_SCALES_HEAD = 2,    /* [Hkv] */
  ATTNBENCH_Q_SCALES_TOKEN = 3    /* [T, Hq], written with the queries */
};

/* Batches that a CUDA graph may repeat; vLLM's AttentionCGSupport. */
enum attnbench_graph_support {
  ATTNBENCH_GRAPH_NEVER = 0,
  ATTNBENCH_GRAPH_UNIFORM_SINGLE_TOKEN_DECODE = 1,
  ATTNBENCH_GRAPH_UNIFORM_BATCH = 2,
  ATTNBENCH_GRAPH_ALWAYS = 3
};

/* What a plan does of a layer's step. */
enum attnbench_step {
  ATTNBENCH_ATTENTION = 0, /* this step's keys and values are in the cache already */
  /* k_new and v_new, divided by their scales, go to the slots slot_mapping, rounded to nearest
   * even. Scales of tensors, heads and requests are given. Those of tokens and blocks are computed
   * and written as well: the largest magnitude of the row, or of the 128 values, divided by the
   * largest number of the cache's type (448 in e4m3), and at least 1e-6 of a token (vLLM's
   * triton_reshape_and_cache_flash_per_token_head_quant), FLT_MIN of a block (its
   * concat_and_cache_ds_mla). The dk - dv values behind a row's blocks are not scaled. */
  ATTNBENCH_KV_WRITE = 1,
  ATTNBENCH_BOTH = 2 /* first the write, then attention over what was written */
};

typedef int32_t attnbench_bool; /* 0 or 1 */

/* What is computed, without any batch. */
typedef struct attnbench_problem {
  size_t struct_size;
  int32_t family;
  int32_t heads_q;
  int32_t heads_kv;
  int32_t head_dim_qk;   /* latent: kv_lora_rank + qk_rope_head_dim */
  int32_t head_dim_v;    /* latent: kv_lora_rank */
  attnbench_bool causal; /* aligned at the bottom right */
  attnbench_bool is_cross_attention;
  attnbench_bool has_sinks;           /* a logit for each query head joins the denominator */
  attnbench_bool has_alibi;           /* -slope * |i - j| joins each logit */
  attnbench_bool window_counts_depth; /* in draft trees: 0 position among the keys, 1 depth */
  int64_t sliding_window_size;        /* previous keys visible, own key not counted; -1 all */
  double scale;                       /* multiplies q.k */
  double logit_cap;                   /* cap * tanh(s / cap) after scaling; 0 off */
  int32_t ranks;                      /* tensor-parallel: heads_q is this rank's share */
  int32_t dtype;                      /* of k_new and v_new */
  int32_t cache_dtype;
  int32_t cache_layout;
  int64_t page_size; /* tokens */
  int32_t mode;
  attnbench_bool recorded; /* 1: run() is recorded once, update() brings the next steps */
  int64_t max_requests;    /* limits of the steps that a plan serves */
  int64_t max_q_len;       /* query tokens of one request */
  int64_t max_q_tokens;    /* rows of query tokens (T): of all requests, and of none */
  int64_t max_kv_len;      /* keys of one request, this step's own included */
  int32_t step;            /* attnbench_step; other than ATTNBENCH_ATTENTION only with writes_kv */
  int32_t cache_scales;    /* attnbench_scales */
  /* Chunked attention: key j is visible to query i only if floor(j / n) == floor(i / n), where n is
   * attention_chunk and i and j are positions among the request's keys. A node of a draft tree
   * counts by its position among the keys, not by its depth. 0: off. */
  int64_t attention_chunk;
  /* Temperature: the logits of the query at position i among its request's keys are multiplied by
   * log2(i) / log2(temperature_len) if i > temperature_len. The factor follows logit_cap and
   * precedes ALiBi. A node of a draft tree counts by its position among the keys. 0: off. */
  int64_t temperature_len;
  /* Block diffusion, causal layers only: new tokens are grouped in blocks of causal_block. A query
   * sees all keys up to the end of its own block, or up to the last key. 1: up to its own key. */
  int64_t causal_block;
  /* 1: multi-item scoring; the indices "multi_item" say which keys a query sees. */
  attnbench_bool multi_item;
  /* 1: some request has no keys, or more queries than keys. A row that sees no key is 0 and its LSE
   * is -inf. */
  attnbench_bool empty_rows;
  /* Types of q and out: `dtype`, or fp8 if the backend's table says that it takes them. A stored q
   * times its scale is the query. A stored out is out / out_scale, rounded to nearest even and
   * saturated. */
  int32_t q_dtype;
  int32_t out_dtype;
  int32_t q_scales; /* attnbench_q_scales */
  /* Dual-chunk attention; 0: off. A row of q holds three forms of the query for each head, dk
   * elements each: intra, succ, inter. With c = dual_chunk_size - dual_local_size, and i and j the
   * positions of query and key among the request's keys, floor(i / c) - floor(j / c) chooses the
   * form that meets the key: 0 intra, 1 succ, 2 or more inter. Causal; one softmax over all keys.
   */
  int64_t dual_chunk_size;
  int64_t dual_local_size;
  /* 1: the cache is a pool for layers with a window or chunks. Entries of req_to_token and
   * block_table are 0 for keys that are outside the window and chunk of every query. The rows of
   * page 0 are finite numbers. */
  attnbench_bool swa_pool;
  /* 1: ATTNBENCH_Q_NOPE and ATTNBENCH_Q_PE replace ATTNBENCH_Q, which is absent. Only
   * ATTNBENCH_LATENT has such queries. */
  attnbench_bool queries_apart;
  /* Only in ATTNBENCH_TARGET_VERIFY. 1: each draft tree is a chain, so that custom_mask equals the
   * causal mask aligned at the bottom right; or the layer is a cross layer, which has no mask. */
  attnbench_bool drafts_are_chains;
} attnbench_problem;

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

/* B requests, T rows of query tokens, Hq query and Hkv KV heads. Indices of
 * attnbench_batch::tensors. The rows are those of the requests, one request after the other, up to
 * row query_start_loc[B], the sum of q_lens. In a step that an engine fills up to a captured number
 * of tokens more rows follow, which belong to no request: their inputs are poison, slot_mapping and
 * positions are 0 there, and out and lse may become anything. Take the number of a request's tokens
 * from query_start_loc or q_lens, never from T. */
enum attnbench_role {
  ATTNBENCH_Q = 0, /* [T, Hq, dk]; of dual-chunk attention [T, Hq, 3 dk] */
  /* [T, Hkv, dk]; in the cache already, unless the step writes it. Recurrent: [T, Hq, dk] */
  ATTNBENCH_K_NEW = 1,
  ATTNBENCH_V_NEW = 2, /* [T, Hkv, dv] */
  ATTNBENCH_SINKS = 3, /* [Hq] f32, each of which bf16 holds exactly; there while planning, too */
  ATTNBENCH_OUT = 4,   /* [T, Hq, dv]: written. Recurrent: [T, Hkv, dv] */
  ATTNBENCH_LSE = 5,   /* [T, Hq] f32: written; natural log, sinks included, -inf for no key */
  /* [pages, page_size, Hkv, dk] in NHD, HND and combined: strides say which. x_packed: [pages, Hkv
   * * dk / x, page_size, x], dense. Scales by block: u8 [pages, page_size, 1, bytes of a row].
   * Ragged: [rows, Hkv, dk], dense. */
  ATTNBENCH_K_CACHE = 6,
  /* [pages, page_size, Hkv, dv]; latent: the first dv columns of K. x_packed: [pages, Hkv, dv,
   * page_size], dense. Scales by block: absent. Ragged: [rows, Hkv, dv], dense. */
  ATTNBENCH_V_CACHE = 7,
  /* i32 [rows, width] token slots: page * page_size + offset; 2147480000, which lies outside of
   * every pool, behind a request's keys */
  ATTNBENCH_REQ_TO_TOKEN = 8,
  ATTNBENCH_REQ_POOL_INDICES = 9, /* i32 [B] a request's row of req_to_token */
  ATTNBENCH_BLOCK_TABLE = 10,     /* i32 [B, width] pages of each request; -1 beyond its last */
  ATTNBENCH_SEQ_LENS = 11,        /* i32 [B] keys of each request, this step's own included */
  ATTNBENCH_QUERY_START_LOC = 12, /* i32 [B + 1] query tokens, cumulative (qo_indptr) */
  ATTNBENCH_POSITIONS = 13,       /* i64 [T] */
  ATTNBENCH_SLOT_MAPPING = 14,    /* i64 [T] slots of k_new and v_new (out_cache_loc) */
  /* u8, per request [q_len, kv_len], concatenated: draft trees, but not of cross layers */
  ATTNBENCH_CUSTOM_MASK = 15,
  ATTNBENCH_MASK_INDPTR = 16, /* i64 [B + 1] elements of custom_mask, cumulative */
  /* Of ATTNBENCH_RECURRENT alone, which has neither caches nor what leads to their slots. */
  ATTNBENCH_G = 17,    /* [T, Hkv] f32 log decay, at most 0 */
  ATTNBENCH_BETA = 18, /* [T, Hkv] f32 inside (0, 1) */
  /* [slots, Hkv, dk, dv] f32: read and written, in a target_verify read alone; no other slots than
   * B's */
  ATTNBENCH_STATES = 19,
  ATTNBENCH_STATE_INDICES = 20,     /* i32 [B] slot of each request; -1: padding, skip it */
  ATTNBENCH_HAS_INITIAL_STATE = 21, /* u8 [B] 0: begin with zeros, whatever the slot holds */
  /* f32, [Hkv], [slots, Hkv] or [B, Hkv], as cache_scales says; absent with other scales. Those of
   * slots are written with the slots' rows. */
  ATTNBENCH_K_SCALES = 22,
  ATTNBENCH_V_SCALES = 23, /* latent: the same as K's */
  ATTNBENCH_Q_SCALES = 24, /* f32, as q_scales says; absent with a scale of the tensor */
  /* Queries that come apart (queries_apart), dense; absent otherwise. */
  ATTNBENCH_Q_NOPE = 25, /* [T, Hq, dv] of the latent columns */
  ATTNBENCH_Q_PE = 26,   /* [T, Hq, dk - dv] of the rope columns */
  /* Of a target_verify of ATTNBENCH_RECURRENT alone, which has N nodes a request. f32 [T, Hkv, dk,
   * dv]: entry t is written with the state behind query token t, padding's are not. It goes on from
   * the entry of the token's parent, that of node 0 from the request's slot of ATTNBENCH_STATES. */
  ATTNBENCH_INTERMEDIATE_STATES = 27,
  /* i32 [B, N] each node's parent among its request's nodes, a number below its own; -1 of node 0
   * and of padding. With drafts_are_chains that is the node before. */
  ATTNBENCH_RETRIEVE_PARENT_TOKEN = 28,
  ATTNBENCH_ROLES = 29
};

/* One array of an index format, or a number; the arrays of a format are a list. */
typedef struct attnbench_index {
  size_t struct_size;
  const struct attnbench_index* next; /* 0 behind the last one */
  const char* name;                   /* as its readers call it, and as expand prints it */
  attnbench_tensor tensor;            /* i32, i64 or u8, dense, on the backend's device */
  const void* host; /* the same values in host memory, where many kernels' own planners want them */
  int64_t number;   /* where tensor.rank is 0: there is no array, and data and host are 0 */
} attnbench_index;

/* One step as an engine hands it over. */
typedef struct attnbench_batch {
  size_t struct_size;
  const attnbench_problem* problem;
  int64_t batch_size;     /* B */
  int64_t q_tokens;       /* T, at least the sum of q_lens */
  const int32_t* q_lens;  /* host, [B] */
  const int32_t* kv_lens; /* host, [B] */
  float k_scale;          /* a stored K times k_scale is K */
  float v_scale;
  int32_t num_tensors;             /* ATTNBENCH_ROLES of the version that calls */
  const attnbench_tensor* tensors; /* by attnbench_role */
  void* context;                   /* for indices() */
  /* Builds the index arrays of a format, one of those of `attnbench expand --indices`, with the
   * values that it prints. Called in plan() and update() alone, and part of their time. Tensors
   * live as long as the plan, *first and the host's values until the format is asked for again in
   * update(). i32, where nothing else is said; a format's arrays come in this order:
   *
   * csr: qo_indptr [B + 1], kv_indptr [B + 1] and kv_indices in pages, kv_last_page_len [B], which
   *   is 1 for a request without keys (FlashInfer).
   * csr_prefix: qo_indptr, kv_indptr, kv_indices, of the token slots of the keys before this
   *   step's. Not for decodes.
   * csr_window: window_kv_indptr, window_kv_indices, of the token slots of the keys in the window;
   *   window_kv_offsets [B], the place of the first of them among the keys.
   * page_table: page_table [B, width], -1 behind a request's pages; cache_seqlens [B].
   * varlen: cu_seqlens_q [B + 1], cu_seqlens_k [B + 1]; the numbers max_seqlen_q, max_seqlen_k.
   * kv_splits: num_kv_splits [B], num_kv_splits_deterministic [B], by Triton's two rules;
   *   num_kv_splits_as_described [B], one per 512 keys and at most 8, which is what descriptions of
   *   SGLang's Triton backend say in place of them; unless the cache is latent, the number
   *   flashinfer_chunk_pages: FlashInfer's decode on tensor cores (fa2) cuts a request after every
   *   so many pages; from pages, for head dims up to 256 (the rotated part's of a latent cache),
   *   the number fa3_num_splits, for which FlashAttention 3 has room, and fa3_num_splits_dynamic
   *   [B], into how many pieces it cuts each request. Decodes.
   * flashmla: block_table [B, width], cache_seqlens [B], tile_scheduler_metadata [parts, 8] in
   *   blocks of 64 keys, num_splits [B + 1], cumulative. Latent decodes and chains of drafts, pages
   *   of 64 tokens.
   * trtllm_mla: block_tables [B, padded width], seq_lens [B]. Latent decodes, pages of 32 or 64.
   * local_attention: local_query_start_loc [V + 1], local_seqused_k [V], local_block_table [V,
   *   chunk / page_size], of V virtual requests: one for each chunk that holds queries of a
   *   request, and one without keys for a decode that fills a batch up. Chunked layers, in whole
   *   pages.
   * dual_chunk: block_tables_intra [B, (dual_chunk_size - dual_local_size) / page_size],
   *   seq_lens_intra [B], block_tables_succ, seq_lens_succ, of the keys of a request's last chunk
   *   and of the one before; seq_lens_inter [B], how many keys stand before those. Decodes, chunks
   *   of whole pages.
   * multi_item: prefix_len_ptr [B], token_pos_in_items_ptr [B, token_pos_in_items_len], the number
   *   token_pos_in_items_len, max_item_len_ptr [B]. A query at place i at or behind its request's
   *   prefix_len_ptr sees, of the keys up to its own, those before it and those behind
   *   i - token_pos_in_items_ptr[i - prefix_len_ptr]. i64 positions [T], with which an engine has
   *   rotated the tokens: each item's go on from the prefix. ALiBi and temperatures count places.
   * swa: i64 full_to_swa_index_mapping [slots + 1], swa_page_table [B, width], cache_seqlens [B],
   *   i64 swa_out_cache_loc [T]: the own pool of layers with a window or chunks, which holds the
   *   pages that these reach from page 1 on. 0: not in it.
   * tree_mask: u8 custom_mask, i64 mask_indptr [B + 1], u8 packed_custom_mask, i64
   *   packed_mask_indptr [B + 1] in bytes (FlashInfer); u8 qlen_only [B * N, N]; for trees of up to
   * 32 nodes u8 qlen_only_bitpacking [B * N, 1, 2 or 4]; retrive_index, retrive_next_token and
   *   retrive_next_sibling [B * N].
   * draft_table: page_table [B * N, N] of this step's token slots, those that a node sees first;
   *   cache_seqlens [B * N], how many those are (FlashAttention's second stage of a verify).
   * tbo: tbo_split_seq_index, tbo_split_token_index: requests and query tokens of the left half.
   * graph_padding: the batch's arrays, filled up to the next captured size: 1, 2, 4, 8, 16, 24 ...
   * req_to_token, block_table, slot_mapping: what tensors of the batch say already.
   *
   * Schedules divide the work among the GPU's multiprocessors; among 132 on a CPU, and where expand
   * prints them.
   *
   * A recorded plan asks in plan() for what it reads, and in every update() again: the arrays of
   * the new step lie where those of plan() did, with the same strides, copied in the order of
   * update()'s stream. Tables are as wide as max_kv_len needs.
   *
   * ATTNBENCH_UNSUPPORTED with the reason where a format does not apply to the step.
   * ATTNBENCH_ERROR: there is no such format, plan() has not asked for what update() asks for, or
   * this is neither of the two. */
  int (*indices)(void* context, const char* format, const attnbench_index** first, char* message,
                 size_t message_size);
  float q_scale;   /* ATTNBENCH_Q_SCALES_TENSOR: a stored q times q_scale is the query; else 1 */
  float out_scale; /* a stored out in fp8 times out_scale is out; else 1 */
} attnbench_batch;

/* Scratch memory of one plan, on the device of the backend. */
typedef struct attnbench_memory {
  size_t struct_size;
  void* context;
  /* At least `bytes`, aligned to 256; 0 when there is none. Called while planning only, once. */
  void* (*reserve)(void* context, size_t bytes);
} attnbench_memory;

/* Where a backend rounds, as dtypes. The error bounds follow from it, and every record shows it.
 * Bounds so wide that zeros, or other results that nobody computed, would pass are MISTRUSTED. */
typedef struct attnbench_numerics {
  size_t struct_size;
  int32_t qk_input;    /* operands of q.k after any conversion */
  int32_t p;           /* softmax weights before P.V, and V beside them */
  int32_t accumulator; /* f32, f16 or bf16 */
  int32_t partial_out; /* split results between stages */
  int32_t lse;         /* 1 already; 0: it writes no LSE for this problem, and none is checked */
  int32_t partial_roundings; /* 1 already: how often a split result is rounded to partial_out on its
                              * way into the output; at most 8 */
} attnbench_numerics;

typedef struct attnbench_backend {
  size_t struct_size;
  /* As in --backend; lower case letters, digits, '_', ':' and '='. A variant that sets a tuning
   * parameter of a backend is named base:parameter=value, and is only_by_name: "mine:splits=16". */
  const char* name;
  const char* version;
  const char* description;  /* one line */
  const char* index_format; /* what it reads: "block_table" */
  int32_t device;           /* attnbench_device */
  int32_t deterministic;    /* 1: promises the same bits each time */
  int32_t graph_support;    /* attnbench_graph_support */
  int32_t padding_seq_len;  /* seq_len of requests that fill a recorded batch up: 0 or 1 */
  void* self;               /* handed to the functions below */

  /* ATTNBENCH_OK, or ATTNBENCH_UNSUPPORTED with a reason that a person can act on. */
  int (*supports)(void* self, const attnbench_problem* problem, char* message, size_t message_size);
  /* Fills in where it rounds; 0: f32 throughout, the tightest bounds. */
  int (*numerics)(void* self, const attnbench_problem* problem, attnbench_numerics* numerics,
                  char* message, size_t message_size);
  /* Host work for one batch, timed apart from run(): may allocate and wait. Queries and cache have
   * no contents yet. Writes a plan of its own kind to *plan. */
  int (*plan)(void* self, const attnbench_batch* batch, const attnbench_memory* memory, void** plan,
              char* message, size_t message_size);
  /* Computes out and lse: allocates nothing, never waits, enqueues on `stream` alone (a
   * cudaStream_t; 0 on a CPU). Allocations of host memory are not detected: their time is in the
   * sample of a CPU backend, and memory that is never freed is lost to every backend of the
   * process. Its process runs this backend only, unless --in-process is given. */
  int (*run)(void* plan, void* stream, char* message, size_t message_size);
  /* Plans the next step of a recorded plan. A null pointer, or ATTNBENCH_UNSUPPORTED as the result,
   * means that the step needs a new plan. */
  int (*update)(void* plan, const attnbench_batch* batch, void* stream, char* message,
                size_t message_size);
  void (*destroy)(void* plan);
  int32_t writes_kv; /* 1: supports() is asked for steps that write the cache, too */
  /* May be a null pointer. Writes to *graph a cudaGraph_t that does what run() does, or 0 for none.
   * It is asked for where run() would be recorded, and is copied into the graph that is timed, as a
   * child node. */
  int (*graph)(void* plan, void** graph, char* message, size_t message_size);
  /* Writes the layouts of the cache (attnbench_layout) that it reads for a problem, best first: at
   * most *count of them into `layouts`, and their number into *count. It must ignore the problem's
   * own cache_layout. A null pointer means NHD and HND, with k_scale and v_scale only. */
  int (*formats)(void* self, const attnbench_problem* problem, int32_t* layouts, int32_t* count,
                 char* message, size_t message_size);
  int32_t only_by_name; /* 1: a variant, which takes part only where it is named */
  /* What an engine is started with so that it runs as this variant does, "--kv-splits 16"; may be a
   * null pointer. */
  const char* engine_flag;
  /* 1: supports() is asked for problems whose q_dtype, or out_dtype, is fp8, too. */
  int32_t reads_fp8_queries;
  int32_t writes_fp8_outputs;
  /* 1: supports() is asked for problems with queries_apart, too. */
  int32_t reads_queries_apart;
} attnbench_backend;

/* What a plug-in exports. `abi_version` is attnbench's ATTNBENCH_ABI_VERSION; a plug-in that was
 * built for another one returns ATTNBENCH_ERROR with a message. On success *backends is an array of
 * *count tables, which live until the program ends. */
typedef int (*attnbench_plugin_function)(uint32_t abi_version, const attnbench_backend** backends,
                                         size_t* count, char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
