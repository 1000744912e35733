// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "lib/base/error.h"

namespace attnbench::cudnn {
namespace {

constexpr const char* kName = "libcudnn.so.9";
/// Before it the LSE was written with strides of its own, whatever the graph said.
constexpr std::size_t kOldest = 91200;

std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void* open() {
  if (void* const object = dlopen(kName, RTLD_NOW | RTLD_LOCAL)) return object;
  const char* const said = dlerror();  // of the name that the user can do something about
  const std::string reason = said != nullptr ? said : kName;
  if (void* const object = dlopen(ATTNBENCH_CUDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL)) return object;
  throw EnvironmentError(fmt::format(
      "{}; get it with: pip install nvidia-cudnn-cu{}, and name its folder nvidia/cudnn/lib in "
      "LD_LIBRARY_PATH",
      reason, CUDART_VERSION / 1000));
}

template <class Function>
void find(void* object, const char* name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(object, name));
  if (to == nullptr) throw EnvironmentError(fmt::format("{} has no {}", kName, name));
}

Library load() {
  void* const object = open();
  Library library;
  find(object, "cudnnGetVersion", library.get_version);
  find(object, "cudnnGetCudartVersion", library.get_cudart_version);
  find(object, "cudnnGetErrorString", library.get_error_string);
  find(object, "cudnnCreate", library.create);
  find(object, "cudnnDestroy", library.destroy);
  find(object, "cudnnSetStream", library.set_stream);
  find(object, "cudnnBackendCreateDescriptor", library.create_descriptor);
  find(object, "cudnnBackendDestroyDescriptor", library.destroy_descriptor);
  find(object, "cudnnBackendSetAttribute", library.set_attribute);
  find(object, "cudnnBackendGetAttribute", library.get_attribute);
  find(object, "cudnnBackendFinalize", library.finalize);
  find(object, "cudnnBackendExecute", library.execute);
  find(object, "cudnnGetLastErrorString", library.get_last_error_string);
  if (library.get_version() < kOldest) {
    throw EnvironmentError(fmt::format("cuDNN {} is older than {}",
                                       version_text(library.get_version()), version_text(kOldest)));
  }
  return library;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

std::string package() {
  return fmt::format("nvidia-cudnn-cu{}=={}", library().get_cudart_version() / 1000,
                     version_text(library().get_version()));
}

void check(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 1024> details{};
  library().get_last_error_string(details.data(), details.size());
  throw std::runtime_error(
      fmt::format("{}: {}: {}", call, library().get_error_string(status), details.data()));
}

}  // namespace attnbench::cudnn
