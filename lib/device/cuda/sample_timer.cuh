// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

#include "lib/device/device.h"

namespace attnbench {

/// Times work on `stream` with events behind a blocker, and reads the clock of `sms` SMs around it.
/// `overhead_us`, what a sample itself takes on this GPU, is measured if it is not known.
[[nodiscard]] std::unique_ptr<SampleTimer> make_event_timer(Stream& stream, int sms,
                                                            std::optional<double>& overhead_us);

/// Records what `work` enqueues on `stream` as a graph, instantiated and uploaded.
[[nodiscard]] std::unique_ptr<Recording> record_graph(Stream& stream, const Work& work);
/// Stream::embed().
[[nodiscard]] bool embed_graph(cudaStream_t stream, void* graph);

}  // namespace attnbench
