// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <string>

namespace attnbench::cudnn {

/// The functions of libcudnn.so.9 that are called, looked up at run time: a program that was built
/// with cuDNN's headers also starts where the library is missing.
struct Library {
  decltype(&cudnnGetVersion) get_version;
  decltype(&cudnnGetCudartVersion) get_cudart_version;
  decltype(&cudnnGetErrorString) get_error_string;
  decltype(&cudnnGetLastErrorString) get_last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;
};

/// The library that the loader finds (LD_LIBRARY_PATH, or one already loaded into this process),
/// or else the one that stood beside the headers when this was built. It is never unloaded. Throws
/// EnvironmentError where there is none, or one older than 9.12.
[[nodiscard]] const Library& library();

/// "nvidia-cudnn-cu13==9.19.0": the version that was loaded, as pip names its package.
[[nodiscard]] std::string package();

/// Throws a runtime_error that names `call`, with cuDNN's own words, unless `status` is success.
void check(cudnnStatus_t status, const char* call);

}  // namespace attnbench::cudnn
