// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/prefix_tree.h"

#include <cstddef>

namespace attnbench {
namespace {

const SharedPrefix& at(std::span<const SharedPrefix> prefixes, int prefix) {
  return prefixes[static_cast<std::size_t>(prefix)];
}

}  // namespace

KeyRun own_tokens(std::span<const SharedPrefix> prefixes, int prefix) {
  const int parent = at(prefixes, prefix).parent;
  return {parent < 0 ? 0 : at(prefixes, parent).length, at(prefixes, prefix).length};
}

KeyRun own_whole_pages(std::span<const SharedPrefix> prefixes, int prefix, std::int64_t page_size) {
  const KeyRun tokens = own_tokens(prefixes, prefix);
  return {whole_pages(tokens.begin, page_size), whole_pages(tokens.end, page_size)};
}

int prefix_of_token(std::span<const SharedPrefix> prefixes, int prefix, std::int64_t position) {
  while (position < own_tokens(prefixes, prefix).begin) prefix = at(prefixes, prefix).parent;
  return prefix;
}

std::vector<std::int64_t> ends_of_streams(const Case& c, const Request& request) {
  std::vector<std::int64_t> ends{request.shared_len};
  for (int p = request.shared_prefix; p >= 0; p = c.prefixes[static_cast<std::size_t>(p)].parent) {
    ends.push_back(own_tokens(c.prefixes, p).begin);
  }
  return ends;
}

std::int64_t common_length(std::span<const SharedPrefix> prefixes, int a, int b) {
  while (a >= 0 && !extends(prefixes, b, a)) a = at(prefixes, a).parent;
  return a < 0 ? 0 : at(prefixes, a).length;
}

bool extends(std::span<const SharedPrefix> prefixes, int prefix, int ancestor) {
  while (prefix >= 0 && prefix != ancestor) prefix = at(prefixes, prefix).parent;
  return prefix >= 0;
}

}  // namespace attnbench
