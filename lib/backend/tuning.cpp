// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/tuning.h"

#include <fmt/format.h>

namespace attnbench {

std::optional<TunedName> tuned_name(std::string_view name) {
  const std::size_t equals = name.rfind('=');
  if (equals == std::string_view::npos) return {};
  const std::size_t colon = name.rfind(':', equals);
  const bool of_a_pair = name.find('+', equals) != std::string_view::npos;  // of its first part
  if (colon == std::string_view::npos || of_a_pair) return {};
  return TunedName{name.substr(0, colon), name.substr(colon + 1, equals - colon - 1),
                   name.substr(equals + 1)};
}

BackendInfo tuned(BackendInfo base, std::string_view parameter, std::int64_t value,
                  std::string_view engine_option) {
  base.name += fmt::format(":{}={}", parameter, value);
  base.by_default = false;
  if (!engine_option.empty()) base.engine_flag = fmt::format("{} {}", engine_option, value);
  return base;
}

}  // namespace attnbench
