/* SPDX-FileCopyrightText: 2026 attnbench authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The computation, without a batch: attnbench_problem, and the enums of its members. It is part of
 * attnbench/backend.h.
 */
#ifndef ATTNBENCH_PROBLEM_H
#define ATTNBENCH_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

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
  ATTNBENCH_RECURRENT = 2,
  /* Kimi delta attention: the same, but each key dim has a g of its own. */
  ATTNBENCH_KIMI_DELTA = 3,
  /* Lightning attention: q and k are not normalised, g is the same for all tokens, beta is 1, and
   * S += k v^T. */
  ATTNBENCH_LIGHTNING = 4,
  /* Mamba-2: q, k, v and beta are its C, B, x and step size, behind softplus; g = A beta, and A is
   * the same for all tokens. S += k (beta v)^T, and out has ATTNBENCH_SKIP times v besides. q and k
   * are not normalised. */
  ATTNBENCH_MAMBA2 = 5
};

enum attnbench_mode {
  ATTNBENCH_EXTEND = 0,
  ATTNBENCH_DECODE = 1,
  ATTNBENCH_MIXED = 2,
  ATTNBENCH_IDLE = 3,
  /* Draft trees. custom_mask says which keys a node sees; in a cross layer a node sees all keys.
   * For recurrent families see ATTNBENCH_INTERMEDIATE_STATES. */
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
  /* Order of ATTNBENCH_STATES, for recurrent families. A backend that names neither order gets
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
  ATTNBENCH_SCALES_REQUEST = 4, /* ATTNBENCH_K_SCALES and ATTNBENCH_V_SCALES, [B, Hkv] */
  /* A latent cache whose rows are all K and V (dk = dv), DeepSeek-V4's. A page begins with its
   * rows: dv - 64 numbers in e4m3, then 64 in bf16, 576 bytes where dv is 512. Behind all of its
   * rows the page has for each, in their order, one byte for each 64 numbers in e4m3, the exponent
   * of their scale + 127, and zeros up to a multiple of 8 bytes. The next page begins at the next
   * multiple of a row's bytes. */
  ATTNBENCH_SCALES_GROUP = 5
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
   * token, a block or a group are output. Such a scale is the largest magnitude of the row (token)
   * or of the 128 values (block), divided by the largest number of the cache's type (448 in e4m3).
   * Its minimum is 1e-6 for a token (vLLM's triton_reshape_and_cache_flash_per_token_head_quant)
   * and FLT_MIN for a block (vLLM's concat_and_cache_ds_mla). Values with a
   * scale by group are first rounded to bf16. The largest magnitude of such a group, of 64 values,
   * is taken as at least 1e-4, and its scale is rounded up to a power of two. The values behind a
   * row's blocks or groups have no scale. */
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
  /* Lists of a query token, 1, Hkv or Hq: query head h reads list h * topk_groups / Hq. */
  int32_t topk_groups;
  /* 1: columns at or behind topk_length hold units, too, and must be left out. 0: they hold -1. */
  attnbench_bool topk_length_counts;
  /* 1: a list may name a unit more than once. Only then a list can have more keys than the query
   * sees, and a mask cannot say what takes part. 0: none does. */
  attnbench_bool topk_repeats;
  int32_t index_heads; /* query heads of the indexer that scores keys (ATTNBENCH_INDEXER) */
  /* Compressed rows; 0: off. Only a backend with reads_compressed_rows gets more. A request with n
   * tokens has floor(n / compress_ratio) rows that are keys and values of their own, in pages of
   * their own. ATTNBENCH_REQ_TO_TOKEN has them behind its tokens: entry n + c is the slot of row c.
   * Beside the tokens that the window shows, the query at position t among its request's tokens
   * sees, in the same softmax, the rows c < floor((t + 1) / compress_ratio): all of them or, if
   * topk is above 0, those on its list, whose entries are rows then. LSE is over the keys only,
   * also with sinks. Only ATTNBENCH_LATENT has compressed rows. */
  int64_t compress_ratio;
} attnbench_problem;

#endif
