// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What is said of single rows that other keys, values or logits give.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/batch/chosen_keys.h"
#include "lib/batch/draft_tree.h"
#include "lib/scenario/problem_of.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/likely_cause.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

/// Keys that a row reads in place of its own.
struct ReadKeys {
  std::int64_t request = 0;
  int kv_head = 0;
  std::vector<std::int64_t> places;
  int v_head = -1;  ///< KV head of the values; -1: kv_head
};

/// Row of f32 and its LSE that the query of `id` gives over `keys`.
std::vector<float> row_over_keys(const Case& c, const Contents& contents, const RowId& id,
                                 const ReadKeys& keys) {
  const auto width = static_cast<std::size_t>(c.layer.head_dim_qk);
  const auto width_v = static_cast<std::size_t>(c.layer.head_dim_v);
  std::vector<float> q(width), k(width), v(width_v), row;
  contents.q_row(id.request, id.token, id.head, q);
  double sum = 0;
  std::vector<double> out(width_v);
  for (const std::int64_t key : keys.places) {
    contents.k_row(keys.request, key, keys.kv_head, k);
    double dot = 0;
    for (std::size_t d = 0; d < width; ++d) dot += static_cast<double>(q[d] * k[d]);
    const double weight = std::exp(c.layer.scale * dot);
    sum += weight;
    contents.v_row(keys.request, key, keys.v_head < 0 ? keys.kv_head : keys.v_head, v);
    for (std::size_t d = 0; d < width_v; ++d) out[d] += weight * static_cast<double>(v[d]);
  }
  for (const double value : out) row.push_back(static_cast<float>(value / sum));
  row.push_back(static_cast<float>(std::log(sum)));
  return row;
}

std::vector<std::int64_t> first_keys(std::int64_t count) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(count));
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

class CauseOfPlainRow : public testing::Test {
 protected:
  CauseOfPlainRow() : case_(small_plain_decode()) {
    case_.layer.heads_q = 12;
    case_.layer.heads_kv = 3;
  }
  [[nodiscard]] std::string cause(const std::vector<float>& row, int head = 1) const {
    const Numerics numerics = MutantBackend(Fault::kNone).numerics(problem_of(case_));
    return likely_cause(case_, contents_, numerics, {.request = 2, .token = 0, .head = head},
                        std::as_bytes(std::span(row)));
  }
  [[nodiscard]] std::vector<float> row_of(int head, int kv_head) const {
    return row_of_request(2, case_.requests[2].kv_len, head, kv_head);
  }
  [[nodiscard]] std::vector<float> row_of_request(std::int64_t request, std::int64_t keys,
                                                  int head = 1, int kv_head = 0) const {
    return row_over_keys(case_, contents_, {.request = 2, .token = 0, .head = head},
                         {request, kv_head, first_keys(keys)});
  }

  Case case_;
  Contents contents_{case_, Fill::kNormal};
};

TEST_F(CauseOfPlainRow, names_another_kv_head_and_the_mapping_that_leads_to_it) {
  EXPECT_EQ(cause(row_of(5, 2), 5),
            "KV head 2 for query head 5 instead of 1, 5 % 3 in place of 5 / 4");
  EXPECT_EQ(cause(row_of(5, 0), 5),
            "KV head 0 for query head 5 instead of 1, as with KV head 0 for all");
  EXPECT_EQ(
      cause(row_of(6, 0), 6),
      "KV head 0 for query head 6 instead of 1, 6 % 3 in place of 6 / 4, as with KV head 0 for "
      "all");
  EXPECT_EQ(cause(row_of(8, 1), 8), "KV head 1 for query head 8 instead of 2");
  EXPECT_EQ(cause(row_of(5, 1), 6), "") << "another query";
}

TEST_F(CauseOfPlainRow, names_the_request_whose_keys_were_read) {
  const std::string where =
      " instead of its own, as with another's row of the request table, or another's entries of "
      "kv_indptr";
  EXPECT_EQ(cause(row_of_request(3, 9)), "the keys of request 3" + where) << "all that it has";
  EXPECT_EQ(cause(row_of_request(4, 8)), "the keys of request 4" + where) << "as many as its own";
  EXPECT_EQ(cause(row_of_request(4, 20)), "") << "neither";
}

TEST_F(CauseOfPlainRow, names_zeros) {
  std::vector<float> zeros = row_of(1, 0);
  std::fill(zeros.begin(), zeros.end() - 1, 0.0f);
  EXPECT_EQ(cause(zeros), "zeros in place of outputs, beside the right LSE");
  zeros.back() = 0;
  EXPECT_EQ(cause(zeros), "zeros in place of outputs and LSEs");
}

TEST_F(CauseOfPlainRow, names_what_was_never_written) {
  const float poison = std::bit_cast<float>(0xffffffffu);
  std::vector<float> row = row_of(1, 0);
  row.back() = poison;
  EXPECT_THAT(cause(row),
              HasSubstr("an LSE that was never written; a kernel that gives none says"));
  row = std::vector<float>(row.size(), poison);
  row.back() = 1;
  EXPECT_EQ(cause(row), "an output that was never written");
  row.back() = std::nanf("");
  EXPECT_THAT(cause(row), HasSubstr("a slot read that no request owns"));
}

/// The row with its logits times `factor`, as a kernel would have written it.
std::vector<float> row_with_factor(const Case& c, const Contents& contents, double factor) {
  const RowId id{.request = 2, .token = 0, .head = 1};
  Case scaled = c;
  scaled.layer.scale *= factor;
  const ReferenceRow row = reference::evaluate_rows(scaled, contents, {&id, 1}).front();
  std::vector<float> got(row.out.begin(), row.out.end());
  got.push_back(static_cast<float>(row.lse));
  return got;
}

TEST_F(CauseOfPlainRow, names_the_factor_that_logits_are_off_by) {
  case_.requests[2].kv_len = 40;
  const auto named = [&](double factor) {
    return cause(row_with_factor(case_, contents_, factor));
  };
  EXPECT_EQ(named(std::sqrt(0.5)),
            "logits 0.707 times as large (scale 1/sqrt(64) for 1/sqrt(32)?)");
  EXPECT_EQ(named(std::log(2.0)),
            "logits 0.693 times as large (exp2 of logits that were not multiplied by log2(e)?)");
  EXPECT_EQ(named(1 / std::sqrt(32.0)),
            "logits 0.177 times as large (the scale applied twice, 1/32 for 1/sqrt(32)?)");
  EXPECT_EQ(named(1.2345), "logits 1.23 times as large");
  EXPECT_EQ(named(0.05), "logits 0.05 times as large");
}

TEST_F(CauseOfPlainRow, names_no_factor_where_the_lse_only_is_wrong) {
  std::vector<float> row = row_with_factor(case_, contents_, 1);
  row.back() *= 1.1f;
  EXPECT_EQ(cause(row), "");
}

TEST_F(CauseOfPlainRow, names_the_kv_head_whose_values_were_read) {
  const RowId id{.request = 2, .token = 0, .head = 5};  // of KV head 1
  const auto with_v_of = [&](int v_head) {
    const auto keys = first_keys(case_.requests[2].kv_len);
    return row_over_keys(case_, contents_, id, {2, 1, keys, v_head});
  };
  EXPECT_EQ(cause(with_v_of(0), 5),
            "V of KV head 0 for query head 5 instead of 1, as with KV head 0 for all");
  EXPECT_EQ(cause(with_v_of(2), 5),
            "V of KV head 2 for query head 5 instead of 1, 5 % 3 in place of 5 / 4");
}

/// What likely_cause() says of a node's row that sees what `mask` shows from `begin` on.
std::string cause_of_mask_from(const Case& c, const RowId& id, std::int64_t begin) {
  std::vector<std::vector<int>> parents;
  std::vector<std::int32_t> prefixes;
  for (const Request& request : c.requests) {
    parents.push_back(request.tree_parents);
    prefixes.push_back(static_cast<std::int32_t>(request.prefix_len()));
  }
  const std::vector<std::uint8_t> mask = full_mask(parents, prefixes);
  ReadKeys keys{id.request, id.head / c.layer.group_size(), {}};
  for (const std::int64_t key :
       first_keys(c.requests[static_cast<std::size_t>(id.request)].kv_len)) {
    if (mask[static_cast<std::size_t>(begin + key)] != 0) keys.places.push_back(key);
  }
  const Contents contents(c, Fill::kNormal);
  const std::vector<float> row = row_over_keys(c, contents, id, keys);
  return likely_cause(c, contents, {}, id, std::as_bytes(std::span(row)));
}

TEST(LikelyCause, of_a_tree_mask_of_another_size_or_place_is_named) {
  Case c = small_tree_verify();
  c.dtype = DType::kF32;
  c.kv_cache.dtype = DType::kF32;
  const RowId id{.request = 4, .token = 4, .head = 5};
  std::int64_t begin = 0;  // of the request's mask
  for (const Request& r : std::span(c.requests).first(4)) begin += r.q_len * r.kv_len;
  const Request& request = c.requests[4];
  EXPECT_EQ(cause_of_mask_from(c, id, begin + id.token * request.kv_len), "") << "its own";
  EXPECT_EQ(cause_of_mask_from(c, id, begin + id.token * request.q_len),
            "a tree mask read with rows of q_len entries, where FULL_MASK has kv_len");
  EXPECT_EQ(cause_of_mask_from(c, id, begin + id.token * request.prefix_len()),
            "a tree mask read with rows as long as the prefix, without the draft's tokens");
  EXPECT_EQ(cause_of_mask_from(c, id, id.token * request.kv_len),
            "the tree mask of request 0 for all: mask_indptr left out");
}

/// What likely_cause() says of a row whose query reads these keys, without scales.
std::string cause_of_read_keys(const Case& c, const RowId& id,
                               const std::vector<std::int64_t>& keys) {
  const Contents contents(c, Fill::kNormal);
  std::vector<float> row =
      row_over_keys(c, contents, id, {id.request, id.head / c.layer.group_size(), keys});
  const float lse = row.back();
  row.pop_back();
  const auto step = to_size(size_bytes(c.out_dtype()));
  std::vector<std::byte> got(row.size() * step + sizeof(float));
  for (std::size_t d = 0; d < row.size(); ++d) store(c.out_dtype(), &got[d * step], row[d]);
  store(DType::kF32, &got[row.size() * step], lse);
  return likely_cause(c, contents, {}, id, got);
}

TEST(LikelyCause, of_single_keys_of_a_list_is_named) {
  // Token 5 of 33 behind 64: at 69, in unit 17 of 4 keys, which is its own and has two before it.
  const RowId id{.request = 0, .token = 5, .head = 1};
  Case chunk = small_chunked_mixed();
  chunk.requests.resize(1);
  const Case c = with_selection(chunk, {.topk = 10, .unit = 4});
  const ChosenKeys lists = choose_keys(c.layer, 69, 1, c.requests[0].selection_seed);
  std::vector<std::int64_t> right, unit_as_key;
  for (const std::int64_t entry : lists.list(0, 0)) {
    unit_as_key.push_back(entry);
    for (std::int64_t key = 4 * entry; key < 4 * entry + 4 && key <= 69; ++key) {
      right.push_back(key);
    }
  }
  EXPECT_EQ(cause_of_read_keys(c, id, right), "");
  EXPECT_EQ(cause_of_read_keys(c, id, unit_as_key),
            "entries of a list read as keys instead of units");
  std::vector<std::int64_t> keys = right;
  keys.insert(keys.end(), {70, 71});
  EXPECT_EQ(cause_of_read_keys(c, id, keys), "no causal mask");
  keys = right;
  std::erase(keys, 69);
  EXPECT_EQ(cause_of_read_keys(c, id, keys), "a list without the query's own key");
  keys = right;
  const std::int64_t last = lists.list(0, 0).back();
  std::erase_if(keys, [&](std::int64_t key) { return key / 4 == last; });
  EXPECT_EQ(cause_of_read_keys(c, id, keys), "a list without its last entry");

  const Case missing = with_selection(chunk, {.topk = 90, .padding = SelectionPadding::kFront});
  keys.resize(70);
  std::iota(keys.begin(), keys.end(), 0);
  keys.insert(keys.end(), 20, 0);
  EXPECT_EQ(cause_of_read_keys(missing, id, keys), "an entry of -1 read as the first key");
}

}  // namespace
}  // namespace attnbench
