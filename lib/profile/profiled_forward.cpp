// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profiled_forward.h"

#include <fmt/format.h>

#include <memory>

#include "lib/base/error.h"
#include "lib/device/nvtx_range.h"
#include "lib/profile/capture_window.h"
#include "lib/session/local_session.h"

namespace attnbench {

void run_profiled_forward(const Registry::Entry& entry, const Case& c, Device& device,
                          CacheState cache, const std::string& range) {
  LocalSession session(entry, c, [&](KvLayout layout) {
    return std::make_shared<CaseOnDevice>(c, device, layout, 1);
  });
  if (const FormatChoice choice = session.supports(); !choice) {
    throw ConfigError(fmt::format("{}: UNSUPPORTED({})", entry.info.name, choice.support.reason()));
  }
  static_cast<void>(session.plan());
  static_cast<void>(session.fill_for_timing());
  const TimedCell cell = session.cell_in(0, cache, LaunchMode::kEager);
  Stream& stream = session.on_device().stream();
  cell.forward(stream);  // lazy loading
  stream.synchronize();
  if (cache != CacheState::kWarm) device.flush_cache(stream);
  if (cache == CacheState::kServing) device.touch(stream, cell.serving);
  stream.synchronize();

  const CaptureWindow window;
  const NvtxRange named(range);
  cell.forward(stream);
  stream.synchronize();
}

}  // namespace attnbench
