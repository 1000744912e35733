// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/nvtx_range.h"

#ifdef ATTNBENCH_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace attnbench {

#ifdef ATTNBENCH_HAVE_NVTX

namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("attnbench");
  return handle;
}

}  // namespace

NvtxRange::NvtxRange(const std::string& name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::~NvtxRange() { nvtxDomainRangePop(domain()); }

bool nvtx_available() { return true; }

#else

NvtxRange::NvtxRange(const std::string&) {}
NvtxRange::~NvtxRange() = default;

bool nvtx_available() { return false; }

#endif

}  // namespace attnbench
