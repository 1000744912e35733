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
  ATTNBENCH_SOFTMAX = 0, /* separate rows for keys and values */
  ATTNBENCH_LATENT =
      1, /* absorbed MLA: a latent row is the key, and its first dv elements are the value */
  /* Gated delta net. q and k have heads_q heads; v, states and out have heads_kv heads. Value head
   * h uses key head h / (heads_kv / heads_q). The kernel L2-normalises q and k (eps 1e-6). Per
   * token: S = e^g S; S += k (beta (v - k^T S))^T; out = scale q^T S. There are no caches and no
   * LSE. */
  ATTNBENCH_RECURRENT = 2
};

enum attnbench_mode {
  ATTNBENCH_EXTEND = 0,
  ATTNBENCH_DECODE = 1,
  ATTNBENCH_MIXED = 2,
  ATTNBENCH_IDLE = 3,
  /* Draft trees. custom_mask says which keys a node sees; in a cross layer a node sees all keys.
   * For ATTNBENCH_RECURRENT see ATTNBENCH_INTERMEDIATE_STATES. */
  ATTNBENCH_TARGET_VERIFY = 4,
  ATTNBENCH_DRAFT_EXTEND = 5,
  ATTNBENCH_SPLIT_PREFILL = 6,   /* computed as an extend */
  ATTNBENCH_DRAFT_EXTEND_V2 = 7, /* computed as an extend of the same length for all requests */
  ATTNBENCH_DLLM_EXTEND = 8      /* block diffusion: causal_block says which keys a query sees */
};

enum attnbench_layout {
  ATTNBENCH_NHD = 0,      /* [pages, page_size, heads, dim] */
  ATTNBENCH_HND = 1,      /* [pages, heads, page_size, dim] */
  ATTNBENCH_COMBINED = 2, /* [2, pages, page_size, heads, dim]: NHD, all of K, then all of V */
  ATTNBENCH_X_PACKED = 3, /* K [pages, heads, dim / x, page_size, x], x = 16 bytes of elements, V
                           * [pages, heads, dim, page_size] */
  /* Order of ATTNBENCH_STATES, for ATTNBENCH_RECURRENT. A backend that names neither order gets
   * states_kv. */
  ATTNBENCH_STATES_KV = 4, /* [slots, heads, dk, dv] */
  ATTNBENCH_STATES_VK = 5, /* [slots, heads, dv, dk]; the tensor's dims stay, its strides say so */
  /* No pool: [sum of the requests' keys, heads, dim], request after request. The keys of request r
   * begin at row cu_seqlens_k[r] of the indices "varlen". Entry 0 of the request's row of
   * req_to_token is the same number. Only a backend whose formats() names this layout gets it. */
  ATTNBENCH_RAGGED = 6,
  /* One row of dk + dv elements holds the K and the V of a token and head. ATTNBENCH_V_CACHE begins
   * dk elements behind ATTNBENCH_K_CACHE, and both have the same strides. */
  ATTNBENCH_JOINT = 7,    /* [pages, page_size, heads, dk + dv] */
  ATTNBENCH_JOINT_HND = 8 /* [pages, heads, page_size, dk + dv] */
};

/* Which elements of an fp8 cache share a scale. A value is the stored number times its scale. */
enum attnbench_scales {
  ATTNBENCH_SCALES_TENSOR = 0, /* k_scale and v_scale of the batch */
  ATTNBENCH_SCALES_HEAD = 1,   /* ATTNBENCH_K_SCALES and ATTNBENCH_V_SCALES */
  ATTNBENCH_SCALES_TOKEN = 2,
  /* Inside each row of a latent cache: dv numbers in e4m3, one f32 scale for each 128 of them, then
   * dk - dv numbers in bf16. */
  ATTNBENCH_SCALES_BLOCK = 3,
  ATTNBENCH_SCALES_REQUEST = 4 /* ATTNBENCH_K_SCALES and ATTNBENCH_V_SCALES, [B, Hkv] */
};

/* Which elements of fp8 queries share a scale. supports() must refuse a value that it does not
 * know. The scales are in ATTNBENCH_Q_SCALES, except the one of a whole tensor. */
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

/* The part of a layer's step that a plan does. */
enum attnbench_step {
  ATTNBENCH_ATTENTION = 0, /* this step's keys and values are in the cache already */
  /* The plan divides k_new and v_new by their scales, rounds to nearest even and stores the result
   * in the slots of slot_mapping. Scales of a tensor, a head or a request are input. Scales of a
   * token or a block are output. Such a scale is the largest magnitude of the row (token) or of the
   * 128 values (block), divided by the largest number of the cache's type (448 in e4m3). Its
   * minimum is 1e-6 for a token (vLLM's triton_reshape_and_cache_flash_per_token_head_quant) and
   * FLT_MIN for a block (vLLM's concat_and_cache_ds_mla). The dk - dv values behind a row's blocks
   * have no scale. */
  ATTNBENCH_KV_WRITE = 1,
  ATTNBENCH_BOTH = 2, /* first the write, then attention over what was written */
  /* The plan builds index arrays, and attends to nothing. It calls indices() of attnbench_batch in
   * plan() with the format that the step is of, and gets memory to write: of csr kv_indptr and
   * kv_indices, of page_table page_table, whose entries behind a request's pages may become
   * anything. Each element is -1 before a run, but for the 0 with which kv_indptr begins, and
   * `host` is 0. Other formats are refused. run() writes all elements, from ATTNBENCH_REQ_TO_TOKEN
   * or ATTNBENCH_BLOCK_TABLE, in both of which pages change from run to run; lengths stay. */
  ATTNBENCH_INDEX = 3,
  /* The plan selects keys, and attends to nothing: of each row of ATTNBENCH_LOGITS, whose first
   * units are as many as ATTNBENCH_ROW_LENS says, the topk highest. It writes them to
   * ATTNBENCH_TOPK_INDICES, in any order, with -1 behind the units of a shorter row, and how many
   * they are to ATTNBENCH_TOPK_LENGTH, which may be left as it is. There is no cache. */
  ATTNBENCH_SELECT = 4,
  /* The plan computes the logits by which keys are selected, and attends to nothing:
   * ATTNBENCH_LOGITS[t, 0, s] = scale[s] * the sum over heads h of weight[t, h] * max(0, q[t, h] .
   * k[s]), for each of the first ATTNBENCH_ROW_LENS[t] keys s of the token's request, with q from
   * ATTNBENCH_INDEX_Q, weights from ATTNBENCH_INDEX_WEIGHTS, and k and scale from
   * ATTNBENCH_INDEX_CACHE through ATTNBENCH_BLOCK_TABLE. What lies behind them may become anything.
   * There is no other cache. */
  ATTNBENCH_INDEXER = 5
};

typedef int32_t attnbench_bool; /* 0 or 1 */

/* The computation, without a batch. */
typedef struct attnbench_problem {
  size_t struct_size;
  int32_t family;
  int32_t heads_q;
  int32_t heads_kv;
  int32_t head_dim_qk;   /* latent: kv_lora_rank + qk_rope_head_dim */
  int32_t head_dim_v;    /* latent: kv_lora_rank */
  attnbench_bool causal; /* aligned at the bottom right */
  attnbench_bool is_cross_attention;
  attnbench_bool has_sinks;           /* the denominator has one more logit per query head */
  attnbench_bool has_alibi;           /* adds -slope * |i - j| to each logit */
  attnbench_bool window_counts_depth; /* in draft trees a window counts 0: positions, 1: depth */
  int64_t sliding_window_size;        /* visible keys before a query's own key; -1: all */
  double scale;                       /* multiplies q.k */
  double logit_cap;                   /* cap * tanh(s / cap) after scaling; 0 off */
  int32_t ranks;                      /* tensor-parallel ranks; heads_q counts this rank's heads */
  int32_t dtype;                      /* of k_new and v_new */
  int32_t cache_dtype;
  int32_t cache_layout;
  int64_t page_size; /* tokens */
  int32_t mode;
  attnbench_bool recorded; /* 1: run() is recorded once; update() plans the next steps */
  int64_t max_requests;    /* this and the next three: limits of a plan's steps */
  int64_t max_q_len;       /* query tokens of one request */
  int64_t max_q_tokens;    /* rows of query tokens (T), padding rows included */
  int64_t max_kv_len;      /* keys of one request, with the keys of this step */
  /* attnbench_step; only ATTNBENCH_ATTENTION without writes_kv, builds_indices, selects_keys or
   * scores_keys */
  int32_t step;
  int32_t cache_scales; /* attnbench_scales */
  /* Chunked attention; 0: off. With n = attention_chunk, query i sees key j only if floor(j / n) ==
   * floor(i / n). i and j are positions among the request's keys. The position of a draft tree's
   * node is its index among the keys, not its depth. */
  int64_t attention_chunk;
  /* Temperature; 0: off. The query at position i multiplies its logits by log2(i) /
   * log2(temperature_len) if i > temperature_len. i is its position among the request's keys, also
   * for a node of a draft tree. The factor is applied after logit_cap and before ALiBi. */
  int64_t temperature_len;
  /* Block diffusion, in causal layers only. The step's new tokens form blocks of causal_block
   * tokens. A query sees all keys up to the end of its own block. The last block ends at the last
   * key. 1: no blocks; a query sees the keys up to its own. */
  int64_t causal_block;
  /* 1: multi-item scoring; the indices "multi_item" say which keys a query sees. */
  attnbench_bool multi_item;
  /* 1: some request has no keys, or more queries than keys. The output of a query that sees no key
   * is 0, and its LSE is -inf. */
  attnbench_bool empty_rows;
  /* Types of q and out: `dtype`, or fp8 for a backend with reads_fp8_queries, or
   * writes_fp8_outputs. The query is the stored q times its scale. A stored out is out / out_scale,
   * rounded to nearest even and saturated. */
  int32_t q_dtype;
  int32_t out_dtype;
  int32_t q_scales; /* attnbench_q_scales */
  /* Dual-chunk attention; 0: off. A row of q holds three queries for each head, of dk elements
   * each: intra, succ, inter. Let c = dual_chunk_size - dual_local_size, and i and j the positions
   * of query and key among the request's keys. The logit of key j uses intra if floor(i / c) -
   * floor(j / c) is 0, succ if it is 1, inter if it is 2 or more. Causal, with one softmax over all
   * keys. */
  int64_t dual_chunk_size;
  int64_t dual_local_size;
  /* 1: the cache is a separate pool of layers with a window or chunks. Entries of req_to_token and
   * block_table are 0 for keys that no query's window or chunk reaches. The rows of page 0 hold
   * finite numbers. */
  attnbench_bool swa_pool;
  /* 1: ATTNBENCH_Q_NOPE and ATTNBENCH_Q_PE replace ATTNBENCH_Q, which is absent. Only
   * ATTNBENCH_LATENT has such queries. */
  attnbench_bool queries_apart;
  /* Only in ATTNBENCH_TARGET_VERIFY. 1: each draft tree is a chain, so that custom_mask equals the
   * causal mask that is aligned at the bottom right. A cross layer, which has no mask, has 1, too.
   */
  attnbench_bool drafts_are_chains;
  /* 1: some prompt has bidirectional spans, ATTNBENCH_SPANS. A query whose position is in a span
   * also sees the keys of this span: those behind its own if spans_within_window, so that a window
   * hides older ones, else all, whatever the window. Only in causal layers without chunks. */
  attnbench_bool spans;
  attnbench_bool spans_within_window;
  /* Tokens from the beginning of a page to that of the next, at least page_size. Only a backend
   * with reads_page_gaps gets more than page_size. The first page_size tokens are the page's rows.
   * The memory behind them is not the layer's: it holds poison, and a write into it is a fault.
   * Scales beside the cache have no gaps, and a slot is still page * page_size + offset. The
   * strides of ATTNBENCH_K_CACHE and ATTNBENCH_V_CACHE, in elements, say the same: from page to
   * page lie page_stride * Hkv * dim elements (Scales by block: bytes). */
  int64_t page_stride;
  /* Chosen keys (sparse attention); topk 0: off. Only a backend with reads_selection gets more. A
   * query sees of the keys that the causal mask shows those on its list in ATTNBENCH_TOPK_INDICES.
   * LSE is then over these keys only, also with sinks. Column c of a list counts only if c is below
   * the list's entry of ATTNBENCH_TOPK_LENGTH. An entry u that counts stands for the keys [u *
   * topk_unit, (u + 1) * topk_unit), of which later ones than the query are hidden; -1 stands for
   * none, wherever it is. A unit that a list names twice, see topk_repeats, takes part twice. */
  int64_t topk; /* columns of a list */
  int64_t topk_unit;
  int32_t topk_groups; /* lists of a query token; query head h reads list h * topk_groups / Hq */
  /* 1: columns at or behind topk_length hold units, too, and must be left out. 0: they hold -1. */
  attnbench_bool topk_length_counts;
  /* 1: a list may name a unit more than once. Only then a list can have more keys than the query
   * sees, and a mask cannot say what takes part. 0: none does. */
  attnbench_bool topk_repeats;
  int32_t index_heads; /* query heads of the indexer that scores keys (ATTNBENCH_INDEXER) */
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
   * bytes of a row]. Ragged: [rows, Hkv, dk], dense. */
  ATTNBENCH_K_CACHE = 6,
  /* [pages, page_size, Hkv, dv]; latent: the first dv columns of K. x_packed: [pages, Hkv, dv,
   * page_size], dense in a page. Scales by block: absent. Ragged: [rows, Hkv, dv], dense. */
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
  /* This and the next four: only in ATTNBENCH_RECURRENT, which has no caches, tables or slots. */
  ATTNBENCH_G = 17,    /* [T, Hkv] f32 log decay, at most 0 */
  ATTNBENCH_BETA = 18, /* [T, Hkv] f32 inside (0, 1) */
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
  /* Only in a target_verify of ATTNBENCH_RECURRENT. f32 [T, Hkv, dk, dv]: entry t is written with
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
  ATTNBENCH_ROLES = 37
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
