// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "backends/cheating_plugin/cheats.h"

// Unusual memory, files and processes of backends that compute what is right.
namespace cheats {
namespace {

/// So much is touched that a stack of the usual 8 MB has little left.
[[gnu::noinline]] void touch_stack() {
  volatile char deep[std::size_t{6} << 20];
  for (std::size_t at = 0; at < sizeof deep; at += 4096) deep[at] = 1;
}

/// Memory that a file is behind, or none, and that processes share.
std::byte* shared_bytes(std::size_t size, std::FILE* file) {
  const int flags = MAP_SHARED | (file == nullptr ? MAP_ANONYMOUS : 0);
  void* const at =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, file == nullptr ? -1 : fileno(file), 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::size_t row_bytes(const Planned& planned) {
  return static_cast<std::size_t>(planned.problem.head_dim_v) * sizeof(std::uint16_t) +
         sizeof(float);
}

/// A row of the outputs, to such memory or back.
void keep_row(const Planned& planned, std::int64_t row, std::byte* all, bool back) {
  const std::int64_t token = row / planned.heads();
  const auto head = static_cast<int>(row % planned.heads());
  std::byte* const at = all + static_cast<std::size_t>(row) * row_bytes(planned);
  const std::size_t out_bytes = row_bytes(planned) - sizeof(float);
  std::uint16_t* const out = planned.out_row(token, head);
  float* const lse = planned.lse(token, head);
  std::memcpy(back ? static_cast<void*>(out) : at, back ? at : static_cast<void*>(out), out_bytes);
  std::memcpy(back ? static_cast<void*>(lse) : at + out_bytes,
              back ? at + out_bytes : static_cast<void*>(lse), sizeof *lse);
}

}  // namespace

void leaks_64_kb_a_run(Planned& planned) {
  void* volatile const lost = std::malloc(std::size_t{64} << 10);
  if (lost != nullptr) std::memset(lost, 1, std::size_t{64} << 10);
  attend_all(planned);
}

void six_megabytes_of_stack(Planned& planned) {
  touch_stack();
  attend_all(planned);
}

/// Transposes the keys of each request into the plan's memory first.
void transposed_copy_in_the_workspace(Planned& planned) {
  const auto dims = static_cast<std::size_t>(planned.problem.head_dim_qk);
  for (std::int64_t request = 0; request < planned.requests(); ++request) {
    const auto keys = static_cast<std::size_t>(planned.kv_lens[static_cast<std::size_t>(request)]);
    auto* const copy = reinterpret_cast<std::uint16_t*>(planned.workspace.data());
    if (keys * dims * sizeof *copy > planned.workspace.size()) continue;
    for (std::size_t j = 0; j < keys; ++j) {
      const std::uint16_t* const k =
          planned.cache_row(ATTNBENCH_K_CACHE, request, static_cast<std::int64_t>(j), 0);
      for (std::size_t d = 0; d < dims; ++d) copy[d * keys + j] = k[d];
    }
  }
  attend_all(planned);
}

void shared_file_mapping(Planned& planned) {
  const std::int64_t rows = planned.tokens() * planned.heads();
  const std::size_t size = static_cast<std::size_t>(rows) * row_bytes(planned);
  std::FILE* const file = std::tmpfile();
  attend_all(planned);
  if (file == nullptr || ftruncate(fileno(file), static_cast<off_t>(size)) != 0) return;
  if (std::byte* const all = shared_bytes(size, file)) {
    for (std::int64_t row = 0; row < rows; ++row) keep_row(planned, row, all, false);
    for (std::int64_t row = 0; row < rows; ++row) keep_row(planned, row, all, true);
    munmap(all, size);
  }
  std::fclose(file);
}

/// A child computes the first half of the rows.
void forks_in_each_run(Planned& planned) {
  const std::int64_t rows = planned.tokens() * planned.heads();
  const std::size_t size = static_cast<std::size_t>(rows) * row_bytes(planned);
  std::byte* const all = shared_bytes(size, nullptr);
  const auto compute = [&](std::int64_t row) {
    attend(planned, row / planned.heads(), static_cast<int>(row % planned.heads()));
  };
  const pid_t child = all == nullptr ? -1 : fork();
  if (child == 0) {
    for (std::int64_t row = 0; row < rows / 2; ++row) {
      compute(row);
      keep_row(planned, row, all, false);
    }
    _exit(0);
  }
  for (std::int64_t row = child < 0 ? 0 : rows / 2; row < rows; ++row) compute(row);
  if (child > 0) {
    waitpid(child, nullptr, 0);
    for (std::int64_t row = 0; row < rows / 2; ++row) keep_row(planned, row, all, true);
  }
  if (all != nullptr) munmap(all, size);
}

/// As kernels that are made when they are first needed.
void compiles_in_its_first_run(Planned& planned) {
  static const bool tried = [] {
    char folder[] = "/tmp/compiled_XXXXXX";
    if (mkdtemp(folder) == nullptr) return false;
    const std::string stem = std::string(folder) + "/one";
    std::ofstream(stem + ".c") << "float one(void) { return 1; }\n";
    const std::string line = "cc -shared -fPIC " + stem + ".c -o " + stem + ".so 2> /dev/null";
    if (std::system(line.c_str()) == 0) dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    std::remove((stem + ".c").c_str());
    std::remove((stem + ".so").c_str());
    return rmdir(folder) == 0;
  }();
  static_cast<void>(tried);
  attend_all(planned);
}

}  // namespace cheats
