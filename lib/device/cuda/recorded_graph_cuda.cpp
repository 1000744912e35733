// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include "lib/device/cuda/handles.cuh"
#include "lib/device/cuda/sample_timer.cuh"

namespace attnbench {
namespace {

class RecordedGraph final : public Recording {
 public:
  explicit RecordedGraph(GraphExecHandle exec) : exec_(std::move(exec)) {}

  void replay(Stream& stream) override {
    check_cuda(cudaGraphLaunch(exec_.get(), static_cast<cudaStream_t>(stream.native())),
               "cudaGraphLaunch");
  }

 private:
  GraphExecHandle exec_;
};

/// What calls that wait or allocate leave a capture as.
bool is_forbidden_while_capturing(cudaError_t status) {
  return status == cudaErrorStreamCaptureUnsupported ||
         status == cudaErrorStreamCaptureInvalidated || status == cudaErrorStreamCaptureImplicit ||
         status == cudaErrorStreamCaptureUnjoined || status == cudaErrorStreamCaptureIsolation;
}

/// A graph that cannot be a child is a fault of the backend that made it; the GPU is not lost.
void expect_embedded(cudaError_t status) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw std::runtime_error(std::string("its graph cannot be a child of another one: ") +
                           cudaGetErrorString(status));
}

}  // namespace

bool embed_graph(cudaStream_t stream, void* graph) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t recording = nullptr;
  const cudaGraphNode_t* last = nullptr;
  std::size_t last_count = 0;
  unsigned long long id = 0;
  check_cuda(
      cudaStreamGetCaptureInfo(stream, &status, &id, &recording, &last, nullptr, &last_count),
      "cudaStreamGetCaptureInfo");
  if (status != cudaStreamCaptureStatusActive) return false;
  cudaGraphNode_t child = nullptr;
  expect_embedded(cudaGraphAddChildGraphNode(&child, recording, last, last_count,
                                             static_cast<cudaGraph_t>(graph)));
  // What the stream records next follows the child.
  expect_embedded(cudaStreamUpdateCaptureDependencies(stream, &child, nullptr, 1,
                                                      cudaStreamSetCaptureDependencies));
  return true;
}

std::unique_ptr<Recording> record_graph(Stream& stream, const Work& work) {
  const auto native = static_cast<cudaStream_t>(stream.native());
  // Thread-local: other threads of this process may allocate meanwhile, this one may not.
  check_cuda(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  cudaGraph_t captured = nullptr;
  try {
    work(stream);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(native, &captured));
    static_cast<void>(cudaGetLastError());
    const GraphHandle discarded(captured);
    throw;
  }
  const cudaError_t status = cudaStreamEndCapture(native, &captured);
  const GraphHandle graph(captured);
  if (is_forbidden_while_capturing(status)) {
    static_cast<void>(cudaGetLastError());
    throw HostSyncError(std::string("forward waits, allocates or leaves its stream: it cannot be "
                                    "captured into a CUDA graph (") +
                        cudaGetErrorName(status) + ")");
  }
  check_cuda(status, "cudaStreamEndCapture");
  cudaGraphExec_t instantiated = nullptr;
  check_cuda(cudaGraphInstantiate(&instantiated, graph.get(), 0), "cudaGraphInstantiate");
  GraphExecHandle exec(instantiated);
  // Else the first replay would upload it, in the middle of a sample.
  check_cuda(cudaGraphUpload(exec.get(), native), "cudaGraphUpload");
  stream.synchronize();
  return std::make_unique<RecordedGraph>(std::move(exec));
}

}  // namespace attnbench
