// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/power_over_others.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace attnbench {

// Where the system permits none of it, nothing is said: a run is as safe as the system lets it be.

void give_up_power_over_others() noexcept {
  std::uint32_t given_up = 0;
  for (const int capability : {CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_NICE}) {
    given_up |= std::uint32_t{1} << capability;
    prctl(PR_CAPBSET_DROP, capability);  // else a program that it starts would have it again
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  sets[0].effective &= ~given_up;
  sets[0].permitted &= ~given_up;
  sets[0].inheritable &= ~given_up;
  syscall(SYS_capset, &header, sets.data());
}

void close_memory_to_others() noexcept { prctl(PR_SET_DUMPABLE, 0); }

}  // namespace attnbench
