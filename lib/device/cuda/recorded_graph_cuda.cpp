// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

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
