// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/nvtx_range.h"

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

/// Points into `name`.
nvtxEventAttributes_t named(const std::string& name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  return attributes;
}

}  // namespace

NvtxRange::NvtxRange(const std::string& name) {
  const nvtxEventAttributes_t attributes = named(name);
  nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::NvtxRange(const std::string& name, std::int64_t bytes) {
  nvtxEventAttributes_t attributes = named(name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = bytes;
  nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::~NvtxRange() { nvtxDomainRangePop(domain()); }

#else

NvtxRange::NvtxRange(const std::string&) {}
NvtxRange::NvtxRange(const std::string&, std::int64_t) {}
NvtxRange::~NvtxRange() = default;

#endif

}  // namespace attnbench
