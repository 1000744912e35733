// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "reference/visible_keys.h"

namespace attnbench {
namespace {

/// A mistake in how stored numbers in fp8 become the ones that they stand for.
struct WrongScales {
  std::string text;
  /// Of element `dim` of the key, or value, at `position` of the row's request and KV head.
  std::function<double(std::int64_t position, bool is_value, std::uint32_t dim, float stored)> kv;
  double query = 1;  ///< what the row's stored query is multiplied with
};

/// The scales that belong to a row of queries.
struct RowScales {
  const Contents* contents;
  std::int64_t request;
  int kv_head;

  [[nodiscard]] RowScale own(std::int64_t position, bool is_value) const {
    return of(request, kv_head, position, is_value);
  }
  [[nodiscard]] RowScale of(std::int64_t other_request, int head, std::int64_t position,
                            bool is_value) const {
    return is_value ? contents->v_scale(other_request, position, head)
                    : contents->k_scale(other_request, position, head);
  }
};

/// The mistakes of one row.
class ScaleMistakes {
 public:
  ScaleMistakes(const Case& c, const Contents& contents, const RowId& id)
      : case_(&c),
        contents_(&contents),
        id_(id),
        scales_{&contents, id.request, id.head / c.layer.group_size()},
        query_(contents.q_scale(id.request, id.token, id.head)) {}

  std::vector<WrongScales> all() && {
    if (size_bytes(case_->kv_cache.dtype) == 1) {
      if (are_of_blocks(case_->kv_cache.scales)) {
        add_blocks();
      } else {
        add_other_type();
        add_swapped();
        add_neighbours();
      }
    }
    if (case_->fp8.q) add_queries();
    return std::move(found_);
  }

 private:
  using Kv = decltype(WrongScales::kv);

  /// What a stored number of the row's own scale stands for.
  [[nodiscard]] Kv right() const {
    return
        [scales = scales_](std::int64_t position, bool is_value, std::uint32_t dim, float stored) {
          return static_cast<double>(stored) *
                 static_cast<double>(scales.own(position, is_value).at(dim));
        };
  }
  void add(std::string text, Kv kv) { found_.push_back({std::move(text), std::move(kv), query_}); }

  void add_other_type() {
    const DType own = case_->kv_cache.dtype;
    const DType other = own == DType::kE4M3 ? DType::kE5M2 : DType::kE4M3;
    add(fmt::format("a cache in {} read as {}", to_string(own), to_string(other)),
        [own, other, as_it_is = right()](std::int64_t position, bool is_value, std::uint32_t dim,
                                         float stored) {
          return as_it_is(position, is_value, dim, stored_value(other, storage_bits(own, stored)));
        });
  }

  void add_swapped() {
    if (case_->layer.shares_row_of_k_and_v()) return;
    add("the scales of K and V swapped", [scales = scales_](std::int64_t position, bool is_value,
                                                            std::uint32_t, float stored) {
      return static_cast<double>(stored) * static_cast<double>(scales.own(position, !is_value).all);
    });
  }

  /// Those of K and V, or of one of them, in place of the right ones.
  void add_scales_of(std::int64_t request, int head, const std::string& whose) {
    struct Part {
      const char* text;
      bool of_k, of_v;
    };
    for (const Part& part : {Part{"the scales", true, true}, Part{"K's scale", true, false},
                             Part{"V's scale", false, true}}) {
      if (case_->layer.shares_row_of_k_and_v() && part.of_k != part.of_v) continue;
      add(fmt::format("{} {}", part.text, whose),
          [scales = scales_, part, request, head](std::int64_t position, bool is_value,
                                                  std::uint32_t, float stored) {
            const bool wrong = is_value ? part.of_v : part.of_k;
            const RowScale scale = wrong ? scales.of(request, head, position, is_value)
                                         : scales.own(position, is_value);
            return static_cast<double>(stored) * static_cast<double>(scale.all);
          });
    }
  }

  void add_neighbours() {
    const KvScales kind = case_->kv_cache.scales;
    if (kind == KvScales::kTensor) return;
    const int right_head = scales_.kv_head;
    for (const int head : {0, right_head - 1, right_head + 1}) {
      if (head < 0 || head >= case_->layer.heads_kv || head == right_head) continue;
      add_scales_of(id_.request, head,
                    fmt::format("of KV head {} for KV head {}", head, right_head));
    }
    if (kind != KvScales::kRequest) return;
    for (const std::int64_t request : {std::int64_t{0}, id_.request - 1, id_.request + 1}) {
      if (!is_other_request(request)) continue;
      add_scales_of(request, right_head,
                    fmt::format("of request {} for request {}", request, id_.request));
    }
  }

  void add_blocks() {
    const BlockRow row =
        block_row(case_->kv_cache.scales, case_->layer.head_dim_v, case_->layer.head_dim_qk);
    const auto latent = static_cast<std::uint32_t>(row.scaled);
    const auto blocks = static_cast<std::uint32_t>(row.scales());
    const auto with_block = [this](auto block_of) {
      return [scales = scales_, block_of](std::int64_t position, bool is_value, std::uint32_t dim,
                                          float stored) {
        return static_cast<double>(stored) *
               static_cast<double>(block_of(scales.own(position, is_value), dim));
      };
    };
    add("the first scale of a row for all of its blocks",
        with_block([latent](const RowScale& own, std::uint32_t dim) {
          return dim < latent ? own.of_block(0) : 1.0f;
        }));
    add("scales of the next block",
        with_block([latent, blocks](const RowScale& own, std::uint32_t dim) {
          const std::uint32_t next = ((dim >> own.block_bits) + 1) % blocks;
          return dim < latent ? own.of_block(next) : 1.0f;
        }));
    add("the rope part multiplied by the last block's scale",
        with_block([latent](const RowScale& own, std::uint32_t dim) {
          return own.at(std::min(dim, latent - 1));
        }));
    if (case_->kv_cache.scales == KvScales::kGroup) return;  // which are powers of two
    add("scales of blocks cut down to powers of two",
        with_block([](const RowScale& own, std::uint32_t dim) {
          return std::bit_cast<float>(std::bit_cast<std::uint32_t>(own.at(dim)) & 0xff800000u);
        }));
  }

  void add_queries() {
    const auto scaled_by = [&](float factor, std::string text) {
      if (factor != static_cast<float>(query_)) {
        found_.push_back({std::move(text), right(), static_cast<double>(factor)});
      }
    };
    if (case_->fp8.q_scales == QScales::kTensor) return;  // a wrong rule of the logits' scale
    scaled_by(1, "Q without its scales");
    const int group = case_->layer.group_size(), heads = case_->layer.heads_q;
    for (const int head : {0, id_.head - 1, id_.head + 1, id_.head - group, id_.head + group}) {
      if (head < 0 || head >= heads) continue;
      scaled_by(contents_->q_scale(id_.request, id_.token, head),
                fmt::format("Q's scale of query head {} for query head {}", head, id_.head));
    }
    if (id_.token > 0) {
      scaled_by(contents_->q_scale(id_.request, 0, id_.head),
                "Q's scale of the request's first token for all of its tokens");
    }
    for (const std::int64_t request : {std::int64_t{0}, id_.request - 1, id_.request + 1}) {
      if (case_->fp8.q_scales != QScales::kRequest || !is_other_request(request)) continue;
      scaled_by(contents_->q_scale(request, 0, id_.head),
                fmt::format("Q's scale of request {} for request {}", request, id_.request));
    }
  }

  [[nodiscard]] bool is_other_request(std::int64_t request) const {
    return request >= 0 && request < std::ssize(case_->requests) && request != id_.request;
  }

  const Case* case_;
  const Contents* contents_;
  RowId id_;
  RowScales scales_;
  double query_;
  std::vector<WrongScales> found_;
};

/// Those that the row's case leaves room for. They refer to `contents`.
std::vector<WrongScales> wrong_scales(const Case& c, const Contents& contents, const RowId& id) {
  return ScaleMistakes(c, contents, id).all();
}

/// The row with numbers in fp8 that were read through wrong scales.
ReferenceRow evaluate_scales(const Case& c, const Contents& contents, const RowId& id,
                             const WrongScales& wrong) {
  const int kv_head = id.head / c.layer.group_size();
  const auto rows_of = [&](bool is_value) {
    return [&, is_value](std::int64_t first, Eigen::Ref<reference::RowMatrix> block) {
      std::vector<float> row(static_cast<std::size_t>(block.cols()));
      for (Eigen::Index j = 0; j < block.rows(); ++j) {
        const std::int64_t position = first + j;
        if (is_value) {
          contents.v_row(id.request, position, kv_head, row);
        } else {
          contents.k_row(id.request, position, kv_head, row);
        }
        for (std::size_t d = 0; d < row.size(); ++d) {
          block(j, static_cast<Eigen::Index>(d)) =
              wrong.kv(position, is_value, static_cast<std::uint32_t>(d), row[d]);
        }
      }
    };
  };
  const Request& request = c.requests[static_cast<std::size_t>(id.request)];
  return row_of_keys(c, contents, id, wrong.query,
                     reference::keys_seen_by(c.layer, request, id.token, id.head), rows_of(false),
                     rows_of(true));
}

}  // namespace

std::string cause_of_scales(const Case& c, const Contents& contents, const Numerics& numerics,
                            const RowId& id, std::span<const std::byte> got) {
  if (c.layer.has_alibi || c.layer.temperature_len > 0 || c.layer.dual_chunk.exists() ||
      c.layer.selection.exists()) {
    return {};
  }
  for (const WrongScales& wrong : wrong_scales(c, contents, id)) {
    if (agrees(c, numerics, evaluate_scales(c, contents, id, wrong), got)) return wrong.text;
  }
  return {};
}

}  // namespace attnbench
