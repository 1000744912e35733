// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/timed_mutant.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace attnbench {
namespace {

/// A verification takes a dozen launches, which are all correct.
constexpr int kLate = 16;

std::size_t bytes_of(const TensorView& view) {
  return static_cast<std::size_t>(view.size() * size_bytes(view.dtype));
}

std::size_t k_bytes(const KvPool& pool) {
  const std::int64_t elements = pool.num_pages * pool.page_size * pool.heads_kv * pool.head_dim_k;
  return static_cast<std::size_t>(elements * size_bytes(pool.dtype));
}

std::size_t v_bytes(const KvPool& pool) {
  const std::int64_t elements = pool.num_pages * pool.page_size * pool.heads_kv * pool.head_dim_v;
  return static_cast<std::size_t>(elements * size_bytes(pool.dtype));
}

/// A row of host memory; one that nobody owns holds NaN and stays so.
void round_to_int8(DType dtype, std::byte* row, int dims) {
  const std::int64_t bytes = size_bytes(dtype);
  float largest = 0;
  for (int d = 0; d < dims; ++d)
    largest = std::max(largest, std::fabs(load(dtype, row + d * bytes)));
  if (!(largest > 0)) return;
  const float unit = largest / 127;
  for (int d = 0; d < dims; ++d) {
    store(dtype, row + d * bytes, std::round(load(dtype, row + d * bytes) / unit) * unit);
  }
}

}  // namespace

class PlannedTimedMutant final : public Plan {
 public:
  PlannedTimedMutant(TimedMutant& backend, const ForwardBatch& batch, PlanMemory& memory);
  ~PlannedTimedMutant() override {
    for (std::thread& each : threads_) each.join();
  }

  void run(Stream& stream) override;
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override;

 private:
  /// Computes correctly and keeps the result; late launches return the kept result.
  void run_kept(Stream& stream);
  void run_on_kept_cache(Stream& stream);
  /// Every key and value of this sample, but each row rounded to 255 numbers.
  void run_in_int8(Stream& stream);
  /// Behaves like a kernel that reads its answer from lines that an earlier launch reserved in the
  /// L2: correct as long as the reservation lasts.
  void run_on_reserved_cache(Stream& stream);
  void run_elsewhere();
  /// Leaves the first row of O as it finds it.
  void run_but_one_row(Stream& stream);
  void keep(Stream& stream);
  void hand_out(Stream& stream) const;
  /// What identifies the kept result.
  [[nodiscard]] std::string key() const;

  TimedMutant& backend_;
  const ForwardBatch& batch_;
  PlanMemory wrong_memory_, kept_memory_;
  KvPool kept_pool_;
  ForwardBatch on_kept_pool_;
  std::unique_ptr<Buffer> kept_out_, kept_lse_, kept_k_, kept_v_;
  std::unique_ptr<Plan> honest_, wrong_, honest_on_kept_pool_;
  std::unique_ptr<Stream> other_stream_;
  std::string kept_key_;
  bool answered_ = false;  ///< while planning
  std::vector<std::thread> threads_;
};

PlannedTimedMutant::PlannedTimedMutant(TimedMutant& backend, const ForwardBatch& batch,
                                       PlanMemory& memory)
    : backend_(backend),
      batch_(batch),
      wrong_memory_(memory.device()),
      kept_memory_(memory.device()),
      kept_pool_(*batch.token_to_kv_pool),
      on_kept_pool_(batch),
      honest_(backend.honest_.plan(batch, memory)),
      wrong_(backend.wrong_.plan(batch, wrong_memory_)),
      other_stream_(memory.device().make_stream()) {
  Device& device = memory.device();
  const KvPool& pool = *batch.token_to_kv_pool;
  kept_out_ = device.allocate(bytes_of(batch.tensors.out), "kept outputs");
  kept_lse_ = device.allocate(bytes_of(batch.tensors.lse), "kept LSE");
  kept_k_ = device.allocate(k_bytes(pool), "kept keys");
  kept_v_ = device.allocate(v_bytes(pool), "kept values");
  kept_pool_.k = kept_k_->data();
  kept_pool_.v = pool.v == pool.k ? kept_pool_.k : kept_v_->data();
  on_kept_pool_.token_to_kv_pool = &kept_pool_;
  honest_on_kept_pool_ = backend.honest_.plan(on_kept_pool_, kept_memory_);
  if (backend.fault_ != TimedFault::kAnswersFromPlan || backend.first_q_ != batch.tensors.q.data)
    return;
  honest_->run(*other_stream_);
  keep(*other_stream_);
  other_stream_->synchronize();
  answered_ = true;
}

bool PlannedTimedMutant::update(const ForwardBatch& batch, Stream& stream) {
  if (backend_.fault_ == TimedFault::kLengthsOfRecording) return true;
  on_kept_pool_ = batch;
  on_kept_pool_.token_to_kv_pool = &kept_pool_;
  return honest_->update(batch, stream) && wrong_->update(batch, stream) &&
         honest_on_kept_pool_->update(on_kept_pool_, stream);
}

void PlannedTimedMutant::run(Stream& stream) {
  if (backend_.first_q_ == nullptr) backend_.first_q_ = batch_.tensors.q.data;
  const bool late = ++backend_.launches_ > kLate;
  const bool capturing = is_capturing(stream);
  switch (backend_.fault_) {
    case TimedFault::kNone:
    case TimedFault::kLengthsOfRecording:
      return honest_->run(stream);
    case TimedFault::kNothingWhenReplayed:
      if (!capturing) honest_->run(stream);
      return;
    case TimedFault::kWrongWhenReplayed:
      return capturing ? wrong_->run(stream) : honest_->run(stream);
    case TimedFault::kOnlyTheFirstLaunches:
      if (!late) honest_->run(stream);
      return;
    case TimedFault::kKeepsResultByPointer:
    case TimedFault::kKeepsResultByFingerprint:
    case TimedFault::kComputesAllInOne:
      return run_kept(stream);
    case TimedFault::kKeepsConvertedCache:
      return late ? run_on_kept_cache(stream) : honest_->run(stream);
    case TimedFault::kAnswersFromPlan:
      return answered_ ? hand_out(stream) : honest_->run(stream);
    case TimedFault::kWorksElsewhere:
      return late ? run_elsewhere() : honest_->run(stream);
    case TimedFault::kRestsOnCacheReservation:
      return capturing ? honest_->run(stream) : run_on_reserved_cache(stream);
    case TimedFault::kChangesInputsLater:
      honest_->run(stream);
      // Into the page that no request owns: no output shows it.
      if (late) enqueue_copy(stream, batch_.token_to_kv_pool->k, batch_.tensors.q.data, 16);
      return;
    case TimedFault::kLeavesARowNowAndThen:
      // Seldom enough that the samples whose rows are compared need not be among them.
      return late && backend_.launches_ % 5 == 0 ? run_but_one_row(stream) : honest_->run(stream);
    case TimedFault::kReadsTheCacheInInt8:
      return late ? run_in_int8(stream) : honest_->run(stream);
  }
}

std::string PlannedTimedMutant::key() const {
  if (backend_.fault_ == TimedFault::kComputesAllInOne) return "the answer";
  if (backend_.fault_ == TimedFault::kKeepsResultByPointer) {
    return fmt::format("{}", fmt::ptr(batch_.tensors.q.data));
  }
  // The last bytes of the cache and the lengths: what "the same batch again" may be known by.
  const KvPool& pool = *batch_.token_to_kv_pool;
  std::string key;
  const std::size_t end = k_bytes(pool);
  for (std::size_t i = end - std::min<std::size_t>(end, 64); i < end; ++i) {
    key += std::to_string(std::to_integer<int>(pool.k[i])) + " ";
  }
  for (const std::int32_t length : batch_.seq_lens) key += std::to_string(length) + " ";
  return key;
}

void PlannedTimedMutant::run_kept(Stream& stream) {
  const std::string now = key();
  if (backend_.launches_ > kLate && now == kept_key_) return hand_out(stream);
  honest_->run(stream);
  keep(stream);
  kept_key_ = now;
}

void PlannedTimedMutant::keep(Stream& stream) {
  const AttentionTensors& tensors = batch_.tensors;
  enqueue_copy(stream, kept_out_->data(), tensors.out.data, bytes_of(tensors.out));
  enqueue_copy(stream, kept_lse_->data(), tensors.lse.data, bytes_of(tensors.lse));
}

void PlannedTimedMutant::hand_out(Stream& stream) const {
  const AttentionTensors& tensors = batch_.tensors;
  enqueue_copy(stream, tensors.out.data, kept_out_->data(), bytes_of(tensors.out));
  enqueue_copy(stream, tensors.lse.data, kept_lse_->data(), bytes_of(tensors.lse));
}

void PlannedTimedMutant::run_on_kept_cache(Stream& stream) {
  const KvPool& pool = *batch_.token_to_kv_pool;
  if (kept_key_.empty()) {  // the first late launch since planning converts
    enqueue_copy(stream, kept_k_->data(), pool.k, k_bytes(pool));
    enqueue_copy(stream, kept_v_->data(), pool.v, v_bytes(pool));
    kept_key_ = "converted";
  }
  honest_on_kept_pool_->run(stream);
}

void PlannedTimedMutant::run_in_int8(Stream& stream) {
  const KvPool& pool = *batch_.token_to_kv_pool;
  enqueue_copy(stream, kept_k_->data(), pool.k, k_bytes(pool));
  enqueue_copy(stream, kept_v_->data(), pool.v, v_bytes(pool));
  for (std::int64_t slot = 0; slot < pool.num_pages * pool.page_size; ++slot) {
    for (int head = 0; head < pool.heads_kv; ++head) {
      round_to_int8(pool.dtype, kept_pool_.k_row(slot, head), pool.head_dim_k);
      round_to_int8(pool.dtype, kept_pool_.v_row(slot, head), pool.head_dim_v);
    }
  }
  honest_on_kept_pool_->run(stream);
}

void PlannedTimedMutant::run_on_reserved_cache(Stream& stream) {
  const bool lost = backend_.reserved_cache_ && !has_cache_reservation();
  if (!lost) reserve_cache();
  backend_.reserved_cache_ = true;
  return lost ? wrong_->run(stream) : honest_->run(stream);
}

void PlannedTimedMutant::run_elsewhere() {
  if (backend_.device_ == DeviceKind::kCuda) return honest_->run(*other_stream_);
  threads_.emplace_back([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // long after the sample
    honest_->run(*other_stream_);
  });
}

void PlannedTimedMutant::run_but_one_row(Stream& stream) {
  const TensorView& out = batch_.tensors.out;
  const auto bytes = static_cast<std::size_t>(out.shape[2] * size_bytes(out.dtype));
  enqueue_copy(stream, kept_out_->data(), out.data, bytes);
  honest_->run(stream);
  enqueue_copy(stream, out.data, kept_out_->data(), bytes);
}

TimedMutant::TimedMutant(TimedFault fault, DeviceKind device)
    : fault_(fault),
      device_(device),
      honest_(Fault::kNone, device),
      wrong_(Fault::kDropsLastToken, device),
      info_(honest_.info()) {
  info_.name = to_string(fault);
  info_.cuda_graph = CudaGraphSupport::kAlways;
}

std::unique_ptr<Plan> TimedMutant::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<PlannedTimedMutant>(*this, batch, memory);
}

}  // namespace attnbench
