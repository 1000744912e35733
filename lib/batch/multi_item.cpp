// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/multi_item.h"

#include <algorithm>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {
namespace {

/// Position of each token from the first delimiter on within its item; a delimiter's is 0.
std::vector<std::uint16_t> positions_in_items(std::span<const std::int64_t> items) {
  std::vector<std::uint16_t> positions;
  for (const std::int64_t length : items) {
    for (std::int64_t t = 0; t <= length; ++t) positions.push_back(static_cast<std::uint16_t>(t));
  }
  if (!items.empty()) positions.push_back(0);
  return positions;
}

}  // namespace

std::int64_t tokens_of_items(std::span<const std::int64_t> items) {
  if (items.empty()) return 0;
  return std::accumulate(items.begin(), items.end(), std::int64_t{1}) + std::ssize(items);
}

MultiItemParams make_multi_item_params(std::span<const std::int64_t> kv_lens,
                                       std::span<const std::vector<std::int64_t>> items) {
  expects(kv_lens.size() == items.size(), "a list of items for each request");
  MultiItemParams params;
  for (const std::vector<std::int64_t>& each : items) {
    params.token_pos_in_items_len = std::max(params.token_pos_in_items_len, tokens_of_items(each));
  }
  for (std::size_t r = 0; r < items.size(); ++r) {
    const std::int64_t prefix = kv_lens[r] - tokens_of_items(items[r]);
    expects(prefix >= 0, "items longer than their request");
    params.prefix_len_ptr.push_back(static_cast<std::uint32_t>(prefix));
    std::vector<std::uint16_t> positions = positions_in_items(items[r]);
    positions.resize(to_size(params.token_pos_in_items_len));
    params.max_item_len_ptr.push_back(*std::ranges::max_element(positions));
    params.token_pos_in_items_ptr.insert(params.token_pos_in_items_ptr.end(), positions.begin(),
                                         positions.end());
  }
  return params;
}

std::vector<std::int64_t> items_of_request(const MultiItemParams& params, std::int64_t r,
                                           std::int64_t kv_len) {
  const std::int64_t tokens = kv_len - params.prefix_len_ptr[to_size(r)];
  const std::span of_request =
      std::span(params.token_pos_in_items_ptr)
          .subspan(to_size(r * params.token_pos_in_items_len), to_size(tokens));
  std::vector<std::int64_t> items;
  // Each delimiter but the first ends an item, whose length is the position before it.
  for (std::size_t t = 1; t < of_request.size(); ++t) {
    if (of_request[t] == 0) items.push_back(of_request[t - 1]);
  }
  return items;
}

std::vector<std::int64_t> positions_beside_items(const ForwardBatch& batch) {
  const MultiItemParams& items = *batch.multi_item;
  std::vector<std::int64_t> positions = batch.positions;
  std::size_t token = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t prefix = items.prefix_len_ptr[to_size(r)];
    for (std::int64_t t = 0; t < batch.q_len(r); ++t, ++token) {
      const std::int64_t since = batch.kv_len(r) - batch.q_len(r) + t - prefix;
      if (since < 0) continue;
      const std::int64_t at = r * items.token_pos_in_items_len + since;
      positions[token] = prefix - 1 + items.token_pos_in_items_ptr[to_size(at)];
    }
  }
  return positions;
}

}  // namespace attnbench
