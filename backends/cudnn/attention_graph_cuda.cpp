// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/attention_graph.h"

#include <array>
#include <span>
#include <utility>

namespace attnbench::cudnn {
namespace {

/// Sizes, or strides in elements. Q, O, LSE, keys and logits: [B, heads, tokens, dim].
using Four = std::array<std::int64_t, 4>;

/// Strides of a tensor without gaps.
Four packed(const Four& dims) {
  return {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
}

struct Tensor {
  cudnnBackendDescriptor_t native = nullptr;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Four dims{}, strides{};
};

enum class Place { kDevice, kHost, kInner };

/// Makes tensors and operations one after another.
class Builder {
 public:
  [[nodiscard]] Tensor tensor(std::int64_t uid, cudnnDataType_t type, const Four& dims,
                              const Four& strides, Place place = Place::kDevice,
                              const Tensor* ragged_offsets = nullptr) {
    constexpr std::int64_t kAlignment = 16;
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid)
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(dims))
        .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const std::int64_t>(strides))
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, place == Place::kInner)
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, place == Place::kHost);
    if (ragged_offsets != nullptr) {
      made.set(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, ragged_offsets->native);
    }
    return {add(std::move(made)), type, dims, strides};
  }
  [[nodiscard]] Tensor number(Uid uid, cudnnDataType_t type) {
    return tensor(uid, type, {1, 1, 1, 1}, {1, 1, 1, 1}, Place::kHost);
  }
  [[nodiscard]] Tensor inner(cudnnDataType_t type, const Four& dims, const Four& strides) {
    return tensor(next_inner_++, type, dims, strides, Place::kInner);
  }
  [[nodiscard]] Tensor inner(cudnnDataType_t type, const Four& dims) {
    return inner(type, dims, packed(dims));
  }

  /// to = mode(x, b), or, of a selection, `picks` ? x : b, computed in type `math`.
  void pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t math, const Tensor& x, const Tensor* b,
                 const Tensor* picks, const Tensor& to) {
    Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, math);
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(how)))
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x.native)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to.native);
    if (b != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b->native);
    if (picks != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, picks->native);
    add_operation(std::move(operation));
  }
  /// mode(x, b) in `math`'s type, as large as x.
  [[nodiscard]] Tensor pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t math, const Tensor& x,
                                 const Tensor& b) {
    const Tensor to = inner(math, x.dims);
    pointwise(mode, math, x, &b, nullptr, to);
    return to;
  }
  [[nodiscard]] Tensor pointwise(cudnnPointwiseMode_t mode, const Tensor& x) {
    const Tensor to = inner(x.type, x.dims);
    pointwise(mode, x.type, x, nullptr, nullptr, to);
    return to;
  }
  /// x where `picks` is true, else `other`.
  [[nodiscard]] Tensor select(const Tensor& x, const Tensor& other, const Tensor& picks) {
    const Tensor to = inner(x.type, x.dims);
    pointwise(CUDNN_POINTWISE_BINARY_SELECT, x.type, x, &other, &picks, to);
    return to;
  }
  /// Each element's place along an axis of x, as an i32. `math` is part of the pattern.
  [[nodiscard]] Tensor places(const Tensor& x, std::int64_t axis, cudnnDataType_t math) {
    const Tensor to = inner(CUDNN_DATA_INT32, x.dims);
    Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_GEN_INDEX)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, math)
        .set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(how)))
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x.native)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to.native);
    add_operation(std::move(operation));
    return to;
  }
  /// Over the last axis.
  [[nodiscard]] Tensor reduce(cudnnReduceTensorOp_t mode, const Tensor& x) {
    const Tensor to = inner(x.type, {x.dims[0], x.dims[1], x.dims[2], 1});
    Descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, mode)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, add(std::move(how)))
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x.native)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to.native);
    add_operation(std::move(operation));
    return to;
  }
  /// c = a · b in f32, of the first `rows` rows of a. `other` is how many columns of b there are,
  /// or how many rows of b: `attribute` says which.
  void matmul(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& rows,
              cudnnBackendAttributeName_t attribute, const Tensor& other) {
    Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, add(std::move(how)))
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.native)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.native)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c.native)
        .set(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, rows.native)
        .set(attribute, other.native);
    add_operation(std::move(operation));
  }
  /// to = the pages that `table` names, one behind the other.
  void load_pages(const Tensor& pages, const Tensor& kv_lens, const Tensor& table,
                  const Tensor& to) {
    Descriptor operation(CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC, pages.native)
        .set(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC, table.native)
        .set(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC, kv_lens.native)
        .set(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC, to.native);
    add_operation(std::move(operation));
  }

  /// The operation graph, last, and what it refers to.
  [[nodiscard]] std::vector<Descriptor> finish(cudnnHandle_t handle) {
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
             std::span<const cudnnBackendDescriptor_t>(operations_))
        .set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
    static_cast<void>(add(std::move(graph)));
    return std::move(made_);
  }

 private:
  cudnnBackendDescriptor_t add(Descriptor made) {
    made.finalize();
    made_.push_back(std::move(made));
    return made_.back().native();
  }
  void add_operation(Descriptor operation) { operations_.push_back(add(std::move(operation))); }

  std::vector<Descriptor> made_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::int64_t next_inner_ = kFirstInner;
};

/// Attention over a shape, made step by step.
class Attention {
 public:
  explicit Attention(const AttentionShape& shape);
  [[nodiscard]] std::vector<Descriptor> build(cudnnHandle_t handle);

 private:
  /// A tensor of requests that lie one behind the other.
  [[nodiscard]] Tensor per_request(Uid uid, Uid ragged, cudnnDataType_t type, const Four& dims,
                                   const Four& strides);
  [[nodiscard]] Tensor rows(Uid uid, Uid ragged, cudnnDataType_t type, std::int64_t dim,
                            const RowStrides& strides);
  [[nodiscard]] Tensor keys(Uid uid, Uid table, Uid ragged, std::int64_t dim,
                            const CacheStrides& strides);
  [[nodiscard]] Tensor mask_lengths(const Tensor& logits);
  [[nodiscard]] Tensor mask_ahead(const Tensor& logits);
  [[nodiscard]] Tensor mask_before(const Tensor& logits);
  [[nodiscard]] Tensor softmax(const Tensor& logits);
  [[nodiscard]] Tensor in_i32(cudnnPointwiseMode_t mode, const Tensor& x, const Tensor& b) {
    return builder_.pointwise(mode, CUDNN_DATA_INT32, x, b);
  }

  const AttentionShape& shape_;
  Builder builder_;
  cudnnDataType_t type_;
  Tensor q_lens_, kv_lens_, masked_;
};

Attention::Attention(const AttentionShape& shape)
    : shape_(shape), type_(shape.dtype == DType::kF16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16) {
  const Four one_each{shape.requests, 1, 1, 1}, strides{1, 1, 1, 1};
  q_lens_ = builder_.tensor(kQLens, CUDNN_DATA_INT32, one_each, strides);
  kv_lens_ = builder_.tensor(kKvLens, CUDNN_DATA_INT32, one_each, strides);
  masked_ = builder_.number(kMasked, CUDNN_DATA_FLOAT);
}

Tensor Attention::per_request(Uid uid, Uid ragged, cudnnDataType_t type, const Four& dims,
                              const Four& strides) {
  if (!shape_.ragged) return builder_.tensor(uid, type, dims, strides);
  const Tensor offsets =
      builder_.tensor(ragged, CUDNN_DATA_INT64, {shape_.requests + 1, 1, 1, 1}, {1, 1, 1, 1});
  return builder_.tensor(uid, type, dims, strides, Place::kDevice, &offsets);
}

/// [B, Hq, q_len, dim]
Tensor Attention::rows(Uid uid, Uid ragged, cudnnDataType_t type, std::int64_t dim,
                       const RowStrides& strides) {
  return per_request(uid, ragged, type, {shape_.requests, shape_.heads_q, shape_.q_len, dim},
                     {shape_.q_len * strides.token, strides.head, strides.token, 1});
}

/// [B, Hkv, kv_len, dim]; K is the first product's right side, [B, Hkv, dim, kv_len].
Tensor Attention::keys(Uid uid, Uid table, Uid ragged, std::int64_t dim,
                       const CacheStrides& strides) {
  const std::int64_t requests = shape_.requests, heads = shape_.heads_kv, length = shape_.kv_len;
  const auto order = [&](Four four) {
    if (uid == kK) std::swap(four[2], four[3]);
    return four;
  };
  const Four dims{requests, heads, length, dim};
  if (!shape_.paged()) {
    const RowStrides& row = strides.row;
    return per_request(uid, ragged, type_, order(dims),
                       order({length * row.token, row.head, row.token, 1}));
  }
  const Tensor pages = builder_.tensor(uid, type_, {shape_.num_pages, heads, shape_.page_size, dim},
                                       {strides.page, strides.row.head, strides.row.token, 1});
  const Four of_table{requests, 1, shape_.pages_per_request(), 1};
  const Tensor page_table = builder_.tensor(table, CUDNN_DATA_INT32, of_table, packed(of_table));
  const Tensor loaded = builder_.inner(type_, order(dims), order(packed(dims)));
  builder_.load_pages(pages, kv_lens_, page_table, loaded);
  return loaded;
}

/// Hides what lies behind a request's own queries and keys.
Tensor Attention::mask_lengths(const Tensor& logits) {
  const Tensor row = builder_.places(logits, 2, CUDNN_DATA_INT32);
  const Tensor key = builder_.places(logits, 3, CUDNN_DATA_INT32);
  const Tensor is_query =
      builder_.pointwise(CUDNN_POINTWISE_CMP_LT, CUDNN_DATA_BOOLEAN, row, q_lens_);
  const Tensor is_key =
      builder_.pointwise(CUDNN_POINTWISE_CMP_LT, CUDNN_DATA_BOOLEAN, key, kv_lens_);
  const Tensor both =
      builder_.pointwise(CUDNN_POINTWISE_LOGICAL_AND, CUDNN_DATA_BOOLEAN, is_query, is_key);
  return builder_.select(logits, masked_, both);
}

/// Hides keys behind the query's own: row + kv_len - q_len + ahead >= key stays.
Tensor Attention::mask_ahead(const Tensor& logits) {
  Tensor row = builder_.places(logits, 2, CUDNN_DATA_FLOAT);
  const Tensor key = builder_.places(logits, 3, CUDNN_DATA_FLOAT);
  row = in_i32(CUDNN_POINTWISE_ADD, row, kv_lens_);
  row = in_i32(CUDNN_POINTWISE_SUB, row, q_lens_);
  if (shape_.sees_ahead) {
    row = in_i32(CUDNN_POINTWISE_ADD, row, builder_.number(kKeysAhead, CUDNN_DATA_INT32));
  }
  const Tensor stays = builder_.pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, key);
  return builder_.select(logits, masked_, stays);
}

/// Hides keys before the window: key + keys_before - kv_len + q_len > row stays.
Tensor Attention::mask_before(const Tensor& logits) {
  const Tensor row = builder_.places(logits, 2, CUDNN_DATA_FLOAT);
  Tensor key = builder_.places(logits, 3, CUDNN_DATA_FLOAT);
  key = in_i32(CUDNN_POINTWISE_ADD, key, builder_.number(kKeysBefore, CUDNN_DATA_INT32));
  key = in_i32(CUDNN_POINTWISE_SUB, key, kv_lens_);
  key = in_i32(CUDNN_POINTWISE_ADD, key, q_lens_);
  const Tensor stays = builder_.pointwise(CUDNN_POINTWISE_CMP_GT, CUDNN_DATA_BOOLEAN, key, row);
  return builder_.select(logits, masked_, stays);
}

/// Weights in the inputs' type, and the LSE.
Tensor Attention::softmax(const Tensor& logits) {
  Tensor highest = builder_.reduce(CUDNN_REDUCE_TENSOR_MAX, logits);
  Tensor sinks;
  if (shape_.sinks) {
    const std::int64_t heads = shape_.heads_q;
    sinks = builder_.tensor(kSinks, CUDNN_DATA_FLOAT, {1, heads, 1, 1}, {heads, 1, 1, 1});
    highest = builder_.pointwise(CUDNN_POINTWISE_MAX, CUDNN_DATA_FLOAT, highest, sinks);
  }
  const Tensor exponents =
      builder_.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, logits, highest);
  const Tensor weights = builder_.pointwise(CUDNN_POINTWISE_EXP, exponents);
  Tensor of_sinks;
  if (shape_.sinks) {
    of_sinks = builder_.inner(CUDNN_DATA_FLOAT, highest.dims);
    builder_.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, sinks, &highest, nullptr, of_sinks);
    of_sinks = builder_.pointwise(CUDNN_POINTWISE_EXP, of_sinks);
  }
  Tensor sum = builder_.reduce(CUDNN_REDUCE_TENSOR_ADD, weights);
  if (shape_.sinks) sum = builder_.pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, sum, of_sinks);
  const Tensor log = builder_.pointwise(CUDNN_POINTWISE_LOG, sum);
  const Tensor lse = rows(kLse, kRaggedLse, CUDNN_DATA_FLOAT, 1, shape_.lse);
  builder_.pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, highest, &log, nullptr, lse);
  const Tensor rounded = builder_.inner(type_, logits.dims);
  if (!shape_.scales_values) {
    builder_.pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, weights, &sum, nullptr, rounded);
    return rounded;
  }
  // As dropout's factor is, which cuDNN takes here: with it behind the second product, it has no
  // kernel.
  const Tensor normal = builder_.pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, weights, sum);
  const Tensor scale = builder_.number(kValueScale, CUDNN_DATA_FLOAT);
  builder_.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, normal, &scale, nullptr, rounded);
  return rounded;
}

std::vector<Descriptor> Attention::build(cudnnHandle_t handle) {
  const AttentionShape& s = shape_;
  const Tensor q = rows(kQ, kRaggedQ, type_, s.head_dim_qk, s.q);
  const Tensor k = keys(kK, kPageTableOfK, kRaggedK, s.head_dim_qk, s.k);
  const Tensor products =
      builder_.inner(CUDNN_DATA_FLOAT, {s.requests, s.heads_q, s.q_len, s.kv_len});
  builder_.matmul(q, k, products, q_lens_, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC,
                  kv_lens_);
  Tensor logits = builder_.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, products,
                                     builder_.number(kScale, CUDNN_DATA_FLOAT));
  logits = mask_lengths(logits);
  if (s.hides_ahead) logits = mask_ahead(logits);
  if (s.hides_before) logits = mask_before(logits);
  const Tensor weights = softmax(logits);
  const Tensor v = keys(kV, kPageTableOfV, kRaggedV, s.head_dim_v, s.v);
  const Tensor out = rows(kOut, kRaggedOut, type_, s.head_dim_v, s.out);
  builder_.matmul(weights, v, out, q_lens_, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC,
                  kv_lens_);
  return builder_.finish(handle);
}

}  // namespace

std::vector<Descriptor> attention_graph(const AttentionShape& shape, cudnnHandle_t handle) {
  return Attention(shape).build(handle);
}

}  // namespace attnbench::cudnn
