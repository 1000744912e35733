// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/batch/chosen_keys.h"
#include "lib/verify/causes.h"

namespace attnbench {
namespace {

/// Keys in the order in which a kernel reads them, some perhaps twice.
using Keys = std::vector<std::int64_t>;

/// A query's list of chosen keys, and what a kernel makes of it.
struct ReadList {
  std::span<const std::int32_t> columns;  ///< all of them
  std::int64_t counted = 0;               ///< topk_length
  std::int64_t unit = 1;                  ///< keys
  std::int64_t place = 0;                 ///< of the query among the keys
  std::int64_t kv_len = 0;
  std::int64_t page_size = 1;

  /// Of the first `count` columns, those up to `last`; an entry of -1 names `missing`, if that is a
  /// key.
  [[nodiscard]] Keys keys(std::int64_t count, std::int64_t last, std::int64_t missing = -1) const {
    Keys named;
    for (const std::int64_t entry : columns.first(to_size(count))) {
      if (entry < 0 && missing >= 0) named.push_back(missing);
      for (std::int64_t key = entry * unit; entry >= 0 && key < (entry + 1) * unit; ++key) {
        if (key <= last) named.push_back(key);
      }
    }
    return named;
  }
  [[nodiscard]] Keys right() const { return keys(counted, place); }
  /// The same, and those of the query's own unit once more.
  [[nodiscard]] Keys own_unit_twice() const {
    Keys named = right();
    const std::int64_t first = place / unit * unit;
    Keys own;
    std::ranges::copy_if(named, std::back_inserter(own),
                         [&](std::int64_t key) { return key >= first; });
    named.insert(named.end(), own.begin(), own.end());
    return named;
  }
  /// Those a page behind the right ones that the query sees.
  [[nodiscard]] Keys late() const {
    Keys named = keys(counted, place - page_size);
    for (std::int64_t& key : named) key += page_size;
    return named;
  }
  /// The right ones, each once.
  [[nodiscard]] Keys different() const {
    Keys named = right();
    std::set<std::int64_t> before;
    std::erase_if(named, [&](std::int64_t key) { return !before.insert(key).second; });
    return named;
  }
};

/// A mistake in reading a list.
struct WrongList {
  const char* text;
  Keys (*keys)(const ReadList& list);
};

constexpr WrongList kWrongLists[] = {
    {"entries of a list behind its topk_length",
     [](const ReadList& list) { return list.keys(std::ssize(list.columns), list.place); }},
    {"an entry of -1 read as the last key",
     [](const ReadList& list) { return list.keys(list.counted, list.place, list.kv_len - 1); }},
    {"an entry of -1 read as the first key",
     [](const ReadList& list) { return list.keys(list.counted, list.place, 0); }},
    {"keys that a list names twice counted once",
     [](const ReadList& list) { return list.different(); }},
    {"entries of a list read as keys instead of units",
     [](const ReadList& list) {
       ReadList of_keys = list;
       of_keys.unit = 1;
       return of_keys.right();
     }},
    {"a list without its last entry",
     [](const ReadList& list) {
       return list.keys(std::max<std::int64_t>(list.counted - 1, 0), list.place);
     }},
    {"a list without the query's own key",
     [](const ReadList& list) { return list.keys(list.counted, list.place - 1); }},
    {"a list without the query's own unit",
     [](const ReadList& list) {
       return list.keys(list.counted, list.place / list.unit * list.unit - 1);
     }},
    {"the query's own unit twice", [](const ReadList& list) { return list.own_unit_twice(); }},
    {"the keys of a list read one page late", [](const ReadList& list) { return list.late(); }},
};

/// topk_length of the list of `group` of the batch's query token before the row's; of the batch's
/// first the row's own.
std::int64_t length_before(const Case& c, const RowId& id, std::int64_t group,
                           std::int64_t own_length) {
  std::int64_t request = id.request, token = id.token - 1;
  while (token < 0 && request > 0) token = c.requests[to_size(--request)].q_len - 1;
  if (token < 0) return own_length;
  return lists_of(c.layer, c.requests[to_size(request)], token, 1).lengths[to_size(group)];
}

/// The row over `keys` of its own request and KV head.
ReferenceRow row_over(const Case& c, const Contents& contents, const RowId& id, const Keys& keys) {
  const KeyOwner owner{id.request, id.head / c.layer.group_size()};
  const auto key_of = [&keys](std::int64_t j) { return keys[to_size(j)]; };
  reference::VisibleKeys all;
  all.end = std::ssize(keys);
  return row_of_keys(c, contents, id, own_q_scale(contents, id), all,
                     rows_of_k(c, contents, owner, key_of), rows_of_v(c, contents, owner, key_of));
}

}  // namespace

std::string cause_of_list(const Case& c, const Contents& contents, const Numerics& numerics,
                          const RowId& id, std::span<const std::byte> got) {
  const Selection& rule = c.layer.selection;
  if (!rule.exists() || rule.names_complete_units() || c.layer.temperature_len > 0) return {};
  const Request& request = c.requests[to_size(id.request)];
  const std::int64_t place = request.prefix_len() + id.token;
  const ChosenKeys lists = lists_of(c.layer, request, id.token, 1);
  const auto list_of = [&](std::int64_t group) {
    return ReadList{
        std::span(lists.indices).subspan(to_size(group * lists.width), to_size(lists.width)),
        lists.lengths[to_size(group)],
        lists.unit,
        place,
        request.kv_len,
        c.kv_cache.page_size};
  };
  const std::int64_t own = c.layer.selection_group(id.head);
  const Keys right = list_of(own).right();
  const auto gives = [&](const Keys& keys) {
    return keys != right && agrees(c, numerics, row_over(c, contents, id, keys), got);
  };
  for (std::int64_t group = 0; group < lists.groups; ++group) {
    if (group == own || !gives(list_of(group).right())) continue;
    return fmt::format("the list of group {} for query head {} instead of group {}'s", group,
                       id.head, own);
  }
  for (const WrongList& wrong : kWrongLists) {
    if (gives(wrong.keys(list_of(own)))) return wrong.text;
  }
  ReadList counted_before = list_of(own);
  counted_before.counted = length_before(c, id, own, counted_before.counted);
  if (gives(counted_before.right())) return "topk_length of the token before";
  Keys all(to_size(std::max<std::int64_t>(place + 1, 0)));
  std::iota(all.begin(), all.end(), 0);
  return gives(all) ? "all keys in place of the chosen ones" : "";
}

}  // namespace attnbench
