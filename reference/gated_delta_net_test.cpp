// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/gated_delta_net.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "lib/base/counter_hash.h"
#include "lib/contents/contents.h"
#include "reference/oracle.h"

namespace attnbench::reference {
namespace {

using Tokens = std::vector<DeltaNetToken>;

/// K = 2, V = 1. Keys of norm 1 come out of the normalisation as they went in, up to its eps.
Tokens three_steps(double second_gate) {
  const auto token = [](double q0, double q1, double k0, double k1, double v, double g,
                        double beta) {
    DeltaNetToken t;
    t.q = Eigen::Vector2d(q0, q1);
    t.k = Eigen::Vector2d(k0, k1);
    t.v = Eigen::RowVectorXd::Constant(1, v);
    t.g = Eigen::ArrayXd::Constant(2, g);
    t.beta = beta;
    return t;
  };
  return {token(1, 0, 1, 0, 2, 0, 1), token(1, 0, 0.6, 0.8, 1, second_gate, 0.5),
          token(0, 1, 1, 0, 4, 0, 1)};
}

TEST(GatedDeltaNet, gives_the_figures_of_three_steps_by_hand) {
  struct Expected {
    double gate;
    std::vector<double> out;
    double states[3][2];  // behind each token, of which a draft keeps all
  };
  for (const Expected& expected :
       {Expected{std::log(0.5), {2, 1.12, 0.16}, {{2, 0}, {1.12, 0.16}, {4, 0.16}}},
        Expected{0, {2, 1.94, -0.08}, {{2, 0}, {1.94, -0.08}, {4, -0.08}}}}) {
    GatedDeltaNet net(Eigen::MatrixXd::Zero(2, 1), 1);
    std::size_t i = 0;
    for (const DeltaNetToken& token : three_steps(expected.gate)) {
      net.step(token);
      EXPECT_NEAR(net.out()(0), expected.out[i], 1e-5);  // the eps of two norms, 5e-7 each
      EXPECT_NEAR(net.state()(0, 0), expected.states[i][0], 1e-5);
      EXPECT_NEAR(net.state()(1, 0), expected.states[i][1], 1e-5);
      ++i;
    }
  }
}

/// semantics: two steps without a norm; keys of norm 1 come out as they went in, and q [1, 1] is
/// given as the scale sqrt(2) of the normalised one.
TEST(KimiDelta, gives_the_figures_of_two_steps_by_hand) {
  GatedDeltaNet net(Eigen::MatrixXd::Zero(2, 1), std::sqrt(2.0));
  DeltaNetToken token;
  token.q = Eigen::Vector2d(1, 1);
  token.k = Eigen::Vector2d(0.6, 0.8);
  token.v = Eigen::RowVectorXd::Constant(1, 5);
  token.g = Eigen::Array2d(0, 0);
  token.beta = 1;
  net.step(token);
  EXPECT_NEAR(net.out()(0), 7, 1e-5);
  token.k = Eigen::Vector2d(1, 0);
  token.v(0) = 1;
  token.g = Eigen::Array2d(-2.5, -3.6552928932);
  token.beta = 0.5;
  net.step(token);
  EXPECT_NEAR(net.out()(0), 0.7265431884, 1e-5);
  EXPECT_NEAR(net.state()(0, 0), 0.6231274743, 1e-5);
  EXPECT_NEAR(net.state()(1, 0), 0.1034157141, 1e-5);
}

/// semantics of Mamba-2: A = -1, D = 0.1 and steps of softplus 0 and 1.
TEST(Mamba2, gives_the_figures_of_two_steps_by_hand) {
  GatedDeltaNet net(Eigen::MatrixXd::Zero(1, 1), 1, false);
  DeltaNetToken token;
  token.skip = 0.1;
  const auto step = [&](double x, double b, double c, double delta) {
    token.q = Eigen::VectorXd::Constant(1, c);
    token.k = Eigen::VectorXd::Constant(1, b);
    token.v = Eigen::RowVectorXd::Constant(1, x);
    token.g = Eigen::ArrayXd::Constant(1, -delta);
    token.beta = delta;
    net.step(token);
  };
  step(1, 1, 1, 0.6931471806);
  EXPECT_NEAR(net.state()(0, 0), 0.6931471806, 1e-9);
  EXPECT_NEAR(net.out()(0), 0.7931471806, 1e-9);
  step(2, 1, 0.5, 1.3132616875);
  EXPECT_NEAR(net.state()(0, 0), 2.8129393630, 1e-9);
  EXPECT_NEAR(net.out()(0), 1.6064696815, 1e-9);
}

/// Lightning attention without a 1/sqrt(d): decays of a head, values as they are.
TEST(Lightning, adds_values_under_keys_as_they_are) {
  GatedDeltaNet net(Eigen::MatrixXd::Zero(2, 1), 1, false);
  DeltaNetToken token;
  token.q = Eigen::Vector2d(1, 2);
  token.k = Eigen::Vector2d(3, 1);
  token.v = Eigen::RowVectorXd::Constant(1, 5);
  token.g = Eigen::ArrayXd::Constant(2, -std::log(2.0));
  token.beta = 1;
  net.step(token);
  EXPECT_NEAR(net.out()(0), 25, 1e-12);
  net.step(token);
  EXPECT_NEAR(net.out()(0), 12.5 + 25, 1e-12);
}

TEST(GatedDeltaNet, normalises_by_the_root_of_the_squares_and_an_eps) {
  EXPECT_NEAR(l2_normalised(Eigen::Vector2d(3, 4))(1), 4 / std::sqrt(25 + 1e-6), 1e-15);
  EXPECT_EQ(l2_normalised(Eigen::Vector2d(0, 0))(0), 0);
}

/// With one decay for all key dims, or with `decays_apart` one each.
Tokens random_tokens(int count, int dk, int dv, bool decays_apart = false) {
  Tokens tokens;
  for (int t = 0; t < count; ++t) {
    DeltaNetToken token;
    token.q.resize(dk);
    token.k.resize(dk);
    token.v.resize(dv);
    const auto draw = [&](Role role, int d) {
      return static_cast<double>(
          normal_element(row_key(7, role, 0, t, 0), static_cast<std::uint32_t>(d)));
    };
    for (int d = 0; d < dk; ++d) {
      token.q(d) = draw(Role::kQ, d);
      token.k(d) = draw(Role::kK, d) + 0.5;  // keys that resemble one another
    }
    for (int d = 0; d < dv; ++d) token.v(d) = draw(Role::kV, d);
    token.g.resize(dk);
    for (int d = 0; d < dk; ++d) {
      const int drawn = decays_apart ? d : 0;
      token.g(d) = (t + drawn) % 17 == 5 ? -80 : -0.1 * std::fabs(draw(Role::kGate, drawn));
    }
    token.beta = 0.5 + 0.14 * draw(Role::kBeta, 0);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// The chunked (WY) form of the same rule: one linear system a chunk instead of one update a token.
/// With gamma_i the sum of the log decays up to i, a vector over the key dims like k_i,
///   (I + A) W = beta (V - (e^gamma K) S0),  A_ij = beta_i k_i . (e^(gamma_i - gamma_j) k_j), j < i
///   O_i = scale ((e^gamma_i q_i)^T S0 + sum_(j <= i) q_i . (e^(gamma_i - gamma_j) k_j) w_j)
///   S1 = e^gamma_C S0 + sum_j (e^(gamma_C - gamma_j) k_j) w_j^T
Eigen::MatrixXd chunked(const Tokens& tokens, std::size_t chunk, double scale,
                        Eigen::MatrixXd& state) {
  Eigen::MatrixXd out(static_cast<Eigen::Index>(tokens.size()), state.cols());
  for (std::size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const auto n = static_cast<Eigen::Index>(std::min(chunk, tokens.size() - begin));
    Eigen::MatrixXd q(n, state.rows()), k(n, state.rows()), v(n, state.cols());
    Eigen::ArrayXXd gamma(n, state.rows());
    Eigen::VectorXd beta(n);
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(state.rows());
    for (Eigen::Index i = 0; i < n; ++i) {
      const DeltaNetToken& t = tokens[begin + static_cast<std::size_t>(i)];
      q.row(i) = t.q.transpose() / std::sqrt(t.q.dot(t.q) + 1e-6);
      k.row(i) = t.k.transpose() / std::sqrt(t.k.dot(t.k) + 1e-6);
      v.row(i) = t.v;
      sum += t.g;
      gamma.row(i) = sum;
      beta(i) = t.beta;
    }
    const auto since = [&](Eigen::Index i, Eigen::Index j) -> Eigen::RowVectorXd {
      return (gamma.row(i) - gamma.row(j)).exp().matrix().cwiseProduct(k.row(j));
    };
    const auto from_start = [&](Eigen::Index i, const auto& row) -> Eigen::RowVectorXd {
      return gamma.row(i).exp().matrix().cwiseProduct(row) * state;
    };
    Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n);
    Eigen::MatrixXd right = v;
    for (Eigen::Index i = 0; i < n; ++i) {
      right.row(i) = beta(i) * (v.row(i) - from_start(i, k.row(i)));
      for (Eigen::Index j = 0; j < i; ++j) {
        system(i, j) = beta(i) * k.row(i).dot(since(i, j));
      }
    }
    const Eigen::MatrixXd w = system.partialPivLu().solve(right);
    Eigen::MatrixXd next = state;
    next.array().colwise() *= gamma.row(n - 1).exp().transpose();
    for (Eigen::Index i = 0; i < n; ++i) {
      Eigen::RowVectorXd row = from_start(i, q.row(i));
      for (Eigen::Index j = 0; j <= i; ++j) row += q.row(i).dot(since(i, j)) * w.row(j);
      out.row(static_cast<Eigen::Index>(begin) + i) = scale * row;
      next += since(n - 1, i).transpose() * w.row(i);
    }
    state = next;
  }
  return out;
}

class DeltaNetForms : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Decays, DeltaNetForms, testing::Bool());

TEST_P(DeltaNetForms, are_one_token_by_token_and_in_chunks) {
  const Tokens tokens = random_tokens(150, 16, 12, GetParam());
  Eigen::MatrixXd start(16, 12);
  for (Eigen::Index i = 0; i < start.size(); ++i) start(i) = std::sin(static_cast<double>(i));
  GatedDeltaNet net(start, 0.25);
  Eigen::MatrixXd state = start;
  const Eigen::MatrixXd expected = chunked(tokens, 64, 0.25, state);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    net.step(tokens[t]);
    EXPECT_LT((net.out() - expected.row(static_cast<Eigen::Index>(t))).cwiseAbs().maxCoeff(), 1e-12)
        << t;
  }
  EXPECT_LT((net.state() - state).cwiseAbs().maxCoeff(), 1e-12);
}

Eigen::VectorXf normalised_f32(const Eigen::VectorXf& x) {
  return x / std::sqrt(x.squaredNorm() + 1e-6f);
}

/// The steps in f32 stay within the bound. It is wide, since it adds up the worst of every dot
/// product; the noise is not.
TEST_P(DeltaNetForms, bound_what_f32_steps_lose) {
  for (const int dims : {16, 128}) {
    const Tokens tokens = random_tokens(300, dims, dims, GetParam());
    GatedDeltaNet net(Eigen::MatrixXd::Zero(dims, dims), 0.25);
    Eigen::MatrixXf state = Eigen::MatrixXf::Zero(dims, dims);
    double worst = 0, squares = 0, count = 0;
    for (const DeltaNetToken& exact : tokens) {
      DeltaNetToken t = exact;  // of inputs that f32 holds
      t.q = exact.q.cast<float>().cast<double>();
      t.k = exact.k.cast<float>().cast<double>();
      t.v = exact.v.cast<float>().cast<double>();
      t.g = exact.g.cast<float>().cast<double>();
      t.beta = static_cast<double>(static_cast<float>(exact.beta));
      net.step(t);
      const Eigen::VectorXf q = normalised_f32(t.q.cast<float>());
      const Eigen::VectorXf k = normalised_f32(t.k.cast<float>());
      state.array().colwise() *= t.g.cast<float>().exp();
      const Eigen::RowVectorXf w =
          static_cast<float>(t.beta) * (t.v.cast<float>() - k.transpose() * state);
      state += k * w;
      const Eigen::RowVectorXf out = 0.25f * (q.transpose() * state);
      const Eigen::RowVectorXd error = out.cast<double>() - net.out();
      worst = std::max(worst, (error.cwiseAbs().array() / net.out_error().array()).maxCoeff());
      squares += (error.array() / net.out_noise().array()).square().sum();
      count += static_cast<double>(dims);
    }
    const double u = 0x1p-24;
    EXPECT_LE(worst, u) << dims;
    EXPECT_GE(worst, u / 8 / dims) << dims;
    const double noise = std::sqrt(squares / count) / u;
    EXPECT_LE(noise, 1.5) << dims;
    // Where decays differ, the noise is taken to fade as slowly as in the slowest key dim.
    EXPECT_GE(noise, GetParam() ? 0.1 : 0.2) << dims;
  }
}

Case two_requests() {
  Case c;
  c.id = "delta";
  c.seed = 3;
  c.layer = {.family = Family::kGatedDeltaNet,
             .heads_q = 2,
             .heads_kv = 6,
             .head_dim_qk = 8,
             .head_dim_v = 5,
             .scale = 0.35};
  c.dtype = DType::kF32;
  c.mode = ForwardMode::kExtend;
  c.requests.push_back({.q_len = 9, .kv_len = 9});
  c.requests.push_back({.q_len = 70, .kv_len = 100});
  return c;
}

TEST(DeltaNetRows, of_a_chunked_prompt_continue_the_state_that_the_chunk_before_left) {
  const Case whole = two_requests();
  const Contents contents(whole, Fill::kNormal);
  std::vector<RowId> rows{{0, 8, 4}, {0, 0, 4, 3}, {0, 2, 4}};
  const std::vector<ReferenceRow> all = evaluate_rows(whole, contents, rows);
  ASSERT_EQ(all[1].out.size(), 5u);
  EXPECT_EQ(all[1].id, rows[1]);
  // The last output from the last state: q^T S, with rows of the state asked for one by one.
  std::vector<RowId> state;
  for (int d = 0; d < 8; ++d) state.push_back({0, 0, 4, d});
  const std::vector<ReferenceRow> columns = evaluate_rows(whole, contents, state);
  Eigen::VectorXf q(8);
  contents.q_row(0, 8, 4 / 3, {q.data(), 8});
  const Eigen::VectorXd unit = l2_normalised(q.cast<double>());
  for (std::size_t v = 0; v < 5; ++v) {
    double sum = 0;
    for (int d = 0; d < 8; ++d) sum += 0.35 * unit(d) * columns[static_cast<std::size_t>(d)].out[v];
    EXPECT_NEAR(all[0].out[v], sum, 1e-12);
  }
}

/// The output of value head `head` behind these tokens of a request, element by element.
std::vector<double> output_by_hand(const Case& c, std::int64_t request, int head,
                                   const std::vector<std::int64_t>& tokens) {
  const Contents contents(c, Fill::kNormal);
  const int key_head = head / (c.layer.heads_kv / c.layer.heads_q);
  const auto dims = static_cast<std::size_t>(c.layer.head_dim_qk);
  const bool is_delta_net = c.layer.is_delta_net();
  const auto unit = [&](std::vector<float> row) {
    double squares = 1e-6;
    if (!is_delta_net) return std::vector<double>(row.begin(), row.end());
    for (const float x : row) squares += static_cast<double>(x) * static_cast<double>(x);
    std::vector<double> normal;
    for (const float x : row) normal.push_back(static_cast<double>(x) / std::sqrt(squares));
    return normal;
  };
  const std::int64_t prefix = c.requests[static_cast<std::size_t>(request)].prefix_len();
  std::vector<std::vector<float>> before(dims, std::vector<float>(5));
  for (int d = 0; d < c.layer.head_dim_qk; ++d) {
    contents.state_row(request, head, d, before[static_cast<std::size_t>(d)]);
  }
  std::vector<double> out;
  for (std::size_t v = 0; v < 5; ++v) {
    std::vector<double> state(dims), q;
    double last = 0;
    for (std::size_t d = 0; d < dims; ++d) state[d] = static_cast<double>(before[d][v]);
    for (const std::int64_t t : tokens) {
      std::vector<float> row(dims), value(5);
      contents.k_row(request, prefix + t, key_head, row);
      const std::vector<double> k = unit(row);
      contents.q_row(request, t, key_head, row);
      q = unit(row);
      contents.v_row(request, prefix + t, head, value);
      last = static_cast<double>(value[v]);
      std::vector<float> gates(static_cast<std::size_t>(c.layer.gate_dims()));
      contents.gate_row(request, prefix + t, head, gates);
      double held = 0;
      for (std::size_t d = 0; d < dims; ++d) {
        state[d] *= std::exp(static_cast<double>(gates[gates.size() == 1 ? 0 : d]));
        held += k[d] * state[d];
      }
      const double moved = static_cast<double>(contents.beta(request, prefix + t, head)) *
                           (static_cast<double>(value[v]) - (is_delta_net ? held : 0));
      for (std::size_t d = 0; d < dims; ++d) state[d] += k[d] * moved;
    }
    double sum = 0;
    for (std::size_t d = 0; d < dims; ++d) sum += c.layer.scale * q[d] * state[d];
    if (c.layer.family == Family::kMamba2) sum += last * 0.25 * (1 + head % 4);
    out.push_back(sum);
  }
  return out;
}

class DeltaNetFamilies : public testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(Families, DeltaNetFamilies,
                         testing::Values(Family::kGatedDeltaNet, Family::kKimiDelta,
                                         Family::kLightning, Family::kMamba2));

TEST_P(DeltaNetFamilies, read_a_prefix_s_state_and_the_step_s_own_tokens_of_their_heads) {
  Case c = two_requests();
  c.layer.family = GetParam();
  for (const int head : {0, 2, 4, 5}) {
    for (const std::vector<std::int64_t>& tokens :
         {std::vector<std::int64_t>{0}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
      const RowId id{1, tokens.back(), head};
      const ReferenceRow row = evaluate_rows(c, Contents(c, Fill::kNormal), {&id, 1}).front();
      const std::vector<double> want = output_by_hand(c, 1, head, tokens);
      for (std::size_t v = 0; v < want.size(); ++v) EXPECT_NEAR(row.out[v], want[v], 1e-12) << head;
    }
  }
}

/// A chain behind a prefix, and one behind none.
Case two_drafts() {
  Case c = two_requests();
  c.mode = ForwardMode::kTargetVerify;
  c.requests.clear();
  c.requests.push_back({.q_len = 4, .kv_len = 4});
  c.requests.push_back({.q_len = 4, .kv_len = 104});
  for (Request& request : c.requests) request.tree_parents = {-1, 0, 1, 2};
  return c;
}

TEST(DeltaNetRows, of_a_draft_are_what_a_prompt_up_to_each_token_leaves) {
  const Case draft = two_drafts();
  for (std::int64_t t = 0; t < 4; ++t) {
    Case prompt = draft;
    prompt.mode = ForwardMode::kExtend;
    for (Request& request : prompt.requests) {
      request.kv_len = request.prefix_len() + t + 1;
      request.q_len = t + 1;
      request.tree_parents.clear();
    }
    for (const std::int64_t r : {0, 1}) {
      const std::vector<RowId> here{{r, t, 5, 3}, {r, t, 5}, {r, 0, 5, 3}};
      const std::vector<RowId> there{{r, 0, 5, 3}, {r, t, 5}};
      const auto got = evaluate_rows(draft, Contents(draft, Fill::kNormal), here);
      const auto want = evaluate_rows(prompt, Contents(prompt, Fill::kNormal), there);
      for (std::size_t i = 0; i < there.size(); ++i) EXPECT_EQ(got[i].out, want[i].out) << t;
      EXPECT_EQ(got[2].out == want[0].out, t == 0) << "the state behind token 0";
    }
  }
}

TEST(DeltaNetRows, of_a_draft_are_sampled_behind_each_token) {
  const Case c = two_drafts();
  const std::vector<RowId> rows = sample_rows(c, 64);
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t t = 0; t < 4; ++t) {
      EXPECT_TRUE(std::ranges::any_of(rows,
                                      [&](const RowId& row) {
                                        return row.request == r && row.token == t &&
                                               row.state_row >= 0;
                                      }))
          << r << " " << t;
    }
  }
}

/// Trees of six nodes: a chain, and one whose branches are 0 1 3, 0 1 4 and 0 2 5.
Case two_trees() {
  Case c = two_drafts();
  for (Request& request : c.requests) {
    request.kv_len += 2;
    request.q_len = 6;
  }
  c.requests[0].tree_parents = {-1, 0, 1, 2, 3, 4};
  c.requests[1].tree_parents = {-1, 0, 0, 1, 1, 2};
  return c;
}

/// The outputs and row 3 of the states under value head 5 of request 1, node by node.
std::vector<RowId> every_node() {
  std::vector<RowId> rows;
  for (std::int64_t node = 0; node < 6; ++node) {
    rows.push_back({1, node, 5});
    rows.push_back({1, node, 5, 3});
  }
  return rows;
}

TEST(DeltaNetRows, of_a_draft_tree_go_on_from_each_node_s_parent) {
  const Case c = two_trees();
  const Contents contents(c, Fill::kNormal);
  const std::vector<ReferenceRow> rows = evaluate_rows(c, contents, every_node());
  const std::vector<std::vector<std::int64_t>> paths = {{0},       {0, 1},    {0, 2},
                                                        {0, 1, 3}, {0, 1, 4}, {0, 2, 5}};
  for (std::size_t node = 0; node < paths.size(); ++node) {
    const std::vector<double> want = output_by_hand(c, 1, 5, paths[node]);
    for (std::size_t v = 0; v < want.size(); ++v) {
      EXPECT_NEAR(rows[2 * node].out[v], want[v], 1e-12) << node;
    }
    // One by one, no row finds what another has left.
    const RowId state{1, paths[node].back(), 5, 3};
    EXPECT_EQ(evaluate_rows(c, contents, {&state, 1}).front().out, rows[2 * node + 1].out) << node;
  }
}

/// A tree whose first branch is the chain 0 1 2: its tokens have the same places.
TEST(DeltaNetRows, of_a_branch_are_those_of_the_chain_of_its_tokens) {
  Case tree = two_trees(), chain = two_trees();
  tree.requests[1].tree_parents = {-1, 0, 1, 0, 3, 1};
  chain.requests[1].tree_parents = chain.requests[0].tree_parents;
  const auto got = evaluate_rows(tree, Contents(tree, Fill::kNormal), every_node());
  const auto want = evaluate_rows(chain, Contents(chain, Fill::kNormal), every_node());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool is_of_the_chain = got[i].id.token < 3;
    EXPECT_EQ(got[i].out == want[i].out, is_of_the_chain) << i;
    EXPECT_EQ(got[i].a == want[i].a, is_of_the_chain) << i;
  }
}

TEST(DeltaNetRows, of_siblings_are_the_same_whatever_stands_between_them_and_their_parent) {
  Case many = two_trees(), star = two_trees();
  many.requests[1].tree_parents = {-1, 0, 1, 2, 3, 0};
  star.requests[1].tree_parents = {-1, 0, 0, 0, 0, 0};
  const std::vector<RowId> last{{1, 5, 5}, {1, 5, 5, 3}};
  const auto got = evaluate_rows(many, Contents(many, Fill::kNormal), last);
  const auto want = evaluate_rows(star, Contents(star, Fill::kNormal), last);
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_EQ(got[i].out, want[i].out);
}

TEST(DeltaNetRows, of_a_draft_tree_are_sampled_where_another_branch_begins) {
  Case c = two_trees();
  c.requests[1].tree_parents = {-1, 0, 1, 2, 0, 4};
  const std::vector<RowId> rows = sample_rows(c, 16);
  EXPECT_TRUE(std::ranges::any_of(
      rows, [](const RowId& row) { return row.request == 1 && row.token == 4; }));
}

TEST(DeltaNetRows, sample_meets_every_request_its_ends_and_its_state) {
  const Case c = two_requests();
  const std::vector<RowId> rows = sample_rows(c, 48);
  EXPECT_LE(rows.size(), 60u);
  for (const auto& [request_at, last] : {std::pair{0, 8}, {1, 69}}) {
    const int request = request_at;  // clang 14 captures no structured binding
    const auto has = [&](std::int64_t token, int state_row) {
      return std::ranges::any_of(rows, [&](const RowId& row) {
        return row.request == request && row.token == token && row.state_row == state_row;
      });
    };
    EXPECT_TRUE(has(0, -1));
    EXPECT_TRUE(has(last, -1));
    EXPECT_TRUE(has(0, 0));
    EXPECT_TRUE(has(0, 7));
  }
  EXPECT_EQ(evaluate_rows(c, Contents(c, Fill::kExtreme), rows).size(), rows.size());
}

}  // namespace
}  // namespace attnbench::reference
