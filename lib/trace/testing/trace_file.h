// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "lib/base/system.h"
#include "lib/trace/trace_reader.h"

namespace attnbench {

/// Tests that write a trace and read it.
class TraceFile : public testing::Test {
 protected:
  Trace read(const std::string& text, const TraceOptions& options = {}) {
    std::ofstream(path_) << text;
    return read_trace(path_, options);
  }

  TemporaryFolder folder_{"trace"};
  std::string path_ = folder_.file("t");
};

}  // namespace attnbench
