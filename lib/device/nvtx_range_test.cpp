// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/nvtx_range.h"

#include <gtest/gtest.h>

#include <type_traits>

#ifdef ATTNBENCH_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

/// What a profiler is told.
struct Heard {
  std::string domain;
  std::vector<std::string> open, closed;
  std::vector<std::int64_t> payloads;  ///< -1: none
  bool listening = false;
};

Heard& heard() {
  static Heard all;
  return all;
}

nvtxDomainHandle_t NVTX_API create(const char* name) {
  heard().domain = name;
  return reinterpret_cast<nvtxDomainHandle_t>(&heard());
}

int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  heard().open.emplace_back(attributes->message.ascii);
  const bool bytes = attributes->payloadType == NVTX_PAYLOAD_TYPE_INT64;
  heard().payloads.push_back(bytes ? attributes->payload.llValue : -1);
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t) {
  heard().closed.push_back(heard().open.back());
  heard().open.pop_back();
  return 0;
}

template <class Function>
void put(NvtxFunctionTable table, NvtxCallbackIdCore2 id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

/// The entry point that NVTX looks for in a tool.
int NVTX_API listen(NvtxGetExportTableFunc_t tables) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  put(table, NVTX_CBID_CORE2_DomainCreateA, &create);
  put(table, NVTX_CBID_CORE2_DomainRangePushEx, &push);
  put(table, NVTX_CBID_CORE2_DomainRangePop, &pop);
  heard().listening = true;
  return 1;
}

}  // namespace

namespace attnbench {
namespace {

TEST(NvtxRange, tells_a_profiler_name_domain_and_bytes) {
  InitializeInjectionNvtx2_fnptr = &listen;  // a tool linked into the program itself
  {
    const NvtxRange outer("gpu/decode");
    if (!heard().listening) GTEST_SKIP() << "this NVTX loads tools from files only";
    const NvtxRange inner("splitkv cold graph", 123'456'789'012);
    EXPECT_EQ(heard().domain, "attnbench");
    EXPECT_EQ(heard().open, (std::vector<std::string>{"gpu/decode", "splitkv cold graph"}));
    EXPECT_EQ(heard().payloads, (std::vector<std::int64_t>{-1, 123'456'789'012}));
    EXPECT_TRUE(heard().closed.empty());
  }
  EXPECT_EQ(heard().closed, (std::vector<std::string>{"splitkv cold graph", "gpu/decode"}));
}

}  // namespace
}  // namespace attnbench
#endif

namespace attnbench {
namespace {

TEST(NvtxRange, opens_and_closes_without_a_profiler) {
  const NvtxRange outer("case");
  const NvtxRange inner("case/backend", 1);
}

TEST(NvtxRange, has_one_owner) { EXPECT_FALSE(std::is_copy_constructible_v<NvtxRange>); }

}  // namespace
}  // namespace attnbench
