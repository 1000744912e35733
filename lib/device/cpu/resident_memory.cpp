// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/resident_memory.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace attnbench {
namespace {

/// Gives each page of the words memory of its own. One call takes half the time of a fault for each
/// page, but Linux has it since 5.14 only.
void make_resident(std::span<std::uint64_t> words) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(words.data(), words.size_bytes(), MADV_POPULATE_WRITE) == 0) return;
#endif
  std::ranges::fill(words, 1u);
}

}  // namespace

ResidentMemory::ResidentMemory(int threads, std::size_t part_bytes)
    : words_(static_cast<std::size_t>(threads) * part_bytes / sizeof(std::uint64_t)) {
  memory_.reset(static_cast<std::uint64_t*>(
      std::aligned_alloc(kPageBytes, static_cast<std::size_t>(threads) * part_bytes)));
  if (memory_ == nullptr) throw std::bad_alloc();
  const std::size_t part_words = part_bytes / sizeof(std::uint64_t);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int part = 0; part < threads; ++part) {
    make_resident(words().subspan(static_cast<std::size_t>(part) * part_words, part_words));
  }
}

void ResidentMemory::Free::operator()(std::uint64_t* memory) const { std::free(memory); }

}  // namespace attnbench
