// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/hybrid_entry.h"

#include <gmock/gmock.h>

#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OnDevice final : public StubBackend {
 public:
  OnDevice(std::string name, DeviceKind kind) : StubBackend(std::move(name)) {
    info_.device = kind;
  }
};

class AddHybrid : public testing::Test {
 protected:
  AddHybrid() {
    add("one", "");
    add("two", "");
    add("mine", "/my/plugin.so");
    add("mine_too", "/my/plugin.so");
    add("theirs", "/their/plugin.so");
    add("gpu", "", DeviceKind::kCuda);
    BackendInfo info;
    for (const char* name : {"py:a", "py:b"}) {
      info.name = name;
      registry_.add_hosted(info, {"python", "-c", "text", "worker", "/py.py", "lib.so"}, "/py.py");
    }
    info.name = "other:c";
    registry_.add_hosted(info, {"python", "-c", "text", "worker", "/o.py", "lib.so"}, "/o.py");
    info.name = "missing";
    registry_.add_absent(info, "no package");
    info.name = "vllm:fa3";
    registry_.add_absent(info, "no package");
    info.name = "sglang:triton_decode:splits=16";
    info.engine_flag = "--splits 16";
    registry_.add_absent(info, "no package");
  }

  void add(const char* name, std::string plugin, DeviceKind kind = DeviceKind::kCpu) {
    registry_.add([=] { return std::make_unique<OnDevice>(name, kind); }, std::move(plugin));
  }
  const Registry::Entry& added(const std::string& name) {
    add_hybrid(registry_, name);
    return *registry_.find(name);
  }
  std::string refusal_of(const std::string& name) {
    try {
      add_hybrid(registry_, name);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "taken";
  }

  Registry registry_;
};

TEST_F(AddHybrid, makes_a_pair_of_backends_of_one_process) {
  EXPECT_TRUE(is_hybrid("one+two"));
  EXPECT_FALSE(is_hybrid("one:two"));
  const Registry::Entry& pair = added("one+two");
  EXPECT_EQ(pair.make()->info().name, "one+two");
  EXPECT_EQ(pair.make()->info().description, "one for prompts, two for decodes");
  EXPECT_FALSE(pair.info.by_default);
  EXPECT_EQ(pair.plugin, "");
  EXPECT_EQ(added("one+mine").plugin, "/my/plugin.so");
  EXPECT_EQ(added("mine_too+mine").plugin, "/my/plugin.so");
  const std::size_t before = registry_.entries().size();
  add_hybrid(registry_, "one+two");
  EXPECT_EQ(registry_.entries().size(), before) << "it is there already";
}

TEST_F(AddHybrid, runs_in_a_process_of_python_that_has_the_files_of_both) {
  EXPECT_THAT(added("py:a+py:b").host,
              ElementsAre("python", "-c", "text", "worker", "/py.py", "lib.so"));
  EXPECT_THAT(added("py:a+other:c").host,
              ElementsAre("python", "-c", "text", "worker", "/py.py", "/o.py", "lib.so"));
  EXPECT_THAT(added("one+other:c").host,
              ElementsAre("python", "-c", "text", "worker", "/o.py", "lib.so"));
  EXPECT_EQ(registry_.find("one+other:c")->plugin, "/o.py");
}

TEST_F(AddHybrid, refuses_what_no_process_or_device_can_run_and_says_what_is_allowed) {
  EXPECT_THAT(refusal_of("oen+two"),
              testing::AllOf(HasSubstr("there is no backend 'oen'"),
                             HasSubstr("did you mean 'one'?"), HasSubstr("PREFILL+DECODE")));
  EXPECT_THAT(refusal_of("one+gpu"), HasSubstr("one part runs on a GPU, the other on the process"));
  EXPECT_THAT(refusal_of("mine+theirs"),
              testing::AllOf(HasSubstr("its parts are of two plug-in files"),
                             HasSubstr("of one .so file, or of .py files")));
  EXPECT_THAT(refusal_of("mine+py:a"), HasSubstr("two plug-in files"));
  EXPECT_THAT(refusal_of("one+two+one"), HasSubstr("there is no backend 'two+one'"));
}

TEST_F(AddHybrid, is_absent_where_a_part_is) {
  const Registry::Entry& pair = added("one+missing");
  EXPECT_FALSE(pair.make);
  EXPECT_EQ(pair.absence, "missing: no package");
}

TEST_F(AddHybrid, is_absent_where_the_packages_of_two_python_files_are_missing) {
  BackendInfo info;
  info.name = "vllm:fa2";
  registry_.add_absent(info, "no package vllm", "/vllm_pack.py");
  info.name = "flashinfer:xqa";
  registry_.add_absent(info, "no package flashinfer", "/flashinfer_pack.py");
  EXPECT_EQ(added("vllm:fa2+flashinfer:xqa").absence, "vllm:fa2: no package vllm");
  EXPECT_EQ(added("flashinfer:xqa+py:a").absence, "flashinfer:xqa: no package flashinfer");
  EXPECT_THAT(refusal_of("mine+flashinfer:xqa"), HasSubstr("two plug-in files"));
}

TEST_F(AddHybrid, runs_in_a_process_of_the_shared_object_that_a_part_is_of) {
  BackendInfo info;
  info.name = "apart";
  const std::vector<std::string> host = {"attnbench", "worker", "--object", "/apart.so"};
  registry_.add_hosted(info, host, "/apart.so");
  EXPECT_EQ(added("one+apart").host, host);
  EXPECT_EQ(added("apart+one").plugin, "/apart.so");
  EXPECT_THAT(refusal_of("apart+py:a"), HasSubstr("two plug-in files"));
}

TEST_F(AddHybrid, says_how_sglang_is_told_where_both_are_its_kernels) {
  EXPECT_EQ(added("one+vllm:fa3").info.engine_flag, "");
  EXPECT_EQ(added("vllm:fa3+sglang:triton_decode:splits=16").info.engine_flag,
            "--prefill-attention-backend fa3 --decode-attention-backend triton --splits 16");
  EXPECT_EQ(added("vllm:fa3+vllm:fa3:speculative_attention_mode=decode").info.engine_flag,
            "--prefill-attention-backend fa3 --decode-attention-backend fa3 "
            "--speculative-attention-mode decode");
}

}  // namespace
}  // namespace attnbench
