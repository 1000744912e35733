// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/delta_net_rows.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <set>
#include <tuple>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "reference/gated_delta_net.h"

namespace attnbench::reference {
namespace {

/// Rows of one (request, value head); `rows` indexes the caller's.
struct DeltaNetRun {
  std::int64_t request = 0;
  int head = 0;
  std::vector<std::size_t> rows;
};

/// The last of its request's tokens that a row follows from; -1: none.
std::int64_t last_token_of(const Case& c, const RowId& row) {
  const bool of_step = row.state_row >= 0 && c.mode != ForwardMode::kTargetVerify;
  return of_step ? c.requests[static_cast<std::size_t>(row.request)].q_len - 1 : row.token;
}

/// The token whose state token `t` goes on from, -1 where that is the state before the step: of a
/// draft tree the parent, else the token before.
std::int64_t token_before(const Request& request, std::int64_t t) {
  return request.tree_parents.empty() ? t - 1 : request.tree_parents[static_cast<std::size_t>(t)];
}

std::vector<DeltaNetRun> runs_of(const Case& c, std::span<const RowId> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::tuple(rows[i].request, rows[i].head, last_token_of(c, rows[i]));
  });
  std::vector<DeltaNetRun> runs;
  for (const std::size_t i : order) {
    const RowId& row = rows[i];
    if (runs.empty() || runs.back().request != row.request || runs.back().head != row.head) {
      runs.push_back({row.request, row.head, {}});
    }
    runs.back().rows.push_back(i);
  }
  return runs;
}

/// Reads one (request, value head) from the contents.
class DeltaNetReader {
 public:
  DeltaNetReader(const Case& c, const Contents& contents, std::int64_t request, int head)
      : contents_(&contents),
        request_(request),
        prefix_(c.requests[static_cast<std::size_t>(request)].prefix_len()),
        head_(head),
        key_head_(head / c.layer.group_size()),
        key_(c.layer.head_dim_qk),
        value_(c.layer.head_dim_v),
        gate_(c.layer.gate_dims()),
        skip_(c.layer.has_skip() ? double{Contents::skip(head)} : 0) {}

  [[nodiscard]] Eigen::MatrixXd state() {
    Eigen::MatrixXd state(key_.size(), value_.size());
    for (int d = 0; d < static_cast<int>(key_.size()); ++d) {
      contents_->state_row(request_, head_, d, span_of(value_));
      state.row(d) = value_.cast<double>().transpose();
    }
    return state;
  }

  [[nodiscard]] DeltaNetToken token(std::int64_t t) {
    DeltaNetToken token;
    contents_->q_row(request_, t, key_head_, span_of(key_));
    token.q = key_.cast<double>();
    contents_->k_row(request_, prefix_ + t, key_head_, span_of(key_));
    token.k = key_.cast<double>();
    contents_->v_row(request_, prefix_ + t, head_, span_of(value_));
    token.v = value_.cast<double>().transpose();
    contents_->gate_row(request_, prefix_ + t, head_, span_of(gate_));
    token.g = gate_.size() == 1 ? Eigen::ArrayXd::Constant(key_.size(), double{gate_[0]})
                                : Eigen::ArrayXd(gate_.cast<double>());
    token.skip = skip_;
    token.beta = static_cast<double>(contents_->beta(request_, prefix_ + t, head_));
    return token;
  }

 private:
  static std::span<float> span_of(Eigen::VectorXf& row) {
    return {row.data(), static_cast<std::size_t>(row.size())};
  }

  const Contents* contents_;
  std::int64_t request_, prefix_;
  int head_, key_head_;
  Eigen::VectorXf key_, value_, gate_;
  double skip_;
};

std::vector<double> to_vector(const Eigen::RowVectorXd& row) {
  return {row.data(), row.data() + row.size()};
}

ReferenceRow result(const RowId& id, const Eigen::RowVectorXd& out, const Eigen::RowVectorXd& error,
                    const Eigen::RowVectorXd& noise) {
  ReferenceRow row;
  row.id = id;
  row.out = to_vector(out);
  row.a = to_vector(error);
  row.b = to_vector(noise);
  return row;
}

void evaluate_run(const Case& c, const Contents& contents, const DeltaNetRun& run,
                  std::span<const RowId> ids, std::vector<ReferenceRow>& results) {
  DeltaNetReader reader(c, contents, run.request, run.head);
  const Request& request = c.requests[static_cast<std::size_t>(run.request)];
  GatedDeltaNet net(reader.state(), c.layer.scale, c.layer.is_delta_net());
  std::int64_t at = -1;  // the net's last token
  std::vector<std::int64_t> path;
  for (const std::size_t index : run.rows) {  // by the token that they follow from
    const RowId& id = ids[index];
    const std::int64_t last = last_token_of(c, id);
    path.clear();
    std::int64_t t = last;
    for (; t >= 0 && t != at; t = token_before(request, t)) path.push_back(t);
    // On another branch of a tree than the row before: once more from the root.
    if (t != at) net = GatedDeltaNet(reader.state(), c.layer.scale, c.layer.is_delta_net());
    std::ranges::reverse(path);
    for (const std::int64_t token : path) net.step(reader.token(token));
    at = last;
    results[index] = id.state_row >= 0 ? result(id, net.state().row(id.state_row),
                                                net.state_error(), net.state_noise())
                                       : result(id, net.out(), net.out_error(), net.out_noise());
  }
}

void check_delta_net_rows(const Case& c, std::span<const RowId> rows) {
  for (const RowId& row : rows) {
    expects(row.request >= 0 && row.request < std::ssize(c.requests) && row.head >= 0 &&
                row.head < c.layer.heads_out() && row.state_row < c.layer.head_dim_qk &&
                row.token >= 0 &&
                ((row.state_row >= 0 && c.mode != ForwardMode::kTargetVerify) ||
                 row.token < c.requests[static_cast<std::size_t>(row.request)].q_len),
            "the row is one of the case's");
  }
}

/// The first token that goes on from another one than the token before; q_len where there is none.
std::int64_t first_branch(const Request& request) {
  std::int64_t t = 0;
  while (t < request.q_len && token_before(request, t) == t - 1) ++t;
  return t;
}

/// Up to `most` tokens, the dangerous ones first.
std::set<std::int64_t> tokens_to_see(const Request& request, std::int64_t most,
                                     std::uint64_t seed) {
  const std::int64_t q_len = request.q_len;
  constexpr std::int64_t kChunk = 64;  // of chunked kernels (fla/ops/gated_delta_rule/chunk.py)
  std::set<std::int64_t> tokens;
  const auto add = [&](std::int64_t token) {
    if (token >= 0 && token < q_len && std::ssize(tokens) < most) tokens.insert(token);
  };
  const std::int64_t last_chunk = (q_len - 1) / kChunk * kChunk;
  for (const std::int64_t token : {std::int64_t{0}, q_len - 1, first_branch(request), kChunk,
                                   last_chunk, kChunk - 1, last_chunk - 1, std::int64_t{1}}) {
    add(token);
  }
  most = std::min(most, q_len);
  for (std::uint64_t draw = 0; std::ssize(tokens) < most; ++draw) {
    add(static_cast<std::int64_t>(combine(seed, draw) % static_cast<std::uint64_t>(q_len)));
  }
  return tokens;
}

}  // namespace

std::int64_t delta_net_memory_need(const Case& c, int threads) {
  constexpr std::int64_t kCopies = 3;  // the state and what Eigen makes beside it
  return kCopies * threads * c.layer.head_dim_qk * c.layer.head_dim_v *
         static_cast<std::int64_t>(sizeof(double));
}

std::vector<ReferenceRow> evaluate_delta_net_rows(const Case& c, const Contents& contents,
                                                  std::span<const RowId> rows) {
  check_delta_net_rows(c, rows);
  const std::vector<DeltaNetRun> runs = runs_of(c, rows);
  std::vector<ReferenceRow> results(rows.size());
  std::exception_ptr failure;  // must not leave the parallel region on its own
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < runs.size(); ++i) {
    try {
      evaluate_run(c, contents, runs[i], rows, results);
    } catch (...) {
#pragma omp critical(attnbench_reference_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return results;
}

std::vector<RowId> sample_delta_net_rows(const Case& c, std::int64_t budget) {
  const int heads = c.layer.heads_out(), dims = c.layer.head_dim_qk;
  const std::int64_t requests = std::max<std::int64_t>(std::ssize(c.requests), 1);
  // A run gives this many rows at least: tokens, and as many rows of the state.
  constexpr std::int64_t kFewest = 8;
  const std::int64_t share = std::max(budget / requests, kFewest);
  const auto heads_each = static_cast<int>(std::clamp<std::int64_t>(share / kFewest, 1, heads));
  const std::int64_t rows_each = share / heads_each;
  std::vector<RowId> rows;
  int next_head = 0;
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    std::vector<int> chosen;
    for (int i = 0; i < heads_each; ++i) chosen.push_back(next_head++ % heads);
    std::ranges::sort(chosen);
    for (const int head : chosen) {
      const Request& request = c.requests[static_cast<std::size_t>(r)];
      const std::uint64_t seed = combine(combine(mix64(c.seed), static_cast<std::uint64_t>(r)),
                                         static_cast<std::uint64_t>(head));
      std::set<std::int64_t> tokens;
      if (request.q_len > 0) tokens = tokens_to_see(request, (rows_each + 1) / 2, seed);
      for (const std::int64_t token : tokens) rows.push_back({r, token, head});
      const std::int64_t state_rows = std::min<std::int64_t>(rows_each - rows_each / 2, dims);
      std::set<std::int64_t> picked{0, dims - 1};
      for (std::uint64_t draw = 0; std::ssize(picked) < state_rows; ++draw) {
        picked.insert(
            static_cast<std::int64_t>(combine(seed ^ 1, draw) % static_cast<std::uint64_t>(dims)));
      }
      // Of a target_verify each token leaves a state: they take turns, the dims with them.
      if (c.mode != ForwardMode::kTargetVerify) tokens = {0};
      auto token = tokens.begin();
      for (const std::int64_t d : picked) {
        rows.push_back({r, *token, head, static_cast<int>(d)});
        if (++token == tokens.end()) token = tokens.begin();
      }
    }
  }
  return rows;
}

}  // namespace attnbench::reference
