/* SPDX-FileCopyrightText: 2026 attnbench authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A complete attention backend in a shared object: causal attention on the CPU, row by row, in f32.
 * attnbench/backend.h states the arguments and the rules of each function. */
#include <attnbench/backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of batch and problem that run() needs. Both structs live only during plan(). */
struct plan {
  const attnbench_tensor* tensors;
  const int32_t *pages, *first_page; /* request after request */
  float logit_scale, v_scale;
  float *out, *scores; /* of one row, in the plan's memory: run() allocates nothing */
};

/* A bf16 is the upper half of an f32. An f16 needs 2^112 more, for its smaller exponent bias. */
static float load(const attnbench_tensor* from, int64_t at) {
  if (from->dtype == ATTNBENCH_F32) return ((const float*)from->data)[at];
  const uint32_t half = ((const uint16_t*)from->data)[at], is_f16 = from->dtype == ATTNBENCH_F16;
  const uint32_t bits = (half & 0x8000) << 16 | (half & 0x7fff) << (is_f16 ? 13 : 16);
  float value;
  memcpy(&value, &bits, sizeof value);
  if (is_f16) value *= 0x1p112f;
  return is_f16 && fabsf(value) >= 0x1p16f ? NAN : value; /* infinity is no input */
}

/* Rounds to nearest even. A NaN stays a NaN. */
static void store(const attnbench_tensor* to, int64_t at, float value) {
  const int is_f16 = to->dtype == ATTNBENCH_F16, shift = is_f16 ? 13 : 16;
  float magnitude = is_f16 && fabsf(value) > 0x1p16f ? 0x1p16f : fabsf(value);
  if (is_f16 && magnitude < 0x1p-14f) magnitude = magnitude + 0.5f - 0.5f; /* to whole 2^-24 */
  const float placed = is_f16 ? magnitude * 0x1p-112f : magnitude;
  uint32_t bits;
  memcpy(&bits, &placed, sizeof bits);
  bits = (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
  if (signbit(value)) bits |= 0x8000;
  if (to->dtype == ATTNBENCH_F32) ((float*)to->data)[at] = value;
  if (to->dtype != ATTNBENCH_F32) ((uint16_t*)to->data)[at] = (uint16_t)bits;
}

/* The index of the first element of key or value `j`. The strides describe the layout. */
static int64_t row_of(const attnbench_tensor* cache, const int32_t* pages, int64_t j,
                      int64_t head) {
  const int64_t page = pages[j / cache->shape[1]], offset = j % cache->shape[1];
  return page * cache->stride[0] + offset * cache->stride[1] + head * cache->stride[2];
}

/* One query token of one head. It sees the first `visible` keys of the pages. */
static void attend(const struct plan* plan, const int32_t* pages, int64_t visible, int64_t token,
                   int64_t head) {
  const attnbench_tensor *t = plan->tensors, *q = &t[ATTNBENCH_Q], *k = &t[ATTNBENCH_K_CACHE];
  const attnbench_tensor *v = &t[ATTNBENCH_V_CACHE], *out = &t[ATTNBENCH_OUT];
  const attnbench_tensor* lse = &t[ATTNBENCH_LSE];
  const int64_t kv_head = head / (q->shape[1] / k->shape[2]);
  const int64_t q_row = token * q->stride[0] + head * q->stride[1];
  const int64_t out_row = token * out->stride[0] + head * out->stride[1];
  float top = -INFINITY, denominator = 0;
  for (int64_t j = 0; j < visible; ++j) {
    const int64_t key = row_of(k, pages, j, kv_head);
    float dot = 0;
    for (int64_t d = 0; d < k->shape[3]; ++d) dot += load(q, q_row + d) * load(k, key + d);
    plan->scores[j] = dot * plan->logit_scale;
    top = fmaxf(top, plan->scores[j]);
  }
  memset(plan->out, 0, (size_t)v->shape[3] * sizeof *plan->out);
  for (int64_t j = 0; j < visible; ++j) {
    const int64_t value = row_of(v, pages, j, kv_head);
    const float weight = expf(plan->scores[j] - top);
    for (int64_t d = 0; d < v->shape[3]; ++d) plan->out[d] += weight * load(v, value + d);
    denominator += weight;
  }
  const float factor = denominator > 0 ? plan->v_scale / denominator : 0; /* 0: no visible key */
  for (int64_t d = 0; d < v->shape[3]; ++d) store(out, out_row + d, plan->out[d] * factor);
  store(lse, token * lse->stride[0] + head * lse->stride[1], top + logf(denominator));
}

static int run(void* self, void* stream, char* message, size_t message_size) {
  const struct plan* const plan = self;
  const attnbench_tensor* const t = plan->tensors;
  const int32_t *kv_lens = t[ATTNBENCH_SEQ_LENS].data, *starts = t[ATTNBENCH_QUERY_START_LOC].data;
  const int64_t requests = t[ATTNBENCH_SEQ_LENS].shape[0], heads = t[ATTNBENCH_Q].shape[1];
  for (int64_t r = 0; r < requests; ++r) {
    const int32_t* const pages = plan->pages + plan->first_page[r];
    for (int64_t token = starts[r]; token < starts[r + 1]; ++token) {
      const int64_t visible = kv_lens[r] - (starts[r + 1] - 1 - token); /* causal, bottom right */
      for (int64_t head = 0; head < heads; ++head) attend(plan, pages, visible, token, head);
    }
  }
  (void)stream, (void)message, (void)message_size; /* a CPU has no stream; nothing can fail */
  return ATTNBENCH_OK;
}

static int make_plan(void* self, const attnbench_batch* batch, const attnbench_memory* memory,
                     void** made, char* message, size_t message_size) {
  const attnbench_problem* const p = batch->problem;
  const size_t floats = (size_t)(p->head_dim_v + p->max_kv_len);
  const attnbench_index* csr; /* qo_indptr, kv_indptr, kv_indices, kv_last_page_len */
  if (batch->indices(batch->context, "csr", &csr, message, message_size)) return ATTNBENCH_ERROR;
  struct plan* const plan = malloc(sizeof *plan);
  float* const out = memory->reserve(memory->context, floats * sizeof *out);
  if (plan == NULL || out == NULL) {
    free(plan);
    snprintf(message, message_size, "no memory for %zu numbers", floats);
    return ATTNBENCH_ERROR;
  }
  *plan = (struct plan){batch->tensors,         csr->next->next->tensor.data,
                        csr->next->tensor.data, (float)(p->scale * batch->k_scale),
                        batch->v_scale,         out,
                        out + p->head_dim_v};
  *made = plan;
  return (void)self, ATTNBENCH_OK;
}

static int supports(void* self, const attnbench_problem* p, char* message, size_t message_size) {
  const char* no = NULL;
  if (p->dtype > ATTNBENCH_BF16 || p->cache_dtype > ATTNBENCH_BF16) no = "f32, f16, bf16 only";
  if (p->sliding_window_size >= 0 || p->attention_chunk > 0) no = "no sliding window, no chunks";
  if (p->dual_chunk_size > 0) no = "no dual chunks";
  if (p->logit_cap > 0 || p->temperature_len > 0) no = "no softcap, no temperature";
  if (p->has_sinks || p->has_alibi) no = "no sinks, no ALiBi";
  if (!p->causal || p->is_cross_attention) no = "causal self-attention only";
  if (p->mode == ATTNBENCH_TARGET_VERIFY) no = "no draft trees";
  if (p->multi_item) no = "no multi-item scoring";
  if (p->spans) no = "no bidirectional spans";
  if (p->mode == ATTNBENCH_DLLM_EXTEND) no = "no block diffusion";
  if (p->family != ATTNBENCH_SOFTMAX) no = "no MLA, no recurrent layers";
  if (no != NULL) snprintf(message, message_size, "%s", no);
  (void)self;
  return no == NULL ? ATTNBENCH_OK : ATTNBENCH_UNSUPPORTED;
}

/* Members that are not named are 0. So it runs on a CPU, rounds to f32 only and is not recorded. */
static const attnbench_backend backend = {.struct_size = sizeof backend,
                                          .name = "example_plugin",
                                          .version = "1",
                                          .description = "causal attention, one row after another",
                                          .index_format = "csr",
                                          .deterministic = 1,
                                          .supports = supports,
                                          .plan = make_plan,
                                          .run = run,
                                          .destroy = free,
                                          .reads_page_gaps = 1}; /* strides hide the gaps */

int attnbench_plugin(uint32_t abi_version, const attnbench_backend** backends, size_t* count,
                     char* message, size_t message_size) {
  if (abi_version != ATTNBENCH_ABI_VERSION) {
    snprintf(message, message_size, "built for version %d of the interface", ATTNBENCH_ABI_VERSION);
    return ATTNBENCH_ERROR;
  }
  *backends = &backend, *count = 1;
  return ATTNBENCH_OK;
}
