// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "backends/cheating_plugin/cheats.h"

namespace cheats {
namespace {

/// A byte right behind the outputs.
std::byte& guard_of_outputs(const Planned& planned) {
  const attnbench_tensor& out = planned.tensors[ATTNBENCH_OUT];
  return static_cast<std::byte*>(out.data)[out.shape[0] * out.stride[0] * 2];
}

void change_once(std::byte& at) {
  static bool done = false;
  if (!std::exchange(done, true)) at ^= std::byte{0x40};
}

}  // namespace

void changes_an_input_once_in_the_check(Planned& planned) {
  attend_all(planned);
  change_once(*reinterpret_cast<std::byte*>(planned.cache_row(ATTNBENCH_V_CACHE, 0, 1, 0)));
}

void changes_a_guard_once_in_the_check(Planned& planned) {
  attend_all(planned);
  change_once(guard_of_outputs(planned));
}

void changes_a_guard_once_when_timed(Planned& planned) {
  attend_all(planned);
  if (looks_timed(planned)) change_once(guard_of_outputs(planned));
}

void changes_the_workspaces_guard_once_when_timed(Planned& planned) {
  attend_all(planned);
  if (looks_timed(planned)) change_once(planned.workspace.data()[planned.workspace.size()]);
}

}  // namespace cheats
