// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "backends/cheating_plugin/cheats.h"

namespace cheats {
namespace {

double hidden_s = 0;  ///< what the process's monotonic clock lags behind

int lagging_clock(clockid_t id, timespec* time) {
  const long failed = syscall(SYS_clock_gettime, id, time);
  if (id != CLOCK_MONOTONIC) return static_cast<int>(failed);
  const double seconds =
      static_cast<double>(time->tv_sec) + static_cast<double>(time->tv_nsec) * 1e-9 - hidden_s;
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - static_cast<double>(time->tv_sec)) * 1e9);
  return static_cast<int>(failed);
}

double true_s() {
  timespec time{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The tables through which an object finds the functions of others.
struct Dynamic {
  std::span<const ElfW(Rela)> jumps, others;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
};

Dynamic dynamic_of(const ElfW(Dyn) * entry) {
  Dynamic found;
  const ElfW(Rela)* jumps = nullptr;
  const ElfW(Rela)* others = nullptr;
  std::size_t jump_bytes = 0, other_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_JMPREL) jumps = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_RELA) others = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) jump_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELASZ) other_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(address);
  }
  if (jumps != nullptr) found.jumps = {jumps, jump_bytes / sizeof(ElfW(Rela))};
  if (others != nullptr) found.others = {others, other_bytes / sizeof(ElfW(Rela))};
  return found;
}

int replace_clock_in(dl_phdr_info* object, std::size_t, void*) {
  if (std::strstr(object->dlpi_name, "vdso") != nullptr) return 0;
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const Dynamic dynamic = dynamic_of(
        reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
    if (dynamic.symbols == nullptr || dynamic.names == nullptr) continue;
    for (const auto& table : {dynamic.jumps, dynamic.others}) {
      for (const ElfW(Rela) & entry : table) {
        const auto symbol = static_cast<std::size_t>(ELF64_R_SYM(entry.r_info));
        if (symbol == 0) continue;
        if (std::strcmp(dynamic.names + dynamic.symbols[symbol].st_name, "clock_gettime") != 0) {
          continue;
        }
        const std::uintptr_t slot = object->dlpi_addr + entry.r_offset;
        mprotect(reinterpret_cast<void*>(slot & ~(page - 1)), 2 * page, PROT_READ | PROT_WRITE);
        *reinterpret_cast<decltype(&lagging_clock)*>(slot) = lagging_clock;
      }
    }
  }
  return 0;
}

}  // namespace

void slows_the_clock_of_its_process(Planned& planned) {
  static const int replaced = dl_iterate_phdr(replace_clock_in, nullptr);
  static_cast<void>(replaced);
  const double begin = true_s();
  attend_all(planned);
  const double enough = std::max(planned.bytes / 40e9, planned.flops / 5e11);
  hidden_s += std::max(true_s() - begin - enough, 0.0);
}

}  // namespace cheats
