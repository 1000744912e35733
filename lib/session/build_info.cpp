// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/build_info.h"

#include <build_macros.h>

namespace attnbench {

const BuildInfo& build_info() {
  static const BuildInfo info{ATTNBENCH_VERSION, ATTNBENCH_GIT_SHA, ATTNBENCH_BUILD_TYPE,
                              ATTNBENCH_COMPILER, ATTNBENCH_FLAGS};
  return info;
}

std::string build_id() { return build_info().version + ' ' + build_info().git_sha; }

}  // namespace attnbench
