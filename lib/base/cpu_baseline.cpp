// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/cpu_baseline.h"

#include <unistd.h>

#include "lib/base/exit_code.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace attnbench {
namespace {

constinit bool checked = false;

struct Feature {
  const char* name;
  std::uint32_t CpuWords::*word;
  std::uint32_t bits;
};

// What x86-64-v3 adds to x86-64-v2. No processor has these and lacks a feature of v2.
constexpr Feature kFeatures[] = {
    {"AVX", &CpuWords::leaf1_ecx, 1u << 28},
    {"AVX2", &CpuWords::leaf7_ebx, 1u << 5},
    {"BMI1", &CpuWords::leaf7_ebx, 1u << 3},
    {"BMI2", &CpuWords::leaf7_ebx, 1u << 8},
    {"F16C", &CpuWords::leaf1_ecx, 1u << 29},
    {"FMA", &CpuWords::leaf1_ecx, 1u << 12},
    {"LZCNT", &CpuWords::extended_ecx, 1u << 5},
    {"MOVBE", &CpuWords::leaf1_ecx, 1u << 22},
    {"AVX registers saved by the operating system", &CpuWords::xcr0, 0b110},
};

/// Appends text and keeps the closing zero.
struct Writer {
  char* next;
  char* end;
  void add(const char* text) {
    while (*text != 0 && next + 1 < end) *next++ = *text++;
  }
};

#if defined(__x86_64__)
CpuWords this_cpu() {
  CpuWords words;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) words.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) words.leaf7_ebx = ebx;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0) words.extended_ecx = ecx;
  constexpr std::uint32_t kOsxsave = 1u << 27;  // xgetbv is an illegal instruction without it
  if ((words.leaf1_ecx & kOsxsave) != 0) {
    __asm__("xgetbv" : "=a"(words.xcr0), "=d"(edx) : "c"(0));
  }
  return words;
}
#endif

}  // namespace

CpuComplaint complaint_about(const CpuWords& cpu) {
  CpuComplaint complaint;
  Writer writer{complaint.text, complaint.text + sizeof(complaint.text)};
  bool any = false;
  for (const Feature& feature : kFeatures) {
    if ((cpu.*feature.word & feature.bits) == feature.bits) continue;
    writer.add(any ? ", " : "attnbench: this processor lacks ");
    writer.add(feature.name);
    any = true;
  }
  if (any) {
    writer.add("; attnbench needs x86-64-v3 (Intel since Haswell, AMD since Excavator)\n");
  }
  return complaint;
}

bool baseline_cpu_was_checked() { return checked; }

#if defined(__x86_64__)
void require_baseline_cpu() {
  const CpuComplaint complaint = complaint_about(this_cpu());
  std::size_t size = 0;
  while (complaint.text[size] != 0) ++size;
  checked = size == 0;
  if (checked) return;
  // Nothing can be done about a message that cannot be written.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, complaint.text, size);
  _exit(static_cast<int>(ExitCode::kEnvironment));
}
#else
void require_baseline_cpu() { checked = true; }
#endif

namespace {

// 101 is the first priority that programs may use; initialisers without one come last.
[[gnu::constructor(101)]] void before_static_initialisers() { require_baseline_cpu(); }

}  // namespace

}  // namespace attnbench
