// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnbench {

enum class ProfilerTool : std::uint8_t { kNcu, kNsys };
[[nodiscard]] std::string_view to_string(ProfilerTool tool);

/// Where a profiler was found, or where it was looked for.
struct ProfilerSearch {
  std::string path;                 ///< empty: not found
  std::vector<std::string> looked;  ///< folders, in order
};

/// Looks through `folders`, those of $PATH, then where NVIDIA's installers put the
/// tool: $CUDA_HOME, /usr/local/cuda, /opt/nvidia.
[[nodiscard]] ProfilerSearch find_profiler(ProfilerTool tool, std::vector<std::string> folders);

/// The profiler's words around `inner` (program and arguments), every flag with its reason in the
/// source. `output` is the report's path without its ending; `set` is ncu's section set.
[[nodiscard]] std::vector<std::string> profiler_line(ProfilerTool tool, const std::string& program,
                                                     const std::string& output,
                                                     const std::string& set,
                                                     const std::vector<std::string>& inner);

}  // namespace attnbench
