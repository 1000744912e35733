// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profiler_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace attnbench {
namespace {

namespace fs = std::filesystem;

/// Folders below `base` that hold versions of a product, newest name first.
std::vector<std::string> versions_in(const std::string& base) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    folders.push_back(entry.path().string());
  }
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

/// Where NVIDIA's installers put the tool.
std::vector<std::string> installed_folders(ProfilerTool tool) {
  std::vector<std::string> folders;
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  const bool ncu = tool == ProfilerTool::kNcu;
  for (const std::string& version :
       versions_in(ncu ? "/opt/nvidia/nsight-compute" : "/opt/nvidia/nsight-systems")) {
    folders.push_back(ncu ? version : version + "/bin");
  }
  return folders;
}

}  // namespace

std::string_view to_string(ProfilerTool tool) {
  return tool == ProfilerTool::kNcu ? "ncu" : "nsys";
}

ProfilerSearch find_profiler(ProfilerTool tool, std::vector<std::string> folders) {
  ProfilerSearch search;
  std::ranges::move(installed_folders(tool), std::back_inserter(folders));
  for (const std::string& folder : folders) {
    const std::string candidate = folder + "/" + std::string(to_string(tool));
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) {
      search.path = candidate;
      return search;
    }
    if (std::ranges::find(search.looked, folder) == search.looked.end()) {
      search.looked.push_back(folder);
    }
  }
  return search;
}

std::vector<std::string> profiler_line(ProfilerTool tool, const std::string& program,
                                       const std::string& output, const std::string& set,
                                       const std::vector<std::string>& inner) {
  std::vector<std::string> words;
  if (tool == ProfilerTool::kNcu) {
    words = {program,
             // The harness sets the cache state itself: by default ncu flushes before each pass.
             "--cache-control", "none",
             // The clocks that are measured, not the base clock.
             "--clock-control", "none",
             // Only what lies between cudaProfilerStart and cudaProfilerStop.
             "--profile-from-start", "off",
             // Ranges of the domain "attnbench" name the cell in the report.
             "--nvtx", "--set", set, "--import-source", "yes", "--force-overwrite", "-o", output};
  } else {
    words = {program, "profile", "--trace", "cuda,nvtx",
             // No CPU samples: they only perturb.
             "--sample", "none", "--cpuctxsw", "none", "--capture-range", "cudaProfilerApi",
             "--capture-range-end", "stop",
             // Kernels inside a graph launch one by one.
             "--cuda-graph-trace", "node", "--kill", "none", "--force-overwrite", "true", "-o",
             output};
  }
  words.insert(words.end(), inner.begin(), inner.end());
  return words;
}

}  // namespace attnbench
