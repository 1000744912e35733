// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cheating_plugin/cheats.h"

// Unusual threads of backends that compute what is right.
namespace cheats {
namespace {

/// Threads that live on between runs and take rows from one counter.
class Pool {
 public:
  Pool() {
    for (int i = 0; i < kThreads; ++i) std::thread([this] { work(); }).detach();
  }

  void run(const Planned& planned) {
    std::unique_lock lock(mutex_);
    planned_ = &planned;
    next_ = 0;
    busy_ = kThreads;
    ++turn_;
    go_.notify_all();
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  static constexpr int kThreads = 2;

  void work() {
    std::int64_t seen = 0;
    while (true) {
      const Planned* planned = nullptr;
      {
        std::unique_lock lock(mutex_);
        go_.wait(lock, [&] { return turn_ != seen; });
        seen = turn_;
        planned = planned_;
      }
      const std::int64_t rows = planned->tokens() * planned->heads();
      for (std::int64_t row = next_++; row < rows; row = next_++) {
        attend(*planned, row / planned->heads(), static_cast<int>(row % planned->heads()));
      }
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable go_, done_;
  const Planned* planned_ = nullptr;
  std::int64_t turn_ = 0;
  int busy_ = 0;
  std::atomic<std::int64_t> next_ = 0;
};

}  // namespace

void own_thread_pool(Planned& planned) {
  static auto* const pool = new Pool;  // its threads never end
  pool->run(planned);
}

/// Two threads compute every other key each; what comes first is joined first.
void split_kv_in_order_of_arrival(Planned& planned) {
  const auto dims = static_cast<std::size_t>(planned.problem.head_dim_v);
  const auto rows = static_cast<std::size_t>(planned.tokens() * planned.heads());
  struct Joined {
    std::vector<float> out;
    float lse = -std::numeric_limits<float>::infinity();
  };
  std::vector<Joined> joined(rows, Joined{std::vector<float>(dims, 0)});
  std::array<std::mutex, 64> locks;
  const auto part = [&](std::int64_t odd) {
    // Rows of its own to write to: the outputs are only the joined ones'.
    Planned mine = planned;
    std::vector<std::uint16_t> out(rows * dims);
    std::vector<float> lse(rows);
    std::vector<attnbench_tensor> tensors(planned.tensors,
                                          planned.tensors + ATTNBENCH_RETRIEVE_PARENT_TOKEN + 1);
    tensors[ATTNBENCH_OUT].data = out.data();
    tensors[ATTNBENCH_OUT].stride[0] = static_cast<std::int64_t>(dims) * planned.heads();
    tensors[ATTNBENCH_OUT].stride[1] = static_cast<std::int64_t>(dims);
    tensors[ATTNBENCH_LSE].data = lse.data();
    tensors[ATTNBENCH_LSE].stride[0] = planned.heads();
    tensors[ATTNBENCH_LSE].stride[1] = 1;
    mine.tensors = tensors.data();
    for (std::size_t row = 0; row < rows; ++row) {
      const auto token = static_cast<std::int64_t>(row) / planned.heads();
      if (planned.visible(token) <= odd) continue;
      attend(mine, token, static_cast<int>(row) % planned.heads(),
             [=](std::int64_t j) { return j % 2 == odd; });
      const std::lock_guard lock(locks[row % locks.size()]);
      Joined& to = joined[row];
      const float top = std::max(to.lse, lse[row]);
      const float was = std::exp(to.lse - top), is = std::exp(lse[row] - top);
      for (std::size_t d = 0; d < dims; ++d) {
        to.out[d] = (was * to.out[d] + is * widened(out[row * dims + d])) / (was + is);
      }
      to.lse = top + std::log(was + is);
    }
  };
  std::thread other(part, 1);
  part(0);
  other.join();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto token = static_cast<std::int64_t>(row) / planned.heads();
    const auto head = static_cast<int>(row) % planned.heads();
    std::transform(joined[row].out.begin(), joined[row].out.end(), planned.out_row(token, head),
                   rounded_to_bf16);
    *planned.lse(token, head) = joined[row].lse;
  }
}

void claims_partials_in_bf16(attnbench_numerics& numerics) {
  numerics.partial_out = ATTNBENCH_BF16;
}

void idle_thread(Planned& planned) {
  static const bool begun = [] {
    std::thread([] {
      while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    }).detach();
    return true;
  }();
  static_cast<void>(begun);
  attend_all(planned);
}

}  // namespace cheats
