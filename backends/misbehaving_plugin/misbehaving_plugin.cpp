// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "attnbench/backend.h"

// A plug-in for tests: each of its backends does one thing that a plug-in must not do, and computes
// nothing. MISBEHAVE in the environment makes the plug-in as a whole do something wrong.
namespace {

/// What a plan writes to.
struct Planned {
  const char* misdeed;
  attnbench_tensor q, out;
};

bool is(const void* self, const char* misdeed) {
  return std::strcmp(static_cast<const char*>(self), misdeed) == 0;
}

int fail(const char* why, char* message, std::size_t size) {
  std::strncpy(message, why, size - 1);
  return ATTNBENCH_ERROR;
}

int supports(void* self, const attnbench_problem*, char* message, std::size_t size) {
  if (is(self, "throws_in_supports")) throw std::runtime_error("no idea");
  if (is(self, "fails_in_supports")) return fail("lost the table", message, size);
  if (is(self, "silent_refusal")) return ATTNBENCH_UNSUPPORTED;
  return ATTNBENCH_OK;
}

int numerics(void* self, const attnbench_problem*, attnbench_numerics* numerics, char*,
             std::size_t) {
  if (is(self, "throws_in_numerics")) throw std::runtime_error("no number");
  if (is(self, "rounds_to_nonsense")) numerics->p = 77;
  return ATTNBENCH_OK;
}

int plan(void* self, const attnbench_batch* batch, const attnbench_memory*, void** plan,
         char* message, std::size_t size) {
  if (is(self, "throws_in_plan")) throw 7;
  if (is(self, "fails_in_plan")) return fail("no kernel for this batch", message, size);
  *plan = new Planned{static_cast<const char*>(self), batch->tensors[ATTNBENCH_Q],
                      batch->tensors[ATTNBENCH_OUT]};
  return ATTNBENCH_OK;
}

int run(void* plan, void*, char* message, std::size_t size) {
  const Planned& planned = *static_cast<Planned*>(plan);
  const std::string misdeed = planned.misdeed;
  if (misdeed == "throws_in_run") throw std::runtime_error("out of luck");
  if (misdeed == "fails_in_run") return fail("launch failed", message, size);
  if (misdeed == "crashes") *static_cast<volatile int*>(nullptr) = 1;
  if (misdeed == "exits") _exit(3);
  if (misdeed == "quits" && planned.q.shape[0] > 2) std::exit(0);
  if (misdeed == "prints") {
    for (int i = 0; i < 40'000; ++i)
      std::puts("a line of sixty-four characters, which a debugging aid has left");
  }
  while (misdeed == "hangs") sleep(1);
  // Volatile: a compiler leaves out writes to memory that is never read.
  if (misdeed == "allocates_in_run") {
    void* volatile const taken = std::malloc(std::size_t{1} << 20);
    std::free(taken);
  }
  if (misdeed == "leaks_in_run") {
    void* volatile const lost = std::malloc(std::size_t{2} << 30);
    if (lost == nullptr) return fail("no memory left", message, size);
  }
  if (misdeed == "writes_too_far") {
    const attnbench_tensor& out = planned.out;
    const std::int64_t elements = out.shape[0] * out.stride[0];
    static_cast<char*>(out.data)[elements * (out.dtype == ATTNBENCH_F32 ? 4 : 2)] = 1;
  }
  if (misdeed == "changes_inputs") static_cast<char*>(planned.q.data)[0] ^= 1;
  return ATTNBENCH_OK;
}

void destroy(void* plan) {
  const Planned* const planned = static_cast<Planned*>(plan);
  const bool throws = std::strcmp(planned->misdeed, "throws_in_destroy") == 0;
  delete planned;
  if (throws) throw std::runtime_error("will not go");
}

constexpr std::array kMisdeeds = {"throws_in_supports",
                                  "fails_in_supports",
                                  "silent_refusal",
                                  "throws_in_numerics",
                                  "rounds_to_nonsense",
                                  "throws_in_plan",
                                  "fails_in_plan",
                                  "throws_in_run",
                                  "fails_in_run",
                                  "crashes",
                                  "exits",
                                  "quits",
                                  "prints",
                                  "hangs",
                                  "writes_too_far",
                                  "changes_inputs",
                                  "allocates_in_run",
                                  "leaks_in_run",
                                  "throws_in_destroy"};

attnbench_backend backend_named(const char* name) {
  attnbench_backend backend{};
  backend.struct_size = sizeof backend;
  backend.name = name;
  backend.version = "1";
  backend.description = "misbehaves";
  backend.index_format = "none";
  backend.device = ATTNBENCH_CPU;
  backend.self = const_cast<char*>(name);
  backend.supports = supports;
  backend.numerics = numerics;
  backend.plan = plan;
  backend.run = run;
  backend.destroy = destroy;
  return backend;
}

}  // namespace

extern "C" int attnbench_plugin(std::uint32_t abi_version, const attnbench_backend** backends,
                                std::size_t* count, char* message, std::size_t message_size) {
  const char* const how = std::getenv("MISBEHAVE");
  const std::string misdeed = how == nullptr ? "" : how;
  if (misdeed == "other_version" || abi_version != ATTNBENCH_ABI_VERSION) {
    return fail("built for version 99 of attnbench/backend.h", message, message_size);
  }
  if (misdeed == "quits_at_once") std::exit(0);
  if (misdeed == "crashes_at_once") raise(SIGSEGV);
  if (misdeed == "throws") throw std::runtime_error("not today");
  static std::array<attnbench_backend, kMisdeeds.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = backend_named(kMisdeeds[i]);
  if (misdeed == "old_table") all[0].struct_size = 8;
  if (misdeed == "bad_name") all[0].name = "Not A Name";
  if (misdeed == "taken_name") all[0].name = "cpu_flash";
  if (misdeed == "no_run") all[0].run = nullptr;
  if (misdeed == "no_device") all[0].device = 5;
  *backends = all.data();
  *count = misdeed == "no_backends" ? 0 : all.size();
  return ATTNBENCH_OK;
}
