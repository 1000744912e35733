// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/gathered_keys.h"

#include <algorithm>
#include <span>

#include "backends/common/visibility.h"
#include "lib/base/int_math.h"

namespace attnbench::cpu_flash {
namespace {

/// The compressed rows among positions [begin, end) of the row's list, or of all rows. Returns how
/// many.
std::int64_t load_compressed_rows(const ForwardBatch& batch, const Item& item, std::int64_t begin,
                                  std::int64_t end, std::int32_t* to) {
  const AttentionLayer& layer = batch.problem->layer;
  const std::int64_t tokens = batch.kv_len(item.request);
  const std::int64_t token = item.row_begin / layer.group_size();
  const std::int64_t complete =
      layer.compressed_rows(tokens - batch.q_len(item.request) + token + 1);
  std::span<const std::int32_t> list;
  if (batch.chosen) list = listed_units(batch, first_token(batch, item.request) + token, 0);
  std::int64_t count = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t row = batch.chosen ? list[to_size(i)] : i;
    if (row >= 0 && row < complete) to[count++] = static_cast<std::int32_t>(tokens + row);
  }
  return count;
}

/// The keys of units among positions [begin, end) of the row's list: none for an entry of -1, and
/// none behind the query. Returns how many.
std::int64_t load_listed_keys(const ForwardBatch& batch, const Item& item, std::int64_t begin,
                              std::int64_t end, std::int32_t* to) {
  const AttentionLayer& layer = batch.problem->layer;
  const std::int64_t unit = layer.selection.unit;
  const std::int64_t token = item.row_begin / layer.group_size();
  const std::int64_t place = batch.kv_len(item.request) - batch.q_len(item.request) + token;
  const std::span<const std::int32_t> list =
      listed_units(batch, first_token(batch, item.request) + token,
                   list_of_row(layer, item.row_begin, item.kv_head));
  std::int64_t count = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t entry = list[to_size(i / unit)];
    const std::int64_t key = entry * unit + i % unit;
    if (layer.selection.is_landmark(key)) continue;
    if (entry >= 0 && key <= place) to[count++] = static_cast<std::int32_t>(key);
  }
  return count;
}

}  // namespace

int list_of_row(const AttentionLayer& layer, std::int64_t row, int kv_head) {
  const int group = layer.group_size();
  return layer.selection_group(kv_head * group + static_cast<int>(row % group));
}

std::int64_t keys_of_list(const ForwardBatch& batch, const AttentionLayer& layer,
                          std::int64_t request, std::int64_t row, int kv_head) {
  const std::int64_t token = row / layer.group_size();
  if (!batch.chosen) {
    return layer.compressed_rows(batch.kv_len(request) - batch.q_len(request) + token + 1);
  }
  const int list = list_of_row(layer, row, kv_head);
  return std::ssize(batch.chosen->list(first_token(batch, request) + token, list)) *
         layer.selection.keys_of_entry();
}

KeyRun window_beside_list(const ForwardBatch& batch, const AttentionLayer& layer,
                          std::int64_t request, std::int64_t row, int kv_head) {
  const int group = layer.group_size();
  const std::int64_t end = batch.kv_len(request) - batch.q_len(request) + row / group + 1;
  std::int64_t keys = layer.selection.window_of(list_of_row(layer, row, kv_head));
  if (layer.compress_ratio > 0) {
    keys = layer.sliding_window_size < 0 ? end : layer.sliding_window_size + 1;
  }
  return {std::max<std::int64_t>(end - keys, 0), std::max<std::int64_t>(end, 0)};
}

std::int64_t load_gathered_keys(const ForwardBatch& batch, const Item& item, std::int32_t* to) {
  const AttentionLayer& layer = batch.problem->layer;
  const std::int64_t listed =
      keys_of_list(batch, layer, item.request, item.row_begin, item.kv_head);
  const KeyRun window =
      window_beside_list(batch, layer, item.request, item.row_begin, item.kv_head);
  const auto load_list = layer.compress_ratio > 0 ? load_compressed_rows : load_listed_keys;
  std::int64_t count = load_list(batch, item, item.key_begin, std::min(item.key_end, listed), to);
  for (std::int64_t i = std::max(item.key_begin, listed); i < item.key_end; ++i) {
    const std::int64_t key = window.begin + i - listed;
    if (!layer.selection.is_landmark(key)) to[count++] = static_cast<std::int32_t>(key);
  }
  return count;
}

}  // namespace attnbench::cpu_flash
