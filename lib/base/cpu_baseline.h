// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// The words of cpuid and xgetbv that say whether a processor runs x86-64-v3 code.
struct CpuWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t extended_ecx = 0;  ///< leaf 0x80000001
  std::uint32_t xcr0 = 0;          ///< which registers the operating system saves
};

/// One sentence; empty for a processor that runs this program. A plain array, see below.
struct CpuComplaint {
  char text[320] = {};
};

/// Names every missing feature of x86-64-v3, the level that all C++ of attnbench is compiled for.
[[nodiscard]] CpuComplaint complaint_about(const CpuWords& cpu);

/// Ends the process with exit code 5 and the complaint when this processor is too old. It runs by
/// itself before every other static initialiser, since those are x86-64-v3 code already; main()
/// calls it so that the linker takes it along. Its source is compiled for plain x86-64 and uses no
/// inline function: the linker may keep the x86-64-v3 copy of one.
void require_baseline_cpu();

/// Whether require_baseline_cpu() has come to its end in this process.
[[nodiscard]] bool baseline_cpu_was_checked();

}  // namespace attnbench
