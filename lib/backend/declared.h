// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/backend/backend_info.h"
#include "lib/backend/include/attnbench/backend.h"

namespace attnbench {

// What a plug-in's backend says of itself and no reader has to judge: a table in C has it under the
// members of attnbench_backend, a class in Python under attributes of the same names.

struct DeclaredText {
  const char* name;
  const char* attnbench_backend::*in_table;
  std::string BackendInfo::*in_info;
};
inline constexpr DeclaredText kDeclaredTexts[] = {
    {"version", &attnbench_backend::version, &BackendInfo::version},
    {"description", &attnbench_backend::description, &BackendInfo::description},
    {"index_format", &attnbench_backend::index_format, &BackendInfo::index_format},
    {"engine_flag", &attnbench_backend::engine_flag, &BackendInfo::engine_flag},
};

struct DeclaredFlag {
  const char* name;
  attnbench_bool attnbench_backend::*in_table;
  bool BackendInfo::*in_info;
};
inline constexpr DeclaredFlag kDeclaredFlags[] = {
    {"deterministic", &attnbench_backend::deterministic, &BackendInfo::deterministic},
    {"writes_kv", &attnbench_backend::writes_kv, &BackendInfo::writes_kv},
    {"reads_fp8_queries", &attnbench_backend::reads_fp8_queries, &BackendInfo::reads_fp8_queries},
    {"writes_fp8_outputs", &attnbench_backend::writes_fp8_outputs,
     &BackendInfo::writes_fp8_outputs},
    {"reads_queries_apart", &attnbench_backend::reads_queries_apart,
     &BackendInfo::reads_queries_apart},
    {"selects_keys", &attnbench_backend::selects_keys, &BackendInfo::selects_keys},
    {"scores_keys", &attnbench_backend::scores_keys, &BackendInfo::scores_keys},
    {"reads_lists_at_run", &attnbench_backend::reads_lists_at_run,
     &BackendInfo::reads_lists_at_run},
};

}  // namespace attnbench
