// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <utility>

#include "backends/cudnn/library.h"

namespace attnbench::cudnn {

/// A descriptor of cuDNN's graph API: attributes are set, then it is finalized. Others that it
/// refers to must outlive it. Every member throws a runtime_error with cuDNN's words.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(library().create_descriptor(type, &native_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : native_(std::exchange(other.native_, nullptr)) {}
  Descriptor& operator=(Descriptor&&) = delete;  // one descriptor, one owner
  ~Descriptor() {
    if (native_ != nullptr) static_cast<void>(library().destroy_descriptor(native_));
  }

  /// `type` says what a Value is.
  template <class Value>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::span<const Value> values) {
    check(library().set_attribute(native_, name, type, static_cast<std::int64_t>(values.size()),
                                  values.data()),
          "cudnnBackendSetAttribute");
    return *this;
  }
  template <class Value>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const Value& value) {
    return set(name, type, std::span<const Value>(&value, 1));
  }
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other);
  }
  /// To be called once, before anything refers to it.
  void finalize() { check(library().finalize(native_), "cudnnBackendFinalize"); }

  [[nodiscard]] cudnnBackendDescriptor_t native() const { return native_; }

 private:
  cudnnBackendDescriptor_t native_ = nullptr;
};

}  // namespace attnbench::cudnn
